/* help.c - the text of --help. The options are in the table of options.c. The manual page attn2c-program(1)
 * is made from both tables (gen/deploy/program_manual.lua). */
#include "base/generation.h"
#include "base/picture_facts.h"
#include "base/sound_facts.h"
#include "program/serve/command.h"

/* usage: the words after the command's name, one line for each form. */
static const attn2c_help_page pages[] = {
    {"info", "[OPTION...]",
     "Prints what this model is: inputs, outputs, shapes, weights, parameters, floating-point\n"
     "operations, bytes of the arena, kernels, target.\n",
     ""},
    {"run", "--weights F.safetensors --input [NAME=]X.npy ... --output [NAME=]Y.npy ... [OPTION...]",
     "Computes the outputs that are asked for.\n",
     "Arrays are NumPy files in C or Fortran order: floats of 16 to 64 bits, integers of 8 to 64\n"
     "bits for ids, lengths and masks, bool for masks. An array may hold any number of sequences\n"
     "from 1: they are processed batch by batch, and a partial batch is padded. All inputs must\n"
     "agree on their number, and outputs have it, too. A model of any length takes shorter\n"
     "sequences, also of different lengths: the rows of all, one after the other, with\n"
     "lengths=L.npy, the rows of each.\n"
     "The text before the first '=' is NAME unless it has a '/'.\n"},
    {"check", "[OPTION...]",
     "Compares every tensor with a plain reference that accumulates in double; exit 0 only if\n"
     "all pass.\n",
     ""},
    {"bench", "[OPTION...]",
     "Verifies the model, then times it on seeded random inputs of full length. For a short model,\n"
     "a repetition is the calls of 200 microseconds. The roof is the median rate of the best two of\n"
     "nine kernel shapes (m 32, 48, 64, n 24, 32, 64, K 768 in blocks of 64). Their operands are in\n"
     "the cache. They are timed between the repetitions, on the same number of threads. A model with\n"
     "a context reads prompts of 512 and 16 tokens. It also decodes a token of one sequence and of\n"
     "all, at positions 0 and 1,000. The rate at which memory is read is printed, too.\n",
     ""},
    {"pack", "--weights F.safetensors -o FILE\n--verify FILE",
     "Writes the weights in the layout that they have in memory. run, check, bench and the\n"
     "library's open take the file wherever they take a checkpoint: it is mapped, read as it is\n"
     "used, and shared by all processes that use it. It is for this build of this model, and\n"
     "others refuse it. Replace it by a new file, as this command does; never write into it.\n",
     ""},
    {"generate", "--weights F --prompt TEXT|- [OPTION...]\n--weights F --input ids=X.npy [OPTION...]",
     "Continues prompts, several side by side.\n",
     "An answer ends before a --stop text, after a stop token of the model's folder, after --tokens\n"
     "tokens, or where the model's context ends. Answers come in the order of their prompts, and none\n"
     "depends on the others. The options of drawing mean what they mean in Hugging Face's\n"
     "transformers. Their defaults are the folder's, and transformers' for those that it leaves out.\n"},
    {"chat", "--weights F [--system TEXT] [--format jsonl] [OPTION...]",
     "Answers turn by turn, each line of the standard input a turn, in the form of the model's chat\n"
     "template.\n",
     "Ctrl-C ends an answer, and at the prompt the line. An empty line is left out; the end of the input\n"
     "(Ctrl-D) ends the chat. The model reads only what is new in a turn.\n"},
    {"perplexity", "--weights F --text-file F [OPTION...]",
     "Prints e to the mean negative log-likelihood of a text's tokens.\n",
     "Each token but the first is predicted once, from the tokens before it in its window. Windows are as\n"
     "long as the model's context; each predicts the tokens after those that it shares with the window\n"
     "before. So a token has at least --stride tokens before it, except in the first window.\n"},
};

/* The part of the help of `run` for models that take text. */
static const attn2c_help_page text_page = {
    "run", "--weights F --text TEXT|FILE|- ... [OPTION...]", "Text instead of inputs:\n",
    "Texts that are longer than the model takes are cut; a line at the end gives their number. A line that\n"
    "cannot be answered ends the run after the answers before it, and the message gives its number.\n"};

static const char commands_of_generation[] = "  generate    continue prompts\n"
                                             "  chat        answer turn by turn\n"
                                             "  perplexity  measure how well the model predicts a text\n";

static const char commands_text[] =
    "  info        inputs, outputs, shapes, weights, operations, memory, kernels, licences\n"
    "  run         compute outputs from inputs and weights\n"
    "  check       compare every tensor with a plain reference\n"
    "  bench       time it and this machine's own limit\n"
    "  pack        write the weights in their layout in memory: a file that opens in milliseconds\n";

static const char after_commands[] =
    "\n"
    "COMMAND --help explains a command; --version prints the versions of model and compiler.\n"
    "Exit codes: 0 done; 1 a comparison failed; 2 wrong usage; 3 a malformed input file; 4 input\n"
    "or output failed; 5 out of memory; 6 this machine cannot run it.\n";

/* Prints the lines of `usage`, each after "Usage: PROGRAM COMMAND ". */
static void print_usage(const char *program, const char *command, const char *usage, FILE *out) {
  for (const char *line = usage; *line;) {
    const int length = (int)strcspn(line, "\n");
    fprintf(out, "%s %s %s %.*s\n", line == usage ? "Usage:" : "      ", program, command, length, line);
    line += length + (line[length] == '\n');
  }
}

enum { WIDTH = 100, COLUMN = 24 }; /* of all text; of meanings, at most */

/* Writes "-o, --output FILE". Returns its length. */
static int label_of(const attn2c_option *row, char text[64]) {
  return snprintf(text, 64, "%s%s%s%s%s", row->letter ? row->letter : "", row->letter ? ", " : "", row->name,
                  row->value ? " " : "", row->value ? row->value : "");
}

/* Prints words in lines of at most WIDTH characters. The first begins at `at`, the others at `column`. */
static void print_wrapped(const char *text, int at, int column, FILE *out) {
  const char *gap = "";
  while (*text) {
    const int length = (int)strcspn(text, " ");
    if (*gap && at + 1 + length > WIDTH) {
      fprintf(out, "\n%*s", column, "");
      at = column;
      gap = "";
    }
    at += fprintf(out, "%s%.*s", gap, length, text);
    gap = " ";
    text += length + (text[length] == ' ');
  }
  fputc('\n', out);
}

/* The part for models that take pictures. */
static const attn2c_help_page picture_page = {
    "run", "--weights F --image FILE|DIR|- ... [OPTION...]", "Pictures instead of inputs:\n",
    "A picture is turned as its Exif orientation says, resized, cropped and normalised as the model's\nimage "
    "processor does. A picture that cannot be read ends the run after the answers before it.\n"};

/* The part for models that take sound. */
static const attn2c_help_page sound_page = {
    "run", "--weights F --audio FILE|DIR|- ... [OPTION...]", "Sounds instead of inputs:\n",
    "The mean of a sound's channels is resampled to the model's rate. Speech that is longer than a call "
    "takes is cut\nwhere it is quiet. A sound that cannot be read ends the run after the answers before "
    "it.\n"};

/* True if the help of a row is on a page: that of a command, or the part about texts. */
static int is_on_page(const attn2c_option *row, unsigned page) {
  const unsigned parts = ATTN2C_HELP_OF_TEXTS | ATTN2C_HELP_OF_PICTURES | ATTN2C_HELP_OF_SOUNDS;
  return row->help && attn2c_option_is_offered(row) &&
         (page & parts ? row->commands & page : (row->commands & page) && !(row->commands & parts));
}

/* True if a model's answers to texts have what an option is about. */
static int goes_with(const attn2c_option *row, const attn2c_text_facts *text) {
  static const char *const of_embeddings[] = {"--cache", "--dimensions"}, *const of_search[] = {"--similar",
                                                                                                "--query"};
  static const char *const of_spans[] = {"--labels", "--threshold", "--nested", "--multi-label"};
  for (int i = 0; i < 2; i++) {
    if (strcmp(row->name, of_embeddings[i]) == 0) return text->answer == ATTN2C_ANSWER_EMBEDDING;
    if (strcmp(row->name, of_search[i]) == 0)
      return text->answer == ATTN2C_ANSWER_EMBEDDING || text->answer_count > 0;
  }
  if (strcmp(row->name, "--answer") == 0) return text->answer_count > 1;
  if (strcmp(row->name, "--boxes") == 0) return text->boxes >= 0;
  if (strcmp(row->name, "--prompt") == 0) return text->prompt_count > 0;
  if (strcmp(row->name, "--rank") == 0) return text->answer == ATTN2C_ANSWER_LABEL;
  if (strcmp(row->name, "--stride") == 0) return text->answer == ATTN2C_ANSWER_SPAN;
  for (size_t i = 0; i < sizeof of_spans / sizeof *of_spans; i++)
    if (strcmp(row->name, of_spans[i]) == 0) return text->spans != NULL;
  return 1;
}

/* True if an option for pictures is about texts, which only some programs score for them. */
static int is_of_texts(const attn2c_option *row) {
  return strncmp(row->name, "--text", 6) == 0 || (row->value && strncmp(row->value, "logits", 6) == 0);
}

/* True if the help of a row is on a page, and the option goes with the model. */
static int is_shown(const attn2c_option *row, unsigned page, const attn2c_descriptor *model) {
  if ((page & ATTN2C_HELP_OF_PICTURES) && is_of_texts(row) && !&attn2c_the_texts) return 0;
  return is_on_page(row, page) &&
         (!(page & ATTN2C_HELP_OF_TEXTS) || !model->text || goes_with(row, model->text));
}

/* Prints the options of a page. All meanings begin in the same column, after a long option on the next line.
 */
static void print_options(unsigned page, const attn2c_descriptor *model, FILE *out) {
  char label[64];
  int column = 0;
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    const int length =
        is_shown(attn2c_option_at(i), page, model) ? 4 + label_of(attn2c_option_at(i), label) : 0;
    if (length > column) column = length;
  }
  if (column > COLUMN) column = COLUMN;
  for (int i = 0; i < ATTN2C_ROWS; i++) {
    if (!is_shown(attn2c_option_at(i), page, model)) continue;
    const int length = label_of(attn2c_option_at(i), label);
    fprintf(out, "  %-*s", column - 2, label);
    if (length > column - 3) fprintf(out, "\n%*s", column, "");
    print_wrapped(attn2c_option_at(i)->help, column, column, out);
  }
}

void attn2c_arguments_help(const attn2c_arguments *arguments, const attn2c_descriptor *model, FILE *out) {
  const char *program = arguments->program;
  if (arguments->command == ATTN2C_COMMAND_NONE) {
    fprintf(out,
            "Usage: %s COMMAND [OPTION...]\n       %s --version\n\nThe model '%s', compiled by "
            "attn2c.\n\n%s%s%s%s",
            program, program, model->name, commands_text,
            &attn2c_the_generation ? commands_of_generation : "",
            &attn2c_the_server ? attn2c_the_server->in_list : "", after_commands);
    return;
  }
  const attn2c_help_page *page = arguments->command == ATTN2C_COMMAND_SERVE
                                     ? attn2c_the_server->page
                                     : &pages[arguments->command - ATTN2C_COMMAND_INFO];
  const int has_text = arguments->command == ATTN2C_COMMAND_RUN && model->text != NULL;
  print_usage(program, page->command, page->usage, out);
  const int has_media = arguments->command == ATTN2C_COMMAND_RUN && !attn2c_encode_entry(model);
  const attn2c_help_page *media = !has_media             ? NULL
                                  : &attn2c_the_pictures ? &picture_page
                                  : &attn2c_the_sounds   ? &sound_page
                                                         : NULL;
  if (has_text) fprintf(out, "       %s run %s\n", program, text_page.usage);
  if (media) fprintf(out, "       %s run %s\n", program, media->usage);
  fprintf(out, "\n%s\n", page->text);
  print_options(1U << arguments->command, model, out);
  if (*page->notes) fprintf(out, "\n%s", page->notes);
  if (media) {
    fprintf(out, "\n%s\n", media->text);
    print_options(media == &picture_page ? ATTN2C_HELP_OF_PICTURES : ATTN2C_HELP_OF_SOUNDS, model, out);
    fprintf(out, "\n%s", media->notes);
  }
  if (!has_text) return;
  fprintf(out, "\n%s\n", text_page.text);
  print_options(ATTN2C_HELP_OF_TEXTS, model, out);
  fprintf(out, "\n%s", text_page.notes);
}
