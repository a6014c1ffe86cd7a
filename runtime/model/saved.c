/* saved.c - writes and reads the file of a saved sequence. The checksum of the packed block identifies the
 * weights; a file of packed weights states it. Places in the last page that have no token are zeros. */
#include "model/saved.h"
#include "base/checksum.h"
#include "formats/fields.h"
#include "model/continue.h"
#include "model/state.h"
#include "packing/packed_header.h"

enum { HEADER = 4096, MAGIC = 16, VERSION = 1 };

/* Offsets of the header's fields; all other bytes are zero. */
enum {
  AT_VERSION = MAGIC,
  AT_TOKENS = 20,
  AT_DATA = 24,
  AT_LAYOUT = 32,
  AT_WEIGHTS = 40,
  AT_DESCRIPTION = 48,
  AT_TARGET = 80,
  AT_NAME = 112,
  AT_FORGOTTEN = 368,
  AT_GROWN = 432, /* the keys of the state's symbols after the tokens */
  AT_HEADER = HEADER - 8
};

static const char magic[MAGIC] = "attn2c state\n\0\0";

static uint64_t add_number(uint64_t sum, int64_t number) {
  return attn2c_checksum(sum, &number, sizeof number);
}

/* Returns a number for the version of attn2c and the layouts of weights and state. */
static uint64_t layout_of(const attn2c_descriptor *model) {
  const attn2c_continued *of = model->continued;
  uint64_t sum = attn2c_checksum(attn2c_layout(model), model->generator, strlen(model->generator));
  sum = add_number(add_number(sum, of->state_floats), of->page);
  for (int i = 0; i < of->kept_count; i++) {
    const attn2c_state_part *kept = &of->kept[i];
    const int64_t numbers[] = {kept->tensor,      kept->column,        kept->offset,
                               kept->page_floats, kept->is_transposed, kept->window,
                               kept->type,        kept->grows_with,    kept->bits};
    for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) sum = add_number(sum, numbers[j]);
  }
  for (int i = 0; i < of->window_count; i++)
    sum = add_number(add_number(sum, of->windows[i].left), of->windows[i].keys);
  return sum;
}

/* Says how much of a sequence there is: the keys of each symbol, and the first tokens whose keys each window
 * has forgotten, which are whole pages. */
typedef struct {
  int64_t grown[ATTN2C_MOST_SYMBOLS], forgotten[ATTN2C_MOST_WINDOWS];
} contents;

static contents contents_of(const attn2c_context *context, int64_t sequence) {
  const attn2c_continued *of = context->model->descriptor->continued;
  contents has = {.grown = {0}};
  for (int i = 0; i < of->symbol_count; i++) has.grown[i] = *attn2c_state_grown(context, i, sequence);
  for (int i = 0; i < of->window_count && has.grown[0] > 0; i++)
    has.forgotten[i] = context->forgotten[i * of->sequences + sequence];
  return has;
}

/* Writes a header without the checksums of the data and of itself. */
static void make_header(const attn2c_model *model, const contents *has, unsigned char header[HEADER]) {
  const attn2c_descriptor *of = model->descriptor;
  memset(header, 0, HEADER);
  memcpy(header, magic, sizeof magic);
  attn2c_put_word(header, AT_VERSION, VERSION);
  attn2c_put_word(header, AT_TOKENS, (uint32_t)has->grown[0]);
  attn2c_put_number(header, AT_LAYOUT, layout_of(of));
  attn2c_put_number(header, AT_WEIGHTS, attn2c_weights_checksum(model));
  attn2c_put_text(header, AT_DESCRIPTION, AT_TARGET, of->description_hash);
  attn2c_put_text(header, AT_TARGET, AT_NAME, of->target);
  attn2c_put_text(header, AT_NAME, AT_FORGOTTEN, of->name);
  for (int i = 0; i < ATTN2C_MOST_WINDOWS; i++)
    attn2c_put_word(header, AT_FORGOTTEN + 4 * i, (uint32_t)has->forgotten[i]);
  for (int i = 1; i < ATTN2C_MOST_SYMBOLS; i++)
    attn2c_put_word(header, AT_GROWN + 4 * (i - 1), (uint32_t)has->grown[i]);
}

/* Reads what a header of this model says; returns 0 if no state can be so. */
static int read_contents(const attn2c_descriptor *model, const unsigned char *header, contents *has) {
  const attn2c_continued *of = model->continued;
  *has = (contents){.grown = {attn2c_word_at(header, AT_TOKENS)}};
  for (int i = 0; i < of->symbol_count; i++) {
    if (i > 0) has->grown[i] = attn2c_word_at(header, AT_GROWN + 4 * (i - 1));
    if (has->grown[i] > of->symbols[i].most) return 0;
  }
  for (int i = 0; i < of->window_count; i++) {
    const int64_t forgotten = attn2c_word_at(header, AT_FORGOTTEN + 4 * i);
    if (forgotten > has->grown[0] || forgotten % of->page != 0 ||
        has->grown[0] - forgotten > of->windows[i].keys)
      return 0;
    has->forgotten[i] = forgotten;
  }
  return 1;
}

/* Returns the keys of a part that a sequence has. */
static int64_t keys_of(const attn2c_state_part *kept, const contents *has) {
  return has->grown[kept->grows_with] - (kept->window < 0 ? 0 : has->forgotten[kept->window]);
}

/* The floats of a part: of full pages, and of a page that is not full, which has `rest` keys. */
typedef struct {
  int64_t full, last, rest;
} extent;

static extent extent_of(const attn2c_continued *of, const attn2c_state_part *kept, const contents *has) {
  const int64_t keys = keys_of(kept, has), rest = keys % of->page;
  return (extent){keys / of->page * kept->page_floats, rest > 0 ? kept->page_floats : 0, rest};
}

/* Returns the floats of all parts of a sequence. */
static int64_t floats_of(const attn2c_continued *of, const contents *has) {
  int64_t floats = 0;
  for (int i = 0; i < of->kept_count; i++) {
    const extent part = extent_of(of, &of->kept[i], has);
    floats += part.full + part.last;
  }
  return floats;
}

/* Adds a part of the data to the checksum of those before. */
static uint64_t add_floats(uint64_t sum, const float *floats, int64_t count) {
  return attn2c_checksum(sum, floats, (size_t)count * sizeof(float));
}

/* Lists a file's parts, [1 + 2 kept_count], and its header. last: zeros, for pages that are not full. */
static void make_parts(const attn2c_context *context, int64_t sequence, unsigned char *header, float *last,
                       attn2c_file_part *parts) {
  const attn2c_continued *of = context->model->descriptor->continued;
  const contents has = contents_of(context, sequence);
  uint64_t sum = 0;
  make_header(context->model, &has, header);
  *parts++ = (attn2c_file_part){header, HEADER};
  for (int i = 0; i < of->kept_count; i++) {
    const attn2c_state_part *kept = &of->kept[i];
    const float *from = attn2c_state_part_of(context, sequence, kept);
    const extent part = extent_of(of, kept, &has);
    if (part.rest > 0) attn2c_state_copy_keys(kept, of->page, 0, part.rest, from + part.full, last);
    sum = add_floats(add_floats(sum, from, part.full), last, part.last);
    *parts++ = (attn2c_file_part){from, (size_t)part.full * sizeof(float)};
    *parts++ = (attn2c_file_part){last, (size_t)part.last * sizeof(float)};
    last += part.last;
  }
  attn2c_put_number(header, AT_DATA, sum);
  attn2c_put_number(header, AT_HEADER, attn2c_checksum(0, header, AT_HEADER));
}

/* Says why a call is wrong, and returns ATTN2C_USAGE; ATTN2C_OK if it is not. */
static int check_call(const attn2c_context *context, int64_t sequence, const char *path,
                      attn2c_message *message) {
  if (attn2c_position(context, sequence) >= 0 && path) return ATTN2C_OK;
  if (!context || !context->model->descriptor->continued)
    attn2c_say(message, "there is no context with sequences");
  else if (!path)
    attn2c_say(message, "no path of a saved state was given");
  else
    attn2c_say(message, "sequence %" PRId64 ", but 0 to %" PRId64 " is allowed", sequence,
               context->model->descriptor->continued->sequences - 1);
  return ATTN2C_USAGE;
}

static int no_memory(const char *path, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for a saved state", path);
}

/* True, with a message, for a model of several ranks, each of which has a part of the sequence. */
static int is_divided(const attn2c_context *context, attn2c_message *message) {
  if (!context || !context->model->ranks) return 0;
  attn2c_say(message, "a model of several ranks saves and loads no sequences");
  return 1;
}

int attn2c_sequence_save(const attn2c_context *context, int64_t sequence, const char *path,
                         attn2c_message *message) {
  if (is_divided(context, message)) return ATTN2C_USAGE;
  if (check_call(context, sequence, path, message) != ATTN2C_OK) return ATTN2C_USAGE;
  const attn2c_continued *of = context->model->descriptor->continued;
  contents a_page = {.grown = {0}};
  for (int i = 0; i < of->symbol_count; i++) a_page.grown[i] = of->page;
  const size_t count = 1 + 2 * (size_t)of->kept_count;
  ATTN2C_OWN unsigned char *header = malloc(HEADER);
  ATTN2C_OWN float *last = calloc((size_t)floats_of(of, &a_page) + 1, sizeof *last);
  ATTN2C_OWN attn2c_file_part *parts = calloc(count, sizeof *parts);
  int status = ATTN2C_MEMORY;
  if (header && last && parts) {
    make_parts(context, sequence, header, last, parts);
    status = attn2c_file_write(path, parts, (int)count, message);
  } else {
    no_memory(path, message);
  }
  return status;
}

/* Writes to `what` why a header is not one of this model's sequences; returns 0 if it is. */
static int differs(const attn2c_model *model, const unsigned char *header, char *what, size_t size) {
  unsigned char own[HEADER];
  const attn2c_descriptor *of = model->descriptor;
  const char *theirs = (const char *)header, *ours = (const char *)own;
  const uint32_t tokens = attn2c_word_at(header, AT_TOKENS);
  contents has = {.grown = {0}};
  make_header(model, &has, own);
  if (memcmp(theirs + AT_NAME, ours + AT_NAME, AT_FORGOTTEN - AT_NAME) != 0)
    snprintf(what, size, "of another model, %.100s; this is %.100s", theirs + AT_NAME, of->name);
  else if (memcmp(theirs + AT_TARGET, ours + AT_TARGET, AT_NAME - AT_TARGET) != 0)
    snprintf(what, size, "of another target, %.31s; this is %.31s", theirs + AT_TARGET, of->target);
  else if (memcmp(theirs + AT_DESCRIPTION, ours + AT_DESCRIPTION, AT_TARGET - AT_DESCRIPTION) != 0)
    snprintf(what, size, "of another description of %.100s (%.31s; this is %.31s)", of->name,
             theirs + AT_DESCRIPTION, of->description_hash);
  else if (attn2c_number_at(header, AT_LAYOUT) != attn2c_number_at(own, AT_LAYOUT))
    snprintf(what, size, "of a build with other tile parameters or factors, or by another version of attn2c");
  else if (attn2c_number_at(header, AT_WEIGHTS) != attn2c_number_at(own, AT_WEIGHTS))
    snprintf(what, size, "of other weights");
  else if (tokens > (uint64_t)of->continued->symbols[0].most)
    snprintf(what, size, "it has %" PRIu32 " tokens, but a sequence has at most %" PRId64, tokens,
             of->continued->symbols[0].most);
  else if (!read_contents(of, header, &has))
    snprintf(what, size, "the header is damaged");
  else
    return 0;
  return 1;
}

/* Does the same for the bytes at a file's start, of which `read` were there. */
static int is_wrong(const attn2c_model *model, const unsigned char *header, size_t read, int64_t file_size,
                    char *what, size_t size) {
  if (memcmp(header, magic, read < MAGIC ? read : MAGIC) != 0 || read == 0)
    snprintf(what, size, "this is another kind of file");
  else if (read < HEADER)
    snprintf(what, size, "cut within the header, after %zu bytes", read);
  else if (attn2c_word_at(header, AT_VERSION) != VERSION)
    snprintf(what, size, "format %" PRIu32 " is not supported, only %d is",
             attn2c_word_at(header, AT_VERSION), VERSION);
  else if (attn2c_number_at(header, AT_HEADER) != attn2c_checksum(0, header, AT_HEADER))
    snprintf(what, size, "the header is damaged");
  else if (!differs(model, header, what, size)) {
    contents has;
    read_contents(model->descriptor, header, &has);
    const int64_t whole = HEADER + floats_of(model->descriptor->continued, &has) * (int64_t)sizeof(float);
    if (file_size == whole) return 0;
    snprintf(what, size, "%s: %" PRId64 " bytes, but %" PRId64 " are expected",
             file_size < whole ? "cut" : "too long", file_size, whole);
  }
  return 1;
}

static int refuse(const char *path, const char *what, attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: saved state: %s", path, what);
}

/* Returns the checksum of data that were read as a whole, part by part as they were written. */
static uint64_t sum_of(const attn2c_continued *of, const contents *has, const float *data) {
  uint64_t sum = 0;
  for (int i = 0; i < of->kept_count; i++) {
    const extent part = extent_of(of, &of->kept[i], has);
    sum = add_floats(add_floats(sum, data, part.full), data + part.full, part.last);
    data += part.full + part.last;
  }
  return sum;
}

/* Puts data that were read as a whole into a sequence. */
static void take(attn2c_context *context, int64_t sequence, const contents *has, const float *data) {
  const attn2c_continued *of = context->model->descriptor->continued;
  const int32_t own = (int32_t)sequence;
  attn2c_state_origins(context, 1, &own, &context->origins[sequence]);
  for (int i = 0; i < of->kept_count; i++) {
    const extent part = extent_of(of, &of->kept[i], has);
    const int64_t floats = part.full + part.last;
    memcpy(attn2c_state_part_of(context, sequence, &of->kept[i]), data, (size_t)floats * sizeof(float));
    data += floats;
  }
  for (int i = 0; i < of->window_count; i++)
    context->forgotten[i * of->sequences + sequence] = (int32_t)has->forgotten[i];
  for (int i = 0; i < of->symbol_count; i++)
    *attn2c_state_grown(context, i, sequence) = (int32_t)has->grown[i];
}

/* Reads an opened file. All of its data are read and compared before the sequence changes. */
static int load_file(attn2c_context *context, int64_t sequence, const attn2c_file *file,
                     attn2c_message *message) {
  unsigned char header[HEADER];
  char what[400];
  const attn2c_continued *of = context->model->descriptor->continued;
  const size_t read = file->size < HEADER ? (size_t)file->size : HEADER;
  ATTN2C_TRY(attn2c_file_read(file, 0, header, read, message));
  if (is_wrong(context->model, header, read, file->size, what, sizeof what))
    return refuse(file->name, what, message);
  contents has;
  read_contents(context->model->descriptor, header, &has);
  const size_t bytes = (size_t)floats_of(of, &has) * sizeof(float);
  ATTN2C_OWN float *data = malloc(bytes + 1);
  if (!data) return no_memory(file->name, message);
  ATTN2C_TRY(attn2c_file_read(file, HEADER, data, bytes, message));
  if (sum_of(of, &has, data) != attn2c_number_at(header, AT_DATA))
    return refuse(file->name, "damaged: its checksum is wrong", message);
  take(context, sequence, &has, data);
  return ATTN2C_OK;
}

int attn2c_sequence_load(attn2c_context *context, int64_t sequence, const char *path,
                         attn2c_message *message) {
  if (is_divided(context, message)) return ATTN2C_USAGE;
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  ATTN2C_TRY(check_call(context, sequence, path, message));
  ATTN2C_TRY(attn2c_file_open(path, &file, message));
  return load_file(context, sequence, &file, message);
}
