/* arguments.c - reads the command line with getopt_long. Its own messages are off: they
 * do not say what is allowed. Every fault is collected, so that one run shows them all. */
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

/* A decimal without sign; 1 when all of the text is one and no more than `most`. */
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

/* An unknown option of a command: the one that resembles it, or all that there are. */
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

/* What getopt_long could not take: it left the word in argv[optind - 1], or a letter in optopt. */
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
  optind = 0; /* start afresh: parse may be called again */
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
    attn2c_say(message, "--length: does not go with --profile or --bound, which are of whole entries");
    status = ATTN2C_USAGE;
  }
  /* After an option that is not known, a word may be its value. */
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

static const char program_help[] =
    "  info   inputs, outputs, shapes, weights, operations, memory, kernels, licences\n"
    "  run    compute outputs from inputs and weights\n"
    "  check  compare every tensor with a plain reference\n"
    "  bench  time it beside this machine's own limit\n"
    "  pack   write the weights as they lie in memory: a file that opens in milliseconds\n"
    "\n"
    "COMMAND --help tells more; --version says what was compiled by what. Exit codes: 0 done; 1 a comparison "
    "failed; 2 wrong usage;\n"
    "3 a malformed input file; 4 input or output failed; 5 out of memory; 6 this machine\n"
    "cannot run it.\n";

static const char info_help[] =
    "Prints what this model is: inputs, outputs, shapes, weights, parameters, floating-point\n"
    "operations, bytes of the arena, kernels, target.\n"
    "\n"
    "  --json      as JSON, with the list of kernel shapes\n"
    "  --licenses  the licences of what is linked in\n"
    "  -h, --help  this text\n";

static const char run_help[] =
    "Computes the outputs that are asked for.\n"
    "\n"
    "  --weights F           checkpoint, safetensors, or what pack wrote; of a model that has its\n"
    "                        weights in itself: others in their place\n"
    "  --input [NAME=]X.npy  an input, each given once; NAME= may be left out where there is one\n"
    "  --output [NAME=]Y.npy an output to write; NAME= may be left out where there is one;\n"
    "                        NAME=- prints it\n"
    "  --entry NAME          of a model with several: which one (default: those that fit at the least cost)\n"
    "  -v, --verbose         name the tensors of the checkpoint that the model does not use\n"
    "  -h, --help            this text\n"
    "\n"
    "Arrays are NumPy files in C or Fortran order: floats of 16 to 64 bits, integers of 8 to 64\n"
    "bits for ids, lengths and masks, bool for masks. An array may hold any number of sequences\n"
    "from 1: they are processed batch by batch, and a partial batch is padded. Sequences may be\n"
    "shorter than the model's where it can mask what is missing: with lengths, attention_mask or\n"
    "a causal mask, or if it was made for a list of lengths. All inputs must agree on both\n"
    "numbers, and outputs have them, too.\n"
    "What stands before the first '=' is taken as NAME unless it holds a '/'.\n";

static const char check_help[] =
    "Compares every tensor with a plain reference that accumulates in double; exit 0 only if\n"
    "all pass.\n"
    "\n"
    "  --weights F           checkpoint, safetensors, or what pack wrote, whose checksum is compared;\n"
    "                        without it: the model's own, or seeded random weights\n"
    "  --input [NAME=]X.npy  an input of exactly the model's batch; those not given: random\n"
    "  --entry NAME          of a model with several lengths: whose input --input gives (default: that of\n"
    "                        the longest); all are checked, the others on random inputs\n"
    "  --seed K              of the random weights and inputs (default 1)\n"
    "  --nan                 instead: NaN and infinity are planted, in one place at a time, in every\n"
    "                        input and table and in what masks hide; they must reach exactly the\n"
    "                        outputs that they reach in the reference\n"
    "  --json                the result as JSON\n"
    "  -h, --help            this text\n";

static const char bench_help[] =
    "Verifies, then times the model on seeded random inputs; lengths are full. The roof is the\n"
    "median rate of the best two of nine fixed kernel shapes (m 32, 48, 64, n 24, 32, 64, K 768\n"
    "in blocks of 64) on operands in cache, on as many threads, measured between the\n"
    "repetitions. A repetition of a short model is as many calls as last 200 microseconds.\n"
    "\n"
    "  --weights F         checkpoint, safetensors, or what pack wrote; without it: the model's own,\n"
    "                      or seeded random weights\n"
    "  -r, --reps REPS     repetitions, 1 to 1000000 (default: as many as last about a second,\n"
    "                      7 to 2000)\n"
    "  -o, --format FORMAT md (default), json (one object an entry) or csv\n"
    "  --length N          instead: a call of N tokens a sequence, padded to the entry that it fits in\n"
    "  --compare OLD.json  the times beside those of an earlier bench -o json: old, new, their ratio, and\n"
    "                      whether they differ by more than their spread; never a failure (with -o md)\n"
    "  --profile           the time of each kind of operation and of each section as well\n"
    "  --bound             the time that the call would take with each product at the best rate\n"
    "                      that any tile reaches on the model's own weights, and each attention\n"
    "                      kernel and row operation on operands in cache; part by part\n"
    "  -h, --help          this text\n";

static const char pack_help[] =
    "Writes the weights as they lie in memory once the model is open. run, check, bench and the\n"
    "library's open take the file wherever they take a checkpoint: it is mapped, read as it is\n"
    "used, and shared by all processes that use it. It is for this build of this model: another\n"
    "refuses it. Replace it by a new file, as this command does; never write into it.\n"
    "\n"
    "  --weights F        checkpoint, safetensors\n"
    "  -o, --output FILE  the file to write, such as NAME.weights\n"
    "  --verify FILE      instead: read such a file whole and compare it with its checksum\n"
    "  -h, --help         this text\n";

void attn2c_arguments_version(const attn2c_descriptor *model, FILE *out) {
  fprintf(out, "%s, compiled by attn2c %s from %s (%s) for %s\n", model->name, model->generator,
          model->description, model->description_hash, model->target);
}

void attn2c_arguments_help(const attn2c_arguments *arguments, const attn2c_descriptor *model, FILE *out) {
  const char *program = arguments->program;
  switch (arguments->command) {
  case ATTN2C_COMMAND_NONE:
    fprintf(out,
            "Usage: %s COMMAND [OPTION...]\n       %s --version\n\nThe model '%s', compiled by attn2c.\n\n%s",
            program, program, model->name, program_help);
    break;
  case ATTN2C_COMMAND_INFO:
    fprintf(out, "Usage: %s info [--json] [--licenses]\n\n%s", program, info_help);
    break;
  case ATTN2C_COMMAND_RUN:
    fprintf(out,
            "Usage: %s run --weights F.safetensors --input [NAME=]X.npy ... --output [NAME=]Y.npy ... "
            "[--entry NAME] [-v]\n\n%s",
            program, run_help);
    break;
  case ATTN2C_COMMAND_CHECK:
    fprintf(out,
            "Usage: %s check [--weights F] [--input [NAME=]X.npy ...] [--entry NAME] [--seed K] [--nan] "
            "[--json]\n\n%s",
            program, check_help);
    break;
  case ATTN2C_COMMAND_BENCH:
    fprintf(out,
            "Usage: %s bench [--weights F] [-r REPS] [-o md|json|csv] [--length N] [--profile] [--bound] "
            "[--compare OLD.json]\n\n%s",
            program, bench_help);
    break;
  case ATTN2C_COMMAND_PACK:
    fprintf(out, "Usage: %s pack --weights F.safetensors -o FILE\n       %s pack --verify FILE\n\n%s",
            program, program, pack_help);
    break;
  }
}
