/* rank_facts.h - declares the programs of the ranks of a model, and the program's functions for them. */
#pragma once

#include "base/descriptor.h"

/* The programs of all ranks, in order. Other models do not define it. */
extern const attn2c_program *const *const attn2c_the_rank_programs __attribute__((weak));

/* The functions of program/ranks/program.h, for programs of models of several ranks; others have neither. */
typedef struct attn2c_rank_commands attn2c_rank_commands;
extern const attn2c_rank_commands attn2c_rank_program;
extern const attn2c_rank_commands *const attn2c_the_ranks __attribute__((weak));
