#include "program/text/group.h"

#include "program/inputs.h"

/* The most bytes of a group's outputs, unless one text has more. */
#define VALUE_BYTES ((int64_t)64 << 20)

static const attn2c_entry *entry_of(const attn2c_text_group *group) {
  return attn2c_primary_entry(group->reader->model);
}

int attn2c_group_open(attn2c_text_group *group, const attn2c_descriptor *model, attn2c_message *message) {
  ATTN2C_TRY(attn2c_reader_create(model, model->text, &group->reader, message));
  group->output_count = entry_of(group)->output_count;
  group->wanted = calloc((size_t)group->output_count + 1, sizeof *group->wanted);
  group->outputs = calloc((size_t)group->output_count + 1, sizeof *group->outputs);
  return group->wanted && group->outputs ? ATTN2C_OK : ATTN2C_MEMORY;
}

void attn2c_group_close(attn2c_text_group *group) {
  if (group->reader) attn2c_group_forget(group);
  attn2c_reader_destroy(group->reader);
  ATTN2C_FREE(group->wanted, group->outputs);
}

size_t attn2c_group_image(const attn2c_text_group *group) {
  const int image = group->reader->facts->image;
  return image < 0 ? 0
                   : attn2c_tensor_bytes(&group->reader->model->tensors[entry_of(group)->inputs[image]], 1);
}

int attn2c_group_most(const attn2c_text_group *group) {
  int64_t bytes = 1;
  for (int o = 0; o < group->output_count; o++)
    if (group->wanted[o])
      bytes += 4 * attn2c_reader_elements(group->reader, o, (int64_t)group->reader->longest);
  bytes += (int64_t)attn2c_group_image(group);
  const int64_t most = VALUE_BYTES / bytes;
  return most < 1 ? 1 : most > ATTN2C_GROUP_TEXTS ? ATTN2C_GROUP_TEXTS : (int)most;
}

int attn2c_group_add(attn2c_text_group *group, const attn2c_line *line, const attn2c_text_tokens *tokens) {
  attn2c_reader *reader = group->reader;
  ATTN2C_TRY(attn2c_reader_add(reader, tokens));
  attn2c_view_of_text *view = &group->views[group->count++];
  *view = (attn2c_view_of_text){.reader = reader,
                                .line = *line,
                                .length = (int64_t)tokens->length,
                                .slot = reader->count - 1,
                                .is_last = 1,
                                .is_query = reader->is_query,
                                .has_words = reader->has_words,
                                .removed = tokens->removed};
  view->ids = attn2c_copied(tokens->ids, tokens->length * sizeof *tokens->ids);
  view->places = attn2c_copied(tokens->places, tokens->length * sizeof *tokens->places);
  view->sources = attn2c_copied(tokens->sources, tokens->length);
  if (view->ids && view->places && view->sources) return ATTN2C_OK;
  return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for a text's tokens");
}

static void forget_last(attn2c_text_group *group) {
  attn2c_view_of_text *view = &group->views[--group->count];
  ATTN2C_FREE(view->ids, view->places, view->sources, view->image);
}

int attn2c_group_give_image(attn2c_text_group *group, const float *image) {
  attn2c_reader *reader = group->reader;
  attn2c_view_of_text *view = &group->views[group->count - 1];
  view->image = attn2c_copied(image, attn2c_group_image(group));
  reader->texts[reader->count - 1].image = view->image;
  if (view->image) return ATTN2C_OK;
  forget_last(group);
  reader->used = reader->texts[--reader->count].first;
  return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for a picture");
}

int attn2c_group_run(attn2c_text_group *group, attn2c_context *context) {
  attn2c_reader *reader = group->reader;
  group->rows = 1;
  for (int i = 0; i < group->count; i++)
    if (group->views[i].length > group->rows) group->rows = group->views[i].length;
  for (int o = 0; o < group->output_count; o++) {
    if (!group->wanted[o]) continue;
    const int64_t elements = (int64_t)reader->count * attn2c_reader_elements(reader, o, group->rows);
    group->outputs[o] = attn2c_reserve((size_t)elements * sizeof(float) + 1);
    if (group->outputs[o]) continue;
    return attn2c_reader_fail(reader, ATTN2C_MEMORY, "no memory for the outputs");
  }
  return attn2c_reader_run(reader, context, group->rows, group->outputs);
}

const float *attn2c_group_values(const attn2c_text_group *group, int output, size_t slot) {
  return (const float *)group->outputs[output] +
         (int64_t)slot * attn2c_reader_elements(group->reader, output, group->rows);
}

attn2c_view_of_text *attn2c_group_view(attn2c_text_group *group, int number) {
  attn2c_view_of_text *view = &group->views[number];
  const attn2c_text_facts *facts = group->reader->facts;
  const int output = facts->output;
  const attn2c_tensor *tensor = &group->reader->model->tensors[entry_of(group)->outputs[output]];
  view->values = view->cached ? view->cached : attn2c_group_values(group, output, view->slot);
  if (facts->answer == ATTN2C_ANSWER_SPAN || facts->answer == ATTN2C_ANSWER_SPANS)
    view->second = attn2c_group_values(group, facts->second, view->slot);
  if (facts->answer == ATTN2C_ANSWER_SPANS)
    view->third = attn2c_group_values(group, facts->spans->labels, view->slot);
  view->rank = tensor->rank;
  view->has_rows = facts->calls->outputs[output].rows >= 0;
  view->width = 1;
  if (tensor->rank > 1)
    view->width = attn2c_reader_extent(group->reader, output, tensor->rank - 1, 1, group->rows);
  return view;
}

void attn2c_group_drop(attn2c_text_group *group) {
  for (int o = 0; o < group->output_count && group->outputs; o++) {
    attn2c_free(group->outputs[o]);
    group->outputs[o] = NULL;
  }
}

void attn2c_group_forget(attn2c_text_group *group) {
  attn2c_group_drop(group);
  while (group->count > 0) forget_last(group);
  attn2c_reader_begin(group->reader);
}
