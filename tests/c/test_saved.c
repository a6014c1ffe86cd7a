/* test_saved.c - sequences that are saved and loaded: what a file has and what it has not, files of other
 * builds and weights, damage at every byte, and calls, memory and disks that fail. */
#include "faults.h"
#include "base/checksum.h"
#include "model/sequences.h"
#include "model/saved.h"
#include "model/state.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { CONTEXT = 21, PAGE = 8, PAGES = 3, SEQUENCES = 3, HEADER = 4096 };
/* Keys of f32 in 3 columns, values of f32 in 2, keys and values of bf16 in pairs: floats of a page. */
enum { KEYS = 3 * PAGE, VALUES = 2 * PAGE, PAIRS_OF_KEYS = 2 * PAGE, IN_PAIRS = 5, PARTS = 4 };
enum { PAIRS_OF_VALUES = IN_PAIRS * PAGE / 2, EACH = KEYS + VALUES + PAIRS_OF_KEYS + PAIRS_OF_VALUES };
enum { STATE = PAGES * EACH + 3, WEIGHTS = 50 };

#define TENSOR                                                                                               \
  { "x", ATTN2C_SCRATCH, ATTN2C_F32, 3, {1, CONTEXT, 2}, 0, 0, -1, 0 }
static const attn2c_tensor tensors[] = {
    {"ids", ATTN2C_INPUT, ATTN2C_I32, 2, {1, CONTEXT}, 0, 9, -1, 0}, TENSOR, TENSOR};
static const attn2c_axes axes[] = {{0, 1, -1, ATTN2C_HIDES_NOTHING}};
static const attn2c_size sizes[] = {{1, CONTEXT}};
static const attn2c_lengths lengths = {axes, axes, sizes, 1, NULL};
static const int inputs[] = {0}, outputs[] = {1};
static const attn2c_entry entry = {"forward", NULL, 0, inputs, outputs, 1, 1, 1, NULL};
static const attn2c_state_part kept[PARTS] = {
    {1, 0, 0, KEYS, 1, -1, ATTN2C_F32, 0, 0},
    {1, 0, PAGES *KEYS, VALUES, 0, -1, ATTN2C_F32, 0, 0},
    {2, 0, PAGES *(KEYS + VALUES), PAIRS_OF_KEYS, 1, -1, ATTN2C_BF16, 0, 0},
    {2, 0, PAGES *(KEYS + VALUES + PAIRS_OF_KEYS), PAIRS_OF_VALUES, 0, -1, ATTN2C_BF16, 0, 0}};

/* A model that tests may change. */
static attn2c_state_part own_kept[PARTS];
static attn2c_state_symbol symbols[2];
static attn2c_continued continued;
static attn2c_descriptor descriptor;
static float weights[WEIGHTS];
static _Atomic uint64_t checksum;
static attn2c_model model;
static attn2c_context *context;
static char text[1000];

static void open(void) {
  scratch_open();
  faults_clear();
  memcpy(own_kept, kept, sizeof kept);
  symbols[0] = (attn2c_state_symbol){"tokens", CONTEXT};
  symbols[1] = (attn2c_state_symbol){"source", 2 * PAGE + 1};
  continued = (attn2c_continued){.call_rows = 8,
                                 .sequences = SEQUENCES,
                                 .state_floats = STATE,
                                 .page = PAGE,
                                 .kept = own_kept,
                                 .kept_count = PARTS,
                                 .symbols = symbols,
                                 .symbol_count = 1};
  descriptor = (attn2c_descriptor){.name = "tiny",
                                   .generator = "0.1.0",
                                   .description_hash = "0123456789abcdef",
                                   .target = "base",
                                   .entries = &entry,
                                   .tensors = tensors,
                                   .entry_count = 1,
                                   .tensor_count = 3,
                                   .arena_floats = 16,
                                   .weight_floats = WEIGHTS,
                                   .is_open = 1,
                                   .lengths = &lengths,
                                   .continued = &continued};
  for (int i = 0; i < WEIGHTS; i++) weights[i] = (float)i;
  checksum = 0;
  model = (attn2c_model){
      .descriptor = &descriptor, .workers = 1, .weights = weights, .own = weights, .checksum = &checksum};
  cr_assert_eq(attn2c_sequences_create(&model, &context), ATTN2C_OK);
}

static void close(void) {
  attn2c_context_destroy(context);
  scratch_close();
}

static float *state_of(int sequence) { return context->state + sequence * STATE; }

/* Every number of a sequence is another one. */
static void fill(int sequence, int tokens, uint32_t seed) {
  uint32_t *words = (uint32_t *)state_of(sequence);
  for (uint32_t i = 0; i < STATE; i++) words[i] = ((i + 1) * 2654435761u ^ seed << 8) | 0x00010001u;
  context->positions[sequence] = tokens;
}

static int save(int sequence, const char *path) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  text[0] = '\0';
  return attn2c_sequence_save(context, sequence, path, &message);
}

static int load(int sequence, const char *path) {
  attn2c_message message = attn2c_message_make(text, sizeof text);
  text[0] = '\0';
  return attn2c_sequence_load(context, sequence, path, &message);
}

/* Compares a half of a word of a part, of a key and a column, in two states. Pairs are of columns or keys. */
static uint16_t half(const float *state, int part, int key, int column, int which) {
  const int columns = (int)(kept[part].page_floats / PAGE);
  const float *page = state + kept[part].offset + key / PAGE * kept[part].page_floats;
  const int at = part == 3                  ? key % PAGE / 2 * IN_PAIRS + column
                 : kept[part].is_transposed ? column * PAGE + key % PAGE
                                            : key % PAGE * columns + column;
  uint32_t word;
  memcpy(&word, page + at, sizeof word);
  return (uint16_t)(word >> 16 * (part == 3 ? key % 2 : which));
}

static int columns_of(int part) { return part == 3 ? IN_PAIRS : (int)(kept[part].page_floats / PAGE); }

/* True if the keys [from, to) of a sequence are another state's. */
static int are_keys(int sequence, const float *state, int from, int to) {
  for (int part = 0; part < PARTS; part++)
    for (int key = from; key < to; key++)
      for (int i = 0; i < 2 * columns_of(part); i++)
        if (half(state_of(sequence), part, key, i / 2, i % 2) != half(state, part, key, i / 2, i % 2))
          return 0;
  return 1;
}

Test(saved, a_sequence_of_any_length_comes_back, .init = open, .fini = close) {
  static const float zeros[STATE];
  float before[STATE];
  for (int tokens = 0; tokens <= CONTEXT; tokens++) {
    const char *path = scratch_path("state");
    fill(1, tokens, 7);
    memcpy(before, state_of(1), sizeof before);
    cr_assert_eq(save(1, path), ATTN2C_OK, "%s", text);
    fill(0, 3, 8);
    cr_assert_eq(load(0, path), ATTN2C_OK, "%s", text);
    cr_assert_eq(context->positions[0], tokens);
    cr_assert(are_keys(0, before, 0, tokens), "%d tokens", tokens);
    const int pages = (tokens + PAGE - 1) / PAGE;
    cr_assert(are_keys(0, zeros, tokens, PAGE * pages), "nothing is in the file after %d tokens", tokens);
    static char bytes[HEADER + sizeof before];
    cr_assert_eq(scratch_get(path, bytes, sizeof bytes), (size_t)(HEADER + pages * EACH * 4));
    cr_assert_arr_eq(state_of(1), before, sizeof before);
    cr_assert_eq(scratch_count(), 1);
  }
}

/* Returns byte `column` of a key in pages of integers, and its scale's as the columns after the last. */
static unsigned char byte_of(const float *state, int part, int key, int column) {
  const unsigned char *page =
      (const unsigned char *)(state + kept[part].offset + (int64_t)(key / PAGE) * kept[part].page_floats);
  const int columns = 4 * (int)kept[part].page_floats / PAGE - 4;
  if (column >= columns) return page[4 * (key % PAGE) + column - columns];
  const int place = kept[part].is_transposed ? (column / 4 * PAGE + key % PAGE) * 4 + column % 4
                                             : (key % PAGE / 4 * columns + column) * 4 + key % 4;
  return page[4 * PAGE + place];
}

Test(saved, pages_of_integers_come_back, .init = open, .fini = close) {
  static const float zeros[STATE];
  own_kept[0].type = own_kept[1].type = ATTN2C_I8;
  own_kept[0].bits = own_kept[1].bits = 8;
  for (int tokens = 0; tokens <= CONTEXT; tokens++) {
    const char *path = scratch_path("state");
    fill(1, tokens, 7), fill(0, 3, 8);
    cr_assert_eq(save(1, path), ATTN2C_OK, "%s", text);
    cr_assert_eq(load(0, path), ATTN2C_OK, "%s", text);
    for (int part = 0; part < 2; part++)
      for (int key = 0; key < (tokens + PAGE - 1) / PAGE * PAGE; key++)
        for (int column = 0; column < 4 * kept[part].page_floats / PAGE; column++)
          cr_assert_eq(byte_of(state_of(0), part, key, column),
                       byte_of(key < tokens ? state_of(1) : zeros, part, key, column), "%d of %d", key,
                       tokens);
  }
}

/* A copy has the keys of tokens that differ, and of their groups; those before and after these stay. */
Test(state, a_copy_leaves_the_keys_that_both_have, .init = open, .fini = close) {
  float other[STATE], from[STATE];
  for (int same = 0; same <= CONTEXT; same++)
    for (int tokens = same; tokens <= CONTEXT; tokens++) {
      fill(0, tokens, 7), fill(1, tokens, 8);
      memcpy(from, state_of(0), sizeof from), memcpy(other, state_of(1), sizeof other);
      const attn2c_copying what = {.from = 0, .to = 1, .same = same, .tokens = tokens};
      attn2c_state_copy_part(&continued, context->state, &what);
      const int group = ATTN2C_KEY_GROUP, begin = same / group * group;
      const int first = same < tokens ? begin : tokens;
      const int end = same < tokens ? (tokens + group - 1) / group * group : tokens;
      cr_assert(are_keys(1, other, 0, first), "%d and %d: before", same, tokens);
      cr_assert(are_keys(1, from, first, end), "%d to %d", same, tokens);
      cr_assert(are_keys(1, other, end, PAGE * PAGES), "%d and %d: after", same, tokens);
    }
}

/* Loads the file, which must be refused with a line, and compares the sequence with what it was. */
static void refused(const char *path, int status, const char *fragment) {
  static float before[STATE];
  memcpy(before, state_of(0), sizeof before);
  cr_assert_eq(load(0, path), status, "%s", text);
  cr_assert(strstr(text, fragment), "%s: %s", fragment, text);
  cr_assert(!strchr(text, '\n'));
  cr_assert_arr_eq(state_of(0), before, sizeof before);
  cr_assert_eq(context->positions[0], 5);
}

static const char *saved(int tokens) {
  const char *path = scratch_path("state");
  fill(1, tokens, 7), fill(0, 5, 8);
  cr_assert_eq(save(1, path), ATTN2C_OK, "%s", text);
  return path;
}

Test(saved, one_of_another_build_is_refused, .init = open, .fini = close) {
  const char *path = saved(10);
  descriptor.name = "other";
  refused(path, 3, "saved state: of another model, tiny; this is other");
  descriptor.name = "tiny", descriptor.target = "avx";
  refused(path, 3, "saved state: of another target, base; this is avx");
  descriptor.target = "base", descriptor.description_hash = "ffff";
  refused(path, 3, "saved state: of another description of tiny (0123456789abcdef; this is ffff)");
  descriptor.description_hash = "0123456789abcdef", descriptor.generator = "0.1.1";
  refused(path, 3, "by another version of attn2c");
  descriptor.generator = "0.1.0", own_kept[2].tensor = 1;
  refused(path, 3, "of a build with other tile parameters");
  own_kept[2].tensor = 2, continued.page = 2;
  refused(path, 3, "of a build with other tile parameters");
  continued.page = PAGE, own_kept[2].grows_with = 1;
  refused(path, 3, "of a build with other tile parameters");
  own_kept[2].grows_with = 0, symbols[0].most = 9;
  refused(path, 3, "saved state: it has 10 tokens, but a sequence has at most 9");
  symbols[0].most = CONTEXT;
  cr_assert_eq(load(0, path), ATTN2C_OK);
}

Test(saved, one_of_other_weights_is_refused, .init = open, .fini = close) {
  const char *path = saved(10);
  cr_assert_neq(checksum, 0);
  weights[WEIGHTS - 1] += 1, checksum = 0; /* as of a model that is opened with them */
  refused(path, 3, "saved state: of other weights");
  weights[WEIGHTS - 1] -= 1, checksum = 0;
  cr_assert_eq(load(0, path), ATTN2C_OK);
}

Test(saved, a_damaged_one_is_refused, .init = open, .fini = close) {
  static unsigned char bytes[HEADER + STATE * 4 + 1];
  const char *path = saved(10), *spoiled = scratch_path("spoiled");
  const size_t size = scratch_get(path, bytes, sizeof bytes);
  for (size_t at = 0; at < size; at += at < 400 || at > HEADER - 9 ? 1 : 97) {
    bytes[at] ^= 0x10;
    scratch_put(spoiled, bytes, size);
    refused(spoiled, 3, at < 16 ? "another kind of file" : at < 20 ? "format" : "damaged");
    bytes[at] ^= 0x10;
  }
  for (size_t cut = 0; cut < size; cut += cut < 40 || cut > HEADER - 2 ? 1 : 97) {
    scratch_put(spoiled, bytes, cut);
    refused(spoiled, 3, cut == 0 ? "another kind of file" : "cut");
  }
  scratch_put(spoiled, bytes, size + 1);
  refused(spoiled, 3, "too long");
  cr_assert_eq(load(0, path), ATTN2C_OK);
}

Test(saved, wrong_calls_are_refused, .init = open, .fini = close) {
  const char *path = saved(10);
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  for (int sequence = -1; sequence <= SEQUENCES; sequence += SEQUENCES + 1) {
    cr_assert_eq(save(sequence, path), ATTN2C_USAGE);
    cr_assert_eq(load(sequence, path), ATTN2C_USAGE);
    cr_assert(strstr(text, "but 0 to 2 is allowed"), "%s", text);
  }
  cr_assert_eq(save(0, NULL), ATTN2C_USAGE);
  refused(NULL, ATTN2C_USAGE, "no path");
  cr_assert_eq(attn2c_sequence_save(NULL, 0, path, &quiet), ATTN2C_USAGE);
  cr_assert_eq(attn2c_sequence_load(NULL, 0, path, &quiet), ATTN2C_USAGE);
  descriptor.continued = NULL;
  cr_assert_eq(load(0, path), ATTN2C_USAGE);
  cr_assert(strstr(text, "there is no context with sequences"), "%s", text);
  descriptor.continued = &continued;
}

Test(saved, places_that_are_none_are_refused, .init = open, .fini = close) {
  fill(0, 5, 8);
  refused(scratch_path("none"), 4, "none: cannot be opened");
  refused("/", 4, "is not a regular file");
  cr_assert_eq(save(0, "/nonexistent/state"), ATTN2C_IO);
  cr_assert_eq(save(0, "/dev/full"), ATTN2C_IO);
  cr_assert(strstr(text, "No space left on device"), "%s", text);
}

/* The file is the old one, or all of the new one. */
Test(saved, a_disk_that_fails_leaves_the_old_file, .init = open, .fini = close) {
  const char *path = saved(10);
  fill(1, 20, 9);
  int status = ATTN2C_IO;
  for (long nth = 1; status != ATTN2C_OK; nth++) {
    cr_assert(nth < 30);
    faults_clear();
    faults_write(nth, FAULT_ERROR, 0);
    status = save(1, path);
    const int met = faults_met() > 0;
    faults_clear();
    cr_assert_eq(status, met ? ATTN2C_IO : ATTN2C_OK);
    if (met) cr_assert(load(0, path) == ATTN2C_OK && context->positions[0] == 10, "%s", text);
    cr_assert_eq(scratch_count(), 1);
  }
  fill(0, 5, 8);
  for (long nth = 1; nth < 3; nth++) {
    faults_read(nth, FAULT_ERROR, 0);
    refused(path, 4, "cannot be read");
    faults_clear();
  }
  faults_read(2, FAULT_SHORT, 0);
  cr_assert_eq(load(0, path), ATTN2C_OK, "%s", text);
}

Test(saved, without_memory_nothing_changes, .init = open, .fini = close) {
  const char *path = saved(10);
  for (int persistent = 0; persistent < 2; persistent++) {
    for (long nth = 1;; nth++) {
      cr_assert(nth < 30);
      faults_clear();
      faults_allocation(nth, persistent);
      const int to = save(1, path), from = to == ATTN2C_OK ? load(0, path) : ATTN2C_MEMORY;
      const int met = faults_met() > 0;
      faults_clear();
      if (!met) break;
      cr_assert_eq(from, ATTN2C_MEMORY);
      cr_assert(strstr(text, "no memory"), "%s", text);
      cr_assert_eq(context->positions[0], 5);
    }
    fill(0, 5, 8);
  }
}

Test(saved, names_for_a_terminal_are_printable, .init = open, .fini = close) {
  fill(0, 5, 8);
  refused(scratch_path("a\x1b[31m"), 4, "a?[31m");
}

/* Two parts keep only the last keys. */
Test(saved, what_a_window_has_forgotten_is_not_in_it, .init = open, .fini = close) {
  static const attn2c_state_window windows[] = {{3, 2 * PAGE}};
  static unsigned char bytes[HEADER + STATE * 4];
  float before[STATE];
  close();
  open();
  continued.windows = windows, continued.window_count = 1;
  own_kept[1].window = own_kept[3].window = 0;
  attn2c_context_destroy(context);
  cr_assert_eq(attn2c_sequences_create(&model, &context), ATTN2C_OK);
  fill(1, CONTEXT, 7), fill(0, 5, 8);
  context->forgotten[1] = 2 * PAGE;
  memcpy(before, state_of(1), sizeof before);
  const char *path = scratch_path("state"), *spoiled = scratch_path("spoiled");
  cr_assert_eq(save(1, path), ATTN2C_OK, "%s", text);
  const size_t size = scratch_get(path, bytes, sizeof bytes);
  cr_assert_eq(size, HEADER + 4 * EACH + 8 * (KEYS + PAIRS_OF_KEYS));
  static const uint32_t wrong[] = {1, 3, 0, 3 * PAGE, 0xfffffff8u}; /* no whole pages, too few, too many */
  for (int i = 0; i < 5; i++) {
    unsigned char *forgotten = bytes + 368;
    memcpy(forgotten, &wrong[i], 4);
    const uint64_t sum = attn2c_checksum(0, bytes, HEADER - 8);
    memcpy(bytes + HEADER - 8, &sum, 8);
    scratch_put(spoiled, bytes, size);
    refused(spoiled, 3, "the header is damaged");
  }
  cr_assert_eq(load(0, path), ATTN2C_OK, "%s", text);
  cr_assert(context->positions[0] == CONTEXT && context->forgotten[0] == 2 * PAGE);
  for (int part = 0; part < PARTS; part++)
    for (int key = 0; key < (part % 2 == 1 ? CONTEXT - 2 * PAGE : CONTEXT); key++)
      for (int i = 0; i < 2 * columns_of(part); i++)
        cr_assert_eq(half(state_of(0), part, key, i / 2, i % 2), half(before, part, key, i / 2, i % 2));
}

/* Two parts have the keys of a source, which a call has written whole. */
Test(saved, the_keys_of_a_source_come_back_whatever_the_tokens, .init = open, .fini = close) {
  static unsigned char bytes[HEADER + STATE * 4];
  float before[STATE];
  continued.symbol_count = 2;
  own_kept[1].grows_with = own_kept[2].grows_with = 1;
  attn2c_context_destroy(context);
  cr_assert_eq(attn2c_sequences_create(&model, &context), ATTN2C_OK);
  for (int tokens = 0; tokens <= CONTEXT; tokens += 7)
    for (int source = 0; source <= symbols[1].most; source += 3) {
      int32_t *sources = context->positions + SEQUENCES;
      const int rows[PARTS] = {tokens, source, source, tokens};
      const char *path = scratch_path("state"), *spoiled = scratch_path("spoiled");
      fill(1, tokens, 7), fill(0, 5, 8);
      sources[1] = source, sources[0] = 2;
      memcpy(before, state_of(1), sizeof before);
      cr_assert_eq(save(1, path), ATTN2C_OK, "%s", text);
      const int64_t pages = (tokens + PAGE - 1) / PAGE, of_source = (source + PAGE - 1) / PAGE;
      const size_t size = scratch_get(path, bytes, sizeof bytes);
      cr_assert_eq((int64_t)size,
                   HEADER + 4 * (pages * (KEYS + PAIRS_OF_VALUES) + of_source * (VALUES + PAIRS_OF_KEYS)));
      const uint32_t more = (uint32_t)symbols[1].most + 1;
      memcpy(bytes + 432, &more, 4);
      const uint64_t sum = attn2c_checksum(0, bytes, HEADER - 8);
      memcpy(bytes + HEADER - 8, &sum, 8);
      scratch_put(spoiled, bytes, size);
      refused(spoiled, 3, "the header is damaged");
      cr_assert_eq(load(0, path), ATTN2C_OK, "%s", text);
      cr_assert(context->positions[0] == tokens && sources[0] == source);
      for (int part = 0; part < PARTS; part++)
        for (int key = 0; key < rows[part]; key++)
          for (int i = 0; i < 2 * columns_of(part); i++)
            cr_assert_eq(half(state_of(0), part, key, i / 2, i % 2), half(before, part, key, i / 2, i % 2));
    }
}
