#include "program/text/generate_side.h"

void attn2c_text_side_close(attn2c_text_side *side) {
  if (!side) return;
  for (int32_t i = 0; side->writers && i < side->places; i++) attn2c_writer_free(side->writers[i]);
  ATTN2C_FREE(side->writers, side->prompt);
  attn2c_text_source_close(side->source);
  attn2c_grammar_use_free(side->grammar);
  attn2c_turns_free(side->turns);
  attn2c_text_work_destroy(side->reading);
  attn2c_text_work_destroy(side->writing);
  attn2c_text_close(side->tokenizer);
  attn2c_text_close(side->written);
  free(side);
}

int attn2c_text_side_open(const attn2c_text_facts *facts, const attn2c_arguments *arguments, int32_t places,
                          attn2c_text_side **side, attn2c_message *message) {
  const attn2c_generate_arguments *given = &arguments->generate;
  attn2c_text_side *made = *side = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  made->facts = facts;
  made->places = places;
  made->prefix = given->prefix;
  made->splits = given->split;
  ATTN2C_TRY(attn2c_text_open(facts->tables, facts->size, ATTN2C_TEXT_JIT, &made->tokenizer, message));
  ATTN2C_TRY(attn2c_text_work_create(made->tokenizer, &made->reading));
  if (facts->written)
    ATTN2C_TRY(
        attn2c_text_open(facts->written, facts->written_size, ATTN2C_TEXT_JIT, &made->written, message));
  const attn2c_tokenizer *writes = made->written ? made->written : made->tokenizer;
  ATTN2C_TRY(attn2c_text_work_create(writes, &made->writing));
  made->writers = calloc((size_t)places, sizeof *made->writers);
  if (!made->writers) return ATTN2C_MEMORY;
  if (given->system || arguments->command == ATTN2C_COMMAND_CHAT) {
    made->turns = attn2c_turns_create(facts);
    if (!made->turns) return ATTN2C_MEMORY;
  }
  if (given->system)
    ATTN2C_TRY(attn2c_turns_add(made->turns, "system", given->system, strlen(given->system)));
  char lines[2000];
  attn2c_message faults = attn2c_message_make(lines, sizeof lines);
  int status = ATTN2C_OK;
  for (int32_t i = 0; i < places && status == ATTN2C_OK; i++)
    status = attn2c_writer_create(writes, 1, given->stops, given->stop_count, &made->writers[i], &faults);
  if (faults.used > 0) attn2c_generate_options_say(lines, message);
  return status;
}
