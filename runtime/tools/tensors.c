/* tensors.c - a program that prints what a checkpoint contains, as JSON: `tensors CHECKPOINT [CODING]`. It is
 * not a part of any model. gen/common/headers.lua compiles and runs it, so that the compiler accepts what
 * models open, and refuses the rest in the same words.
 *
 *   {"metadata": {KEY: {"type": "UINT32", "value": 5},
 *                 KEY: {"type": "STRING", "count": 9, "at": byte, "bytes": 99}},
 *    "tensors": {NAME: {"dtype": "F32", "shape": [2, 3], "path": FILE, "at": byte, "bytes": 24}}}
 *
 * Metadata is that of GGUF; an array is only described. A tensor whose values cannot be read has "expected",
 * the types that can be. A coded tensor has "coded" in place of its place. */
#include <math.h>

#include "formats/gguf.h"
#include "reading/coded.h"

enum { LONGEST_TEXT = 16 << 20, MOST_TEXT = 64 << 20 /* of all texts together */ };

static const attn2c_format *const formats[] = {&attn2c_gguf_format, &attn2c_torch_format,
                                               &attn2c_safetensors_format, NULL};

static const struct {
  const char *word;
  const attn2c_readers readers;
} codings[] = {{"", {.formats = formats}},
               {"gptq", {.formats = formats, .coding = &attn2c_gptq}},
               {"gptq_v2", {.formats = formats, .coding = &attn2c_gptq_v2}},
               {"awq", {.formats = formats, .coding = &attn2c_awq}},
               {"compressed-tensors", {.formats = formats, .coding = &attn2c_compressed_tensors}},
               {"mxfp4", {.formats = formats, .coding = &attn2c_mxfp4}}};

/* Prints what is between the quotes of a string. */
static void print_escaped(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c < 32 || c == 127 || c == '"' || c == '\\')
      printf("\\u%04x", c);
    else
      putchar(c);
  }
}

static void print_word(const char *word) {
  putchar('"');
  print_escaped(word, strlen(word));
  putchar('"');
}

/* Prints a number that is read back as it is; null: it is none. An f32 gets the fewest digits that do. */
static void print_float(double value, int is_f32) {
  char text[40] = "null";
  for (int digits = is_f32 ? 1 : 17; isfinite(value) && digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (!is_f32 || strtof(text, NULL) == (float)value) break;
  }
  /* Lua takes a number without a point for an integer */
  printf("%s%s", text, isfinite(value) && !strpbrk(text, ".e") ? ".0" : "");
}

/* Metadata. */

typedef struct {
  const attn2c_file *file;
  attn2c_message *message;
  int64_t texts; /* bytes that were read */
  int count;
} printing;

/* Prints bytes of the file as a string. */
static int print_bytes(printing *p, int64_t at, int64_t bytes) {
  char piece[4096];
  int status = ATTN2C_OK;
  p->texts += bytes;
  if (bytes > LONGEST_TEXT || p->texts > MOST_TEXT)
    return attn2c_fail(p->message, ATTN2C_FORMAT,
                       "%s: the text at byte %lld: more than %d bytes, or %d in all, are not supported",
                       p->file->name, (long long)at, LONGEST_TEXT, MOST_TEXT);
  putchar('"');
  for (int64_t done = 0; done < bytes && !status; done += (int64_t)sizeof piece) {
    const size_t some = bytes - done < (int64_t)sizeof piece ? (size_t)(bytes - done) : sizeof piece;
    status = attn2c_file_read(p->file, at + done, piece, some, p->message);
    if (!status) print_escaped(piece, some);
  }
  putchar('"');
  return status;
}

/* Prints a number or a truth value. */
static int print_number(const printing *p, const attn2c_gguf_entry *entry) {
  uint64_t value = 0;
  float narrow;
  double wide;
  ATTN2C_TRY(attn2c_file_read(p->file, entry->at, &value, (size_t)entry->bytes, p->message));
  const int is_bool = strcmp(entry->type, "BOOL") == 0, is_wide = strcmp(entry->type, "UINT64") == 0;
  if ((is_bool && value > 1) || (is_wide && value > INT64_MAX)) {
    char key[65] = "";
    (void)attn2c_file_read(p->file, entry->key, key, entry->key_bytes < 64 ? (size_t)entry->key_bytes : 64,
                           NULL);
    return attn2c_fail(p->message, ATTN2C_FORMAT, "%s: metadata \"%s\": is %" PRIu64 "%s", p->file->name, key,
                       value, is_bool ? ", but a boolean is 0 or 1" : ", which is too large");
  }
  memcpy(&narrow, &value, sizeof narrow);
  memcpy(&wide, &value, sizeof wide);
  if (is_bool)
    printf("%s", value ? "true" : "false");
  else if (strcmp(entry->type, "FLOAT32") == 0)
    print_float((double)narrow, 1);
  else if (strcmp(entry->type, "FLOAT64") == 0)
    print_float(wide, 0);
  else if (entry->type[0] == 'U')
    printf("%" PRIu64, value);
  else /* sign-extended from its own width */
    printf("%" PRId64, (int64_t)(value << (64 - 8 * entry->bytes)) >> (64 - 8 * entry->bytes));
  return ATTN2C_OK;
}

static int print_entry(void *context, const attn2c_gguf_entry *entry) {
  printing *p = context;
  printf("%s\n", p->count++ ? "," : "");
  int status = print_bytes(p, entry->key, entry->key_bytes);
  printf(": {\"type\": \"%s\", ", entry->of ? entry->of : entry->type);
  if (entry->of) {
    printf("\"count\": %" PRId64 ", \"at\": %" PRId64 ", \"bytes\": %" PRId64, entry->count, entry->at,
           entry->bytes);
  } else {
    printf("\"value\": ");
    if (!status)
      status = strcmp(entry->type, "STRING") == 0 ? print_bytes(p, entry->at + 8, entry->bytes - 8)
                                                  : print_number(p, entry);
  }
  putchar('}');
  return status;
}

/* Prints the metadata of a file, if it is of GGUF. */
static int print_metadata(const char *path, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  char start[4] = "";
  if (attn2c_file_open(path, &file, &quiet) != ATTN2C_OK) return ATTN2C_OK; /* a folder */
  int status = attn2c_file_read(&file, 0, start, sizeof start, message);
  printing p = {.file = &file, .message = message};
  if (!status && memcmp(start, attn2c_gguf_format.magic, sizeof start) == 0)
    status = attn2c_gguf_entries(&file, print_entry, &p, message);
  return status;
}

/* Tensors. */

static int print_coded(const attn2c_checkpoint *checkpoint, int coded, int64_t columns,
                       attn2c_message *message) {
  attn2c_coded_facts facts;
  ATTN2C_TRY(attn2c_checkpoint_coded(checkpoint, coded, &facts, message));
  printf(", \"coded\": {\"bits\": %d, \"groups\": %" PRId64 ", \"group\": %" PRId64
         ", \"halves\": %s, \"centred\": %s",
         facts.bits, facts.groups, columns % facts.groups ? 0 : columns / facts.groups,
         facts.has_halves ? "true" : "false", facts.is_centred ? "true" : "false");
  if (facts.order) {
    printf(", \"by\": ");
    print_word(facts.order);
  }
  if (facts.is_ordered) printf(", \"order\": \"%016" PRIx64 "\"", facts.sum);
  if (facts.uneven >= 0)
    printf(", \"uneven\": %" PRId64 ", \"inputs\": %" PRId64, facts.uneven, facts.inputs);
  putchar('}');
  return ATTN2C_OK;
}

static int print_tensor(const attn2c_checkpoint *checkpoint, int number, attn2c_message *message) {
  const attn2c_file_tensor *tensor = attn2c_checkpoint_tensor(checkpoint, number);
  const char *prefix = "";
  int coded, index, status = ATTN2C_OK;
  const int plain = attn2c_checkpoint_plain_number(checkpoint, number, &coded);
  const attn2c_tensor_file *file =
      plain < 0 ? NULL : attn2c_checkpoint_place(checkpoint, plain, &index, &prefix);
  printf("%s\n\"%s", number ? "," : "", prefix);
  print_escaped(tensor->name, strlen(tensor->name));
  printf("\": {\"dtype\": \"%s\", \"shape\": [", tensor->type->name);
  for (int d = 0; d < tensor->rank; d++) printf("%s%" PRId64, d ? ", " : "", tensor->shape[d]);
  putchar(']');
  if (!attn2c_is_readable(tensor->type)) printf(", \"expected\": \"%s\"", tensor->type->readable);
  if (file) {
    printf(", \"at\": %" PRId64 ", \"bytes\": %" PRId64 ", \"path\": ", file->start + tensor->begin,
           tensor->end - tensor->begin);
    print_word(file->name);
  } else {
    status = print_coded(checkpoint, coded, tensor->shape[1], message);
  }
  putchar('}');
  return status;
}

static int print_all(const char *path, const attn2c_readers *readers, attn2c_message *message) {
  attn2c_checkpoint *checkpoint;
  ATTN2C_TRY(attn2c_checkpoint_open(path, readers, &checkpoint, message));
  printf("{\"metadata\": {");
  int status = print_metadata(path, message);
  printf("},\n\"tensors\": {");
  for (int i = 0; i < attn2c_checkpoint_count(checkpoint) && !status; i++)
    status = print_tensor(checkpoint, i, message);
  printf("}}\n");
  attn2c_checkpoint_close(checkpoint);
  return status;
}

int main(int argc, char **argv) {
  char text[2048];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  const char *coding = argc > 2 ? argv[2] : "";
  int status = ATTN2C_USAGE;
  for (size_t i = 0; argc > 1 && i < sizeof codings / sizeof *codings; i++)
    if (strcmp(codings[i].word, coding) == 0) status = print_all(argv[1], &codings[i].readers, &message);
  if (status) fprintf(stderr, "%s\n", message.used ? text : attn2c_strerror(status));
  if (!status && (fflush(stdout) != 0 || ferror(stdout))) status = ATTN2C_IO;
  return status;
}
