/* options.c - the table of the program's options. gen/deploy/program_manual.lua reads the rows, so each field
 * is a string, a number or a name. */
#include "program/options.h"

#include "base/generation.h"
#include "program/serve/command.h"

enum {
  INFO = 1 << ATTN2C_COMMAND_INFO,
  RUN = 1 << ATTN2C_COMMAND_RUN,
  CHECK = 1 << ATTN2C_COMMAND_CHECK,
  BENCH = 1 << ATTN2C_COMMAND_BENCH,
  PACK = 1 << ATTN2C_COMMAND_PACK,
  GENERATE = 1 << ATTN2C_COMMAND_GENERATE,
  CHAT = 1 << ATTN2C_COMMAND_CHAT,
  PERPLEXITY = 1 << ATTN2C_COMMAND_PERPLEXITY,
  SERVE = 1 << ATTN2C_COMMAND_SERVE,
  TEXTS = ATTN2C_HELP_OF_TEXTS,
  PICTURES = ATTN2C_HELP_OF_PICTURES,
  SOUNDS = ATTN2C_HELP_OF_SOUNDS
};

#define FLAG    ATTN2C_OPTION_FLAG
#define ONCE    ATTN2C_OPTION_ONCE
#define PATH    ATTN2C_OPTION_PATH
#define TEXT    ATTN2C_OPTION_TEXT
#define WORD    ATTN2C_OPTION_WORD
#define INT     ATTN2C_OPTION_INT
#define TOKENS  ATTN2C_OPTION_TOKENS
#define SEED    ATTN2C_OPTION_SEED
#define REAL    ATTN2C_OPTION_REAL
#define THREADS ATTN2C_OPTION_THREADS

#define AT(member) offsetof(attn2c_arguments, member)

const attn2c_option attn2c_options[ATTN2C_OPTIONS] = {
    {"--weights", NULL, "F", RUN | GENERATE | CHAT | PERPLEXITY | SERVE, ONCE, AT(weights), 0, 0, 0, NULL,
     "a safetensors checkpoint, or a file that pack wrote; a model with weights linked in uses these in "
     "their place"},
    {"--weights", NULL, "F", CHECK, ONCE, AT(weights), 0, 0, 0, NULL,
     "a safetensors checkpoint, or a file that pack wrote, whose checksum is compared (default: the weights "
     "linked in, or seeded random weights)"},
    {"--weights", NULL, "F", BENCH, ONCE, AT(weights), 0, 0, 0, NULL,
     "a safetensors checkpoint, or a file that pack wrote (default: the weights linked in, or seeded random "
     "weights)"},
    {"--weights", NULL, "F", PACK, ONCE, AT(weights), 0, 0, 0, NULL, "a safetensors checkpoint"},
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
     "the cosine of each pair of embeddings, one line a text; with --query: of each query and text"},
    {"--query", NULL, "WORD", RUN | TEXTS, TEXT, AT(queries), AT(query_count), ATTN2C_TEXT_ANY, 0, NULL,
     "given as for --text: prints the 10 or --top K texts that are most similar to it, best first, one line "
     "each with cosine, number from 1, and text. May be repeated, or be a file of queries. With npy: all "
     "cosines, [queries][texts]"},
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
    {"--prompt", NULL, "TEXT", GENERATE, TEXT, AT(texts), AT(text_count), ATTN2C_TEXT_STRING, 0, NULL,
     "a prompt; - reads the standard input, one prompt a line, and answers each as it comes. May be "
     "repeated"},
    {"--prompt-file", NULL, "F", GENERATE, TEXT, AT(texts), AT(text_count), ATTN2C_TEXT_FILE, 0, NULL,
     "a file of prompts, one a line"},
    {"--input", NULL, "[ids=]X.npy", GENERATE, PATH, AT(inputs), AT(input_count), 0, 0, NULL,
     "prompts as token ids, [prompts][tokens], or [tokens] of one prompt; lengths=L.npy: the tokens of each "
     "prompt, if they differ"},
    {"--text-file", NULL, "F", PERPLEXITY, ONCE, AT(generate.perplexity_file), 0, 0, 0, NULL,
     "the text, a whole file"},
    {"--input", NULL, "[ids=]X.npy", PERPLEXITY, PATH, AT(inputs), AT(input_count), 0, 0, NULL,
     "a text as token ids, [tokens], in place of a file"},
    {"--system", NULL, "TEXT", CHAT, ONCE, AT(generate.system), 0, 0, 0, NULL,
     "the system message, before the first turn; jsonl: of chats that have none"},
    {"--system", NULL, "TEXT", GENERATE, ONCE, AT(generate.system), 0, 0, 0, NULL,
     "puts each prompt into the model's chat template, as what a user says after this system message, and "
     "writes the answer to that"},
    {"--image", NULL, "FILE", GENERATE, PATH, AT(images), AT(image_count), 0, 0, NULL,
     "for a model that writes about pictures: a PNG or JPEG file, a folder of them, or -, as of run; answers "
     "go on from the text of --prompt. The picture's name comes first if there are several, or a folder. May "
     "be repeated"},
    {"--audio", NULL, "FILE", GENERATE, PATH, AT(audios), AT(audio_count), 0, 0, NULL,
     "for a model that writes down speech: a sound, as of run, of any length; windows of it are written down "
     "one after the other. The sound's name comes first if there are several, or a folder. May be repeated"},
    {"--vad", NULL, NULL, GENERATE, FLAG, AT(vad), 0, 0, 0, NULL,
     "leaves out silence, as of run: each piece of speech of --audio is written down by itself"},
    {"--words", NULL, NULL, GENERATE, FLAG, AT(words), 0, 0, 0, NULL,
     "each word with the seconds of its begin and end, of a model of speech that was built with "
     "speech.words=true: one line a word; with jsonl as a list; with srt and vtt a cue a word"},
    {"--features", NULL, "X.npy", GENERATE, PATH, AT(generate.features), AT(generate.feature_count), 0, 0,
     NULL,
     "for a model that writes down speech: the features of a sound, [rows][width], 100 rows a second. May be "
     "repeated"},
    {"--language", NULL, "CODE", GENERATE, ONCE, AT(generate.language), 0, 0, 0, NULL,
     "the language that is spoken, such as en; auto (default): the first window says it"},
    {"--task", NULL, "TASK", GENERATE, WORD, AT(generate.task), 0, ATTN2C_TASK_TRANSCRIBE, 0,
     "transcribe or translate", "transcribe (default): what is said, as it is said; translate: in English"},
    {"--timestamps", NULL, NULL, GENERATE, FLAG, AT(generate.timestamps), 0, 0, 0, NULL,
     "each segment of what is said has its times. A sound that is longer than a window is always read with "
     "timestamps"},
    {"--source-language", NULL, "CODE", GENERATE, ONCE, AT(generate.source_language), 0, 0, 0, NULL,
     "the language of prompts, as the folder calls it (eng_Latn, en_XX, en), for a model that translates"},
    {"--target-language", NULL, "CODE", GENERATE, ONCE, AT(generate.target_language), 0, 0, 0, NULL,
     "the language of answers"},
    {"--prefix", NULL, "TEXT", GENERATE, ONCE, AT(generate.prefix), 0, 0, 0, NULL,
     "is put in front of each prompt: a task of T5, such as \"translate English to German: \""},
    {"--split", NULL, "UNIT", GENERATE, WORD, AT(generate.split), 0, 1, 0, "sentences",
     "sentences: each prompt is cut into sentences, which are answered side by side, the longest first. The "
     "answer to the prompt is their answers in order; for texts that are longer than the source of a model"},
    {"--tokens", NULL, "N", GENERATE | CHAT, TOKENS, AT(generate.tokens), 0, 1, INT32_MAX, NULL,
     "the most tokens of an answer (default: max_new_tokens of the folder's generation_config.json, else "
     "what its max_length leaves after the prompt, else 256)"},
    {"--max-tokens", NULL, "N", GENERATE | CHAT, TOKENS, AT(generate.tokens), 0, 1, INT32_MAX, NULL,
     "the same as --tokens"},
    {"--greedy", NULL, NULL, GENERATE | CHAT, FLAG, AT(generate.greedy), 0, 0, 0, NULL,
     "takes the most probable token each time; the default if the folder's generation_config.json says so. "
     "Options from --temperature to --seed and from --top-n-sigma to --mirostat draw tokens instead. If the "
     "folder says nothing, tokens are drawn, and "
     "a line says with which numbers"},
    {"--temperature", NULL, "T", GENERATE | CHAT, REAL, AT(generate.temperature), 0, 0, 0, NULL,
     "divides the logits (default 1)"},
    {"--top-k", NULL, "K", GENERATE | CHAT, TOKENS, AT(generate.top_k), 0, 0, INT32_MAX, NULL,
     "draws from the K most probable tokens (default 50; 0: all)"},
    {"--top-p", NULL, "P", GENERATE | CHAT, REAL, AT(generate.top_p), 0, 0, 0, NULL,
     "draws from the smallest set of tokens whose probabilities have the sum P (default 1: all)"},
    {"--min-p", NULL, "P", GENERATE | CHAT, REAL, AT(generate.min_p), 0, 0, 0, NULL,
     "draws from tokens that have at least P times the largest probability (default 0: all)"},
    {"--seed", NULL, "S", GENERATE | CHAT, SEED, AT(generate.seed), AT(generate.has_seed), 0, UINT64_MAX,
     NULL,
     "seed of the random numbers (default 0); prompt number i, from 0, has the seed S + i, whatever its "
     "neighbours are"},
    {"--repetition-penalty", NULL, "X", GENERATE | CHAT, REAL, AT(generate.repetition_penalty), 0, 0, 0, NULL,
     "divides the positive logits of tokens that have occurred, and multiplies the negative ones (default "
     "1)"},
    {"--presence-penalty", NULL, "X", GENERATE | CHAT, REAL, AT(generate.presence_penalty), 0, 0, 0, NULL,
     "is subtracted from the logits of tokens that were generated (default 0)"},
    {"--frequency-penalty", NULL, "X", GENERATE | CHAT, REAL, AT(generate.frequency_penalty), 0, 0, 0, NULL,
     "is subtracted as often as the token was generated (default 0)"},
    {"--top-n-sigma", NULL, "N", GENERATE | CHAT, REAL, AT(generate.top_n_sigma), 0, 0, 0, NULL,
     "draws from tokens whose logit is at most N standard deviations below the largest (default 0: all). "
     "This and the options down to --sampler-order are llama.cpp's"},
    {"--typical-p", NULL, "P", GENERATE | CHAT, REAL, AT(generate.typical_p), 0, 0, 0, NULL,
     "draws from tokens whose surprise is nearest to the entropy, up to the sum P (default 1: all)"},
    {"--xtc-probability", NULL, "P", GENERATE | CHAT, REAL, AT(generate.xtc_probability), 0, 0, 0, NULL,
     "with this chance, of the tokens from --xtc-threshold on only the least probable one stays (default 0)"},
    {"--xtc-threshold", NULL, "P", GENERATE | CHAT, REAL, AT(generate.xtc_threshold), 0, 0, 0, NULL,
     "the least probability of those tokens (default 0.1; above 0.5: none)"},
    {"--dynatemp-range", NULL, "X", GENERATE | CHAT, REAL, AT(generate.dynatemp_range), 0, 0, 0, NULL,
     "the temperature is up to X lower or higher, by the entropy (default 0)"},
    {"--dynatemp-exponent", NULL, "X", GENERATE | CHAT, REAL, AT(generate.dynatemp_exponent), 0, 0, 0, NULL,
     "the power of the entropy for it (default 1)"},
    {"--mirostat", NULL, "2", GENERATE | CHAT, INT, AT(generate.mirostat), 0, 0, 2, NULL,
     "Mirostat 2.0: leaves out tokens such that the mean surprise is --mirostat-tau. Other options that "
     "leave out tokens do not go with it (default 0: none)"},
    {"--mirostat-tau", NULL, "X", GENERATE | CHAT, REAL, AT(generate.mirostat_tau), 0, 0, 0, NULL,
     "that surprise in bits (default 5)"},
    {"--mirostat-eta", NULL, "X", GENERATE | CHAT, REAL, AT(generate.mirostat_eta), 0, 0, 0, NULL,
     "how fast it follows (default 0.1)"},
    {"--dry-multiplier", NULL, "X", GENERATE | CHAT, REAL, AT(generate.dry_multiplier), 0, 0, 0, NULL,
     "DRY: subtracts X times --dry-base to the power n - --dry-allowed-length from the logit of a token that "
     "would make a repetition of n tokens longer (default 0: none)"},
    {"--dry-base", NULL, "X", GENERATE | CHAT, REAL, AT(generate.dry_base), 0, 0, 0, NULL, "(default 1.75)"},
    {"--dry-allowed-length", NULL, "N", GENERATE | CHAT, INT, AT(generate.dry_allowed_length), 0, 0,
     INT32_MAX, NULL, "(default 2)"},
    {"--dry-last-n", NULL, "N", GENERATE | CHAT, INT, AT(generate.dry_last_n), 0, 0, INT32_MAX, NULL,
     "the last tokens that are looked at, up to 131072 (default: all)"},
    {"--dry-breaker", NULL, "TEXT", GENERATE | CHAT, PATH, AT(generate.dry_breakers),
     AT(generate.dry_breaker_count), 0, 0, NULL,
     "a text that ends repetitions. May be repeated; takes the place of the usual ones, which are a line "
     "end, "
     ": \" and *; none: there are none"},
    {"--sampler-order", NULL, "NAMES", GENERATE | CHAT, ONCE, AT(generate.sampler_order), 0, 0, 0, NULL,
     "the options that count, in their order, with ; between the names (default: penalties, dry, "
     "temperature, top_n_sigma, top_k, top_p, min_p, typ_p, xtc). llama.cpp stands for its own order, in "
     "which temperature is the last and typ_p comes before top_p"},
    {"--logit-bias", NULL, "ID=X", GENERATE | CHAT, PATH, AT(generate.biases), AT(generate.bias_count), 0, 0,
     NULL, "adds X to the logit of a token; -inf forbids it. May be repeated"},
    {"--allow", NULL, "ID,...", GENERATE | CHAT, PATH, AT(generate.allowed), AT(generate.allowed_count), 0, 0,
     NULL, "allows only these tokens. May be repeated"},
    {"--beams", NULL, "N", GENERATE, INT, AT(generate.beams), 0, 1, ATTN2C_MOST_SEQUENCES, NULL,
     "searches with N beams, and gives each answer once it is whole; at most the model's number of "
     "sequences. These and the next six options have the defaults of the folder's generation_config.json (1: "
     "no search)"},
    {"--length-penalty", NULL, "X", GENERATE, REAL, AT(generate.length_penalty), 0, 0, 0, NULL,
     "with beams: divides the score of an answer by the number of its tokens to the power X (default 1)"},
    {"--early-stopping", NULL, "WHEN", GENERATE, WORD, AT(generate.early_stopping), 0, ATTN2C_STOP_FALSE, 0,
     "false, true or never",
     "with beams: when a search ends: once its running beams are worse than its N answers (false), once it "
     "has N answers (true), or once no running beam can become better (never)"},
    {"--no-repeat-ngram", NULL, "N", GENERATE | CHAT, INT, AT(generate.no_repeat_ngram), 0, 0, INT32_MAX,
     NULL, "forbids sequences of N tokens that occurred in the prompt or the answer (default 0: none)"},
    {"--min-tokens", NULL, "N", GENERATE | CHAT, TOKENS, AT(generate.min_tokens), 0, 0, INT32_MAX, NULL,
     "forbids stop tokens before an answer has N tokens (default 0)"},
    {"--forced-bos", NULL, "ID|TOKEN", GENERATE, ONCE, AT(generate.forced_bos), 0, 0, 0, NULL,
     "the first token of the answer to a prompt of one token, such as the language of a translation"},
    {"--n-best", NULL, "N", GENERATE, INT, AT(generate.n_best), 0, 1, ATTN2C_MOST_SEQUENCES, NULL,
     "with beams: the N best answers to each prompt, the best one first (default 1)"},
    {"--guess", NULL, "WHAT", GENERATE | CHAT, WORD, AT(generate.guess), 0, 1, 0, "prompt",
     "prompt: where the last tokens occur earlier in the prompt or the answer, the tokens after them are "
     "guesses, which one call verifies: texts that repeat come faster. The text is the same as without"},
    {"--draft", NULL, "F", GENERATE | CHAT, ONCE, AT(generate.draft), 0, 0, 0, NULL,
     "in a program that is built with draft=PATH: the weights of this smaller model, which guesses in place "
     "of repetitions"},
    {"--stop", NULL, "TEXT", GENERATE | CHAT, PATH, AT(generate.stops), AT(generate.stop_count), 0, 0, NULL,
     "ends an answer before this text, also if it begins in one token and ends in another. May be repeated"},
    {"--grammar", NULL, "F", GENERATE | CHAT, ONCE, AT(generate.grammar), 0, 0, 0, NULL,
     "a file in GBNF, as llama.cpp reads it: each answer is a text of this grammar, unless --tokens or the "
     "context ends it before"},
    {"--json-schema", NULL, "F", GENERATE | CHAT, ONCE, AT(generate.json_schema), 0, 0, 0, NULL,
     "a file with a JSON schema: each answer is JSON that it allows, with properties in its order"},
    {"--format", NULL, "FORMAT", CHAT, WORD, AT(answers), 0, ATTN2C_ANSWERS_TEXT, 0, "text or jsonl",
     "text (default), or jsonl: each line is a message, {\"role\": \"user\", \"content\": TEXT}, which goes "
     "on with the chat, or {\"messages\": [...]}, a chat from its beginning. The answer to a last message "
     "that is not the system's or the assistant's is a line with a message and its \"end\", as of generate"},
    {"--format", NULL, "FORMAT", GENERATE, WORD, AT(answers), 0, ATTN2C_ANSWERS_TEXT, 0,
     "text, jsonl, npy, srt or vtt",
     "text (default): the text of one --prompt as it is, while it comes; of several prompts one line each, "
     "with \\n for a line end. jsonl: one JSON object a line. npy: writes the array of --output to the "
     "standard output"},
    {"--output", NULL, "generated=Y.npy", GENERATE, PATH, AT(outputs), AT(output_count), 0, 0, NULL,
     "the tokens of the answers as int64, [prompts][--tokens], with -1 after the last of each. Answers are "
     "then printed only with --format"},
    {"--stride", NULL, "N", PERPLEXITY, TOKENS, AT(stride), 0, 0, INT32_MAX, NULL,
     "tokens that neighbouring windows share (default: half of the context)"},
    {"--logits", NULL, "F", PERPLEXITY, ONCE, AT(generate.logits), 0, 0, 0, NULL,
     "a file to write: the logits of each token that is predicted, of 4 bytes each; or a pipe"},
    {"--compare", NULL, "F", PERPLEXITY, ONCE, AT(compare), 0, 0, 0, NULL,
     "logits that another program wrote with --logits, for the same text and --stride: also prints the KL "
     "divergence from their distributions, and the share of tokens whose largest logit is the same"},
    {"--format", "-o", "FORMAT", PERPLEXITY, WORD, AT(answers), 0, ATTN2C_ANSWERS_TEXT, 0, "text or json",
     "text (default), or json: one JSON object"},
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
  return i < ATTN2C_OPTIONS   ? &attn2c_options[i]
         : &attn2c_the_server ? &attn2c_the_server->options[i - ATTN2C_OPTIONS]
                              : &none;
}
