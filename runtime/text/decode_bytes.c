/* decode_bytes.c - decoders that make text from bytes: ByteLevel from letters, ByteFallback from tokens like
 * <0x0A>. Malformed UTF-8 becomes U+FFFD. */
#include "text/stages.h"
#include "text/unicode.h"

static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd};

/* Appends bytes, with U+FFFD for each maximal malformed part. */
static int add_lossy(text_words *words, const uint8_t *bytes, size_t length) {
  for (size_t at = 0, width; at < length; at += width) {
    int valid;
    width = text_part(bytes + at, length - at, &valid);
    ATTN2C_TRY(valid ? text_word_bytes(words, bytes + at, width) : text_word_bytes(words, replacement, 3));
  }
  return ATTN2C_OK;
}

/* True if the bytes end within a character that more bytes may complete. */
static int ends_within(const uint8_t *bytes, size_t length) {
  const size_t most = length < 3 ? length : 3;
  for (size_t back = 1; back <= most; back++) {
    const uint8_t first = bytes[length - back];
    const size_t width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    int valid;
    if ((first & 0xc0) == 0x80) continue;
    return first >= 0xc2 && first <= 0xf4 && back < width &&
           text_part(bytes + length - back, back, &valid) == back;
  }
  return 0;
}

static int add_byte(text_bytes *to, uint8_t byte) {
  int status = attn2c_grow((void **)&to->bytes, &to->capacity, to->length + 1, 1);
  if (status == ATTN2C_OK) to->bytes[to->length++] = byte;
  return status;
}

/* Appends the bytes of a word's letters. A word with a character that is no letter is added unchanged. */
static int add_letters(text_bytes *to, const uint8_t *word, size_t length) {
  size_t before = to->length, width;
  int is_letters = text_is_valid(word, length), status = ATTN2C_OK;
  for (size_t at = 0; at < length && is_letters && status == ATTN2C_OK; at += width) {
    int byte = text_letter_byte(text_read(word + at, &width));
    is_letters = byte >= 0;
    if (is_letters) status = add_byte(to, (uint8_t)byte);
  }
  if (is_letters || status != ATTN2C_OK) return status;
  to->length = before;
  for (size_t i = 0; i < length && status == ATTN2C_OK; i++) status = add_byte(to, word[i]);
  return status;
}

int text_decode_bytes(attn2c_text_work *work, const text_component *component) {
  (void)component;
  work->decoded.length = 0;
  work->is_fused = 1;
  for (size_t i = 0, begin = 0; i < work->words.count; i++) {
    size_t end = work->words.ends[i];
    ATTN2C_TRY(add_letters(&work->decoded, work->words.text.bytes + begin, end - begin));
    begin = end;
  }
  work->is_held |= ends_within(work->decoded.bytes, work->decoded.length);
  ATTN2C_TRY((work->is_raw ? text_word_bytes : add_lossy)(&work->next_words, work->decoded.bytes,
                                                          work->decoded.length));
  return text_word_end(&work->next_words);
}

static int digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte of <0x0A>, or -1. The first digit may be a plus, because Rust reads numbers so. */
static int byte_of(const uint8_t *word, size_t length) {
  if (length != 6 || word[0] != '<' || word[1] != '0' || word[2] != 'x' || word[5] != '>') return -1;
  int high = word[3] == '+' ? 0 : digit(word[3]), low = digit(word[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Ends a run of bytes: it becomes one word if it is UTF-8, else a U+FFFD for each byte. */
static int end_run(attn2c_text_work *work) {
  text_bytes *run = &work->decoded;
  int valid = work->is_raw || text_is_valid(run->bytes, run->length), status = ATTN2C_OK;
  if (run->length == 0) return ATTN2C_OK;
  if (valid) {
    status = text_word_bytes(&work->next_words, run->bytes, run->length);
    if (status == ATTN2C_OK) status = text_word_end(&work->next_words);
  }
  for (size_t i = 0; i < run->length && !valid && status == ATTN2C_OK; i++) {
    status = text_word_bytes(&work->next_words, replacement, 3);
    if (status == ATTN2C_OK) status = text_word_end(&work->next_words);
  }
  run->length = 0;
  return status;
}

int text_decode_byte_fallback(attn2c_text_work *work, const text_component *component) {
  (void)component;
  work->decoded.length = 0;
  for (size_t i = 0, begin = 0; i < work->words.count; i++) {
    const uint8_t *word = work->words.text.bytes + begin;
    size_t length = work->words.ends[i] - begin;
    int byte = byte_of(word, length);
    begin = work->words.ends[i];
    if (byte >= 0) {
      ATTN2C_TRY(add_byte(&work->decoded, (uint8_t)byte));
      continue;
    }
    ATTN2C_TRY(end_run(work));
    ATTN2C_TRY(text_word_bytes(&work->next_words, word, length));
    ATTN2C_TRY(text_word_end(&work->next_words));
  }
  work->is_held |= work->decoded.length > 0;
  return end_run(work);
}
