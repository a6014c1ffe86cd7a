/* help.c - the text of --help, as a table. The manual page attn2c-program(1) is made from the same table
 * (gen/deploy/program_manual.lua). */
#include "program/arguments.h"

#include <string.h>

/* usage: the words after the command's name, one line for each form. options: two blanks, the option, two or
 * more blanks, and its meaning, which continues in indented lines. */
static const struct {
  const char *command, *usage, *text, *options, *notes;
} pages[] = {
    {"info", "[--json] [--licenses]",
     "Prints what this model is: inputs, outputs, shapes, weights, parameters, floating-point\n"
     "operations, bytes of the arena, kernels, target.\n",
     "  --json      prints JSON, with the list of kernel shapes\n"
     "  --licenses  prints the licences of the libraries that are linked in\n"
     "  -h, --help  this text\n",
     ""},
    {"run", "--weights F.safetensors --input [NAME=]X.npy ... --output [NAME=]Y.npy ... [--entry NAME] [-v]",
     "Computes the outputs that are asked for.\n",
     "  --weights F           a safetensors checkpoint, or a file that pack wrote; a model with weights\n"
     "                        linked in uses these in their place\n"
     "  --input [NAME=]X.npy  an input, each given once; NAME= may be left out if there is only one\n"
     "  --output [NAME=]Y.npy an output to write; NAME= may be left out if there is only one;\n"
     "                        NAME=- prints it\n"
     "  --entry NAME          the entry to use (default: the entries that fit at the least cost)\n"
     "  -v, --verbose         name the tensors of the checkpoint that the model does not use\n"
     "  -h, --help            this text\n",
     "Arrays are NumPy files in C or Fortran order: floats of 16 to 64 bits, integers of 8 to 64\n"
     "bits for ids, lengths and masks, bool for masks. An array may hold any number of sequences\n"
     "from 1: they are processed batch by batch, and a partial batch is padded. Sequences may be\n"
     "shorter than the model's if it can mask the missing tokens: with lengths, attention_mask or\n"
     "a causal mask, or if it was made for a list of lengths. All inputs must agree on both\n"
     "numbers, and outputs have them, too.\n"
     "The text before the first '=' is NAME unless it has a '/'.\n"},
    {"check", "[--weights F] [--input [NAME=]X.npy ...] [--entry NAME] [--seed K] [--nan] [--json]",
     "Compares every tensor with a plain reference that accumulates in double; exit 0 only if\n"
     "all pass.\n",
     "  --weights F           a safetensors checkpoint, or a file that pack wrote, whose checksum is\n"
     "                        compared (default: the weights linked in, or seeded random weights)\n"
     "  --input [NAME=]X.npy  an input of exactly the model's batch; inputs not given are random\n"
     "  --entry NAME          the entry that --input is for (default: the longest); all entries are\n"
     "                        checked, the others on random inputs\n"
     "  --seed K              seed of the random weights and inputs (default 1)\n"
     "  --nan                 writes NaN and infinity, one at a time, into every input and table and into\n"
     "                        masked values, in place of the usual check; they must reach exactly the\n"
     "                        outputs that they reach in the reference\n"
     "  --json                prints the result as JSON\n"
     "  -h, --help            this text\n",
     ""},
    {"bench",
     "[--weights F] [-r REPS] [-o md|json|csv] [--length N] [--profile] [--bound] [--compare OLD.json]",
     "Verifies, then times the model on seeded random inputs; lengths are full. The roof is the\n"
     "median rate of the best two of nine fixed kernel shapes (m 32, 48, 64, n 24, 32, 64, K 768\n"
     "in blocks of 64) on operands in cache, on the same number of threads, measured between the\n"
     "repetitions. For a short model, a repetition is the calls of 200 microseconds.\n",
     "  --weights F         a safetensors checkpoint, or a file that pack wrote (default: the weights\n"
     "                      linked in, or seeded random weights)\n"
     "  -r, --reps REPS     repetitions, 1 to 1000000 (default: those of about a second, 7 to 2000)\n"
     "  -o, --format FORMAT md (default), json (one object an entry) or csv\n"
     "  --length N          times a call of N tokens a sequence, padded to the entry that it fits in\n"
     "  --compare OLD.json  also prints the times of an earlier bench -o json: old, new, their ratio, and\n"
     "                      whether they differ by more than their spread; never a failure (with -o md)\n"
     "  --profile           also prints the time of each kind of operation and of each section\n"
     "  --bound             also prints, part by part, the time that the call would take with each\n"
     "                      product at the best rate that any tile reaches on the model's own weights,\n"
     "                      and each attention kernel and row operation on operands in cache\n"
     "  -h, --help          this text\n",
     ""},
    {"pack", "--weights F.safetensors -o FILE\n--verify FILE",
     "Writes the weights in the layout that they have in memory. run, check, bench and the\n"
     "library's open take the file wherever they take a checkpoint: it is mapped, read as it is\n"
     "used, and shared by all processes that use it. It is for this build of this model, and\n"
     "others refuse it. Replace it by a new file, as this command does; never write into it.\n",
     "  --weights F        a safetensors checkpoint\n"
     "  -o, --output FILE  the file to write, such as NAME.weights\n"
     "  --verify FILE      reads such a file and compares it with its checksum, in place of writing one\n"
     "  -h, --help         this text\n",
     ""},
};

/* The part of the help of `run` for models that take text. */
static const struct {
  const char *command, *usage, *text, *options, *notes;
} text_page = {
    "run", "--weights F --text TEXT|FILE|- [--query TEXT|FILE] [--format text|jsonl|npy] [--top K]",
    "Text instead of inputs:\n",
    "  --text WORD           - reads the standard input, one text a line, and answers each as it comes; if\n"
    "                        WORD names a file, each of its lines is a text; any other word is a text\n"
    "                        itself. May be repeated\n"
    "  --text-file F         a file, whatever its name\n"
    "  --text-string TEXT    a text, even if a file has that name\n"
    "  --text-pair WORD      (or --pair) the second text of each, given as for --text; with -, each line\n"
    "                        has text and pair with a tab between them\n"
    "  --stride N            tokens that neighbouring windows share (default: 128, or half of the pair's\n"
    "                        tokens in a window if that is less). A pair that is too long next to its\n"
    "                        question is read in windows; the best answer of all windows is given\n"
    "  --top K               the K best labels, tokens, or texts for a query\n"
    "  --format text         one line a text with tabs between label (or token) and probability; labels of\n"
    "                        tokens have one line each, with first and last byte, and an empty line after\n"
    "                        each text\n"
    "  --format jsonl        one JSON object a line for each text\n"
    "  --format npy          writes the array of the answers to the standard output\n"
    "  --similar             the cosine of each pair of embeddings, one line a text\n"
    "  --query WORD          given as for --text: prints the 10 or --top K texts that are most similar to\n"
    "                        it, best first, one line each with cosine, number from 1, and text.\n"
    "                        May be repeated, or be a file of queries. With npy: all cosines,\n"
    "                        [queries][texts]\n"
    "  --output NAME=Y.npy   an output of all texts, one row a text; rows of tokens are padded with zeros\n"
    "                        to the longest text. lengths=Y.npy: the number of tokens of each text; ids\n"
    "                        have their own name. Windows have one row each, and texts=Y.npy has the number\n"
    "                        of their text, from 0. Answers are then printed only with --format\n",
    "Texts that are longer than the model takes are cut; a line at the end gives their number. A line that\n"
    "cannot be answered ends the run after the answers before it, and the message gives its number.\n"};

static const char commands_text[] =
    "  info   inputs, outputs, shapes, weights, operations, memory, kernels, licences\n"
    "  run    compute outputs from inputs and weights\n"
    "  check  compare every tensor with a plain reference\n"
    "  bench  time it and this machine's own limit\n"
    "  pack   write the weights in their layout in memory: a file that opens in milliseconds\n"
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

void attn2c_arguments_help(const attn2c_arguments *arguments, const attn2c_descriptor *model, FILE *out) {
  const char *program = arguments->program;
  if (arguments->command == ATTN2C_COMMAND_NONE) {
    fprintf(out,
            "Usage: %s COMMAND [OPTION...]\n       %s --version\n\nThe model '%s', compiled by attn2c.\n\n%s",
            program, program, model->name, commands_text);
    return;
  }
  const int page = (int)arguments->command - ATTN2C_COMMAND_INFO;
  const int has_text = arguments->command == ATTN2C_COMMAND_RUN && model->text != NULL;
  print_usage(program, pages[page].command, pages[page].usage, out);
  if (has_text) fprintf(out, "       %s run %s\n", program, text_page.usage);
  fprintf(out, "\n%s\n%s", pages[page].text, pages[page].options);
  if (*pages[page].notes) fprintf(out, "\n%s", pages[page].notes);
  if (has_text) fprintf(out, "\n%s\n%s\n%s", text_page.text, text_page.options, text_page.notes);
}
