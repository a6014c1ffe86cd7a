/* options.h - the options of writing down speech, of the command line. */
#pragma once

#include "base/sound_facts.h"
#include "program/arguments.h"
#include "speech/transcribe.h"

/* Reads the options. Returns ATTN2C_OK, or ATTN2C_USAGE and a line for each fault. */
int attn2c_speech_options_read(const attn2c_arguments *arguments, const attn2c_descriptor *model,
                               attn2c_speech_options *options, attn2c_answer_format *format,
                               attn2c_message *message);
