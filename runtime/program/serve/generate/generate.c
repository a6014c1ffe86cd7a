/* generate.c - the part of the server for models that write: their tokenizer, their sequences, their routes.
 */
#include "program/serve/generate/generate.h"

#include "model/continue.h"
#include "model/sequences.h"

/* Opens the tokenizers of a model. */
static int open_text(attn2c_serve_generate *g, attn2c_message *message) {
  ATTN2C_TRY(attn2c_text_open(g->facts->tables, g->facts->size, ATTN2C_TEXT_JIT, &g->tokenizer, message));
  ATTN2C_TRY(attn2c_text_work_create(g->tokenizer, &g->reading));
  if (g->facts->written)
    ATTN2C_TRY(
        attn2c_text_open(g->facts->written, g->facts->written_size, ATTN2C_TEXT_JIT, &g->written, message));
  return attn2c_text_work_create(g->written ? g->written : g->tokenizer, &g->showing);
}

static int open_draft(attn2c_serve_generate *g, const attn2c_arguments *arguments, attn2c_message *message) {
  const char *draft = arguments->generate.draft;
  char said[1000] = "";
  int status = attn2c_generate_check_draft(&arguments->generate, message);
  if (!draft || status != ATTN2C_OK) return status;
  status = attn2c_the_draft->open(draft, arguments->threads, &g->draft_model, &g->draft, said, sizeof said);
  said[strcspn(said, "\n")] = '\0';
  return status == ATTN2C_OK
             ? status
             : attn2c_fail(message, status, "--draft: %s", *said ? said : attn2c_strerror(status));
}

static int open_part(attn2c_server *server, attn2c_message *message) {
  const attn2c_descriptor *model = server->model;
  const int most = (int)model->continued->sequences, asked = server->arguments->serve.sequences;
  attn2c_serve_generate *g = server->generate = calloc(1, sizeof *g);
  if (!g) return ATTN2C_MEMORY;
  if (asked > most)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "--sequences: %d, but 1 to %d is allowed; build sequences=%d keeps more", asked, most,
                       asked);
  g->facts = model->text;
  g->processors = attn2c_beam_stated(model->continued->generation);
  g->processors.beams = 1;
  int status = open_text(g, message);
  if (status == ATTN2C_OK) status = attn2c_sequences_create(server->opened, &g->context);
  if (status == ATTN2C_MEMORY)
    return attn2c_fail(message, status, "no memory for the keys and values of %d sequences", most);
  if (status != ATTN2C_OK) return status;
  g->calls = attn2c_continued_calls(g->context);
  if (attn2c_encode_entry(model) && (!g->calls.encode || g->calls.source_values))
    return ATTN2C_OK; /* it reads pictures or sounds, which other parts take */
  if (asked) g->calls.sequences = asked;
  ATTN2C_TRY(open_draft(g, server->arguments, message));
  status = attn2c_writing_create(server, g->calls.sequences,
                                 server->arguments->generate.guess || g->draft_model, &g->writing);
  const attn2c_engine_writer writer = {g->writing, attn2c_writing_admit, attn2c_writing_step};
  if (status == ATTN2C_OK) attn2c_engine_set_writer(server->engine, &writer);
  return status;
}

static void close_part(attn2c_server *server) {
  attn2c_serve_generate *g = server->generate;
  if (!g) return;
  attn2c_writing_free(g->writing);
  if (g->draft_model) attn2c_the_draft->close(g->draft_model, g->draft.context);
  for (int i = 0; i < ATTN2C_KNOWN_GRAMMARS; i++) {
    attn2c_grammar_use_free(g->known[i].use);
    free(g->known[i].text);
  }
  attn2c_vocabulary_free(g->vocabulary);
  attn2c_context_destroy(g->context);
  attn2c_text_work_destroy(g->reading);
  attn2c_text_work_destroy(g->showing);
  attn2c_text_close(g->tokenizer);
  attn2c_text_close(g->written);
  if (g->chat) g->facts->chat->release(g->chat);
  free(g);
  server->generate = NULL;
}

/* Models that write about pictures or sounds take no prompt. */
static int writes(const attn2c_server *server) { return server->generate->writing != NULL; }

static int chats(const attn2c_server *server) {
  return writes(server) && server->model->text->chat && !server->generate->calls.encode;
}

static const attn2c_route routes[] = {{ATTN2C_HTTP_POST, "/v1/completions", attn2c_serve_completions,
                                       ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_JSON, 0, writes},
                                      {ATTN2C_HTTP_POST, "/v1/chat/completions", attn2c_serve_chat,
                                       ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_JSON, 0, chats},
                                      {0}};

const attn2c_server_part ATTN2C_DEFINES(attn2c_server_generate) = {
    .open = open_part, .close = close_part, .routes = routes};
