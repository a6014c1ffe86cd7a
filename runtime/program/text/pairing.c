/* pairing.c - pairs each query with every text. The texts stay in memory: each query needs all. */
#include "program/text/pairing.h"

struct attn2c_pairing {
  attn2c_text_source *queries, *texts;
  attn2c_line *list; /* the texts; their bytes are the source's */
  size_t count;
  attn2c_line query; /* its bytes are the source's */
  size_t at;         /* the next text; count: the next query is read first */
};

static int keep(attn2c_pairing *pairing, const attn2c_line *line) {
  ATTN2C_TRY(ATTN2C_MORE(pairing->list, pairing->count));
  pairing->list[pairing->count++] = *line;
  return ATTN2C_OK;
}

static int read_texts(attn2c_pairing *pairing, attn2c_message *message) {
  attn2c_line line;
  int status = ATTN2C_OK;
  attn2c_line_state state;
  while ((state = attn2c_text_source_next(pairing->texts, 1, &line, &status, message)) == ATTN2C_LINE_READ)
    if (keep(pairing, &line) != ATTN2C_OK) return ATTN2C_MEMORY;
  if (state == ATTN2C_LINE_FAULT) return status;
  if (pairing->count > 0) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "--rank: --text-pair gives no text");
}

static int reads_input(const attn2c_text_word *words, int count) {
  for (int i = 0; i < count; i++)
    if (words[i].kind != ATTN2C_TEXT_STRING && strcmp(words[i].word, "-") == 0) return 1;
  return 0;
}

int attn2c_pairing_open(const attn2c_arguments *arguments, FILE *notes, attn2c_pairing **pairing,
                        attn2c_message *message) {
  attn2c_arguments queries = *arguments, texts = *arguments;
  *pairing = NULL;
  if (reads_input(arguments->texts, arguments->text_count) &&
      reads_input(arguments->pairs, arguments->pair_count))
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--rank: the standard input can be read only once, for --text or --text-pair");
  attn2c_pairing *made = calloc(1, sizeof *made);
  if (!made) return ATTN2C_MEMORY;
  queries.pair_count = texts.pair_count = 0;
  texts.texts = arguments->pairs, texts.text_count = arguments->pair_count;
  int status = attn2c_text_source_open(&queries, notes, &made->queries, message);
  if (status == ATTN2C_OK) status = attn2c_text_source_open(&texts, notes, &made->texts, message);
  if (status == ATTN2C_OK) status = read_texts(made, message);
  if (status == ATTN2C_OK)
    *pairing = made;
  else
    attn2c_pairing_close(made);
  return status;
}

void attn2c_pairing_close(attn2c_pairing *pairing) {
  if (!pairing) return;
  attn2c_text_source_close(pairing->queries);
  attn2c_text_source_close(pairing->texts);
  ATTN2C_FREE(pairing->list, pairing);
}

attn2c_line_state attn2c_pairing_next(attn2c_pairing *pairing, int may_wait, attn2c_line *line, int *status,
                                      attn2c_message *message) {
  if (pairing->at == 0) {
    const attn2c_line_state state =
        attn2c_text_source_next(pairing->queries, may_wait, &pairing->query, status, message);
    if (state != ATTN2C_LINE_READ) return state;
  }
  *line = pairing->list[pairing->at];
  line->place = (int64_t)pairing->at + 1;
  line->pair = line->text, line->pair_length = line->length;
  line->text = pairing->query.text, line->length = pairing->query.length;
  line->is_query = pairing->at == 0;
  pairing->at = (pairing->at + 1) % pairing->count;
  return ATTN2C_LINE_READ;
}
