/* test_serve.c - parts of the server that need no connection: floats in JSON and base64, forms with files. */
#include "program/serve/multipart.h"
#include "program/serve/numbers.h"

#include "generate/draw.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAW(limit) attn2c_draw_below(attn2c_draw_bits(7, n++), (limit))

static const char *text_of(float value) {
  static char text[ATTN2C_FLOAT_BYTES + 1];
  const size_t length = attn2c_float_text(value, text);
  cr_assert_leq(length, ATTN2C_FLOAT_BYTES);
  text[length] = '\0';
  return text;
}

Test(numbers, of_floats) {
  static const struct {
    float value;
    const char *text;
  } cases[] = {{0.0F, "0.0"},
               {-0.0F, "-0.0"},
               {1.0F, "1.0"},
               {-0.25F, "-0.25"},
               {0.1F, "0.100000001"},
               {123456792.0F, "123456792.0"},
               {99999.9922F, "99999.9922"},
               {0.000999999931F, "0.000999999931"},
               {1e-4F, "9.99999975e-05"},
               {1e9F, "1.00000000e+09"},
               {INFINITY, "null"},
               {NAN, "null"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_expect_str_eq(text_of(cases[i].value), cases[i].text);
}

Test(numbers, are_read_again) {
  uint64_t n = 0;
  for (int i = 0; i < 200000; i++) {
    const uint32_t bits = (uint32_t)DRAW(UINT32_MAX);
    float value, again;
    memcpy(&value, &bits, sizeof value);
    if (i % 2) value = (float)(bits % 2000001) / 1e6F - 1.0F;
    if (!isfinite(value)) continue;
    again = strtof(text_of(value), NULL);
    cr_assert_eq(memcmp(&value, &again, sizeof value), 0, "%a", (double)value);
  }
}

Test(numbers, base64) {
  static const float values[] = {1.0F, -2.5F};
  char text[64];
  uint8_t bytes[64];
  const size_t length = attn2c_floats_text(values, 2, 1, text);
  cr_assert_leq(length, attn2c_floats_room(2, 1));
  text[length] = '\0';
  cr_expect_str_eq(text, "\"AACAPwAAIMA=\"");
  cr_expect_eq(attn2c_base64_read(text + 1, length - 2, bytes), 8);
  cr_expect_eq(memcmp(bytes, values, 8), 0);
  cr_expect_eq(attn2c_base64_read("AACAPwAAIMA", 11, bytes), 8);
  static const char *const wrong[] = {"A", "AAAAA", "AA=A", "A A=", "AA-_", "====", "\xff\xff\xff\xff"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    cr_expect_eq(attn2c_base64_read(wrong[i], strlen(wrong[i]), bytes), -1, "%s", wrong[i]);
  cr_expect_eq(attn2c_base64_read("", 0, bytes), 0);
}

#define TYPE "multipart/form-data; boundary=x"
#define FORM                                                                                                 \
  "--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n"                                       \
  "--x  \r\ncontent-type: audio/wav\r\nCONTENT-DISPOSITION: form-data; filename=\"a\\\"b\"; "                \
  "name=file\r\n\r\n"                                                                                        \
  "\r\n--y\r\n--\r\n--x--\r\n"

Test(forms, parts) {
  attn2c_part parts[2];
  const char *fault;
  cr_assert_eq(attn2c_multipart(TYPE, FORM, strlen(FORM), parts, 2, &fault), 2);
  const attn2c_part *model = attn2c_part_of(parts, 2, "model"), *file = attn2c_part_of(parts, 2, "file");
  cr_assert(model && file && !attn2c_part_of(parts, 2, "fil"));
  cr_expect(model->length == 1 && *model->data == 'm');
  cr_expect(file->length == 9 && memcmp(file->data, "\r\n--y\r\n--", 9) == 0);
  cr_expect_eq(
      attn2c_multipart("Multipart/Form-Data;charset=a; Boundary=\"x\"", FORM, strlen(FORM), parts, 2, &fault),
      2);
}

Test(forms, refused) {
  static const struct {
    const char *type, *body, *fault;
  } cases[] = {
      {NULL, FORM, "the content type must be multipart/form-data with a boundary"},
      {"multipart/form-data", FORM, "the content type must be multipart/form-data with a boundary"},
      {"multipart/form-data; boundary=", FORM,
       "the content type must be multipart/form-data with a boundary"},
      {"multipart/form-data; boundary=\"x", FORM,
       "the content type must be multipart/form-data with a boundary"},
      {TYPE, "", "the form does not begin with its boundary"},
      {TYPE, "--xa", "the form has no line end after a boundary"},
      {TYPE, "--x\r\nA: b\r\n", "a part of the form ends within its headers"},
      {TYPE, "--x\r\n\r\na\r\n--x--", "a part of the form has no name"},
      {TYPE, "--x\r\nContent-Disposition: file\r\n\r\n", "a part of the form is no form-data"},
      {TYPE, "--x\r\nContent-Transfer-Encoding: base64\r\n\r\n",
       "a part of the form is encoded; binary is allowed"},
      {TYPE, "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb", "the form ends without its boundary"},
      {TYPE, FORM, "the form has too many parts"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_part part;
    const char *fault = NULL;
    cr_expect_eq(attn2c_multipart(cases[i].type, cases[i].body, strlen(cases[i].body), &part, 1, &fault), -1);
    cr_expect_str_eq(fault, cases[i].fault);
  }
}

/* 100,000 damaged forms, each in memory of just its size: parts are within it. */
Test(forms, damaged) {
  static const char *const pieces[] = {
      "--x", "\r\n", "\r\n\r\n", "--", "name=", "\"", "\\", ";", "form-data", "\r\n--x"};
  uint64_t n = 0;
  int taken = 0;
  for (int i = 0; i < 100000; i++) {
    char whole[400] = FORM;
    size_t length = strlen(whole);
    for (uint64_t changes = 1 + DRAW(3); changes > 0; changes--) {
      const size_t at = (size_t)DRAW(length);
      const char *piece = pieces[DRAW(sizeof pieces / sizeof *pieces)];
      const uint64_t kind = DRAW(4);
      if (kind == 0) whole[at] = (char)DRAW(256);
      if (kind == 1) length = at + 1;
      if (kind == 2 && at + strlen(piece) < length) memcpy(whole + at, piece, strlen(piece));
      if (kind == 3) memmove(whole + at, whole + at + 1, --length - at);
      if (length == 0) length = 1;
    }
    char *body = malloc(length);
    cr_assert(body);
    memcpy(body, whole, length);
    attn2c_part parts[4];
    const char *fault = NULL;
    const int count = attn2c_multipart(TYPE, body, length, parts, 4, &fault);
    cr_assert(count >= 0 || fault);
    taken += count == 2;
    for (int p = 0; p < count; p++) {
      cr_assert(parts[p].data >= body && parts[p].data + parts[p].length <= body + length);
      cr_assert(parts[p].name >= body && parts[p].name + parts[p].name_length <= body + length);
    }
    free(body);
  }
  cr_expect(taken > 1000 && taken < 99000, "%d", taken);
}
