/* chat_input.h - what a chat template sees: the caller's messages and flags, special tokens, functions. */
#pragma once

#include "chat/chat_values.h"

/* Returns the bytes of the caller's texts; SIZE_MAX if they are too many. */
size_t chat_input_bytes(const attn2c_chat_message *messages, size_t count,
                        const attn2c_chat_options *options);
/* Makes work->inputs. Returns ATTN2C_USAGE for a name that is not allowed. */
int chat_make_inputs(attn2c_chat_work *work, const attn2c_chat_message *messages, size_t count,
                     const attn2c_chat_options *options);
