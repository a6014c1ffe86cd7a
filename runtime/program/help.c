/* help.c - what --help prints: a table, which the manual page attn2c-program(1) is made from, too
 * (gen/deploy/program_manual.lua). */
#include "program/arguments.h"

#include <string.h>

/* usage: the words after the command's name, a line for each way. options: two blanks, the option, two or
 * more blanks, its meaning, which goes on in indented lines. */
static const struct {
  const char *command, *usage, *text, *options, *notes;
} pages[] = {
    {"info", "[--json] [--licenses]",
     "Prints what this model is: inputs, outputs, shapes, weights, parameters, floating-point\n"
     "operations, bytes of the arena, kernels, target.\n",
     "  --json      as JSON, with the list of kernel shapes\n"
     "  --licenses  the licences of what is linked in\n"
     "  -h, --help  this text\n",
     ""},
    {"run", "--weights F.safetensors --input [NAME=]X.npy ... --output [NAME=]Y.npy ... [--entry NAME] [-v]",
     "Computes the outputs that are asked for.\n",
     "  --weights F           checkpoint, safetensors, or what pack wrote; of a model that has its\n"
     "                        weights in itself: others in their place\n"
     "  --input [NAME=]X.npy  an input, each given once; NAME= may be left out where there is one\n"
     "  --output [NAME=]Y.npy an output to write; NAME= may be left out where there is one;\n"
     "                        NAME=- prints it\n"
     "  --entry NAME          of a model with several: which one (default: those that fit at the least "
     "cost)\n"
     "  -v, --verbose         name the tensors of the checkpoint that the model does not use\n"
     "  -h, --help            this text\n",
     "Arrays are NumPy files in C or Fortran order: floats of 16 to 64 bits, integers of 8 to 64\n"
     "bits for ids, lengths and masks, bool for masks. An array may hold any number of sequences\n"
     "from 1: they are processed batch by batch, and a partial batch is padded. Sequences may be\n"
     "shorter than the model's where it can mask what is missing: with lengths, attention_mask or\n"
     "a causal mask, or if it was made for a list of lengths. All inputs must agree on both\n"
     "numbers, and outputs have them, too.\n"
     "What stands before the first '=' is taken as NAME unless it holds a '/'.\n"},
    {"check", "[--weights F] [--input [NAME=]X.npy ...] [--entry NAME] [--seed K] [--nan] [--json]",
     "Compares every tensor with a plain reference that accumulates in double; exit 0 only if\n"
     "all pass.\n",
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
     "  -h, --help            this text\n",
     ""},
    {"bench",
     "[--weights F] [-r REPS] [-o md|json|csv] [--length N] [--profile] [--bound] [--compare OLD.json]",
     "Verifies, then times the model on seeded random inputs; lengths are full. The roof is the\n"
     "median rate of the best two of nine fixed kernel shapes (m 32, 48, 64, n 24, 32, 64, K 768\n"
     "in blocks of 64) on operands in cache, on as many threads, measured between the\n"
     "repetitions. A repetition of a short model is as many calls as last 200 microseconds.\n",
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
     "  -h, --help          this text\n",
     ""},
    {"pack", "--weights F.safetensors -o FILE\n--verify FILE",
     "Writes the weights as they lie in memory once the model is open. run, check, bench and the\n"
     "library's open take the file wherever they take a checkpoint: it is mapped, read as it is\n"
     "used, and shared by all processes that use it. It is for this build of this model: another\n"
     "refuses it. Replace it by a new file, as this command does; never write into it.\n",
     "  --weights F        checkpoint, safetensors\n"
     "  -o, --output FILE  the file to write, such as NAME.weights\n"
     "  --verify FILE      instead: read such a file whole and compare it with its checksum\n"
     "  -h, --help         this text\n",
     ""},
};

/* More of `run`, for models that take text. */
static const struct {
  const char *command, *usage, *text, *options, *notes;
} text_page = {
    "run", "--weights F --text TEXT|FILE|- [--query TEXT|FILE] [--format text|jsonl|npy] [--top K]",
    "Text instead of inputs:\n",
    "  --text WORD           - reads the standard input, a text a line, and answers each as it comes; the "
    "name\n"
    "                        of a file: each of its lines; anything else is a text itself. May be repeated\n"
    "  --text-file F         a file, whatever its name\n"
    "  --text-string TEXT    a text, whatever it says\n"
    "  --text-pair WORD      (or --pair) the second text of each, given as those of --text; -: each line "
    "has\n"
    "                        text and pair with a tab between\n"
    "  --stride N            of a pair that a question leaves no room for: tokens that neighbouring windows\n"
    "                        over it share (default: 128, or half of the room where that is less); the best\n"
    "                        answer of all windows is given\n"
    "  --top K               the K best labels, tokens, or texts for a query\n"
    "  --format text         a line a text with tabs between label (or token) and probability; labels of\n"
    "                        tokens a line each, with first and last byte, and an empty line behind a text\n"
    "  --format jsonl        an object a text, a line each\n"
    "  --format npy          the array that answers are made of, to the standard output\n"
    "  --similar             the cosine of each two texts' embeddings, a line a text\n"
    "  --query WORD          given as --text is: the texts that are most like it, best first, 10 or --top "
    "K;\n"
    "                        a line each with cosine, number of the text from 1, and text. May be repeated,\n"
    "                        or be a file of queries. npy: all cosines, [queries][texts]\n"
    "  --output NAME=Y.npy   an output of all texts, a row a text, rows of tokens padded with zeros to the\n"
    "                        longest text; lengths=Y.npy: how many tokens each has; the ids by their name.\n"
    "                        Windows have a row each, and texts=Y.npy has the number of its text, from 0.\n"
    "                        Answers are then printed only with --format\n",
    "Texts that are longer than the model takes are cut, and their number is told at the end. A line that\n"
    "cannot be answered ends the run behind the answers before it, with its number in the message.\n"};

static const char commands_text[] =
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

/* Lines, each after "Usage: PROGRAM COMMAND ". */
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
