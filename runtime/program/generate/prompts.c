#include "program/generate/prompts.h"

#include "formats/npy.h"

struct attn2c_prompt_arrays {
  int32_t *ids, *lengths; /* lengths NULL: all rows are whole */
  int64_t prompts, width; /* width: ids of a row; 0: prompts follow each other */
  int64_t at, first;      /* the next prompt, and its first id */
  char file[300];
};

/* Reads an array of integers of any shape as int32. */
static int read_ids(const char *path, const char *name, attn2c_npy *array, int32_t **values,
                    attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_npy_free) attn2c_npy read = {.data = NULL};
  ATTN2C_TRY(attn2c_npy_read(path, &read, message));
  *array = read; /* for its shape */
  array->data = NULL, array->path = NULL;
  *values = malloc(((size_t)read.elements + 1) * sizeof **values);
  if (!*values)
    return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for %lld numbers", path,
                       (long long)read.elements);
  return attn2c_npy_as(&read, ATTN2C_I32, read.rank, read.shape, name, *values, message);
}

/* Finds the paths of ids and lengths among [NAME=]PATH. */
static int find_paths(const char *const *words, int count, const char *ids_name, const char *paths[2],
                      attn2c_message *message) {
  for (int i = 0; i < count; i++) {
    const char *equals = strchr(words[i], '='), *slash = strpbrk(words[i], "/\\");
    const size_t name = equals && (!slash || equals < slash) ? (size_t)(equals - words[i]) : 0;
    const int is_lengths = name == 7 && memcmp(words[i], "lengths", 7) == 0;
    const int is_ids = name == 0 || (name == 3 && memcmp(words[i], "ids", 3) == 0) ||
                       (ids_name && name == strlen(ids_name) && memcmp(words[i], ids_name, name) == 0);
    if (!is_lengths && !is_ids)
      return attn2c_fail(message, ATTN2C_USAGE, "--input: no input '%.*s'; allowed are %s and lengths",
                         (int)name, words[i], ids_name ? ids_name : "ids");
    if (paths[is_lengths])
      return attn2c_fail(message, ATTN2C_USAGE, "--input: %s is given twice, but one is allowed",
                         is_lengths ? "lengths" : "ids");
    paths[is_lengths] = words[i] + (name ? name + 1 : 0);
  }
  if (paths[0]) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "--input: lengths without ids, but ids=X.npy is needed");
}

/* Checks the shapes, and the lengths against them. */
static int check_shapes(attn2c_prompt_arrays *made, const char *const paths[2], const attn2c_npy *ids,
                        const attn2c_npy *lengths, attn2c_message *message) {
  if (ids->rank != 1 && ids->rank != 2)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "%s: has %d dimensions, but [prompts][tokens] or [tokens] is expected", paths[0],
                       ids->rank);
  made->width = ids->rank == 2 ? ids->shape[1] : lengths->rank == 1 ? 0 : ids->shape[0];
  made->prompts = ids->rank == 2 ? ids->shape[0] : lengths->rank == 1 ? lengths->shape[0] : 1;
  if (!made->lengths) return ATTN2C_OK;
  if (lengths->rank != 1 || lengths->shape[0] != made->prompts)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: one length for each of %lld prompts is expected",
                       paths[1], (long long)made->prompts);
  int64_t sum = 0;
  for (int64_t i = 0; i < made->prompts; i++) {
    const int64_t most = made->width ? made->width : ids->shape[0] - sum;
    if (made->lengths[i] < 0 || made->lengths[i] > most)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s[%lld]: is %d, but 0 to %lld is allowed", paths[1],
                         (long long)i, made->lengths[i], (long long)most);
    sum += made->lengths[i];
  }
  if (made->width || sum == ids->shape[0]) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "%s: the lengths have the sum %lld, but there are %lld ids",
                     paths[1], (long long)sum, (long long)ids->shape[0]);
}

int attn2c_prompt_arrays_open(const char *const *words, int count, const char *ids_name,
                              attn2c_prompt_arrays **arrays, attn2c_message *message) {
  const char *paths[2] = {NULL, NULL};
  attn2c_npy ids = {.rank = -1}, lengths = {.rank = -1};
  attn2c_prompt_arrays *made = calloc(1, sizeof *made);
  *arrays = NULL;
  if (!made) return ATTN2C_MEMORY;
  int status = find_paths(words, count, ids_name, paths, message);
  if (status == ATTN2C_OK)
    status = read_ids(paths[0], ids_name ? ids_name : "ids", &ids, &made->ids, message);
  if (status == ATTN2C_OK && paths[1])
    status = read_ids(paths[1], "lengths", &lengths, &made->lengths, message);
  if (status == ATTN2C_OK) status = check_shapes(made, paths, &ids, &lengths, message);
  if (status != ATTN2C_OK) {
    attn2c_prompt_arrays_close(made);
    return status;
  }
  snprintf(made->file, sizeof made->file, "%s", paths[0]);
  *arrays = made;
  return ATTN2C_OK;
}

void attn2c_prompt_arrays_close(attn2c_prompt_arrays *arrays) {
  if (!arrays) return;
  ATTN2C_FREE(arrays->ids, arrays->lengths, arrays);
}

attn2c_prompt_state attn2c_prompt_arrays_next(attn2c_prompt_arrays *arrays, attn2c_prompt_ids *prompt) {
  if (arrays->at == arrays->prompts) return ATTN2C_PROMPT_END;
  *prompt = (attn2c_prompt_ids){.ids = arrays->ids + arrays->first,
                                .count = arrays->lengths ? arrays->lengths[arrays->at] : arrays->width};
  snprintf(prompt->place, sizeof prompt->place, "%s: prompt %lld", arrays->file, (long long)arrays->at + 1);
  arrays->first += arrays->width ? arrays->width : prompt->count;
  arrays->at++;
  return ATTN2C_PROMPT_READ;
}
