/* calls.c - opens a model that continues, for the commands that generate. */
#include "program/generate/command.h"

#include "model/continue.h"
#include "model/sequences.h"
#include "program/inputs.h"
#include "program/run.h"

int attn2c_continuing_open(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *notes,
                           attn2c_continuing *made, attn2c_message *message) {
  int32_t adapter;
  int status = attn2c_adapter_asked(model, arguments, &adapter, message);
  if (status != ATTN2C_OK) return status;
  made->context = arguments->context;
  made->is_given = arguments->context != NULL;
  if (!made->is_given) {
    ATTN2C_TRY(attn2c_run_open(model, arguments, notes, &made->opened, message));
    status = attn2c_sequences_create(made->opened, &made->context);
  }
  if (status != ATTN2C_OK)
    return attn2c_fail(message, status, "no memory for the keys and values of %lld sequences",
                       (long long)model->continued->sequences);
  made->calls = attn2c_continued_calls(made->context);
  for (int64_t i = 0; i < model->continued->sequences && status == ATTN2C_OK; i++) {
    status = attn2c_rewind(made->context, i, 0);
    if (status == ATTN2C_OK) status = attn2c_set_adapter(made->context, i, adapter);
  }
  return status;
}

int attn2c_continuing_guess(attn2c_continuing *made, const attn2c_arguments *arguments, attn2c_answers *batch,
                            attn2c_message *message) {
  const char *draft = arguments->generate.draft;
  if (!draft) return arguments->generate.guess ? attn2c_answers_guess(batch, message) : ATTN2C_OK;
  char said[1000] = "";
  const int status =
      attn2c_the_draft->open(draft, arguments->threads, &made->draft_model, &made->draft, said, sizeof said);
  if (status == ATTN2C_OK) return attn2c_answers_draft(batch, &made->draft, message);
  said[strcspn(said, "\n")] = '\0';
  return attn2c_fail(message, status, "--draft: %s", *said ? said : attn2c_strerror(status));
}

void attn2c_continuing_close(attn2c_continuing *made) {
  if (made->draft_model) attn2c_the_draft->close(made->draft_model, made->draft.context);
  if (!made->is_given) attn2c_context_destroy(made->context);
  attn2c_model_close(made->opened);
}
