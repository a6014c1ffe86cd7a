/* check_command.c - the command `check`: opens weights and inputs, and prints the command line that repeats
 * the check. Weights and inputs that are not given are random, from a seed. */
#include "program/commands.h"

#include "check/check.h"
#include "program/inputs.h"
#include "program/system.h"

/* Writes a word as a shell reads it back: plain words as they are, others in single quotes. If a terminal
 * would interpret a byte of it, bytes are written as octal numbers. */
static void quote(const char *word, FILE *out) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
  if (*word != '\0' && word[strspn(word, plain)] == '\0') {
    fputs(word, out);
    return;
  }
  int octal = 0;
  for (const char *at = word; *at != '\0'; at++) octal |= (unsigned char)*at < 32 || (unsigned char)*at > 126;
  fputs(octal ? "$'" : "'", out);
  for (; *word != '\0'; word++) {
    if (octal && ((unsigned char)*word < 32 || (unsigned char)*word > 126 || *word == '\'' || *word == '\\'))
      fprintf(out, "\\%03o", (unsigned)(unsigned char)*word);
    else if (*word == '\'')
      fputs("'\\''", out);
    else
      putc(*word, out);
  }
  putc('\'', out);
}

/* Returns the command that repeats this check, which the caller frees; NULL without memory. */
static char *repeat_command(const attn2c_descriptor *model, const attn2c_arguments *arguments) {
  char *text = NULL;
  size_t size;
  FILE *stream = attn2c_program_gather(&text, &size);
  if (stream == NULL) return NULL;
  if (model->variants) fprintf(stream, "ATTN2C_TARGET=%s ", model->target);
  quote(arguments->path, stream);
  fprintf(stream, " check --seed %" PRIu64, arguments->seed);
  if (arguments->nan) fputs(" --nan", stream);
  if (arguments->entry != NULL) {
    fputs(" --entry ", stream);
    quote(arguments->entry, stream);
  }
  if (arguments->weights != NULL) {
    fputs(" --weights ", stream);
    quote(arguments->weights, stream);
  }
  for (int i = 0; i < arguments->input_count; i++) {
    fputs(" --input ", stream);
    quote(arguments->inputs[i], stream);
  }
  const int failed = ferror(stream);
  if (attn2c_program_gathered(stream, &text, &size) != 0 || failed) {
    free(text);
    return NULL;
  }
  return text;
}

/* The inputs of all entries, list after list: from files that are given for one entry, else random. */
typedef struct {
  int count;
  int first, bound; /* inputs of the entry that files are given for: index of the first, and their number */
  int *tensors;
  const char **paths;
  void **in;
} all_inputs;

static int allocate_inputs(const attn2c_descriptor *model, const attn2c_arguments *arguments, all_inputs *all,
                           attn2c_message *message) {
  const int number = attn2c_entry_find(model, arguments->entry, message);
  if (number < 0) return ATTN2C_USAGE;
  for (int e = 0; e < number; e++) all->first += model->entries[e].input_count;
  all->bound = model->entries[number].input_count;
  all->count = attn2c_inputs_of_entries(model, NULL);
  /* One element more: calloc is never asked for zero bytes, for which it may return NULL. */
  const size_t capacity = (size_t)all->count + 1;
  all->tensors = calloc(capacity, sizeof *all->tensors);
  all->paths = calloc(capacity, sizeof *all->paths);
  all->in = calloc(capacity, sizeof *all->in);
  if (all->tensors == NULL || all->paths == NULL || all->in == NULL)
    return attn2c_fail(message, ATTN2C_MEMORY, "check: no memory");
  attn2c_inputs_of_entries(model, all->tensors);
  return ATTN2C_OK;
}

/* Returns the entry, plain or adapted, whose last input has sequences' adapters, if that is the input
 * numbered among all entries'; else NULL. */
static const attn2c_entry *adapters_of(const attn2c_descriptor *model, int number) {
  for (const attn2c_entry *e = model->entries; e <= attn2c_primary_entry(model); e++) {
    number -= e->input_count;
    if (number < 0)
      return number == -1 && attn2c_adapted_entry(model, attn2c_plain_entry(model, e)) ? e : NULL;
  }
  return NULL;
}

static int fill_inputs(const attn2c_descriptor *model, const attn2c_arguments *arguments, all_inputs *all,
                       attn2c_message *message) {
  int status = attn2c_bind(model, all->tensors + all->first, all->bound, "--input", arguments->inputs,
                           arguments->input_count, all->paths + all->first, message);
  if (status != ATTN2C_OK) return status;
  for (int i = 0; i < all->count; i++) {
    const attn2c_entry *entry = all->paths[i] ? adapters_of(model, i) : NULL;
    if (entry && attn2c_adapted_entry(model, entry))
      return attn2c_fail(message, ATTN2C_USAGE, "--input adapters: goes with --entry %s",
                         attn2c_adapted_entry(model, entry)->name);
  }
  for (int i = 0; i < all->count; i++) {
    const attn2c_tensor *tensor = &model->tensors[all->tensors[i]];
    int64_t sequences = tensor->shape[0];
    if (all->paths[i] == NULL) continue;
    const int read = attn2c_input_read(tensor, all->paths[i], &sequences, &all->in[i], message);
    if (read != ATTN2C_OK) status = read;
  }
  if (status != ATTN2C_OK) return status;
  status = attn2c_arrays_allocate(model, all->tensors, all->count, all->in, message);
  for (int i = 0; i < all->count && status == ATTN2C_OK; i++) {
    if (all->paths[i] != NULL || adapters_of(model, i)) continue;
    attn2c_input_random(&model->tensors[all->tensors[i]], arguments->seed, 0, all->in[i]);
  }
  return status;
}

/* Verifies packed weights, and with `nan` copies them, because NaN is written into them. */
static int prepare_packed(attn2c_packed *packed, int nan, attn2c_message *message) {
  if (packed == NULL) return ATTN2C_OK;
  const int status = attn2c_packed_verify(packed, message);
  if (status != ATTN2C_OK || !nan || attn2c_packed_own(packed) != NULL) return status;
  return attn2c_fail(message, ATTN2C_MEMORY, "check: no memory for a copy of the weights");
}

static int check_with(const attn2c_program *program, const attn2c_arguments *arguments, void **in,
                      const char *repeat, FILE *out, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  attn2c_model *model;
  if (program->model->divided && arguments->nan)
    return attn2c_fail(message, ATTN2C_USAGE, "--nan: is not supported by a model of several ranks");
  ATTN2C_TRY(attn2c_source_choose(arguments, program->model, &source, message));
  int status = prepare_packed(attn2c_source_packed(source), arguments->nan, message);
  if (status == ATTN2C_OK) status = attn2c_model_choose(arguments, program->model, source, &model, message);
  if (status == ATTN2C_OK) {
    status = attn2c_check(program, model, source, (const void *const *)in, arguments->seed, arguments->nan,
                          out, arguments->json, repeat, message);
    attn2c_model_close(model);
  }
  return status;
}

int attn2c_check_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                         attn2c_message *message) {
  if (arguments->output_count > 0) return attn2c_expect_command(program, arguments, out, stderr, message);
  if (arguments->tolerance.is_given)
    return attn2c_fail(message, ATTN2C_USAGE, "--tolerance: goes with --expect");
  all_inputs all = {0};
  int status = allocate_inputs(program->model, arguments, &all, message);
  if (status == ATTN2C_OK) status = fill_inputs(program->model, arguments, &all, message);
  if (status == ATTN2C_OK) {
    char *repeat = repeat_command(program->model, arguments);
    if (repeat == NULL)
      status = attn2c_fail(message, ATTN2C_MEMORY, "check: no memory");
    else
      status = check_with(program, arguments, all.in, repeat, out, message);
    free(repeat);
  }
  attn2c_arrays_free(all.in, all.count);
  ATTN2C_FREE(all.tensors, all.paths);
  return status;
}
