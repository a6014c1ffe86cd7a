/* source.c - lines from the words of the command line. As long as a stream's buffer has lines, nothing
 * is waited for, so that an answer is written as soon as its line has come. */
#include "program/text/source.h"

#include <errno.h>

#include "base/utf8.h"
#include "program/output.h"
#include "program/system.h"

#define READ_BYTES   ((size_t)1 << 16)
#define LONGEST_LINE ((size_t)1 << 30)

/* A list of words, read one after the other. Each word is a text or a stream of lines. */
typedef struct {
  const attn2c_text_word *words;
  int count, at;
  /* The stream that is being read; descriptor -1: none. */
  int descriptor;
  const char *file;
  int64_t number;
  char *bytes;
  size_t capacity, begin, scanned, end;
  int is_ended;
  FILE *notes; /* of the program */
  const char *program;
  int is_noted; /* 1: a line of the file that is not UTF-8 has been named */
} stream;

struct attn2c_text_source {
  stream texts, pairs, boxes;
  attn2c_text_word *words; /* queries, then texts */
  int query_count;
  int has_tabs; /* 1: a line has text and pair */
  char **kept;  /* copies of lines, until they are forgotten */
  size_t kept_count;
};

static int is_stream(const attn2c_text_word *word) {
  attn2c_about found;
  if (word->kind != ATTN2C_TEXT_ANY) return word->kind == ATTN2C_TEXT_FILE;
  if (strcmp(word->word, "-") == 0) return 1;
  return attn2c_system_about(word->word, 0, &found) == 0 && found.kind != ATTN2C_FOLDER;
}

/* True if a word is the standard input. */
static int is_input(const attn2c_text_word *word) {
  return word->kind != ATTN2C_TEXT_STRING && strcmp(word->word, "-") == 0;
}

/* True if a word may be meant as a file: it has no blank, and a slash or an extension. */
static int looks_like_file(const char *word) {
  const char *dot = strrchr(word, '.');
  if (strpbrk(word, " \t\n") || !*word) return 0;
  return strchr(word, '/') != NULL ||
         (dot && dot > word && dot[1] && strlen(dot) <= 6 && !strpbrk(dot + 1, ".,!?"));
}

static void note_words(const stream *s) {
  for (int i = 0; i < s->count; i++) {
    if (s->words[i].kind != ATTN2C_TEXT_ANY || is_stream(&s->words[i]) || !looks_like_file(s->words[i].word))
      continue;
    char text[600];
    attn2c_message line = attn2c_message_make(text, sizeof text);
    attn2c_say(&line, "%s %.400s: no such file exists, so that the word is used as a text",
               s->words[i].option, s->words[i].word);
    fprintf(s->notes, "%s: %s\n", s->program, text);
  }
}

/* Notes a file's first line that is not UTF-8. */
static void note_bytes(stream *s, const char *line, size_t length) {
  int is_valid = 1;
  for (size_t at = 0; at < length && is_valid && !s->is_noted;)
    at += attn2c_utf8_part(line + at, length - at, &is_valid);
  if (is_valid) return;
  char text[600];
  attn2c_message note = attn2c_message_make(text, sizeof text);
  attn2c_say(&note, "%.400s: line %" PRId64 ": bytes that are not UTF-8 count as U+FFFD", s->file, s->number);
  fprintf(s->notes, "%s: %s\n", s->program, text);
  s->is_noted = 1;
}

/* Returns the number of lines of a regular file. Returns -1 for anything else, and for a file that cannot be
 * read, which is reported when it is opened. */
static int64_t count_file(const char *path) {
  static const size_t size = READ_BYTES;
  attn2c_about found;
  int64_t lines = 0;
  char *bytes = malloc(size), last = '\n';
  const int descriptor = attn2c_system_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  ssize_t count = -1;
  if (bytes && descriptor >= 0 && attn2c_system_about_open(descriptor, &found) == 0 &&
      found.kind == ATTN2C_REGULAR) {
    while ((count = read(descriptor, bytes, size)) > 0) {
      for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(bytes + count - at))); at++) lines++;
      last = bytes[count - 1];
    }
  }
  if (descriptor >= 0) close(descriptor);
  free(bytes);
  return count < 0 ? -1 : lines + (last != '\n');
}

/* Returns the number of texts of a list of words. Returns -1 if it is not known before they are read. */
static int64_t count_lines(const stream *s) {
  int64_t lines = 0;
  for (int i = 0; i < s->count; i++) {
    const attn2c_text_word *word = &s->words[i];
    const int64_t each = !is_stream(word) ? 1 : is_input(word) ? -1 : count_file(word->word);
    if (each < 0) return -1;
    lines += each;
  }
  return lines;
}

int64_t attn2c_text_source_count(const attn2c_text_source *source) {
  const int64_t lines = count_lines(&source->texts);
  return lines < 0 ? 0 : lines;
}

/* Refuses another number of a list's words, such as pairs, than of texts, if both are known. */
static int check_count(const stream *texts, const stream *list, const char *many, const char *one,
                       attn2c_message *message) {
  if (list->count == 0) return ATTN2C_OK;
  const int64_t count = count_lines(texts), listed = count_lines(list);
  if (count < 0 || listed < 0 || count == listed) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE,
                     "%s: there are %" PRId64 " %s and %" PRId64 " texts, but %s for each text is expected",
                     list->words[0].option, listed, many, count, one);
}

int attn2c_text_source_open(const attn2c_arguments *arguments, FILE *notes, attn2c_text_source **source,
                            attn2c_message *message) {
  attn2c_text_source *made = calloc(1, sizeof *made);
  *source = NULL;
  if (!made) return ATTN2C_MEMORY;
  made->query_count = arguments->query_count;
  const int words = arguments->query_count + arguments->text_count;
  made->words = calloc((size_t)words + 1, sizeof *made->words);
  if (!made->words) {
    free(made);
    return ATTN2C_MEMORY;
  }
  const stream empty = {.descriptor = -1, .notes = notes, .program = arguments->program};
  made->texts = made->pairs = made->boxes = empty;
  for (int i = 0; i < words; i++)
    made->words[i] = i < made->query_count ? arguments->queries[i] : arguments->texts[i - made->query_count];
  made->texts.words = made->words, made->texts.count = words;
  made->pairs.words = arguments->pairs, made->pairs.count = arguments->pair_count;
  made->boxes.words = arguments->boxes, made->boxes.count = arguments->box_count;
  int status = ATTN2C_OK, inputs = 0;
  for (int i = 0; i < arguments->pair_count; i++)
    made->has_tabs |= strcmp(arguments->pairs[i].word, "-") == 0;
  if (made->has_tabs && arguments->pair_count > 1)
    status = attn2c_fail(
        message, ATTN2C_USAGE,
        "--text-pair -: each line has text and pair with a tab between them, and no other pair is allowed");
  for (int i = 0; i < words; i++) inputs += is_input(&made->words[i]);
  for (int i = 0; i < arguments->box_count; i++) inputs += is_input(&arguments->boxes[i]);
  for (int i = 0; i < arguments->image_count; i++) inputs += strcmp(arguments->images[i], "-") == 0;
  if (inputs > 1)
    status = attn2c_fail(message, ATTN2C_USAGE, "%s -: the standard input can be read only once",
                         made->words[words - 1].option);
  if (arguments->text_count == 0)
    status =
        attn2c_fail(message, ATTN2C_USAGE,
                    arguments->query_count > 0
                        ? "--query: the texts to search are missing; --text-file FILE or --text gives them"
                        : "run: --text TEXT, FILE or - is needed");
  if (status == ATTN2C_OK && !made->has_tabs)
    status = check_count(&made->texts, &made->pairs, "pairs", "a pair", message);
  if (status == ATTN2C_OK)
    status = check_count(&made->texts, &made->boxes, "lines of boxes", "a line", message);
  if (status == ATTN2C_OK) {
    note_words(&made->texts);
    if (!made->has_tabs) note_words(&made->pairs);
    note_words(&made->boxes);
    *source = made;
  } else {
    attn2c_text_source_close(made);
  }
  return status;
}

static void stream_end(stream *s) {
  if (s->descriptor > STDIN_FILENO) close(s->descriptor);
  s->descriptor = -1;
  s->begin = s->end = s->scanned = 0;
}

void attn2c_text_source_close(attn2c_text_source *source) {
  if (!source) return;
  attn2c_text_source_forget(source);
  stream_end(&source->texts);
  stream_end(&source->pairs);
  stream_end(&source->boxes);
  ATTN2C_FREE(source->texts.bytes, source->pairs.bytes, source->boxes.bytes, source->kept, source->words,
              source);
}

void attn2c_text_source_forget(attn2c_text_source *source) {
  for (size_t i = 0; i < source->kept_count; i++) free(source->kept[i]);
  source->kept_count = 0;
}

/* Returns a copy of the bytes, which lasts until attn2c_text_source_forget; NULL without memory. */
static const char *keep(attn2c_text_source *source, const char *bytes, size_t length) {
  if (ATTN2C_MORE(source->kept, source->kept_count) != ATTN2C_OK) return NULL;
  char *copy = attn2c_copied(bytes, length);
  if (copy) source->kept[source->kept_count++] = copy;
  return copy;
}

static int stream_begin(stream *s, const char *word, attn2c_message *message) {
  const int is_input = strcmp(word, "-") == 0 && s->words[s->at].kind != ATTN2C_TEXT_STRING;
  s->descriptor = is_input ? STDIN_FILENO : attn2c_system_open(word, O_RDONLY | O_NOCTTY);
  s->file = is_input ? "standard input" : word;
  s->number = 0;
  s->is_ended = s->is_noted = 0;
  if (s->descriptor >= 0) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_IO, "%s %s: %s", s->words[s->at].option, word, strerror(errno));
}

/* Reads more bytes after those in the buffer. */
static int stream_fill(stream *s, attn2c_message *message) {
  if (s->begin > 0) {
    memmove(s->bytes, s->bytes + s->begin, s->end - s->begin);
    s->end -= s->begin, s->scanned -= s->begin, s->begin = 0;
  }
  if (s->capacity - s->end < READ_BYTES) {
    const size_t capacity = 2 * s->capacity + READ_BYTES;
    char *moved = s->end < LONGEST_LINE ? realloc(s->bytes, capacity) : NULL;
    if (!moved) {
      attn2c_say(message, "%s: line %" PRId64 ": the line is too long", s->file, s->number + 1);
      return s->end < LONGEST_LINE ? ATTN2C_MEMORY : ATTN2C_FORMAT;
    }
    s->bytes = moved, s->capacity = capacity;
  }
  int64_t count;
  do count = attn2c_program_read(s->descriptor, s->bytes + s->end, s->capacity - s->end);
  while (count < 0 && errno == EINTR && !attn2c_signal());
  if (count < 0 && errno == EINTR) count = 0;
  if (count < 0) return attn2c_fail(message, ATTN2C_IO, "%s: %s", s->file, strerror(errno));
  s->end += (size_t)count;
  s->is_ended = count == 0;
  return ATTN2C_OK;
}

/* Reads the next line of the stream; *text points into its buffer. */
static attn2c_line_state stream_line(stream *s, int may_wait, const char **text, size_t *length, int *status,
                                     attn2c_message *message) {
  for (;;) {
    const char *newline =
        s->scanned < s->end ? memchr(s->bytes + s->scanned, '\n', s->end - s->scanned) : NULL;
    if (newline || (s->is_ended && s->begin < s->end)) {
      size_t end = newline ? (size_t)(newline - s->bytes) : s->end;
      *text = s->bytes + s->begin;
      s->scanned = newline ? end + 1 : end;
      *length = end - s->begin;
      if (*length && (*text)[*length - 1] == '\r') --*length;
      s->begin = s->scanned;
      const int mark = ++s->number == 1 ? attn2c_utf8_mark(*text, *length) : 0;
      if (mark < 0) {
        *status = attn2c_fail(message, ATTN2C_FORMAT, "%s: is in UTF-16, but UTF-8 is expected", s->file);
        return ATTN2C_LINE_FAULT;
      }
      *text += mark, *length -= (size_t)mark;
      note_bytes(s, *text, *length);
      return ATTN2C_LINE_READ;
    }
    s->scanned = s->end;
    if (s->is_ended) return ATTN2C_LINE_END;
    if (!attn2c_signals_wait(s->descriptor, may_wait))
      return attn2c_signal() ? ATTN2C_LINE_END : ATTN2C_LINE_NONE;
    *status = stream_fill(s, message);
    if (*status != ATTN2C_OK) return ATTN2C_LINE_FAULT;
  }
}

/* Reads the next text of a list of words. */
static attn2c_line_state stream_next(stream *s, int may_wait, attn2c_line *line, int *status,
                                     attn2c_message *message) {
  while (!attn2c_signal()) {
    if (s->at < s->count) line->option = s->words[s->at].option;
    if (s->descriptor >= 0) {
      const attn2c_line_state state = stream_line(s, may_wait, &line->text, &line->length, status, message);
      line->file = s->file, line->number = s->number;
      if (state != ATTN2C_LINE_END || attn2c_signal()) return state;
      stream_end(s);
      s->at++;
    }
    if (s->at == s->count) return ATTN2C_LINE_END;
    const attn2c_text_word *word = &s->words[s->at];
    if (!is_stream(word)) {
      line->text = word->word, line->length = strlen(word->word);
      line->file = NULL, line->number = ++s->at;
      return ATTN2C_LINE_READ;
    }
    *status = stream_begin(s, word->word, message);
    if (*status != ATTN2C_OK) return ATTN2C_LINE_FAULT;
  }
  return ATTN2C_LINE_END;
}

static attn2c_line_state fault(int *status, int value) {
  *status = value;
  return ATTN2C_LINE_FAULT;
}

/* Splits a line at its tab into text and pair. */
static attn2c_line_state split(attn2c_line *line, int *status, attn2c_message *message) {
  const char *tab = memchr(line->text, '\t', line->length);
  if (!tab) {
    char place[ATTN2C_LINE_PLACE];
    attn2c_line_place(line, place, sizeof place);
    attn2c_say(message, "%s: has no tab between text and pair", place);
    return fault(status, ATTN2C_FORMAT);
  }
  const size_t length = (size_t)(tab - line->text);
  line->pair = tab + 1, line->pair_length = line->length - length - 1;
  line->length = length;
  return ATTN2C_LINE_READ;
}

/* Reads what a text has in a list of its own: its pair, or its boxes. There must be one for each text. */
static attn2c_line_state next_of(attn2c_text_source *source, stream *list, const attn2c_line *line,
                                 const char **text, size_t *length, int *status, attn2c_message *message) {
  attn2c_line next = {.text = NULL};
  const attn2c_line_state state = stream_next(list, 1, &next, status, message);
  if (state == ATTN2C_LINE_FAULT || attn2c_signal()) return state;
  if (state != ATTN2C_LINE_READ) {
    char place[ATTN2C_LINE_PLACE];
    attn2c_line_place(line, place, sizeof place);
    attn2c_say(message, "%s: has no %s: %s gives fewer texts", place,
               list == &source->pairs ? "pair" : "boxes", list->words[0].option);
    return fault(status, ATTN2C_USAGE);
  }
  *text = keep(source, next.text, next.length), *length = next.length;
  return *text ? ATTN2C_LINE_READ : fault(status, ATTN2C_MEMORY);
}

/* Refuses a pair, or boxes, after the last text. */
static attn2c_line_state end_of(const attn2c_text_source *source, stream *list, int *status,
                                attn2c_message *message) {
  attn2c_line rest = {.text = NULL};
  char place[ATTN2C_LINE_PLACE];
  const attn2c_line_state state =
      list->count > 0 ? stream_next(list, 1, &rest, status, message) : ATTN2C_LINE_END;
  if (state != ATTN2C_LINE_READ) return state;
  attn2c_line_place(&rest, place, sizeof place);
  attn2c_say(message, "%s: is %s without a text: %s gives fewer texts", place,
             list == &source->pairs ? "a pair" : "a line of boxes", source->texts.words[0].option);
  return fault(status, ATTN2C_USAGE);
}

/* Sets is_query of a line that was just read, and counts the words of texts from 1 again. */
static void set_query(const attn2c_text_source *source, attn2c_line *line) {
  const stream *texts = &source->texts;
  const int at = line->file ? texts->at : texts->at - 1;
  line->is_query = at < source->query_count;
  if (!line->file && !line->is_query) line->number -= source->query_count;
}

attn2c_line_state attn2c_text_source_next(attn2c_text_source *source, int may_wait, attn2c_line *line,
                                          int *status, attn2c_message *message) {
  *line = (attn2c_line){.text = NULL};
  attn2c_line_state state = stream_next(&source->texts, may_wait, line, status, message);
  if (state == ATTN2C_LINE_READ) set_query(source, line);
  const int has_pairs = source->pairs.count > 0 && !source->has_tabs;
  if (state == ATTN2C_LINE_END && has_pairs && !attn2c_signal())
    state = end_of(source, &source->pairs, status, message);
  if (state == ATTN2C_LINE_END && !attn2c_signal()) state = end_of(source, &source->boxes, status, message);
  if (state != ATTN2C_LINE_READ) return state;
  if (source->has_tabs) {
    state = split(line, status, message);
    if (state != ATTN2C_LINE_READ) return state;
  }
  /* Reading more moves a stream's buffer. */
  if (line->file) {
    const size_t whole = line->pair ? line->length + 1 + line->pair_length : line->length;
    const char *kept = keep(source, line->text, whole);
    if (!kept) return fault(status, ATTN2C_MEMORY);
    if (line->pair) line->pair = kept + line->length + 1;
    line->text = kept;
  }
  if (has_pairs)
    state = next_of(source, &source->pairs, line, &line->pair, &line->pair_length, status, message);
  size_t length;
  if (state == ATTN2C_LINE_READ && source->boxes.count > 0)
    state = next_of(source, &source->boxes, line, &line->boxes, &length, status, message);
  if (state == ATTN2C_LINE_READ && line->boxes && strlen(line->boxes) < length) {
    char place[ATTN2C_LINE_PLACE];
    attn2c_line_place(line, place, sizeof place);
    attn2c_say(message, "%s: its line of boxes has a NUL", place);
    return fault(status, ATTN2C_FORMAT);
  }
  return state;
}

void attn2c_line_place(const attn2c_line *line, char *text, size_t size) {
  if (line->file)
    snprintf(text, size, "%.300s: line %" PRId64, line->file, line->number);
  else
    snprintf(text, size, "%s: text %" PRId64, line->option, line->number);
}
