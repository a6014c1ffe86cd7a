/* options.h - the options of the command `serve`, and the texts of its help. */
#pragma once

#include "program/options.h"

extern const attn2c_option attn2c_server_options[ATTN2C_SERVER_OPTIONS];
extern const attn2c_help_page attn2c_server_page;
