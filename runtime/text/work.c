/* work.c - the memory of one text at a time, and the limits of its steps and bytes. */
#include "text/stages.h"

void text_bound_buffers(attn2c_text_work *work, size_t most) {
  text_buffer *buffers[] = {&work->whole,      &work->normalized, &work->scratch[0],
                            &work->scratch[1], &work->spare[0],   &work->spare[1]};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) buffers[i]->most = most;
}

void text_begin(attn2c_text_work *work, size_t bytes) {
  text_budget_begin(&work->budget, bytes);
  text_bound_buffers(work, work->budget.longest);
  work->words.most = work->next_words.most = work->budget.longest;
  snprintf(work->fault_text, sizeof work->fault_text,
           "the tokenizer makes more than %zu bytes of a text of %zu", work->budget.longest, bytes);
  work->fault = work->fault_text;
}

int text_end(attn2c_text_work *work, int status) {
  const text_budget *budget = &work->budget;
  if (status == ATTN2C_OK || budget->state == BUDGET_LEFT) return status;
  if (budget->state == BUDGET_STOPPED) return work->fault = "stopped", status;
  snprintf(work->fault_text, sizeof work->fault_text,
           "the tokenizer takes more than %llu steps for a text of %zu bytes",
           (unsigned long long)budget->most, budget->bytes);
  work->fault = work->fault_text;
  return status;
}

int attn2c_text_work_create(const attn2c_tokenizer *text, attn2c_text_work **work) {
  attn2c_text_work *made = calloc(1, sizeof *made);
  *work = NULL;
  if (!made) return ATTN2C_MEMORY;
  made->text = text;
  made->fault = "";
  /* Added tokens are normalized without a caller's text, when the tokenizer is opened. */
  text_budget_begin(&made->budget, text->tables.section[SECTION_STRINGS].length);
  text_bound_buffers(made, made->budget.longest);
  int status = text_matcher_create(&made->budget, &made->matcher);
  if (status == ATTN2C_OK)
    *work = made;
  else
    free(made);
  return status;
}

void attn2c_text_work_destroy(attn2c_text_work *work) {
  if (!work) return;
  text_matcher_free(work->matcher);
  text_free(&work->whole);
  text_free(&work->normalized);
  for (int i = 0; i < 2; i++) {
    text_free(&work->scratch[i]);
    text_free(&work->spare[i]);
    ATTN2C_FREE(work->encodings[i].ids, work->encodings[i].places, work->encodings[i].blanks,
                work->encodings[i].characters);
  }
  void *arrays[] = {work->pieces.list,
                    work->next_pieces.list,
                    work->spans.list,
                    work->changes.list,
                    work->ordered.list,
                    work->tokens.list,
                    work->hashes,
                    work->symbols,
                    work->heap,
                    work->paths,
                    work->cache,
                    work->pairs,
                    work->ids,
                    work->types,
                    work->places,
                    work->sources,
                    work->words.text.bytes,
                    work->words.ends,
                    work->next_words.text.bytes,
                    work->next_words.ends,
                    work->decoded.bytes};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
  free(work);
}
