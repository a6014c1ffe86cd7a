#include "reading/kinds.h"

#include "formats/file.h"

enum { START = 256 };

typedef struct {
  unsigned char bytes[START];
  size_t count;
} beginning;

static const struct {
  const char *bytes, *said;
} kinds[] = {
    {"version https://git-lfs", "is a Git LFS pointer, not the weights themselves: run `git lfs pull` in its "
                                "folder, or download it again"},
    {"GGUF", "is a GGUF file, which this model does not open: build it from the GGUF file, or with opens = "
             "\"any\""},
    {"PK\3\4", "is a file of torch.save(), which this model does not open: build it with opens = \"torch\""},
    {"\x80\2",
     "is a pickle of PyTorch before 1.6, which is not supported: torch.load() it with a later one, and "
     "torch.save() what that returns"},
    {"\x93NUMPY",
     "is an array of NumPy: weights are a safetensors checkpoint or its folder; arrays are given with "
     "--input"},
    {"\x89HDF", "is a file of Keras or TensorFlow, which is not supported: give a safetensors checkpoint"},
    {"\x7f"
     "ELF",
     "is a program or library: weights are a safetensors checkpoint or its folder"},
    {"<", "is a page of HTML or XML, not weights: on a hub the link of a file is .../resolve/..., not "
          ".../blob/..."},
    {"{", "is JSON, not weights: give model.safetensors, its index, or the folder that they are in"},
};

static int read_start(const char *path, beginning *start) {
  attn2c_message quiet = attn2c_message_make(NULL, 0);
  ATTN2C_ENDS_BY(attn2c_file_close) attn2c_file file = {.descriptor = -1};
  if (attn2c_file_open(path, &file, &quiet) != ATTN2C_OK) return 0;
  start->count = file.size < START ? (size_t)file.size : START;
  const int status = attn2c_file_read(&file, 0, start->bytes, start->count, &quiet);
  return status == ATTN2C_OK;
}

static int begins(const beginning *start, const char *bytes) {
  const size_t length = strlen(bytes);
  return start->count >= length && memcmp(start->bytes, bytes, length) == 0;
}

/* True for a protobuf whose first field is a small number and whose second is a text, like ONNX. */
static int is_onnx(const beginning *start) {
  return start->count > 3 && start->bytes[0] == 8 && start->bytes[1] < 32 && start->bytes[2] == 0x12;
}

static int is_text(const beginning *start) {
  for (size_t i = 0; i < start->count; i++)
    if (start->bytes[i] >= 0xF5 || start->bytes[i] == 127 ||
        (start->bytes[i] < 32 && !strchr("\t\n\r", start->bytes[i])))
      return 0;
  /* a safetensors file begins with a length, which has zeros in its first eight bytes */
  return start->count > 0 && !memchr(start->bytes, 0, start->count);
}

const char *attn2c_kind_said(const char *path) {
  beginning start;
  if (!read_start(path, &start)) return NULL;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (begins(&start, kinds[i].bytes)) return kinds[i].said;
  if (is_onnx(&start))
    return "is an ONNX model, which is not supported: give the safetensors checkpoint that it was made from";
  if (is_text(&start))
    return "is a text, not weights: give a safetensors checkpoint, its folder, or what `pack` wrote";
  return NULL;
}

int attn2c_kind_is_json(const char *path) {
  beginning start;
  return read_start(path, &start) && begins(&start, "{");
}
