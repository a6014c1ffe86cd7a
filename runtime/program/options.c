/* options.c - the table of the options that all programs have. gen/deploy/program_manual.lua reads the rows,
 * so each field is a string, a number or a name. */
#include "program/generate/command.h"
#include "program/option_rows.h"
#include "program/serve/command.h"

const attn2c_option attn2c_options[ATTN2C_OPTIONS] = {
    {"--weights", NULL, "F", RUN | GENERATE | CHAT | PERPLEXITY | SERVE, ONCE, AT(weights), 0, 0, 0, NULL,
     "a checkpoint's folder or file, or a file that pack wrote; a model with weights linked in uses these in "
     "their place"},
    {"--weights", NULL, "F", CHECK, ONCE, AT(weights), 0, 0, 0, NULL,
     "a checkpoint's folder or file, or a file that pack wrote, whose checksum is compared (default: the "
     "weights "
     "linked in, or seeded random weights)"},
    {"--weights", NULL, "F", BENCH, ONCE, AT(weights), 0, 0, 0, NULL,
     "a checkpoint's folder or file, or a file that pack wrote (default: the weights linked in, or seeded "
     "random weights)"},
    {"--weights", NULL, "F", PACK, ONCE, AT(weights), 0, 0, 0, NULL, "a checkpoint's folder or file"},
    {"--threads", NULL, "N", RUN | CHECK | BENCH | GENERATE | CHAT | PERPLEXITY | SERVE, THREADS, AT(threads),
     0, 1, 0, NULL,
     "threads that share a call, at most (default: the number that the model was built for, or of cores); "
     "results have the same bits for any number"},
    {"--adapter", NULL, "NAME", RUN | GENERATE | CHAT | PERPLEXITY, ONCE, AT(adapter), 0, 0, 0, NULL,
     "the adapter that all sequences have, of those that are kept next to the weights (default: none)"},
    {"--input", NULL, "[NAME=]X.npy", RUN, PATH, AT(inputs), AT(input_count), 0, 0, NULL,
     "an input, each given once; NAME= may be left out if there is only one"},
    {"--input", NULL, "[NAME=]X.npy", CHECK, PATH, AT(inputs), AT(input_count), 0, 0, NULL,
     "an input of exactly the model's batch; inputs not given are random"},
    {"--expect", NULL, "[NAME=]Y.npy", CHECK, PATH, AT(outputs), AT(output_count), 0, 0, NULL,
     "an output as another program computed it from the inputs, in place of the reference: it is compared "
     "with this model's, whose inputs have any size that run takes. Integers must be equal, rows that "
     "lengths or a mask leave out are not compared. May be repeated"},
    {"--tolerance", NULL, "X", CHECK, REAL, AT(tolerance), 0, 0, 0, NULL,
     "with --expect: a float may differ by X times the sum of its size and the root mean square of its "
     "array, 0 to 1 (default: 0.0001, up to 0.001 for models of 24 layers and more)"},
    {"--output", NULL, "[NAME=]Y.npy", RUN, PATH, AT(outputs), AT(output_count), 0, 0, NULL,
     "an output to write; NAME= may be left out if there is only one; NAME=- prints it"},
    {"--entry", NULL, "NAME", RUN, ONCE, AT(entry), 0, 0, 0, NULL,
     "the entry to use (default: the entries that fit at the least cost)"},
    {"--entry", NULL, "NAME", CHECK, ONCE, AT(entry), 0, 0, 0, NULL,
     "the entry that --input is for (default: the longest); all entries are checked, the others on random "
     "inputs"},
    {"--seed", NULL, "K", CHECK, SEED, AT(seed), 0, 0, UINT64_MAX, NULL,
     "seed of the random weights and inputs (default 1)"},
    {"--nan", NULL, NULL, CHECK, FLAG, AT(nan), 0, 0, 0, NULL,
     "writes NaN and infinity, one at a time, into every input and table and into masked values, in place of "
     "the usual check; they must reach exactly the outputs that they reach in the reference"},
    {"--text", NULL, "WORD", RUN | TEXTS, TEXT, AT(texts), AT(text_count), ATTN2C_TEXT_ANY, 0, NULL,
     "- reads the standard input, one text a line, and answers each as it comes; if WORD names a file, each "
     "of its lines is a text; any other word is a text itself. May be repeated"},
    {"--image", NULL, "FILE", RUN | PICTURES, PATH, AT(images), AT(image_count), 0, 0, NULL,
     "a PNG or JPEG file; a folder, whose files that end in .png, .jpg or .jpeg are taken by name; - is one "
     "picture on the standard input. May be repeated"},
    {"--audio", NULL, "FILE", RUN | SOUNDS, PATH, AT(audios), AT(audio_count), 0, 0, NULL,
     "a WAV, FLAC, Ogg or MP3 file of any rate and number of channels; a folder, whose files with such an "
     "ending are taken by name; - reads raw samples from the standard input: 16 bits, little-endian, one "
     "channel, at the model's rate, as `arecord -t raw` writes them. May be repeated"},
    {"--vad", NULL, NULL, RUN | SOUNDS, FLAG, AT(vad), 0, 0, 0, NULL,
     "leaves out silence. A frame of 30 ms is loud from -60 dB of full scale, and -35 dB of the loudest "
     "frame, on; loud frames less than 300 ms apart are one piece, with 150 ms before and after it; pieces "
     "of less than 90 ms are left out. Each piece is a text by itself; labels and embeddings are of all "
     "pieces of a sound, joined"},
    {"--words", NULL, NULL, RUN | SOUNDS, FLAG, AT(words), 0, 0, 0, NULL,
     "for models that write text: each word with the seconds of its begin and end, one line a word; with "
     "jsonl as a list; with srt and vtt a cue a word"},
    {"--against", NULL, "F.npy", RUN | PICTURES | SOUNDS, ONCE, AT(against), 0, 0, 0, NULL,
     "embeddings [count][width], such as embeddings of texts by the other tower of the model: prints the 5 "
     "or --top K that are most similar to each file's, best first, each with its number from 1 and its "
     "cosine. With npy: all cosines, [files][count]"},
    {"--text", NULL, "WORD", PICTURES, TEXT, 0, 0, 0, 0, NULL,
     "with a model of texts in the program (CLIP, SigLIP): scores of texts for each picture, best first, as "
     "probabilities; - reads the standard input, and if WORD names a file, each of its lines is a text. May "
     "be repeated. With npy: all logits, [pictures][texts]"},
    {"--text-weights", NULL, "F", RUN | PICTURES, ONCE, AT(text_weights), 0, 0, 0, NULL,
     "weights of the model of texts (default: the weights of --weights, a checkpoint of both)"},
    {"--top", NULL, "K", PICTURES | SOUNDS, INT, 0, 0, 0, 0, NULL,
     "the K best labels or texts, or embeddings of --against"},
    {"--format", NULL, "text", PICTURES | SOUNDS, WORD, 0, 0, 0, 0, NULL,
     "one line a file with tabs between label and probability, or the numbers of the output, or the text "
     "that is said; the file's name comes first if there are several, or a folder"},
    {"--format", NULL, "jsonl", PICTURES | SOUNDS, WORD, 0, 0, 0, 0, NULL,
     "one JSON object a line for each file"},
    {"--format", NULL, "srt", SOUNDS, WORD, 0, 0, 0, 0, NULL,
     "(or vtt) the text that is said as cues of SubRip or WebVTT: of at most 84 bytes and 7 seconds, without "
     "a pause of 0.7 seconds"},
    {"--format", NULL, "npy", PICTURES | SOUNDS, WORD, 0, 0, 0, 0, NULL,
     "writes the array of the answers to the standard output"},
    {"--similar", NULL, NULL, PICTURES | SOUNDS, FLAG, 0, 0, 0, 0, NULL,
     "the cosine of each pair of embeddings, one line a file"},
    {"--output", NULL, "NAME=Y.npy", PICTURES, PATH, 0, 0, 0, 0, NULL,
     "an output of all pictures, one row a picture; the input's name: the images that they became. Answers "
     "are then printed only with --format"},
    {"--output", NULL, "NAME=Y.npy", SOUNDS, PATH, 0, 0, 0, 0, NULL,
     "an output of all sounds, one row a sound; in a model of any length, the rows of all, one after the "
     "other. The input's name: the features. Answers are then printed only with --format"},
    {"--output", NULL, "logits_per_image=Y.npy", PICTURES, PATH, 0, 0, 0, 0, NULL,
     "with --text: all logits, [pictures][texts]"},
    {"--text-file", NULL, "F", RUN | TEXTS, TEXT, AT(texts), AT(text_count), ATTN2C_TEXT_FILE, 0, NULL,
     "a file, whatever its name"},
    {"--text-string", NULL, "TEXT", RUN | TEXTS, TEXT, AT(texts), AT(text_count), ATTN2C_TEXT_STRING, 0, NULL,
     "a text, even if a file has that name"},
    {"--text-pair", NULL, "WORD", RUN | TEXTS, TEXT, AT(pairs), AT(pair_count), ATTN2C_TEXT_ANY, 0, NULL,
     "(or --pair) the second text of each, given as for --text; with -, each line has text and pair with a "
     "tab between them"},
    {"--pair", NULL, "WORD", RUN, TEXT, AT(pairs), AT(pair_count), ATTN2C_TEXT_ANY, 0, "", NULL},
    {"--boxes", NULL, "WORD", RUN | TEXTS, TEXT, AT(boxes), AT(box_count), ATTN2C_TEXT_ANY, 0, NULL,
     "where the words of each text (of its pair, if there is one) are on a page, given as for --text: four "
     "whole numbers for each word, its left, upper, right and lower side, from 0 to 1000 of the page. White "
     "space divides words. Answers are about words, by the first token of each"},
    {"--stride", NULL, "N", RUN | TEXTS, TOKENS, AT(stride), 0, 0, INT32_MAX, NULL,
     "tokens that neighbouring windows share (default: 128, or half of the pair's tokens in a window if that "
     "is less). A pair that is too long next to its question is read in windows; the best answer of all "
     "windows is given"},
    {"--top", NULL, "K", RUN | TEXTS, INT, AT(top), 0, 1, ATTN2C_MAX_TOP, NULL,
     "the K best labels, tokens, or texts for a query"},
    {"--format", NULL, "text", RUN | TEXTS, WORD, AT(answers), 0, ATTN2C_ANSWERS_TEXT, 0,
     "text, jsonl, npy, srt or vtt",
     "one line a text with tabs between label (or token) and probability; labels of tokens have one line "
     "each, with first and last byte, and an empty line after each text"},
    {"--format", NULL, "jsonl", TEXTS, WORD, 0, 0, 0, 0, NULL, "one JSON object a line for each text"},
    {"--format", NULL, "npy", TEXTS, WORD, 0, 0, 0, 0, NULL,
     "writes the array of the answers to the standard output"},
    {"--answer", NULL, "NAME", RUN | TEXTS, ONCE, AT(answer), 0, 0, 0, NULL,
     "what is printed and compared: sentence_embedding, lexical_weights or token_embeddings, as the model "
     "has them (default: the first)"},
    {"--similar", NULL, NULL, RUN | TEXTS, FLAG, AT(similar), 0, 0, 0, NULL,
     "how alike each pair of embeddings is, one line a text; with --query: each query and text"},
    {"--query", NULL, "WORD", RUN | TEXTS, TEXT, AT(queries), AT(query_count), ATTN2C_TEXT_ANY, 0, NULL,
     "given as for --text: prints the 10 or --top K texts that are most similar to it, best first, one line "
     "each with its score, number from 1, and text. May be repeated, or be a file of queries. With npy: all "
     "scores, [queries][texts]"},
    {"--cache", NULL, "F.npy", RUN | TEXTS, ONCE, AT(cache), 0, 0, 0, NULL,
     "with --query: keeps the embeddings of the texts in this file, [texts][numbers]. Later runs compute "
     "only texts that it does not have. It is made again if model, weights, prompt or --dimensions differ"},
    {"--rank", NULL, NULL, RUN | TEXTS, FLAG, AT(rank), 0, 0, 0, NULL,
     "for cross-encoders: each --text is a query, and all of --text-pair are ranked by their score with it, "
     "as for --query"},
    {"--prompt", NULL, "NAME", RUN | TEXTS, ONCE, AT(prompt), 0, 0, 0, NULL,
     "the model's prompt that is put before each text, by its name (info lists them); with --query: before "
     "each query, whose usual prompt is query, while texts have document, passage or corpus"},
    {"--labels", NULL, "A,B,...", RUN | TEXTS, PATH, AT(labels), AT(label_count), 0, 0, NULL,
     "for a model that finds spans of labels: the labels, with commas between them. May be repeated. A span "
     "has one line with first and last byte, text, label and score, and there is an empty line after each "
     "text"},
    {"--threshold", NULL, "X", RUN | TEXTS, REAL, AT(threshold), 0, 0, 0, NULL,
     "the score that spans are above, 0 to 1 (default: 0.5)"},
    {"--nested", NULL, NULL, RUN | TEXTS, FLAG, AT(nested), 0, 0, 0, NULL,
     "gives spans within others, too; without it the best of spans that overlap"},
    {"--multi-label", NULL, NULL, RUN | TEXTS, FLAG, AT(multi_label), 0, 0, 0, NULL,
     "gives a span all its labels that are above the threshold"},
    {"--dimensions", NULL, "N", RUN | TEXTS, INT, AT(dimensions), 0, 1, INT32_MAX, NULL,
     "the first N numbers of each embedding, scaled to a unit vector if the model does so"},
    {"--output", NULL, "NAME=Y.npy", TEXTS, PATH, 0, 0, 0, 0, NULL,
     "an output of all texts, one row a text; rows of tokens are padded with zeros to the longest text. "
     "lengths=Y.npy: the number of tokens of each text; ids have their own name. Windows have one row each, "
     "and texts=Y.npy has the number of their text, from 0. Answers are then printed only with --format"},
    {"--reps", "-r", "REPS", BENCH, INT, AT(repetitions), 0, 1, ATTN2C_MAX_REPETITIONS, NULL,
     "repetitions, 1 to 1000000 (default: about a second's, 7 to 2000)"},
    {"--format", "-o", "FORMAT", BENCH, WORD, AT(format), 0, ATTN2C_FORMAT_MD, 0, "md, json or csv",
     "md (default), json (a line with an object for each entry) or csv"},
    {"--output", "-o", "FILE", PACK, ONCE, AT(packed), 0, 0, 0, NULL,
     "the file to write, such as NAME.weights"},
    {"--length", NULL, "N", BENCH, TOKENS, AT(length), 0, 1, INT32_MAX, NULL,
     "times a call of N tokens, in a model of any length, which times 8, 32, 128 and the most without this. "
     "In a model with a context: a prompt of N tokens, and decoding after it"},
    {"--part", NULL, "R", BENCH, ONCE, AT(part), 0, 0, 0, NULL,
     "of a model that is divided among ranks: times the part of rank R, from 0, by itself, without mpirun; "
     "or with all: the parts of all ranks at once. Their meetings are left out, and json lists them"},
    {"--compare", NULL, "OLD.json", BENCH, ONCE, AT(compare), 0, 0, 0, NULL,
     "also prints the times of an earlier bench -o json: old, new, their ratio, and whether they differ by "
     "more than their spread; never a failure (with -o md)"},
    {"--profile", NULL, NULL, BENCH, FLAG, AT(profile), 0, 0, 0, NULL,
     "also prints the time of each kind of operation and of each section"},
    {"--brief", NULL, NULL, BENCH, FLAG, AT(brief), 0, 0, 0, NULL,
     "with --profile: only times operations; calls are not compared before, and a whole call is timed once"},
    {"--cold", NULL, "MB", BENCH, INT, AT(cold_megabytes), 0, 1, 65536, NULL,
     "with --brief: MB of other memory are read before each profiled call, so that weights come from memory "
     "as they do in a model with more layers"},
    {"--bound", NULL, NULL, BENCH, FLAG, AT(bound), 0, 0, 0, NULL,
     "also prints, part by part, the time that the call would take with each product at the best rate that "
     "any tile reaches on the model's own weights, and each attention kernel and row operation on operands "
     "in cache"},
    {"--verify", NULL, "FILE", PACK, ONCE, AT(verify), 0, 0, 0, NULL,
     "reads such a file and compares it with its checksum, in place of writing one"},
    {"--json", NULL, NULL, INFO, FLAG, AT(json), 0, 0, 0, NULL,
     "prints JSON, with the list of kernel shapes"},
    {"--json", NULL, NULL, CHECK, FLAG, AT(json), 0, 0, 0, NULL, "prints the result as JSON"},
    {"--licenses", NULL, NULL, INFO, FLAG, AT(licenses), 0, 0, 0, NULL,
     "prints the licences of the libraries that are linked in"},
    {"--verbose", "-v", NULL, RUN, FLAG, AT(verbose), 0, 0, 0, NULL,
     "name the tensors of the checkpoint that the model does not use"},
    {"--help", "-h", NULL, INFO | RUN | CHECK | BENCH | PACK | GENERATE | CHAT | PERPLEXITY | SERVE, FLAG,
     AT(help), 0, 0, 0, NULL, "this text"},
};

const attn2c_option *attn2c_option_at(int i) {
  static const attn2c_option none;
  if (i < ATTN2C_OPTIONS) return &attn2c_options[i];
  i -= ATTN2C_OPTIONS;
  if (i < ATTN2C_GENERATION_OPTIONS)
    return &attn2c_the_generation ? &attn2c_the_generation->options[i] : &none;
  return &attn2c_the_server ? &attn2c_the_server->options[i - ATTN2C_GENERATION_OPTIONS] : &none;
}
