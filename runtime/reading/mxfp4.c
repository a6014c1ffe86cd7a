/* mxfp4.c - reads tensors that a folder has in MXFP4, as gpt-oss's folders have them: NAME_blocks has codes
 * of E2M1, two a byte, and NAME_scales the exponent of each 32 of them (E8M0). Both are bytes; the model sees
 * one tensor, NAME. */
#include "formats/gguf_blocks.h"
#include "reading/coded.h"

enum { CODES = 16 /* bytes of a block */, PIECE = 64 /* blocks that are read at a time */ };

static const attn2c_element_type of_codes = {"MXFP4", ATTN2C_BLOCK_NUMBERS, CODES + 1, NULL, "codes", 1,
                                             NULL};

typedef struct {
  attn2c_file_tensor tensor; /* as the model sees it */
  int blocks, scales;        /* numbers of the parts in the file */
} mxfp4_tensor;

/* The type behind attn2c_coded here. */
typedef struct {
  mxfp4_tensor *tensors;
  int count;
  char *is_part; /* one for each tensor of the file */
} mxfp4;

static const mxfp4 *of(const attn2c_coded *coded) { return (const mxfp4 *)(const void *)coded; }

static void close_mxfp4(attn2c_coded *coded) {
  mxfp4 *made = (mxfp4 *)(void *)coded;
  for (int i = 0; made && i < made->count; i++) free((char *)(uintptr_t)made->tensors[i].tensor.name);
  if (made) free(made->tensors), free(made->is_part);
  free(made);
}

/* Sets the shape of a tensor by its parts. A block's codes have an axis, or follow each other in a row. */
static int set_shape(const attn2c_checkpoint *file, mxfp4_tensor *made, attn2c_message *message) {
  const attn2c_file_tensor *blocks = attn2c_checkpoint_plain(file, made->blocks);
  const attn2c_file_tensor *scales = attn2c_checkpoint_plain(file, made->scales);
  const int last = scales->rank - 1;
  int fits = strcmp(blocks->type->name, "U8") == 0 && strcmp(scales->type->name, "U8") == 0 && last > 0 &&
             scales->elements > 0 && blocks->elements / CODES == scales->elements &&
             (blocks->rank == scales->rank + 1 ? blocks->shape[blocks->rank - 1] == CODES
                                               : blocks->rank == scales->rank);
  for (int axis = 0; fits && axis < last; axis++) fits = blocks->shape[axis] == scales->shape[axis];
  if (!fits)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: 16 bytes (U8) for each of %s are expected", blocks->name,
                       scales->name);
  made->tensor.type = &of_codes, made->tensor.rank = scales->rank;
  memcpy(made->tensor.shape, scales->shape, sizeof made->tensor.shape);
  made->tensor.shape[last] *= ATTN2C_BLOCK_NUMBERS;
  made->tensor.elements = scales->elements * ATTN2C_BLOCK_NUMBERS;
  return ATTN2C_OK;
}

/* Adds the tensor of the part number `plain`, whose name before "_blocks" has `length` bytes. */
static int add_tensor(mxfp4 *made, const attn2c_checkpoint *file, int plain, size_t length,
                      attn2c_message *message) {
  static const char end[] = "_scales";
  char *name = ATTN2C_MORE(made->tensors, made->count) == ATTN2C_OK ? malloc(length + sizeof end) : NULL;
  if (!name) return attn2c_say_no_memory(message);
  mxfp4_tensor *one = &made->tensors[made->count++];
  *one = (mxfp4_tensor){.tensor = {.name = name}, .blocks = plain};
  memcpy(name, attn2c_checkpoint_plain(file, plain)->name, length);
  memcpy(name + length, end, sizeof end);
  one->scales = attn2c_checkpoint_find_plain(file, name);
  if (one->scales < 0)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: missing, but the tensor is one of MXFP4", name);
  name[length] = '\0';
  made->is_part[plain] = made->is_part[one->scales] = 1;
  if (attn2c_checkpoint_find_plain(file, name) >= 0)
    return attn2c_fail(message, ATTN2C_FORMAT, "%s: is in the file as numbers and as codes", name);
  return set_shape(file, one, message);
}

static int compare_names(const void *left, const void *right) {
  return strcmp(((const mxfp4_tensor *)left)->tensor.name, ((const mxfp4_tensor *)right)->tensor.name);
}

static int find_all(const attn2c_checkpoint *file, const attn2c_coding *coding, attn2c_coded **coded,
                    attn2c_message *message) {
  const int count = attn2c_checkpoint_plain_count(file);
  mxfp4 *made = calloc(1, sizeof *made);
  *coded = NULL;
  if (made) made->is_part = calloc((size_t)count + 1, 1);
  int status = made && made->is_part ? ATTN2C_OK : attn2c_say_no_memory(message);
  for (int i = 0; i < count && !status; i++) {
    const char *name = attn2c_checkpoint_plain(file, i)->name;
    const size_t length = strlen(name), end = strlen(coding->packed);
    if (length > end && strcmp(name + length - end, coding->packed) == 0)
      status = add_tensor(made, file, i, length - end, message);
  }
  if (status || made->count == 0) {
    close_mxfp4((attn2c_coded *)(void *)made);
    return status;
  }
  qsort(made->tensors, (size_t)made->count, sizeof *made->tensors, compare_names);
  *coded = (attn2c_coded *)(void *)made;
  return ATTN2C_OK;
}

static int count_tensors(const attn2c_coded *coded) { return of(coded)->count; }

static const attn2c_file_tensor *tensor_at(const attn2c_coded *coded, int index) {
  return &of(coded)->tensors[index].tensor;
}

static int find_tensor(const attn2c_coded *coded, const char *name) {
  const mxfp4_tensor wanted = {.tensor = {.name = name}};
  const mxfp4_tensor *found = bsearch(&wanted, of(coded)->tensors, (size_t)of(coded)->count,
                                      sizeof *of(coded)->tensors, compare_names);
  return found ? (int)(found - of(coded)->tensors) : -1;
}

static int has_part(const attn2c_coded *coded, int plain) { return of(coded)->is_part[plain]; }

static int read_inputs(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
                       attn2c_message *message) {
  (void)file, (void)message;
  for (int64_t i = 0; i < tensor_at(coded, index)->shape[1]; i++) inputs[i] = (int32_t)i;
  return ATTN2C_OK;
}

static int read_blocks(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, attn2c_scale_block *blocks, attn2c_message *message) {
  const mxfp4_tensor *from = &of(coded)->tensors[index];
  int64_t at = first / ATTN2C_BLOCK_NUMBERS;
  const int64_t end = at + count / ATTN2C_BLOCK_NUMBERS;
  (void)in_groups;
  while (at < end) {
    uint8_t codes[PIECE][CODES], scales[PIECE];
    const size_t some = end - at < PIECE ? (size_t)(end - at) : PIECE;
    int status = attn2c_checkpoint_bytes(file, from->blocks, at * CODES, some * CODES, codes, message);
    if (!status) status = attn2c_checkpoint_bytes(file, from->scales, at, some, scales, message);
    if (status) return status;
    for (size_t i = 0; i < some; i++) attn2c_split_e2m1(scales[i], codes[i], 2, 1, blocks++);
    at += (int64_t)some;
  }
  return ATTN2C_OK;
}

static int read_values(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, float *values, attn2c_message *message) {
  const attn2c_file_tensor *tensor = tensor_at(coded, index);
  if (first < 0 || count < 0 || first > tensor->elements || count > tensor->elements - first)
    return attn2c_fail(message, ATTN2C_FORMAT, "\"%s\": %lld elements from element %lld are beyond its %lld",
                       tensor->name, (long long)count, (long long)first, (long long)tensor->elements);
  for (const int64_t end = first + count; first < end;) {
    attn2c_scale_block blocks[PIECE];
    const int64_t begin = first / ATTN2C_BLOCK_NUMBERS * ATTN2C_BLOCK_NUMBERS;
    const int64_t all = (end - begin + ATTN2C_BLOCK_NUMBERS - 1) / ATTN2C_BLOCK_NUMBERS;
    const int64_t some = (all < PIECE ? all : PIECE) * ATTN2C_BLOCK_NUMBERS;
    ATTN2C_TRY(read_blocks(coded, file, index, in_groups, begin, some, blocks, message));
    for (; first < end && first < begin + some; first++)
      *values++ = attn2c_block_number(&blocks[(first - begin) / ATTN2C_BLOCK_NUMBERS],
                                      (int)(first % ATTN2C_BLOCK_NUMBERS));
  }
  return ATTN2C_OK;
}

static int find_facts(const attn2c_coded *coded, const attn2c_checkpoint *file, int index,
                      attn2c_coded_facts *facts, attn2c_message *message) {
  const attn2c_file_tensor *tensor = tensor_at(coded, index);
  (void)file, (void)message;
  *facts = (attn2c_coded_facts){.bits = 4,
                                .groups = tensor->shape[tensor->rank - 1] / ATTN2C_BLOCK_NUMBERS,
                                .is_centred = 1,
                                .uneven = -1};
  return ATTN2C_OK;
}

static int has_blocks(const attn2c_coded *coded, int index, int in_groups, int64_t first, int64_t step,
                      int64_t columns) {
  (void)coded, (void)index, (void)in_groups;
  return first % ATTN2C_BLOCK_NUMBERS == 0 && step % ATTN2C_BLOCK_NUMBERS == 0 &&
         columns % ATTN2C_BLOCK_NUMBERS == 0;
}

static const attn2c_coded_reader reader = {find_all,    close_mxfp4, count_tensors, tensor_at,
                                           find_tensor, has_part,    read_inputs,   read_values,
                                           find_facts,  has_blocks,  read_blocks};

const attn2c_coding attn2c_mxfp4 = {&reader, "MXFP4", "_blocks", NULL, "_scales", NULL, NULL, NULL, 0};
