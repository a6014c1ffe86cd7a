/* windows.c - implements system.h for Windows, with the C library and the threads of mingw-w64. */
#include "system/without.h"

#include <errno.h>
#include <io.h>
#include <locale.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

_Static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need a 64-bit off_t");

enum { MOST_PLAIN = MAX_PATH - 12 /* letters of a folder's path without the prefix */, LONGEST_PREFIX = 7 };

static const wchar_t long_prefix[] = L"\\\\?\\";

/* A colon is only allowed after a drive's letter: file:name would be a stream that no list of files has. */
static int has_stream(const wchar_t *path) {
  const wchar_t *at = path + (wcsncmp(path, long_prefix, 4) == 0 ? 4 : 0), *colon = wcschr(at, L':');
  return colon && (colon != at + 1 || wcschr(colon + 1, L':'));
}

static int widen(const char *path, wchar_t wide[PATH_MAX]) {
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, PATH_MAX) <= 0) {
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : ENOENT;
    return 0;
  }
  for (wchar_t *at = wide; *at; at++)
    if (*at == L'/') *at = L'\\';
  if (has_stream(wide)) errno = EINVAL;
  return !has_stream(wide);
}

int attn2c_system_wide(const char *path, wchar_t wide[PATH_MAX]) {
  wchar_t whole[PATH_MAX];
  if (!widen(path, wide)) return 0;
  const DWORD length = GetFullPathNameW(wide, PATH_MAX, whole, NULL);
  if (length < MOST_PLAIN) return 1;
  if (length >= PATH_MAX - LONGEST_PREFIX) {
    errno = ENAMETOOLONG;
    return 0;
  }
  if (wcsncmp(whole, long_prefix, 4) == 0) return 1;
  const int is_share = whole[0] == L'\\'; /* \\server\share */
  wcscpy(wide, is_share ? L"\\\\?\\UNC" : long_prefix);
  wcscat(wide, whole + is_share);
  return 1;
}

/* Sets errno after a call of Windows failed; returns -1. */
static int fail(void) {
  static const struct {
    DWORD error;
    int number;
  } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},    {ERROR_PATH_NOT_FOUND, ENOENT},
               {ERROR_BAD_NETPATH, ENOENT},       {ERROR_BAD_NET_NAME, ENOENT},
               {ERROR_INVALID_NAME, EINVAL},      {ERROR_DIRECTORY, ENOTDIR},
               {ERROR_ACCESS_DENIED, EACCES},     {ERROR_SHARING_VIOLATION, EACCES},
               {ERROR_USER_MAPPED_FILE, EACCES},  {ERROR_WRITE_PROTECT, EROFS},
               {ERROR_DISK_FULL, ENOSPC},         {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
               {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}, {ERROR_HANDLE_EOF, 0}};
  const DWORD error = GetLastError();
  errno = EIO;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].error == error) errno = known[i].number;
  return -1;
}

void *attn2c_system_allocate(size_t alignment, size_t bytes) { return _aligned_malloc(bytes, alignment); }

void attn2c_system_free(void *memory) { _aligned_free(memory); }

int attn2c_system_advise(void *memory, size_t bytes, attn2c_advice advice) {
  (void)memory, (void)bytes, (void)advice;
  return -1;
}

size_t attn2c_system_page(void) {
  SYSTEM_INFO about;
  GetSystemInfo(&about);
  return about.dwPageSize;
}

size_t attn2c_system_memory(void) {
  MEMORYSTATUSEX about = {.dwLength = sizeof about};
  return GlobalMemoryStatusEx(&about) ? (size_t)about.ullTotalPhys : 0;
}

void *attn2c_system_reserve(size_t bytes) {
  return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}

int attn2c_system_protect(void *pages, size_t bytes, attn2c_access access) {
  static const DWORD protections[] = {PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE};
  DWORD before;
  return VirtualProtect(pages, bytes, protections[access], &before) ? 0 : fail();
}

void attn2c_system_release(void *pages, size_t bytes) {
  (void)bytes;
  VirtualFree(pages, 0, MEM_RELEASE);
}

int attn2c_system_stream(const char *path) {
  return strcmp(path, "/dev/stdout") == 0 ? 1 : strcmp(path, "/dev/stderr") == 0 ? 2 : -1;
}

const char *attn2c_system_slash(const char *path) {
  const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
  return !slash || (back && back > slash) ? back : slash;
}

static int is_folder(const wchar_t *path) {
  const DWORD facts = GetFileAttributesW(path);
  return facts != INVALID_FILE_ATTRIBUTES && (facts & FILE_ATTRIBUTE_DIRECTORY);
}

int attn2c_system_open(const char *path, int flags) {
  wchar_t wide[PATH_MAX];
  if (!attn2c_system_wide(path, wide)) return -1;
  const int descriptor = _wopen(wide, flags | _O_BINARY | _O_NOINHERIT, 0600);
  if (descriptor < 0 && errno == EACCES && is_folder(wide)) errno = EISDIR;
  return descriptor;
}

int attn2c_system_again(int descriptor) { return _dup(descriptor); }

int64_t attn2c_system_read(int descriptor, void *to, size_t bytes, int64_t offset) {
  OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
  DWORD got = 0;
  if (ReadFile((HANDLE)_get_osfhandle(descriptor), to, (DWORD)bytes, &got, &place)) return got;
  return fail() < 0 && errno == 0 ? 0 : -1; /* 0 at the end of the file */
}

int attn2c_system_sync(int descriptor) { return _commit(descriptor); }

void attn2c_system_sync_folder(const char *folder) { (void)folder; }

int attn2c_system_permit(int descriptor, unsigned permissions) {
  (void)descriptor, (void)permissions;
  return 0;
}

int attn2c_system_await_output(int descriptor) {
  (void)descriptor;
  return 0;
}

int attn2c_system_rename(const char *from, const char *to) {
  wchar_t wide_from[PATH_MAX], wide_to[PATH_MAX];
  if (!attn2c_system_wide(from, wide_from) || !attn2c_system_wide(to, wide_to)) return -1;
  return MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : fail();
}

int attn2c_system_unlink(const char *path) {
  wchar_t wide[PATH_MAX];
  return attn2c_system_wide(path, wide) ? _wunlink(wide) : -1;
}

int attn2c_system_exists(const char *path) {
  wchar_t wide[PATH_MAX];
  return attn2c_system_wide(path, wide) && _waccess(wide, F_OK) == 0;
}

int attn2c_system_about_open(int descriptor, attn2c_about *about) {
  const HANDLE handle = (HANDLE)_get_osfhandle(descriptor);
  BY_HANDLE_FILE_INFORMATION found;
  *about = (attn2c_about){.permissions = 0666};
  switch (handle == INVALID_HANDLE_VALUE ? FILE_TYPE_UNKNOWN : GetFileType(handle)) {
  case FILE_TYPE_CHAR:
    about->kind = ATTN2C_CHARACTER;
    return 0;
  case FILE_TYPE_PIPE:
    about->kind = ATTN2C_PIPE;
    return 0;
  case FILE_TYPE_DISK:
    break;
  default:
    errno = EBADF;
    return -1;
  }
  if (!GetFileInformationByHandle(handle, &found)) {
    if (descriptor > 2) return fail();
    /* A standard stream that another system has opened, as wine's, is like no file. */
    about->kind = ATTN2C_OTHER_KIND, about->device = UINT64_MAX, about->number = (uint64_t)descriptor;
    return 0;
  }
  about->kind = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? ATTN2C_FOLDER : ATTN2C_REGULAR;
  about->size = (int64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
  about->device = found.dwVolumeSerialNumber;
  about->number = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
  /* Units of 100 ns since 1601. */
  about->changed =
      (int64_t)((uint64_t)found.ftLastWriteTime.dwHighDateTime << 32 | found.ftLastWriteTime.dwLowDateTime) /
          10000000 -
      11644473600;
  return 0;
}

int attn2c_system_about(const char *path, int is_link, attn2c_about *about) {
  wchar_t wide[PATH_MAX];
  (void)is_link; /* links are followed */
  if (!attn2c_system_wide(path, wide)) return -1;
  /* Folders are opened with this flag only. */
  HANDLE handle = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (handle == INVALID_HANDLE_VALUE) return fail();
  const int descriptor = _open_osfhandle((intptr_t)handle, _O_RDONLY);
  const int status = descriptor < 0 ? -1 : attn2c_system_about_open(descriptor, about);
  if (descriptor < 0)
    CloseHandle(handle);
  else
    _close(descriptor);
  return status;
}

int64_t attn2c_system_read_link(const char *path, char *to, size_t bytes) {
  (void)path, (void)to, (void)bytes;
  errno = EINVAL;
  return -1;
}

/* Slashes stay slashes, which Windows takes too. */
char *attn2c_system_real_path(const char *path, char *to) {
  wchar_t wide[PATH_MAX], whole[PATH_MAX];
  if (!attn2c_system_exists(path) || !widen(path, wide)) return NULL;
  if (wide[0] && wcscmp(wide + 1, L":") == 0) wcscat(wide, L"\\"); /* not the working folder of a drive */
  const DWORD length = GetFullPathNameW(wide, PATH_MAX, whole, NULL);
  if (length == 0 || length >= PATH_MAX) return NULL;
  if (length > 1 && whole[length - 1] == L'\\' && whole[length - 2] != L':') whole[length - 1] = L'\0';
  for (wchar_t *at = whole; *at; at++)
    if (*at == L'\\') *at = L'/';
  return WideCharToMultiByte(CP_UTF8, 0, whole, -1, to, PATH_MAX, NULL, NULL) > 0 ? to : NULL;
}

void *attn2c_system_map(int descriptor, size_t bytes) {
  (void)bytes;
  HANDLE mapping = CreateFileMappingW((HANDLE)_get_osfhandle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
  void *view = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0) : NULL;
  if (!view) (void)fail();
  if (mapping) CloseHandle(mapping);
  return view;
}

void attn2c_system_unmap(void *mapping, size_t bytes) {
  (void)bytes;
  UnmapViewOfFile(mapping);
}

int attn2c_system_processors(void) {
  DWORD_PTR of_process, of_system;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &of_process, &of_system)) return 1;
  const int count = __builtin_popcountll(of_process);
  return count < 1 ? 1 : count;
}

int attn2c_system_start(pthread_t *thread, size_t stack, void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  int fault = pthread_attr_init(&attributes);
  if (fault) return fault;
  pthread_attr_setstacksize(&attributes, stack);
  fault = pthread_create(thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  return fault;
}

attn2c_locale attn2c_system_plain_locale(void) {
  const int per_thread = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  attn2c_locale locale = {_strdup(setlocale(LC_NUMERIC, NULL)), (void *)(intptr_t)per_thread};
  if (locale.plain) setlocale(LC_NUMERIC, "C");
  return locale;
}

void attn2c_system_restore_locale(attn2c_locale locale) {
  if (locale.plain) setlocale(LC_NUMERIC, locale.plain);
  free(locale.plain);
  _configthreadlocale((int)(intptr_t)locale.before);
}
