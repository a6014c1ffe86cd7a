#include "model/ranks_open.h"

#include "base/checksum.h"

/* True if all ranks of a stage have the whole of a weight. rank: one of them. */
static int is_undivided(const attn2c_divided *divided, int rank, int weight) {
  const int each = divided->count / divided->stages, stage = rank / each * each;
  const attn2c_descriptor *first = divided->ranks[stage];
  const int64_t elements = attn2c_elements(&first->tensors[first->weights[weight].tensor]);
  for (int r = 0; r < each; r++) {
    const attn2c_descriptor *model = divided->ranks[stage + r];
    const attn2c_slice *slice = &model->slices[weight];
    if (slice->row != 0 || slice->column != 0 || slice->is_zero) return 0;
    if (attn2c_elements(&model->tensors[model->weights[weight].tensor]) != elements) return 0;
  }
  return 1;
}

/* Adds the first row of each weight to a checksum; all of a vector. of: NULL, or only weights that all its
 * ranks have whole. */
static int add_rows(attn2c_source *source, const attn2c_descriptor *model, const attn2c_divided *of,
                    uint64_t *sum, attn2c_message *message) {
  int status = ATTN2C_OK;
  for (int w = 0; w < model->weight_count && status == ATTN2C_OK; w++) {
    const attn2c_tensor *tensor = &model->tensors[model->weights[w].tensor];
    const int64_t rows = tensor->rank == 1 ? tensor->shape[0] : 1;
    const int64_t width = attn2c_elements(tensor) / tensor->shape[0];
    if (model->weights[w].formula || attn2c_scaled_by(model, w) >= 0 ||
        (of && !is_undivided(of, model->rank, w)))
      continue;
    float *values = attn2c_reserve((size_t)(rows * width) * sizeof *values);
    if (!values) return ATTN2C_MEMORY;
    status = attn2c_source_read_rows(source, w, 0, rows, values, message);
    *sum = attn2c_checksum(*sum, values, (size_t)(rows * width) * sizeof *values);
    attn2c_free(values);
  }
  return status;
}

/* Computes a number that tells weights from others: from those that all ranks have, and from the first rows
 * of all weights of a checkpoint. Stages have no weights in common; their packed files have a number instead.
 */
static int identify(const attn2c_model *model, attn2c_source *source, attn2c_choose_source choose,
                    const void *context, uint64_t *sum, attn2c_message *message) {
  const attn2c_descriptor *own = model->descriptor;
  const attn2c_packed *packed = attn2c_source_packed(source);
  *sum = own->divided->stages > 1 && packed ? attn2c_packed_set(packed) : 0;
  if (own->divided->stages == 1) ATTN2C_TRY(add_rows(source, own, own->divided, sum, message));
  if (packed) return ATTN2C_OK;
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *of_all = NULL;
  ATTN2C_TRY(choose(context, own->divided->whole, &of_all, message));
  return add_rows(of_all, own->divided->whole, NULL, sum, message);
}

static int open_own(const attn2c_descriptor *own, attn2c_choose_source choose, const void *context,
                    attn2c_model **model, uint64_t *identity, attn2c_message *message) {
  ATTN2C_ENDS_BY(attn2c_source_end) attn2c_source *source = NULL;
  ATTN2C_TRY(choose(context, own, &source, message));
  ATTN2C_TRY(attn2c_model_open(own, source, 0, model, message));
  return identify(*model, source, choose, context, identity, message);
}

int attn2c_ranks_open_model(attn2c_ranks *ranks, const attn2c_divided *divided, attn2c_choose_source choose,
                            const void *context, attn2c_model **model, attn2c_message *message) {
  uint64_t identity = 0;
  *model = NULL;
  int status = open_own(divided->ranks[attn2c_ranks_own(ranks)], choose, context, model, &identity, message);
  status = attn2c_ranks_agree(ranks, status, message);
  if (status == ATTN2C_OK) status = attn2c_ranks_compare(ranks, identity, "weights", message);
  if (status == ATTN2C_OK) {
    (*model)->ranks = ranks;
    return ATTN2C_OK;
  }
  attn2c_model_close(*model);
  *model = NULL;
  return status;
}

/* Returns a number that differs between builds. */
static uint64_t build_of(const attn2c_descriptor *whole) {
  const char *const texts[] = {whole->name, whole->generator, whole->description_hash, whole->target};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    sum = attn2c_checksum(sum, texts[i], strlen(texts[i]) + 1);
  const int64_t sizes[] = {whole->lines, whole->weight_floats, whole->arena_floats, whole->parameters};
  return attn2c_checksum(sum, sizes, sizeof sizes);
}

attn2c_ranks_wanted attn2c_ranks_want(const attn2c_descriptor *whole) {
  const attn2c_divided *divided = whole->divided;
  return (attn2c_ranks_wanted){.count = divided->count,
                               .stages = divided->stages,
                               .passed_bytes = (size_t)divided->passed_bytes,
                               .name = whole->name,
                               .build = build_of(whole)};
}

static void *allocate(const attn2c_model *model, size_t bytes) {
  return attn2c_ranks_allocate(model->ranks, bytes);
}

static void free_arena(const attn2c_model *model, void *arena) { attn2c_ranks_free(model->ranks, arena); }

static void settle(const attn2c_model *model) { attn2c_ranks_settle(model->ranks); }

static void close_ranks(const attn2c_model *model) { attn2c_ranks_close(model->ranks); }

static int agree(const attn2c_model *model, int status) {
  attn2c_message message = attn2c_message_make(NULL, 0);
  return attn2c_ranks_agree(model->ranks, status, &message);
}

/* Chooses the file, or weights that need none. */
static int choose_path(const void *path, const attn2c_descriptor *model, attn2c_source **source,
                       attn2c_message *message) {
  if (path) return attn2c_source_file(path, model, source, message);
  if (!attn2c_needs_checkpoint(model)) return attn2c_source_random(0, model, source, message);
  return attn2c_fail(message, ATTN2C_USAGE, "no path of a weights file was given");
}

/* The hooks of a model whose ranks all make the same calls by themselves. */
static const attn2c_rank_hooks hooks = {
    .allocate = allocate, .free = free_arena, .settle = settle, .close = close_ranks, .agree = agree};

int attn2c_model_open_part(const attn2c_descriptor *own, attn2c_source *source, attn2c_model **model,
                           attn2c_message *message) {
  ATTN2C_TRY(attn2c_model_open(own, source, 0, model, message));
  (*model)->ranks = attn2c_ranks_alone(own->divided->count, own->rank);
  if ((*model)->ranks) {
    (*model)->hooks = &hooks;
    return ATTN2C_OK;
  }
  attn2c_model_close(*model);
  *model = NULL;
  return ATTN2C_MEMORY;
}

int attn2c_model_open_ranks(const attn2c_descriptor *whole, MPI_Comm communicator, const char *path,
                            attn2c_model **model, char *text, size_t size) {
  const attn2c_ranks_wanted wanted = attn2c_ranks_want(whole);
  attn2c_message message = attn2c_message_make(text, size);
  attn2c_ranks *ranks;
  if (!model) return ATTN2C_USAGE;
  *model = NULL;
  ATTN2C_TRY(attn2c_ranks_open(communicator, &wanted, &ranks, &message));
  int status = attn2c_ranks_open_model(ranks, whole->divided, choose_path, path, model, &message);
  if (status == ATTN2C_OK)
    (*model)->hooks = &hooks;
  else
    attn2c_ranks_close(ranks);
  return status;
}
