#include "base/processor.h"
#include "model/model.h"
#include "model/load.h"
#include "model/state.h"
#include "model/team.h"
#include "system/system.h"

/* Returns the number of workers. For threads 0 the largest emitted (1, 2, 4, 8) that the cores allow. */
static int workers_for(int threads) {
  if (threads > 0) return threads;
  const int processors = attn2c_processors();
  int workers = 1;
  while (workers < 8 && 2 * workers <= processors) workers *= 2;
  return workers;
}

/* Takes the packed block if it is for this target, or lets `fill` pack the weights into a new one. */
static int take_weights(attn2c_model *model, attn2c_packed *packed, attn2c_fill_weights fill,
                        const void *context, attn2c_message *message) {
  const attn2c_descriptor *descriptor = model->descriptor;
  if (packed && attn2c_packed_fits(packed, descriptor)) {
    model->packed = attn2c_packed_hold(packed);
    model->weights = attn2c_packed_block(model->packed);
    model->own = attn2c_packed_owned(model->packed);
    return ATTN2C_OK;
  }
  model->weights = model->own = attn2c_reserve((size_t)descriptor->weight_floats * sizeof(float));
  if (model->own) return fill(context, model, message);
  return attn2c_fail(message, ATTN2C_MEMORY, "no memory for %lld bytes of packed weights",
                     (long long)descriptor->weight_floats * (long long)sizeof(float));
}

int attn2c_model_set_threads(attn2c_model *model, int threads) {
  if (!model || threads < 1 || threads > attn2c_most_threads(model->descriptor)) return ATTN2C_USAGE;
  model->workers = attn2c_most_threads(model->descriptor);
  while (model->descriptor->threads == 0 && model->workers / 2 >= threads) model->workers /= 2;
  model->threads = threads;
  return ATTN2C_OK;
}

static int make_model(const attn2c_descriptor *descriptor, attn2c_packed *packed, attn2c_fill_weights fill,
                      const void *context, int threads, attn2c_model **model, attn2c_message *message) {
  *model = NULL;
  if (!attn2c_machine_runs(descriptor, message)) return ATTN2C_MACHINE;
  attn2c_model *opened = calloc(1, sizeof *opened);
  if (opened) {
    opened->descriptor = descriptor;
    attn2c_model_set_threads(opened, threads > 0 ? threads : workers_for(descriptor->threads));
    opened->kernels = calloc((size_t)descriptor->kernel_count + 1, sizeof *opened->kernels);
    opened->checksum = calloc(1, sizeof *opened->checksum);
  }
  if (!opened || !opened->kernels || !opened->checksum) {
    attn2c_say(message, "no memory for %d kernels", descriptor->kernel_count);
    attn2c_model_close(opened);
    return ATTN2C_MEMORY;
  }
  opened->provider =
      attn2c_kernels_dispatch(descriptor->kernels, descriptor->kernel_types, descriptor->kernel_count,
                              descriptor->target, opened->kernels, &opened->code);
  if (descriptor->own_kernel_count > 0 && opened->code) opened->provider = "libxsmm and c";
  const int status = take_weights(opened, packed, fill, context, message);
  if (status != ATTN2C_OK) {
    attn2c_model_close(opened);
    return status;
  }
  *model = opened;
  return ATTN2C_OK;
}

int attn2c_model_make(const attn2c_descriptor *descriptor, attn2c_packed *packed, attn2c_fill_weights fill,
                      const void *context, int threads, attn2c_model **model, attn2c_message *message) {
  const attn2c_modes modes = attn2c_modes_hold();
  const int status = make_model(descriptor, packed, fill, context, threads, model, message);
  attn2c_modes_set(modes);
  return status;
}

/* Refuses what is not packed weights for a target of the model, for a library that opens nothing else. */
static int refuse(const attn2c_descriptor *descriptor, const char *path, attn2c_message *message) {
  const char *name = path ? path : "weights in memory";
  attn2c_file file;
  if (path && !attn2c_system_exists(path) && attn2c_file_open(path, &file, message) != ATTN2C_OK)
    return ATTN2C_IO;
  return attn2c_fail(message, ATTN2C_FORMAT,
                     "%s: is not weights that are packed for %s, and this library opens no others: %s pack "
                     "--weights CHECKPOINT -o FILE makes them",
                     name, descriptor->target, descriptor->name);
}

static int fill_given(const void *given, attn2c_model *model, attn2c_message *message) {
  return model->descriptor->readers->loader->load(given, model->descriptor, model->own, model->threads,
                                                  message);
}

/* True, with a message, for a model that several ranks open together. */
static int is_whole_of_ranks(const attn2c_descriptor *descriptor, attn2c_message *message) {
  const attn2c_divided *divided = descriptor->divided;
  if (!divided || divided->whole != descriptor) return 0;
  attn2c_say(message, "%s is divided among %d ranks, which open it together by %s_open_ranks",
             descriptor->name, divided->count, descriptor->name);
  return 1;
}

/* Opens what was given for the target that is used here. */
static int open_given(const attn2c_descriptor *descriptor, attn2c_given given, attn2c_model **model,
                      attn2c_message *message) {
  if (is_whole_of_ranks(descriptor, message)) return ATTN2C_USAGE;
  int status = attn2c_machine_choose(descriptor, &descriptor, message);
  if (status == ATTN2C_OK) status = attn2c_packed_find(&given, descriptor, message);
  const int is_taken = given.packed && attn2c_packed_fits(given.packed, descriptor);
  if (status == ATTN2C_OK && !is_taken && !descriptor->readers->loader)
    status = refuse(descriptor, given.path, message);
  if (status == ATTN2C_OK)
    status = attn2c_model_make(descriptor, given.packed, fill_given, &given, 0, model, message);
  attn2c_packed_release(given.packed);
  return status;
}

int attn2c_model_open_file(const attn2c_descriptor *descriptor, const char *path, attn2c_model **model,
                           char *text, size_t size) {
  attn2c_message message = attn2c_message_make(text, size);
  if (!model) return ATTN2C_USAGE;
  *model = NULL;
  if (!path && attn2c_needs_checkpoint(descriptor))
    return attn2c_fail(&message, ATTN2C_USAGE, "no path of a weights file was given");
  /* without a path and embedded weights all weights are constants */
  const attn2c_given given = !path && attn2c_is_embedded(descriptor) ? attn2c_packed_embedded(descriptor)
                                                                     : (attn2c_given){.path = path};
  return open_given(descriptor, given, model, &message);
}

int attn2c_model_open_memory(const attn2c_descriptor *descriptor, const void *bytes, size_t count,
                             attn2c_model **model, char *text, size_t size) {
  attn2c_message message = attn2c_message_make(text, size);
  if (!model) return ATTN2C_USAGE;
  *model = NULL;
  if (!bytes) return attn2c_fail(&message, ATTN2C_USAGE, "no bytes of a weights file were given");
  return open_given(descriptor, (attn2c_given){.bytes = bytes, .size = count}, model, &message);
}

void attn2c_model_close(attn2c_model *model) {
  if (!model) return;
  if (model->hooks && model->hooks->close) model->hooks->close(model);
  if (model->packed)
    attn2c_packed_release(model->packed);
  else
    attn2c_free(model->own);
  ATTN2C_FREE(model->kernels, model->checksum);
  attn2c_code_free(model->code);
  free(model);
}

int attn2c_model_team(const attn2c_model *model, attn2c_team **team) {
  *team = NULL;
  if (model->workers < 2) return ATTN2C_OK;
  /* More threads than cores would only wait for each other. */
  const int processors = attn2c_processors();
  *team = attn2c_team_make(model->workers, model->threads < processors ? model->threads : processors);
  return *team ? ATTN2C_OK : ATTN2C_MEMORY;
}

/* Returns the status that all ranks go on with: if one has no context, none has, because all make its calls.
 */
static int agreed(const attn2c_model *model, int status) {
  return model->hooks && model->hooks->agree ? model->hooks->agree(model, status) : status;
}

int attn2c_context_create(const attn2c_model *model, attn2c_context **context) {
  if (!context) return ATTN2C_USAGE;
  *context = NULL;
  if (!model) return ATTN2C_USAGE;
  attn2c_context *created = calloc(1, sizeof *created);
  int status = agreed(model, created ? ATTN2C_OK : ATTN2C_MEMORY);
  if (status != ATTN2C_OK) {
    free(created);
    return status;
  }
  created->model = model;
  if (model->descriptor->is_open) {
    const int64_t rows = attn2c_call_rows(model->descriptor);
    created->first_of_whole[1] = (int32_t)rows;
    created->whole = (attn2c_sequences){.rows = rows, .count = 1, .first = created->first_of_whole};
  }
  const size_t bytes = (size_t)model->descriptor->arena_floats * sizeof(float);
  created->arena = model->hooks ? model->hooks->allocate(model, bytes) : attn2c_allocate(bytes);
  const int is_made = created->arena && attn2c_state_create(created) == ATTN2C_OK &&
                      attn2c_model_team(model, &created->team) == ATTN2C_OK;
  status = agreed(model, is_made ? ATTN2C_OK : ATTN2C_MEMORY);
  if (status != ATTN2C_OK) {
    attn2c_context_destroy(created);
    return status;
  }
  *context = created;
  return ATTN2C_OK;
}

void attn2c_context_destroy(attn2c_context *context) {
  if (!context) return;
  attn2c_team_end(context->team);
  if (context->model->hooks)
    context->model->hooks->free(context->model, context->arena);
  else
    attn2c_free(context->arena);
  attn2c_state_destroy(context);
  ATTN2C_FREE(context->open, context);
}

attn2c_call attn2c_context_call(const attn2c_context *context, const void *const *in, void *const *out) {
  return (attn2c_call){.kernels = context->model->kernels,
                       .weights = context->model->weights,
                       .arena = context->arena,
                       .state = context->state,
                       .in = in,
                       .out = out,
                       .team = context->team,
                       .ranks = context->model->ranks,
                       .sequences = context->model->descriptor->is_open ? &context->whole : NULL};
}

int attn2c_model_begin(const attn2c_model *model, const attn2c_entry *entry, attn2c_run run,
                       const attn2c_call *call) {
  const int status = model->hooks && model->hooks->run ? model->hooks->run(model, run, call) : run(call);
  int are_wanted = 1; /* outputs that are not wanted are in the arena, if there are several */
  for (int i = 0; i < entry->output_count; i++)
    are_wanted = are_wanted && (call->out[i] || entry->output_count == 1);
  if (!are_wanted) attn2c_model_settle(model);
  return status;
}

int attn2c_context_run(const attn2c_context *context, const attn2c_entry *entry, const void *const *in,
                       void *const *out) {
  const attn2c_call call = attn2c_context_call(context, in, out);
  return attn2c_model_run(context->model, entry->run, &call);
}
