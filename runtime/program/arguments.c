/* arguments.c - reads the command line with getopt_long. The messages of getopt_long are off, because they do
 * not say what is allowed. Every fault is collected, so that one run shows them all. */
#include "base/generation.h"
#include "model/model.h"
#include "base/picture_facts.h"
#include "base/sound_facts.h"
#include "program/arguments.h"
#include "program/serve/command.h"
#include "system/system.h"

#include <errno.h>
#include <getopt.h>

/* getopt_long returns FIRST_OPTION and the index of an option's row, or its letter. */
enum { FIRST_OPTION = 256, ALLOWED_BYTES = 400 };

typedef attn2c_option option_row;

static const char *const commands[] = {"",     "info",     "run",  "check",     "bench",
                                       "pack", "generate", "chat", "perplexity"};

static const char *name_of_command(attn2c_command command) {
  return command == ATTN2C_COMMAND_SERVE ? attn2c_the_server->name : commands[command];
}

/* True if the model continues its sequences, and has the commands for that. */
static int continues(void) { return &attn2c_the_generation != NULL; }

int attn2c_option_is_offered(const option_row *row) {
  const attn2c_descriptor *model = attn2c_the_program.model;
  if (strcmp(row->name, "--adapter") == 0) return model->adapters != NULL;
  return row->kind != ATTN2C_OPTION_THREADS || attn2c_most_threads(model) > 1;
}

static int is_option_of(const option_row *row, attn2c_command command) {
  return row->commands >> command & 1 && attn2c_option_is_offered(row);
}

/* Returns the last part of a path, or "attn2c" if it has none. */
static const char *name_of(const char *path) {
  if (path == NULL) return "attn2c";
  const char *slash = attn2c_system_slash(path);
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

/* Returns the name of an option in messages: its letter if it has one and takes a value. */
static const char *shown(const option_row *row) {
  return row->letter && row->value ? row->letter : row->name;
}

static void *at(attn2c_arguments *arguments, size_t place) { return (char *)arguments + place; }

/* Returns the place of the list that option number i fills; NULL: it fills none. Options may share one. */
static void **list_at(attn2c_arguments *arguments, int i) {
  const option_row *row = attn2c_option_at(i);
  const int is_list = row->kind == ATTN2C_OPTION_PATH || row->kind == ATTN2C_OPTION_TEXT;
  return is_list && row->place ? at(arguments, row->place) : NULL;
}

/* Adds a word to a list of texts. */
static void add_text(const option_row *row, const char *value, attn2c_arguments *arguments) {
  attn2c_text_word *list = *(attn2c_text_word **)at(arguments, row->place);
  attn2c_text_kind kind = (attn2c_text_kind)row->least;
  /* `--prompt -` is the standard input; `--text-string -` is a text. */
  if (row->commands & 1U << ATTN2C_COMMAND_GENERATE && strcmp(value, "-") == 0) kind = ATTN2C_TEXT_FILE;
  list[(*(int *)at(arguments, row->count))++] = (attn2c_text_word){kind, value, row->name};
}

static int read_word(const option_row *row, const char *value, int *place, attn2c_message *message) {
  const int number = attn2c_number_of_word(row->words, value);
  if (number < 0)
    return attn2c_fail(message, ATTN2C_USAGE, "%s: '%s', but %s is allowed", shown(row), value, row->words);
  *place = (int)row->least + number;
  return ATTN2C_OK;
}

static int read_number(const option_row *row, const char *value, uint64_t *number, attn2c_message *message) {
  const int is_of_threads = row->kind == ATTN2C_OPTION_THREADS;
  const unsigned long long least = row->least;
  const unsigned long long most =
      is_of_threads ? (unsigned long long)attn2c_most_threads(attn2c_the_program.model) : row->most;
  if (read_decimal(value, most, number) && *number >= least) return ATTN2C_OK;
  if (row->kind == ATTN2C_OPTION_TOKENS)
    attn2c_say(message, "%s: '%s', but a number of tokens from %llu is allowed", shown(row), value, least);
  else
    attn2c_say(message, "%s: '%s', but %llu to %llu is allowed", shown(row), value, least, most);
  return ATTN2C_USAGE;
}

/* Reads a decimal number; ranges are checked where the number is used. */
static int read_real(const option_row *row, const char *value, attn2c_real *real, attn2c_message *message) {
  char *end = NULL;
  real->value = strtod(value, &end);
  real->is_given = 1;
  if (end > value && *end == '\0' && strspn(value, "+-.0123456789eE") == strlen(value)) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_USAGE, "%s: '%s', but a number is allowed", shown(row), value);
}

/* Reads the value of an option, or NULL if it has none, into the arguments. Reports a fault. */
static int read_option(const option_row *row, const char *value, attn2c_arguments *arguments,
                       attn2c_message *message) {
  void *place = at(arguments, row->place);
  const char **word = place;
  uint64_t number;
  switch (row->kind) {
  case ATTN2C_OPTION_FLAG:
    *(int *)place = 1;
    return ATTN2C_OK;
  case ATTN2C_OPTION_ONCE:
    if (*word != NULL)
      return attn2c_fail(message, ATTN2C_USAGE, "%s: given twice, but one is allowed", shown(row));
    *word = value;
    return ATTN2C_OK;
  case ATTN2C_OPTION_PATH:
    (*(const char ***)place)[(*(int *)at(arguments, row->count))++] = value;
    return ATTN2C_OK;
  case ATTN2C_OPTION_TEXT:
    add_text(row, value, arguments);
    return ATTN2C_OK;
  case ATTN2C_OPTION_WORD:
    return read_word(row, value, place, message);
  case ATTN2C_OPTION_REAL:
    return read_real(row, value, place, message);
  default:
    ATTN2C_TRY(read_number(row, value, &number, message));
  }
  if (row->kind == ATTN2C_OPTION_TOKENS)
    *(int64_t *)place = (int64_t)number;
  else if (row->kind == ATTN2C_OPTION_SEED)
    *(uint64_t *)place = number;
  else
    *(int *)place = (int)number;
  if (row->kind == ATTN2C_OPTION_SEED && row->count) *(int *)at(arguments, row->count) = 1;
  return ATTN2C_OK;
}

/* The options of one command, as getopt_long takes them. */
typedef struct {
  struct option list[ATTN2C_ROWS + 1];
  int count;
  char letters[2 * ATTN2C_ROWS + 2];
} option_list;

static option_list options_of(attn2c_command command) {
  option_list options = {.letters = ":"};
  char *letter = options.letters + 1;
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    if (!is_option_of(attn2c_option_at(i), command)) continue;
    const int has_value = attn2c_option_at(i)->value != NULL;
    options.list[options.count++] = (struct option){
        attn2c_option_at(i)->name + 2, has_value ? required_argument : no_argument, NULL, FIRST_OPTION + i};
    if (attn2c_option_at(i)->letter) *letter++ = attn2c_option_at(i)->letter[1];
    if (attn2c_option_at(i)->letter && has_value) *letter++ = ':';
  }
  return options;
}

/* Returns the row of what getopt_long returned. */
static const option_row *row_of(int option, attn2c_command command) {
  if (option >= FIRST_OPTION) return attn2c_option_at(option - FIRST_OPTION);
  int i = 0;
  const option_row *row = attn2c_option_at(i);
  while (!row->letter || row->letter[1] != option || !is_option_of(row, command)) row = attn2c_option_at(++i);
  return row;
}

/* The arguments without any option. */
static const attn2c_arguments no_option = {.seed = 1,
                                           .stride = -1,
                                           .serve = {.port = -1},
                                           .generate = {.tokens = -1,
                                                        .top_k = -1,
                                                        .beams = -1,
                                                        .no_repeat_ngram = -1,
                                                        .min_tokens = -1,
                                                        .n_best = -1,
                                                        .mirostat = -1,
                                                        .dry_allowed_length = -1,
                                                        .dry_last_n = -1,
                                                        .early_stopping = -1}};

/* A row without a place only describes an option that another row reads. */
static int is_given(const option_row *row, const attn2c_arguments *arguments) {
  const size_t place = row->count ? row->count : row->place;
  const size_t bytes = row->kind == ATTN2C_OPTION_ONCE     ? sizeof(char *)
                       : row->kind == ATTN2C_OPTION_TOKENS ? sizeof(int64_t)
                                                           : sizeof(int);
  return place && memcmp((const char *)arguments + place, (const char *)&no_option + place, bytes) != 0;
}

const char *attn2c_first_given(const attn2c_arguments *arguments, const char *names) {
  for (size_t length; *names; names += length, names += *names == ' ') {
    length = strcspn(names, " ");
    for (int i = 0; i < ATTN2C_ROWS; i++) {
      const option_row *row = attn2c_option_at(i);
      if (row->name && strlen(row->name) == length && memcmp(row->name, names, length) == 0 &&
          is_given(row, arguments))
        return row->name;
    }
  }
  return NULL;
}

/* True if messages offer an option of a command: not a second name, nor one for pictures, sounds or texts if
 * the model takes none. */
static int is_offered(const option_row *row, attn2c_command command) {
  const unsigned parts = ATTN2C_HELP_OF_PICTURES | ATTN2C_HELP_OF_SOUNDS | ATTN2C_HELP_OF_TEXTS;
  const unsigned media =
      (&attn2c_the_pictures ? ATTN2C_HELP_OF_PICTURES : 0) | (&attn2c_the_sounds ? ATTN2C_HELP_OF_SOUNDS : 0);
  const unsigned taken = media | (&attn2c_the_text || media ? ATTN2C_HELP_OF_TEXTS : 0);
  return is_option_of(row, command) && (!row->words || *row->words) &&
         (!(row->commands & parts) || row->commands & taken);
}

/* Writes the names of a command's options, or which command lists them if they are many. */
static const char *allowed(attn2c_command command, char text[ALLOWED_BYTES]) {
  size_t length = 0;
  for (int i = 0; i < ATTN2C_ROWS && length < ALLOWED_BYTES; i++) {
    if (!is_offered(attn2c_option_at(i), command)) continue;
    length += (size_t)snprintf(text + length, ALLOWED_BYTES - length, "%s%s", length ? ", " : "allowed are ",
                               shown(attn2c_option_at(i)));
  }
  if (length >= ALLOWED_BYTES)
    snprintf(text, ALLOWED_BYTES, "%s --help lists them", name_of_command(command));
  return text;
}

/* Options of other programs, each between blanks, and the option of the same meaning. */
static const struct {
  const char *names, *meant;
} elsewhere[] = {{" -m --model --checkpoint ", "--weights"},
                 {" -p ", "--prompt"},
                 {" -n --n-predict --num-predict --max-new-tokens ", "--tokens"},
                 {" --num-beams --beam-size ", "--beams"},
                 {" --num-return-sequences ", "--n-best"},
                 {" --repeat-penalty ", "--repetition-penalty"},
                 {" -l --lang ", "--language"},
                 {" -t --num-threads ", "--threads"},
                 {" --lora ", "--adapter"},
                 {" --repetitions ", "--reps"},
                 {" --output ", "--format"},
                 {" -i ", "--input"},
                 {" -o ", "--output"}};

/* Returns the row of a command's option that a word means, also one that the model cannot have, or NULL. */
static const option_row *row_meant(const char *word, attn2c_command command) {
  char name[64] = " ";
  size_t length = 1;
  for (const char *at = word; *at && *at != '=' && length < sizeof name - 2; at++)
    name[length++] = (char)(*at == '_' ? '-' : *at);
  const char *meant = name + 1;
  name[length] = ' ';
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (strstr(elsewhere[i].names, name)) meant = elsewhere[i].meant;
  name[length] = '\0';
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    const option_row *row = attn2c_option_at(i);
    if (row->name && row->commands >> command & 1 && strcmp(row->name, meant) == 0) return row;
  }
  return NULL;
}

static const char *option_name(const void *list, int i) { return ((const char *const *)list)[i]; }
static const char *command_name(const void *list, int i) {
  (void)list;
  const int of_server = continues() ? ATTN2C_COMMAND_PERPLEXITY : ATTN2C_COMMAND_PACK;
  return i < of_server ? commands[ATTN2C_COMMAND_INFO + i] : attn2c_the_server->name;
}

/* Reports an unknown option of a command, with the option that is meant or resembles it, or with all options.
 */
static void refuse_option(const char *word, attn2c_command command, attn2c_message *message) {
  char name[64], text[ALLOWED_BYTES];
  const option_row *meant = row_meant(word, command);
  const char *names[ATTN2C_ROWS];
  int count = 0;
  for (int i = 0; i < ATTN2C_ROWS; i++)
    if (is_offered(attn2c_option_at(i), command)) names[count++] = attn2c_option_at(i)->name + 2;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
  const char *near = strncmp(name, "--", 2) == 0 ? attn2c_nearest(name + 2, count, option_name, names) : NULL;
  if (meant && is_offered(meant, command)) near = meant->name + 2;
  if (meant && !attn2c_option_is_offered(meant))
    attn2c_say(message, "%s: no option '%s': this model was built %s", name_of_command(command), word,
               meant->kind == ATTN2C_OPTION_THREADS ? "for one thread; build it with threads=N"
                                                    : "without adapters; build it with adapters.NAME=FOLDER");
  else if (near)
    attn2c_say(message, "%s: no option '%s'; did you mean --%s?", name_of_command(command), word, near);
  else
    attn2c_say(message, "%s: no option '%s'; %s", name_of_command(command), word, allowed(command, text));
}

/* Reports an option that getopt_long refused: argv[optind - 1] has the word, or optopt the letter. */
static void refuse(int option, char **argv, attn2c_command command, attn2c_message *message) {
  const char letter[] = {'-', (char)optopt, '\0'};
  const char *word = argv[optind - 1];
  if (option == ':')
    attn2c_say(message, "%s: %s needs a value", name_of_command(command), word);
  else if (optopt == 0)
    refuse_option(word, command, message);
  else if (optopt >= FIRST_OPTION || strncmp(word, "--", 2) == 0)
    attn2c_say(message, "%s: '%s' has a value, but none is allowed", name_of_command(command), word);
  else
    refuse_option(letter, command, message);
}

static int parse_options(int argc, char **argv, attn2c_arguments *arguments, attn2c_message *message) {
  const attn2c_command command = arguments->command;
  const option_list options = options_of(command);
  int status = ATTN2C_OK, option, is_refused = 0;
  opterr = 0;
  optind = 0; /* 0 resets getopt_long, because parse may be called again */
  while ((option = getopt_long(argc, argv, options.letters, options.list, NULL)) != -1) {
    const int is_unknown = option == '?' || option == ':';
    int taken = ATTN2C_USAGE;
    if (is_unknown) {
      refuse(option, argv, command, message);
      is_refused = 1;
    } else {
      taken = read_option(row_of(option, command), optarg, arguments, message);
    }
    if (taken != ATTN2C_OK) status = taken;
  }
  if (arguments->compare != NULL && arguments->format != ATTN2C_FORMAT_MD)
    status = attn2c_fail(message, ATTN2C_USAGE, "--compare: goes with -o md, the default");
  /* After an unknown option, the next word may be its value and is not reported. */
  char text[ALLOWED_BYTES];
  for (; optind < argc && !is_refused; optind++) {
    if (command == ATTN2C_COMMAND_GENERATE && strcmp(argv[optind], "-") == 0) {
      arguments->texts[arguments->text_count++] = (attn2c_text_word){ATTN2C_TEXT_FILE, "-", "--prompt"};
      continue;
    }
    const char *values = command == ATTN2C_COMMAND_RUN        ? "--text WORD, --input X.npy"
                         : command == ATTN2C_COMMAND_GENERATE ? "--weights F, --prompt TEXT"
                                                              : NULL;
    if (values)
      attn2c_say(message, "%s: '%s' is not an option; a value follows its option: %s",
                 name_of_command(command), argv[optind], values);
    else
      attn2c_say(message, "%s: '%s' is not an option; %s", name_of_command(command), argv[optind],
                 allowed(command, text));
    status = ATTN2C_USAGE;
  }
  return status;
}

/* Returns what a list of commands ends with. */
static const char *also_served(void) {
  static char text[32];
  if (&attn2c_the_server) snprintf(text, sizeof text, ", %s", attn2c_the_server->name);
  return text;
}

int attn2c_arguments_parse(int argc, char **argv, attn2c_arguments *arguments, attn2c_message *message) {
  *arguments = no_option;
  arguments->path = argc > 0 ? argv[0] : NULL;
  snprintf(arguments->program, sizeof arguments->program, "%s", name_of(arguments->path));
  attn2c_printable(arguments->program);
  if (arguments->path == NULL) arguments->path = arguments->program;
  if (argc < 2)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "a command is needed: info, run, check, bench%s%s (--help explains them)",
                       continues() ? ", pack, generate, chat or perplexity" : " or pack", also_served());
  if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
    arguments->help = 1;
    return ATTN2C_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    arguments->version = 1;
    return ATTN2C_OK;
  }
  for (int i = ATTN2C_COMMAND_INFO; i <= ATTN2C_COMMAND_SERVE - !&attn2c_the_server; i++) {
    if (strcmp(argv[1], name_of_command((attn2c_command)i)) == 0) arguments->command = (attn2c_command)i;
  }
  if (strcmp(argv[1], "serve") == 0 && arguments->command == ATTN2C_COMMAND_NONE)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "serve: this program was built without it; build it with --serve");
  if (arguments->command == ATTN2C_COMMAND_NONE) {
    const int count = (continues() ? ATTN2C_COMMAND_PERPLEXITY : ATTN2C_COMMAND_PACK) + !!&attn2c_the_server;
    const char *near = attn2c_nearest(argv[1], count, command_name, NULL);
    if (near)
      attn2c_say(message, "no command '%s'; did you mean %s?", argv[1], near);
    else
      attn2c_say(message, "%s '%s'; allowed are info, run, check, bench%s%s (--help explains them)",
                 argv[1][0] == '-' ? "a command comes before" : "no command", argv[1],
                 continues() ? ", pack, generate, chat and perplexity" : " and pack", also_served());
    return ATTN2C_USAGE;
  }
  if (!continues() && arguments->command >= ATTN2C_COMMAND_GENERATE &&
      arguments->command <= ATTN2C_COMMAND_PERPLEXITY)
    return attn2c_fail(message, ATTN2C_USAGE,
                       "%s: this model does not continue sequences: its description has no key `context`",
                       argv[1]);
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    void **list = list_at(arguments, i);
    if (!list || *list) continue;
    *list = calloc((size_t)argc, sizeof(attn2c_text_word)); /* the largest member of a list */
    if (!*list) return attn2c_fail(message, ATTN2C_MEMORY, "no memory for %d arguments", argc);
  }
  return parse_options(argc - 1, argv + 1, arguments, message);
}

void attn2c_arguments_free(attn2c_arguments *arguments) {
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    void **list = list_at(arguments, i);
    if (list) free(*list), *list = NULL;
  }
}

int attn2c_asks_text(const attn2c_arguments *arguments) {
  return arguments->text_count > 0 || arguments->pair_count > 0 || arguments->query_count > 0 ||
         arguments->box_count > 0 || arguments->answers != ATTN2C_ANSWERS_NONE || arguments->top > 0 ||
         arguments->similar || arguments->stride >= 0 || arguments->rank || arguments->cache ||
         arguments->prompt || arguments->answer || arguments->dimensions > 0 || arguments->label_count > 0;
}

void attn2c_arguments_version(const attn2c_descriptor *model, FILE *out) {
  fprintf(out, "%s, compiled by attn2c %s from %s (%s) for %s\n", model->name, model->generator,
          model->description, model->description_hash, model->target);
}
