/* arguments.c - reads the command line with getopt_long. The messages of getopt_long are off, because they do
 * not say what is allowed. Every fault is collected, so that one run shows them all. */
#define _GNU_SOURCE
#include "program/arguments.h"
#include "program/nearest.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
  OPTION_JSON = 256,
  OPTION_LICENSES,
  OPTION_WEIGHTS,
  OPTION_INPUT,
  OPTION_OUTPUT,
  OPTION_SEED,
  OPTION_PROFILE,
  OPTION_BOUND,
  OPTION_NAN,
  OPTION_COMPARE,
  OPTION_ENTRY,
  OPTION_LENGTH,
  OPTION_PACKED,
  OPTION_VERIFY,
  OPTION_TEXT,
  OPTION_TEXT_FILE,
  OPTION_TEXT_STRING,
  OPTION_TEXT_PAIR,
  OPTION_PAIR,
  OPTION_QUERY,
  OPTION_ANSWERS,
  OPTION_TOP,
  OPTION_SIMILAR,
  OPTION_STRIDE
};

static const struct option info_options[] = {{"json", no_argument, NULL, OPTION_JSON},
                                             {"licenses", no_argument, NULL, OPTION_LICENSES},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};
static const struct option run_options[] = {{"weights", required_argument, NULL, OPTION_WEIGHTS},
                                            {"input", required_argument, NULL, OPTION_INPUT},
                                            {"output", required_argument, NULL, OPTION_OUTPUT},
                                            {"entry", required_argument, NULL, OPTION_ENTRY},
                                            {"text", required_argument, NULL, OPTION_TEXT},
                                            {"text-file", required_argument, NULL, OPTION_TEXT_FILE},
                                            {"text-string", required_argument, NULL, OPTION_TEXT_STRING},
                                            {"text-pair", required_argument, NULL, OPTION_TEXT_PAIR},
                                            {"pair", required_argument, NULL, OPTION_PAIR},
                                            {"format", required_argument, NULL, OPTION_ANSWERS},
                                            {"top", required_argument, NULL, OPTION_TOP},
                                            {"similar", no_argument, NULL, OPTION_SIMILAR},
                                            {"query", required_argument, NULL, OPTION_QUERY},
                                            {"stride", required_argument, NULL, OPTION_STRIDE},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
static const struct option check_options[] = {{"weights", required_argument, NULL, OPTION_WEIGHTS},
                                              {"input", required_argument, NULL, OPTION_INPUT},
                                              {"seed", required_argument, NULL, OPTION_SEED},
                                              {"entry", required_argument, NULL, OPTION_ENTRY},
                                              {"nan", no_argument, NULL, OPTION_NAN},
                                              {"json", no_argument, NULL, OPTION_JSON},
                                              {"help", no_argument, NULL, 'h'},
                                              {NULL, 0, NULL, 0}};
static const struct option bench_options[] = {{"weights", required_argument, NULL, OPTION_WEIGHTS},
                                              {"reps", required_argument, NULL, 'r'},
                                              {"format", required_argument, NULL, 'o'},
                                              {"profile", no_argument, NULL, OPTION_PROFILE},
                                              {"bound", no_argument, NULL, OPTION_BOUND},
                                              {"compare", required_argument, NULL, OPTION_COMPARE},
                                              {"length", required_argument, NULL, OPTION_LENGTH},
                                              {"help", no_argument, NULL, 'h'},
                                              {NULL, 0, NULL, 0}};
static const struct option pack_options[] = {{"weights", required_argument, NULL, OPTION_WEIGHTS},
                                             {"output", required_argument, NULL, OPTION_PACKED},
                                             {"verify", required_argument, NULL, OPTION_VERIFY},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static const struct {
  const char *name, *letters, *allowed;
  const struct option *options;
} commands[] = {
    {"", "", "", NULL},
    {"info", ":h", "--json, --licenses, --help", info_options},
    {"run", ":hv",
     "--weights, --input, --output, --entry, --text, --text-file, --text-string, --text-pair, --format, "
     "--top, --similar, --query, --stride, --verbose, --help",
     run_options},
    {"check", ":h", "--weights, --input, --seed, --entry, --nan, --json, --help", check_options},
    {"bench", ":hr:o:", "--weights, -r, -o, --length, --profile, --bound, --compare, --help", bench_options},
    {"pack", ":ho:", "--weights, -o, --verify, --help", pack_options},
};

const char *attn2c_program_name(const char *path) {
  if (path == NULL) return "attn2c";
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  return *name == '\0' ? "attn2c" : name;
}

/* Reads a decimal number without a sign. Returns 1 if the whole text is one and it is at most `most`. */
static int read_decimal(const char *text, uint64_t most, uint64_t *value) {
  if (*text < '0' || *text > '9') return 0;
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0' || number > most) return 0;
  *value = number;
  return 1;
}

static int once(const char **place, const char *value, const char *option, attn2c_message *message) {
  if (*place != NULL) {
    attn2c_say(message, "%s: given twice, but one is allowed", option);
    return ATTN2C_USAGE;
  }
  *place = value;
  return ATTN2C_OK;
}

static void add_text(attn2c_text_word *list, int *count, int option, const char *word) {
  static const attn2c_text_word given[] = {
      {ATTN2C_TEXT_ANY, NULL, "--text"},           {ATTN2C_TEXT_FILE, NULL, "--text-file"},
      {ATTN2C_TEXT_STRING, NULL, "--text-string"}, {ATTN2C_TEXT_ANY, NULL, "--text-pair"},
      {ATTN2C_TEXT_ANY, NULL, "--pair"},           {ATTN2C_TEXT_ANY, NULL, "--query"}};
  list[*count] = given[option - OPTION_TEXT];
  list[(*count)++].word = word;
}

static int take_answers(const char *value, attn2c_arguments *arguments, attn2c_message *message) {
  static const char *const names[] = {NULL, "text", "jsonl", "npy"};
  for (int i = ATTN2C_ANSWERS_TEXT; i <= ATTN2C_ANSWERS_NPY; i++) {
    if (strcmp(value, names[i]) != 0) continue;
    arguments->answers = (attn2c_answer_format)i;
    return ATTN2C_OK;
  }
  attn2c_say(message, "--format: '%s', but text, jsonl or npy is allowed", value);
  return ATTN2C_USAGE;
}

static int take_value(int option, const char *value, attn2c_arguments *arguments, attn2c_message *message) {
  uint64_t number;
  switch (option) {
  case OPTION_WEIGHTS:
    return once(&arguments->weights, value, "--weights", message);
  case OPTION_ENTRY:
    return once(&arguments->entry, value, "--entry", message);
  case OPTION_PACKED:
    return once(&arguments->packed, value, "-o", message);
  case OPTION_VERIFY:
    return once(&arguments->verify, value, "--verify", message);
  case OPTION_COMPARE:
    return once(&arguments->compare, value, "--compare", message);
  case OPTION_INPUT:
    arguments->inputs[arguments->input_count++] = value;
    return ATTN2C_OK;
  case OPTION_OUTPUT:
    arguments->outputs[arguments->output_count++] = value;
    return ATTN2C_OK;
  case OPTION_TEXT:
  case OPTION_TEXT_FILE:
  case OPTION_TEXT_STRING:
    add_text(arguments->texts, &arguments->text_count, option, value);
    return ATTN2C_OK;
  case OPTION_TEXT_PAIR:
  case OPTION_PAIR:
    add_text(arguments->pairs, &arguments->pair_count, option, value);
    return ATTN2C_OK;
  case OPTION_QUERY:
    add_text(arguments->queries, &arguments->query_count, option, value);
    return ATTN2C_OK;
  case OPTION_ANSWERS:
    return take_answers(value, arguments, message);
  case OPTION_TOP:
    if (read_decimal(value, ATTN2C_MAX_TOP, &number) && number > 0) {
      arguments->top = (int)number;
      return ATTN2C_OK;
    }
    attn2c_say(message, "--top: '%s', but 1 to %d is allowed", value, ATTN2C_MAX_TOP);
    return ATTN2C_USAGE;
  case OPTION_STRIDE:
    if (read_decimal(value, INT32_MAX, &number)) {
      arguments->stride = (int64_t)number;
      return ATTN2C_OK;
    }
    attn2c_say(message, "--stride: '%s', but a number of tokens from 0 is allowed", value);
    return ATTN2C_USAGE;
  case OPTION_SEED:
    if (read_decimal(value, UINT64_MAX, &arguments->seed)) return ATTN2C_OK;
    attn2c_say(message, "--seed: '%s', but 0 to 18446744073709551615 is allowed", value);
    return ATTN2C_USAGE;
  case OPTION_LENGTH:
    if (read_decimal(value, INT32_MAX, &number) && number > 0) {
      arguments->length = (int64_t)number;
      return ATTN2C_OK;
    }
    attn2c_say(message, "--length: '%s', but a number of tokens from 1 is allowed", value);
    return ATTN2C_USAGE;
  case 'r':
    if (read_decimal(value, ATTN2C_MAX_REPETITIONS, &number) && number > 0) {
      arguments->repetitions = (int)number;
      return ATTN2C_OK;
    }
    attn2c_say(message, "-r: '%s', but 1 to %d is allowed", value, ATTN2C_MAX_REPETITIONS);
    return ATTN2C_USAGE;
  default: /* 'o' */
    if (arguments->command == ATTN2C_COMMAND_PACK) return once(&arguments->packed, value, "-o", message);
    if (strcmp(value, "md") == 0) {
      arguments->format = ATTN2C_FORMAT_MD;
    } else if (strcmp(value, "json") == 0) {
      arguments->format = ATTN2C_FORMAT_JSON;
    } else if (strcmp(value, "csv") == 0) {
      arguments->format = ATTN2C_FORMAT_CSV;
    } else {
      attn2c_say(message, "-o: '%s', but md, json or csv is allowed", value);
      return ATTN2C_USAGE;
    }
    return ATTN2C_OK;
  }
}

static const char *option_name(const void *list, int i) { return ((const struct option *)list)[i].name; }
static const char *command_name(const void *list, int i) {
  (void)list;
  return commands[ATTN2C_COMMAND_INFO + i].name;
}

/* Reports an unknown option of a command, with the option that resembles it, or with all options. */
static void refuse_option(const char *word, const char *command, attn2c_arguments *arguments,
                          attn2c_message *message) {
  const struct option *options = commands[arguments->command].options;
  char name[64];
  int count = 0;
  while (options[count].name) count++;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  const char *near =
      strncmp(name, "--", 2) == 0 ? attn2c_nearest(name + 2, count, option_name, options) : NULL;
  if (near)
    attn2c_say(message, "%s: no option '%s'; did you mean --%s?", command, word, near);
  else
    attn2c_say(message, "%s: no option '%s'; allowed are %s", command, word,
               commands[arguments->command].allowed);
}

/* Reports an option that getopt_long refused: argv[optind - 1] has the word, or optopt the letter. */
static void refuse(int option, char **argv, const char *command, attn2c_arguments *arguments,
                   attn2c_message *message) {
  const char *word = argv[optind - 1];
  if (option == ':') {
    attn2c_say(message, "%s: %s needs a value", command, word);
  } else if (optopt == 0) {
    refuse_option(word, command, arguments, message);
  } else if (optopt >= OPTION_JSON || strncmp(word, "--", 2) == 0) {
    attn2c_say(message, "%s: '%s' has a value, but none is allowed", command, word);
  } else {
    attn2c_say(message, "%s: no option '-%c'; allowed are %s", command, optopt,
               commands[arguments->command].allowed);
  }
}

static int parse_options(int argc, char **argv, attn2c_arguments *arguments, attn2c_message *message) {
  const char *command = commands[arguments->command].name;
  int status = ATTN2C_OK, option, is_refused = 0;
  opterr = 0;
  optind = 0; /* 0 resets getopt_long, because parse may be called again */
  while ((option = getopt_long(argc, argv, commands[arguments->command].letters,
                               commands[arguments->command].options, NULL)) != -1) {
    int taken = ATTN2C_OK;
    switch (option) {
    case 'h':
      arguments->help = 1;
      break;
    case 'v':
      arguments->verbose = 1;
      break;
    case OPTION_JSON:
      arguments->json = 1;
      break;
    case OPTION_LICENSES:
      arguments->licenses = 1;
      break;
    case OPTION_NAN:
      arguments->nan = 1;
      break;
    case OPTION_PROFILE:
      arguments->profile = 1;
      break;
    case OPTION_BOUND:
      arguments->bound = 1;
      break;
    case OPTION_SIMILAR:
      arguments->similar = 1;
      break;
    case '?':
    case ':':
      refuse(option, argv, command, arguments, message);
      is_refused = 1;
      taken = ATTN2C_USAGE;
      break;
    default:
      taken = take_value(option, optarg, arguments, message);
      break;
    }
    if (taken != ATTN2C_OK) status = taken;
  }
  if (arguments->compare != NULL && arguments->format != ATTN2C_FORMAT_MD) {
    attn2c_say(message, "--compare: goes with -o md, the default");
    status = ATTN2C_USAGE;
  }
  if (arguments->length > 0 && (arguments->profile || arguments->bound)) {
    attn2c_say(message, "--length: does not go with --profile or --bound, which measure whole entries");
    status = ATTN2C_USAGE;
  }
  /* After an unknown option, the next word may be its value and is not reported. */
  for (; optind < argc && !is_refused; optind++) {
    if (arguments->command == ATTN2C_COMMAND_RUN)
      attn2c_say(message,
                 "run: '%s' is not an option; a value follows its option: --text WORD, --input X.npy",
                 argv[optind]);
    else
      attn2c_say(message, "%s: '%s' is not an option; allowed are %s", command, argv[optind],
                 commands[arguments->command].allowed);
    status = ATTN2C_USAGE;
  }
  return status;
}

int attn2c_arguments_parse(int argc, char **argv, attn2c_arguments *arguments, attn2c_message *message) {
  *arguments = (attn2c_arguments){.path = argc > 0 ? argv[0] : NULL, .seed = 1, .stride = -1};
  snprintf(arguments->program, sizeof arguments->program, "%s", attn2c_program_name(arguments->path));
  attn2c_printable(arguments->program);
  if (arguments->path == NULL) arguments->path = arguments->program;
  if (argc < 2) {
    attn2c_say(message, "a command is needed: info, run, check, bench or pack (--help explains them)");
    return ATTN2C_USAGE;
  }
  if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
    arguments->help = 1;
    return ATTN2C_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    arguments->version = 1;
    return ATTN2C_OK;
  }
  for (int i = ATTN2C_COMMAND_INFO; i <= ATTN2C_COMMAND_PACK; i++) {
    if (strcmp(argv[1], commands[i].name) == 0) arguments->command = (attn2c_command)i;
  }
  if (arguments->command == ATTN2C_COMMAND_NONE) {
    const char *near = attn2c_nearest(argv[1], ATTN2C_COMMAND_PACK, command_name, NULL);
    if (near)
      attn2c_say(message, "no command '%s'; did you mean %s?", argv[1], near);
    else
      attn2c_say(message,
                 "no command '%s'; allowed are info, run, check, bench and pack (--help explains them)",
                 argv[1]);
    return ATTN2C_USAGE;
  }
  arguments->inputs = calloc((size_t)argc, sizeof *arguments->inputs);
  arguments->outputs = calloc((size_t)argc, sizeof *arguments->outputs);
  arguments->texts = calloc((size_t)argc, sizeof *arguments->texts);
  arguments->pairs = calloc((size_t)argc, sizeof *arguments->pairs);
  arguments->queries = calloc((size_t)argc, sizeof *arguments->queries);
  if (arguments->inputs == NULL || arguments->outputs == NULL || arguments->texts == NULL ||
      arguments->pairs == NULL || arguments->queries == NULL) {
    attn2c_say(message, "no memory for %d arguments", argc);
    return ATTN2C_MEMORY;
  }
  return parse_options(argc - 1, argv + 1, arguments, message);
}

void attn2c_arguments_free(attn2c_arguments *arguments) {
  free(arguments->inputs);
  free(arguments->outputs);
  free(arguments->texts);
  free(arguments->pairs);
  free(arguments->queries);
  arguments->inputs = arguments->outputs = NULL;
  arguments->texts = arguments->pairs = arguments->queries = NULL;
}

int attn2c_asks_text(const attn2c_arguments *arguments) {
  return arguments->text_count > 0 || arguments->pair_count > 0 || arguments->query_count > 0 ||
         arguments->answers != ATTN2C_ANSWERS_NONE || arguments->top > 0 || arguments->similar ||
         arguments->stride >= 0;
}

void attn2c_arguments_version(const attn2c_descriptor *model, FILE *out) {
  fprintf(out, "%s, compiled by attn2c %s from %s (%s) for %s\n", model->name, model->generator,
          model->description, model->description_hash, model->target);
}
