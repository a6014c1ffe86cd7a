/* spans.c - reads labels from the command line, and writes the spans that were found. */
#include "program/text/view.h"

/* Cuts a word at its commas, without spaces around labels, and adds them to the list. */
static size_t split(char *word, const char **list, size_t count) {
  for (char *next; word; word = next) {
    next = strchr(word, ',');
    if (next) *next++ = 0;
    word += strspn(word, " \t");
    size_t length = strlen(word);
    while (length > 0 && strchr(" \t", word[length - 1])) length--;
    word[length] = 0;
    list[count++] = word;
  }
  return count;
}

static int give_labels(attn2c_reader *reader, const attn2c_arguments *arguments, char *text,
                       const char **list) {
  size_t count = 0;
  for (int i = 0; i < arguments->label_count; i++) {
    const size_t length = strlen(arguments->labels[i]) + 1;
    memcpy(text, arguments->labels[i], length);
    count = split(text, list, count);
    text += length;
  }
  return attn2c_reader_labels(reader, list, count);
}

int attn2c_spans_asked(attn2c_reader *reader, const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_real threshold = arguments->threshold;
  size_t bytes = 1;
  if (!reader->facts->spans) {
    if (arguments->label_count == 0 && !threshold.is_given && !arguments->nested && !arguments->multi_label)
      return ATTN2C_OK;
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--labels, --threshold, --nested and --multi-label: go with models that find spans of "
                       "labels");
  }
  if (threshold.is_given && !(threshold.value >= 0 && threshold.value <= 1))
    return attn2c_fail(message, ATTN2C_USAGE, "--threshold: %g, but 0 to 1 is allowed", threshold.value);
  for (int i = 0; i < arguments->label_count; i++) bytes += strlen(arguments->labels[i]) + 1;
  ATTN2C_OWN char *text = malloc(bytes);
  ATTN2C_OWN const char **list = malloc(bytes * sizeof *list);
  const int status = text && list ? give_labels(reader, arguments, text, list) : ATTN2C_MEMORY;
  reader->span_options.nested = arguments->nested, reader->span_options.several = arguments->multi_label;
  if (threshold.is_given) reader->span_options.threshold = (float)threshold.value;
  if (status == ATTN2C_OK) return status;
  return attn2c_fail(message, status, "--labels: %s", reader->fault);
}

/* Finds the spans of a view's text. Returns ATTN2C_OK or _MEMORY. */
static int find_spans(const attn2c_view_of_text *view, const attn2c_found_span **spans, size_t *count) {
  const attn2c_span_rows rows = {view->ids,    view->places, view->sources, view->length,
                                 view->values, view->second, view->third,   view->width};
  return attn2c_spans_find(view->reader, &rows, spans, count);
}

int attn2c_spans_write(const attn2c_view_of_text *view, FILE *out) {
  const attn2c_found_span *spans;
  size_t count;
  const int status = find_spans(view, &spans, &count);
  for (size_t i = 0; i < count; i++) {
    const attn2c_text_place *place = &spans[i].place;
    const char *label = attn2c_spans_label(view->reader, spans[i].label);
    fprintf(out, "%" PRIu32 "\t%" PRIu32 "\t", place->byte_begin, place->byte_end);
    attn2c_safe_write(view->line.text + place->byte_begin, place->byte_end - place->byte_begin, out);
    fputc('\t', out);
    attn2c_pick_write(label, strlen(label), (double)spans[i].score, out);
    fputc('\n', out);
  }
  fputc('\n', out);
  return status;
}

json_t *attn2c_spans_json(const attn2c_view_of_text *view) {
  const attn2c_found_span *spans;
  size_t count;
  json_t *list = json_array();
  int failed = find_spans(view, &spans, &count) != ATTN2C_OK;
  for (size_t i = 0; i < count && !failed; i++) {
    const attn2c_text_place *place = &spans[i].place;
    const char *label = attn2c_spans_label(view->reader, spans[i].label);
    json_t *each = json_pack(
        "{s:I, s:I, s:o, s:o, s:o}", "begin", (json_int_t)place->byte_begin, "end",
        (json_int_t)place->byte_end, "text",
        attn2c_json_text(view->line.text + place->byte_begin, place->byte_end - place->byte_begin), "label",
        attn2c_json_text(label, strlen(label)), "score", attn2c_json_number((double)spans[i].score));
    failed = json_array_append_new(list, each) != 0;
  }
  return attn2c_json_made(list, failed);
}
