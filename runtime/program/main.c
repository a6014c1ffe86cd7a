/* main.c - the main function of an emitted program: runs one command on its model. It reports faults as lines
 * and an exit code. */
#include "program/bench/bench.h"
#include "program/commands.h"
#include "program/generate/command.h"
#include "program/output.h"
#include "program/ranks/program.h"
#include "program/run.h"
#include "program/serve/command.h"
#include "program/system.h"

/* The programs of a model for several targets, one each, ended by NULL. Other models do not define it. */
extern const attn2c_program *const *const attn2c_the_programs __attribute__((weak));

/* Messages; large enough for one line for each weight of a large checkpoint. */
static char text[1 << 20];

static char program_name[sizeof((attn2c_arguments){0}.program)]; /* for the handler below */

static void put(const char *words) {
  const ssize_t written = write(STDERR_FILENO, words, strlen(words));
  (void)written; /* a failure cannot be reported anywhere */
}

/* Ends the program if its mapped weights cannot be read. */
static void end_by_lost_file(void) {
  put(program_name);
  put(": the file of the weights cannot be read any more: it was cut, or its disk fails\n");
  _exit(ATTN2C_IO);
}

/* Chooses the program for the target that is used here. A machine that can run none of them may still run
 * info and pack. */
static int choose(const attn2c_arguments *arguments, const attn2c_program **program,
                  attn2c_message *message) {
  const attn2c_descriptor *chosen;
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  const int needs_none =
      arguments->command == ATTN2C_COMMAND_INFO || arguments->command == ATTN2C_COMMAND_PACK;
  int status = attn2c_machine_choose(attn2c_the_program.model, &chosen, needs_none ? &quiet : message);
  if (needs_none && status == ATTN2C_USAGE)
    status = attn2c_machine_choose(attn2c_the_program.model, &chosen, message);
  *program = &attn2c_the_program;
  for (int i = 0; &attn2c_the_programs && attn2c_the_programs[i]; i++)
    if (attn2c_the_programs[i]->model == chosen) *program = attn2c_the_programs[i];
  return needs_none && status == ATTN2C_MACHINE ? ATTN2C_OK : status;
}

/* Runs a command of models that continue. */
static int generate(const attn2c_descriptor *model, const attn2c_arguments *arguments,
                    attn2c_message *message) {
  const int number = (int)arguments->command - ATTN2C_COMMAND_GENERATE;
  if (number < 0 || number > 2) return ATTN2C_USAGE;
  if (number > 0 && attn2c_encode_entry(model))
    return attn2c_fail(message, ATTN2C_USAGE,
                       "%s: this model has an encoder: generate writes answers to sources",
                       number == 1 ? "chat" : "perplexity");
  if (number == 0 && &attn2c_the_speech)
    return attn2c_the_speech->generate(model, arguments, stdout, stderr, message);
  const attn2c_generation_commands *commands = attn2c_the_generation;
  return (number == 0   ? commands->generate
          : number == 1 ? commands->chat
                        : commands->perplexity)(model, arguments, stdout, stderr, message);
}

static int run_command(const attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_program *program = &attn2c_the_program;
  if (arguments->help) {
    attn2c_arguments_help(arguments, program->model, stdout);
    return ATTN2C_OK;
  }
  if (arguments->version) {
    attn2c_arguments_version(program->model, stdout);
    return ATTN2C_OK;
  }
  ATTN2C_TRY(choose(arguments, &program, message));
  switch (arguments->command) {
  case ATTN2C_COMMAND_INFO:
    return attn2c_info_command(program, arguments, stdout, message);
  case ATTN2C_COMMAND_RUN:
    if (attn2c_encode_entry(program->model))
      return attn2c_run_command(program, arguments, stderr, message); /* which refuses the model */
    const int has_pages = program->model->text && program->model->text->image >= 0; /* with each text */
    if (arguments->image_count > 0 && !has_pages) {
      if (&attn2c_the_pictures)
        return attn2c_the_pictures->run(program->model, attn2c_the_picture_facts, arguments, stdout, stderr,
                                        message);
      return attn2c_fail(message, ATTN2C_USAGE,
                         "run: this model takes no pictures: its description has no key `pictures`");
    }
    if (arguments->audio_count > 0) {
      if (&attn2c_the_sounds)
        return attn2c_the_sounds->run(program->model, attn2c_the_sound_facts, arguments, stdout, stderr,
                                      message);
      return attn2c_fail(message, ATTN2C_USAGE,
                         "run: this model takes no sound: its description has no key `sound`");
    }
    if (attn2c_asks_text(arguments) || arguments->image_count > 0) {
      if (&attn2c_the_text) return attn2c_the_text->run(program->model, arguments, stdout, stderr, message);
      if (&attn2c_the_texts)
        return attn2c_fail(message, ATTN2C_USAGE,
                           "run: --text goes with --image: texts are scored for pictures; the program %s "
                           "embeds texts by themselves",
                           attn2c_the_texts->name);
      return attn2c_fail(message, ATTN2C_USAGE,
                         "run: this model takes no text: it was built without a tokenizer");
    }
    return attn2c_run_command(program, arguments, stderr, message);
  case ATTN2C_COMMAND_CHECK:
    return attn2c_check_command(program, arguments, stdout, message);
  case ATTN2C_COMMAND_BENCH:
    return attn2c_bench_command(program, arguments, stdout, message);
  case ATTN2C_COMMAND_PACK:
    return attn2c_pack_command(program->model, arguments, stdout, message);
  case ATTN2C_COMMAND_SERVE:
    return attn2c_the_server->run(program->model, arguments, stdout, stderr, message);
  default:
    return generate(program->model, arguments, message);
  }
}

/* True for commands that only rank 0 runs, because they open no model, or the part of one rank. */
static int is_alone(const attn2c_arguments *arguments) {
  return arguments->help || arguments->version || arguments->command == ATTN2C_COMMAND_INFO ||
         arguments->command == ATTN2C_COMMAND_PACK || (arguments->part && !attn2c_bench_is_of_all(arguments));
}

/* Runs a command on the ranks of a model: rank 0 leads, the others follow. */
static int run_on_ranks(int rank, const attn2c_arguments *arguments, attn2c_message *message) {
  if (is_alone(arguments)) return rank == 0 ? run_command(arguments, message) : ATTN2C_OK;
  ATTN2C_TRY(attn2c_the_ranks->open(&attn2c_the_program, arguments, message));
  return rank == 0 ? run_command(arguments, message) : attn2c_the_ranks->follow(message);
}

static void print_lines(const char *program, const char *lines) {
  while (*lines != '\0') {
    const int length = (int)strcspn(lines, "\n");
    fprintf(stderr, "%s: %.*s\n", program, length, lines);
    lines += length + (lines[length] == '\n');
  }
}

int main(int argc, char **argv) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  attn2c_arguments arguments;
  argv = attn2c_program_begin(&argc, argv, end_by_lost_file);
  int status = attn2c_arguments_parse(argc, argv, &arguments, &message);
  memcpy(program_name, arguments.program, sizeof program_name);
  const int rank = &attn2c_the_ranks ? attn2c_the_ranks->begin() : 0;
  if (status == ATTN2C_OK && &attn2c_the_ranks)
    status = run_on_ranks(rank, &arguments, &message);
  else if (status == ATTN2C_OK)
    status = run_command(&arguments, &message);
  if (status == ATTN2C_OK || status == ATTN2C_MISMATCH) {
    const int written = attn2c_output_flush(stdout, &message);
    if (status == ATTN2C_OK) status = written;
  } else {
    fflush(stdout); /* the command has already reported its reason, which may be the standard output */
  }
  if (status != ATTN2C_OK && status != ATTN2C_MISMATCH && message.used == 0)
    attn2c_say(&message, "%s", attn2c_strerror(status));
  if (rank == 0) print_lines(arguments.program, text); /* the others have the same lines */
  if (&attn2c_the_ranks) attn2c_the_ranks->end(status);
  attn2c_arguments_free(&arguments);
  return status;
}
