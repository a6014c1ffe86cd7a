/* agree.c - lets all ranks go on with one status and one message. */

#include "ranks/inner.h"

/* The longest message that ranks give to each other, in bytes. */
enum { MOST_TEXT = 4096 };

static void wait_for(const attn2c_ranks *ranks, int error, MPI_Request *request) {
  attn2c_ranks_made(ranks, error);
  attn2c_ranks_requests(ranks, 1, request);
}

/* Writes a text's lines into an empty message, with `before` in front of each. */
static void say_lines(attn2c_message *message, const char *before, const char *lines) {
  while (*lines != '\0') {
    const size_t length = strcspn(lines, "\n");
    attn2c_say(message, "%s%.*s", before, (int)length, lines);
    lines += length + (lines[length] == '\n');
  }
}

int attn2c_ranks_agree(attn2c_ranks *ranks, int status, attn2c_message *message) {
  if (!ranks || ranks->count == 1 || ranks->counted) return status;
  int32_t own = status, all[ATTN2C_RANKS_MOST];
  MPI_Request request;
  wait_for(ranks, MPI_Iallgather(&own, 1, MPI_INT32_T, all, 1, MPI_INT32_T, ranks->all, &request), &request);
  int first = 0, failed = 0;
  for (int i = ranks->count - 1; i >= 0; i--)
    if (all[i] != ATTN2C_OK) first = i, failed++;
  if (failed == 0) return ATTN2C_OK;
  char text[MOST_TEXT] = "", before[32] = "";
  if (ranks->own == first && message->text && message->size > 0)
    snprintf(text, sizeof text, "%s", message->text);
  wait_for(ranks, MPI_Ibcast(text, sizeof text, MPI_CHAR, first, ranks->all, &request), &request);
  if (failed < ranks->count) snprintf(before, sizeof before, "rank %d: ", first);
  message->used = 0;
  if (message->text && message->size > 0) message->text[0] = '\0';
  say_lines(message, before, *text ? text : attn2c_strerror(all[first]));
  return all[first];
}

int attn2c_ranks_compare(attn2c_ranks *ranks, uint64_t identity, const char *what, attn2c_message *message) {
  uint64_t all[ATTN2C_RANKS_MOST];
  MPI_Request request;
  if (!ranks || ranks->count == 1) return ATTN2C_OK;
  wait_for(ranks, MPI_Iallgather(&identity, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, ranks->all, &request),
           &request);
  for (int i = 1; i < ranks->count; i++) {
    if (all[i] == all[0]) continue;
    return attn2c_fail(message, ATTN2C_FORMAT, "rank %d has other %s than rank 0", i, what);
  }
  return ATTN2C_OK;
}
