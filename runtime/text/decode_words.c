/* decode_words.c - decoders that change each word, or join words. They are WordPiece, Metaspace, Strip,
 * Replace, BPEDecoder and Fuse, and the decoder of tokenizers that have none. */
#include "text/stages.h"
#include "text/unicode.h"

static text_span word_at(const attn2c_text_work *work, size_t i) {
  size_t begin = i ? work->words.ends[i - 1] : 0;
  return (text_span){work->words.text.bytes + begin, work->words.ends[i] - begin};
}

/* True if word number `i` begins the text. */
static int is_first(const attn2c_text_work *work, size_t i) { return i == 0 && !(work->place & TEXT_AFTER); }

static int begins_with(text_span word, size_t at, text_span what) {
  return what.length && word.length - at >= what.length &&
         memcmp(word.bytes + at, what.bytes, what.length) == 0;
}

static text_span literal(const char *text) { return (text_span){(const uint8_t *)text, strlen(text)}; }

/* Appends a word in which one text is replaced by another. */
static int add_replaced(text_words *words, text_span word, text_span from, text_span to) {
  size_t last = 0;
  for (size_t at = 0; at < word.length;) {
    if (!begins_with(word, at, from)) {
      at++;
      continue;
    }
    ATTN2C_TRY(text_word_bytes(words, word.bytes + last, at - last));
    ATTN2C_TRY(text_word_bytes(words, to.bytes, to.length));
    last = at += from.length;
  }
  return text_word_bytes(words, word.bytes + last, word.length - last);
}

/* Replacements that remove blanks which English does not have. Each is applied to every word in turn. */
static const char *const cleanups[][2] = {
    {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
    {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
};

/* Applies the replacements to the text from `begin` on, in place. None is longer than what it replaces. */
static void clean_up(text_words *words, size_t begin) {
  for (size_t c = 0; c < sizeof cleanups / sizeof cleanups[0]; c++) {
    text_span from = literal(cleanups[c][0]), to = literal(cleanups[c][1]);
    text_span word = {words->text.bytes + begin, words->text.length - begin};
    uint8_t *out = words->text.bytes + begin;
    for (size_t at = 0; at < word.length;) {
      if (begins_with(word, at, from)) {
        memcpy(out, to.bytes, to.length);
        out += to.length;
        at += from.length;
      } else {
        *out++ = word.bytes[at++];
      }
    }
    words->text.length = (size_t)(out - words->text.bytes);
  }
}

int text_decode_wordpiece(attn2c_text_work *work, const text_component *component) {
  text_words *words = &work->next_words;
  for (size_t i = 0; i < work->words.count; i++) {
    text_span word = word_at(work, i);
    size_t begin = words->text.length;
    const int is_begin = is_first(work, i);
    if (!is_begin && begins_with(word, 0, component->a))
      word = (text_span){word.bytes + component->a.length, word.length - component->a.length};
    else if (!is_begin && component->a.length)
      ATTN2C_TRY(text_word_bytes(words, (const uint8_t *)" ", 1));
    ATTN2C_TRY(text_word_bytes(words, word.bytes, word.length));
    if (component->flags & 1) clean_up(words, begin);
    ATTN2C_TRY(text_word_end(words));
  }
  return ATTN2C_OK;
}

int text_decode_metaspace(attn2c_text_work *work, const text_component *component) {
  text_span space = literal(" "), nothing = literal("");
  for (size_t i = 0; i < work->words.count; i++) {
    int drops = is_first(work, i) && component->number != SCHEME_NEVER;
    ATTN2C_TRY(add_replaced(&work->next_words, word_at(work, i), component->a, drops ? nothing : space));
    ATTN2C_TRY(text_word_end(&work->next_words));
  }
  return ATTN2C_OK;
}

/* Removes one character at each end, at most `number` times at the start and `flags` times at the end. The
 * end of a whole text is not known while words follow. */
int text_decode_strip(attn2c_text_work *work, const text_component *component) {
  const int ends_later = work->is_fused && (work->place & TEXT_BEFORE);
  const int is_begun = work->is_fused && (work->place & TEXT_AFTER);
  const uint32_t most = is_begun ? 0 : component->number;
  for (size_t i = 0; i < work->words.count; i++) {
    text_span word = word_at(work, i);
    for (uint32_t n = 0; n < most && begins_with(word, 0, component->a); n++)
      word = (text_span){word.bytes + component->a.length, word.length - component->a.length};
    for (uint32_t n = 0; n < component->flags && word.length >= component->a.length; n++) {
      if (!begins_with(word, word.length - component->a.length, component->a)) break;
      work->is_held |= ends_later;
      word.length -= component->a.length;
    }
    ATTN2C_TRY(text_word_bytes(&work->next_words, word.bytes, word.length));
    ATTN2C_TRY(text_word_end(&work->next_words));
  }
  return ATTN2C_OK;
}

/* Replaces matches of a pattern. Malformed words of a damaged vocabulary stay unchanged. */
int text_decode_replace(attn2c_text_work *work, const text_component *component) {
  text_words *words = &work->next_words;
  for (size_t i = 0; i < work->words.count; i++) {
    text_span word = word_at(work, i);
    text_search search = text_search_start(component->regex, work->matcher, word.bytes, word.length);
    size_t last = 0, begin = 0, end = 0;
    int found = word.length && text_is_valid(word.bytes, word.length), status = ATTN2C_OK;
    while (found) {
      status = text_search_next(&search, &found, &begin, &end);
      if (status == ATTN2C_FORMAT) return text_fail(work, "a pattern fails or takes too many steps");
      if (status != ATTN2C_OK) return status;
      if (!found) break;
      status = text_word_bytes(words, word.bytes + last, begin - last);
      if (status == ATTN2C_OK) status = text_word_bytes(words, component->b.bytes, component->b.length);
      if (status != ATTN2C_OK) return status;
      last = end;
    }
    status = text_word_bytes(words, word.bytes + last, word.length - last);
    if (status == ATTN2C_OK) status = text_word_end(words);
    if (status != ATTN2C_OK) return status;
  }
  return ATTN2C_OK;
}

/* Replaces the suffix by a space, and in the last word by nothing. */
int text_decode_bpe(attn2c_text_work *work, const text_component *component) {
  for (size_t i = 0; i < work->words.count; i++) {
    const int is_last = i + 1 == work->words.count && !(work->place & TEXT_BEFORE);
    text_span to = literal(is_last ? "" : " ");
    ATTN2C_TRY(add_replaced(&work->next_words, word_at(work, i), component->a, to));
    ATTN2C_TRY(text_word_end(&work->next_words));
  }
  return ATTN2C_OK;
}

int text_decode_fuse(attn2c_text_work *work, const text_component *component) {
  (void)component;
  work->is_fused = 1;
  int status = text_word_bytes(&work->next_words, work->words.text.bytes, work->words.text.length);
  return status == ATTN2C_OK ? text_word_end(&work->next_words) : status;
}

int text_decode_join(attn2c_text_work *work, const text_component *component) {
  for (size_t i = 0; i < work->words.count; i++) {
    text_span word = word_at(work, i);
    if (!is_first(work, i))
      ATTN2C_TRY(text_word_bytes(&work->next_words, component->a.bytes, component->a.length));
    ATTN2C_TRY(text_word_bytes(&work->next_words, word.bytes, word.length));
    ATTN2C_TRY(text_word_end(&work->next_words));
  }
  return ATTN2C_OK;
}
