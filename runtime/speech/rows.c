#include "speech/rows.h"

#include "generate/bits.h"

int64_t attn2c_speech_rows_room(const attn2c_feature_facts *facts, int64_t window, int64_t width) {
  return (facts->margin / facts->hop + 1 + window) * width;
}

static int no_features(int status, const char *name, attn2c_message *message) {
  return status == ATTN2C_OK
             ? status
             : attn2c_fail(message, status, "%s: no features: %s", name, attn2c_strerror(status));
}

static float largest_of(const float *features, int64_t count, float largest) {
  for (int64_t i = 0; i < count; i++) largest = features[i] > largest ? features[i] : largest;
  return largest;
}

/* Makes the features from a row of a long sound on, up to a window. Numbers are not limited. */
static int read_rows(attn2c_speech_rows *r, int64_t row, const char *name, attn2c_message *message) {
  attn2c_feature_facts made = *r->facts;
  attn2c_samples *s = r->samples;
  /* Rows near the beginning are made of reflected samples, with all before them. */
  const int64_t from = row * made.hop < made.margin ? 0 : row, before = row - from;
  made.margin = from > 0 ? 0 : made.margin;
  const int64_t first = from * made.hop - (from > 0 ? r->facts->margin : 0);
  if (first > s->first) s->drop(s, first - s->first);
  ATTN2C_TRY(attn2c_samples_fill(s, (row + r->window) * made.hop + made.length - s->first, message));
  r->count = s->is_end ? (s->first + s->count) / made.hop : row + r->window;
  if (r->count > row + r->window) r->count = row + r->window;
  r->first = row, r->room = r->count - row;
  r->features = r->memory + before * r->width;
  if (r->room < 1) return ATTN2C_OK;
  made.rows = before + r->room, made.samples = made.rows * made.hop + made.length, made.range = 0;
  int status = attn2c_features(r->context, &made, s->samples + (first - s->first),
                               s->count - (first - s->first), r->memory, made.rows);
  return no_features(status, name, message);
}

int attn2c_speech_rows_read(attn2c_speech_rows *r, int64_t row, const char *name, attn2c_message *message) {
  if (!r->facts || !r->is_long) return ATTN2C_OK;
  const int status = read_rows(r, row, name, message);
  if (status != ATTN2C_OK || r->count <= row) return status;
  const int64_t count = r->room * r->width;
  float *window = r->memory + (r->features - r->memory);
  const float least = largest_of(window, count, r->largest) - r->facts->range;
  for (int64_t i = 0; i < count && r->facts->range > 0; i++)
    window[i] = window[i] < least ? least : window[i];
  return ATTN2C_OK;
}

/* Finds the largest number of a long sound, and begins it again. */
static int find_largest(attn2c_speech_rows *r, const char *name, attn2c_message *message) {
  r->count = 0;
  for (int64_t row = 0; row == r->count; row += r->window) {
    ATTN2C_TRY(read_rows(r, row, name, message));
    r->all = r->count;
    r->largest = largest_of(r->features, (r->count - row) * r->width, r->largest);
  }
  return r->samples->again(r->samples, message);
}

/* Makes the features of samples that a window holds. */
static int make_window(attn2c_speech_rows *r, int64_t begin, int64_t end, const char *name,
                       attn2c_message *message) {
  const int64_t count = end - begin;
  const int is_filled = r->facts->samples > 0;
  r->features = r->memory, r->is_long = 0;
  r->room = is_filled ? r->window : attn2c_feature_rows(r->facts, count);
  r->count = !is_filled ? r->room : count / r->facts->hop > 0 ? count / r->facts->hop : 1;
  if (count < 1 || r->room < 1)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: there is no sound in it", name);
  return no_features(
      attn2c_features(r->context, r->facts, r->samples->samples + begin, count, r->memory, r->room), name,
      message);
}

int attn2c_speech_rows_begin(attn2c_speech_rows *r, int64_t begin, int64_t end, const char *name,
                             attn2c_message *message) {
  attn2c_samples *s = r->samples;
  r->first = r->all = 0, r->largest = attn2c_bits_float(ATTN2C_NEGATIVE_INFINITE_BITS);
  if (end > 0) return make_window(r, begin, end, name, message);
  ATTN2C_TRY(attn2c_samples_fill(s, r->window * r->facts->hop + r->facts->length, message));
  if (s->is_end && s->count / r->facts->hop <= r->window) return make_window(r, 0, s->count, name, message);
  r->is_long = 1, r->count = 0;
  return s->again && r->facts->range > 0 ? find_largest(r, name, message) : ATTN2C_OK;
}
