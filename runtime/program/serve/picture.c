/* picture.c - the routes of models of pictures. */
#include "base/picture_facts.h"
#include "program/serve/media.h"

static int is_embedding(void) { return attn2c_the_picture_facts->answer == ATTN2C_ANSWER_EMBEDDING; }

static int embeds(const attn2c_server *server) { return !server->model->continued && is_embedding(); }

static int predicts(const attn2c_server *server) { return !server->model->continued && !is_embedding(); }

static const attn2c_route routes[] = {
    {ATTN2C_HTTP_POST, "/v1/embeddings", attn2c_media_embed, ATTN2C_ERRORS_OPENAI, ATTN2C_TAKES_BYTES, 0,
     embeds},
    {ATTN2C_HTTP_POST, "/predict", attn2c_media_predict, ATTN2C_ERRORS_TEI, ATTN2C_TAKES_BYTES, 0, predicts},
    {0}};

const attn2c_server_part attn2c_server_picture = {
    .open = attn2c_media_open, .close = attn2c_media_close, .routes = routes, .most_body = (size_t)26 << 20};
