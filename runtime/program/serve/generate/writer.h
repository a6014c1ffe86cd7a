/* writer.h - writes the answers of all requests side by side, in the engine's thread. A step gives
 * each answer its next token, and reads parts of new prompts in the same call of the model. */
#pragma once

#include "program/serve/generate/generate.h"

typedef struct attn2c_writing attn2c_writing;

/* sequences: answers at a time. Returns ATTN2C_OK or _MEMORY. */
int attn2c_writing_create(attn2c_server *server, int32_t sequences, attn2c_writing **writing);
/* Frees also the requests that it has. */
void attn2c_writing_free(attn2c_writing *writing);
/* The two functions of attn2c_engine_writer. */
int attn2c_writing_admit(void *writing, attn2c_job *job);
int attn2c_writing_step(void *writing);
