/* decode_png.c - decodes PNG files with libpng. Pixels become what Pillow makes of them: grey with 16 bits is
 * cut at 255, colours with 16 bits lose their low byte, and transparency is ignored. */
#include <png.h>
#include <setjmp.h>

#include "picture/picture.h"

/* The most texts of a file that are read to find XMP. */
#define MOST_TEXTS 32

typedef struct {
  attn2c_decoding *of;
  png_structp png;
  png_infop info;
  jmp_buf failed;
  uint8_t *raw;    /* the decoded rows: one, or all if the file is interlaced */
  size_t raw_step; /* bytes of a row; 0: `raw` has one row */
  uint8_t palette[256][3];
  int channels, depth, is_palette;
} job;

static void fail(png_structp png, png_const_charp message) {
  job *j = png_get_error_ptr(png);
  if (j->of->status == ATTN2C_OK) attn2c_decoding_fail(j->of, ATTN2C_FORMAT, "is damaged: %s", message);
  longjmp(j->failed, 1);
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void read_bytes(png_structp png, png_bytep to, png_size_t count) {
  attn2c_decoding *of = png_get_io_ptr(png);
  if (of->size - of->at < count) png_error(png, "the file ends too early");
  memcpy(to, of->bytes + of->at, count);
  of->at += count;
}

/* Colours that a palette lacks are black, as in Pillow. */
static void read_palette(job *j) {
  png_colorp colours;
  int count = 0;
  if (!png_get_PLTE(j->png, j->info, &colours, &count)) return;
  for (int i = 0; i < count && i < 256; i++) {
    j->palette[i][0] = colours[i].red;
    j->palette[i][1] = colours[i].green;
    j->palette[i][2] = colours[i].blue;
  }
}

static void convert_row(const job *j, const uint8_t *from, int64_t width, uint8_t *to) {
  const int wide = j->depth == 16 && j->channels == 1; /* two bytes a pixel, the larger one first */
  const int factor = j->depth < 8 ? 255 / ((1 << j->depth) - 1) : 1;
  for (int64_t x = 0; x < width; x++, to += 3) {
    if (j->is_palette)
      memcpy(to, j->palette[from[x]], 3);
    else if (wide)
      memset(to, from[2 * x] ? 255 : from[2 * x + 1], 3);
    else if (j->channels < 3)
      memset(to, from[x * j->channels] * factor, 3);
    else
      memcpy(to, from + x * j->channels, 3);
  }
}

static void read_rows(job *j) {
  const attn2c_picture *picture = &j->of->picture;
  const int passes = png_set_interlace_handling(j->png);
  png_read_update_info(j->png, j->info);
  const size_t bytes = png_get_rowbytes(j->png, j->info);
  j->raw_step = passes > 1 ? bytes : 0;
  j->raw = calloc(passes > 1 ? (size_t)picture->height : 1, bytes);
  if (!j->raw) {
    attn2c_decoding_fail(j->of, ATTN2C_MEMORY, "no memory for its rows");
    longjmp(j->failed, 1);
  }
  for (int pass = 0; pass < passes; pass++) {
    for (int64_t y = 0; y < picture->height; y++) {
      uint8_t *row = j->raw + (size_t)y * j->raw_step;
      png_read_row(j->png, row, NULL);
      if (pass == passes - 1) convert_row(j, row, picture->width, picture->pixels + y * picture->width * 3);
    }
  }
}

static void read_picture(job *j) {
  png_set_read_fn(j->png, j->of, read_bytes);
  png_set_crc_action(j->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_user_limits(j->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* attn2c_decoding_open has the limit */
  /* A chunk of some KB may become 8 MB of memory, so only texts are read, and not many. */
  static const png_byte unread[] = "zTXt\0iCCP\0sPLT";
  png_set_keep_unknown_chunks(j->png, PNG_HANDLE_CHUNK_NEVER, unread, sizeof unread / 5);
  png_set_chunk_cache_max(j->png, MOST_TEXTS);
  png_read_info(j->png, j->info);
  const int colour = png_get_color_type(j->png, j->info);
  j->depth = png_get_bit_depth(j->png, j->info);
  j->channels = png_get_channels(j->png, j->info);
  j->is_palette = colour == PNG_COLOR_TYPE_PALETTE;
  if (!attn2c_decoding_open(j->of, png_get_image_width(j->png, j->info),
                            png_get_image_height(j->png, j->info)))
    longjmp(j->failed, 1);
  if (j->is_palette) read_palette(j);
  if (j->depth < 8) png_set_packing(j->png);
  if (j->depth == 16 && j->channels > 1) png_set_strip_16(j->png);
  read_rows(j);
}

/* Reads the orientation, which may be after the picture. The end of a file may be damaged. */
static void read_orientation(job *j, int is_whole) {
  png_uint_32 exif_size = 0;
  png_bytep exif = NULL;
  png_textp texts = NULL;
  int count = 0;
  const png_text *xmp = NULL;
  if (is_whole) png_read_end(j->png, j->info);
  if (!png_get_eXIf_1(j->png, j->info, &exif_size, &exif)) exif_size = 0;
  png_get_text(j->png, j->info, &texts, &count);
  for (int i = 0; i < count && !xmp; i++)
    if (texts[i].key && strcmp(texts[i].key, "XML:com.adobe.xmp") == 0) xmp = &texts[i];
  j->of->orientation =
      attn2c_orientation(exif, exif_size, xmp ? (const uint8_t *)xmp->text : NULL,
                         xmp && xmp->text ? (xmp->itxt_length ? xmp->itxt_length : xmp->text_length) : 0);
}

int attn2c_decode_png(attn2c_decoding *of) {
  job *j = calloc(1, sizeof *j);
  if (!j) return attn2c_decoding_fail(of, ATTN2C_MEMORY, "no memory to decode it");
  j->of = of;
  j->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, j, fail, ignore);
  j->info = j->png ? png_create_info_struct(j->png) : NULL;
  volatile int steps = 0; /* that were done: the picture, then the rest of the file */
  if (!j->info) {
    attn2c_decoding_fail(of, ATTN2C_MEMORY, "no memory to decode it");
  } else {
    if (setjmp(j->failed) == 0 && steps == 0) {
      read_picture(j);
      steps = 1;
    }
    if (steps == 1) {
      steps = 2;
      if (setjmp(j->failed) == 0) {
        read_orientation(j, 1);
      } else {
        of->status = ATTN2C_OK;
        if (setjmp(j->failed) == 0) read_orientation(j, 0);
      }
    }
  }
  if (j->png) png_destroy_read_struct(&j->png, &j->info, NULL);
  ATTN2C_FREE(j->raw, j);
  return steps > 0;
}
