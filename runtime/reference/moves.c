/* moves.c - the reference of ops that only move values: patches, neighbours, join, split_heads,
 * windows, swap and gather_columns. They cut an image into patches, put rows side by side, join rows
 * along a sequence, order rows of all heads by head, and swap two leading axes. */
#include "reference/ops.h"

#include <math.h>

/* y[b][py (X/P) + px][(c P + y) P + x] = x[b][c][py P + y][px P + x] */
int attn2c_reference_patches(const attn2c_reference_call *call) {
  const int64_t size = call->n['p'];
  const int64_t batch = call->n['b'], channels = call->n['c'], height = call->n['h'], width = call->n['w'];
  const int64_t down = height / size, across = width / size;
  if (call->n['r'] != down * across)
    return attn2c_reference_fault(call, "the result must have a row for each patch");
  const float *image = call->in[0];
  float *result = call->out;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t py = 0; py < down; py++)
      for (int64_t px = 0; px < across; px++)
        for (int64_t c = 0; c < channels; c++)
          for (int64_t y = 0; y < size; y++)
            for (int64_t x = 0; x < size; x++)
              *result++ = image[((b * channels + c) * height + py * size + y) * width + px * size + x];
  return ATTN2C_OK;
}

/* y[b][py across + px][y P + x] = x[b][px column_stride + x][py row_stride + y] */
int attn2c_reference_patches_of_columns(const attn2c_reference_call *call) {
  const int64_t row_stride = call->n['i'], column_stride = call->n['j'];
  const int64_t batch = call->n['b'], size = call->n['p'], width = call->n['w'], height = call->n['h'];
  const int64_t down = (height - size) / row_stride + 1, across = (width - size) / column_stride + 1;
  if (height < size || width < size || call->n['r'] != down * across)
    return attn2c_reference_fault(call, "the result must have a row for each patch");
  const float *image = call->in[0];
  float *result = call->out;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t py = 0; py < down; py++)
      for (int64_t px = 0; px < across; px++)
        for (int64_t y = 0; y < size; y++)
          for (int64_t x = 0; x < size; x++)
            *result++ = image[(b * width + px * column_stride + x) * height + py * row_stride + y];
  return ATTN2C_OK;
}

/* y[r][j] = x[r][order[j]] */
int attn2c_reference_gather_columns(const attn2c_reference_call *call) {
  const attn2c_tensor *order_shape = attn2c_reference_operand(call, 1);
  const int64_t rows = call->n['*'], width = call->n['w'];
  const float *x = call->in[0], *order = call->in[1];
  float *y = call->out;
  for (int64_t j = 0; j < width; j++) {
    if (!(order[j] >= 0) || !(order[j] < (float)width) || order[j] != floorf(order[j]))
      return attn2c_fail(call->message, ATTN2C_FORMAT,
                         "%s: element %lld is %g, but must be a column from 0 to %lld", order_shape->name,
                         (long long)j, (double)order[j], (long long)width - 1);
    for (int64_t r = 0; r < rows; r++) y[r * width + j] = x[r * width + (int64_t)order[j]];
  }
  return ATTN2C_OK;
}

/* y[b][i][c K + t] = x[b][i + t - K / 2][c], or 0 if that is not one of the sequence's rows, or of the first
 * lengths[b] of them; with a dilation D: y[b][i][t W + c] = x[b][i + (t - K / 2) D][c] */
int attn2c_reference_neighbours(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], rows = call->n['r'], width = call->n['w'], kernel = call->n['k'];
  const int64_t dilation = attn2c_reference_count(call, "dilation", 0);
  if (!attn2c_reference_lengths(call, 1, batch, 0, rows)) return ATTN2C_FORMAT;
  const float *x = call->in[0];
  const int32_t *valid = call->in[1];
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t k = 0; k < width * kernel; k++) {
        const int64_t t = dilation > 0 ? k / width : k % kernel, c = dilation > 0 ? k % width : k / kernel;
        const int64_t row = i + (t - kernel / 2) * (dilation > 0 ? dilation : 1);
        const int is_there = row >= 0 && row < (valid ? valid[b] : rows);
        *y++ = is_there ? x[(b * rows + row) * width + c] : 0;
      }
  return ATTN2C_OK;
}

/* y[b][i] = x0 - x2, x1, x3 and x4 - x2 side by side, of the rows x0 to x4 from x[b][4 i] on; 0 after the
 * last row. There is a row of y for two windows of three rows that begin two rows apart. */
int attn2c_reference_pair_rows(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], rows = call->n['r'], width = call->n['w'], pairs = call->n['p'];
  if (rows < 3 || pairs != ((rows - 1) / 2 + 1) / 2)
    return attn2c_reference_fault(call, "the result must have a row for each two windows");
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < pairs; i++)
      for (int64_t k = 0; k < 4 * width; k++) {
        const int64_t t = k / width, c = k % width, row = 4 * i + t + (t > 1);
        const double value = row < rows ? x[(b * rows + row) * width + c] : 0;
        const int is_difference = row < rows && row % 2 == 0;
        *y++ = (float)(is_difference ? value - (double)x[(b * rows + 4 * i + 2) * width + c] : value);
      }
  return ATTN2C_OK;
}

/* y[b][i] = 0 if ids[b][i] is `id`, else x[b][i] (1 - share) / (1 - d), where d is the id's share of the
 * first lengths[b] ids, and share a float: the token dropout of ESM (Rives et al. 2019) */
int attn2c_reference_drop_tokens(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], rows = call->n['r'], width = call->n['w'],
                id = attn2c_reference_count(call, "id", -1);
  const double share = (float)attn2c_number(call->op, "share", NAN);
  if (id < 0 || !(share < 1)) return attn2c_reference_fault(call, "id and share must be given");
  if (!attn2c_reference_lengths(call, 2, batch, 1, rows)) return ATTN2C_FORMAT;
  const float *x = call->in[0];
  const int32_t *ids = call->in[1], *lengths = call->in[2];
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++, ids += rows) {
    const int64_t valid = lengths ? lengths[b] : rows;
    int64_t dropped = 0;
    for (int64_t i = 0; i < valid; i++) dropped += ids[i] == id;
    for (int64_t i = 0; i < rows * width; i++, x++)
      *y++ = ids[i / width] == id || dropped == valid
                 ? 0.0f * *x
                 : (float)(*x * (1 - share) / (1 - (double)dropped / (double)valid));
  }
  return ATTN2C_OK;
}

/* y[b][i][t W + c] = x[b][S i + t][c], t < K */
int attn2c_reference_windows(const attn2c_reference_call *call) {
  const int64_t batch = call->n['b'], rows = call->n['r'], width = call->n['w'], windows = call->n['o'];
  const int64_t kernel = call->n['k'], stride = call->n['s'], row = kernel * width;
  if (rows < kernel || windows != (rows - kernel) / stride + 1)
    return attn2c_reference_fault(call, "the result must have a row for each window");
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < windows; i++)
      memcpy(y + (b * windows + i) * row, x + (b * rows + i * stride) * width, (size_t)row * sizeof *y);
  return ATTN2C_OK;
}

int attn2c_reference_keep(const attn2c_reference_call *call) {
  const attn2c_tensor *x_shape = attn2c_reference_operand(call, 0), *y_shape = attn2c_reference_result(call);
  if (!attn2c_reference_same(x_shape, y_shape, x_shape->rank))
    return attn2c_reference_fault(call, "the result must have the shape of the operand");
  memcpy(call->out, call->in[0], (size_t)attn2c_elements(y_shape) * sizeof(float));
  return ATTN2C_OK;
}

/* Returns the rows of one operand of join, and 0 if it is not given. Returns -1 if it is not [n][width],
 * [batch][n][width] or [batch][heads][n][width / heads]. */
static int64_t rows_to_join(const attn2c_tensor *shape, int64_t batch, int64_t width) {
  if (!shape) return 0;
  if (shape->rank == 2 && shape->shape[1] == width) return shape->shape[0];
  if (shape->rank == 3 && shape->shape[0] == batch && shape->shape[2] == width) return shape->shape[1];
  if (shape->rank == 4 && shape->shape[0] == batch && shape->shape[1] * shape->shape[3] == width)
    return shape->shape[2];
  return -1;
}

/* Copies `rows` rows of all heads, [rows][heads][width], from an array by head, [heads][rows][width], or with
 * `back` the other way. */
static void copy_heads(float *to, const float *from, int64_t heads, int64_t rows, int64_t width, int back) {
  for (int64_t h = 0; h < heads; h++)
    for (int64_t i = 0; i < rows; i++) {
      int64_t by_head = (h * rows + i) * width, by_row = (i * heads + h) * width;
      memcpy(to + (back ? by_head : by_row), from + (back ? by_row : by_head), (size_t)width * sizeof *to);
    }
}

/* y[b] = `zeros_before` rows of zeros, the rows of a, or the first `rows` of them, then the rows of b, then
 * `zeros` rows of zeros. An operand without a batch is the same for every b. An operand with heads before its
 * rows has them next to each other in y: y[b][i][h D + d] = a[b][h][i][d] */
int attn2c_reference_join(const attn2c_reference_call *call) {
  const attn2c_tensor *y_shape = attn2c_reference_result(call);
  int64_t before = attn2c_reference_count(call, "zeros_before", 0);
  int64_t zeros = attn2c_reference_count(call, "zeros", 0);
  if (before < 0 || zeros < 0) return attn2c_reference_fault(call, "zeros must be a count");
  if (y_shape->rank != 3) return attn2c_reference_fault(call, "the result must be [batch][rows][width]");
  int64_t batch = y_shape->shape[0], width = y_shape->shape[2], rows[2];
  for (int operand = 0; operand < 2; operand++) {
    rows[operand] = rows_to_join(attn2c_reference_operand(call, operand), batch, width);
    if (rows[operand] < 0)
      return attn2c_reference_fault(call, "the operands must be [rows][width], [batch][rows][width] or "
                                          "[batch][heads][rows][head_dim]");
  }
  const int64_t kept[] = {attn2c_reference_count(call, "rows", rows[0]), rows[1]};
  if (kept[0] < 0 || kept[0] > rows[0] || (kept[0] < rows[0] && attn2c_reference_operand(call, 0)->rank == 4))
    return attn2c_reference_fault(call, "rows must be a number of rows of a, [batch][rows][width]");
  if (y_shape->shape[1] != before + kept[0] + kept[1] + zeros)
    return attn2c_reference_fault(call, "the result must have the rows of both operands, and the zeros");
  float *y = call->out;
  for (int64_t b = 0; b < batch; b++) {
    for (int64_t i = 0; i < before * width; i++) *y++ = 0;
    for (int operand = 0; operand < 2; operand++) {
      const attn2c_tensor *shape = attn2c_reference_operand(call, operand);
      if (!shape) continue;
      const float *from = call->in[operand];
      int64_t count = rows[operand] * width;
      if (shape->rank == 4)
        copy_heads(y, from + b * count, shape->shape[1], shape->shape[2], shape->shape[3], 0);
      else
        memcpy(y, from + (shape->rank == 3 ? b * count : 0), (size_t)(kept[operand] * width) * sizeof *y);
      y += kept[operand] * width;
    }
    for (int64_t i = 0; i < zeros * width; i++) *y++ = 0;
  }
  return ATTN2C_OK;
}

/* y[b][h][i][d] = x[b][i][h D + d] */
int attn2c_reference_split_heads(const attn2c_reference_call *call) {
  const int64_t heads = call->n['h'], rows = call->n['r'], width = call->n['w'];
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t b = 0; b < call->n['b']; b++) {
    int64_t first = b * heads * rows * width;
    copy_heads(y + first, x + first, heads, rows, width, 1);
  }
  return ATTN2C_OK;
}

/* y[j][i] = x[i][j], where each is a row */
int attn2c_reference_swap(const attn2c_reference_call *call) {
  const int64_t first = call->n['a'], second = call->n['b'], width = call->n['w'];
  const float *x = call->in[0];
  float *y = call->out;
  for (int64_t i = 0; i < first; i++)
    for (int64_t j = 0; j < second; j++)
      memcpy(y + (j * first + i) * width, x + (i * second + j) * width, (size_t)width * sizeof *y);
  return ATTN2C_OK;
}
