/* ranks_open.h - opens a model of ranks: each opens its part, and all get the same status. */
#pragma once

#include "model/model.h"
#include "ranks/open.h"

/* Opens the weights for a rank's descriptor, or for that of the whole model. */
typedef int (*attn2c_choose_source)(const void *context, const attn2c_descriptor *model,
                                    attn2c_source **source, attn2c_message *message);

/* Opens this rank's part; a meeting of all. Returns the first rank's status that is not ATTN2C_OK, with its
 * message, or ATTN2C_FORMAT if one has other weights. */
int attn2c_ranks_open_model(attn2c_ranks *ranks, const attn2c_divided *divided, attn2c_choose_source choose,
                            const void *context, attn2c_model **model, attn2c_message *message);

/* Returns the facts in which the ranks of a model agree. */
attn2c_ranks_wanted attn2c_ranks_want(const attn2c_descriptor *whole);

/* Opens the part of one rank by itself, of its descriptor: its meetings move nothing (ranks/open.h). */
int attn2c_model_open_part(const attn2c_descriptor *own, attn2c_source *source, attn2c_model **model,
                           attn2c_message *message);

/* Opens ranks over a copy of a communicator, and the model on all of them. Closing the model closes them.
 * Contexts are made, and calls made, by all ranks in the same order, with the same inputs. */
int attn2c_model_open_ranks(const attn2c_descriptor *whole, MPI_Comm communicator, const char *path,
                            attn2c_model **model, char *text, size_t size);
