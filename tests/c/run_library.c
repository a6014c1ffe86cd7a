/* run_library.c - a program for tests: the command `run` for the model of any shared library, so that a case
 * needs no program of its own: run_library LIBRARY NAME run ARGUMENT... says what went wrong on standard
 * error and exits with the command's status. */
#include <dlfcn.h>
#include <stdio.h>

#include "program/arguments.h"
#include "program/run.h"

/* The options of a program go by its model; the library's is known later, and takes no option of its own. */
static const attn2c_descriptor no_model = {.threads = 1};
const attn2c_program attn2c_the_program = {.model = &no_model};

int main(int argc, char **argv) {
  static char text[1 << 16];
  char symbol[256];
  if (argc < 4) return ATTN2C_USAGE;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return ATTN2C_IO;
  }
  snprintf(symbol, sizeof symbol, "%s_descriptor", argv[2]);
  const attn2c_program program = {.model = dlsym(library, symbol)};
  if (program.model == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return ATTN2C_IO;
  }
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_arguments arguments;
  int status = attn2c_arguments_parse(argc - 2, argv + 2, &arguments, &message);
  if (status == ATTN2C_OK) status = attn2c_run_command(&program, &arguments, stderr, &message);
  attn2c_arguments_free(&arguments);
  fputs(text, stderr);
  return status;
}
