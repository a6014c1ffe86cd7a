/* decode_jpeg.c - decodes JPEG files with libjpeg-turbo's defaults, which are also Pillow's. CMYK becomes
 * colours by Pillow's formula. */
#include "picture/picture.h"

#include <setjmp.h>

#include <jpeglib.h>

/* A progressive file of more scans, or pixels in all, takes long, and no program writes it. */
#define MOST_SCANS   500
#define MOST_SCANNED ((uint64_t)1 << 32)

typedef struct {
  struct jpeg_error_mgr errors; /* the first member, which libjpeg knows */
  struct jpeg_decompress_struct jpeg;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  attn2c_decoding *of;
  jmp_buf failed;
  uint8_t *row;
} job;

static job *job_of(j_common_ptr jpeg) { return (job *)jpeg->client_data; }

static void fail(j_common_ptr jpeg) {
  job *j = job_of(jpeg);
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  if (j->of->status == ATTN2C_OK)
    attn2c_decoding_fail(j->of, jpeg->err->msg_code == 0 ? ATTN2C_MEMORY : ATTN2C_FORMAT, "is damaged: %s",
                         text);
  longjmp(j->failed, 1);
}

static void ignore(j_common_ptr jpeg, int level) { (void)jpeg, (void)level; }

static void begin(j_decompress_ptr jpeg) { (void)jpeg; }

/* The source has the whole file from the beginning, so more bytes are asked for only after its end. */
static boolean ends_early(j_decompress_ptr jpeg) {
  job *j = job_of((j_common_ptr)jpeg);
  attn2c_decoding_fail(j->of, ATTN2C_FORMAT, "is damaged: the file ends too early");
  longjmp(j->failed, 1);
}

static void skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  if ((size_t)count > jpeg->src->bytes_in_buffer) ends_early(jpeg);
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void limit_scans(j_common_ptr jpeg) {
  job *j = job_of(jpeg); /* a progress monitor is called after the header was read */
  const uint64_t scans = (uint64_t)j->jpeg.input_scan_number;
  const uint64_t most = MOST_SCANNED / ((uint64_t)j->jpeg.image_width * j->jpeg.image_height);
  if (scans <= MOST_SCANS && scans <= most) return;
  attn2c_decoding_fail(j->of, ATTN2C_FORMAT, "has more than %d scans, which are the most allowed",
                       most < MOST_SCANS ? (int)most : MOST_SCANS);
  longjmp(j->failed, 1);
}

static void set_up(job *j) {
  jpeg_std_error(&j->errors);
  j->errors.error_exit = fail;
  j->errors.emit_message = ignore;
  j->jpeg.err = &j->errors;
  j->jpeg.client_data = j;
  jpeg_create_decompress(&j->jpeg);
  j->source = (struct jpeg_source_mgr){.next_input_byte = j->of->bytes,
                                       .bytes_in_buffer = j->of->size,
                                       .init_source = begin,
                                       .fill_input_buffer = ends_early,
                                       .skip_input_data = skip,
                                       .resync_to_restart = jpeg_resync_to_restart,
                                       .term_source = begin};
  j->jpeg.src = &j->source;
  j->progress.progress_monitor = limit_scans;
  j->jpeg.progress = &j->progress;
}

/* Finds the orientation in the markers, which libjpeg has kept. */
static void read_orientation(job *j) {
  static const char exif_name[6] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/";
  const uint8_t *exif = NULL, *xmp = NULL;
  size_t exif_size = 0, xmp_size = 0;
  for (jpeg_saved_marker_ptr marker = j->jpeg.marker_list; marker; marker = marker->next) {
    if (!exif && marker->data_length >= 6 && memcmp(marker->data, exif_name, 6) == 0)
      exif = marker->data + 6, exif_size = marker->data_length - 6;
    if (!xmp && marker->data_length >= sizeof xmp_name &&
        memcmp(marker->data, xmp_name, sizeof xmp_name) == 0)
      xmp = marker->data + sizeof xmp_name, xmp_size = marker->data_length - sizeof xmp_name;
  }
  j->of->orientation = attn2c_orientation(exif, exif_size, xmp, xmp_size);
}

/* Returns 255 - black minus its share of an ink, rounded. */
static uint8_t without_ink(int ink, int light) {
  const int product = ink * light + 128, share = ((product >> 8) + product) >> 8;
  return (uint8_t)(light > share ? light - share : 0);
}

/* Files of four inks have them inverted, as Adobe's programs write them. */
static void convert_row(const job *j, int64_t width, uint8_t *to) {
  const uint8_t *from = j->row;
  for (int64_t x = 0; x < width; x++, to += 3) {
    if (j->jpeg.output_components == 1) {
      memset(to, from[x], 3);
    } else if (j->jpeg.output_components == 3) {
      memcpy(to, from + 3 * x, 3);
    } else {
      for (int i = 0; i < 3; i++) to[i] = without_ink(255 - from[4 * x + i], from[4 * x + 3]);
    }
  }
}

static void read_picture(job *j) {
  jpeg_save_markers(&j->jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&j->jpeg, TRUE);
  const int planes = j->jpeg.num_components;
  if (planes != 1 && planes != 3 && planes != 4) {
    attn2c_decoding_fail(j->of, ATTN2C_FORMAT, "has %d planes, but 1, 3 or 4 are supported", planes);
    longjmp(j->failed, 1);
  }
  if (!attn2c_decoding_open(j->of, j->jpeg.image_width, j->jpeg.image_height)) longjmp(j->failed, 1);
  read_orientation(j);
  j->jpeg.out_color_space = planes == 1 ? JCS_GRAYSCALE : planes == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_start_decompress(&j->jpeg);
  j->row = malloc((size_t)j->jpeg.output_width * (size_t)j->jpeg.output_components);
  if (!j->row) {
    attn2c_decoding_fail(j->of, ATTN2C_MEMORY, "no memory for its rows");
    longjmp(j->failed, 1);
  }
  const int64_t width = j->of->picture.width;
  while (j->jpeg.output_scanline < j->jpeg.output_height) {
    uint8_t *to = j->of->picture.pixels + j->jpeg.output_scanline * width * 3;
    JSAMPROW rows[1] = {j->row};
    if (jpeg_read_scanlines(&j->jpeg, rows, 1) == 1) convert_row(j, width, to);
  }
  jpeg_finish_decompress(&j->jpeg);
}

int attn2c_decode_jpeg(attn2c_decoding *of) {
  job *j = calloc(1, sizeof *j);
  if (!j) return attn2c_decoding_fail(of, ATTN2C_MEMORY, "no memory to decode it");
  j->of = of;
  volatile int is_done = 0;
  if (setjmp(j->failed) == 0) {
    set_up(j);
    read_picture(j);
    is_done = 1;
  }
  jpeg_destroy_decompress(&j->jpeg);
  ATTN2C_FREE(j->row, j);
  return is_done;
}
