/* windows.c - implements system.h for Windows, with the C library of mingw-w64. */
#define _CRT_RAND_S
#include "program/system.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { CLOSING_MS = 4000, UTF16 = 2048 /* of a console, read at a time */ };

/* Returns text of UTF-16 in UTF-8, or NULL without memory. */
static char *narrow(const wchar_t *wide) {
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char *text = size > 0 ? malloc((size_t)size) : NULL;
  if (text) WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
  return text;
}

/* The program's own path, without backslashes and .exe: its last part is its name in messages. */
static void plain_path(char *path) {
  for (char *at = path; *at; at++)
    if (*at == '\\') *at = '/';
  char *ending = strlen(path) > 4 ? path + strlen(path) - 4 : path;
  if (_stricmp(ending, ".exe") == 0) *ending = '\0';
}

static UINT input_before, output_before;

static void restore_console(void) {
  if (input_before) SetConsoleCP(input_before);
  if (output_before) SetConsoleOutputCP(output_before);
}

/* Makes the console take UTF-8, and the line of progress. */
static void prepare_console(void) {
  const HANDLE notes = GetStdHandle(STD_ERROR_HANDLE);
  DWORD mode;
  input_before = GetConsoleCP(), output_before = GetConsoleOutputCP();
  SetConsoleCP(CP_UTF8);
  SetConsoleOutputCP(CP_UTF8);
  atexit(restore_console);
  if (GetConsoleMode(notes, &mode)) SetConsoleMode(notes, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

static void (*end_by)(void);

static LONG CALLBACK note_lost(EXCEPTION_POINTERS *about) {
  if (about->ExceptionRecord->ExceptionCode == (DWORD)EXCEPTION_IN_PAGE_ERROR) end_by();
  return EXCEPTION_CONTINUE_SEARCH;
}

char **attn2c_program_begin(int *count, char **words, void (*lost)(void)) {
  wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), count);
  char **narrowed = wide ? calloc((size_t)*count + 1, sizeof *narrowed) : NULL;
  for (int descriptor = 0; descriptor <= 2; descriptor++) {
    if (_get_osfhandle(descriptor) < 0) _open("NUL", descriptor == 0 ? _O_WRONLY : _O_RDONLY);
    _setmode(descriptor, _O_BINARY);
  }
  /* Standard error has a buffer otherwise if it is no console. */
  setvbuf(stderr, NULL, _IONBF, 0);
  prepare_console();
  end_by = lost;
  AddVectoredExceptionHandler(1, note_lost);
  for (int i = 0; narrowed && i < *count; i++) {
    narrowed[i] = narrow(wide[i]);
    if (!narrowed[i]) narrowed = NULL;
  }
  if (wide) LocalFree(wide);
  if (!narrowed) {
    fputs("out of memory\n", stderr);
    exit(5);
  }
  if (*count > 0) plain_path(narrowed[0]);
  (void)words; /* they are in the system's own encoding */
  return narrowed;
}

/* The signals of a console: Ctrl-C and Ctrl-Break are SIGINT, a window that closes is SIGTERM. */
static struct {
  void (*note)(int number);
  int is_once;
} handlers[2];

/* True once one has come, for a line that is waited for. */
static volatile sig_atomic_t interrupted;

static BOOL WINAPI handle(DWORD kind) {
  const int is_end = kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT;
  void (*note)(int number) = handlers[is_end].note;
  if (!note) return FALSE;
  if (handlers[is_end].is_once) handlers[is_end].note = NULL;
  note(is_end ? SIGTERM : SIGINT);
  interrupted = 1;
  attn2c_program_wake();
  if (is_end) Sleep(CLOSING_MS); /* the process ends when this returns */
  return TRUE;
}

void attn2c_program_signal(int number, void (*note)(int number), int is_once, int restarts) {
  static int is_set;
  (void)restarts;
  handlers[number == SIGTERM].note = note;
  handlers[number == SIGTERM].is_once = is_once;
  if (!is_set) SetConsoleCtrlHandler(handle, TRUE);
  is_set = 1;
}

int attn2c_program_may_wake(void) { return 1; }

/* The bytes that a thread has read from standard input. Nothing would interrupt such a read of the program.
 */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int is_begun, is_ended;
  size_t first, end;
  char bytes[1 << 16];
} input = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void attn2c_program_wake(void) {
  pthread_mutex_lock(&input.lock);
  pthread_cond_broadcast(&input.changed);
  pthread_mutex_unlock(&input.lock);
}

/* Reads from a console, whose bytes are not UTF-8 whatever its code page is. Returns 0 at the end. */
static size_t read_console(HANDLE console, char to[3 * UTF16]) {
  wchar_t wide[UTF16];
  DWORD count = 0, more = 0;
  do
    if (!ReadConsoleW(console, wide, UTF16 - 1, &count, NULL)) return 0;
  while (count == 0); /* Ctrl-C ends a read */
  if ((wide[count - 1] & 0xfc00) == 0xd800 && ReadConsoleW(console, wide + count, 1, &more, NULL))
    count += more;             /* the other half of a letter */
  if (wide[0] == 26) return 0; /* Ctrl-Z */
  return (size_t)WideCharToMultiByte(CP_UTF8, 0, wide, (int)count, to, 3 * UTF16, NULL, NULL);
}

static void *read_input(void *unused) {
  static char bytes[3 * UTF16];
  const HANDLE from = (HANDLE)_get_osfhandle(0);
  DWORD mode, got = 0;
  const int is_console = GetConsoleMode(from, &mode) != 0;
  (void)unused;
  for (;;) {
    const size_t count = is_console                                        ? read_console(from, bytes)
                         : ReadFile(from, bytes, sizeof bytes, &got, NULL) ? got
                                                                           : 0;
    pthread_mutex_lock(&input.lock);
    while (input.first < input.end && count > sizeof input.bytes - input.end)
      pthread_cond_wait(&input.changed, &input.lock);
    if (input.first == input.end) input.first = input.end = 0;
    memcpy(input.bytes + input.end, bytes, count);
    input.end += count;
    input.is_ended = count == 0;
    pthread_cond_broadcast(&input.changed);
    pthread_mutex_unlock(&input.lock);
    if (count == 0) return NULL;
  }
}

/* True if a descriptor is read by the thread, which it starts. */
static int is_threaded(int descriptor) {
  pthread_t thread;
  if (descriptor != 0 || GetFileType((HANDLE)_get_osfhandle(0)) == FILE_TYPE_DISK) return 0;
  if (!input.is_begun) input.is_begun = attn2c_system_start(&thread, 1 << 16, read_input, NULL) == 0;
  return input.is_begun;
}

int attn2c_program_await(int descriptor, int may_wait, const volatile sig_atomic_t *noted) {
  if (!is_threaded(descriptor)) return !*noted;
  pthread_mutex_lock(&input.lock);
  while (may_wait && !*noted && input.first == input.end && !input.is_ended)
    pthread_cond_wait(&input.changed, &input.lock);
  const int is_there = input.first < input.end || input.is_ended;
  pthread_mutex_unlock(&input.lock);
  return is_there && !*noted;
}

int64_t attn2c_program_read(int descriptor, void *to, size_t bytes) {
  if (!is_threaded(descriptor)) return _read(descriptor, to, bytes < INT_MAX ? (unsigned)bytes : INT_MAX);
  pthread_mutex_lock(&input.lock);
  while (input.first == input.end && !input.is_ended) pthread_cond_wait(&input.changed, &input.lock);
  const size_t count = input.end - input.first < bytes ? input.end - input.first : bytes;
  memcpy(to, input.bytes + input.first, count);
  input.first += count;
  pthread_cond_broadcast(&input.changed);
  pthread_mutex_unlock(&input.lock);
  return (int64_t)count;
}

static int next_byte(void) {
  static char kept[4096];
  static int64_t first, end;
  if (first == end) {
    first = end = 0;
    if (!attn2c_program_await(0, 1, &interrupted)) {
      errno = EINTR;
      return -2;
    }
    const int64_t got = attn2c_program_read(0, kept, sizeof kept);
    if (got <= 0) return got == 0 ? -1 : -2;
    end = got;
  }
  return (unsigned char)kept[first++];
}

int64_t attn2c_program_line(char **line, size_t *capacity, int *is_ended) {
  size_t length = 0;
  int byte;
  interrupted = 0;
  *is_ended = 0;
  do {
    byte = next_byte();
    if (byte == -1 && length > 0) break;
    if (byte < 0) {
      *is_ended = byte == -1;
      return -1;
    }
    if (length + 2 > *capacity) {
      char *moved = realloc(*line, 2 * *capacity + 256);
      if (!moved) return -1;
      *line = moved, *capacity = 2 * *capacity + 256;
    }
    (*line)[length++] = (char)byte;
  } while (byte != '\n');
  (*line)[length] = '\0';
  return (int64_t)length;
}

int attn2c_program_names(const char *folder, int (*visit)(void *context, const char *name), void *context) {
  wchar_t pattern[PATH_MAX];
  WIN32_FIND_DATAW found;
  int result = 0;
  const int is_path = attn2c_system_wide(folder, pattern) && *pattern && wcslen(pattern) < PATH_MAX - 2;
  if (is_path) wcscat(pattern, pattern[wcslen(pattern) - 1] == L'\\' ? L"*" : L"\\*");
  const HANDLE list = is_path ? FindFirstFileW(pattern, &found) : INVALID_HANDLE_VALUE;
  if (list == INVALID_HANDLE_VALUE) {
    errno = ENOENT;
    return -1;
  }
  do {
    char *name = narrow(found.cFileName);
    if (name) result = visit(context, name);
    free(name);
  } while (result == 0 && FindNextFileW(list, &found));
  FindClose(list);
  return result;
}

/* Makes an empty file for a while. Returns 0 if there can be none. */
static int make_temporary(wchar_t path[MAX_PATH + 1]) {
  wchar_t folder[MAX_PATH + 1];
  return GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"a2c", 0, path);
}

/* The bytes are in a file that is removed when it is closed. */
FILE *attn2c_program_gather(char **text, size_t *size) {
  wchar_t path[MAX_PATH + 1];
  *text = NULL, *size = 0;
  return make_temporary(path) ? _wfopen(path, L"w+bTD") : NULL;
}

int attn2c_program_gathered(FILE *stream, char **text, size_t *size) {
  const int64_t count = fseeko(stream, 0, SEEK_END) == 0 ? ftello(stream) : -1;
  *text = count >= 0 ? malloc((size_t)count + 1) : NULL;
  *size = *text ? (size_t)count : 0;
  int failed =
      ferror(stream) || !*text || fseeko(stream, 0, SEEK_SET) != 0 || fread(*text, 1, *size, stream) != *size;
  if (*text) (*text)[*size] = '\0';
  failed |= fclose(stream) != 0;
  return failed ? EOF : 0;
}

int attn2c_program_scratch(attn2c_scratch *made) {
  wchar_t path[MAX_PATH + 1];
  if (!make_temporary(path) ||
      !WideCharToMultiByte(CP_UTF8, 0, path, -1, made->path, sizeof made->path, NULL, NULL))
    return -1;
  made->descriptor = attn2c_system_open(made->path, O_WRONLY);
  return made->descriptor < 0 ? -1 : 0;
}

void attn2c_program_scratch_end(const attn2c_scratch *made) {
  _close(made->descriptor);
  attn2c_system_unlink(made->path);
}

int attn2c_program_random(void *to, size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(unsigned)) {
    unsigned number;
    const size_t left = bytes - at;
    if (rand_s(&number) != 0) return 0;
    memcpy((char *)to + at, &number, left < sizeof number ? left : sizeof number);
  }
  return 1;
}

void *memmem(const void *in, size_t size, const void *bytes, size_t length) {
  const char *at = in, *end = at + size;
  if (length == 0) return (void *)(uintptr_t)in;
  for (; (size_t)(end - at) >= length; at++) {
    at = memchr(at, *(const char *)bytes, (size_t)(end - at) - length + 1);
    if (!at) return NULL;
    if (memcmp(at, bytes, length) == 0) return (void *)(uintptr_t)at;
  }
  return NULL;
}

char *stpcpy(char *to, const char *from) {
  const size_t length = strlen(from);
  memcpy(to, from, length + 1);
  return to + length;
}
