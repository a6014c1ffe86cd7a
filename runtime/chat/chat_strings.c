/* chat_strings.c - Python's functions on strings. */
#include "chat/chat_calls.h"
#include "text/unicode.h"

#include <locale.h>
#include <utf8proc.h>

static uint32_t read_at(const chat_value *text, size_t at, size_t *width) {
  return text_read((const uint8_t *)text->as.text + at, width);
}

size_t chat_count(const chat_value *text) {
  size_t count = 0;
  for (size_t i = 0; i < text->length; i++) count += (text->as.text[i] & 0xc0) != 0x80;
  return count;
}

size_t chat_byte_of(const chat_value *text, size_t index) {
  size_t at = 0;
  for (; index && at < text->length; index--) {
    size_t width;
    read_at(text, at, &width);
    at += width;
  }
  return at;
}

int64_t chat_find(const chat_value *text, size_t from, const chat_value *part) {
  const char *begin = text->as.text + from, *end = text->as.text + text->length;
  if (part->length == 0) return (int64_t)from;
  while (end - begin >= (ptrdiff_t)part->length) {
    const char *found = memchr(begin, part->as.text[0], (size_t)(end - begin) - part->length + 1);
    if (!found) return -1;
    if (memcmp(found, part->as.text, part->length) == 0) return found - text->as.text;
    begin = found + 1;
  }
  return -1;
}

int64_t chat_find_last(const chat_value *text, const chat_value *part) {
  if (part->length > text->length) return -1;
  for (int64_t at = text->length - part->length; at >= 0; at--)
    if (part->length == 0 || memcmp(text->as.text + at, part->as.text, part->length) == 0) return at;
  return -1;
}

/* True if strip removes a character. */
static int is_stripped(const chat_value *chars, uint32_t point) {
  if (chars->kind != CHAT_STRING) return text_is_space(point);
  for (size_t at = 0, width; at < chars->length; at += width)
    if (read_at(chars, at, &width) == point) return 1;
  return 0;
}

int chat_strip(attn2c_chat_work *work, const chat_value *text, const chat_value *chars, int sides,
               chat_value *made) {
  if (chars->kind != CHAT_STRING && chars->kind != CHAT_MISSING && chars->kind != CHAT_NONE)
    return chat_refuse(work, "the characters to strip are %s, not a text", chat_type(chars));
  size_t begin = 0, end = text->length, width;
  size_t each = chars->kind == CHAT_STRING ? chars->length + 1 : 1;
  while ((sides & CHAT_LEFT) && begin < end && is_stripped(chars, read_at(text, begin, &width)))
    begin += width;
  while ((sides & CHAT_RIGHT) && end > begin) {
    size_t before = text_before((const uint8_t *)text->as.text, end);
    if (!is_stripped(chars, read_at(text, before, &width))) break;
    end = before;
  }
  *made = chat_string(text->as.text + begin, end - begin);
  return chat_spend(work, (text->length - (end - begin)) * each + 1);
}

/* A letter whose case may differ. */
static int is_cased(uint32_t point) {
  utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)point);
  if (point < 0x80) return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
  return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT ||
         point == 0xaa || point == 0xba ||
         utf8proc_toupper((utf8proc_int32_t)point) != (utf8proc_int32_t)point;
}

/* A character that does not end a word in the rule of the final sigma. */
static int is_ignored(uint32_t point) {
  utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)point);
  return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME || c == UTF8PROC_CATEGORY_CF ||
         c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK || point == '\'' || point == '.' ||
         point == ':' || point == 0xb7 || point == 0x2019;
}

/* True if a capital sigma at `at` is the last letter of its word. */
static int is_final(const chat_value *text, size_t at) {
  size_t width;
  uint32_t point = 0;
  int has_before = 0;
  for (size_t before = at; before > 0;) {
    before = text_before((const uint8_t *)text->as.text, before);
    point = read_at(text, before, &width);
    if (is_ignored(point)) continue;
    has_before = is_cased(point);
    break;
  }
  if (!has_before) return 0;
  read_at(text, at, &width);
  for (size_t after = at + width; after < text->length; after += width) {
    point = read_at(text, after, &width);
    if (!is_ignored(point)) return !is_cased(point);
  }
  return 1;
}

static size_t write_point(char *to, uint32_t point) { return text_write((uint8_t *)to, point); }

/* Writes the lower case of the character at `at`; returns its bytes. */
static size_t write_lower(const chat_value *text, size_t at, uint32_t point, char *to) {
  if (point == 0x3a3) return write_point(to, is_final(text, at) ? 0x3c2 : 0x3c3);
  if (point == 0x130) return to[0] = 'i', 1 + write_point(to + 1, 0x307);
  return write_point(to, (uint32_t)utf8proc_tolower((utf8proc_int32_t)point));
}

/* Writes the upper or title case of a character. It may be several characters (Unicode's SpecialCasing):
 * the full case folding's, of which a title raises the first that has case. */
static size_t write_upper(uint32_t point, int is_title, char *to) {
  const utf8proc_int32_t title = utf8proc_totitle((utf8proc_int32_t)point);
  utf8proc_int32_t folded[4];
  int boundary = 0, has_case = 0;
  size_t bytes = 0;
  utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)point, folded, 4,
                                                   UTF8PROC_STABLE | UTF8PROC_CASEFOLD, &boundary);
  const utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
  const int is_one =
      is_title && point != 0xdf && ((uint32_t)title != point || category == UTF8PROC_CATEGORY_LT);
  if (count < 2 || is_one || category == UTF8PROC_CATEGORY_LU)
    return write_point(to, (uint32_t)(is_title ? title : utf8proc_toupper((utf8proc_int32_t)point)));
  for (utf8proc_ssize_t i = 0; i < count; i++) {
    const utf8proc_int32_t raised = utf8proc_toupper(folded[i]);
    const utf8proc_int32_t plain = folded[i] == 0x3b9 ? 0x345 : folded[i]; /* an iota is written below */
    bytes += write_point(to + bytes, (uint32_t)(is_title && has_case ? plain : raised));
    has_case |= raised != folded[i];
  }
  return bytes;
}

/* True for the characters after which Jinja's filter `title` begins a word. */
static int begins_word(uint32_t point) {
  return text_is_space(point) || point == '-' || point == '(' || point == '{' || point == '[' || point == '<';
}

int chat_change_case(attn2c_chat_work *work, const chat_value *text, chat_case how, chat_value *made) {
  char *to;
  size_t bytes = 0, width;
  /* A character has at most three times its bytes: two bytes become at most three characters of two. */
  ATTN2C_TRY(chat_allocate_text(work, 3 * (size_t)text->length, &to));
  ATTN2C_TRY(chat_spend(work, 4 * (uint64_t)text->length));
  int is_first = 1;
  for (size_t at = 0; at < text->length; at += width) {
    uint32_t point = read_at(text, at, &width);
    int raises = how == CHAT_UPPER || (how != CHAT_LOWER && is_first);
    if (point < 0x80 && !(point >= 'a' && point <= 'z') && !(point >= 'A' && point <= 'Z'))
      to[bytes++] = (char)point;
    else if (raises)
      bytes += write_upper(point, how == CHAT_CAPITALIZE || how == CHAT_TITLE, to + bytes);
    else
      bytes += write_lower(text, at, point, to + bytes);
    is_first = how == CHAT_TITLE ? !is_cased(point) : how == CHAT_TITLE_FILTER ? begins_word(point) : 0;
  }
  *made = chat_string(to, bytes);
  return ATTN2C_OK;
}

int chat_join_two(attn2c_chat_work *work, const chat_value *a, const chat_value *b, chat_value *made) {
  char *text;
  if (b->length == 0) return *made = *a, ATTN2C_OK;
  if (a->length == 0) return *made = *b, ATTN2C_OK;
  ATTN2C_TRY(chat_extend(work, a->as.text, a->length, b->length, &text));
  memcpy(text + a->length, b->as.text, b->length);
  *made = chat_string(text, (size_t)a->length + b->length);
  return ATTN2C_OK;
}

/* Appends a part of a text to the text that is written. */
static int write_part(attn2c_chat_work *work, const chat_value *text, size_t from, size_t to) {
  return chat_write(work, text->as.text + from, to - from);
}

int chat_replace(attn2c_chat_work *work, const chat_value *text, const chat_value *old, const chat_value *by,
                 int64_t most, chat_value *made) {
  size_t mark = work->output.length, at = 0;
  int status = chat_spend(work, chat_search_steps(text, old));
  while (status == ATTN2C_OK && most != 0) {
    int64_t found = chat_find(text, at, old);
    size_t past = (size_t)found + old->length;
    if (found < 0) break;
    status = write_part(work, text, at, (size_t)found);
    if (status == ATTN2C_OK) status = chat_write(work, by->as.text, by->length);
    at = past, most--;
    if (old->length == 0 && status == ATTN2C_OK) { /* between all characters */
      size_t width = 0;
      if (at == text->length) break;
      read_at(text, at, &width);
      status = write_part(work, text, at, at + width);
      at += width;
    }
  }
  if (status == ATTN2C_OK) status = write_part(work, text, at, text->length);
  return status == ATTN2C_OK ? chat_take(work, mark, made) : status;
}

static int add_part(attn2c_chat_work *work, chat_list *list, const chat_value *text, size_t from, size_t to) {
  return chat_list_add(work, list, chat_string(text->as.text + from, to - from));
}

static void reverse(chat_list *list) {
  for (uint32_t i = 0; i < list->count / 2; i++) {
    chat_value value = list->items[i];
    list->items[i] = list->items[list->count - 1 - i], list->items[list->count - 1 - i] = value;
  }
}

/* Splits at white space, from the left or from the right. */
static int split_words(attn2c_chat_work *work, const chat_value *text, int64_t most, int from_right,
                       chat_list *list) {
  const chat_value white = {.kind = CHAT_NONE};
  chat_value rest = *text;
  int status = ATTN2C_OK;
  for (;;) {
    status = chat_strip(work, &rest, &white, from_right ? CHAT_RIGHT : CHAT_LEFT, &rest);
    if (status != ATTN2C_OK || rest.length == 0) return status;
    if (most == 0) return chat_list_add(work, list, rest);
    size_t at = from_right ? rest.length : 0, width = 0;
    while (from_right ? at > 0 : at < rest.length) {
      size_t place = from_right ? text_before((const uint8_t *)rest.as.text, at) : at;
      if (text_is_space(read_at(&rest, place, &width))) break;
      at = from_right ? place : at + width;
    }
    status = from_right ? add_part(work, list, &rest, at, rest.length) : add_part(work, list, &rest, 0, at);
    if (status == ATTN2C_OK) status = chat_spend(work, rest.length - at);
    if (status != ATTN2C_OK) return status;
    rest = from_right ? chat_string(rest.as.text, at) : chat_string(rest.as.text + at, rest.length - at);
    most--;
  }
}

int chat_split(attn2c_chat_work *work, const chat_value *text, const chat_value *separator, int64_t most,
               int from_right, chat_value *made) {
  chat_list *list;
  ATTN2C_TRY(chat_list_make(work, CHAT_OF_LIST, 0, &list));
  ATTN2C_TRY(chat_spend(work, text->length));
  *made = chat_of_list(list);
  if (separator->kind == CHAT_NONE || separator->kind == CHAT_MISSING) {
    ATTN2C_TRY(split_words(work, text, most, from_right, list));
    if (from_right) reverse(list);
    return ATTN2C_OK;
  }
  if (separator->kind != CHAT_STRING || separator->length == 0)
    return chat_refuse(work, "split: the separator is empty, or no text");
  ATTN2C_TRY(chat_spend(work, chat_search_steps(text, separator)));
  chat_value rest = *text;
  while (most != 0) {
    int64_t found = from_right ? chat_find_last(&rest, separator) : chat_find(&rest, 0, separator);
    if (found < 0) break;
    size_t past = (size_t)found + separator->length;
    ATTN2C_TRY(from_right ? add_part(work, list, &rest, past, rest.length)
                          : add_part(work, list, &rest, 0, (size_t)found));
    rest = from_right ? chat_string(rest.as.text, (size_t)found)
                      : chat_string(rest.as.text + past, rest.length - past);
    most--;
  }
  ATTN2C_TRY(chat_list_add(work, list, rest));
  if (from_right) reverse(list);
  return ATTN2C_OK;
}

static int ends_line(uint32_t point) {
  return (point >= 10 && point <= 13) || (point >= 0x1c && point <= 0x1e) || point == 0x85 ||
         point == 0x2028 || point == 0x2029;
}

int chat_split_lines(attn2c_chat_work *work, const chat_value *text, int keeps_ends, chat_value *made) {
  chat_list *list;
  int status = chat_list_make(work, CHAT_OF_LIST, 0, &list);
  size_t from = 0, width;
  for (size_t at = 0; at < text->length && status == ATTN2C_OK;) {
    uint32_t point = read_at(text, at, &width);
    size_t end = at;
    at += width;
    if (!ends_line(point)) continue;
    if (point == '\r' && at < text->length && text->as.text[at] == '\n') at++;
    status = add_part(work, list, text, from, keeps_ends ? at : end);
    from = at;
  }
  if (status == ATTN2C_OK && from < text->length) status = add_part(work, list, text, from, text->length);
  if (status == ATTN2C_OK) *made = chat_of_list(list);
  return status == ATTN2C_OK ? chat_spend(work, text->length) : status;
}

/* Copies a number without white space and underscores between digits. Returns 0 if it is none. */
static int plain_number(const chat_value *text, char *to, size_t size) {
  size_t begin = 0, end = text->length, count = 0;
  while (begin < end && text_is_space((uint8_t)text->as.text[begin])) begin++;
  while (end > begin && text_is_space((uint8_t)text->as.text[end - 1])) end--;
  for (size_t i = begin; i < end; i++) {
    char c = text->as.text[i];
    int joins = c == '_' && i > begin && i + 1 < end && text->as.text[i - 1] >= '0' &&
                text->as.text[i - 1] <= '9' && text->as.text[i + 1] >= '0' && text->as.text[i + 1] <= '9';
    if (c == '_' && !joins) return 0;
    if (c == '_') continue;
    if (c <= ' ' || count + 1 >= size) return 0;
    to[count++] = c;
  }
  to[count] = 0;
  return count > 0;
}

int chat_read_integer(const chat_value *text, int base, int64_t *value) {
  char plain[64], *end = NULL;
  if (!plain_number(text, plain, sizeof plain)) return 0;
  const char *digits = plain + (plain[0] == '-' || plain[0] == '+');
  if (digits[0] == 0 || strchr("+-", digits[0]) || strlen(digits) > 18) return 0;
  if (base == 10 && strspn(digits, "0123456789") != strlen(digits)) return 0;
  *value = strtoll(plain, &end, base);
  return *end == 0;
}

int chat_read_real(const chat_value *text, double *value) {
  char plain[128];
  if (!plain_number(text, plain, sizeof plain)) return 0;
  const char *at = plain + (plain[0] == '-' || plain[0] == '+');
  size_t before = strspn(at, "0123456789"), after = 0;
  const char *rest = at + before;
  if (*rest == '.') after = strspn(rest + 1, "0123456789"), rest += 1 + after;
  if (before + after == 0) return 0;
  if (*rest == 'e' || *rest == 'E') {
    const char *power = rest + 1 + (rest[1] == '-' || rest[1] == '+');
    if (*power == 0) return 0;
    rest = power + strspn(power, "0123456789");
  }
  char *end = NULL, *point = strchr(plain, '.');
  if (point) *point = localeconv()->decimal_point[0]; /* strtod reads that of the program's language */
  *value = strtod(plain, &end);
  return *rest == 0 && *end == 0;
}
