/* generate_chat.c - the command `chat`. Each turn is written by the model's chat template with all turns
 * before it; the model reads what it does not keep already. */
#include <errno.h>

#include "program/output.h"
#include "program/inputs.h"
#include "program/system.h"
#include "program/text/generate_side.h"

typedef struct {
  const attn2c_descriptor *model;
  const attn2c_arguments *arguments;
  FILE *out, *notes;
  attn2c_message *message;
  attn2c_generate_options options;
  attn2c_continuing model_calls;
  attn2c_answers *batch;
  attn2c_text_side *side;
  attn2c_writer *writer; /* of the side */
  attn2c_line_reader *lines;
  uint64_t answers;
  int64_t lines_read, turns_read, left_out; /* turns_read: of the user; left_out: those without an answer */
  int is_json, is_unanswered;               /* is_unanswered: the last message is not one that is answered */
} job;

static volatile sig_atomic_t interrupted, terminated;

static void note_interrupt(int number) {
  interrupted = number;
  if (number == SIGTERM) terminated = 1;
}
static int is_interrupted(void) { return interrupted; }

/* Ctrl-C ends what is going on: an answer, or a line that is typed. SIGTERM ends the chat after it, and a
 * second one at once. Reading is not restarted. */
static void catch_interrupts(void) {
  attn2c_program_signal(SIGINT, note_interrupt, 0, 0);
  attn2c_program_signal(SIGTERM, note_interrupt, 1, 0);
}

/* Returns the status of a chat that a signal ends. */
static int end_by_signal(job *job) {
  attn2c_say(job->message, "interrupted");
  return 128 + (terminated ? SIGTERM : SIGINT);
}

static int no_memory(job *job) { return attn2c_fail(job->message, ATTN2C_MEMORY, "chat: no memory"); }

/* Writes what is new of the answer as text. */
static int show(job *job, size_t *written) {
  const attn2c_writer *writer = job->writer;
  if (job->is_json) return ATTN2C_OK;
  attn2c_the_generation_text->write(writer->text + *written, writer->shown - *written, 0, job->out);
  *written = writer->shown;
  return attn2c_output_flush(job->out, job->message);
}

/* Writes the whole answer as a message. */
static int show_message(job *job, attn2c_end end) {
  const attn2c_generation_text *text = attn2c_the_generation_text;
  json_t *message = json_object();
  int failed = json_object_set_new(message, "role", json_string("assistant"));
  failed |= json_object_set_new(
      message, "content", text->json_text(job->writer->length ? job->writer->text : "", job->writer->length));
  failed |= json_object_set_new(message, "end", json_string(end ? attn2c_end_names[end] : "interrupted"));
  return text->json_line(message, failed, job->out);
}

/* Writes the tokens of the answer as they come. */
static int write_answer(job *job) {
  const attn2c_answer_ids *answer = attn2c_answers_at(job->batch, 0);
  size_t written = 0;
  int32_t seen = 0;
  int status = ATTN2C_OK;
  while (status == ATTN2C_OK) {
    for (; seen < answer->count && status == ATTN2C_OK && job->writer->stopped_by < 0; seen++)
      if (answer->end != ATTN2C_END_TOKEN || seen + 1 < answer->count)
        status = attn2c_writer_add(job->writer, job->side->writing, answer->ids[seen]);
    if (status != ATTN2C_OK) return no_memory(job);
    if (job->writer->stopped_by >= 0) attn2c_answers_end(job->batch, 0, ATTN2C_END_TEXT, seen);
    if (answer->end != ATTN2C_END_NONE || interrupted) break;
    status = show(job, &written);
    if (status == ATTN2C_OK) status = attn2c_answers_step(job->batch, job->message);
  }
  if (status != ATTN2C_OK) return status;
  if (answer->end == ATTN2C_END_FAULT) {
    attn2c_say(job->message, "chat: %s", answer->fault);
    return answer->status;
  }
  if (attn2c_writer_end(job->writer, job->side->writing) != ATTN2C_OK) return no_memory(job);
  status = show(job, &written);
  if (!job->is_json)
    fputc('\n', job->out);
  else if (show_message(job, job->writer->stopped_by >= 0 ? ATTN2C_END_TEXT : answer->end) != ATTN2C_OK)
    return no_memory(job);
  return status == ATTN2C_OK ? attn2c_output_flush(job->out, job->message) : status;
}

/* Encodes all turns, or only the last with the system message. */
static int encode(job *job, int alone, attn2c_text_tokens *tokens) {
  const char *text, *why;
  size_t length;
  char fault[300] = "";
  int status = attn2c_turns_render(job->side->turns, alone, &text, &length, fault, sizeof fault);
  if (status != ATTN2C_OK)
    return attn2c_fail(job->message, status, "chat: %s", *fault ? fault : attn2c_strerror(status));
  status = attn2c_encode_all(job->side->reading, job->model->text, text, length, 1, 0, tokens, &why);
  if (status != ATTN2C_OK) attn2c_say(job->message, "chat: the turn: %s", why);
  return status;
}

/* Encodes the turns; the oldest are left out while they are more than the context. *is_long: 1 if the last
 * turn by itself is more; then no turn is left out. */
static int encode_turns(job *job, attn2c_text_tokens *tokens, int *is_long) {
  const size_t most = (size_t)attn2c_calls_room(&job->model_calls.calls);
  int left_out = 0;
  int status = encode(job, 0, tokens);
  *is_long = 0;
  if (status == ATTN2C_OK && tokens->length >= most) {
    status = encode(job, 1, tokens);
    if (status == ATTN2C_OK && tokens->length >= most) {
      fprintf(job->notes,
              "%s: chat: the turn has %zu tokens with its template, but the model's context has %zu: it is "
              "left out\n",
              job->arguments->program, tokens->length, most);
      *is_long = 1;
      return ATTN2C_OK;
    }
    int is_less;
    do {
      is_less = attn2c_turns_forget(job->side->turns);
      left_out += is_less;
      if (status == ATTN2C_OK) status = encode(job, 0, tokens);
    } while (status == ATTN2C_OK && is_less && tokens->length >= most);
  }
  if (status != ATTN2C_OK) return status;
  if (left_out > 0)
    fprintf(job->notes, "%s: chat: the context is full: the %d oldest turns are left out\n",
            job->arguments->program, left_out);
  return ATTN2C_OK;
}

/* Adds a line to the turns. *is_asked: 1 if it is to be answered. */
static int read_line(job *job, const char *line, size_t length, int *is_asked) {
  const char *fault = "";
  *is_asked = 1;
  if (!job->is_json) return attn2c_turns_add(job->side->turns, "user", line, length);
  const int status =
      attn2c_turns_read(job->side->turns, line, length, job->arguments->generate.system, is_asked, &fault);
  if (status == ATTN2C_FORMAT)
    attn2c_say(job->message, "standard input: line %" PRId64 ": %s", job->lines_read, fault);
  return status;
}

static int answer(job *job, const char *line, size_t length) {
  attn2c_text_tokens tokens;
  int is_long = 0, is_asked = 1;
  int status = read_line(job, line, length, &is_asked);
  job->is_unanswered = !is_asked;
  if (!is_asked) return status;
  job->turns_read++;
  if (status == ATTN2C_OK) status = encode_turns(job, &tokens, &is_long);
  if (status != ATTN2C_OK)
    return status == ATTN2C_MEMORY && job->message->used == 0 ? no_memory(job) : status;
  if (is_long) {
    attn2c_turns_drop(job->side->turns);
    job->left_out++;
    return ATTN2C_OK;
  }
  status = attn2c_answers_begin(job->batch, 0, tokens.ids, (int64_t)tokens.length,
                                job->options.sampling.seed + job->answers++, is_interrupted, job->message);
  if (status != ATTN2C_OK && interrupted) {
    if (!job->is_json) fputc('\n', job->out);
    return attn2c_turns_add(job->side->turns, "assistant", "", 0) == ATTN2C_OK ? ATTN2C_OK : no_memory(job);
  }
  if (status == ATTN2C_OK &&
      attn2c_writer_begin(job->writer, job->side->writing, tokens.ids, tokens.length) != ATTN2C_OK)
    status = no_memory(job);
  if (status == ATTN2C_OK) status = write_answer(job);
  attn2c_answers_release(job->batch, 0);
  if (status != ATTN2C_OK) return status;
  return attn2c_turns_add(job->side->turns, "assistant", job->writer->text, job->writer->length) == ATTN2C_OK
             ? ATTN2C_OK
             : no_memory(job);
}

static int answer_lines(job *job) {
  int status = ATTN2C_OK;
  const int is_terminal = attn2c_line_reader_is_terminal(job->lines);
  while (status == ATTN2C_OK) {
    char *line;
    size_t length;
    interrupted = 0;
    const attn2c_chat_state state = attn2c_line_reader_next(job->lines, "> ", &line, &length);
    if (state == ATTN2C_CHAT_INTERRUPTED && is_terminal && !terminated) {
      fputc('\n', job->out);
      continue;
    }
    if (state == ATTN2C_CHAT_INTERRUPTED) return end_by_signal(job);
    if (state == ATTN2C_CHAT_FAULT)
      return attn2c_fail(job->message, ATTN2C_IO, "standard input: %s", strerror(errno));
    if (state == ATTN2C_CHAT_END) break;
    size_t blank = 0;
    job->lines_read++;
    while (blank < length && strchr(" \t", line[blank])) blank++;
    if (blank < length) status = answer(job, line, length);
    if (status == ATTN2C_OK && terminated) return end_by_signal(job);
  }
  if (is_terminal) fputc('\n', job->out);
  if (status == ATTN2C_OK && job->is_unanswered)
    return attn2c_fail(
        job->message, ATTN2C_FORMAT,
        "standard input: line %" PRId64
        ": the last message has no answer: only messages of the user and of tools are answered",
        job->lines_read);
  if (status != ATTN2C_OK || job->left_out == 0) return status;
  return attn2c_fail(job->message, ATTN2C_FORMAT, "chat: %" PRId64 " of %" PRId64 " turns have no answer",
                     job->left_out, job->turns_read);
}

static int open_job(job *job) {
  attn2c_calls *calls = &job->model_calls.calls;
  ATTN2C_TRY(attn2c_text_side_open(job->model->text, job->arguments, 1, &job->side, job->message));
  job->writer = job->side->writers[0];
  ATTN2C_TRY(attn2c_continuing_open(job->model, job->arguments, job->notes, &job->model_calls, job->message));
  ATTN2C_TRY(attn2c_generate_breakers(job->side->reading, &job->arguments->generate,
                                      attn2c_logits_width(job->model), &job->options, job->message));
  calls->sequences = 1; /* an answer at a time */
  calls->length = job->options.length;
  const int32_t most = job->options.tokens < INT32_MAX ? (int32_t)job->options.tokens : INT32_MAX;
  ATTN2C_TRY(attn2c_the_generation_text->grammar(
      job->side, job->arguments, job->model->continued->generation, calls->vocabulary,
      most < calls->tokens ? most : calls->tokens, &calls->rule, job->message));
  ATTN2C_TRY(attn2c_answers_create(&job->batch, calls, &job->options.sampling, &job->options.beam, most,
                                   job->message));
  ATTN2C_TRY(attn2c_continuing_guess(&job->model_calls, job->arguments, job->batch, job->message));
  job->lines = attn2c_line_reader_open();
  return job->lines ? ATTN2C_OK : ATTN2C_MEMORY;
}

int attn2c_chat_command(const attn2c_descriptor *model, const attn2c_arguments *arguments, FILE *out,
                        FILE *notes, attn2c_message *message) {
  job job = {.model = model, .arguments = arguments, .out = out, .notes = notes, .message = message};
  job.is_json = arguments->answers == ATTN2C_ANSWERS_JSONL;
  int status = attn2c_lacks_weights(model, arguments->weights, "chat", message) ? ATTN2C_USAGE : ATTN2C_OK;
  if (!model->text->chat)
    status =
        attn2c_fail(message, ATTN2C_USAGE,
                    "chat: this model was built without a chat template; build it with --chat-template FILE");
  const int read = attn2c_generate_options_read(arguments, model, &job.options, message);
  if (status == ATTN2C_OK) status = read;
  if (status == ATTN2C_OK) status = open_job(&job);
  if (status == ATTN2C_OK) {
    attn2c_generate_options_note(&job.options, arguments, model->continued->generation, notes);
    catch_interrupts();
    status = answer_lines(&job);
  }
  attn2c_line_reader_close(job.lines);
  attn2c_answers_free(job.batch);
  attn2c_continuing_close(&job.model_calls);
  attn2c_text_side_close(job.side);
  attn2c_generate_options_free(&job.options);
  return status;
}
