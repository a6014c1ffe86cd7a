/* group.h - texts that are computed together: their tokens, and the outputs of the model for them. `run` of
 * texts and the server fill a group, compute it, and read the view of each text. */
#pragma once

#include "program/text/view.h"

/* The most texts or windows of a group. */
#define ATTN2C_GROUP_TEXTS 1024

typedef struct attn2c_text_group {
  attn2c_reader *reader;
  attn2c_view_of_text views[ATTN2C_GROUP_TEXTS]; /* one for each text or window */
  int count;
  int64_t rows;          /* of the longest text */
  int output_count;      /* of the model */
  unsigned char *wanted; /* by output, 1: it is computed */
  void **outputs;        /* of the last call; NULL: not wanted, or a caller has taken it */
} attn2c_text_group;

/* Creates the reader and the lists. Returns ATTN2C_OK, _FORMAT or _MEMORY; it is closed in every case. */
int attn2c_group_open(attn2c_text_group *group, const attn2c_descriptor *model, attn2c_message *message);
void attn2c_group_close(attn2c_text_group *group);

/* Returns the number of texts whose outputs fit into memory if they are as long as possible. */
int attn2c_group_most(const attn2c_text_group *group);

/* Returns the bytes of the picture that a text's page has; 0: the model takes none with texts. */
size_t attn2c_group_image(const attn2c_text_group *group);

/* Adds a text without an embedding of its own yet, or a window. Returns ATTN2C_OK, _USAGE if it has more
 * tokens than a call takes, or _MEMORY; reader->fault says why. */
int attn2c_group_add(attn2c_text_group *group, const attn2c_line *line, const attn2c_text_tokens *tokens);

/* Gives the text that was added last the picture of its page, which is copied; or removes it. Returns
 * ATTN2C_OK or _MEMORY. */
int attn2c_group_give_image(attn2c_text_group *group, const float *image);

/* Computes the outputs that are wanted. Returns a status of attn2c_reader_run; reader->fault says why. */
int attn2c_group_run(attn2c_text_group *group, attn2c_context *context);

/* Returns the values of an output for the text of a view's slot. */
const float *attn2c_group_values(const attn2c_text_group *group, int output, size_t slot);

/* Returns the view of a text that was computed, with the scores of its answer. */
attn2c_view_of_text *attn2c_group_view(attn2c_text_group *group, int number);

/* Frees the outputs, and forgets the texts. */
void attn2c_group_drop(attn2c_text_group *group);
void attn2c_group_forget(attn2c_text_group *group);
