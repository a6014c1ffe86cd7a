/* golden_text.c - compiles tokenizers by tests/text/compile.lua. */
#include "golden_text.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)4 << 20)

void read_tables(tokenizer *t, const char *name) {
  char command[512], file[64];
  const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
  snprintf(file, sizeof file, "%.*s.tables", (int)strcspn(base, "."), base);
  snprintf(command, sizeof command, "lua5.4 tests/text/compile.lua '%s' '%s'", name, scratch_path("."));
  cr_assert_eq(system(command), 0);
  t->tables = malloc(ROOM);
  t->size = scratch_get(scratch_path(file), t->tables, ROOM);
  cr_assert(t->size > 100 && t->size < ROOM);
}

tokenizer open_golden(const char *name) {
  tokenizer t;
  char note[200];
  attn2c_message message = attn2c_message_make(note, sizeof note);
  read_tables(&t, name);
  cr_assert_eq(attn2c_text_open(t.tables, t.size, ATTN2C_TEXT_VERIFY, &t.text, &message), ATTN2C_OK, "%s",
               note);
  cr_assert_eq(attn2c_text_work_create(t.text, &t.work), ATTN2C_OK);
  return t;
}

void close_golden(tokenizer *t) {
  attn2c_text_work_destroy(t->work);
  attn2c_text_close(t->text);
  free(t->tables);
}

attn2c_text_input input_of(const char *text, size_t length) {
  return (attn2c_text_input){
      .text = text, .length = length, .limit = {ATTN2C_TEXT_ANY_LENGTH, ATTN2C_TEXT_LONGEST_FIRST, 0}};
}
