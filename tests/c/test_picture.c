/* test_picture.c - pictures against Pillow and transformers (tests/pictures/goldens.py): decoded, resized to
 * the same bits, prepared; then damaged at every byte, cut anywhere, too large, and without memory. */
#include "faults.h"
#include "picture/picture.h"
#include "picture/prepare.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

#define FOLDER "tests/pictures/"

static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s", path);
  uint8_t *bytes = malloc(1 << 16);
  *size = fread(bytes, 1, 1 << 16, file);
  cr_assert_lt(*size, (size_t)1 << 16);
  fclose(file);
  return bytes;
}

static const attn2c_picture_facts *facts_of_model; /* NULL: any picture is taken */

static int decode(const uint8_t *bytes, size_t size, attn2c_picture *picture, char *fault) {
  const int status = attn2c_picture_decode(bytes, size, facts_of_model, picture, fault);
  if (status == ATTN2C_OK)
    cr_assert(picture->width > 0 && picture->height > 0 && picture->pixels != NULL);
  else
    cr_assert(picture->pixels == NULL && *fault != '\0' && strchr(fault, '\n') == NULL);
  return status;
}

/* Calls visit for each picture of the goldens, with the bytes of its file. */
static int each_file(void (*visit)(const char *name, const uint8_t *bytes, size_t size)) {
  DIR *folder = opendir(FOLDER "files");
  int count = 0;
  cr_assert_not_null(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    char path[400];
    size_t size;
    if (entry->d_name[0] == '.' || strstr(entry->d_name, ".ppm")) continue;
    snprintf(path, sizeof path, FOLDER "files/%s", entry->d_name);
    uint8_t *bytes = read_file(path, &size);
    visit(entry->d_name, bytes, size);
    free(bytes);
    count++;
  }
  closedir(folder);
  return count;
}

static void compare(const char *name, const uint8_t *bytes, size_t size) {
  char path[400], fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  size_t expected_size;
  int width, height, header;
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_OK, "%s: %s", name, fault);
  snprintf(path, sizeof path, FOLDER "files/%s.ppm", name);
  uint8_t *expected = read_file(path, &expected_size);
  cr_assert_eq(sscanf((const char *)expected, "P6 %d %d 255%n", &width, &height, &header), 2);
  cr_assert(picture.width == width && picture.height == height, "%s", name);
  for (int64_t i = 0; i < picture.width * picture.height * 3; i++)
    cr_assert_eq(picture.pixels[i], expected[header + 1 + i], "%s: value %d", name, (int)i);
  free(expected);
  attn2c_picture_free(&picture);
}

Test(picture, decoded_as_pillow_does) { cr_assert_geq(each_file(compare), 50); }

/* A file that is cut or has a wrong byte is refused in one line, or decoded. */
static void damage(const char *name, const uint8_t *bytes, size_t size) {
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  const int is_png = strstr(name, ".png") != NULL;
  int refused = 0;
  for (size_t cut = 0; cut < size; cut += is_png ? 1 : 7) {
    uint8_t *part = malloc(cut + 1); /* exactly so long, so that a sanitizer sees reads beyond */
    memcpy(part, bytes, cut);
    refused += decode(part, cut, &picture, fault) != ATTN2C_OK;
    attn2c_picture_free(&picture);
    free(part);
  }
  cr_assert_gt(refused, 10, "%s", name);
  uint8_t *changed = malloc(size);
  for (size_t at = 2; at < size; at += is_png ? 1 : 5) {
    memcpy(changed, bytes, size);
    changed[at] = (uint8_t)(changed[at] ^ (1 << at % 8));
    decode(changed, size, &picture, fault);
    attn2c_picture_free(&picture);
  }
  free(changed);
}

static void damage_some(const char *name, const uint8_t *bytes, size_t size) {
  static const char *const some[] = {
      "palette4_interlaced.png", "rgba16.png", "exif_late8.png", "xmp7.png",
      "progressive.jpg",         "exif6.jpg",  "cmyk.jpg",       "restarts.jpg"};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (strcmp(name, some[i]) == 0) damage(name, bytes, size);
}

Test(picture, damaged) { each_file(damage_some); }

/* A cut JPEG file is refused even if all its pixels are there: the end is missing. */
Test(picture, cut_jpeg) {
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  size_t size;
  uint8_t *bytes = read_file(FOLDER "files/rgb420.jpg", &size);
  cr_assert_eq(decode(bytes, size - 2, &picture, fault), ATTN2C_FORMAT);
  cr_assert_str_eq(fault, "is damaged: the file ends too early");
  free(bytes);
}

/* A header of 50,000 x 50,000 pixels, and of 0 x 0, in a file of some bytes. */
Test(picture, sizes) {
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  size_t size;
  uint8_t *bytes = read_file(FOLDER "files/rgb8.png", &size);
  for (int i = 0; i < 2; i++) {
    const uint32_t side = i ? 0 : 50000;
    for (int b = 0; b < 4; b++) bytes[16 + b] = bytes[20 + b] = (uint8_t)(side >> (24 - 8 * b));
    const uint32_t sum = (uint32_t)crc32(0, bytes + 12, 17);
    for (int b = 0; b < 4; b++) bytes[29 + b] = (uint8_t)(sum >> (24 - 8 * b));
    faults_clear();
    cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_FORMAT);
    cr_assert_lt(faults_largest_block(), 1u << 20);
    if (i == 0)
      cr_assert_str_eq(fault, "has 50000 x 50000 pixels, but 1 to 178956970 pixels in all are allowed");
  }
  free(bytes);
  bytes = read_file(FOLDER "files/rgb420.jpg", &size);
  for (size_t at = 2; at + 9 < size; at++) { /* the frame: marker C0, length, precision, height, width */
    if (bytes[at] != 0xff || bytes[at + 1] != 0xc0) continue;
    memcpy(bytes + at + 5, "\xff\xdc\xff\xdc", 4);
    break;
  }
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_FORMAT);
  cr_assert_str_eq(fault, "has 65500 x 65500 pixels, but 1 to 178956970 pixels in all are allowed");
  free(bytes);
}

static uint8_t *add_chunk(uint8_t *to, const char *type, const uint8_t *body, size_t size) {
  for (int b = 0; b < 4; b++) to[b] = (uint8_t)(size >> (24 - 8 * b));
  memcpy(to + 4, type, 4);
  memcpy(to + 8, body, size);
  const uint32_t sum = (uint32_t)crc32(0, to + 4, (uInt)(size + 4));
  for (int b = 0; b < 4; b++) to[8 + size + (size_t)b] = (uint8_t)(sum >> (24 - 8 * b));
  return to + size + 12;
}

/* A picture of one column whose pixels are all there, but too many for any model; and one that a model
 * without crop does not take, also turned. */
Test(picture, sizes_of_models) {
  attn2c_picture_facts facts = {
      .width = 4, .height = 3, .resize = ATTN2C_RESIZE_SHORTEST, .resize_height = 3, .crops = 1};
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  size_t size;
  uint8_t *bytes = read_file(FOLDER "files/rgb8.png", &size);
  const uint32_t sides[2] = {1, ATTN2C_LONGEST_SIDE + 1};
  for (int b = 0; b < 8; b++) bytes[16 + b] = (uint8_t)(sides[b / 4] >> (24 - 8 * (b % 4)));
  const uint32_t sum = (uint32_t)crc32(0, bytes + 12, 17);
  for (int b = 0; b < 4; b++) bytes[29 + b] = (uint8_t)(sum >> (24 - 8 * b));
  facts_of_model = &facts;
  faults_clear();
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_FORMAT);
  cr_assert_str_eq(fault, "1 x 16777217 pixels cannot become the model's 4 x 3");
  cr_assert_lt(faults_largest_block(), 1u << 20);
  free(bytes);
  bytes = read_file(FOLDER "files/exif6.jpg", &size);
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_OK);
  const int64_t width = picture.width, height = picture.height;
  attn2c_picture_free(&picture);
  facts.crops = 0, facts.resize = ATTN2C_RESIZE_NONE;
  facts.width = (int)width, facts.height = (int)height; /* the file has it turned */
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_OK, "%s", fault);
  attn2c_picture_free(&picture);
  facts.width++;
  cr_assert_eq(decode(bytes, size, &picture, fault), ATTN2C_FORMAT);
  free(bytes);
}

/* 1,000 texts of a megabyte each, in some KB: few are read, and the picture is the same. */
Test(picture, many_texts) {
  static const char begin[] =
      "XML:com.adobe.xmp\0\1\0\0"; /* compressed; no language, no keyword in another */
  static uint8_t plain[1 << 20], body[1 << 12];
  char fault[ATTN2C_PICTURE_FAULT];
  attn2c_picture picture;
  size_t size;
  uint8_t *bytes = read_file(FOLDER "files/rgb8.png", &size);
  uLongf packed = sizeof body - sizeof begin;
  memcpy(body, begin, sizeof begin);
  memset(plain, 'x', sizeof plain);
  cr_assert_eq(compress2(body + sizeof begin, &packed, plain, sizeof plain, 9), Z_OK);
  uint8_t *file = malloc(size + 1000 * sizeof body), *to = file + 33;
  memcpy(file, bytes, 33);
  for (int i = 0; i < 1000; i++) to = add_chunk(to, "iTXt", body, sizeof begin + packed);
  memcpy(to, bytes + 33, size - 33);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  cr_assert_eq(decode(file, (size_t)(to - file) + size - 33, &picture, fault), ATTN2C_OK, "%s", fault);
  getrusage(RUSAGE_SELF, &after);
  cr_assert_lt(after.ru_maxrss - before.ru_maxrss, 600 << 10); /* KiB; a sanitizer keeps what is freed */
  attn2c_picture_free(&picture);
  free(file);
  free(bytes);
}

Test(picture, other_files) {
  static const struct {
    const char *bytes, *said;
  } cases[] = {
      {"", "is empty; PNG and JPEG files are supported"},
      {"GIF89a....", "is a GIF file; PNG and JPEG files are supported"},
      {"RIFF....WEBPVP8 ", "is a WebP file; PNG and JPEG files are supported"},
      {"\x89PNG", "is no picture; PNG and JPEG files are supported"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char fault[ATTN2C_PICTURE_FAULT];
    attn2c_picture picture;
    const size_t size = strlen(cases[i].bytes);
    cr_assert_eq(decode((const uint8_t *)cases[i].bytes, size, &picture, fault), ATTN2C_FORMAT);
    cr_assert_str_eq(fault, cases[i].said);
  }
}

/* The pixels that goldens.py draws. */
static uint8_t *drawn(int64_t width, int64_t height, uint32_t seed) {
  uint8_t *pixels = malloc((size_t)(width * height * 3));
  for (int64_t i = 0; i < width * height * 3; i++) {
    seed = (seed * 1103515245u + 12345u) & 0x7fffffffu;
    pixels[i] = (uint8_t)(seed >> 16);
  }
  return pixels;
}

Test(picture, resized_to_the_bits_of_pillow) {
  FILE *file = fopen(FOLDER "resized.txt", "r");
  int filter;
  long width, height, to_width, to_height;
  unsigned sum;
  uint32_t seed = 0;
  cr_assert_not_null(file);
  while (fscanf(file, "%d %ld %ld %ld %ld %x", &filter, &width, &height, &to_width, &to_height, &sum) == 6) {
    const attn2c_resample_axis x = {width, to_width, 0, to_width}, y = {height, to_height, 0, to_height};
    uint8_t *pixels = drawn(width, height, ++seed), *out = malloc((size_t)(to_width * to_height * 3));
    cr_assert_eq(attn2c_resample(pixels, &x, &y, (attn2c_filter)filter, out), ATTN2C_OK);
    cr_assert_eq(crc32(0, out, (uInt)(to_width * to_height * 3)), sum, "%d: %ld x %ld to %ld x %ld", filter,
                 width, height, to_width, to_height);
    /* A window has the values of the whole. */
    const attn2c_resample_axis some_x = {width, to_width, to_width / 3, to_width - to_width / 2},
                               some_y = {height, to_height, to_height / 4, to_height - to_height / 2};
    uint8_t *window = malloc((size_t)(some_x.count * some_y.count * 3));
    cr_assert_eq(attn2c_resample(pixels, &some_x, &some_y, (attn2c_filter)filter, window), ATTN2C_OK);
    for (int64_t r = 0; r < some_y.count; r++)
      cr_assert_eq(memcmp(window + r * some_x.count * 3,
                          out + ((some_y.first + r) * to_width + some_x.first) * 3, (size_t)some_x.count * 3),
                   0);
    free(window);
    free(pixels);
    free(out);
  }
  fclose(file);
  cr_assert_eq(seed, 85);
}

/* Pictures of any shape become the same number of patches as with transformers, or none that a model takes.
 */
Test(picture, as_many_patches_as_transformers) {
  FILE *file = fopen(FOLDER "grids.txt", "r");
  long width, height, patch, most, across, down;
  int count = 0;
  cr_assert_not_null(file);
  while (fscanf(file, "%ld %ld %ld %ld %ld %ld", &width, &height, &patch, &most, &across, &down) == 6) {
    const attn2c_picture_facts facts = {
        .patch = (int)patch, .most = (int)most, .scale = 1, .deviation = {1, 1, 1}};
    const int fits = attn2c_picture_fits(&facts, width, height);
    cr_assert_eq(fits, across * down <= most, "%ld x %ld, at most %ld", width, height, most);
    count++;
    if (!fits || width * height > 1000000) continue;
    uint8_t *pixels = calloc((size_t)(width * height), 3);
    float *patches = malloc((size_t)(most * patch * patch * 3) * sizeof *patches);
    int32_t shape[2];
    cr_assert_eq(attn2c_picture_patches(&facts, pixels, width, height, patches, shape), ATTN2C_OK);
    cr_assert(shape[0] == down && shape[1] == across, "%ld x %ld, at most %ld: %d x %d", width, height, most,
              shape[1], shape[0]);
    free(pixels);
    free(patches);
  }
  fclose(file);
  cr_assert_eq(count, 65);
}

/* Rows of patches have their pixels row by row; rows after them are 0. A picture of 4 x 2 pixels stays one.
 */
Test(picture, patches_row_by_row) {
  const attn2c_picture_facts facts = {
      .patch = 2, .most = 3, .scale = 1, .mean = {1, 2, 3}, .deviation = {1, 1, 2}};
  uint8_t pixels[4 * 2 * 3];
  float patches[3 * 12];
  int32_t shape[2];
  for (int i = 0; i < 24; i++) pixels[i] = (uint8_t)(10 * i);
  cr_assert_eq(attn2c_picture_patches(&facts, pixels, 4, 2, patches, shape), ATTN2C_OK);
  cr_assert(shape[0] == 1 && shape[1] == 2);
  for (int i = 0; i < 24; i++) {
    const int patch = i / 12, row = i % 12 / 6, column = i % 6 / 3, plane = i % 3;
    const float value = 10.0f * (float)(row * 12 + (2 * patch + column) * 3 + plane);
    cr_assert_eq(patches[i], (value - (float)(plane + 1)) / (plane == 2 ? 2 : 1), "%d", i);
  }
  for (int i = 24; i < 36; i++) cr_assert_eq(patches[i], 0);
  faults_clear();
  faults_allocation(1, 0);
  cr_assert_eq(attn2c_picture_patches(&facts, pixels, 4, 2, patches, shape), ATTN2C_MEMORY);
  cr_assert_eq(attn2c_picture_patches(&facts, pixels, 4, 0, patches, shape), ATTN2C_USAGE);
  faults_clear();
}

/* The crop of a picture that is smaller than it: the larger half of the border is before the picture. */
Test(picture, border) {
  const attn2c_picture_facts facts = {
      .width = 4, .height = 3, .crops = 1, .scale = 0.5, .mean = {1, 2, 3}, .deviation = {1, 2, 4}};
  const uint8_t pixel[3] = {10, 20, 30};
  float input[3 * 3 * 4];
  cr_assert_eq(attn2c_picture_prepare(&facts, pixel, 1, 1, input), ATTN2C_OK);
  static const float inside[3] = {4, 4, 3}, outside[3] = {-1, -1, -0.75f};
  for (int i = 0; i < 3 * 3 * 4; i++)
    cr_assert_eq(input[i], i % 12 == 1 * 4 + 2 ? inside[i / 12] : outside[i / 12], "%d", i);
}

/* Results that keep their fractions round to the others, but for the half that is lost between the axes.
 * Values are in the middle, as a cubic filter goes beyond the ends of an edge. */
Test(picture, resized_with_fractions) {
  static const struct {
    int64_t width, height, to_width, to_height;
  } sizes[] = {{37, 21, 28, 12}, {5, 7, 16, 16}, {1, 1, 3, 4}, {200, 3, 2, 9}, {8, 8, 8, 8}};
  for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
    const attn2c_filter filter = i % 2 ? ATTN2C_FILTER_BICUBIC : ATTN2C_FILTER_BILINEAR;
    const attn2c_resample_axis x = {sizes[i / 2].width, sizes[i / 2].to_width, 0, sizes[i / 2].to_width},
                               y = {sizes[i / 2].height, sizes[i / 2].to_height, 0, sizes[i / 2].to_height};
    uint8_t *pixels = drawn(x.from, y.from, (uint32_t)i + 1), *whole = malloc((size_t)(x.to * y.to * 3));
    float *out = malloc((size_t)(x.to * y.to * 3) * sizeof *out), *part = malloc(3 * sizeof *part);
    for (int64_t k = 0; k < x.from * y.from * 3; k++) pixels[k] = (uint8_t)(64 + pixels[k] / 2);
    cr_assert_eq(attn2c_resample(pixels, &x, &y, filter, whole), ATTN2C_OK);
    cr_assert_eq(attn2c_resample_floats(pixels, &x, &y, filter, out), ATTN2C_OK);
    double sum = 0, before = 0;
    for (int64_t k = 0; k < x.to * y.to * 3; k++) {
      cr_assert_leq(fabs(out[k] - whole[k]), 1.5, "%zu %ld", i, (long)k);
      sum += out[k];
    }
    for (int64_t k = 0; k < x.from * y.from * 3; k++) before += pixels[k];
    if (x.to == x.from && y.to == y.from) cr_assert_eq(sum, before); /* nothing is resized */
    const attn2c_resample_axis one_x = {x.from, x.to, x.to / 2, 1}, one_y = {y.from, y.to, y.to / 3, 1};
    cr_assert_eq(attn2c_resample_floats(pixels, &one_x, &one_y, filter, part), ATTN2C_OK);
    cr_assert_eq(memcmp(part, out + ((y.to / 3) * x.to + x.to / 2) * 3, 3 * sizeof *part), 0);
    free(pixels);
    free(whole);
    free(out);
    free(part);
  }
}

/* A row of 0 0 255 becomes two thirds as long: each result is the mean of one and a half, weighed as a tent.
 */
Test(picture, fractions_by_hand) {
  const uint8_t pixels[9] = {0, 0, 0, 0, 0, 0, 255, 255, 255};
  const attn2c_resample_axis x = {3, 2, 0, 2}, y = {1, 1, 0, 1};
  float out[6];
  cr_assert_eq(attn2c_resample_floats(pixels, &x, &y, ATTN2C_FILTER_BILINEAR, out), ATTN2C_OK);
  /* distances 0.25, 0.75, 1.75 in units of a pixel, over 1.5: weights 5/6, 1/2, 0 of 4/3 */
  cr_assert_float_eq(out[0], 0, 1e-6);
  cr_assert_float_eq(out[3], 255 * (5. / 6) / (4. / 3), 1e-4);
}

/* torchvision has the smaller half of a border before the picture. */
Test(picture, border_with_fractions) {
  const attn2c_picture_facts facts = {.width = 4,
                                      .height = 3,
                                      .filter = ATTN2C_FILTER_BILINEAR,
                                      .crops = 1,
                                      .keeps_fractions = 1,
                                      .scale = 1,
                                      .deviation = {1, 1, 1}};
  const uint8_t pixel[3] = {10, 20, 30};
  float input[3 * 3 * 4];
  cr_assert_eq(attn2c_picture_prepare(&facts, pixel, 1, 1, input), ATTN2C_OK);
  for (int i = 0; i < 3 * 3 * 4; i++)
    cr_assert_eq(input[i], i % 12 == 1 * 4 + 1 ? pixel[i / 12] : 0, "%d", i);
}

/* Sizes of transformers' get_size_with_aspect_ratio and get_image_size_for_max_height_width. */
Test(picture, sizes_between_and_within) {
  static const struct {
    int is_within, width, height, first, second, to_width, to_height;
  } cases[] = {{0, 8, 6, 3, 4, 4, 3},        {0, 8, 6, 3, 3, 3, 2},     {0, 37, 100, 20, 40, 15, 40},
               {0, 100, 37, 20, 40, 40, 15}, {0, 7, 3, 3, 7, 7, 3},     {0, 8, 3, 3, 7, 8, 3},
               {0, 14, 11, 6, 7, 7, 6},      {0, 16, 10, 4, 5, 5, 3},   {1, 200, 100, 50, 50, 50, 25},
               {1, 1, 3, 5, 9, 1, 5},        {1, 30, 10, 9, 27, 27, 9}, {0, 1, 200, 5, 9, 0, 0},
               {1, 1000, 7, 24, 24, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    attn2c_picture_facts facts = {.width = cases[i].to_width,
                                  .height = cases[i].to_height,
                                  .resize = cases[i].is_within ? ATTN2C_RESIZE_WITHIN : ATTN2C_RESIZE_BETWEEN,
                                  .resize_height = cases[i].first,
                                  .resize_width = cases[i].second};
    cr_expect_eq(attn2c_picture_fits(&facts, cases[i].width, cases[i].height), cases[i].to_width > 0, "%zu",
                 i);
    facts.width++, facts.pads = 1;
    cr_expect_eq(attn2c_picture_fits(&facts, cases[i].width, cases[i].height), cases[i].to_width > 0, "%zu",
                 i);
  }
}

/* Padding is 0 in the input, whatever the mean is. */
Test(picture, pads_after_all_steps) {
  const attn2c_picture_facts facts = {
      .width = 3, .height = 2, .pads = 1, .scale = 1, .mean = {1, 1, 1}, .deviation = {1, 1, 1}};
  const uint8_t pixels[6] = {10, 20, 30, 40, 50, 60};
  const float expected[18] = {9, 39, 0, 0, 0, 0, 19, 49, 0, 0, 0, 0, 29, 59, 0, 0, 0, 0};
  float input[18];
  cr_assert_eq(attn2c_picture_prepare(&facts, pixels, 2, 1, input), ATTN2C_OK);
  for (int i = 0; i < 18; i++) cr_expect_eq(input[i], expected[i], "%d", i);
}

Test(picture, fits) {
  attn2c_picture_facts facts = {
      .width = 4, .height = 3, .resize = ATTN2C_RESIZE_SHORTEST, .resize_height = 3};
  cr_assert_eq(attn2c_picture_fits(&facts, 8, 6), 1);
  cr_assert_eq(attn2c_picture_fits(&facts, 9, 6), 1); /* 4.5 is 4 */
  cr_assert_eq(attn2c_picture_fits(&facts, 10, 6), 0);
  facts.crops = 1;
  cr_assert_eq(attn2c_picture_fits(&facts, 10, 6), 1);
  cr_assert_eq(attn2c_picture_fits(&facts, 0, 6), 0);
  cr_assert_eq(attn2c_picture_fits(&facts, ATTN2C_LONGEST_SIDE + 1, 1), 0);
}

Test(picture, without_memory) {
  attn2c_picture_facts facts = {.width = 4,
                                .height = 3,
                                .resize = ATTN2C_RESIZE_EXACT,
                                .resize_width = 4,
                                .resize_height = 3,
                                .filter = ATTN2C_FILTER_BICUBIC,
                                .scale = 1,
                                .deviation = {1, 1, 1}};
  uint8_t *pixels = drawn(9, 9, 1);
  float input[3 * 3 * 4];
  for (facts.keeps_fractions = 0; facts.keeps_fractions < 2; facts.keeps_fractions++) {
    faults_clear();
    cr_assert_eq(attn2c_picture_prepare(&facts, pixels, 9, 9, input), ATTN2C_OK);
    const long allocations = faults_allocations();
    for (long n = 1; n <= allocations; n++) {
      faults_clear();
      faults_allocation(n, 0);
      cr_assert_eq(attn2c_picture_prepare(&facts, pixels, 9, 9, input), ATTN2C_MEMORY);
      cr_assert_eq(faults_live_blocks(), 0);
    }
  }
  faults_clear();
  free(pixels);
  size_t size;
  uint8_t *bytes = read_file(FOLDER "files/exif6.jpg", &size);
  for (long n = 1;; n++) {
    char fault[ATTN2C_PICTURE_FAULT];
    attn2c_picture picture;
    faults_clear(); /* counts blocks from here on */
    faults_allocation(n, 0);
    const int status = attn2c_picture_decode(bytes, size, NULL, &picture, fault);
    const long met = faults_met();
    attn2c_picture_free(&picture);
    cr_assert_eq(faults_live_blocks(), 0);
    if (met == 0) break;
    cr_assert_eq(status, ATTN2C_MEMORY);
  }
  faults_clear();
  free(bytes);
}
