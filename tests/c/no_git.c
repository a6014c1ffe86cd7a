/* no_git.c - stands for libgit2 in C tests. Criterion starts each test as a process of its own, which would
 * load libgit2 with fifteen libraries, and read all certificates of the system: two thirds of the time of
 * most tests. Criterion needs it only to draw differences of texts, which no test asks for. */
int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

int git_libgit2_init(void) { return 1; }

int git_libgit2_shutdown(void) { return 0; }

/* Fails: there is no difference to draw. */
int git_diff_buffers(void) { return -1; }
