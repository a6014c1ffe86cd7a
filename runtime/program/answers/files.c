/* files.c - assigns the words of --output to arrays, and refuses files that are used otherwise. */
#include "program/answers/answers.h"

#include <unistd.h>

#include "program/inputs.h"
#include "program/output.h"

/* Writes the reason why array number `number` must not be written to its file; returns 0 if there is none. */
static int is_taken(const attn2c_answer_files *files, const attn2c_arguments *arguments, int number,
                    const char *const *paths, char *why, size_t size) {
  attn2c_place place, output;
  if (strcmp(paths[number], "-") == 0)
    return snprintf(why, size,
                    "arrays of %s are written to files; --format npy prints the array of the answers",
                    files->of);
  attn2c_place_find(paths[number], &place);
  attn2c_place_descriptor(STDOUT_FILENO, &output);
  if (files->prints && attn2c_place_same(&place, &output))
    return snprintf(why, size,
                    "answers are printed on the standard output, so that no array may be written there");
  if (attn2c_place_has_weights(&place, arguments->weights))
    return snprintf(why, size, "this file belongs to the weights");
  if (attn2c_is_read(arguments, &place))
    return snprintf(why, size, "this file is read, or would be next time");
  for (int i = 0; i < number; i++)
    if (attn2c_place_is_at(&place, paths[i])) return snprintf(why, size, "another array is written to it");
  return 0;
}

int attn2c_answer_files_bind(const attn2c_answer_files *files, const attn2c_arguments *arguments,
                             const char **paths, attn2c_message *message) {
  char why[120];
  int status = attn2c_bind_names(files->names, files->count, files->plain, "--output", arguments->outputs,
                                 arguments->output_count, paths, message);
  for (int i = 0; i < files->count; i++) {
    if (!paths[i] || !*paths[i]) continue;
    if (!is_taken(files, arguments, i, paths, why, sizeof why)) {
      if (status == ATTN2C_OK) status = attn2c_file_check(paths[i], message);
      continue;
    }
    status = attn2c_fail(message, ATTN2C_USAGE, "--output %s=%s: %s", files->names[i], paths[i], why);
  }
  return status;
}
