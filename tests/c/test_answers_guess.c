/* test_answers_guess.c - answers with guesses have the tokens of answers without. */
#include "fake_calls.h"

/* Answers a prompt in a batch, with or without guesses. Returns the calls that it took. */
static int answer_one(const attn2c_sampling *sampling, const attn2c_beam_options *beam, int guesses,
                      int32_t most, uint64_t seed, int32_t *ids, attn2c_answer_ids *made) {
  const attn2c_calls calls = calls_of(2);
  attn2c_answers *batch;
  static const int32_t prompt[] = {9, 4, 1, 2, 3, 4, 5, 6, 9, 1, 2, 3};
  model.reach = reach;
  cr_assert_eq(attn2c_answers_create(&batch, &calls, sampling, beam, most, &message), ATTN2C_OK);
  if (guesses) cr_assert_eq(attn2c_answers_guess(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_begin(batch, 1, prompt, 12, seed, NULL, &message), ATTN2C_OK);
  while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  *made = *attn2c_answers_at(batch, 1);
  memcpy(ids, made->ids, (size_t)made->count * sizeof *ids);
  attn2c_answers_free(batch);
  return model.steps;
}

/* Guesses change no token of an answer, for greedy and drawn ones, and with processors of every kind. */
Test(answers, guesses_change_nothing) {
  static int32_t plain[TOKENS], guessed[TOKENS];
  static const int32_t stops[] = {7}, bad[] = {2, 5, 6, 1, 3};
  int fewer = 0, ended = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    attn2c_sampling sampling = seed % 3 ? drawn() : attn2c_sampling_defaults();
    attn2c_beam_options beam = ONE;
    attn2c_answer_ids a, b;
    if (seed % 3 == 2) sampling.temperature = 0.05, sampling.repetition_penalty = 1.01;
    if (seed % 4 == 1) sampling.frequency_penalty = 0.05;
    if (seed % 5 < 3) sampling.stop_tokens = stops, sampling.stop_count = 1;
    if (seed % 5 == 1) beam.min_tokens = 30, beam.bad_words = bad, beam.bad_words_count = 5;
    if (seed % 7 == 1) beam.no_repeat_ngram = 4;
    const int32_t most = seed % 2 ? 100 : TOKENS;
    reach = 1 + (int32_t)(seed / 2 % 2);
    const int steps = answer_one(&sampling, &beam, 0, most, seed, plain, &a);
    const int taken = answer_one(&sampling, &beam, 1, most, seed, guessed, &b);
    fewer += taken < steps / 2;
    cr_assert_eq(a.count, b.count, "seed %d: %d tokens, not %d", (int)seed, b.count, a.count);
    cr_assert_eq(a.end, b.end);
    cr_assert_arr_eq(plain, guessed, (size_t)a.count * sizeof *plain);
    ended |= 1 << a.end;
  }
  cr_assert_gt(fewer, 5);
  cr_assert(ended & 1 << ATTN2C_END_TOKEN && ended & 1 << ATTN2C_END_COUNT &&
            ended & 1 << ATTN2C_END_CONTEXT);
}

/* Tokens that are drawn with guesses have the model's probabilities, by a chi-square test for each pair of
 * tokens before them. */
Test(answers, guesses_keep_the_distribution) {
  enum { WORDS = 5, DRAWS = 40 };
  static double counts[WORDS * WORDS][WORDS];
  static int32_t ids[TOKENS];
  static const int32_t allowed[WORDS] = {0, 1, 2, 3, 4};
  attn2c_sampling sampling = attn2c_sampling_defaults();
  attn2c_answer_ids made;
  int64_t steps = 0, tokens = 0;
  sampling.greedy = 0, sampling.temperature = 0.7, sampling.top_k = 0;
  sampling.allowed = allowed, sampling.allowed_count = WORDS;
  reach = 2;
  for (uint64_t seed = 0; seed < DRAWS; seed++) {
    steps += answer_one(&sampling, &ONE, 1, TOKENS, seed, ids, &made);
    tokens += made.count;
    for (int32_t i = 2; i < made.count; i++) counts[ids[i - 2] * WORDS + ids[i - 1]][ids[i]]++;
  }
  cr_assert_lt(steps, tokens * 9 / 10, "guesses were not accepted");
  double chi = 0, freedom = 0;
  for (int32_t pair = 0; pair < WORDS * WORDS; pair++) {
    static fake plain;
    float logits[VOCABULARY];
    double sum = 0, seen = 0;
    plain = (fake){.ids = {{pair / WORDS, pair % WORDS}}, .counts = {2}, .nan_after = -1};
    write_logits(&plain, 0, logits);
    for (int i = 0; i < WORDS; i++) sum += exp(logits[i] / 0.7), seen += counts[pair][i];
    for (int i = 0; i < WORDS && seen > 0; i++) {
      const double expected = seen * exp(logits[i] / 0.7) / sum;
      chi += (counts[pair][i] - expected) * (counts[pair][i] - expected) / expected;
    }
    freedom += seen > 0 ? WORDS - 1 : 0;
  }
  cr_assert_lt(fabs(chi - freedom), 4 * sqrt(2 * freedom), "chi-square %g of %g", chi, freedom);
}

/* Several answers in one call are as without guesses. */
Test(answers, guesses_side_by_side) {
  static answer alone[PROMPTS], beside[PROMPTS];
  attn2c_sampling sampling = drawn();
  sampling.temperature = 0.1, sampling.presence_penalty = 0, sampling.repetition_penalty = 1;
  reach = 1;
  answer_all(1, &sampling, 0, alone);
  is_guessed = 1;
  for (uint64_t seed = 0; seed < 3; seed++) {
    answer_all(MOST_SEQUENCES, &sampling, seed, beside);
    for (int i = 0; i < PROMPTS; i++) {
      cr_assert_eq(alone[i].count, beside[i].count);
      cr_assert_arr_eq(alone[i].ids, beside[i].ids, (size_t)alone[i].count * sizeof *alone[i].ids);
    }
  }
}

/* A call that fails changes nothing, steps allocate nothing, and an answer may end before its last tokens. */
Test(answers, guesses_that_fail) {
  const attn2c_sampling sampling = attn2c_sampling_defaults();
  static const int32_t prompt[] = {1, 2, 1, 2};
  const attn2c_calls calls = calls_of(2);
  attn2c_answers *batch = create(&calls, &sampling, 20);
  for (long nth = 1; nth <= 2; nth++) {
    faults_allocation(nth, 0);
    cr_assert_eq(attn2c_answers_guess(batch, &message), ATTN2C_MEMORY);
    faults_clear();
  }
  cr_assert_eq(attn2c_answers_guess(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 4, 0, NULL, &message), ATTN2C_OK);
  const long before = faults_allocations();
  cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  const int32_t count = attn2c_answers_at(batch, 0)->count;
  model.fails = ATTN2C_IO;
  cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_IO);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, count);
  model.fails = 0;
  while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 20);
  cr_assert_eq(faults_allocations(), before);
  attn2c_answers_end(batch, 0, ATTN2C_END_TEXT, 5);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 5);
  cr_assert_eq(attn2c_answers_at(batch, 0)->end, ATTN2C_END_TEXT);
  attn2c_answers_free(batch);
}

/* A model that guesses as the first one would with a longer memory of the text: it is right sometimes. */
static fake other;

static attn2c_calls draft_of(int32_t its_reach) {
  attn2c_calls draft = calls_of(2);
  other = (fake){.window = TOKENS, .nan_after = -1, .reach = its_reach};
  draft.context = &other;
  draft.tokens = 300;
  return draft;
}

/* Guesses of another model change nothing, right or wrong, also beyond its context. */
Test(answers, drafts_change_nothing) {
  static int32_t plain[TOKENS], guessed[TOKENS];
  int fewer = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    attn2c_sampling sampling = seed % 2 ? drawn() : attn2c_sampling_defaults();
    static const int32_t prompt[] = {9, 4, 1, 2};
    attn2c_answer_ids a;
    reach = 2;
    if (seed % 2) sampling.temperature = 0.3;
    const attn2c_calls draft = draft_of(seed % 4 < 2 ? 2 : 3);
    const attn2c_calls calls = calls_of(2);
    model.reach = reach;
    attn2c_answers *batch = create(&calls, &sampling, TOKENS);
    cr_assert_eq(attn2c_answers_draft(batch, &draft, &message), ATTN2C_OK);
    for (int32_t place = 0; place < 2; place++)
      cr_assert_eq(attn2c_answers_begin(batch, place, prompt, 4 - place, seed, NULL, &message), ATTN2C_OK);
    while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
    const int taken = model.steps;
    for (int32_t place = 0; place < 2; place++) {
      const attn2c_answer_ids *b = attn2c_answers_at(batch, place);
      const int32_t count = b->count;
      memcpy(guessed, b->ids, (size_t)count * sizeof *guessed);
      const attn2c_calls one_calls = calls_of(2);
      model.reach = reach;
      attn2c_answers *without = create(&one_calls, &sampling, TOKENS);
      cr_assert_eq(attn2c_answers_begin(without, place, prompt, 4 - place, seed, NULL, &message), ATTN2C_OK);
      while (running(without, 2)) cr_assert_eq(attn2c_answers_step(without, &message), ATTN2C_OK);
      a = *attn2c_answers_at(without, place);
      memcpy(plain, a.ids, (size_t)a.count * sizeof *plain);
      cr_assert_eq(a.count, count);
      cr_assert_arr_eq(plain, guessed, (size_t)count * sizeof *plain);
      attn2c_answers_free(without);
    }
    fewer += taken < 450;
    attn2c_answers_free(batch);
  }
  cr_assert_gt(fewer, 3);
}

Test(answers, drafts_that_fail) {
  const attn2c_sampling sampling = attn2c_sampling_defaults();
  static const int32_t prompt[] = {1, 2, 1, 2};
  attn2c_calls draft = draft_of(2);
  const attn2c_calls calls = calls_of(2);
  attn2c_answers *batch = create(&calls, &sampling, 20);
  for (long nth = 1; nth <= 7; nth++) {
    faults_allocation(nth, 0);
    cr_assert_eq(attn2c_answers_draft(batch, &draft, &message), ATTN2C_MEMORY, "allocation %d", (int)nth);
    faults_clear();
  }
  cr_assert_eq(attn2c_answers_draft(batch, &draft, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 4, 0, NULL, &message), ATTN2C_OK);
  other.fails = ATTN2C_IO; /* of the model that guesses: the answer goes on */
  while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 20);
  attn2c_answers_free(batch);
}
