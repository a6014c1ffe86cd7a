#include "picture/picture.h"

/* Names of files that are not supported, by their first bytes. */
static const struct {
  size_t at;
  const char *bytes, *name;
} others[] = {
    {0, "GIF8", "a GIF file"},         {0, "BM", "a BMP file"},    {8, "WEBP", "a WebP file"},
    {0, "II*", "a TIFF file"},         {0, "MM", "a TIFF file"},   {4, "ftypavif", "an AVIF file"},
    {4, "ftypheic", "a HEIC file"},    {0, "%PDF", "a PDF file"},  {4, "jP  ", "a JPEG 2000 file"},
    {0, "\xff\x0a", "a JPEG XL file"}, {0, "<svg", "an SVG file"}, {0, "<?xml", "an XML file"},
};

static int refuse(attn2c_decoding *of) {
  const char *name = of->size == 0 ? "empty" : "no picture";
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const size_t length = strlen(others[i].bytes);
    if (of->size < others[i].at + length) continue;
    if (memcmp(of->bytes + others[i].at, others[i].bytes, length) != 0) continue;
    name = others[i].name;
    break;
  }
  return attn2c_decoding_fail(of, ATTN2C_FORMAT, "is %s; PNG and JPEG files are supported", name);
}

/* The pixel of the picture as stored that is at (x, y) of the upright one, for each orientation: column and
 * row as factors of x, y and of the last column or row. */
typedef struct {
  int swaps;                   /* 1: width and height change places */
  int from_right, from_bottom; /* 1: columns, rows are counted from the end */
} turn;

static const turn turns[9] = {
    [2] = {0, 1, 0}, [3] = {0, 1, 1}, [4] = {0, 0, 1}, [5] = {1, 0, 0},
    [6] = {1, 0, 1}, [7] = {1, 1, 1}, [8] = {1, 1, 0},
};

static int turn_upright(attn2c_decoding *of) {
  if (of->orientation < 2) return 1;
  const turn *by = &turns[of->orientation];
  const int64_t width = of->picture.width, height = of->picture.height;
  attn2c_picture upright = {by->swaps ? height : width, by->swaps ? width : height, NULL};
  upright.pixels = malloc((size_t)(width * height * 3));
  if (!upright.pixels) return attn2c_decoding_fail(of, ATTN2C_MEMORY, "no memory to turn it upright");
  uint8_t *to = upright.pixels;
  for (int64_t y = 0; y < upright.height; y++) {
    for (int64_t x = 0; x < upright.width; x++, to += 3) {
      int64_t column = by->swaps ? y : x, row = by->swaps ? x : y;
      if (by->from_right) column = width - 1 - column;
      if (by->from_bottom) row = height - 1 - row;
      memcpy(to, of->picture.pixels + (row * width + column) * 3, 3);
    }
  }
  free(of->picture.pixels);
  of->picture = upright;
  return 1;
}

int attn2c_picture_decode(const uint8_t *bytes, size_t size, const attn2c_picture_facts *facts,
                          attn2c_picture *picture, char fault[ATTN2C_PICTURE_FAULT]) {
  static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  attn2c_decoding of = {.bytes = bytes, .size = size, .facts = facts, .orientation = 1, .fault = fault};
  int is_done;
  *fault = '\0';
  if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
    is_done = attn2c_decode_png(&of);
  else if (size >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
    is_done = attn2c_decode_jpeg(&of);
  else
    is_done = refuse(&of);
  if (is_done) is_done = turn_upright(&of);
  if (!is_done) {
    free(of.picture.pixels);
    of.picture = (attn2c_picture){.pixels = NULL};
    attn2c_printable(fault); /* a library may quote the file's bytes */
  }
  *picture = of.picture;
  return is_done ? ATTN2C_OK : of.status;
}

void attn2c_picture_free(attn2c_picture *picture) {
  free(picture->pixels);
  picture->pixels = NULL;
}
