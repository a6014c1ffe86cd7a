/* mxfp4.c - reads tensors that a folder has in MXFP4, as gpt-oss's folders have them: NAME_blocks has codes
 * of E2M1, two a byte, and NAME_scales the exponent of each 32 of them (E8M0). Both are bytes; the model sees
 * one tensor, NAME. */
#include "formats/gguf_blocks.h"
#include "reading/coded.h"

enum { CODES = 16 /* bytes of a block */, PIECE = 64 /* blocks that are read at a time */ };

static const attn2c_element_type of_codes = {"MXFP4", ATTN2C_BLOCK_NUMBERS, CODES + 1, NULL, "codes", 1,
                                             NULL};

/* A block's codes have an axis, or follow each other in a row. */
static int find(attn2c_coded *coded, const attn2c_checkpoint *file, coded_tensor *made, int length,
                int is_bytes, attn2c_message *message) {
  const attn2c_file_tensor *blocks = attn2c_checkpoint_plain(file, made->packed);
  (void)is_bytes;
  made->scales = attn2c_coded_part(coded, file, blocks->name, length, coded->coding->scales, 1, message);
  if (made->scales < 0) return ATTN2C_FORMAT;
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

static int read_inputs(const attn2c_coded *coded, const attn2c_checkpoint *file, int index, int32_t *inputs,
                       attn2c_message *message) {
  (void)file, (void)message;
  for (int64_t i = 0; i < coded->tensors[index].tensor.shape[1]; i++) inputs[i] = (int32_t)i;
  return ATTN2C_OK;
}

static int read_blocks(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, attn2c_scale_block *blocks, attn2c_message *message) {
  const coded_tensor *from = &coded->tensors[index];
  int64_t at = first / ATTN2C_BLOCK_NUMBERS;
  const int64_t end = at + count / ATTN2C_BLOCK_NUMBERS;
  (void)in_groups;
  while (at < end) {
    uint8_t codes[PIECE][CODES], scales[PIECE];
    const size_t some = end - at < PIECE ? (size_t)(end - at) : PIECE;
    int status = attn2c_checkpoint_bytes(file, from->packed, at * CODES, some * CODES, codes, message);
    if (!status) status = attn2c_checkpoint_bytes(file, from->scales, at, some, scales, message);
    if (status) return status;
    for (size_t i = 0; i < some; i++) attn2c_split_e2m1(scales[i], codes[i], 2, 1, blocks++);
    at += (int64_t)some;
  }
  return ATTN2C_OK;
}

static int read_values(attn2c_coded *coded, const attn2c_checkpoint *file, int index, int in_groups,
                       int64_t first, int64_t count, float *values, attn2c_message *message) {
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
  const attn2c_file_tensor *tensor = &coded->tensors[index].tensor;
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

static const attn2c_coded_reader reader = {find,       read_inputs, read_values,
                                           find_facts, has_blocks,  read_blocks};

const attn2c_coding attn2c_mxfp4 = {&reader, "MXFP4", "", "_blocks", NULL, "_scales", NULL, NULL, NULL, 0};
