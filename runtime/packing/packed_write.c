/* packed_write.c - writes files of packed weights. */
#include "base/checksum.h"
#include "packing/packed.h"
#include "packing/packed_header.h"

#include <errno.h>

static size_t block_size(const attn2c_descriptor *model) {
  return (size_t)model->weight_floats * sizeof(float);
}

int attn2c_packed_write(const char *path, const attn2c_descriptor *model, const float *block,
                        attn2c_message *message) {
  unsigned char header[ATTN2C_PACKED_HEADER];
  attn2c_packed_header_make(model, attn2c_checksum(0, block, block_size(model)), header);
  const attn2c_file_part parts[] = {{header, sizeof header}, {block, block_size(model)}};
  return attn2c_file_write(path, parts, 2, message);
}

int attn2c_packed_begin(const char *path, const attn2c_descriptor *model, attn2c_new_file *file,
                        attn2c_message *message) {
  return attn2c_new_file_begin(path, (int64_t)(ATTN2C_PACKED_HEADER + block_size(model)), file, message);
}

int attn2c_packed_put(void *file, int64_t offset, const float *floats, int64_t count,
                      attn2c_message *message) {
  return attn2c_new_file_put(file, (int64_t)ATTN2C_PACKED_HEADER + offset * (int64_t)sizeof *floats, floats,
                             (size_t)count * sizeof *floats, message);
}

/* Computes the checksum of the block as it was written. */
static int sum_block(const attn2c_new_file *file, uint64_t *sum, attn2c_message *message) {
  enum { PIECE = 1 << 20 };
  ATTN2C_OWN unsigned char *piece = malloc(PIECE);
  if (!piece) return attn2c_fail(message, ATTN2C_MEMORY, "%s: no memory for packed weights", file->file.name);
  attn2c_checksum_parts parts = attn2c_checksum_begin(0);
  int status = ATTN2C_OK;
  for (int64_t at = ATTN2C_PACKED_HEADER; at < file->file.size && !status; at += PIECE) {
    const int64_t left = file->file.size - at;
    const size_t some = left < PIECE ? (size_t)left : PIECE;
    status = attn2c_file_read(&file->file, at, piece, some, message);
    if (!status) attn2c_checksum_add(&parts, piece, some);
  }
  *sum = attn2c_checksum_end(&parts);
  return status;
}

int attn2c_packed_end(const attn2c_descriptor *model, attn2c_new_file *file, int status,
                      attn2c_message *message) {
  unsigned char header[ATTN2C_PACKED_HEADER];
  uint64_t sum = 0;
  if (!status) status = sum_block(file, &sum, message);
  if (!status) {
    attn2c_packed_header_make(model, sum, header);
    status = attn2c_new_file_put(file, 0, header, sizeof header, message);
  }
  return attn2c_new_file_end(file, status, message);
}

/* Adds the checksum of a file's block to a number, or writes the number into its header. */
static int join(const char *path, uint64_t *set, int is_written, attn2c_message *message) {
  unsigned char header[ATTN2C_PACKED_HEADER];
  FILE *file = fopen(path, is_written ? "r+b" : "rb");
  int is_right = file && fread(header, sizeof header, 1, file) == 1;
  if (is_right && is_written) {
    attn2c_packed_header_join(header, *set);
    is_right = fseek(file, 0, SEEK_SET) == 0 && fwrite(header, sizeof header, 1, file) == 1;
  } else if (is_right) {
    const uint64_t sum = attn2c_packed_header_checksum(header);
    *set = attn2c_checksum(*set, &sum, sizeof sum);
  }
  const int error = errno;
  if (file && fclose(file) != 0) is_right = 0;
  return is_right ? ATTN2C_OK : attn2c_say_unwritten(path, error, message);
}

int attn2c_packed_join(char *const *paths, int count, attn2c_message *message) {
  uint64_t set = 0;
  int status = ATTN2C_OK;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count && status == ATTN2C_OK; i++) status = join(paths[i], &set, pass, message);
  return status;
}
