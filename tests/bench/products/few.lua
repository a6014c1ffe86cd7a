-- few.lua: writes what measure.lua times for few rows: the rule's choice for each number of rows, and two bounds.
-- The bounds are candidates of the same library, so that they are timed in the same rounds: functions that only read
-- the weights, and one that only multiplies, with operands in registers. Rows are open.
local forms = require("kernels.forms")
local library = require("commands.products.library")
local shapes = require("shapes")
local targets = require("data.targets")
local types = require("data.types")

local few = {}

local BOUNDS = { "bound_read", "bound_read_ahead", "bound_multiply" }

--- The candidates that are bounds.
few.BOUNDS = #BOUNDS

-- Multiplications of the second bound, of a target with vectors of 16 floats and of others (measure/peak_types.h).
local MULTIPLICATIONS = { [16] = 32000, [8] = 24000 }

-- Returns the multiplications of a row by 16 outputs' weights: of integers or bf16, and of floats with the scales.
local function multiplications(target, of, k)
  local vectors, block, form = types.SCALE_PANEL // target.vector, types.all[of.a].block, forms.of(of, target)
  if not block then
    return vectors * ((k + types.group(of.a) - 1) // types.group(of.a)) * #form.parts
  end
  local is_fine, fours = of.b == types.fine, types.SCALE_BLOCK // 4
  local integers = (is_fine and 2 or 1) * fours
  if target.int8 == "signs" and not is_fine then
    integers = block.bits == 4 and fours + block.scales or 2 * fours -- pairs of int4 are added in 16 bits
  end
  local floats = block.scales * (block.minimum and 3 or 2)
  return vectors * ((k + types.SCALE_BLOCK - 1) // types.SCALE_BLOCK) * (integers + floats)
end

-- Returns the C text of the functions of both bounds.
local function text_of_bounds(form, bytes)
  local each = form.peak or form.in_blocks and { 4, "attn2c_few_product(a, b, c)" }
    or { 2, "attn2c_few_floats(a, b, c)" }
  local is_float = form.sum == "attn2c_vector"
  return ([[
#include "measure/peak_types.h"
ATTN2C_INLINE attn2c_vector attn2c_few_floats(attn2c_words a, attn2c_words b, attn2c_vector c) {
  return attn2c_multiply_add((attn2c_vector)a, (attn2c_vector)b, c);
}
#ifdef ATTN2C_SCALED_OFFSET
ATTN2C_INLINE attn2c_integers attn2c_few_product(attn2c_words a, attn2c_words b, attn2c_integers c) {
#if ATTN2C_SCALED_OFFSET
  return attn2c_int8_quads(a, b, c);
#else
  return attn2c_int8_halves(a, b, c);
#endif
}
#endif
ATTN2C_PEAK_ROUND(multiply, %s, %d, %s)
static void bound_multiply(const void *x, const void *y, void *z) {
  (void)x, (void)y, (void)z;
  (void)multiply();
}
#define READ(name, ask)                                                    \
  static void name(const void *x, const void *y, void *z) {                \
    attn2c_words s[4] = {{0}};                                             \
    (void)y;                                                               \
    for (ptrdiff_t i = 0; i < %d; i += 4 * (ptrdiff_t)sizeof *s) {         \
      ask;                                                                 \
      for (int j = 0; j < 4; j++)                                          \
        s[j] |= attn2c_words_load((const char *)x + i + j * sizeof *s);    \
    }                                                                      \
    attn2c_store(z, (attn2c_vector)(s[0] | s[1] | s[2] | s[3]));           \
  }
READ(bound_read, )
READ(bound_read_ahead, attn2c_ask_near((const char *)x + i + 8192, sizeof s / 64))]]):format(is_float
    and "attn2c_vector" or "attn2c_integers", each[1], each[2], bytes)
end

--- Returns what to time for a weight { outputs, inputs } of a type, by its word, on a target: { text: of the library;
--- rows: of its first candidates; elements, types: of the weight; bounds(ns): from all times, the nanoseconds of
--- reading the weights, and of the multiplications of one row }. measured: of shapes.rule.
function few.of(target_name, word, weight, measured)
  local target, of = targets.by_name[target_name], shapes.types(target_name, word)
  local _, rows = shapes.few()
  local list = {}
  for i, n in ipairs(rows) do
    local shape = { outputs = weight[1], inputs = weight[2], rows = n }
    list[i] = shapes.calls(target_name, word, shape, shapes.rule(target_name, word, shape, true, measured), true)
  end
  local bytes = types.bytes(list[1].elements, of.a)
  local text = library.text(list, target.vector, { text = text_of_bounds(forms.of(of, target), bytes),
    names = BOUNDS })
  local panels = (weight[1] + types.SCALE_PANEL - 1) // types.SCALE_PANEL
  local each = multiplications(target, of, weight[2]) * panels
  return { text = text, rows = rows, elements = list[1].elements, types = of, bounds = function(ns)
    return math.min(ns[#rows + 1], ns[#rows + 2]), ns[#rows + 3] / MULTIPLICATIONS[target.vector] * each
  end }
end

--- Returns the head of a table of such products.
function few.head()
  local _, rows = shapes.few()
  return ("| type | outputs x inputs | us, 1 row | GB/s | %s |\n|:--|--:|--:|--:|%s"):format(table.concat(rows, " | "),
    ("--:|"):rep(#rows))
end

--- Returns the line of a product: for each number of rows the time divided by that of one row, and the part of the
--- larger bound.
function few.line(made, name, weight, ns)
  local read, multiply = made.bounds(ns)
  local cells = {}
  for i, n in ipairs(made.rows) do
    cells[i] = ("%.2f, %.2f"):format(ns[i] / ns[1], math.max(read, n * multiply) / ns[i])
  end
  local bytes = types.bytes(made.elements, made.types.a)
  return ("| %s | %dx%d | %.1f | %.1f | %s |"):format(name, weight[1], weight[2], ns[1] / 1000, bytes / read,
    table.concat(cells, " | "))
end

return few
