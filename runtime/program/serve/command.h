/* command.h - the command `serve`, which only programs have that are built with --serve. */
#pragma once

#include "program/options.h"

/* Data of the command for the program's main, its options and its help. In a program without it
 * attn2c_the_server is not defined. */
typedef struct attn2c_server_command {
  const char *name;
  const char *in_list; /* its line in the list of commands */
  const attn2c_help_page *page;
  const attn2c_option *options; /* ATTN2C_SERVER_OPTIONS */
  attn2c_model_command *run;
} attn2c_server_command;
extern const attn2c_server_command *const attn2c_the_server __attribute__((weak));

/* The options of the command `serve`, and the texts of its help. */

extern const attn2c_option attn2c_server_options[ATTN2C_SERVER_OPTIONS];
extern const attn2c_help_page attn2c_server_page;
