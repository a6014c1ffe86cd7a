/* replace.c - Replace: replaces every match of a pattern by a text. The new text has the place of
 * the last character that it replaces; at an empty match, the place of the character before. */
#include "text/stages.h"

int text_normalize_replace(attn2c_text_work *work, const text_component *component, const text_buffer *in,
                           text_buffer *out) {
  text_search search = text_search_start(component->regex, work->matcher, in->bytes, in->length);
  size_t last = 0, begin = 0, end = 0;
  search.open = work->is_open;
  int found = in->length != 0;
  while (found) {
    int status = text_search_next(&search, &found, &begin, &end);
    if (status != ATTN2C_OK)
      return status == ATTN2C_FORMAT ? text_fail(work, "a pattern fails or takes too many steps") : status;
    if (!found) break;
    status = text_spend(&work->budget, component->b.length);
    if (status == ATTN2C_OK) status = text_copy(out, in, last, begin);
    if (status == ATTN2C_OK) status = text_reserve(out, component->b.length);
    if (status != ATTN2C_OK) return status;
    text_origin origin = {in->shift, in->shift};
    if (end) origin = in->origins[end - 1];
    text_put(out, component->b.bytes, component->b.length, origin);
    last = end;
  }
  return text_copy(out, in, last, work->is_open && in->length ? search.settled : in->length);
}
