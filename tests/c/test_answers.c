/* test_answers.c - prompts that are answered side by side by a fake model, whose logits are a hash of all
 * that a sequence has read: a wrong cache gives other tokens. Each answer is as for its prompt by itself.
 * Answers of beams are compared with a search that sorts all candidates. */
#include "fake_calls.h"
#include "generate/kept_ids.h"
#include "long.h"

static void check_neighbours(const attn2c_sampling *sampling) {
  static answer alone[PROMPTS], beside[PROMPTS];
  answer_all(1, sampling, 0, alone);
  int ends[6] = {0};
  for (int i = 0; i < PROMPTS; i++) ends[alone[i].end]++;
  cr_assert(ends[ATTN2C_END_COUNT] > 0 && ends[ATTN2C_END_TOKEN] > 0 && ends[ATTN2C_END_CONTEXT] > 0);
  int copies = 0;
  for (uint64_t seed = 0; seed < 5; seed++) {
    answer_all(seed == 1 ? 2 : MOST_SEQUENCES, sampling, seed, beside);
    copies += model.copies;
    cr_assert_gt(model.widest, 1);
    for (int i = 0; i < PROMPTS; i++) {
      cr_assert_eq(alone[i].count, beside[i].count);
      cr_assert_eq(alone[i].end, beside[i].end);
      cr_assert_arr_eq(alone[i].ids, beside[i].ids, (size_t)alone[i].count * sizeof *alone[i].ids);
    }
  }
  cr_assert_gt(copies, 0);
}

Test(answers, drawn_beside_others) {
  static const int32_t stops[] = {7};
  attn2c_sampling sampling = drawn();
  sampling.stop_tokens = stops, sampling.stop_count = 1;
  check_neighbours(&sampling);
}

Test(answers, greedy_beside_others) {
  static const int32_t stops[] = {7, 8};
  attn2c_sampling sampling = attn2c_sampling_defaults();
  sampling.stop_tokens = stops, sampling.stop_count = 2;
  check_neighbours(&sampling);
}

/* The greedy answer is that of the definition: the whole text again for each token. */
Test(answers, greedy_by_definition) {
  const attn2c_sampling sampling = attn2c_sampling_defaults();
  static const int32_t prompt[3] = {1, 2, 3};
  const attn2c_calls calls = calls_of(2);
  attn2c_answers *batch = create(&calls, &sampling, 9);
  cr_assert_eq(attn2c_answers_begin(batch, 1, prompt, 3, 0, NULL, &message), ATTN2C_OK);
  while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  const attn2c_answer_ids *made = attn2c_answers_at(batch, 1);
  cr_assert_eq(made->count, 9);
  fake whole = {.ids = {{1, 2, 3}}, .counts = {3}, .nan_after = -1};
  for (int i = 0; i < 9; i++) {
    float logits[VOCABULARY];
    int32_t best = 0;
    write_logits(&whole, 0, logits);
    for (int32_t j = 1; j < VOCABULARY; j++)
      if (logits[j] > logits[best]) best = j;
    cr_assert_eq(made->ids[i], best, "token %d", i);
    whole.ids[0][whole.counts[0]++] = best;
  }
  cr_assert_eq(model.steps, 8);
  attn2c_answers_free(batch);
}

/* A stated length counts prompt and answer; a prompt that leaves no token is refused. One that the context
 * does not reach changes nothing. */
Test(answers, ends_of_a_stated_length) {
  const attn2c_sampling sampling = attn2c_sampling_defaults();
  attn2c_calls calls = calls_of(1);
  const int32_t prompt[12] = {0};
  calls.length = 12;
  attn2c_answers *batch = create(&calls, &sampling, 99);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 5, 0, NULL, &message), ATTN2C_OK);
  while (attn2c_answers_at(batch, 0)->end == ATTN2C_END_NONE)
    cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->end, ATTN2C_END_COUNT);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 7);
  attn2c_answers_release(batch, 0);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 12, 0, NULL, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text,
                   "the prompt has 12 tokens, but 1 to 11 are allowed, by the folder's max_length of prompt "
                   "and answer; --tokens N takes its place");
  attn2c_answers_free(batch);
  calls.length = TOKENS + 1;
  cr_assert_eq(attn2c_calls_room(&calls), TOKENS);
}

/* A prompt that fills the context gets one token; a longer one, an empty one and foreign ids are refused. */
Test(answers, ends_of_the_context) {
  const attn2c_sampling sampling = attn2c_sampling_defaults();
  const attn2c_calls calls = calls_of(1);
  static int32_t prompt[TOKENS + 1];
  attn2c_answers *batch = create(&calls, &sampling, 5);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, TOKENS, 0, NULL, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->end, ATTN2C_END_CONTEXT);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 1);
  attn2c_answers_release(batch, 0);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, TOKENS + 1, 0, NULL, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "the prompt has 601 tokens, but 1 to 600 are allowed, the model's context");
  message = attn2c_message_make(text, sizeof text);
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 0, 0, NULL, &message), ATTN2C_FORMAT);
  message = attn2c_message_make(text, sizeof text);
  prompt[3] = VOCABULARY;
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 4, 0, NULL, &message), ATTN2C_FORMAT);
  cr_assert_str_eq(text, "token 50, but 0 to 49 is allowed");
  cr_assert_eq(attn2c_answers_place(batch), 0);
  attn2c_answers_free(batch);
}

/* Logits that are refused end their own answer. */
Test(answers, nan) {
  const attn2c_sampling sampling = drawn();
  const attn2c_calls calls = calls_of(2);
  static const int32_t good[2] = {1, 2}, bad[2] = {1, 3};
  attn2c_answers *batch = create(&calls, &sampling, 9);
  model.nan_after = 3;
  cr_assert_eq(attn2c_answers_begin(batch, 0, bad, 2, 0, NULL, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->end, ATTN2C_END_FAULT);
  cr_assert_eq(attn2c_answers_at(batch, 0)->status, ATTN2C_FORMAT);
  cr_assert(strstr(attn2c_answers_at(batch, 0)->fault, "NaN"), "%s", attn2c_answers_at(batch, 0)->fault);
  model.nan_after = -1;
  cr_assert_eq(attn2c_answers_begin(batch, 1, good, 2, 0, NULL, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->count, 0);
  cr_assert_eq(attn2c_answers_at(batch, 1)->count, 2);
  model.fails = ATTN2C_MACHINE;
  cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_MACHINE);
  cr_assert_eq(attn2c_answers_at(batch, 1)->count, 2);
  attn2c_answers_free(batch);
}

static int asked;
static int stops_second(void) { return ++asked > 2; }

/* Only what is new is read; a stop leaves a beginning, which is not read again. */
Test(kept, longest_beginning) {
  const attn2c_calls calls = calls_of(3);
  attn2c_kept_ids *kept;
  static int32_t ids[TOKENS];
  float logits[VOCABULARY], whole[VOCABULARY];
  for (int i = 0; i < TOKENS; i++) ids[i] = i % 37;
  cr_assert_eq(attn2c_kept_ids_create(&calls, &kept), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_read(kept, 0, ids, 100, whole, NULL), ATTN2C_OK);
  cr_assert_eq(model.read, 100);
  cr_assert_eq(attn2c_kept_ids_read(kept, 0, ids, 100, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.read, 101); /* the last one again, for its logits */
  cr_assert_arr_eq(logits, whole, sizeof whole);
  ids[90] = 49;
  cr_assert_eq(attn2c_kept_ids_read(kept, 2, ids, 120, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.copies, 1);
  cr_assert_eq(model.read, 131);
  cr_assert_arr_eq(model.ids[2], ids, 120 * sizeof *ids);
  ids[0] = 48;
  asked = 0;
  cr_assert_eq(attn2c_kept_ids_read(kept, 1, ids, TOKENS, logits, stops_second), ATTN2C_USAGE);
  cr_assert_eq(attn2c_kept_ids_count(kept, 1), 512);
  cr_assert_eq(attn2c_kept_ids_read(kept, 1, ids, TOKENS, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.read, 131 + TOKENS);
  model.window = 10;
  cr_assert_eq(attn2c_kept_ids_read(kept, 1, ids, TOKENS - 20, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.counts[1], TOKENS - 20);
  cr_assert_eq(model.read, 131 + TOKENS + TOKENS - 20);
  attn2c_kept_ids_free(kept);
}

static int adapt(void *context, int32_t sequence, int32_t adapter) {
  const fake *m = context;
  cr_assert_eq(m->counts[sequence], 0, "adapter %d of a sequence with tokens", (int)adapter);
  return ATTN2C_OK;
}

/* Sequences share only the keys of one adapter, and lose theirs when they get another. */
Test(kept, nothing_of_another_adapter) {
  attn2c_calls calls = calls_of(4);
  attn2c_kept_ids *kept;
  static int32_t ids[TOKENS];
  float logits[VOCABULARY];
  calls.adapt = adapt;
  for (int i = 0; i < TOKENS; i++) ids[i] = i % 37;
  cr_assert_eq(attn2c_kept_ids_create(&calls, &kept), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_read(kept, 0, ids, 100, logits, NULL), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_adapt(kept, 1, 2), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_read(kept, 1, ids, 100, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.copies, 0);
  cr_assert_eq(model.read, 200);
  cr_assert_eq(attn2c_kept_ids_common(kept, 0, 1), 0);
  cr_assert_eq(attn2c_kept_ids_adapt(kept, 2, 2), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_adapter(kept, 2), 2);
  cr_assert_eq(attn2c_kept_ids_read(kept, 2, ids, 120, logits, NULL), ATTN2C_OK);
  cr_assert_eq(model.copies, 1);
  cr_assert_eq(model.read, 220);
  cr_assert_eq(attn2c_kept_ids_adapt(kept, 1, 2), ATTN2C_OK); /* as before: nothing is lost */
  cr_assert_eq(attn2c_kept_ids_count(kept, 1), 100);
  cr_assert_eq(attn2c_kept_ids_adapt(kept, 1, 0), ATTN2C_OK);
  cr_assert_eq(attn2c_kept_ids_count(kept, 1), 0);
  attn2c_kept_ids_free(kept);
}

Test(answers, memory_and_options) {
  attn2c_sampling sampling = drawn();
  const attn2c_calls calls = calls_of(2);
  attn2c_answers *batch;
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    message = attn2c_message_make(text, sizeof text);
    const int status = attn2c_answers_create(&batch, &calls, &sampling, &ONE, 9, &message);
    if (status == ATTN2C_OK) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(batch);
    cr_assert_neq(message.used, 0);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  const long before = faults_allocations();
  static const int32_t prompt[2] = {1, 2};
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 2, 0, NULL, &message), ATTN2C_OK);
  while (running(batch, calls.sequences)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(faults_allocations(), before);
  attn2c_answers_free(batch);
  cr_assert_eq(faults_live_blocks(), 0);
  faults_clear();
  sampling.temperature = 0;
  cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, &ONE, 9, &message), ATTN2C_USAGE);
  cr_assert_null(batch);
}

enum { STOP = 7, MOST_BEAMS = 4, MOST_CANDIDATES = MOST_BEAMS * VOCABULARY };

/* A sequence of the slow search. */
typedef struct {
  int32_t ids[TOKENS + 1], count, token;
  double score;
} slow;

static int descending(const void *a, const void *b) {
  const double x = ((const slow *)a)->score, y = ((const slow *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* Writes the log-probabilities after a sequence, with the processors that tests use. */
static void slow_scores(const slow *from, const attn2c_beam_options *o, int32_t prompt, double *scores) {
  static fake alone;
  float logits[VOCABULARY];
  double sum = 0;
  alone = (fake){.nan_after = -1};
  memcpy(alone.ids[0], from->ids, sizeof alone.ids[0]);
  alone.counts[0] = from->count;
  write_logits(&alone, 0, logits);
  for (int i = 0; i < VOCABULARY; i++) sum += exp(logits[i]);
  for (int i = 0; i < VOCABULARY; i++) {
    int has_occurred = 0, would_repeat = 0;
    for (int32_t j = 0; j < from->count; j++) {
      has_occurred |= from->ids[j] == i;
      would_repeat |= j > 0 && from->ids[j] == i && from->ids[j - 1] == from->ids[from->count - 1];
    }
    scores[i] = logits[i] - log(sum);
    if (has_occurred) scores[i] *= o->repetition_penalty;
    if (would_repeat && o->no_repeat_ngram == 2) scores[i] = -INFINITY;
    if (i == STOP && from->count - prompt < o->min_tokens) scores[i] = -INFINITY;
  }
}

/* Searches with all candidates sorted. Writes the answers, the best first, and returns their number. */
static int slow_search(const int32_t *ids, int32_t prompt, const attn2c_beam_options *o, int32_t most,
                       slow *answers) {
  static slow running[MOST_BEAMS], all[MOST_CANDIDATES], made[2 * MOST_BEAMS];
  const int32_t width = o->beams;
  int count = 0;
  for (int32_t i = 0; i < width; i++) {
    running[i] = (slow){.count = prompt, .score = i ? -1e9 : 0};
    memcpy(running[i].ids, ids, (size_t)prompt * sizeof *ids);
  }
  for (int32_t tokens = 1;; tokens++) {
    double scores[VOCABULARY];
    for (int32_t i = 0; i < width; i++) {
      slow_scores(&running[i], o, prompt, scores);
      for (int j = 0; j < VOCABULARY; j++) {
        slow *each = &all[i * VOCABULARY + j];
        *each = running[i];
        each->ids[each->count++] = each->token = j;
        each->score += scores[j];
      }
    }
    qsort(all, (size_t)(width * VOCABULARY), sizeof *all, descending);
    int32_t going = 0;
    for (int32_t i = 0; i < 2 * width; i++) {
      const int is_end = all[i].token == STOP || tokens == most;
      if (!is_end && going < width) running[going++] = all[i];
      if (!is_end || i >= width) continue;
      made[count] = all[i];
      made[count++].score /= pow(tokens, o->length_penalty);
      qsort(made, (size_t)count, sizeof *made, descending);
      if (count > width) count = width;
    }
    memcpy(answers, made, (size_t)count * sizeof *made);
    const int is_longest = o->early_stopping == ATTN2C_STOP_NEVER && o->length_penalty > 0;
    const double best = running[0].score / pow(is_longest ? most : tokens, o->length_penalty);
    if (tokens == most || (count == width && o->early_stopping == ATTN2C_STOP_TRUE) ||
        (count == width && best <= made[width - 1].score))
      return count;
  }
}

static attn2c_sampling greedy(void) {
  static const int32_t stop = STOP;
  attn2c_sampling sampling = attn2c_sampling_defaults();
  sampling.stop_count = 1;
  sampling.stop_tokens = &stop;
  return sampling;
}

/* Answers prompts side by side with beams, and compares all answers with the slow search's. */
static void compare_beams(const attn2c_beam_options *o, double penalty) {
  static slow expected[MOST_BEAMS + 1];
  attn2c_beam_options own = *o;
  const attn2c_calls calls = calls_of(4);
  attn2c_sampling sampling = greedy();
  attn2c_answers *batch;
  int32_t ids[TOKENS];
  int prompts[MOST_SEQUENCES], begun = 0, ended = 0;
  own.repetition_penalty = sampling.repetition_penalty = penalty;
  cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, o, MOST, &message), ATTN2C_OK, "%s", text);
  cr_assert_eq(attn2c_answers_places(batch), 4 / o->beams);
  while (ended < PROMPTS) {
    for (int32_t place; begun < PROMPTS && (place = attn2c_answers_place(batch)) >= 0;) {
      const int32_t count = prompt_of(begun, ids);
      cr_assert_eq(attn2c_answers_begin(batch, place, ids, count, 0, NULL, &message), ATTN2C_OK);
      prompts[place] = begun++;
    }
    for (int32_t place = 0; place < 4 / o->beams; place++) {
      const attn2c_answer_ids *made = attn2c_answers_at(batch, place);
      if (!made->is_used || made->end == ATTN2C_END_NONE) continue;
      const int32_t prompt = prompt_of(prompts[place], ids);
      const int32_t most = prompt + MOST < TOKENS + 1 ? MOST : TOKENS + 1 - prompt;
      const int count = slow_search(ids, prompt, &own, most, expected);
      for (int32_t rank = 0; rank < count; rank++) {
        cr_assert(attn2c_answers_rank(batch, place, rank));
        cr_assert_eq(made->count, expected[rank].count - prompt, "prompt %d, answer %d", prompts[place],
                     rank);
        cr_assert_arr_eq(made->ids, expected[rank].ids + prompt, (size_t)made->count * sizeof *ids);
        cr_assert(fabs(made->score - expected[rank].score) <= 1e-4 * (1 + fabs(made->score)));
        cr_assert_eq(made->end, expected[rank].token == STOP ? ATTN2C_END_TOKEN
                                : most < MOST                ? ATTN2C_END_CONTEXT
                                                             : ATTN2C_END_COUNT);
      }
      cr_assert_not(attn2c_answers_rank(batch, place, count));
      attn2c_answers_release(batch, place);
      ended++;
    }
    cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  }
  cr_assert_leq(model.widest, 4);
  attn2c_answers_free(batch);
}

Test(beams, as_the_slow_search) {
  static const double penalties[] = {0, 1, 0.6, 2, -1};
  for (int32_t beams = 2; beams <= MOST_BEAMS; beams += 2)
    for (int stopping = 0; stopping < 3; stopping++)
      for (int i = 0; i < 5; i++) {
        /* In `make test` each two of number, way to stop and penalty occur together. */
        if (!is_long() && (beams / 2 + stopping + i) % 2 != 0) continue;
        attn2c_beam_options o = ONE;
        o.beams = beams;
        o.length_penalty = penalties[i];
        o.early_stopping = stopping;
        compare_beams(&o, 1);
      }
}

Test(beams, processors) {
  attn2c_beam_options o = ONE;
  o.beams = 4;
  o.no_repeat_ngram = 2;
  o.min_tokens = 6;
  compare_beams(&o, 1.3);
}

/* A search reads each token of a beam once, and copies only what beams do not have in common. */
Test(beams, copy_what_differs) {
  const attn2c_calls calls = calls_of(4);
  const attn2c_sampling sampling = greedy();
  attn2c_beam_options o = ONE;
  attn2c_answers *batch;
  int32_t ids[TOKENS];
  for (int i = 0; i < 500; i++) ids[i] = i % 31;
  o.beams = 4;
  cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, &o, MOST, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_begin(batch, 0, ids, 500, 0, NULL, &message), ATTN2C_OK);
  cr_assert_eq(model.copied, 3 * 500, "each other beam gets the prompt");
  cr_assert_eq(model.copies, 3);
  while (running(batch, 1)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(model.read, 500);
  cr_assert_lt(model.copied - 3 * 500, (model.copies - 3) * MOST, "no copy has a token of the prompt");
  cr_assert_lt(model.copies - 3, 3 * model.steps, "beams go on in their places");
  attn2c_answers_free(batch);
}

/* A state that other calls made goes on, and nothing of what the sequences had before is taken. */
Test(beams, go_on_from_a_state) {
  static slow expected[MOST_BEAMS + 1];
  const attn2c_calls calls = calls_of(4);
  const attn2c_sampling sampling = greedy();
  attn2c_beam_options o = ONE;
  attn2c_answers *batch;
  float logits[VOCABULARY];
  int32_t ids[TOKENS];
  o.beams = 2;
  o.repetition_penalty = 1;
  const int32_t count = prompt_of(2, ids);
  cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, &o, MOST, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_begin(batch, 1, ids, count, 0, NULL, &message), ATTN2C_OK);
  attn2c_answers_release(batch, 1);
  model.counts[2] = 0;
  cr_assert_eq(prefill(&model, 2, ids, count, logits), ATTN2C_OK);
  memset(model.ids[3], 0, sizeof model.ids[3]);
  model.counts[3] = 0;
  cr_assert_eq(attn2c_answers_go_on(batch, 1, ids, count, 0, logits, &message), ATTN2C_OK);
  while (attn2c_answers_at(batch, 1)->end == ATTN2C_END_NONE)
    cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  slow_search(ids, count, &o, MOST, expected);
  cr_assert_eq(attn2c_answers_at(batch, 1)->count, expected[0].count - count);
  cr_assert_arr_eq(attn2c_answers_at(batch, 1)->ids, expected[0].ids + count,
                   (size_t)(expected[0].count - count) * sizeof *ids);
  cr_assert_eq(attn2c_answers_go_on(batch, 1, ids, count, 0, logits, &message), ATTN2C_USAGE);
  attn2c_answers_free(batch);
}

/* Without beams, processors change the logits that tokens are chosen by. */
Test(beams, one_beam_has_processors) {
  const attn2c_calls calls = calls_of(1);
  const attn2c_sampling sampling = greedy();
  attn2c_beam_options o = ONE;
  attn2c_answers *batch;
  int32_t ids[TOKENS];
  const int32_t count = prompt_of(4, ids);
  answer plain;
  for (int is_processed = 0; is_processed < 2; is_processed++) {
    const int32_t first = is_processed ? plain.ids[0] : 0;
    o.suppressed = is_processed ? &first : NULL;
    o.suppressed_count = is_processed;
    cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, &o, MOST, &message), ATTN2C_OK);
    cr_assert_eq(attn2c_answers_begin(batch, 0, ids, count, 0, NULL, &message), ATTN2C_OK);
    while (running(batch, 1)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
    if (is_processed)
      for (int32_t i = 0; i < attn2c_answers_at(batch, 0)->count; i++)
        cr_assert_neq(attn2c_answers_at(batch, 0)->ids[i], first);
    take(batch, 0, &plain);
    attn2c_answers_free(batch);
  }
}

static int32_t sources_read, numbers_read;

/* Reads sources, whose sequences then have no token. */
static int encode(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                  const int32_t *ids) {
  fake *m = context;
  sources_read += count;
  for (int32_t i = 0; i < count; i++) {
    m->counts[sequences[i]] = 0;
    for (int32_t k = 0; k < counts[i]; k++) numbers_read = numbers_read * 7 + *ids++;
  }
  return ATTN2C_OK;
}

static int extend_all(void *context, int32_t count, const int32_t *sequences, const int32_t *counts,
                      const int32_t *ids, int all, float *logits) {
  for (int32_t i = 0; i < count; i++) {
    extend(context, 1, &sequences[i], counts ? &counts[i] : NULL, ids, all, logits + (size_t)i * VOCABULARY);
    ids += counts ? counts[i] : 1;
  }
  return ATTN2C_OK;
}

/* One source is read where it is: the calls of the library allocate nothing. Several are one call. */
Test(beams, sources) {
  static const int32_t start[] = {3}, first[] = {1, 2, 4}, second[] = {5, 6};
  attn2c_calls calls = calls_of(4);
  calls.encode = encode, calls.extend = extend_all, calls.source = 3, calls.start = start,
  calls.start_count = 1;
  const attn2c_sampling sampling = greedy();
  attn2c_beam_options o = ONE;
  attn2c_answers *batch;
  o.beams = 2;
  cr_assert_eq(attn2c_answers_create(&batch, &calls, &sampling, &o, MOST, &message), ATTN2C_OK);
  const long before = faults_allocations();
  sources_read = numbers_read = 0;
  cr_assert_eq(attn2c_answers_begin(batch, 0, first, 3, 0, NULL, &message), ATTN2C_OK);
  cr_assert(sources_read == 1 && numbers_read == (1 * 7 + 2) * 7 + 4);
  while (running(batch, 2)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(faults_allocations(), before);
  answer alone, beside;
  take(batch, 0, &alone);
  const attn2c_answer_source both[] = {{1, first, 3, 0}, {0, second, 2, 0}};
  sources_read = numbers_read = 0;
  cr_assert_eq(attn2c_answers_begin_sources(batch, both, 2, &message), ATTN2C_OK);
  cr_assert(sources_read == 2 && numbers_read == (((1 * 7 + 2) * 7 + 4) * 7 + 5) * 7 + 6);
  while (running(batch, 2)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  take(batch, 1, &beside);
  cr_assert_eq(beside.count, alone.count);
  cr_assert_arr_eq(beside.ids, alone.ids, (size_t)alone.count * sizeof *alone.ids);
  attn2c_answers_release(batch, 0);
  cr_assert_eq(attn2c_answers_begin(batch, 0, first, 0, 0, NULL, &message), ATTN2C_USAGE);
  cr_assert_eq(attn2c_answers_begin(batch, 0, first, 4, 0, NULL, &message), ATTN2C_FORMAT);
  attn2c_answers_free(batch);
}

Test(beams, memory_and_faults) {
  const attn2c_calls calls = calls_of(4);
  const attn2c_sampling sampling = greedy();
  attn2c_beam_options o = ONE;
  attn2c_answers *batch;
  static const int32_t prompt[2] = {1, 2};
  o.beams = 2;
  for (long nth = 1;; nth++) {
    faults_clear();
    faults_allocation(nth, 0);
    message = attn2c_message_make(text, sizeof text);
    const int status = attn2c_answers_create(&batch, &calls, &sampling, &o, 9, &message);
    if (status == ATTN2C_OK) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
    cr_assert_null(batch);
    cr_assert_neq(message.used, 0);
    cr_assert_eq(faults_live_blocks(), 0);
  }
  const long before = faults_allocations();
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 2, 0, NULL, &message), ATTN2C_OK);
  while (running(batch, 2)) cr_assert_eq(attn2c_answers_step(batch, &message), ATTN2C_OK);
  cr_assert_eq(faults_allocations(), before);
  attn2c_answers_release(batch, 0);
  model.nan_after = 2;
  cr_assert_eq(attn2c_answers_begin(batch, 0, prompt, 2, 0, NULL, &message), ATTN2C_OK);
  cr_assert_eq(attn2c_answers_at(batch, 0)->end, ATTN2C_END_FAULT);
  cr_assert_eq(attn2c_answers_at(batch, 0)->status, ATTN2C_FORMAT);
  cr_assert(strstr(attn2c_answers_at(batch, 0)->fault, "NaN") != NULL);
  attn2c_answers_free(batch);
  cr_assert_eq(faults_live_blocks(), 0);
  faults_clear();
}
