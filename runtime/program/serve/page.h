/* page.h - the page that tries the model in a browser: `/`, and `/routes`, from which it knows what there is.
 */
#pragma once

#include "program/serve/server.h"

void attn2c_page_reply(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
void attn2c_page_routes(attn2c_server *server, attn2c_exchange *exchange, const json_t *given);
