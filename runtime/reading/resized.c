/* resized.c - reads the positions of an image's patches from the positions in another grid of patches, by
 * bicubic interpolation as torch.nn.functional.interpolate has it, align_corners false: first down a column
 * of the grid, a row of patches at a time, then along that row. */
#include "reading/views.h"

#include <math.h>

/* The grids of a view. */
typedef struct {
  int64_t from_rows, from_columns, to_rows, to_columns;
} grids;

static grids grids_of(const attn2c_view *view) {
  const int64_t columns = view->column_step;
  return (grids){view->row_step >> 16, view->row_step & 0xffff, view->rows / columns, columns};
}

static int64_t elements_of(const attn2c_view *view) {
  const grids of = grids_of(view);
  return of.from_rows * of.from_columns * view->columns;
}

/* The cubic function of Keys at a distance. `a`: its slope at 1. */
static double cubic(double x, double a) {
  x = fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The weights of an axis of `from` places for one of `to` places: weights[place], places [first, end). */
typedef struct {
  double *weights;
  int64_t first, end;
} taps;

/* Without smoothing 4 places count, and those beyond the ends are those at the ends. */
static void take_plain(taps *taps, int64_t from, int64_t to, int64_t at) {
  const double middle = ((double)at + 0.5) * (double)from / (double)to - 0.5, base = floor(middle);
  const int64_t low = (int64_t)base - 1;
  taps->first = low < 0 ? 0 : low, taps->end = low + 4 > from ? from : low + 4;
  for (int64_t i = taps->first; i < taps->end; i++) taps->weights[i] = 0;
  for (int64_t i = low; i < low + 4; i++) {
    const int64_t place = i < 0 ? 0 : i >= from ? from - 1 : i;
    taps->weights[place] += cubic(middle - (double)i, -0.75);
  }
}

/* With smoothing the function is as wide as a place of the smaller grid; the weights have the sum 1. */
static void take_smooth(taps *taps, int64_t from, int64_t to, int64_t at) {
  const double scale = (double)from / (double)to, width = scale > 1 ? scale : 1;
  const double middle = scale * ((double)at + 0.5), low = middle - 2 * width + 0.5;
  const double high = middle + 2 * width + 0.5;
  double sum = 0;
  taps->first = low > 0 ? (int64_t)low : 0;
  taps->end = high < (double)from ? (int64_t)high : from;
  for (int64_t i = taps->first; i < taps->end; i++) {
    taps->weights[i] = cubic(((double)i - middle + 0.5) / width, -0.5);
    sum += taps->weights[i];
  }
  for (int64_t i = taps->first; i < taps->end; i++) taps->weights[i] /= sum;
}

static void take(const attn2c_view *view, taps *taps, int64_t from, int64_t to, int64_t at) {
  (view->flags & ATTN2C_VIEW_SMOOTH ? take_smooth : take_plain)(taps, from, to, at);
}

/* Memory of a read. */
typedef struct {
  double *weights; /* of an axis */
  double *line;    /* sums down the columns of the grid, [from_columns][width] */
  float *source;   /* a row of the grid */
} memory;

/* Sums the rows of the grid for row `at` of patches. */
static int add_rows(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t at,
                    memory *memory, attn2c_message *message) {
  const grids of = grids_of(view);
  const int64_t length = of.from_columns * view->columns;
  taps taps = {.weights = memory->weights};
  take(view, &taps, of.from_rows, of.to_rows, at);
  for (int64_t i = 0; i < length; i++) memory->line[i] = 0;
  for (int64_t y = taps.first; y < taps.end; y++) {
    ATTN2C_TRY(attn2c_checkpoint_read(checkpoint, tensor, view->first + y * length, length, memory->source,
                                      message));
    for (int64_t i = 0; i < length; i++) memory->line[i] += taps.weights[y] * (double)memory->source[i];
  }
  return ATTN2C_OK;
}

/* Sums along the row for patch `at` of it. */
static void add_columns(const attn2c_view *view, int64_t at, memory *memory, float *to) {
  const grids of = grids_of(view);
  taps taps = {.weights = memory->weights};
  take(view, &taps, of.from_columns, of.to_columns, at);
  for (int64_t j = 0; j < view->columns; j++) {
    double sum = 0;
    for (int64_t x = taps.first; x < taps.end; x++)
      sum += taps.weights[x] * memory->line[x * view->columns + j];
    to[j] = (float)(view->factor * sum);
  }
}

static int read_resized(const attn2c_checkpoint *checkpoint, int tensor, const attn2c_view *view, int64_t row,
                        int64_t count, int64_t columns, float *values, attn2c_band *band,
                        attn2c_message *message) {
  (void)band;
  const grids of = grids_of(view);
  const int64_t places = of.from_rows > of.from_columns ? of.from_rows : of.from_columns;
  const size_t length = (size_t)(of.from_columns * view->columns);
  memory memory = {.weights = malloc((size_t)places * sizeof(double)),
                   .line = malloc(length * sizeof(double)),
                   .source = malloc(length * sizeof(float))};
  int status = memory.weights && memory.line && memory.source ? ATTN2C_OK : ATTN2C_MEMORY;
  if (status != ATTN2C_OK) attn2c_say(message, "no memory to interpolate positions");
  for (int64_t i = 0; i < count && status == ATTN2C_OK; i++) {
    const int64_t at = row + i;
    if (i == 0 || at % of.to_columns == 0)
      status = add_rows(checkpoint, tensor, view, at / of.to_columns, &memory, message);
    if (status == ATTN2C_OK) add_columns(view, at % of.to_columns, &memory, values + i * columns);
  }
  ATTN2C_FREE(memory.weights, memory.line, memory.source);
  return status;
}

const attn2c_view_reader attn2c_resized_reader = {elements_of, read_resized};
