/* compared.c - writes logits as a stream, and compares a stream with a program's own logits. The
 * stream begins with the mark and four numbers: the tokens of the text, of a window, of those that two
 * windows share, and of the vocabulary. Each predicted token follows: its id, then the logits. */
#include "program/generate/compared.h"
#include "system/system.h"

#include <errno.h>
#include <math.h>

static const char mark[16] = "attn2c logits 2\n"; /* the last number is the version */
enum { NAME = 14 };                               /* bytes of the mark before the version */
/* Bytes of the numbers: they are the members of attn2c_logits_facts. */
enum { FACTS = offsetof(attn2c_logits_facts, vocabulary) + sizeof(int32_t) };

struct attn2c_compared {
  FILE *in;
  const char *path;
  attn2c_logits_facts facts;
  int64_t count;                                                                     /* compared so far */
  float *other;                                                                      /* [vocabulary] */
  double *divergence;                                                                /* [tokens] */
  double nats, other_nats, growth_square, product, square, other_square, difference; /* sums */
  int64_t equal;
};

int attn2c_logits_begin(FILE *out, const attn2c_logits_facts *facts) {
  return fwrite(mark, sizeof mark, 1, out) == 1 && fwrite(facts, FACTS, 1, out) == 1;
}

int attn2c_logits_write(FILE *out, int32_t id, const float *x, int32_t vocabulary) {
  return fwrite(&id, sizeof id, 1, out) == 1 &&
         fwrite(x, sizeof *x, (size_t)vocabulary, out) == (size_t)vocabulary;
}

static int read_head(attn2c_compared *self, attn2c_message *message) {
  const attn2c_logits_facts *own = &self->facts;
  char begin[sizeof mark];
  attn2c_logits_facts other;
  if (fread(begin, sizeof begin, 1, self->in) != 1 || memcmp(begin, mark, NAME) != 0)
    attn2c_say(message, "--compare: %s: is not a file of --logits", self->path);
  else if (memcmp(begin, mark, sizeof mark) != 0)
    attn2c_say(message, "--compare: %s: is a file of --logits of another version: write it again",
               self->path);
  else if (fread(&other, FACTS, 1, self->in) != 1)
    attn2c_say(message, "--compare: %s: is not a file of --logits, or is cut off", self->path);
  else if (other.tokens != own->tokens || other.vocabulary != own->vocabulary)
    attn2c_say(message,
               "--compare: %s: has logits of %" PRId64 " tokens for a vocabulary of %d, but %" PRId64
               " and %d are expected",
               self->path, other.tokens, other.vocabulary, own->tokens, own->vocabulary);
  else if (other.window != own->window || other.stride != own->stride)
    attn2c_say(message,
               "--compare: %s: has logits of windows of %" PRId64 " tokens with --stride %" PRId64
               ", but of %" PRId64 " with --stride %" PRId64 " are expected",
               self->path, other.window, other.stride, own->window, own->stride);
  else
    return ATTN2C_OK;
  return ATTN2C_FORMAT;
}

int attn2c_compared_open(const char *path, const attn2c_logits_facts *facts, attn2c_compared **made,
                         attn2c_message *message) {
  attn2c_compared *self = calloc(1, sizeof *self);
  *made = self;
  if (self) {
    self->path = path, self->facts = *facts;
    self->other = malloc((size_t)facts->vocabulary * sizeof *self->other);
    self->divergence = malloc((size_t)facts->tokens * sizeof *self->divergence);
  }
  if (!self || !self->other || !self->divergence)
    return attn2c_fail(message, ATTN2C_MEMORY, "--compare: out of memory");
  const int descriptor = attn2c_system_open(path, O_RDONLY);
  self->in = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
  if (!self->in) return attn2c_fail(message, ATTN2C_IO, "--compare: %s: %s", path, strerror(errno));
  return read_head(self, message);
}

/* Returns the standard error of the mean of `count` numbers, from the sums of them and of their squares. */
static double standard_error(double sum, double square, double count) {
  const double spread = square - sum * sum / count; /* below 0 it is rounding */
  return count > 1 && spread > 0 ? sqrt(spread / (count - 1) / count) : 0;
}

/* Returns the place of the largest number, the first of equal ones, and log(sum of e^x). */
static int32_t look_at(const float *x, int32_t count, double *log_sum) {
  int32_t at = 0;
  double sum = 0;
  for (int32_t i = 1; i < count; i++)
    if (x[i] > x[at]) at = i;
  for (int32_t i = 0; i < count; i++) sum += exp((double)x[i] - (double)x[at]);
  *log_sum = log(sum) + (double)x[at];
  return at;
}

int attn2c_compared_add(attn2c_compared *self, int32_t id, const float *x, attn2c_message *message) {
  const int32_t count = self->facts.vocabulary;
  const float *y = self->other;
  int32_t other_id;
  if (self->count == self->facts.tokens || fread(&other_id, sizeof other_id, 1, self->in) != 1 ||
      fread(self->other, sizeof *y, (size_t)count, self->in) != (size_t)count)
    return attn2c_fail(message, ATTN2C_FORMAT, "--compare: %s: ends after %" PRId64 " tokens", self->path,
                       self->count);
  if (other_id != id)
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "--compare: %s: predicts token %d, but %d is expected: its text was another",
                       self->path, other_id, id);
  double own_sum, other_sum, divergence = 0;
  self->equal += look_at(x, count, &own_sum) == look_at(y, count, &other_sum);
  for (int32_t i = 0; i < count; i++) {
    const double a = (double)x[i], b = (double)y[i], log_p = b - other_sum;
    if (log_p > -745) divergence += exp(log_p) * (log_p - (a - own_sum)); /* e^-745 is the least double */
    self->product += a * b, self->square += a * a, self->other_square += b * b;
    self->difference += (a - b) * (a - b);
  }
  if (!isfinite(divergence))
    return attn2c_fail(message, ATTN2C_FORMAT,
                       "--compare: the logits that predict token %" PRId64 " have NaN or infinity",
                       self->count);
  const double nats = own_sum - (double)x[id], other_nats = other_sum - (double)y[id];
  self->nats += nats, self->other_nats += other_nats;
  self->growth_square += (nats - other_nats) * (nats - other_nats);
  self->divergence[self->count++] = divergence > 0 ? divergence : 0; /* below 0 it is rounding */
  if (self->count < self->facts.tokens - 1 || fgetc(self->in) == EOF) return ATTN2C_OK;
  return attn2c_fail(message, ATTN2C_FORMAT, "--compare: %s: goes on after the last of %" PRId64 " tokens",
                     self->path, self->count);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

attn2c_text_comparison attn2c_compared_result(attn2c_compared *self) {
  const double count = (double)self->count, both = sqrt(self->square) * sqrt(self->other_square);
  double sum = 0;
  for (int64_t i = 0; i < self->count; i++) sum += self->divergence[i];
  qsort(self->divergence, (size_t)self->count, sizeof *self->divergence, by_size);
  return (attn2c_text_comparison){
      .nats = self->nats / count,
      .other_nats = self->other_nats / count,
      .nats_error = standard_error(self->nats - self->other_nats, self->growth_square, count),
      .kl = sum / count,
      .kl_percentile = self->divergence[(self->count * 99 + 99) / 100 - 1],
      .equal_greedy = (double)self->equal / count,
      .cosine = both > 0 ? self->product / both : 1,
      .relative_error = self->other_square > 0 ? sqrt(self->difference / self->other_square) : 0};
}

void attn2c_compared_close(attn2c_compared *self) {
  if (!self) return;
  if (self->in) fclose(self->in);
  ATTN2C_FREE(self->other, self->divergence, self);
}
