/* table.h - finds rows of a table of embeddings in its packed weight. A table is packed as rows, one after
 * another, or as the outputs of a product that reads the same numbers: in panels, where the groups of a row
 * are a panel's leading dimension apart (attn2c_packing in base/descriptor.h). */
#pragma once

#include "ops/vector.h"

/* How a table is packed. Rows are panels of one output whose leading dimension is 1. */
typedef struct {
  int line;                     /* leading dimensions are multiples of it */
  int groups, start;            /* of an output: groups of 4 bytes, with the rows before them; these rows */
  int panel, count, tail, rest; /* `count` panels of `panel` outputs, then one of `tail` and one of `rest` */
} attn2c_table;

/* A row: the groups before its panel, the panel's leading dimension, and the row's output in it. */
typedef struct {
  ptrdiff_t panel, leading, column;
} attn2c_table_row;

ATTN2C_INLINE attn2c_table attn2c_table_rows(int groups) { return (attn2c_table){1, groups, 0, 1, 0, 0, 0}; }

ATTN2C_INLINE attn2c_table attn2c_table_panels(int groups, int start, int panel, int count, int tail,
                                               int rest) {
  return (attn2c_table){16, groups, start, panel, count, tail, rest};
}

ATTN2C_INLINE attn2c_table_row attn2c_table_find(attn2c_table of, ptrdiff_t id) {
  const ptrdiff_t whole = (of.panel + of.line - 1) / of.line * of.line,
                  tails = (ptrdiff_t)of.panel * of.count;
  if (of.tail == 0 || id < tails)
    return (attn2c_table_row){id / of.panel * whole * of.groups, whole, id % of.panel};
  const ptrdiff_t tail = (of.tail + of.line - 1) / of.line * of.line;
  if (id < tails + of.tail) return (attn2c_table_row){of.count * whole * of.groups, tail, id - tails};
  return (attn2c_table_row){(of.count * whole + tail) * of.groups,
                            (of.rest + of.line - 1) / of.line * of.line, id - tails - of.tail};
}

/* Returns the groups before a row's first one, in a type without scale blocks. */
ATTN2C_INLINE ptrdiff_t attn2c_table_first(attn2c_table of, attn2c_table_row row) {
  return row.panel + of.start * row.leading + row.column;
}
