/* chat_tables.h - what an emitted chat template includes: its types, and the numbers of its steps. */
#ifndef ATTN2C_CHAT_TABLES_H
#define ATTN2C_CHAT_TABLES_H

#include "chat/chat_numbers.h"
#include "chat/chat_template.h"

#endif
