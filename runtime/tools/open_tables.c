/* open_tables.c - a program that opens a tokenizer's tables and says why they do not open: `open_tables
 * TABLES`. It is not a part of any model. gen/attn2c build runs it once, so that no program is built whose
 * tokenizer never opens. */

#include "text/text.h"

static int failed(int status, const char *what) {
  fprintf(stderr, "%s\n", what);
  return status;
}

/* Returns all bytes of a file; NULL if it cannot be read. */
static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *bytes = end >= 0 ? malloc((size_t)end + 1) : NULL;
  rewind(file);
  *size = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
  const int is_whole = bytes && *size == (size_t)end;
  fclose(file);
  if (is_whole) return bytes;
  free(bytes);
  return NULL;
}

int main(int argc, char **argv) {
  char text[1024];
  size_t size = 0;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_tokenizer *opened = NULL;
  if (argc != 2) return failed(ATTN2C_USAGE, "usage: open_tables TABLES");
  void *tables = read_file(argv[1], &size);
  if (!tables) return failed(ATTN2C_IO, "cannot read the tables");
  const int status = attn2c_text_open(tables, size, ATTN2C_TEXT_VERIFY, &opened, &message);
  attn2c_text_close(opened);
  free(tables);
  return status == ATTN2C_OK ? status : failed(status, message.used ? text : attn2c_strerror(status));
}
