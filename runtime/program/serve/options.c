/* options.c - the options of the command `serve`, and its help. gen/deploy/program_manual.lua reads both. */
#include "program/option_rows.h"
#include "program/serve/command.h"

const attn2c_option attn2c_server_options[ATTN2C_SERVER_OPTIONS] = {
    {"--host", NULL, "ADDRESS", SERVE, ONCE, AT(serve.host), 0, 0, 0, NULL,
     "the address to listen on (default 127.0.0.1: only this machine; 0.0.0.0 or ::: all that reach it)"},
    {"--port", NULL, "N", SERVE, INT, AT(serve.port), 0, 0, 65535, NULL,
     "the port (default 8080; 0: a free one). The first line of the output is the address"},
    {"--guess", NULL, "WHAT", SERVE, WORD, AT(generate.guess), 0, 1, 0, "prompt",
     "prompt: guesses tokens of texts that repeat, as of generate; answers are the same"},
    {"--draft", NULL, "F", SERVE, ONCE, AT(generate.draft), 0, 0, 0, NULL,
     "in a program that is built with draft=PATH: the weights of this smaller model, which guesses in place "
     "of repetitions"},
    {"--unix", NULL, "PATH", SERVE, ONCE, AT(serve.path), 0, 0, 0, NULL,
     "listens on a socket file in place of a port"},
    {"--api-key-file", NULL, "F", SERVE, ONCE, AT(serve.key_file), 0, 0, 0, NULL,
     "a file whose first line is the key that clients must send: `Authorization: Bearer KEY`. Without it "
     "none is needed. / and /health need none"},
    {"--sequences", NULL, "S", SERVE, INT, AT(serve.sequences), 0, 1, ATTN2C_MOST_SEQUENCES, NULL,
     "answers that are written side by side, at most (default: the sequences that the model was built for)"},
    {"--max-waiting", NULL, "Q", SERVE, INT, AT(serve.waiting), 0, 1, 100000, NULL,
     "requests that wait for their turn, at most (default 512). Others get status 503 and Retry-After"},
    {"--log", NULL, "FORM", SERVE, WORD, AT(serve.log), 0, 1, 0, "none, text or jsonl",
     "a line for each request on the standard error, without texts of clients: text (default), jsonl, or "
     "none"},
};

const attn2c_help_page attn2c_server_page = {
    "serve", "--weights F [OPTION...]",
    "Answers over HTTP: OpenAI's routes, and others that the model's kind has. GET /v1/models and\n"
    "/metrics say more.\n",
    "Requests are computed side by side, and no answer depends on the others. SIGTERM and SIGINT end it\n"
    "once all requests have their reply, after at most 30 seconds.\n"};
