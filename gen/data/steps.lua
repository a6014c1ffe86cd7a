-- steps.lua: declares the forms of a step: a product, a row operation, or a map of elementwise operations. lower makes
-- steps; schedule, memory, the checkers and emit read here what a step touches, its cost, its call and its equation.
--
-- An entry has
--   constants  names of the values that are known when the code is made, as a text; the usual call has no names in ( )
--   operands   in the order of the call: { name, access, footprint }; access: "r" read, "w" written, "rw" both, "value"
--              an integer that only a call knows; footprint(constants): the elements it may touch (footprint.lua)
--              or a text, "x? r rows x 4 cols / ldx: i32": ? if it may be absent, products of constants, a type
--              type: of its elements (types.lua), if not f32. optional: the operand may be absent, and is NULL then
--              touched(constants): the number of elements that it reads, if fewer than its footprint
--   meets      true if its body takes the ranks that compute the model together, `ranks`
--   whole_vectors   true if open columns of a tile of scores are whole vectors for it, the last of them masked
--   cost       cost(constants), in operations of a product that take as long; precise enough to divide work before
--              anything runs. Measured once on AVX-512, where a core does 64 per cycle; tests/bench/elementary.c
--              measures
--   body       the call of the runtime's body; ${name} is a constant, operands go by their own names; nil: the usual
--              call (row_entries.lua)
--   equation   its result as a formula
--
-- The constants passed to a footprint or a cost include, in addition to the step's own, the largest value of each
-- integer operand by its name, and the least by NAME_least.
local activations = require("data.activations").by_name
local footprint = require("data.footprint")
local of_experts = require("data.steps_experts")
local of_integers = require("data.steps_integers")
local of_kept = require("data.steps_kept")
local of_ranks = require("data.steps_ranks")
local of_tables = require("data.steps_tables")
local row_entries = require("data.row_entries")
local types = require("data.types")
local words = require("common.words")

local steps = {}

local matrix, product, vector = footprint.matrix, footprint.product, footprint.vector
local each, of_rows, of_scores, written, read = row_entries.each, row_entries.of_rows, row_entries.of_scores,
  row_entries.written, row_entries.read

-- Returns the footprint of an online softmax's state, which has three rows; those before `to` and from `from` on.
local function state(from, to)
  return function(c) return { first = from * c.rows, { (to - from) * c.rows, 1 } } end
end

local function angles(c) return { first = 0, { c.rows, c.ldr }, { c.dimension // 2, 1 } } end

local function planes(c) return { first = 0, { c.heads, c.stride }, { c.rows, c.ldx }, { c.cols, 1 } } end

-- Returns the footprint of the rows of x that the integer operand `row` may choose.
local function one_row(c)
  return { first = c.row_least * c.ldx, { c.row - c.row_least + 1, c.ldx }, { c.cols, 1 } }
end

-- Declares a pool of the first rows: the cost of an element, its equation.
local function pool(name, cost, equation)
  return { constants = "cols ldx", cost = each(cost), equation = "y[j] = " .. equation,
    operands = { "y w cols", read(), "rows value" }, body = "attn2c_pool_" .. name .. "(y, x, rows, ${cols}, ${ldx})" }
end

-- Declares the same of the rows but `cut` at each end.
local function pool_cut(name, cost, equation)
  return { constants = "cols ldx cut", cost = each(cost), equation = "y[j] = " .. equation,
    operands = { "y w cols", read(), "rows value" },
    body = "attn2c_pool_" .. name .. "(y, x + (rows > 2 * ${cut} ? ${cut} * ${ldx} : 0), rows - 2 * ${cut}, "
      .. "${cols}, ${ldx})" }
end

-- Declares a pool of one row that ids choose, among the rows that `among` names: the last one of a token that is not
-- `pad`, or the first one of the token `ending`.
local function pool_by_ids(rule, constants, bound, arguments, among)
  local which = { last_but = "largest i with ids[i] != ${pad}",
    ending = "smallest i with ids[i] = ${ending} (-1: the largest id)" }
  return { constants = constants, operands = { "y w cols", read(), "ids r rows: i32", bound },
    cost = product("2 cols"), body = ("attn2c_pool_%s(y, x, ids, %s)"):format(rule, arguments),
    equation = ("y[j] = x[i][j] of the %s and %s, or of 0"):format(which[rule], among) }
end

-- Declares a pool of the rows that a mask keeps: the end of its body's name, arguments after `keeps`, its equation.
local function pool_kept(body, more, equation)
  return { constants = "rows cols ldx keeps", operands = { "y w cols", read(), "mask r rows: i32" }, cost = each(8),
    body = "attn2c_pool_kept_" .. body .. "(y, x, mask, ${rows}, ${cols}, ${ldx}, ${keeps}" .. more .. ")",
    equation = "y[j] = " .. equation .. " over the rows with (mask[i] != 0) == ${keeps}" }
end

local triples = { __tostring = function(list)
  return table.concat(words.map(list, function(each_) return ("{%d, %d, %d}"):format(table.unpack(each_)) end), ", ")
end }

--- Returns a constant that is a list of { column, first key, keys }; as text it is the initialiser of a C array.
function steps.ranges(list) return setmetatable(list, triples) end

-- The product C[n][m] (+)= B[n][k] A[k][m]. A is a panel (types.lua). A product of experts is one for each of them,
-- whose panels are `apart` bytes from each other: expert e has rows first[e] to first[e + 1] - 1 of the n.
steps.product = {
  operands = {
    { "a", "r", function(c)
      local panel = { first = 0, { c.panel.rows, c.panel.ld },
        { c.panel.whole and c.panel.ld or c.panel.group * c.m, 1 } }
      return c.experts and footprint.repeated(panel, c.experts, c.apart) or panel
    end }, { "b", "r", matrix("n", "inputs", "ldb") }, { "c", "w", matrix("n", "m", "ldc") },
    { "first", "r", function(c) return { first = 0, { c.experts + 1, 1 } } end, type = "i32", optional = true } },
  cost = product("2 m n k"),
}

-- Return the footprints of keys as pairs of columns, and of values as pairs of rows: [pairs][ldy][2].
local function column_pairs(c) return { first = 0, { (c.cols + 1) // 2, 2 * c.ldy }, { 2 * c.rows, 1 } } end
local function row_pairs(c) return { first = 0, { (c.rows + 1) // 2, 2 * c.ldy }, { 2 * c.cols, 1 } } end

-- Declares the packing of keys or values in pairs.
local function pairs_of(equation, touched, type)
  return { constants = "rows cols ldx ldy", operands = { { "y", "w", touched, type = "bf16" }, read(type) },
    cost = each(8), equation = equation }
end

local function row_scales(access) return ("scale %s rows x 1 / lds"):format(access) end

-- The scores that only sums have, one for all rows, or one for each.
local sinks = "sinks r rows x 1 / lds"

-- Declares a softmax whose weights are read only as bf16.
local function softmax_rounded(more, with_sinks)
  return { constants = "rows cols ld ldy scale" .. (with_sinks and " lds" or ""), whole_vectors = true,
    operands = { written("bf16"), "s rw rows x cols / ld", with_sinks and sinks or nil }, cost = each(51),
    equation = "y[i][j] = bf16(exp(${scale} (s[i][j] - max)) / sum over j" .. more .. ")" }
end

-- Declares the copying of rows around some rows of a sequence, with rows of 0 where it has none.
local function padded(body, type)
  return { constants = "rows cols kernel all ldx ldy",
    operands = { { "y", "w", function(c) return { first = 0, { c.rows + c.kernel - 1, c.ldy }, { c.cols, 1 } } end,
      type = type }, { "x", "r", matrix("all", "cols", "ldx"), type = type }, "first value",
      "valid value" }, cost = function(c) return 2 * (c.rows + c.kernel) * c.cols end,
    body = body .. "(y, x, ${rows}, first, valid, ${all}, ${cols}, ${kernel}, ${ldx}, ${ldy})",
    equation = "y[i] = x[first + i - ${kernel} / 2], 0 outside of the first valid of ${all} rows" }
end

-- Declares the part of a softmax that some keys give. is_first: 1, or 0 if other keys come before these.
local function softmax_chunk(access, is_first, equation)
  return of_scores(48, "s[i][j] = exp(${scale} (s[i][j] - " .. equation, {
    constants = "scale", operands = { { "state", access, state(0, 3) } },
    body = ("attn2c_softmax_chunk(s, state, ${rows}, ${cols}, ${ld}, ${scale}, %d)"):format(is_first),
  })
end

-- Declares the repair of a context by unmasked keys. v: the footprint of values; ld: the constant that it reads.
local function context_repair(v, ld, type)
  return { constants = "rows cols head_dim ldc ldp " .. ld .. " lo hi",
    operands = { "c rw rows x head_dim / ldc", { "p", "r", matrix("rows", "cols", "ldp"),
      type = type == "bf16" and type or nil }, { "v", "r", v, type = type }, "valid value" }, cost = each(5),
    equation = "c[i] = p[i] · v over unmasked keys only, for rows that a masked key's NaN or infinity reached" }
end

-- Declares the same by keys whose weight is not 0. together: keys whose values are next to each other.
local function context_repair_nonzero(name, type, together)
  return {
    constants = "rows head_dim ldc ldp ldv ranges count cols",
    operands = { "c rw rows x head_dim / ldc", { "p", "r", matrix("rows", "cols", "ldp"), type = type },
      { "v", "r", function(c)
        local rows = words.most(c.ranges, function(range) return range[2] + range[3] end)
        return { first = 0, { (rows + together - 1) // together, together * c.ldv }, { together * c.head_dim, 1 } }
      end, type = type } },
    cost = each(5),
    body = "attn2c_" .. name .. "(c, p, v, ${rows}, ${head_dim}, ${ldc}, ${ldp}, ${ldv}, (const int[][3]){${ranges}}, "
      .. "${count})",
    equation = "c[i] = p[i] · v over keys whose weight is not 0, for rows that are not finite",
  }
end

local gain, bias = "gain? r cols", "bias? r cols"

-- Declares a norm, of whole rows and of each of their heads. operands: of the norm of a row.
local function norms(cost, equation, operands)
  local of_heads = words.map(operands, function(of) return (of:gsub("cols", "head_dim")) end)
  return of_rows(cost, equation, { constants = "eps", operands = operands }), {
    constants = "rows heads head_dim ldx ldy eps (cols)",
    operands = { written(), read(), table.unpack(of_heads) }, cost = each(cost),
    equation = equation .. ", each of ${heads} heads by itself",
  }, {
    constants = "rows heads head_dim ldx ldy eps (cols)",
    operands = { written(), read(), "gain r cols" }, cost = each(cost),
    equation = equation:gsub(" %+ bias", "") .. ", each of ${heads} heads by itself",
  }
end

steps.rows = {
  softmax = of_scores(51, "s[i][j] = exp(${scale} (s[i][j] - max)) / sum over j",
    { constants = "scale", whole_vectors = true }),
  softmax_rounded = softmax_rounded(""), softmax_nan_rounded = softmax_rounded(", NaN where all are -inf"),
  softmax_sinks = of_scores(51, "s[i][j] = exp(${scale} (s[i][j] - max)) / (sum over j, with exp(sinks[i]))",
    { constants = "scale lds", operands = { sinks }, whole_vectors = true }),
  softmax_sinks_rounded = softmax_rounded(", with exp(sinks[i])", true),
  softmax_nan = of_scores(51, "s[i][j] = exp(${scale} (s[i][j] - max)) / sum over j, NaN where all are -inf",
    { constants = "scale", whole_vectors = true }),
  add_length = of_scores(3, "s[i][j] += ${value} where j >= valid",
    { constants = "value", operands = { "valid value" } }),
  add_places = of_scores(20, "s[i][j] += across[left of j - left of i] + down[lower of j - lower of i]",
    { constants = "distances", operands = { "queries r 4 rows: i32", "keys r 4 cols: i32", "across r distances",
      "down r distances" } }),
  add_places_along = of_scores(28, "s[i][j] += across[left of j - left of i] + down[lower of j - lower of i] + "
    .. "along[place of j - place of i]",
    { constants = "distances places", operands = { "queries r 4 rows: i32", "keys r 4 cols: i32", "across r distances",
      "down r distances", "along r places" } }),
  additive_scores = { constants = "rows cols head_dim lds ldq ldk",
    operands = { "s w rows x cols / lds", "q r rows x head_dim / ldq", "keys r head_dim x cols / ldk",
      "score r head_dim" }, cost = product("44 rows cols head_dim"),
    equation = "s[i][j] = sum over d of score[d] tanh(q[i][d] + keys[d][j])" },
  fill = { constants = "rows cols ldy value", operands = { written() }, cost = each(3),
    equation = "y[i][j] = ${value}" },
  mask_band_prefix = of_scores(6, "s[i][j] = -inf unless j < ${keep} or ${lo} + i <= j < ${hi} + i",
    { constants = "lo hi keep" }),
  normalise = of_rows(16, "y[i] = x[i] / max(|x[i]|, ${eps})", { constants = "eps" }),
  softmax_rows = of_rows(51, "y[i][j] = exp(x[i][j] - max) / sum over j"),
  row_length = { constants = "rows cols ldx ldy", operands = { "y w rows x 1 / ldy", read() }, cost = each(6),
    equation = "y[i] = |x[i]|" },
  sparsify = of_rows(18, "y[i][j] = max(x[i][j] - mean - ${factor} deviation, 0)", { constants = "factor" }),
  share = of_rows(4, "y[i][j] = x[i][j] / (sum over j + ${eps})", { constants = "eps" }),
  log_softmax = of_rows(51, "y[i][j] = x[i][j] - max - log(sum over j of exp(x[i][j] - max))"),
  rotate = { constants = "rows heads head_dim dimension pairs ldx ldy ldr (cols)",
    operands = { written(), read(), { "cosines", "r", angles }, { "sines", "r", angles } }, cost = each(16),
    equation = "y[i] = x[i] with its pairs of dimensions rotated by the angles of row i" },
  hadamard = { constants = "rows heads width block factor ldx ldy (cols)", operands = { written(), read() },
    cost = each(20), equation = "y[i] = ${factor} H x[i] for each ${block} numbers, H the Hadamard matrix" },
  patches = { constants = "channels height width patch first rows ldy (cols)",
    operands = { written(), "x r channels height width" }, cost = each(6),
    equation = "y[i] = patch ${first} + i of the image" },
  patches_of_columns = { constants = "height width patch row_stride column_stride first rows ldy (cols)",
    operands = { written(), "x r width x height / height" }, cost = each(6),
    equation = "y[i] = patch ${first} + i of the image, whose columns are rows of x" },
  pair_rows = { constants = "rows cols ldx ldy there",
    operands = { "y w rows x 4 cols / ldy", "x r there x cols / ldx" }, cost = each(12),
    equation = "y[i] = x[4 i] - x[4 i + 2], x[4 i + 1], x[4 i + 3], x[4 i + 4] - x[4 i + 2]; 0 from row ${there} on" },
  add_rows = { constants = "rows cols ldx ldy", operands = { written(), read(), "z r rows x cols / ldx" },
    cost = each(6), equation = "y = x + z" },
  neighbours = { constants = "rows cols kernel ldx ldy",
    operands = { "y w rows x kernel cols / ldy", read(), "valid value" }, cost = product("8 rows cols kernel"),
    body = "attn2c_neighbours(y, x, ${rows}, valid, ${cols}, ${kernel}, ${ldx}, ${ldy})",
    equation = "y[i][j ${kernel} + t] = x[i + t - ${kernel} / 2][j], 0 outside of the first valid rows" },
  convolve_columns = { constants = "rows cols kernel width ldx ldy",
    operands = { written(), { "x", "r", function(c)
      return { first = 0, { c.before + c.rows, c.ldx }, { c.cols, 1 } }
    end }, "weight r kernel x cols / width", "bias? r cols",
      "before value" }, cost = product("3 rows cols kernel"),
    touched = function(c) return (c.rows + c.kernel - 1) * c.cols end,
    equation = "y[i] = bias + sum of x[before + i - ${kernel} + 1 + t] weight[t] over t, without rows before the "
      .. "first" },
  recurrent = { constants = "rows width ldx ldy backward",
    operands = { "y w rows x width / ldy", "x r rows x 4 width / ldx", "weight r 4 width width", "marks? r rows: i32",
      "valid value" }, cost = function(c) return c.rows * c.width * (8 * c.width + 200) end,
    equation = "y[i] = the state of an LSTM after row i of the first valid, of those with marks[i] = 1" },
  match_labels = { constants = "rows cols width hidden scores ldx ldl ldy",
    operands = { written(), "x r rows x 2 width / ldx", "labels r rows x 2 width / ldl",
      { "weight", "r", function(c) return { first = 0, { (3 * c.width + 1) * c.hidden, 1 } } end },
      { "out", "r", function(c) return { first = 0, { c.scores * (c.hidden + 1), 1 } } end },
      "marks r rows: i32", "valid value" }, cost = function(c) return c.rows * c.hidden * (4 * c.width + c.scores) end,
    equation = "y[i][c] = the scores of row i, with marks[i] = 1, for the c-th row with marks = 2, of the first "
      .. "valid" },
  grid_positions = { constants = "rows cols grid ldt ldy",
    operands = { written(), "table r grid grid x cols / ldt", "shape r 2: i32" }, cost = each(80),
    equation = "y[i] = the position of patch i of shape[0] x shape[1], of a table for ${grid} x ${grid}" },
  drop_tokens = { constants = "rows cols id share ldx ldy",
    operands = { written(), read(), "ids r rows: i32", "valid value" }, cost = each(6),
    body = "attn2c_drop_tokens(y, x, ids, ${rows}, valid, ${cols}, ${id}, ${share}, ${ldx}, ${ldy})",
    equation = "y[i] = 0 if ids[i] = ${id}, else x[i] (1 - ${share}) / (1 - the id's share of the first valid ids)" },
  dilated = { constants = "rows cols kernel dilation width ldx ldy",
    operands = { { "y", "w", function(c)
      return { first = 0, { c.rows, c.ldy }, { c.kernel, c.width }, { c.cols, 1 } }
    end }, read(), "valid value" }, cost = product("2 rows cols kernel"),
    body = "attn2c_dilated(y, x, ${rows}, valid, ${cols}, ${kernel}, ${dilation}, ${width}, ${ldx}, ${ldy})",
    equation = "y[i][t ${width} + j] = x[i + (t - ${kernel} / 2) ${dilation}][j], 0 outside of the first valid rows" },
  channel_factors = { constants = "rows cols ldx ldy eps",
    operands = { "y w 2 x cols / ldy", read(), "gain r cols", "bias r cols" }, cost = each(4),
    equation = "y[0] = gain / sqrt(sum of x[i]^2 from row 1 on + ${eps}), y[1] = bias - y[0] x[0]" },
  pad = padded("attn2c_pad"), pad_bf16 = padded("attn2c_pad_bf16", "bf16"),
  mean_heads = { constants = "heads rows cols stride ldx ldy", operands = { written(), { "x", "r", planes } },
    cost = each(6), equation = "y[i][j] = mean over ${heads} heads of x[head][i][j]" },
  bucket_table = { constants = "buckets rows cols ldy",
    operands = { written(), "table r buckets rows", "index r cols" }, cost = each(8),
    equation = "y[head][distance] = table[index[distance]][head]" },
  position_gates = { constants = "rows heads head_dim ldx ldy (cols)",
    operands = { "y w rows x heads / ldy", read(), "weight r 8 head_dim", "bias r 8", "factors r heads" },
    cost = each(24), equation = "y[i][head] = a (b factors[head] - 1) + 2, a and b gates of x[i]'s part of the head" },
  adapt = { constants = "rows in cols (ranks) ldy ldx ldr lda first",
    operands = { written(), read(), "r r rows x in / ldr", "inputs r ranks x in / in", "outputs r ranks x cols / cols",
      { "adapters", "r", function(c) return { first = 0, { c.lda > 0 and c.rows or 1, 1 } } end, type = "i32" } },
    cost = function(c) return 8 * c.rows * (c["in"] + c.cols) end,
    body = "attn2c_adapt(y, x, r, inputs, outputs, adapters, ${rows}, ${in}, ${cols}, ${ldy}, ${ldx}, ${ldr}, ${lda}, "
      .. "(const int[]){${first}})",
    equation = "y[i] = x[i] + r[i] · A · B, the rows first[n - 1] to first[n] - 1 of inputs and outputs, n = "
      .. "adapters[i ${lda}]" },
  mask_band = of_scores(6, "s[i][j] = -inf unless ${lo} + i <= j < ${hi} + i", { constants = "lo hi" }),
  mask_length = of_scores(3, "s[i][j] = -inf where j >= valid",
    { operands = { "valid value" }, whole_vectors = true }),
  softmax_begin = softmax_chunk("w", 1, "max)); the state keeps max and sum"),
  softmax_begin_sinks = of_scores(48, "s[i][j] = exp(${scale} (s[i][j] - max)); the state keeps max and sum, with "
    .. "exp(sinks[i])", { constants = "scale lds", operands = { { "state", "w", state(0, 3) }, sinks } }),
  softmax_more = softmax_chunk("rw", 0, "max so far)); the state keeps max, sum, and what shrinks older sums"),
  softmax_add = { constants = "rows cols ldy ldx",
    operands = { "y rw rows x cols / ldy", read(), { "state", "r", state(2, 3) } }, cost = each(8),
    equation = "y[i][j] = factor[i] y[i][j] + x[i][j]" },
  softmax_end = { constants = "rows cols ldy", operands = { "y rw rows x cols / ldy", { "state", "r", state(1, 2) } },
    cost = each(6), equation = "y[i][j] = y[i][j] / sum[i]" },
  softmax_of = { -- in a trace
    constants = "rows cols ldy ldx scale",
    operands = { written(), read(), { "state", "r", state(0, 2) } }, cost = each(48),
    equation = "y[i][j] = exp(${scale} (x[i][j] - max[i])) / sum[i]",
  },
  context_repair = context_repair(matrix("cols", "head_dim", "ldv"), "ldv"),
  context_repair_pairs = context_repair(function(c)
    return { first = 0, { (c.cols + 1) // 2, 2 * c.ldv }, { 2 * c.head_dim, 1 } }
  end, "ldv", "bf16"),
  context_repair_nonzero = context_repair_nonzero("context_repair_nonzero", nil, 1),
  context_repair_nonzero_pairs = context_repair_nonzero("context_repair_nonzero_pairs", "bf16", 2),
  transpose = { constants = "rows cols ldx ldy", operands = { "y w cols x rows / ldy", read() }, cost = each(8),
    equation = "y[j][i] = x[i][j]" },
  add_transposed = { constants = "rows cols ldx ldy", operands = { "y rw cols x rows / ldy", read() }, cost = each(10),
    equation = "y[j][i] += x[i][j]" },
  -- The keys of a panel, which may have fewer than its leading dimension: rows up to a whole vector become zeros.
  transpose_keys = { constants = "rows cols ldx ldy lanes",
    operands = { { "y", "w", function(c)
      return { first = 0, { c.cols, c.ldy }, { words.round_up(c.rows, c.lanes), 1 } }
    end }, read() }, cost = each(8), equation = "y[j][i] = x[i][j], 0 for i from ${rows} to a multiple of ${lanes}" },
  gather_columns = { constants = "rows cols (inputs) ldx ldy",
    operands = { written(), "x r rows x inputs / ldx", "order r cols" }, cost = each(8),
    equation = "y[i][j] = x[i][order[j]], from ${inputs} columns" },
  copy = of_rows(6, "y = x"), pairs_of_columns = pairs_of("y[j / 2][i][j % 2] = x[i][j]", column_pairs),
  pairs_of_bf16_columns = pairs_of("y[j / 2][i][j % 2] = x[i][j]", column_pairs, "bf16"),
  -- The keys of a panel, as for transpose_keys.
  pairs_of_bf16_keys = { constants = "rows cols ldx ldy lanes",
    operands = { { "y", "w", function(c)
      return { first = 0, { (c.cols + 1) // 2, 2 * c.ldy }, { 2 * words.round_up(c.rows, c.lanes), 1 } }
    end, type = "bf16" }, read("bf16") }, cost = each(8),
    equation = "y[j / 2][i][j % 2] = x[i][j], 0 for i from ${rows} to a multiple of ${lanes}" },
  pairs_of_rows = pairs_of("y[i / 2][j][i % 2] = x[i][j]", row_pairs),
  pairs_of_bf16_rows = pairs_of("y[i / 2][j][i % 2] = x[i][j]", row_pairs, "bf16"),
  add_pairs_of_bf16_rows = { constants = "rows cols ldx ldy panel",
    operands = { { "y", "w", function(c) return { first = 0, { c.panel // 2, 2 * c.ldy }, { 2 * c.cols, 1 } } end,
      type = "bf16" }, read("bf16"), "first value" }, cost = each(8),
    body = "attn2c_add_pairs_of_bf16_rows(y, x, first, ${rows}, ${cols}, ${ldx}, ${ldy})",
    equation = "y[(first + i) / 2][j][(first + i) % 2] = x[i][j]" },
  quantise = { constants = "rows cols ldx ldy lds", operands = { written(types.quantised), row_scales("w"), read() },
    cost = each(12), equation = "y[i] = x[i] / scale[i] as integers, scale[i] = max |x[i]| / 127" },
  quantise_smoothed = { constants = "rows cols ldx ldy lds",
    operands = { written(types.quantised), row_scales("w"), read(), "factors r cols" }, cost = each(14),
    equation = "y[i] = x[i] factors / scale[i] as integers, scale[i] = max |x[i] factors| / 127" },
  embed_boxes = { constants = "rows cols places ldy",
    operands = { written(), { "table", "r", vector("4 places cols"), touched = each(6) }, "boxes r 4 rows: i32" },
    cost = each(24), body = "attn2c_embed_boxes(y, table, boxes, ${rows}, ${cols}, ${places}, ${ldy})",
    equation = "y[i] = the rows of table for left, upper, right, lower, height and width of box i" },
  join_boxes = { constants = "rows cols width places ldy",
    operands = { written(), { "table", "r", vector("2 places width"),
      touched = product("4 rows width") }, { "sizes", "r", function(c)
        return { first = 0, { c.places * (c.cols - 4 * c.width), 1 } }
      end, touched = function(c) return c.rows * (c.cols - 4 * c.width) end }, "boxes r 4 rows: i32" }, cost = each(8),
    equation = "y[i] = the rows of table and sizes for left, upper, right, lower, height and width of box i, side by "
      .. "side" },
  page_places = { constants = "rows across down",
    operands = { { "y", "w", function(c) return { first = 0, { 4 * (c.rows + c.across * c.down + 1), 1 } } end,
      type = "i32" }, "boxes r 4 rows: i32" }, cost = function(c) return 8 * (c.rows + c.across * c.down) end,
    equation = "y[i] = left, place in the sequence, right and lower of box i, then of a page and of its ${down} x "
      .. "${across} parts" },
  pool_mean = pool("mean", 6, "mean of x[i][j] over i < rows"),
  pool_deviation = pool("deviation", 12, "deviation of x[i][j] over i < rows"),
  pool_mean_cut = pool_cut("mean", 6, "mean of x[i][j] over ${cut} <= i < rows - ${cut}"),
  pool_deviation_cut = pool_cut("deviation", 12, "deviation of x[i][j] over ${cut} <= i < rows - ${cut}"),
  pool_root = pool("root", 6, "(sum of x[i][j] over i < rows) / sqrt(rows)"),
  pool_weighted = pool("weighted", 8, "mean of x[i][j] over i < rows, with weights 1, 2, ..."),
  pool_max = pool("max", 6, "max of x[i][j] over i < rows"),
  pool_kept_mean = pool_kept("sum", ", 0, 0", "mean of x[i][j]"),
  pool_kept_root = pool_kept("sum", ", 0, 1", "1 / sqrt(number of rows) times the sum of x[i][j]"),
  pool_kept_weighted = pool_kept("sum", ", 1, 0", "mean of x[i][j] with weights i + 1"),
  pool_kept_max = pool_kept("max", "", "max of x[i][j]"),
  pool_kept_last = pool_kept("last", "", "the last of x[i][j]"),
  pool_row = { constants = "cols ldx", operands = { "y w cols", { "x", "r", one_row }, "row value" },
    cost = product("2 cols"), body = "attn2c_pool_row(y, x + (size_t)row * ${ldx}, ${cols})",
    equation = "y[j] = x[row][j]" },
  pool_last_but = pool_by_ids("last_but", "cols ldx pad", "rows value", "NULL, rows, ${cols}, ${ldx}, ${pad}, 1",
    "i < rows"),
  pool_kept_last_but = pool_by_ids("last_but", "rows cols ldx pad keeps", "mask r rows: i32",
    "mask, ${rows}, ${cols}, ${ldx}, ${pad}, ${keeps}", "(mask[i] != 0) == ${keeps}"),
  pool_ending = pool_by_ids("ending", "cols ldx ending", "rows value", "NULL, rows, ${cols}, ${ldx}, ${ending}, 1",
    "i < rows"),
  pool_kept_ending = pool_by_ids("ending", "rows cols ldx ending keeps", "mask r rows: i32",
    "mask, ${rows}, ${cols}, ${ldx}, ${ending}, ${keeps}", "(mask[i] != 0) == ${keeps}"),
  argmax = { constants = "rows cols ldx", operands = { "y w rows: i32", read() }, cost = each(16),
    equation = "y[i] = the index of the largest x[i][j]" },
  topk_values = { constants = "rows cols k ldx ldy", operands = { "y w rows x k / ldy", read() }, cost = each(64),
    equation = "y[i] = the ${k} largest x[i][j], descending" },
  topk_indices = { constants = "rows cols k ldx ldy", operands = { "y w rows x k / ldy: i32", read() }, cost = each(64),
    equation = "y[i] = the indices of the ${k} largest x[i][j]" },
}

steps.rows.rms_norm, steps.rows.rms_norm_heads, steps.rows.rms_norm_each = norms(16,
  "y[i] = x[i] / sqrt(mean of x[i]^2 + ${eps}) * gain", { gain })
steps.rows.layer_norm, steps.rows.layer_norm_heads, steps.rows.layer_norm_each = norms(22,
  "y[i] = (x[i] - mean) / sqrt(variance + ${eps}) * gain + bias", { gain, bias })

-- The operation of each number type but f32 that widens rows in a trace.
for _, type in ipairs(types.of_weights) do
  if type.rows then
    steps.rows["widen_" .. type.name] = of_rows(6, type.scales and "y = x, as float" or "y = x", nil, type.name)
  end
end

for _, entries in ipairs { of_experts, of_ranks, of_integers, of_kept, of_tables } do
  for name, entry in pairs(entries) do steps.rows[name] = entry end
end
for name, entry in pairs(steps.rows) do row_entries.complete(name, entry) end

-- The operand of a map is the tile that it works on, of the type that its constants name.
steps.map = { operands = { { "y", "rw", matrix("rows", "cols", "ld") } } }

local tile, row_of_tile = matrix("rows", "cols", "ld"), vector("cols")

-- Returns the footprint of the first element of each row.
local first_column = matrix("rows", "1", "ld")

local function single() return { first = 0 } end

-- Return the footprints where element (i, j) is at j - i, and at i ld - j.
local function band(c) return { first = 0, { c.rows, -1 }, { c.cols, 1 } } end
local function reversed(c) return { first = 0, { c.rows, c.ld }, { c.cols, -1 } } end

-- Elementwise operations run one after the other on each element of a tile while it is in the cache: v is the
-- element, i its row, j its column, %s the operation's operand, ${ld} its leading dimension. Each has at most one
-- operand, which goes by the name that the map gives it.
-- loads: true if it is the first of a map that reads another tile, whose row is ${row}
-- of_row: a line of C before the loop over a row's elements; without code, all that the operation does
-- before, after: its code instead, where a certain operation follows, or comes before
-- at_end, then_row: its code instead at the end of a map, and what follows for each row: %s is the row, and its columns
-- reads_rows: true if its operand is a tile of floats from elsewhere, which may be far from the core
steps.elementwise = {
  load = { loads = true, operands = { { "x", "r", tile } }, cost = each(4), code = "float v = %s[${row} * ${ld} + j];",
    equation = "%s" },
  load_integers = { loads = true, operands = { { "x", "r", tile, type = "i32" } }, cost = each(5),
    code = "float v = (float)%s[${row} * ${ld} + j];", equation = "%s" },
  -- these two follow each other: the second multiplies with what the first leaves of a row's scale (ops/quantise.h).
  -- That product is exact, so that a multiply-add with the bias has the same bits.
  scale_row = { operands = { { "r", "r", first_column } }, cost = each(2),
    of_row = "const float scale = %s[i * ${ld}], head = attn2c_scale_head(scale), rest = attn2c_scale_rest(scale);",
    code = "v = v * head;", equation = "v * %s[i]" },
  scale_column = { operands = { { "r", "r", row_of_tile } }, cost = each(6), code = "v = v * %s[j] * rest;",
    before = { bias = "v = v * %s[j];" }, at_end = "v = v * %s[j];", then_row = "attn2c_times_rest(%s, rest, %s);",
    equation = "v * %s[j]" },
  gate_rows = { operands = { { "r", "r", first_column } }, cost = each(2),
    of_row = "const float number_of_row = %s[i * ${ld}];", code = "v = v * number_of_row;", equation = "v * %s[i]" },
  bias = { operands = { { "r", "r", row_of_tile } }, cost = each(6), code = "v = v + %s[j];",
    after = { scale_column = "v = ATTN2C_FMA(v, rest, %s[j]);" }, equation = "v + %s[j]" },
  add = { operands = { { "r", "r", tile } }, cost = each(8), code = "v = v + %s[i * ${ld} + j];", reads_rows = true,
    equation = "v + %s[i][j]" },
  multiply = { operands = { { "r", "r", tile } }, cost = each(8), code = "v = v * %s[i * ${ld} + j];",
    reads_rows = true, equation = "v * %s[i][j]" },
  multiply_more = { operands = { { "r", "r", tile } }, cost = each(10),
    code = "v = (v + 1.0f) * %s[i * ${ld} + j];", reads_rows = true, equation = "(v + 1) * %s[i][j]" },
  activate = { operands = {}, cost = function(c) return activations[c.fn].cost * c.rows * c.cols end,
    code = "v = attn2c_${fn}(v);", equation = "${fn}(v)" },
  logarithm = { operands = {}, cost = each(24),
    code = "v = attn2c_log(v < ${least} ? ${least} : v) * ${factor} + ${shift};",
    equation = "${factor} ln(max(v, ${least})) + ${shift}" },
  clamp = { operands = {}, cost = each(4),
    code = "v = v < -${factor} ? -${factor} : v > ${factor} ? ${factor} : v;",
    equation = "min(max(v, -${factor}), ${factor})" },
  at_most = { operands = {}, cost = each(2), code = "v = v > ${factor} ? ${factor} : v;",
    equation = "min(v, ${factor})" },
  gain = { operands = { { "r", "r", row_of_tile } }, cost = each(6), code = "v = v * %s[j];", equation = "v * %s[j]" },
  -- Operations on scores and weights follow.
  scale = { operands = {}, cost = each(2), code = "v = v * ${factor};", equation = "${factor} v" },
  softcap = { operands = {}, cost = each(42), code = "v = ${factor} * attn2c_tanh(v / ${factor});",
    equation = "${factor} tanh(v / ${factor})" },
  scale_by = { operands = { { "r", "r", single } }, cost = each(2), code = "v = v * %s[0];", equation = "%s[0] v" },
  add_band = { operands = { { "r", "r", band } }, cost = each(8),
    code = "v = v + %s[(ptrdiff_t)j - (ptrdiff_t)i];", equation = "v + %s[j - i]" },
  -- These two follow each other: the first reads the number of a row by which the second multiplies.
  gate = { operands = { { "r", "r", first_column } }, cost = each(1), of_row = "const float gate = %s[i * ${ld}];",
    equation = "v + %s[i]" },
  add_gated_band = { operands = { { "r", "r", band } }, cost = each(9),
    code = "v = ATTN2C_FMA(gate, %s[(ptrdiff_t)j - (ptrdiff_t)i], v);", equation = "v %s[j - i]" },
  add_reversed = { operands = { { "r", "r", reversed } }, cost = each(12),
    code = "v = v + %s[(ptrdiff_t)(i * ${ld}) - (ptrdiff_t)j];", equation = "v + %s[i * ${ld} - j]" },
  keep = { operands = { { "r", "r", tile, type = "i32" } }, cost = each(8),
    code = "v = %s[i * ${ld} + j] ? v : -__builtin_inff();", equation = "(%s[i][j] ? v : -inf)" },
  mask_where = { operands = { { "r", "r", tile, type = "i32" } }, cost = each(8),
    code = "v = %s[i * ${ld} + j] ? -__builtin_inff() : v;", equation = "(%s[i][j] ? -inf : v)" },
  add_where = { operands = { { "r", "r", tile, type = "i32" } }, cost = each(8),
    code = "v = %s[i * ${ld} + j] ? v + ${value} : v;", equation = "(%s[i][j] ? v + ${value} : v)" },
  -- These two end a map: `round` one whose tile is bf16, whose rows it rounds (rounds); `round_floats` one whose tile
  -- is f32, whose rows it rounds in place after other operations (in_place).
  round = { operands = {}, cost = each(8), rounds = true, equation = "bf16(v)" },
  round_floats = { operands = {}, cost = each(8), code = "v = attn2c_on_bf16(v);",
    in_place = "attn2c_round_floats(%s, %s);", equation = "bf16(v)" },
  weigh = { operands = {}, cost = each(4), code = "v = v == -__builtin_inff() ? 0.0f : v * ${factor};",
    equation = "${factor} v, 0 where -inf" },
  weigh_relu = { operands = {}, cost = each(4), code = "v = attn2c_relu(v * ${factor});",
    equation = "max(${factor} v, 0)" },
}

--- Returns the values that an elementwise operation's code and equation may name. row: the row of the tile that a
--- load reads, in C; only used by the code.
function steps.constants_of(operation, row)
  return { row = row, ld = operation.ld or 0, fn = operation.fn or "", factor = operation.factor,
    value = operation.value, least = operation.least, shift = operation.shift }
end

--- Returns a constant as C; floats read back exactly.
function steps.constant(value)
  if value == math.huge or value == -math.huge then return (value < 0 and "-" or "") .. "__builtin_inff()" end
  if math.type(value) == "float" then
    local digits = ("%.9g"):format(value)
    return digits:find("[%.e]") and digits .. "f" or digits .. ".0f"
  end
  return tostring(value)
end

--- Replaces ${name} by values of a table, which must have every name.
function steps.fill(text, values)
  return (text:gsub("%${([%w_]+)}", function(name)
    local value = values[name]
    assert(value ~= nil, name)
    return steps.constant(value)
  end))
end

return steps
