/* fake_calls.h - a fake model for tests of answers: its logits are a hash of all that a sequence has read, so
 * that a wrong cache gives other tokens; or of the last few tokens, so that texts repeat. */
#pragma once

#include "generate/answers.h"

#include "faults.h"
#include "generate/draw.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = 50, TOKENS = 600, MOST_SEQUENCES = 4 };

/* The tokens that the fake model keeps, and those that it has read. */
typedef struct {
  int32_t ids[MOST_SEQUENCES][TOKENS], counts[MOST_SEQUENCES];
  int32_t window;    /* the most tokens that rewind can forget */
  int32_t nan_after; /* this token makes the next logits NaN; -1: none */
  int fails;         /* status of decode */
  int64_t read;      /* tokens of prefill */
  int copies, steps, widest;
  int64_t copied; /* tokens */
  int32_t reach;  /* the last tokens that logits depend on; 0: all */
} fake;

static const attn2c_beam_options ONE = {.beams = 1, .length_penalty = 1, .forced_bos = -1};
static fake model;
static int is_guessed; /* 1: answer_all() verifies guesses */
static int32_t reach;  /* fake.reach of answer_all() */
static char text[4096];
static attn2c_message message;

static void write_logits(const fake *m, int32_t sequence, float *logits) {
  uint64_t hash = 1;
  const int32_t last = m->reach > 0 && m->reach < m->counts[sequence] ? m->reach : m->counts[sequence];
  for (int32_t i = m->counts[sequence] - last; i < m->counts[sequence]; i++)
    hash = attn2c_draw_mix(hash * 31 + (uint64_t)m->ids[sequence][i] + 1);
  for (int32_t i = 0; i < VOCABULARY; i++)
    logits[i] = (float)(attn2c_draw_bits(hash, (uint64_t)i) >> 40) * 0x1p-22f;
  if (m->nan_after >= 0 && m->ids[sequence][m->counts[sequence] - 1] == m->nan_after) logits[3] = NAN;
}

static int prefill(void *context, int32_t sequence, const int32_t *ids, int32_t count, float *logits) {
  fake *m = context;
  cr_assert(sequence >= 0 && sequence < MOST_SEQUENCES && count > 0);
  cr_assert(m->counts[sequence] + count <= TOKENS, "more than the context");
  memcpy(m->ids[sequence] + m->counts[sequence], ids, (size_t)count * sizeof *ids);
  m->counts[sequence] += count;
  m->read += count;
  if (logits) write_logits(m, sequence, logits);
  return ATTN2C_OK;
}

static int decode(void *context, int32_t count, const int32_t *sequences, const int32_t *ids, float *logits) {
  fake *m = context;
  if (m->fails) return m->fails;
  m->steps++;
  faults_time += 2000; /* of a model that guesses, which is smaller */
  if (count > m->widest) m->widest = count;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t j = 0; j < i; j++) cr_assert_neq(sequences[i], sequences[j]);
    cr_assert(m->counts[sequences[i]] < TOKENS);
    m->ids[sequences[i]][m->counts[sequences[i]]++] = ids[i];
    write_logits(m, sequences[i], logits + (size_t)i * VOCABULARY);
  }
  return ATTN2C_OK;
}

static int extend(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                  const int32_t *ids, int all, float *logits) {
  fake *m = context;
  cr_assert(all || !counts || count == 1);
  if (all) {
    faults_time += 10000; /* a row takes a hundredth of it */
    m->steps++;
    if (m->fails) return m->fails;
    for (int32_t i = 0; i < count; i++)
      for (int32_t j = 0; j < counts[i]; j++, logits += VOCABULARY) {
        cr_assert(m->counts[sequences[i]] < TOKENS);
        m->ids[sequences[i]][m->counts[sequences[i]]++] = *ids++;
        write_logits(m, sequences[i], logits);
        faults_time += 100;
      }
    return ATTN2C_OK;
  }
  return counts ? prefill(context, *sequences, ids, *counts, logits)
                : decode(context, count, sequences, ids, logits);
}

static int32_t position(const void *context, int32_t sequence) {
  return ((const fake *)context)->counts[sequence];
}

static int rewind_to(void *context, int32_t sequence, int32_t at) {
  fake *m = context;
  cr_assert(at >= 0 && at <= m->counts[sequence]);
  if (at > 0 && m->counts[sequence] - at > m->window) return ATTN2C_USAGE;
  m->counts[sequence] = at;
  return ATTN2C_OK;
}

static int copy(void *context, int32_t from, int32_t to, int32_t same, int32_t most) {
  fake *m = context;
  const int32_t count = most < m->counts[from] ? most : m->counts[from];
  cr_assert_neq(from, to);
  cr_assert(same <= m->counts[from] && same <= m->counts[to]);
  cr_assert_eq(memcmp(m->ids[from], m->ids[to], (size_t)same * sizeof *m->ids[to]), 0);
  m->copied += count - same;
  memcpy(m->ids[to], m->ids[from], sizeof m->ids[to]);
  m->counts[to] = count;
  m->copies++;
  return ATTN2C_OK;
}

static attn2c_calls calls_of(int32_t sequences) {
  model = (fake){.window = TOKENS, .nan_after = -1};
  faults_time = 1;
  message = attn2c_message_make(text, sizeof text);
  return (attn2c_calls){.context = &model,
                        .vocabulary = VOCABULARY,
                        .tokens = TOKENS,
                        .sequences = sequences,
                        .extend = extend,
                        .position = position,
                        .rewind = rewind_to,
                        .copy = copy};
}

static attn2c_answers *create(const attn2c_calls *calls, const attn2c_sampling *sampling, int32_t most) {
  attn2c_answers *batch;
  cr_assert_eq(attn2c_answers_create(&batch, calls, sampling, &ONE, most, &message), ATTN2C_OK, "%s", text);
  return batch;
}

static attn2c_sampling drawn(void) {
  attn2c_sampling sampling = attn2c_sampling_defaults();
  sampling.greedy = 0;
  sampling.temperature = 1.5;
  sampling.repetition_penalty = 1.1;
  sampling.presence_penalty = 0.1;
  return sampling;
}

enum { PROMPTS = 12, MOST = 20 };

typedef struct {
  int32_t ids[MOST], count;
  attn2c_end end;
} answer;

/* Prompt `n`: half of them begin alike. */
static int32_t prompt_of(int n, int32_t *ids) {
  int32_t count = 1 + (int32_t)attn2c_draw_below(attn2c_draw_bits(5, (uint64_t)n), 28);
  if (n % 4 == 3) count += 560; /* few tokens are left in the context */
  if (n % 2) count += 12;
  for (int32_t i = 0; i < count; i++)
    ids[i] = (int32_t)attn2c_draw_below(
        attn2c_draw_bits(n % 2 && i < 12 ? 77 : 100 + (uint64_t)n, (uint64_t)i), VOCABULARY);
  return count;
}

static void take(attn2c_answers *batch, int32_t place, answer *to) {
  const attn2c_answer_ids *made = attn2c_answers_at(batch, place);
  to->count = made->count;
  to->end = made->end;
  memcpy(to->ids, made->ids, (size_t)made->count * sizeof *made->ids);
  attn2c_answers_release(batch, place);
}

/* Returns the number of answers that go on. */
static int32_t running(const attn2c_answers *batch, int32_t sequences) {
  int32_t count = 0;
  for (int32_t i = 0; i < sequences; i++) {
    const attn2c_answer_ids *made = attn2c_answers_at(batch, i);
    count += made->is_used && made->end == ATTN2C_END_NONE;
  }
  return count;
}

/* Answers all prompts; a prompt begins as soon as there is a place for it, at the step that `seed` says. */
static void answer_all(int32_t sequences, const attn2c_sampling *sampling, uint64_t seed, answer *answers) {
  const attn2c_calls calls = calls_of(sequences);
  attn2c_answers *batch = create(&calls, sampling, MOST);
  model.reach = reach;
  if (is_guessed) cr_assert_eq(attn2c_answers_guess(batch, &message), ATTN2C_OK);
  int number[MOST_SEQUENCES], next = 0, done = 0;
  for (uint64_t n = 0; done < PROMPTS; n++) {
    int32_t place = attn2c_answers_place(batch), ids[TOKENS];
    while (place >= 0 && next < PROMPTS && (seed == 0 || attn2c_draw_bits(seed, n++) & 1)) {
      const int32_t count = prompt_of(next, ids);
      cr_assert_eq(attn2c_answers_begin(batch, place, ids, count, (uint64_t)next, NULL, &message), ATTN2C_OK);
      number[place] = next++;
      place = attn2c_answers_place(batch);
    }
    for (int32_t i = 0; i < sequences; i++) {
      const attn2c_answer_ids *made = attn2c_answers_at(batch, i);
      if (!made->is_used || made->end == ATTN2C_END_NONE) continue;
      take(batch, i, &answers[number[i]]);
      done++;
    }
    cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  }
  cr_assert_eq(running(batch, sequences), 0);
  attn2c_answers_free(batch);
}
