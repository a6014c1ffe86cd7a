/* rows.c - the options of the commands of models that continue sequences. gen/deploy/program_manual.lua reads
 * them. */
#include "program/generate/command.h"
#include "program/option_rows.h"

const attn2c_option attn2c_generation_options[ATTN2C_GENERATION_OPTIONS] = {
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
     "for a model that writes down speech: the features of a sound, [rows][width], as N_features makes them. "
     "May be repeated"},
    {"--language", NULL, "CODE", GENERATE, ONCE, AT(generate.language), 0, 0, 0, NULL,
     "the language that is spoken, such as en; auto (default): the first window says it"},
    {"--task", NULL, "TASK", GENERATE, WORD, AT(generate.task), 0, ATTN2C_TASK_TRANSCRIBE, 0,
     "transcribe or translate", "transcribe (default): what is said, as it is said; translate: in English"},
    {"--timestamps", NULL, NULL, GENERATE, FLAG, AT(generate.timestamps), 0, 0, 0, NULL,
     "each segment of what is said has its times. A sound that is longer than a window is always read with "
     "timestamps"},
    {"--condition-on-previous-text", NULL, "WORD", GENERATE, WORD, AT(generate.goes_on), 0, 1, 0, "yes or no",
     "whether a window of speech goes on from the text before it (default: condition_on_prev_tokens of the "
     "folder's generation_config.json, else yes). no: a window that repeats itself spoils no other"},
    {"--carry-initial-prompt", NULL, NULL, GENERATE, FLAG, AT(generate.carries), 0, 0, 0, NULL,
     "each window of speech goes on from --prompt, not only the first one"},
    {"--compression-ratio-threshold", NULL, "X", GENERATE, ONCE, AT(generate.compression), 0, 0, 0, NULL,
     "the most that zlib may pack the text of a window, 0 to 1000, or none; an answer beyond is drawn again "
     "(default: the folder's, else 2.4)"},
    {"--logprob-threshold", NULL, "X", GENERATE, ONCE, AT(generate.score), 0, 0, 0, NULL,
     "the least mean log-probability of a window's answer, -1000 to 0, or none (default: the folder's, else "
     "-1)"},
    {"--no-speech-threshold", NULL, "X", GENERATE, ONCE, AT(generate.silence), 0, 0, 0, NULL,
     "the probability of silence, 0 to 1, from which a window with a worse answer is left out, or none "
     "(default: the folder's, else 0.6)"},
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
     "sequences. These and the next five options have the defaults of the folder's generation_config.json "
     "(1: "
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
     "standard output. srt, vtt: cues of SubRip or WebVTT, of one sound"},
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
};
