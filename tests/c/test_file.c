/* test_file.c - atomic writing: the name stands for all of the new bytes or for what it
 * stood for before, whatever fails; devices and pipes are written straight. */
#define _DEFAULT_SOURCE
#include "faults.h"
#include "formats/file.h"
#include "formats/new_file.h"
#include "formats/place.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(file, .init = scratch_open, .fini = scratch_close);

static char text[512];
static const attn2c_file_part parts[] = {{"one ", 4}, {NULL, 0}, {"two", 3}};

static int write_to(const char *path) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  return attn2c_file_write(path, parts, 3, &message);
}

static int holds(const char *path, const char *expected) {
  char bytes[64];
  size_t size = scratch_get(path, bytes, sizeof bytes);
  return size == strlen(expected) && memcmp(bytes, expected, size) == 0;
}

Test(file, a_new_file_has_the_usual_permissions) {
  struct stat about;
  mode_t mask = umask(027);
  cr_assert_eq(write_to(scratch_path("new")), ATTN2C_OK, "%s", text);
  umask(mask);
  cr_assert(holds(scratch_path("new"), "one two"));
  cr_assert_eq(stat(scratch_path("new"), &about), 0);
  cr_assert_eq(about.st_mode & 0777, 0640);
  cr_assert_eq(scratch_count(), 1);
}

Test(file, a_replaced_file_keeps_its_permissions) {
  struct stat about;
  scratch_put(scratch_path("old"), "before", 6);
  cr_assert_eq(chmod(scratch_path("old"), 0604), 0);
  cr_assert_eq(write_to(scratch_path("old")), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path("old"), "one two"));
  cr_assert_eq(stat(scratch_path("old"), &about), 0);
  cr_assert_eq(about.st_mode & 0777, 0604);
  cr_assert_eq(scratch_count(), 1);
}

Test(file, a_place_is_checked_before_it_is_written) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_file_check(scratch_path("new"), &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(scratch_count(), 0);
  scratch_put(scratch_path("old"), "before", 6);
  cr_assert_eq(attn2c_file_check(scratch_path("old"), &message), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path("old"), "before"));
  cr_assert_eq(attn2c_file_check("/dev/null", &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_file_check(scratch_path("old/new"), &message), ATTN2C_IO);
  cr_assert_str_eq(strrchr(text, ':'), ": Not a directory");
  cr_assert_eq(attn2c_file_check(scratch_path("none/new"), &message), ATTN2C_IO);
  cr_assert_eq(scratch_count(), 1);
}

Test(file, a_name_in_the_working_folder) {
  cr_assert_eq(chdir(scratch_path(".")), 0);
  cr_assert_eq(write_to("bare"), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path("bare"), "one two"));
}

Test(file, a_name_of_the_greatest_length) {
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  cr_assert_eq(write_to(scratch_path(name)), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path(name), "one two"));
}

Test(file, a_symbolic_link_stays_one) {
  struct stat about;
  scratch_put(scratch_path("target"), "before", 6);
  cr_assert_eq(symlink("target", scratch_path("link")), 0);
  cr_assert_eq(write_to(scratch_path("link")), ATTN2C_OK, "%s", text);
  cr_assert(lstat(scratch_path("link"), &about) == 0 && S_ISLNK(about.st_mode));
  cr_assert(holds(scratch_path("target"), "one two"));
  /* One that leads nowhere yet makes its target. */
  cr_assert_eq(symlink("later", scratch_path("dangling")), 0);
  cr_assert_eq(write_to(scratch_path("dangling")), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path("later"), "one two"));
}

Test(file, what_fails_leaves_the_old_file_and_nothing_else) {
  static const char *const names[] = {"old", "new"};
  scratch_put(scratch_path("old"), "before", 6);
  for (int which = 0; which < 2; which++)
    for (int fault = 0; fault < 7; fault++) {
      faults_clear();
      if (fault == 0) faults_write(1, FAULT_ERROR, 0);
      if (fault == 1) faults_write(2, FAULT_ERROR, 0);
      if (fault == 2) faults_write(1, FAULT_ERROR, 1);
      if (fault == 3) faults_write(2, FAULT_END, 0);
      if (fault == 4) faults_fsync();
      if (fault == 5) faults_close();
      if (fault == 6) faults_rename();
      cr_assert_eq(write_to(scratch_path(names[which])), ATTN2C_IO, "fault %d", fault);
      cr_assert(faults_met() >= 1, "fault %d", fault);
      cr_assert_not_null(strstr(text, fault < 4 ? "No space left" : "Input/output error"), "%s", text);
      cr_assert(holds(scratch_path("old"), "before"));
      cr_assert_eq(scratch_count(), 1, "fault %d leaves something", fault);
    }
}

Test(file, signals_and_short_writes_are_met) {
  for (int nth = 1; nth < 9; nth++)
    for (int persistent = 0; persistent < 2; persistent++) {
      faults_clear();
      faults_write(nth, persistent ? FAULT_SHORT : nth % 2 ? FAULT_INTERRUPTED : FAULT_SHORT, persistent);
      cr_assert_eq(write_to(scratch_path("x")), ATTN2C_OK, "%s", text);
      cr_assert(holds(scratch_path("x"), "one two"));
      if (nth < 3) cr_assert(faults_met() >= 1);
    }
  cr_assert_eq(scratch_count(), 1);
}

/* A file of a known size is longer than two of the pieces in which it is zeroed; its parts come in any order.
 */
Test(file, parts_come_in_any_order_and_the_rest_is_zero) {
  enum { SIZE = (4 << 20) + 5000, PARTS = 4 };
  static const struct {
    int64_t offset;
    size_t size;
  } put[PARTS] = {{4096, 300000}, {SIZE - 3, 3}, {(2 << 20) - 10, 20}, {0, 4096}};
  static unsigned char expected[SIZE], bytes[SIZE + 1];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_new_file file;
  int status = attn2c_new_file_begin(scratch_path("x"), SIZE, &file, &message);
  for (int i = 0; i < PARTS && status == ATTN2C_OK; i++) {
    memset(expected + put[i].offset, 'a' + i, put[i].size);
    status = attn2c_new_file_put(&file, put[i].offset, expected + put[i].offset, put[i].size, &message);
  }
  cr_assert_eq(attn2c_new_file_end(&file, status, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(scratch_get(scratch_path("x"), bytes, sizeof bytes), SIZE);
  cr_assert_eq(memcmp(bytes, expected, SIZE), 0);
}

/* No fault of ours, but the system's own: a limit on the size of files. */
Test(file, a_full_disk_leaves_nothing) {
  const struct rlimit limit = {5, 5};
  signal(SIGXFSZ, SIG_IGN);
  const char *path = scratch_path("x");
  pid_t child = fork(); /* as the limit cannot be lifted again */
  if (child == 0) {
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(write_to(path));
  }
  int ended;
  cr_assert_eq(waitpid(child, &ended, 0), child);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == ATTN2C_IO);
  cr_assert_eq(scratch_count(), 0);
}

Test(file, a_full_device_is_reported) {
  cr_assert_eq(write_to("/dev/full"), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "/dev/full: cannot be written: No space left"), "%s", text);
  cr_assert_eq(write_to("/dev/null"), ATTN2C_OK, "%s", text);
}

Test(file, an_empty_path_is_called_empty) {
  attn2c_file file;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(write_to(""), ATTN2C_IO);
  cr_assert_str_eq(text, "the path of a file to write is empty");
  cr_assert_eq(attn2c_file_open("", &file, &message), ATTN2C_IO);
  cr_assert_str_eq(text, "the path of a file to read is empty");
}

Test(file, a_device_stays_one_and_its_close_is_checked) {
  struct stat about;
  faults_clear();
  faults_close();
  cr_assert_eq(write_to("/dev/null"), ATTN2C_IO);
  cr_assert(stat("/dev/null", &about) == 0 && S_ISCHR(about.st_mode));
}

/* Runs body in a child whose standard output goes to the file `captured`; returns its exit status. */
static int captured(int (*body)(void)) {
  const char *path = scratch_path("captured");
  pid_t child = fork();
  if (child == 0) _exit(freopen(path, "wb", stdout) ? body() : 71);
  int ended;
  cr_assert_eq(waitpid(child, &ended, 0), child);
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : 72;
}

static int write_to_both_names(void) {
  if (write(STDOUT_FILENO, "before ", 7) != 7) return 73;
  int status = write_to("/dev/stdout");
  if (status == ATTN2C_OK) status = write_to("/proc/self/fd/1");
  if (status == ATTN2C_OK) status = write_to("/dev/fd/../fd/1");
  if (status == ATTN2C_OK && symlink("/dev/stdout", scratch_path("to_stdout")) != 0) status = 74;
  return status == ATTN2C_OK ? write_to(scratch_path("to_stdout")) : status;
}

/* It goes on where the stream stands, also where that is a regular file: nothing is cut off or replaced. */
Test(file, the_standard_output_is_written_as_a_stream) {
  struct stat before, after;
  scratch_put(scratch_path("captured"), "", 0);
  cr_assert_eq(stat(scratch_path("captured"), &before), 0);
  cr_assert_eq(captured(write_to_both_names), 0);
  cr_assert_eq(stat(scratch_path("captured"), &after), 0);
  cr_assert_eq(before.st_ino, after.st_ino);
  cr_assert(holds(scratch_path("captured"), "before one twoone twoone twoone two"));
  cr_assert_eq(scratch_count(), 2);
}

static int write_to_closed(void) { return close(STDOUT_FILENO) == 0 ? write_to("/dev/stdout") : 75; }

Test(file, a_descriptor_that_is_closed) { cr_assert_eq(captured(write_to_closed), ATTN2C_IO); }

static int same(const char *a, const char *b) {
  attn2c_place of_a, of_b;
  attn2c_place_find(a, &of_a);
  attn2c_place_find(b, &of_b);
  return attn2c_place_same(&of_a, &of_b);
}

Test(file, places_that_are_one) {
  scratch_put(scratch_path("there"), "", 0);
  cr_assert_eq(symlink("there", scratch_path("link")), 0);
  cr_assert_eq(link(scratch_path("there"), scratch_path("hard")), 0);
  cr_assert_eq(symlink("later", scratch_path("dangling")), 0);
  cr_assert_eq(symlink("dangling", scratch_path("twice")), 0);
  cr_assert_eq(symlink("round", scratch_path("round")), 0);
  cr_assert_eq(mkfifo(scratch_path("pipe"), 0600), 0);
  cr_assert_eq(chdir(scratch_path(".")), 0);
  cr_expect(same("there", scratch_path("link")));
  cr_expect(same("there", "./hard"));
  cr_expect(same("dangling", "later"), "one name at which nothing is yet");
  cr_expect(same("twice", scratch_path("dangling")));
  cr_expect(same("/dev/stdout", "/dev/fd/1"));
  cr_expect(same("pipe", "./pipe"));
  cr_expect_not(same("there", "later"));
  cr_expect_not(same("/dev/null", "/dev/null"), "it takes nothing from anyone");
  cr_expect_not(same("round", "round"), "it leads nowhere");
  cr_expect_not(same("missing/x", "missing/x"));
  cr_expect_eq(write_to("round"), ATTN2C_IO);
  cr_expect_not_null(strstr(text, "round: cannot be written: Too many levels"), "%s", text);
  cr_expect_eq(write_to("twice"), ATTN2C_OK);
  cr_expect(holds(scratch_path("later"), "one two"));
}

Test(file, a_pipe_is_written_straight_and_not_read) {
  const char *path = scratch_path("pipe");
  attn2c_file file;
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(mkfifo(path, 0600), 0);
  cr_assert_eq(attn2c_file_open(path, &file, &message), ATTN2C_IO); /* and does not wait for a writer */
  cr_assert_not_null(strstr(text, "is not a regular file"), "%s", text);
  pid_t child = fork();
  if (child == 0) _exit(write_to(path));
  int ended;
  cr_assert(holds(path, "one two"));
  cr_assert_eq(waitpid(child, &ended, 0), child);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

Test(file, places_that_cannot_be_written) {
  cr_assert_eq(write_to(scratch_path(".")), ATTN2C_IO);
  cr_assert_eq(write_to(scratch_path("missing/x")), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "No such file or directory"), "%s", text);
  scratch_put(scratch_path("plain"), "", 0);
  cr_assert_eq(write_to(scratch_path("plain/x")), ATTN2C_IO);
  cr_assert_not_null(strstr(text, "Not a directory"), "%s", text);
  cr_assert_eq(write_to(""), ATTN2C_IO);
}

Test(file, the_remains_of_a_killed_writer_are_no_obstacle) {
  char name[64];
  snprintf(name, sizeof name, ".attn2c-%ld-0", (long)getpid());
  scratch_put(scratch_path(name), "half", 4);
  cr_assert_eq(write_to(scratch_path("x")), ATTN2C_OK, "%s", text);
  cr_assert(holds(scratch_path("x"), "one two"));
  cr_assert(holds(scratch_path(name), "half"));
}

Test(file, reading_beyond_what_was_there) {
  attn2c_file file = attn2c_file_memory("abcd", 4, "memory");
  char bytes[4];
  attn2c_message message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_file_read(&file, 0, bytes, 4, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_file_read(&file, 4, bytes, 0, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_file_read(&file, 1, bytes, 4, &message), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_file_read(&file, 5, bytes, 0, &message), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_file_read(&file, -1, bytes, 1, &message), ATTN2C_FORMAT);
  cr_assert_eq(attn2c_file_read(&file, 1, bytes, SIZE_MAX, &message), ATTN2C_FORMAT);
}

Test(file, reading_goes_on_after_signals_and_short_reads) {
  static const struct {
    fault_kind kind;
    int persistent, status;
  } cases[] = {{FAULT_INTERRUPTED, 0, ATTN2C_OK},
               {FAULT_SHORT, 0, ATTN2C_OK},
               {FAULT_SHORT, 1, ATTN2C_OK},
               {FAULT_ERROR, 0, ATTN2C_IO},
               {FAULT_END, 0, ATTN2C_FORMAT}};
  scratch_put(scratch_path("x"), "seven by", 8);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char bytes[9] = "";
    attn2c_file file;
    attn2c_message message = attn2c_message_make(text, sizeof text);
    cr_assert_eq(attn2c_file_open(scratch_path("x"), &file, &message), ATTN2C_OK, "%s", text);
    faults_clear();
    faults_read(1, cases[i].kind, cases[i].persistent);
    cr_assert_eq(attn2c_file_read(&file, 0, bytes, 8, &message), cases[i].status, "case %zu: %s", i, text);
    cr_assert_geq(faults_met(), 1);
    if (cases[i].status == ATTN2C_OK) cr_assert_str_eq(bytes, "seven by", "case %zu", i);
    faults_clear();
    attn2c_file_close(&file);
  }
}
