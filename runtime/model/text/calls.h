/* calls.h - runs texts through a model: encodes them, fills a batch of them up to the length of a call,
 * and copies the rows of each text to its place in the outputs. A model of any length takes several texts in
 * a call, without padding (rows.c). The library's interface for text and the program share this. */
#pragma once

#include "model/text/spans.h"

/* Creates a reader. Returns ATTN2C_OK, _MEMORY, or _FORMAT if the tables are damaged or PCRE2 refuses one of
 * their patterns, which the message says; then *reader is NULL. */
int attn2c_reader_create(const attn2c_descriptor *model, const attn2c_text_facts *facts,
                         attn2c_reader **reader, attn2c_message *message);
void attn2c_reader_destroy(attn2c_reader *reader);

/* Chooses the prompt of later texts by its name; NULL: the usual one. Returns ATTN2C_OK; _USAGE: there is no
 * such prompt; _MEMORY. */
int attn2c_reader_prompt(attn2c_reader *reader, const char *name);

/* Sets the languages of later texts by their codes; NULL: the usual one. Sets *start to the token that
 * answers start after, and *first to their first token; -1: the usual ones. Returns ATTN2C_OK; _USAGE: there
 * is no such language, or the model finds the source's by itself. */
int attn2c_reader_languages(attn2c_reader *reader, const char *source, const char *target, int32_t *start,
                            int32_t *first);

/* Sets how many numbers of an embedding are kept, from the first; 0: the usual number. Returns ATTN2C_OK;
 * _USAGE: the embedding has fewer, or the model's answer is none. */
int attn2c_reader_dimensions(attn2c_reader *reader, size_t count);

/* Encodes a text or a pair, cut to `most` tokens (0: what a call takes). The longer one is cut, at the end
 * that tokenizer.json states. Returns ATTN2C_OK, _FORMAT or _MEMORY. */
int attn2c_reader_encode(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, size_t most, attn2c_text_tokens *tokens);

/* Encodes a question, with the model's prompt before it, and a window of a second text that may hold its
 * answer. The question stays whole. The window is the first one, or the last one if tokenizer.json cuts from
 * the left. `stride`: tokens that neighbouring windows share; ATTN2C_STRIDE_USUAL: 128, or half of the tokens
 * that the question leaves if that is less. attn2c_reader_next_window then returns the other windows, one
 * after the other, until tokens->removed is 0: no token is left for a later window. Returns ATTN2C_OK;
 * ATTN2C_USAGE: the stride is larger than a window; ATTN2C_FORMAT: the question leaves no token;
 * ATTN2C_MEMORY. */
#define ATTN2C_STRIDE_USUAL (-1)
int attn2c_reader_window(attn2c_reader *reader, const char *text, size_t length, const char *pair,
                         size_t pair_length, int64_t stride, attn2c_text_tokens *tokens);
int attn2c_reader_next_window(attn2c_reader *reader, attn2c_text_tokens *tokens);

/* Decodes ids to text (text.h), which is in the tokenizer's memory until its next call. */
int attn2c_reader_decode(attn2c_reader *reader, const int32_t *ids, size_t count, int skip_special,
                         const char **text, size_t *length);

/* Writes a chat as the model's chat template says (chat_template.h). The text is in the reader's memory until
 * its next chat. Returns ATTN2C_USAGE also if the model has no template. */
int attn2c_reader_chat(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                       const attn2c_chat_options *options, const char **text, size_t *length);

/* Finds a message that the template leaves out (left_out.h). Statuses as above. */
int attn2c_reader_left_out(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                           const attn2c_chat_options *options, size_t *found);

/* Encodes a chat's text without a limit, and without the special tokens that tokenizer.json adds: the
 * template writes those that a chat has. The model's prompt is not put before it. Statuses as above. */
int attn2c_reader_chat_tokens(attn2c_reader *reader, const attn2c_chat_message *messages, size_t count,
                              const attn2c_chat_options *options, attn2c_text_tokens *tokens);

/* Begin a new call, and add the text to it that was encoded last. */
void attn2c_reader_begin(attn2c_reader *reader);
int attn2c_reader_add(attn2c_reader *reader, const attn2c_text_tokens *tokens);

/* Computes the texts that were added. outputs: in the order of the entries', NULL if not wanted. Each has
 * [texts] where an entry has its batch, and `rows` where it has its rows or keys; zeros follow a text's own
 * rows. A text without tokens has zeros only. Returns ATTN2C_OK, _USAGE if the model has inputs that text
 * does not give, _FORMAT or _MEMORY. */
int attn2c_reader_run(attn2c_reader *reader, attn2c_context *context, int64_t rows, void *const *outputs);

/* Computes a text, and finds its spans. Returns a status of attn2c_reader_run, or of the functions above. */
int attn2c_reader_spans(attn2c_reader *reader, attn2c_context *context, const char *text, size_t length,
                        const attn2c_found_span **spans, size_t *count);
