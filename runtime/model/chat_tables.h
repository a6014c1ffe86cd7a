/* chat_tables.h - what an emitted chat template includes: its types, and the numbers of its steps. */
#pragma once

#include "chat/chat_numbers.h"
#include "chat/chat_template.h"
