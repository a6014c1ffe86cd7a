/* coded.c - finds coded tensors by the ends of their parts' names, and unpacks the codes of one at a time. A
 * file has its packed words in another order than rows are read, so that a tensor is unpacked as a whole. */
#include "reading/coded.h"
#include "base/checksum.h"
#include "base/shape.h"

enum { WORD = 32 /* bits */, BAND = 64 /* columns that are unpacked together: a cache line of codes */ };

/* A tensor of one coding has no values that its type in the file could give. */
static const attn2c_element_type of_codes = {"codes", 1, 1, NULL, "codes", 1, NULL};

/* How the words of a tensor are packed. */
typedef enum {
  BY_INPUTS,  /* [in / n][out]: a word has n inputs of one output */
  BY_OUTPUTS, /* [in][out / n]: a word has n outputs of one input, in the order of AWQ */
  BY_ROWS,    /* [out][in / n]: as BY_INPUTS, transposed */
  BYTES       /* [out][in] signed bytes */
} packing;

/* Finding. */

static int is_type(const attn2c_file_tensor *tensor, const char *name) {
  return strcmp(tensor->type->name, name) == 0;
}

/* A tensor whose parts are being found. */
typedef struct {
  const attn2c_checkpoint *file;
  attn2c_coded *coded;
  coded_tensor *made;
  int length; /* of the parts' names before their ends */
  int64_t out, in;
  attn2c_message *message;
} finding;

static const attn2c_file_tensor *part(const finding *f, int number) {
  return attn2c_checkpoint_plain(f->file, number);
}

static int find_part(const finding *f, const char *end, int is_needed) {
  return attn2c_coded_part(f->coded, f->file, part(f, f->made->packed)->name, f->length, end, is_needed,
                           f->message);
}

/* Refuses a part for its shape or its type. */
static int refuse_part(const finding *f, int number, const char *expected) {
  const attn2c_file_tensor *tensor = part(f, number);
  return attn2c_fail(f->message, ATTN2C_FORMAT, "%s: %s %s, but %s is expected", tensor->name,
                     tensor->type->name, attn2c_shape_write(tensor->rank, tensor->shape).text, expected);
}

static int is_matrix(const finding *f, int number, const char *type) {
  const attn2c_file_tensor *tensor = part(f, number);
  return tensor->rank == 2 && is_type(tensor, type) && tensor->elements > 0;
}

/* Returns the bits of codes if `count` of them are in `words` words without a rest; 0 if there are none. */
static int bits_of(int64_t words, int64_t count) {
  for (int bits = 2; bits <= 8; bits *= 2)
    if (words <= count && words * (WORD / bits) == count) return bits;
  return 0;
}

/* Finds the sizes of a tensor of GPTQ or AWQ: its zero points tell the bits, as each has one for an output.
 */
static int measure_words(finding *f) {
  coded_tensor *made = f->made;
  if (!is_matrix(f, made->packed, "I32")) return refuse_part(f, made->packed, "I32 of two axes");
  if (!is_matrix(f, made->zeros, "I32")) return refuse_part(f, made->zeros, "I32 of two axes");
  const attn2c_file_tensor *packed = part(f, made->packed), *scales = part(f, made->scales),
                           *zeros = part(f, made->zeros);
  if (scales->rank != 2 || scales->elements == 0)
    return refuse_part(f, made->scales, "a shape of two axes, groups and outputs,");
  f->out = scales->shape[1], made->groups = scales->shape[0];
  made->bits = bits_of(zeros->shape[1], f->out);
  if (!made->bits || zeros->shape[0] != made->groups || (f->coded->coding == &attn2c_awq && made->bits != 4))
    return refuse_part(f, made->zeros,
                       f->coded->coding == &attn2c_awq ? "one zero point of 4 bits for each scale"
                                                       : "one zero point of 2, 4 or 8 bits for each scale");
  const int n = WORD / made->bits, by_outputs = f->coded->coding == &attn2c_awq;
  made->packing = by_outputs ? BY_OUTPUTS : BY_INPUTS;
  f->in = by_outputs ? packed->shape[0] : packed->shape[0] * n;
  if (packed->shape[1] * (by_outputs ? n : 1) != f->out)
    return refuse_part(f, made->packed, "a code for each input and output that the scales have");
  return ATTN2C_OK;
}

/* Reads the shape that compressed-tensors states. */
static int read_stated(finding *f, int number) {
  const attn2c_file_tensor *shape = part(f, number);
  int64_t stated[2];
  int32_t narrow[2];
  const int is_wide = is_type(shape, "I64");
  if (shape->elements != 2 || (!is_wide && !is_type(shape, "I32")))
    return refuse_part(f, number, "two integers");
  ATTN2C_TRY(attn2c_checkpoint_bytes(f->file, number, 0, is_wide ? sizeof stated : sizeof narrow,
                                     is_wide ? (void *)stated : (void *)narrow, f->message));
  f->out = is_wide ? stated[0] : narrow[0], f->in = is_wide ? stated[1] : narrow[1];
  if (f->out > 0 && f->in > 0 && f->in < INT64_MAX / 8) return ATTN2C_OK;
  return attn2c_fail(f->message, ATTN2C_FORMAT, "%s: says %lld and %lld, but positive sizes are expected",
                     shape->name, (long long)f->out, (long long)f->in);
}

/* Finds the sizes of a tensor of compressed-tensors. */
static int measure_compressed(finding *f, int is_bytes) {
  coded_tensor *made = f->made;
  const attn2c_file_tensor *packed = part(f, made->packed), *scales = part(f, made->scales);
  if (!is_matrix(f, made->packed, is_bytes ? "I8" : "I32"))
    return refuse_part(f, made->packed, is_bytes ? "I8 of two axes" : "I32 of two axes");
  made->packing = is_bytes ? BYTES : BY_ROWS, made->bits = 8;
  f->out = packed->shape[0], f->in = packed->shape[1];
  if (!is_bytes) {
    const int shape = find_part(f, f->coded->coding->shape, 1);
    ATTN2C_TRY(shape < 0 ? ATTN2C_FORMAT : read_stated(f, shape));
    made->bits = 0;
    for (int bits = 2; bits <= 8; bits *= 2)
      if (packed->shape[1] == (f->in * bits + WORD - 1) / WORD) made->bits = bits;
    if (!made->bits || packed->shape[0] != f->out)
      return refuse_part(f, made->packed, "codes of 2, 4 or 8 bits for the stated shape");
  }
  const int64_t rows = scales->elements == 1 ? 1 : f->out;
  made->groups = scales->elements / rows;
  if (scales->rank > 2 || scales->elements == 0 || scales->elements % rows ||
      (scales->rank > 0 && scales->shape[0] != rows))
    return refuse_part(f, made->scales, "the same number of scales for each output");
  if (made->zeros < 0) return ATTN2C_OK;
  const attn2c_file_tensor *zeros = part(f, made->zeros);
  const int is_packed = is_type(zeros, "I32") && zeros->rank == 2 && rows > 1 &&
                        zeros->shape[0] == (f->out * made->bits + WORD - 1) / WORD &&
                        zeros->shape[1] == made->groups;
  if (!is_packed && !(is_type(zeros, "I8") && zeros->elements == scales->elements))
    return refuse_part(f, made->zeros, "one zero point for each scale");
  return ATTN2C_OK;
}

/* Checks the order of inputs, or that groups have equal sizes. */
static int check_groups(const finding *f) {
  const coded_tensor *made = f->made;
  if (made->order >= 0) {
    const attn2c_file_tensor *order = part(f, made->order);
    if (!is_type(order, "I32") || order->rank != 1 || order->elements != f->in)
      return refuse_part(f, made->order, "I32 with a group for each input");
  } else if (made->groups > f->in || f->in % made->groups) {
    return refuse_part(f, made->scales, "groups of equal numbers of inputs");
  }
  return ATTN2C_OK;
}

static int read_order(const attn2c_checkpoint *file, const coded_tensor *of, int32_t *group_of, int *is_plain,
                      attn2c_message *message);

/* Counts the inputs of each group, in counts[groups]. Returns 1 if all have the same number of them. */
static int count_inputs(const coded_tensor *of, const int32_t *group_of, int64_t *counts) {
  const int64_t in = of->tensor.shape[1];
  memset(counts, 0, (size_t)of->groups * sizeof *counts);
  for (int64_t i = 0; i < in; i++) counts[group_of[i]]++;
  int64_t equal = 0;
  while (equal < of->groups && counts[equal] == counts[0]) equal++;
  return equal == of->groups;
}

/* Finds whether the groups of inputs are one after the other, and whether they have equal sizes. */
static int find_order(finding *f) {
  coded_tensor *made = f->made;
  made->is_equal = 1;
  if (made->order < 0) return ATTN2C_OK;
  int32_t *group_of = malloc((size_t)f->in * sizeof *group_of);
  int64_t *counts = malloc((size_t)made->groups * sizeof *counts);
  int is_plain = 0, status = group_of && counts ? ATTN2C_OK : attn2c_say_no_memory(f->message);
  made->tensor.shape[1] = f->in;
  if (!status) status = read_order(f->file, made, group_of, &is_plain, f->message);
  made->is_ordered = !is_plain;
  if (!status) made->is_equal = count_inputs(made, group_of, counts);
  free(group_of), free(counts);
  return status;
}

static int measure(finding *f, int is_bytes) {
  const int with_words = f->coded->coding != &attn2c_compressed_tensors;
  f->made->scales = find_part(f, f->coded->coding->scales, 1);
  f->made->zeros = find_part(f, f->coded->coding->zeros, with_words);
  f->made->order = find_part(f, f->coded->coding->order, 0);
  if (f->made->scales < 0 || (with_words && f->made->zeros < 0)) return ATTN2C_FORMAT;
  const attn2c_file_tensor *scales = part(f, f->made->scales);
  if (!scales->type->widen) return refuse_part(f, f->made->scales, scales->type->readable);
  int status = with_words ? measure_words(f) : measure_compressed(f, is_bytes);
  if (!status) status = check_groups(f);
  if (!status) status = find_order(f);
  f->made->has_halves = is_type(scales, "F16");
  return status;
}

static int find(attn2c_coded *coded, const attn2c_checkpoint *file, coded_tensor *made, int length,
                int is_bytes, attn2c_message *message) {
  finding f = {file, coded, made, length, 0, 0, message};
  ATTN2C_TRY(measure(&f, is_bytes));
  made->tensor = (attn2c_file_tensor){.name = made->tensor.name,
                                      .type = &of_codes,
                                      .rank = 2,
                                      .shape = {f.out, f.in},
                                      .elements = f.out * f.in};
  return ATTN2C_OK;
}

/* Reading. */

/* The place of output i of eight in a word of AWQ. */
static const int awq_place[8] = {0, 4, 1, 5, 2, 6, 3, 7};

static uint8_t code_of(uint32_t word, int bits, int i) {
  return (uint8_t)(word >> bits * i & ((1u << bits) - 1));
}

/* Unpacks `count` rows of words from row `first` on, which are `width` wide, to codes[out][in]. */
static void unpack(const coded_tensor *of, const uint32_t *words, int64_t first, int64_t count, int64_t width,
                   uint8_t *codes) {
  const int64_t out = of->tensor.shape[0], in = of->tensor.shape[1];
  const int bits = of->bits, n = WORD / bits;
  if (of->packing == BY_INPUTS) {
    for (int64_t o = 0; o < out; o++)
      for (int64_t w = 0; w < count; w++)
        for (int i = 0; i < n; i++)
          codes[o * in + (first + w) * n + i] = code_of(words[w * width + o], bits, i);
  } else if (of->packing == BY_OUTPUTS) {
    for (int64_t o = 0; o < out; o++)
      for (int64_t i = 0; i < count; i++)
        codes[o * in + first + i] = code_of(words[i * width + o / n], bits, awq_place[o % n]);
  } else {
    for (int64_t r = 0; r < count; r++)
      for (int64_t i = 0; i < in; i++)
        codes[(first + r) * in + i] = code_of(words[r * width + i / n], bits, (int)(i % n));
  }
}

/* Reads and unpacks the codes, in bands of some rows of words. */
static int read_codes(const attn2c_checkpoint *file, const coded_tensor *of, uint8_t *codes,
                      attn2c_message *message) {
  const attn2c_file_tensor *packed = attn2c_checkpoint_plain(file, of->packed);
  if (of->packing == BYTES) {
    const int status = attn2c_checkpoint_bytes(file, of->packed, 0, (size_t)packed->elements, codes, message);
    for (int64_t i = 0; i < packed->elements; i++) codes[i] ^= 0x80;
    return status;
  }
  const int64_t width = packed->shape[1], all = packed->shape[0];
  const int64_t band = of->packing == BY_INPUTS ? BAND * of->bits / WORD : BAND;
  ATTN2C_OWN uint32_t *words = malloc((size_t)(band * width) * sizeof *words);
  if (!words) return attn2c_say_no_memory(message);
  for (int64_t first = 0; first < all; first += band) {
    const int64_t count = all - first < band ? all - first : band;
    ATTN2C_TRY(attn2c_checkpoint_bytes(file, of->packed, first * width * (int64_t)sizeof *words,
                                       (size_t)(count * width) * sizeof *words, words, message));
    unpack(of, words, first, count, width, codes);
  }
  return ATTN2C_OK;
}

/* Reads the scales as [out][groups]. */
static int read_scales(const attn2c_checkpoint *file, const coded_tensor *of, float *scales,
                       attn2c_message *message) {
  const int64_t out = of->tensor.shape[0], groups = of->groups;
  const int is_by_rows = of->packing == BY_ROWS || of->packing == BYTES;
  const int64_t count = attn2c_checkpoint_plain(file, of->scales)->elements;
  float *read = is_by_rows ? scales : malloc((size_t)count * sizeof *read);
  if (!read) return attn2c_say_no_memory(message);
  const int status = attn2c_checkpoint_plain_read(file, of->scales, 0, count, read, message);
  if (is_by_rows) {
    for (int64_t i = 1; count == 1 && i < out; i++) scales[i] = scales[0];
    return status;
  }
  for (int64_t o = 0; o < out; o++)
    for (int64_t g = 0; g < groups; g++) scales[o * groups + g] = read[g * out + o];
  free(read);
  return status;
}

/* Returns the zero point of an output and a group, from the file's words. */
static int16_t zero_of(const coded_tensor *of, const attn2c_coding *coding, const uint32_t *words, int64_t o,
                       int64_t g) {
  const int bits = of->bits, n = WORD / bits;
  if (coding == &attn2c_compressed_tensors) return code_of(words[o / n * of->groups + g], bits, (int)(o % n));
  const uint32_t word = words[g * (of->tensor.shape[0] / n) + o / n];
  if (coding == &attn2c_awq) return code_of(word, bits, awq_place[o % n]);
  const uint32_t ones = UINT32_MAX / ((1u << bits) - 1);
  return code_of(word + ones * (uint32_t)coding->zero_offset, bits, (int)(o % n));
}

static int read_zeros(const attn2c_checkpoint *file, const coded_tensor *of, const attn2c_coding *coding,
                      int16_t *zeros, attn2c_message *message) {
  const int64_t out = of->tensor.shape[0], groups = of->groups;
  const int16_t middle = (int16_t)(1 << (of->bits - 1));
  if (of->zeros < 0) {
    for (int64_t i = 0; i < out * groups; i++) zeros[i] = middle;
    return ATTN2C_OK;
  }
  const attn2c_file_tensor *stored = attn2c_checkpoint_plain(file, of->zeros);
  const int is_bytes = is_type(stored, "I8");
  const size_t size = (size_t)stored->elements * (is_bytes ? 1 : sizeof(uint32_t));
  ATTN2C_OWN void *read = malloc(size);
  if (!read) return attn2c_say_no_memory(message);
  const int status = attn2c_checkpoint_bytes(file, of->zeros, 0, size, read, message);
  for (int64_t o = 0; o < out && !status; o++)
    for (int64_t g = 0; g < groups; g++)
      zeros[o * groups + g] =
          is_bytes ? (int16_t)(middle + ((const int8_t *)read)[stored->elements == 1 ? 0 : o * groups + g])
                   : zero_of(of, coding, read, o, g);
  return status;
}

/* Reads the group of each input. *is_plain is 1 if these are groups of equal sizes, one after the other. */
static int read_order(const attn2c_checkpoint *file, const coded_tensor *of, int32_t *group_of, int *is_plain,
                      attn2c_message *message) {
  const int64_t in = of->tensor.shape[1], size = in / of->groups;
  const char *name = of->order >= 0 ? attn2c_checkpoint_plain(file, of->order)->name : NULL;
  *is_plain = 1;
  if (!name) return ATTN2C_OK;
  ATTN2C_TRY(attn2c_checkpoint_bytes(file, of->order, 0, (size_t)in * sizeof *group_of, group_of, message));
  int unset = 0; /* compressed-tensors writes -1 for all inputs if their order is that of the groups */
  while (unset < in && group_of[unset] == -1) unset++;
  if (unset == in && in % of->groups == 0) {
    for (int64_t i = 0; i < in; i++) group_of[i] = (int32_t)(i / size);
    return ATTN2C_OK;
  }
  for (int64_t i = 0; i < in; i++) {
    if (group_of[i] < 0 || group_of[i] >= of->groups)
      return attn2c_fail(message, ATTN2C_FORMAT, "%s: group %d of input %lld, but the tensor has %lld groups",
                         name, (int)group_of[i], (long long)i, (long long)of->groups);
    if (in % of->groups || group_of[i] != i / size) *is_plain = 0;
  }
  return ATTN2C_OK;
}

/* True if blocks need no minimum: scales are f16, and codes less zero points fit the type's integers. */
static int is_centred(const coded_tensor *of, const int16_t *zeros) {
  const int64_t count = of->tensor.shape[0] * of->groups;
  int is = of->has_halves;
  for (int64_t i = 0; is && of->bits > 2 && i < count; i++) is = zeros[i] == 1 << (of->bits - 1);
  return is;
}

/* Writes the inputs in the order of their groups. counts: of each group, which become the ends of groups. */
static void sort_inputs(const coded_tensor *of, const int32_t *group_of, int64_t *counts, int32_t *inputs) {
  int64_t begin = 0;
  for (int64_t g = 0; g < of->groups; g++) {
    const int64_t count = counts[g];
    counts[g] = begin, begin += count;
  }
  for (int64_t i = 0; i < of->tensor.shape[1]; i++) inputs[counts[group_of[i]]++] = (int32_t)i;
}

static int read_inputs(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
                       attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  const int64_t in = of->tensor.shape[1];
  for (int64_t i = 0; i < in; i++) inputs[i] = (int32_t)i;
  if (!of->is_ordered) return ATTN2C_OK;
  int32_t *group_of = malloc((size_t)in * sizeof *group_of);
  int64_t *counts = malloc((size_t)of->groups * sizeof *counts);
  int is_plain, status = group_of && counts ? ATTN2C_OK : attn2c_say_no_memory(message);
  if (!status) status = read_order(file, of, group_of, &is_plain, message);
  if (!status) {
    count_inputs(of, group_of, counts);
    sort_inputs(of, group_of, counts, inputs);
  }
  free(group_of), free(counts);
  return status;
}

/* Finds whether zero points need a minimum. */
static int find_centre(const attn2c_coded *coded, const attn2c_checkpoint *file, const coded_tensor *of,
                       int *is, attn2c_message *message) {
  ATTN2C_OWN int16_t *zeros = malloc((size_t)(of->tensor.shape[0] * of->groups) * sizeof *zeros);
  if (!zeros) return attn2c_say_no_memory(message);
  const int status = read_zeros(file, of, coded->coding, zeros, message);
  if (!status) *is = is_centred(of, zeros);
  return status;
}

/* Finds the checksum of a tensor's order of inputs, and a group of another size. */
static int sum_order(const attn2c_coded *coded, const attn2c_checkpoint *file, int index,
                     attn2c_coded_facts *facts, attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  const size_t in = (size_t)of->tensor.shape[1];
  int32_t *inputs = malloc(in * sizeof *inputs);
  int64_t *counts = malloc((size_t)of->groups * sizeof *counts);
  int is_plain, status = inputs && counts ? ATTN2C_OK : attn2c_say_no_memory(message);
  if (!status) status = read_order(file, of, inputs, &is_plain, message);
  if (!status) count_inputs(of, inputs, counts);
  for (int64_t g = of->groups - 1; g >= 0 && !status; g--)
    if (counts[g] * of->groups != (int64_t)in) facts->uneven = g, facts->inputs = counts[g];
  if (!status) facts->sum = attn2c_checksum(0, inputs, in * sizeof *inputs);
  free(inputs), free(counts);
  return status;
}

static int find_facts(const attn2c_coded *coded, const attn2c_checkpoint *file, int index,
                      attn2c_coded_facts *facts, attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  *facts =
      (attn2c_coded_facts){.bits = of->bits,
                           .groups = of->groups,
                           .has_halves = of->has_halves,
                           .order = of->order < 0 ? NULL : attn2c_checkpoint_plain(file, of->order)->name,
                           .is_ordered = of->is_ordered,
                           .uneven = -1};
  const int status = find_centre(coded, file, of, &facts->is_centred, message);
  return status || !of->is_ordered ? status : sum_order(coded, file, index, facts, message);
}

/* Puts the columns of codes that were read, and the groups of inputs, into the order of the groups. */
static int sort_columns(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, uint8_t *codes,
                        int32_t *group_of, attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  const int64_t out = of->tensor.shape[0], in = of->tensor.shape[1];
  int32_t *inputs = malloc((size_t)in * sizeof *inputs), *groups = malloc((size_t)in * sizeof *groups);
  uint8_t *row = malloc((size_t)in);
  int status = inputs && groups && row ? ATTN2C_OK : attn2c_say_no_memory(message);
  if (!status) status = read_inputs(coded, file, index, inputs, message);
  if (!status) {
    memcpy(groups, group_of, (size_t)in * sizeof *groups);
    for (int64_t i = 0; i < in; i++) group_of[i] = groups[inputs[i]];
    for (int64_t o = 0; o < out; o++) {
      memcpy(row, codes + o * in, (size_t)in);
      for (int64_t i = 0; i < in; i++) codes[o * in + i] = row[inputs[i]];
    }
  }
  free(inputs), free(groups), free(row);
  return status;
}

/* Reads all codes of a tensor, in place of those that were read before. */
static int hold(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  if (coded->held == index && coded->in_groups == in_groups) return ATTN2C_OK;
  for (int i = 0; i < 4; i++) free(coded->memory[i]), coded->memory[i] = NULL;
  coded->held = -1;
  const int64_t out = of->tensor.shape[0], in = of->tensor.shape[1], groups = of->groups;
  uint8_t *codes = coded->memory[0] = malloc((size_t)(out * in));
  float *scales = coded->memory[1] = malloc((size_t)(out * groups) * sizeof *scales);
  int16_t *zeros = coded->memory[2] = malloc((size_t)(out * groups) * sizeof *zeros);
  int32_t *group_of = coded->memory[3] = malloc((size_t)in * sizeof *group_of);
  if (!codes || !scales || !zeros || !group_of) return attn2c_say_no_memory(message);
  int is_plain, status = read_codes(file, of, codes, message);
  if (!status) status = read_scales(file, of, scales, message);
  if (!status) status = read_zeros(file, of, coded->coding, zeros, message);
  if (!status) status = read_order(file, of, group_of, &is_plain, message);
  if (!status && in_groups && !is_plain) {
    status = sort_columns(coded, file, index, codes, group_of, message);
    is_plain = of->is_equal;
  }
  if (status) return status;
  coded->codes = (attn2c_codes){out, in, groups, of->bits, codes, scales, zeros, is_plain ? NULL : group_of};
  coded->held = index, coded->in_groups = in_groups;
  coded->is_centred = is_centred(of, zeros);
  return ATTN2C_OK;
}

/* Writes columns [first, first + count) of a row. */
static void read_row(const attn2c_codes *of, int64_t row, int64_t first, int64_t count, float *values) {
  const uint8_t *codes = of->codes + row * of->columns;
  const float *scales = of->scales + row * of->groups;
  const int16_t *zeros = of->zeros + row * of->groups;
  const int64_t end = first + count, size = of->columns / of->groups;
  if (of->group_of) {
    for (int64_t j = first; j < end; j++)
      *values++ = scales[of->group_of[j]] * (float)(codes[j] - zeros[of->group_of[j]]);
    return;
  }
  for (int64_t j = first; j < end;) {
    const int64_t g = j / size, last = (g + 1) * size < end ? (g + 1) * size : end;
    for (; j < last; j++) *values++ = scales[g] * (float)(codes[j] - zeros[g]);
  }
}

static int read_values(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, float *values, attn2c_message *message) {
  const attn2c_file_tensor *tensor = &coded->tensors[index].tensor;
  pthread_mutex_lock(&coded->lock);
  const int status = hold(coded, file, index, in_groups, message);
  while (count > 0 && !status) {
    const int64_t columns = tensor->shape[1], row = first / columns, at = first % columns;
    const int64_t some = count < columns - at ? count : columns - at;
    read_row(&coded->codes, row, at, some, values);
    first += some, count -= some, values += some;
  }
  pthread_mutex_unlock(&coded->lock);
  return status;
}

static int has_blocks(const attn2c_coded *coded, int index, int in_groups, int64_t first, int64_t step,
                      int64_t columns) {
  const coded_tensor *of = &coded->tensors[index];
  return (in_groups ? of->is_equal : !of->is_ordered) &&
         of->tensor.shape[1] / of->groups % ATTN2C_BLOCK_NUMBERS == 0 && first % ATTN2C_BLOCK_NUMBERS == 0 &&
         step % ATTN2C_BLOCK_NUMBERS == 0 && columns % ATTN2C_BLOCK_NUMBERS == 0;
}

/* Writes a block of 32 codes with one scale and zero point. The scale times a small integer is exact. */
static void make_block(const attn2c_coded *coded, const uint8_t *codes, float scale, int zero,
                       attn2c_scale_block *block) {
  const int from = coded->is_centred ? zero : coded->codes.bits == 8 ? 128 : 0;
  const float least = coded->is_centred ? 0.0f : scale * (float)(from - zero);
  *block = (attn2c_scale_block){.scale = {scale, scale}, .least = {least, least}};
  for (int i = 0; i < ATTN2C_BLOCK_NUMBERS; i++) block->integers[i] = (int8_t)(codes[i] - from);
}

static int read_blocks(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, attn2c_scale_block *blocks, attn2c_message *message) {
  const coded_tensor *of = &coded->tensors[index];
  const int64_t columns = of->tensor.shape[1], size = columns / of->groups;
  pthread_mutex_lock(&coded->lock);
  const int status = hold(coded, file, index, in_groups, message);
  for (int64_t at = first; at < first + count && !status; at += ATTN2C_BLOCK_NUMBERS) {
    const int64_t group = at / columns * of->groups + at % columns / size;
    make_block(coded, coded->codes.codes + at, coded->codes.scales[group], coded->codes.zeros[group],
               blocks++);
  }
  pthread_mutex_unlock(&coded->lock);
  return status;
}

static const attn2c_coded_reader reader = {find,       read_inputs, read_values,
                                           find_facts, has_blocks,  read_blocks};

/* The first version of GPTQ's files has one less in each place of a word. */
#define GPTQ(zero_offset)                                                                                    \
  { &reader, "GPTQ", ".weight", ".qweight", NULL, ".scales", ".qzeros", ".g_idx", NULL, zero_offset }
const attn2c_coding attn2c_gptq = GPTQ(1), attn2c_gptq_v2 = GPTQ(0);
const attn2c_coding attn2c_awq = {&reader,   "AWQ",     ".weight", ".qweight", NULL,
                                  ".scales", ".qzeros", NULL,      NULL,       0};
const attn2c_coding attn2c_compressed_tensors = {
    &reader,         "compressed-tensors", ".weight",       ".weight_packed", ".weight",
    ".weight_scale", ".weight_zero_point", ".weight_g_idx", ".weight_shape",  0};
