/* generate_line.c - lines by libedit, or as they are. libedit is loaded when a chat begins, so that a
 * program also runs where it is not installed; its functions and numbers are as in its histedit.h, version
 * 2. A static program has no editor, and Windows' consoles have their own. */
#include "program/text/generate.h"
#include "program/system.h"

#include <errno.h>
#include <locale.h>
#ifndef ATTN2C_STATIC
#include <dlfcn.h>
#endif

/* Operations of el_set and history. */
enum { EL_PROMPT = 0, EL_EDITOR = 2, EL_SIGNAL = 3, EL_HIST = 10, H_SETSIZE = 1, H_ENTER = 10 };
enum { HISTORY_LINES = 500 };

typedef struct {
  int number;
  const char *text;
} history_event;

/* libedit's functions. Editor and history are its own types. */
typedef struct {
  void *library;
  void *(*init)(const char *program, FILE *in, FILE *out, FILE *notes);
  void (*end)(void *editor);
  int (*set)(void *editor, int operation, ...);
  const char *(*gets)(void *editor, int *count);
  void *(*history_init)(void);
  void (*history_end)(void *history);
  int (*history)(void *history, history_event *event, int operation, ...);
} edit_library;

struct attn2c_line_reader {
  int is_terminal;
  edit_library edit;
  void *editor, *history; /* NULL: no editor */
  char *line;
  size_t capacity;
};

static const char *shown_prompt = ""; /* libedit asks for it by a function without data */

#ifndef ATTN2C_STATIC
static char *prompt_of(void *editor) {
  (void)editor;
  return (char *)shown_prompt;
}

/* Loads libedit's functions. Returns 0 if one is missing. */
static int load(edit_library *edit) {
  static const char *const names[] = {"el_init",      "el_end",      "el_set", "el_gets",
                                      "history_init", "history_end", "history"};
  void *places[] = {&edit->init,         &edit->end,         &edit->set,    &edit->gets,
                    &edit->history_init, &edit->history_end, &edit->history};
  edit->library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!edit->library) return 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *function = dlsym(edit->library, names[i]);
    if (!function) return 0;
    memcpy(places[i], &function, sizeof function);
  }
  return 1;
}

static void open_editor(attn2c_line_reader *reader) {
  edit_library *edit = &reader->edit;
  history_event event;
  if (!load(edit)) return;
  setlocale(LC_CTYPE, ""); /* or letters beyond ASCII cannot be edited */
  reader->editor = edit->init("attn2c", stdin, stdout, stderr);
  reader->history = reader->editor ? edit->history_init() : NULL;
  if (!reader->history) return;
  edit->set(reader->editor, EL_PROMPT, prompt_of);
  edit->set(reader->editor, EL_EDITOR, "emacs");
  edit->set(reader->editor, EL_SIGNAL, 0);
  edit->history(reader->history, &event, H_SETSIZE, HISTORY_LINES);
  edit->set(reader->editor, EL_HIST, edit->history, reader->history);
}
#endif

attn2c_line_reader *attn2c_line_reader_open(void) {
  attn2c_line_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
#ifndef ATTN2C_STATIC
  if (reader->is_terminal) open_editor(reader);
#endif
  return reader;
}

void attn2c_line_reader_close(attn2c_line_reader *reader) {
  if (!reader) return;
  if (reader->history) reader->edit.history_end(reader->history);
  if (reader->editor) reader->edit.end(reader->editor);
#ifndef ATTN2C_STATIC
  if (reader->edit.library) dlclose(reader->edit.library);
#endif
  ATTN2C_FREE(reader->line, reader);
}

int attn2c_line_reader_is_terminal(const attn2c_line_reader *reader) { return reader->is_terminal; }

/* Removes the line's end. */
static attn2c_chat_state cut(char *text, size_t count, char **line, size_t *length) {
  while (count > 0 && (text[count - 1] == '\n' || text[count - 1] == '\r')) count--;
  *line = text;
  *length = count;
  return ATTN2C_CHAT_LINE;
}

static attn2c_chat_state edited(attn2c_line_reader *reader, char **line, size_t *length) {
  int count = 0;
  history_event event;
  errno = 0;
  const char *text = reader->edit.gets(reader->editor, &count);
  if (!text && count < 0) return errno == EINTR ? ATTN2C_CHAT_INTERRUPTED : ATTN2C_CHAT_FAULT;
  if (!text || count == 0) return ATTN2C_CHAT_END;
  if (strspn(text, " \t\r\n") < (size_t)count) reader->edit.history(reader->history, &event, H_ENTER, text);
  return cut((char *)text, (size_t)count, line, length);
}

attn2c_chat_state attn2c_line_reader_next(attn2c_line_reader *reader, const char *prompt, char **line,
                                          size_t *length) {
  shown_prompt = prompt;
  fflush(stdout);
  if (reader->history) return edited(reader, line, length);
  if (reader->is_terminal) {
    fputs(prompt, stdout);
    fflush(stdout);
  }
  errno = 0;
  int is_ended;
  const int64_t count = attn2c_program_line(&reader->line, &reader->capacity, &is_ended);
  if (count >= 0) return cut(reader->line, (size_t)count, line, length);
  if (is_ended) return ATTN2C_CHAT_END;
  return errno == EINTR ? ATTN2C_CHAT_INTERRUPTED : ATTN2C_CHAT_FAULT;
}
