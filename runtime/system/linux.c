/* linux.c - implements system.h for Linux: huge pages, futexes, the processors of a thread, files without a
 * name. */
#include "system/posix.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

/* The kernel's MADV_COLLAPSE, FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE, whose headers some C libraries lack.
 * A kernel before 6.1 refuses the first. */
enum { COLLAPSE = 25, WAIT_PRIVATE = 128, WAKE_PRIVATE = 129 };

int attn2c_system_advise(void *memory, size_t bytes, attn2c_advice advice) {
  static const int advices[] = {
      [ATTN2C_HUGE_PAGES] = MADV_HUGEPAGE,
      [ATTN2C_SMALL_PAGES] = MADV_NOHUGEPAGE,
      [ATTN2C_COLLAPSE] = COLLAPSE,
#ifdef MADV_POPULATE_WRITE
      [ATTN2C_POPULATE] = MADV_POPULATE_WRITE,
#else
      [ATTN2C_POPULATE] = -1, /* no kernel knows it */
#endif
      [ATTN2C_WILL_READ] = MADV_WILLNEED,
  };
  return madvise(memory, bytes, advices[advice]);
}

int attn2c_system_open_unnamed(const char *folder) {
  if (access("/proc/self/fd", X_OK) != 0) return -1;
  return attn2c_system_open(folder, O_TMPFILE | O_RDWR);
}

int attn2c_system_name(int descriptor, const char *path) {
  char own[40];
  snprintf(own, sizeof own, "/proc/self/fd/%d", descriptor);
  return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* Linux keeps what one write writes in units of up to a huge page, at which it is mapped later on. */
int64_t attn2c_system_write_zeros(int descriptor, int64_t offset, int64_t size) {
  enum { PAGE = 4096, PAGES = 512, PIECE = PAGE * PAGES };
  static const char zeros[PAGE];
  struct iovec pages[PAGES];
  const int64_t left = size - offset;
  const int count = left >= PIECE ? PAGES : (int)((left + PAGE - 1) / PAGE);
  for (int i = 0; i < count; i++) pages[i] = (struct iovec){(void *)(uintptr_t)zeros, PAGE};
  if (left < PIECE) pages[count - 1].iov_len = (size_t)((left - 1) % PAGE + 1);
  ssize_t put;
  do {
    put = pwritev(descriptor, pages, count, offset);
  } while (put < 0 && errno == EINTR);
  if (put == 0) errno = ENOSPC;
  /* After a short write the rest stays as it is: its bytes are zero, too. */
  return put <= 0 ? -1 : offset + (left < PIECE ? left : PIECE);
}

int attn2c_system_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

int attn2c_system_core(void) { return sched_getcpu(); }

int attn2c_system_cores(pthread_t thread, attn2c_cores *cores) {
  return pthread_getaffinity_np(thread, sizeof *cores, cores) == 0;
}

int attn2c_system_same_cores(const attn2c_cores *a, const attn2c_cores *b) { return CPU_EQUAL(a, b); }

int attn2c_system_use_cores(pthread_t thread, const attn2c_cores *of, int core, int is_only,
                            attn2c_cores *used) {
  const int is_known = core >= 0 && core < CPU_SETSIZE;
  cpu_set_t cores = *of;
  if (is_only) {
    if (!is_known || !CPU_ISSET(core, of)) return 0;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
  } else if (is_known) {
    CPU_CLR(core, &cores);
  }
  if (CPU_COUNT(&cores) == 0 || pthread_setaffinity_np(thread, sizeof cores, &cores) != 0) return 0;
  *used = cores;
  return 1;
}

int64_t attn2c_system_computed(pthread_t thread) {
  clockid_t clock;
  struct timespec t = {0};
  if (pthread_getcpuclockid(thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void attn2c_system_wait(atomic_uint *count, unsigned seen, long nap) {
  const struct timespec limit = {0, nap};
  syscall(SYS_futex, count, WAIT_PRIVATE, seen, nap < 0 ? NULL : &limit, NULL, 0);
}

void attn2c_system_wake(atomic_uint *count) {
  syscall(SYS_futex, count, WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
