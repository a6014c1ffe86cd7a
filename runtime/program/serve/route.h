/* route.h - finds the route of a request, checks its key, reads its JSON, and calls the route. */
#pragma once

#include "program/serve/server.h"

/* The options.handle and options.ended of http.h; the context is the server. */
void attn2c_route_handle(void *server, attn2c_exchange *exchange);
void attn2c_route_ended(void *server, const attn2c_exchange *exchange);

/* Reads the key of --api-key-file: a line. Returns ATTN2C_OK, or another status and a line. */
int attn2c_route_read_key(const char *path, char **key, attn2c_message *message);
