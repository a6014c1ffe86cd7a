/* left_out.c - finds a message that a template leaves out: another text in it changes nothing. */
#include "model/text/left_out.h"

enum { MOST_TRIED = 8 };

static int has_role(const attn2c_chat_message *message, const char *role, size_t length) {
  return message->role_length == length && memcmp(message->role, role, length) == 0;
}

static int is_blank(const attn2c_chat_message *message) {
  size_t at = 0;
  while (at < message->content_length && memchr(" \t\r\n", message->content[at], 4)) at++;
  return at == message->content_length;
}

int attn2c_chat_left_out(const attn2c_chat_template *template, const attn2c_chat_message *messages,
                         size_t count, const attn2c_chat_options *options, const char *text, size_t length,
                         size_t *found) {
  ATTN2C_OWN attn2c_chat_message *copy = malloc(count * sizeof *copy + 1);
  attn2c_chat_work *work = NULL;
  size_t tried[MOST_TRIED], tries = 0;
  int status = copy ? ATTN2C_OK : ATTN2C_MEMORY;
  if (count && copy) memcpy(copy, messages, count * sizeof *copy);
  *found = count;
  for (size_t i = count; i-- > 0 && tries < MOST_TRIED && *found == count && status == ATTN2C_OK;) {
    const attn2c_chat_message *own = &messages[i];
    int skips = has_role(own, "user", 4) || has_role(own, "assistant", 9) || is_blank(own);
    for (size_t k = 0; k < tries && !has_role(own, "system", 6); k++)
      skips |= has_role(own, messages[tried[k]].role, messages[tried[k]].role_length);
    if (skips) continue;
    tried[tries++] = i;
    /* No part of the own text, which the template may trim. */
    copy[i].content = memchr(own->content, '-', own->content_length) ? "+" : "-", copy[i].content_length = 1;
    const char *other;
    size_t bytes;
    char fault[8];
    status = template->render(template, &work, copy, count, options, &other, &bytes, fault, sizeof fault);
    if (status == ATTN2C_OK && bytes == length && memcmp(other, text, length) == 0) *found = i;
    if (status == ATTN2C_FORMAT) status = ATTN2C_OK; /* it reads the text, and refuses the other one */
    copy[i] = *own;
  }
  if (work) template->release(work);
  return status;
}
