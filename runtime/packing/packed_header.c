/* packed_header.c - writes and compares the header's fields, little-endian. Differences are reported in the
 * order in which a user can act on them. */
#include "packing/packed_header.h"
#include "base/checksum.h"
#include "formats/fields.h"

enum { VERSION = 1 };

/* Offsets of the fields; all other bytes are zero. */
enum {
  AT_VERSION = ATTN2C_PACKED_MAGIC,
  AT_TYPE = 20,
  AT_BYTES = 24,
  AT_BLOCK = 32,
  AT_LAYOUT = 40,
  AT_DESCRIPTION = 48,
  AT_TARGET = 80,
  AT_NAME = 112,
  AT_END = 368,
  AT_SET = 368,
  AT_HEADER = ATTN2C_PACKED_HEADER - 8
};

static const char magic[ATTN2C_PACKED_MAGIC] = "attn2c weights\n";

/* Returns the bits of the number types of the weights: of f32, and of the packings' types. */
static uint32_t types_of(const attn2c_descriptor *model) {
  uint32_t types = attn2c_facts_of(ATTN2C_F32)->bit;
  for (int i = 0; model->packings && i < model->weight_count; i++)
    types |= attn2c_facts_of(model->packings[i].type)->bit;
  return types;
}

/* Returns the name of the type with the highest of several bits, or "unknown" if one is of no type. */
static const char *word_of(uint32_t types) {
  const char *word = attn2c_facts_of(ATTN2C_F32)->word;
  for (int i = 0; i < ATTN2C_TYPES; i++) {
    const attn2c_type_facts *facts = attn2c_facts_of((attn2c_type)i);
    if (types & facts->bit) word = facts->word;
    types &= ~facts->bit;
  }
  return types ? "unknown" : word;
}

static int64_t block_bytes(const attn2c_descriptor *model) {
  return model->weight_floats * (int64_t)sizeof(float);
}

int attn2c_packed_begins(const unsigned char *start, size_t size) {
  /* A reader of checkpoints takes the first 8 bytes for a length; no file has one like this. */
  return size >= 8 && memcmp(start, magic, size < sizeof magic ? size : sizeof magic) == 0;
}

void attn2c_packed_header_make(const attn2c_descriptor *model, uint64_t block_checksum,
                               unsigned char header[ATTN2C_PACKED_HEADER]) {
  memset(header, 0, ATTN2C_PACKED_HEADER);
  memcpy(header, magic, sizeof magic);
  attn2c_put_word(header, AT_VERSION, VERSION);
  attn2c_put_word(header, AT_TYPE, types_of(model));
  attn2c_put_number(header, AT_BYTES, (uint64_t)block_bytes(model));
  attn2c_put_number(header, AT_BLOCK, block_checksum);
  attn2c_put_number(header, AT_LAYOUT, attn2c_layout(model));
  attn2c_put_text(header, AT_DESCRIPTION, AT_TARGET, model->description_hash);
  attn2c_put_text(header, AT_TARGET, AT_NAME, model->target);
  attn2c_put_text(header, AT_NAME, AT_END, model->name);
  attn2c_put_number(header, AT_HEADER, attn2c_checksum(0, header, AT_HEADER));
}

uint64_t attn2c_packed_header_checksum(const unsigned char *header) {
  return attn2c_number_at(header, AT_BLOCK);
}

uint64_t attn2c_packed_header_set(const unsigned char *header) { return attn2c_number_at(header, AT_SET); }

void attn2c_packed_header_join(unsigned char header[ATTN2C_PACKED_HEADER], uint64_t set) {
  attn2c_put_number(header, AT_SET, set);
  attn2c_put_number(header, AT_HEADER, attn2c_checksum(0, header, AT_HEADER));
}

int attn2c_packed_refuse(const attn2c_descriptor *model, const char *name, const char *what,
                         attn2c_message *message) {
  return attn2c_fail(message, ATTN2C_FORMAT,
                     "%s: packed weights: %s; pack them again: %s pack --weights CHECKPOINT -o FILE", name,
                     what, model->name);
}

/* Writes to `what` the difference between a complete header and the model's own; returns 0 if there is
 * none. */
static int differs(const attn2c_descriptor *model, const unsigned char *header, char *what, size_t size) {
  unsigned char own[ATTN2C_PACKED_HEADER];
  attn2c_packed_header_make(model, 0, own);
  const char *theirs = (const char *)header, *ours = (const char *)own;
  /* A target given on the command line is part of the description. */
  const int is_other =
      memcmp(theirs + AT_DESCRIPTION, ours + AT_DESCRIPTION, AT_TARGET - AT_DESCRIPTION) != 0;
  const int is_laid_out = attn2c_number_at(header, AT_LAYOUT) == attn2c_number_at(own, AT_LAYOUT);
  const int is_of_target = memcmp(theirs + AT_TARGET, ours + AT_TARGET, AT_NAME - AT_TARGET) == 0;
  if (memcmp(theirs + AT_NAME, ours + AT_NAME, AT_END - AT_NAME) != 0)
    snprintf(what, size, "for another model, %.100s; this is %.100s", theirs + AT_NAME, ours + AT_NAME);
  else if (!is_of_target && (is_other || !is_laid_out))
    snprintf(what, size, "for another target, %.31s; this build is for %.31s", theirs + AT_TARGET,
             ours + AT_TARGET);
  else if (attn2c_word_at(header, AT_TYPE) != types_of(model))
    snprintf(what, size, "of type %s, but this model's are %s", word_of(attn2c_word_at(header, AT_TYPE)),
             word_of(types_of(model)));
  else if (is_other)
    snprintf(what, size, "for another description of %.100s (%.31s; this is %.31s)", ours + AT_NAME,
             theirs + AT_DESCRIPTION, ours + AT_DESCRIPTION);
  else if (!is_laid_out)
    snprintf(
        what, size,
        "for a build with other tile parameters or factors (from other files, or another version of attn2c)");
  else if (attn2c_number_at(header, AT_BYTES) != attn2c_number_at(own, AT_BYTES))
    snprintf(what, size, "the block has %" PRIu64 " bytes, but %" PRIu64 " are expected",
             attn2c_number_at(header, AT_BYTES), attn2c_number_at(own, AT_BYTES));
  else
    return 0;
  return 1;
}

/* Does the same, and also checks the header itself and the file's size. */
static int is_wrong(const attn2c_descriptor *model, const unsigned char *header, int64_t size, char *what,
                    size_t limit) {
  const int64_t whole = ATTN2C_PACKED_HEADER + block_bytes(model);
  if (size < ATTN2C_PACKED_HEADER)
    snprintf(what, limit, "cut within the header, after %" PRId64 " bytes", size);
  else if (memcmp(header, magic, sizeof magic) != 0)
    snprintf(what, limit, "the header is damaged");
  else if (attn2c_word_at(header, AT_VERSION) != VERSION)
    snprintf(what, limit, "format %" PRIu32 " is not supported, only %d is",
             attn2c_word_at(header, AT_VERSION), VERSION);
  else if (attn2c_number_at(header, AT_HEADER) != attn2c_checksum(0, header, AT_HEADER))
    snprintf(what, limit, "the header is damaged");
  else if (size != whole)
    return differs(model, header, what, limit) ||
           snprintf(what, limit, "%s: %" PRId64 " bytes, but %" PRId64 " are expected",
                    size < whole ? "cut" : "too long", size, whole);
  else
    return differs(model, header, what, limit);
  return 1;
}

int attn2c_packed_header_verify(const attn2c_descriptor *model, const unsigned char *header, int64_t size,
                                const char *name, attn2c_message *message) {
  char what[400];
  if (!is_wrong(model, header, size, what, sizeof what)) return ATTN2C_OK;
  return attn2c_packed_refuse(model, name, what, message);
}

const attn2c_descriptor *attn2c_packed_header_owner(const attn2c_descriptor *model,
                                                    const unsigned char *header, int64_t size) {
  char what[400];
  if (!is_wrong(model, header, size, what, sizeof what)) return model;
  const attn2c_divided *divided = model->slices ? NULL : model->divided;
  for (int i = 0; divided && i < divided->count; i++)
    if (!is_wrong(divided->ranks[i], header, size, what, sizeof what)) return divided->ranks[i];
  for (int i = 0; model->variants && model->variants[i]; i++)
    if (!is_wrong(model->variants[i], header, size, what, sizeof what)) return model->variants[i];
  return model;
}
