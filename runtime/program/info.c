/* info.c - prints a model's descriptor. The JSON form has the same facts and the list of kernel shapes. Sizes
 * are in bytes, work is in floating-point operations a call. */
#include "program/commands.h"

#include "program/inputs.h"
#include "packing/packed_header.h"

#include <jansson.h>

static int64_t bytes_of(int64_t floats) { return floats * (int64_t)sizeof(float); }

/* Prints a number of bytes, followed by "4.70 MB" if that is easier to read. */
static void print_bytes(const char *label, int64_t bytes, FILE *out) {
  fprintf(out, "%-13s%" PRId64 " bytes", label, bytes);
  if (bytes >= 1000000) fprintf(out, " (%.2f MB)", 1e-6 * (double)bytes);
  fprintf(out, "\n");
}

/* Returns the name of the answer that the model gives for a text; NULL: it takes no text. */
static const char *answers(const attn2c_descriptor *model) {
  static const char *const names[] = {[ATTN2C_ANSWER_STATES] = "states of tokens",
                                      [ATTN2C_ANSWER_EMBEDDING] = "embedding",
                                      [ATTN2C_ANSWER_LABEL] = "label",
                                      [ATTN2C_ANSWER_NUMBER] = "label",
                                      [ATTN2C_ANSWER_TOKENS] = "labels of tokens",
                                      [ATTN2C_ANSWER_MASKED] = "masked tokens",
                                      [ATTN2C_ANSWER_NEXT] = "next token",
                                      [ATTN2C_ANSWER_SPAN] = "answer to a question",
                                      [ATTN2C_ANSWER_LEXICAL] = "lexical weights",
                                      [ATTN2C_ANSWER_VECTORS] = "vectors of tokens",
                                      [ATTN2C_ANSWER_SPANS] = "spans of labels"};
  return model->text ? names[model->text->answer] : NULL;
}

static void print_arrays(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input, FILE *out) {
  const int *tensors = is_input ? entry->inputs : entry->outputs;
  for (int i = 0; i < (is_input ? entry->input_count : entry->output_count); i++) {
    char text[ATTN2C_ARRAY_TEXT];
    attn2c_array_text(model, entry, is_input, i, text, sizeof text);
    const attn2c_kind kind = model->tensors[tensors[i]].kind;
    const int shared = kind == ATTN2C_SHARED_INPUT && !model->seq_first;
    fprintf(out, "  %-11s%s: %s%s%s\n", is_input ? "input" : "output", model->tensors[tensors[i]].name, text,
            shared ? ", one for all sequences" : "", kind == ATTN2C_ZEROS_INPUT ? ", default: all 0" : "");
  }
}

/* Returns the sizes of texts, or of calls. */
static const attn2c_lengths *lengths_of(const attn2c_program *program) {
  const attn2c_descriptor *model = program->model;
  return model->text ? model->text->calls : model->lengths ? model->lengths : program->lengths;
}

/* Returns the fewest tokens that a sequence may have; in a model of one length, a text's. */
static int64_t least_of(const attn2c_descriptor *model, const attn2c_lengths *lengths) {
  return lengths->exact || !(model->is_open || model->text) ? lengths->sizes->seq : lengths->least;
}

/* Prints how many tokens a sequence may have. */
static void print_lengths(const attn2c_program *program, FILE *out) {
  const attn2c_descriptor *model = program->model;
  const attn2c_lengths *lengths = lengths_of(program);
  if (!lengths) return;
  const int64_t least = least_of(model, lengths), most = lengths->sizes->seq;
  fprintf(out, "%-13s", "tokens");
  if (least < most) fprintf(out, "%" PRId64 " to ", least);
  fprintf(out, "%" PRId64 "%s%s%s\n", most, model->is_open ? " a sequence, without padding" : "",
          model->text && lengths->exact ? ": " : "", model->text && lengths->exact ? lengths->exact : "");
}

/* Returns the bytes that a context keeps of one sequence. */
static int64_t state_bytes(const attn2c_continued *of) { return bytes_of(of->state_floats); }

/* Returns the numbers of the keys that a context keeps. Other parts of a state, such as rows of a
 * convolution, may be floats. */
static const char *word_of_cache(const attn2c_continued *of) {
  int keys = 0;
  while (keys + 1 < of->kept_count && !of->kept[keys].is_transposed) keys++;
  return of->kept[keys].bits == 4 ? "int4" : attn2c_facts_of(of->kept[keys].type)->word;
}

/* Prints what a context keeps from call to call, of a model that continues. */
static void print_state(const attn2c_descriptor *model, FILE *out) {
  const attn2c_continued *of = model->continued;
  if (!of) return;
  fprintf(out,
          "%-13s%" PRId64 " sequence%s, which calls add to; a call computes at most %" PRId64 " tokens\n",
          "context", of->sequences, of->sequences == 1 ? "" : "s", of->call_rows);
  print_bytes("state", of->sequences * state_bytes(of), out);
  fprintf(out, "  %-11s%" PRId64 " bytes\n", "a sequence", state_bytes(of));
  fprintf(out, "  %-11s%s\n", "numbers", word_of_cache(of));
}

/* Returns the size of the weights that are linked in, in bytes. */
static int64_t embedded_bytes(const attn2c_descriptor *model) {
  return attn2c_is_embedded(model) ? model->embedded->end - model->embedded->begin : 0;
}

static const char *embedded_form(const attn2c_descriptor *model) {
  return attn2c_packed_begins(model->embedded->begin, (size_t)embedded_bytes(model)) ? "packed"
                                                                                     : "checkpoint";
}

/* Prints the targets. If there are several, it also prints the one in use, which is this model's. */
static void print_targets(const attn2c_descriptor *model, FILE *out) {
  const char *missing = attn2c_machine_missing(model);
  fprintf(out, "%-13s", "target");
  for (int i = 0; model->variants && model->variants[i]; i++)
    fprintf(out, "%s%s", model->variants[i]->target, model->variants[i + 1] ? ", " : "\n");
  if (!model->variants)
    fprintf(out, "%s\n", model->target);
  else if (missing)
    fprintf(out, "%-13snone: this machine lacks %s; the lines below describe %s\n", "in use", missing,
            model->target);
  else
    fprintf(out, "%-13s%s; the lines below describe it\n", "in use", model->target);
}

/* Returns the bytes that the states of all sequences of a rank take. */
static int64_t states_of(const attn2c_descriptor *rank) {
  return rank->continued ? rank->continued->sequences * state_bytes(rank->continued) : 0;
}

static void print_ranks(const attn2c_divided *divided, FILE *out) {
  if (!divided) return;
  fprintf(out, "ranks        %d, each with bytes of weights, arena and state:\n", divided->count);
  for (int i = 0; i < divided->count; i++) {
    const attn2c_descriptor *rank = divided->ranks[i];
    fprintf(out, "  rank %-6d%12" PRId64 " %12" PRId64 " %12" PRId64 "\n", i, bytes_of(rank->weight_floats),
            bytes_of(rank->arena_floats), states_of(rank));
  }
}

static void print_table(const attn2c_program *program, FILE *out) {
  const attn2c_descriptor *model = program->model;
  fprintf(out, "%-13s%s\n", "model", model->name);
  fprintf(out, "%-13s%s, ABI %d\n", "generator", model->generator, model->abi);
  fprintf(out, "%-13s%s (%s)\n", "description", model->description, model->description_hash);
  print_targets(model, out);
  fprintf(out, "%-13s%s\n", "precision", attn2c_precision(model));
  for (int i = 0; model->adapters && model->adapters[i]; i++)
    fprintf(out, "%-13s%s\n", i ? "" : "adapters", model->adapters[i]);
  if (model->smoothing) fprintf(out, "%-13s%s\n", "factors", model->smoothing);
  fprintf(out, "%-13s%d\n", "threads", model->threads);
  if (model->saved_by_two > 0.0)
    fprintf(out, "%-13shelp: the second takes %.0f%% of the work\n", "2 threads",
            100.0 * model->saved_by_two);
  else
    fprintf(out, "%-13sdo not help: there is too little work between two barriers\n", "2 threads");
  fprintf(out, "%-13s%d\n", "layers", model->layers);
  if (answers(model)) fprintf(out, "%-13s%s\n", "answer", answers(model));
  for (int i = 0; model->text && i < model->text->prompt_count; i++) {
    char text[1000];
    attn2c_message line = attn2c_message_make(text, sizeof text);
    attn2c_say(&line, "%s: \"%s\"", model->text->prompts[i].name, model->text->prompts[i].text);
    fprintf(out, "%-13s%s\n", i ? "" : "prompts", text);
  }
  if (model->text && model->text->dimensions > 0)
    fprintf(out, "%-13s%d numbers of an embedding of a text are kept\n", "dimensions",
            model->text->dimensions);
  if (model->text && model->text->prompt) {
    char text[1000];
    attn2c_message line = attn2c_message_make(text, sizeof text);
    attn2c_say(&line, "%s", model->text->prompt);
    fprintf(out, "%-13s\"%s\", added in front of each text\n", "prompt", text);
  }
  print_lengths(program, out);
  for (int e = 0; e < model->entry_count; e++) {
    const attn2c_entry *entry = &model->entries[e];
    fprintf(out, "%-13s%s\n", "entry", entry->name);
    print_arrays(model, entry, 1, out);
    print_arrays(model, entry, 0, out);
    fprintf(out, "  %-11s%.0f flops (%.4g GFLOP), %d ops%s\n", "work", entry->flops, 1e-9 * entry->flops,
            entry->op_count, model->is_open ? ", for a sequence of the most tokens" : "");
    if (model->entry_count > 1)
      fprintf(out, "  %-11s%" PRId64 " bytes\n", "arena", bytes_of(attn2c_entry_arena(model, entry)));
  }
  fprintf(out, "%-13s%d, %" PRId64 " parameters\n", "weights", model->weight_count, model->parameters);
  print_bytes("packed", bytes_of(model->weight_floats), out);
  if (attn2c_is_embedded(model))
    fprintf(out, "%-13s%" PRId64 " bytes, %s: no --weights is needed\n", "linked in", embedded_bytes(model),
            embedded_form(model));
  print_bytes("arena", bytes_of(model->arena_floats), out);
  print_ranks(model->divided, out);
  print_state(model, out);
  fprintf(out, "%-13s%d in C, %d from libxsmm\n", "kernels", model->own_kernel_count, model->kernel_count);
  fprintf(out, "%-13s%" PRId64 "\n", "lines", model->lines);
}

/* Returns the shape as a list of numbers, whose first may be a word; NULL without memory. */
static json_t *json_shape(const attn2c_call_shape *shape) {
  json_t *list = json_array();
  int failed = shape->first && json_array_append_new(list, json_string(shape->first)) != 0;
  for (int i = 0; i < shape->rank; i++)
    failed = failed || json_array_append_new(list, json_integer(shape->sizes[i])) != 0;
  if (!failed) return list;
  json_decref(list);
  return NULL;
}

static json_t *json_tensor(const attn2c_tensor *tensor, const attn2c_call_shape *call_shape) {
  json_t *shape = json_shape(call_shape);
  json_t *object = json_pack("{s:s, s:s, s:o}", "name", tensor->name, "type",
                             tensor->type == ATTN2C_F32 ? "float32" : "int32", "shape", shape);
  int failed = 0;
  if (tensor->type == ATTN2C_I32 && tensor->minimum < tensor->limit) {
    failed |= json_object_set_new(object, "minimum", json_integer(tensor->minimum));
    failed |= json_object_set_new(object, "maximum", json_integer(tensor->limit - 1));
  }
  const char *what = tensor->kind == ATTN2C_SHARED_INPUT ? "shared"
                     : attn2c_is_optional(tensor)        ? "optional"
                                                         : NULL;
  if (what) failed |= json_object_set_new(object, what, json_true());
  if (!failed) return object;
  json_decref(object);
  return NULL;
}

/* Sets object.inputs or .outputs to a list of arrays. Returns 0, or -1 without memory. */
static int json_arrays(const attn2c_descriptor *model, const attn2c_entry *entry, int is_input,
                       json_t *object) {
  const int *tensors = is_input ? entry->inputs : entry->outputs;
  json_t *list = json_array();
  if (json_object_set_new(object, is_input ? "inputs" : "outputs", list) != 0) return -1;
  for (int i = 0; i < (is_input ? entry->input_count : entry->output_count); i++) {
    const attn2c_call_shape shape = attn2c_call_shape_of(model, entry, is_input, i);
    if (json_array_append_new(list, json_tensor(&model->tensors[tensors[i]], &shape)) != 0) return -1;
  }
  return 0;
}

static int json_entries(const attn2c_descriptor *model, json_t *object) {
  json_t *list = json_array();
  if (json_object_set_new(object, "entries", list) != 0) return -1;
  for (int e = 0; e < model->entry_count; e++) {
    const attn2c_entry *entry = &model->entries[e];
    json_t *item =
        json_pack("{s:s, s:I, s:i, s:I}", "name", entry->name, "flops", (json_int_t)entry->flops, "ops",
                  entry->op_count, "arena_bytes", (json_int_t)bytes_of(attn2c_entry_arena(model, entry)));
    if (json_array_append_new(list, item) != 0) return -1;
    if (json_arrays(model, entry, 1, item) != 0 || json_arrays(model, entry, 0, item) != 0) return -1;
  }
  return 0;
}

/* Adds the texts that may be put before a text, by name. */
static int json_prompts(const attn2c_text_facts *text, json_t *object) {
  if (text->prompt_count == 0) return 0;
  json_t *prompts = json_object();
  int failed = json_object_set_new(object, "prompts", prompts);
  for (int i = 0; i < text->prompt_count && failed == 0; i++)
    failed = json_object_set_new(prompts, text->prompts[i].name, json_string(text->prompts[i].text));
  return failed;
}

/* Adds the answer that the model gives for a text, and the names of labels. */
static int json_text(const attn2c_descriptor *model, json_t *object) {
  if (!answers(model)) return 0;
  json_t *labels = json_array();
  int failed = json_prompts(model->text, object);
  failed |= json_object_set_new(object, "of_text", json_string(answers(model)));
  if (model->text->prompt) failed |= json_object_set_new(object, "prompt", json_string(model->text->prompt));
  failed |= json_object_set_new(object, "labels", labels);
  for (int i = 0; i < model->text->label_count && failed == 0; i++)
    failed = json_array_append_new(labels, json_string(model->text->labels[i]));
  return failed;
}

static int json_adapters(const attn2c_descriptor *model, json_t *object) {
  if (!model->adapters) return 0;
  json_t *list = json_array();
  int failed = json_object_set_new(object, "adapters", list);
  for (int i = 0; model->adapters[i] && !failed; i++)
    failed = json_array_append_new(list, json_string(model->adapters[i]));
  return failed;
}

static int json_kernels(const attn2c_descriptor *model, json_t *object) {
  json_t *list = json_array();
  if (json_object_set_new(object, "kernel_shapes", list) != 0) return -1;
  for (int i = 0; i < model->kernel_count; i++) {
    const attn2c_kernel_shape *k = &model->kernels[i];
    json_t *item = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "m", k->m, "n", k->n, "k", k->k, "lda",
                             k->lda, "ldb", k->ldb, "ldc", k->ldc, "beta", k->beta);
    if (json_array_append_new(list, item) != 0) return -1;
  }
  return 0;
}

/* Sets object.tokens to a sequence's least and most; any_length: true without padding. -1: no memory. */
static int json_lengths(const attn2c_program *program, json_t *object) {
  const attn2c_lengths *lengths = lengths_of(program);
  if (!lengths) return 0;
  const json_int_t most = (json_int_t)lengths->sizes->seq;
  const json_int_t least = (json_int_t)least_of(program->model, lengths);
  json_t *tokens = json_pack("{s:I, s:I}", "least", least, "most", most);
  const int failed = json_object_set_new(object, "tokens", tokens);
  return failed || !program->model->is_open ? failed : json_object_set_new(tokens, "any_length", json_true());
}

/* Sets object.context to the sequences that a context keeps, and the bytes of its state. -1: no memory. */
static int json_context(const attn2c_descriptor *model, json_t *object) {
  const attn2c_continued *of = model->continued;
  if (!of) return 0;
  return json_object_set_new(
      object, "context",
      json_pack("{s:I, s:I, s:I, s:s, s:I, s:I}", "tokens", (json_int_t)model->lengths->sizes[0].seq,
                "sequences", (json_int_t)of->sequences, "call_tokens", (json_int_t)of->call_rows, "cache",
                word_of_cache(of), "sequence_bytes", (json_int_t)state_bytes(of), "state_bytes",
                (json_int_t)(of->sequences * state_bytes(of))));
}

/* Sets object.targets to several targets' names, and object.in_use to the one in use, or null. */
static int json_targets(const attn2c_descriptor *model, json_t *object) {
  if (!model->variants) return 0;
  json_t *list = json_array();
  if (json_object_set_new(object, "targets", list) != 0) return -1;
  for (int i = 0; model->variants[i]; i++)
    if (json_array_append_new(list, json_string(model->variants[i]->target)) != 0) return -1;
  return json_object_set_new(object, "in_use",
                             attn2c_machine_missing(model) ? json_null() : json_string(model->target));
}

/* Sets object.ranks to the bytes of each rank, if the model is divided. Returns 0, or -1 without memory. */
static int json_ranks(const attn2c_divided *divided, json_t *object) {
  if (!divided) return 0;
  json_t *list = json_array();
  int failed = json_object_set_new(object, "ranks", list);
  for (int i = 0; i < divided->count && failed == 0; i++) {
    const attn2c_descriptor *rank = divided->ranks[i];
    failed = json_array_append_new(list, json_pack("{s:I, s:I, s:I}", "weight_bytes",
                                                   (json_int_t)bytes_of(rank->weight_floats), "arena_bytes",
                                                   (json_int_t)bytes_of(rank->arena_floats), "state_bytes",
                                                   (json_int_t)states_of(rank)));
  }
  return failed;
}

static int print_json(const attn2c_program *program, FILE *out) {
  const attn2c_descriptor *model = program->model;
  json_t *object = json_pack(
      "{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:i, s:I}", "name", model->name,
      "generator", model->generator, "abi", model->abi, "description", model->description, "description_hash",
      model->description_hash, "target", model->target, "precision", attn2c_precision(model), "threads",
      model->threads, "layers", model->layers, "weights", model->weight_count, "parameters",
      (json_int_t)model->parameters, "weight_bytes", (json_int_t)bytes_of(model->weight_floats),
      "arena_bytes", (json_int_t)bytes_of(model->arena_floats), "kernels",
      model->kernel_count + model->own_kernel_count, "kernels_in_c", model->own_kernel_count, "lines",
      (json_int_t)model->lines);
  ATTN2C_OWN char *text = NULL;
  json_t *embedded = attn2c_is_embedded(model) ? json_pack("{s:s, s:I}", "form", embedded_form(model),
                                                           "bytes", (json_int_t)embedded_bytes(model))
                                               : json_null();
  json_t *second = json_pack("{s:b, s:f}", "pays", model->saved_by_two > 0.0, "share", model->saved_by_two);
  if (object != NULL && json_object_set_new(object, "second_thread", second) == 0 &&
      (!model->smoothing || json_object_set_new(object, "factors", json_string(model->smoothing)) == 0) &&
      (!attn2c_is_embedded(model) || json_object_set(object, "embedded", embedded) == 0) &&
      json_lengths(program, object) == 0 && json_context(model, object) == 0 &&
      json_ranks(model->divided, object) == 0 && json_adapters(model, object) == 0 &&
      json_entries(model, object) == 0 && json_targets(model, object) == 0 && json_text(model, object) == 0 &&
      json_kernels(model, object) == 0)
    text = json_dumps(object, JSON_INDENT(2));
  json_decref(object);
  json_decref(embedded);
  if (text == NULL) return ATTN2C_MEMORY;
  fprintf(out, "%s\n", text);
  return ATTN2C_OK;
}

int attn2c_info_command(const attn2c_program *program, const attn2c_arguments *arguments, FILE *out,
                        attn2c_message *message) {
  if (arguments->licenses)
    attn2c_licenses(out);
  else if (!arguments->json)
    print_table(program, out);
  else if (print_json(program, out) != ATTN2C_OK)
    return attn2c_fail(message, ATTN2C_MEMORY, "info: no memory");
  return ATTN2C_OK;
}
