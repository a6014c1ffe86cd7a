#include "program/serve/multipart.h"
#include "program/system.h"

#include <string.h>
#include <strings.h>

/* The most bytes of a boundary (RFC 2046). */
enum { MOST_BOUNDARY = 70 };

/* Bytes [at, end) that are still to be read. */
typedef struct {
  const char *at, *end;
} rest;

static void skip_blanks(rest *text) {
  while (text->at < text->end && (*text->at == ' ' || *text->at == '\t')) text->at++;
}

/* Reads the next parameter of a header, `; name=value` or `; name="value"`. Returns 0 if there is none. In a
 * quoted value a backslash keeps the next byte, and stays there: browsers write %22 for a quote. */
static int next_parameter(rest *text, rest *name, rest *value) {
  skip_blanks(text);
  if (text->at == text->end || *text->at != ';') return 0;
  text->at++;
  skip_blanks(text);
  name->at = text->at;
  while (text->at < text->end && !strchr("=; \t", *text->at)) text->at++;
  name->end = text->at;
  skip_blanks(text);
  if (text->at == text->end || *text->at != '=') return 0;
  text->at++;
  skip_blanks(text);
  const int is_quoted = text->at < text->end && *text->at == '"';
  text->at += is_quoted;
  value->at = text->at;
  while (text->at < text->end && (is_quoted ? *text->at != '"' : !strchr("; \t", *text->at)))
    text->at += is_quoted && *text->at == '\\' && text->at + 1 < text->end ? 2 : 1;
  value->end = text->at;
  if (is_quoted && text->at == text->end) return 0;
  text->at += is_quoted;
  return 1;
}

static int is_word(const rest *text, const char *word) {
  const size_t length = strlen(word);
  return (size_t)(text->end - text->at) == length && strncasecmp(text->at, word, length) == 0;
}

/* Moves past a word at the beginning, in any case. Returns 0 if it is not there. */
static int take_word(rest *text, const char *word) {
  const size_t length = strlen(word);
  if ((size_t)(text->end - text->at) < length || strncasecmp(text->at, word, length) != 0) return 0;
  text->at += length;
  return 1;
}

/* Finds the boundary of the parts in the request's header. */
static int read_boundary(const char *content_type, rest *boundary) {
  rest text = {content_type, content_type ? content_type + strlen(content_type) : NULL}, name;
  if (!content_type || !take_word(&text, "multipart/form-data")) return 0;
  while (next_parameter(&text, &name, boundary))
    if (is_word(&name, "boundary"))
      return boundary->end > boundary->at && boundary->end - boundary->at <= MOST_BOUNDARY;
  return 0;
}

/* Reads the headers of a part, and moves past the empty line after them. */
static const char *read_headers(rest *body, attn2c_part *part) {
  for (;;) {
    const char *end = memmem(body->at, (size_t)(body->end - body->at), "\r\n", 2);
    if (!end) return "a part of the form ends within its headers";
    rest line = {body->at, end}, name, value;
    body->at = end + 2;
    if (line.at == line.end) return part->name ? NULL : "a part of the form has no name";
    if (take_word(&line, "content-transfer-encoding:")) {
      skip_blanks(&line);
      if (!is_word(&line, "binary") && !is_word(&line, "8bit") && !is_word(&line, "7bit"))
        return "a part of the form is encoded; binary is allowed";
    }
    if (!take_word(&line, "content-disposition:")) continue;
    skip_blanks(&line);
    if (!take_word(&line, "form-data")) return "a part of the form is no form-data";
    while (next_parameter(&line, &name, &value)) {
      if (is_word(&name, "name")) part->name = value.at, part->name_length = (size_t)(value.end - value.at);
    }
  }
}

int attn2c_multipart(const char *content_type, const char *body, size_t length, attn2c_part *parts, int most,
                     const char **fault) {
  char delimiter[MOST_BOUNDARY + 5] = "\r\n--";
  rest boundary, text = {body, body + length};
  int count = 0;
  *fault = "the content type must be multipart/form-data with a boundary";
  if (!read_boundary(content_type, &boundary)) return -1;
  const size_t size = 4 + (size_t)(boundary.end - boundary.at);
  memcpy(delimiter + 4, boundary.at, size - 4);
  *fault = "the form does not begin with its boundary";
  if (length < size - 2 || memcmp(body, delimiter + 2, size - 2) != 0) return -1;
  text.at += size - 2;
  for (;;) {
    const size_t left = (size_t)(text.end - text.at);
    if (left >= 2 && memcmp(text.at, "--", 2) == 0) return count;
    *fault = "the form has no line end after a boundary";
    skip_blanks(&text);
    if (!take_word(&text, "\r\n")) return -1;
    *fault = "the form has too many parts";
    if (count == most) return -1;
    attn2c_part *part = &parts[count++];
    *part = (attn2c_part){.name = NULL};
    *fault = read_headers(&text, part);
    if (*fault) return -1;
    const char *end = memmem(text.at, (size_t)(text.end - text.at), delimiter, size);
    *fault = "the form ends without its boundary";
    if (!end) return -1;
    part->data = text.at, part->length = (size_t)(end - text.at);
    text.at = end + size;
  }
}

const attn2c_part *attn2c_part_of(const attn2c_part *parts, int count, const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; i < count; i++)
    if (parts[i].name_length == length && memcmp(parts[i].name, name, length) == 0) return &parts[i];
  return NULL;
}
