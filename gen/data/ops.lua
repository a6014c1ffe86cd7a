-- ops.lua: declares the graph's operations: operands, attributes, shape rule, flop rule and equation.
-- The graph pass, the descriptor, dumps and docs read this table. The reference has its own, runtime/reference/table.h.
--
-- Shapes: B sequences, S queries, T keys, H heads, D head_dim; N any rows. Attributes that an op does not list are
-- options of some models; absent, they are 0 (kv_heads: heads).
--
-- operands and attributes are words of a text; operands with ? may be missing. The usual operand is x, there are no
-- attributes, and the result has the shape of the first operand.
--
-- wide: true if the op's result is integers whose last dimension is the width of a row; else each is a row.
--
-- arithmetic: for an op without flops, its additions, multiplications, comparisons and divisions for each element of
-- the result, or of the operand `arithmetic_of`; 1 if it is not given. An elementary function counts as its polynomial.
--
-- class: further facts that passes need and, through the descriptor, the runtime:
--
--   region     "rows": the op works on single rows, of whatever sequence; "attention": it begins an attention, whose
--              ops up to the context are planned together; nil: it takes a sequence as a whole
--   product    true if the op multiplies rows by a packed weight; packed: the name of another operand packed in panels,
--              one for each head if the op has the attribute `table_heads`
--   looks_up   the name of an operand whose rows it looks up, be they packed as rows or in a product's panels
--   epilogue   true if the op may be part of an epilogue: done on another op's tile while it is in the cache
--   takes_epilogue  true if the op may have an epilogue
--   ends_epilogue  true if it may be the last of an epilogue, also if its operand is read elsewhere or has another type
--   in_place   true if it may write over its operand
--   in_place_of_floats   true if it may write over the floats that it reads, each row over the first bytes of its own
--   role       its result in terms of an attention's scores, one of ops.roles; it tells how a static mask of the
--              scores applies to the result (check_mask.c)
--   dots       true if its scores are products of queries and keys
--   own_keys   true if it touches only the queries' own keys, not those that all queries see
--   heads_as_rows  true if its steps take the heads of one query as the rows of a tile
--   in_chunks  true if its weights can be computed one chunk of keys at a time
--   pools      true if its result has one row for each sequence
--   keeps      true if a state keeps its result, which other entries read
--   reads_before   true if a row of its result reads rows of x before it, which a state keeps, and none after it
--   windows    true if a row of its result reads the rows around it, so that ops before it are in regions of their own
--   adjacent   true if the rows of its result have no space between them
--   in_row_blocks  true if it reads a whole sequence, and writes one row block of its result at a time
--   by_row     the operands of which row i (of an attention: query i), with numbers that all rows share, makes row i
--              of the result: a choice of rows may be made before the op (graph/asked.lua)
--   by_position  true if it also reads row i of tables. A choice of the same row of all sequences, the attribute `row`,
--              may be made before it
--   alike      a function of the attributes that says whether all rows share the other operands; nil: they do
--   mixes_rows   true if a row of its result reads other rows of its block, as rows that are sorted by experts do
--   of_ranks   true if it exists only in the graph of a rank, which the reference never sees (passes/ranks.lua)
--   meeting    true if ranks do it together: it is a region by itself
--   sends      true if its result, which nobody reads, stands for what another stage takes
local of_experts = require("data.ops_experts")
local shapes = require("common.shapes")
local types = require("data.types")
local visible = require("data.visible")
local words = require("common.words")

local rows_of, with_last = shapes.rows, shapes.with_last

local ops = {}

--- Roles in an attention, in the order of attn2c_role in descriptor.h, which begins with none.
ops.roles = { "makes_scores", "scores_to_scores", "scores_to_weights", "weights_to_weights", "mean_of_weights",
  "reads_weights" }

-- Returns the flops of a product of scores or context: only the pairs that the static mask leaves count.
local function attention_flops(attributes, batch, queries, keys, width)
  return 2 * batch * width * visible.pairs(attributes, queries, keys)
end

-- Classes of operations on rows of x: on each; on each in its place; the same with an epilogue; on each element.
local each_row = { region = "rows", by_row = { "x" } }
local in_place = words.merged(each_row, { in_place = true })
local leads_in_place = words.merged(in_place, { takes_epilogue = true })
local elementwise = words.merged(each_row, { takes_epilogue = true, epilogue = true })
local elementwise_of_two = words.merged(elementwise, { by_row = { "a", "b" } })

-- The class of an operation on elements of scores, or of rows.
local each_element = { role = "scores_to_scores", region = "rows", takes_epilogue = true, epilogue = true,
  heads_as_rows = true, by_row = { "x" } }

local mask_attributes = "heads causal left right"

-- True if an array of scores has one row for all queries.
local function has_one_row(a) return a.shape == 0 end

-- True if a static mask lets all queries of an attention see the same keys.
local function sees_alike(a) return not a.causal and a.left < 0 and a.right < 0 and not a.prefix end

local function product_shape(_, x, weight) return with_last(x.shape, weight.shape[1]) end

local function product_flops(_, x, weight) return 2 * rows_of(x.shape) * weight.shape[1] * weight.shape[2] end

local function scores_shape(a, q, k) return { q.shape[1], a.heads, q.shape[2], k.shape[2] } end

local function scores_flops(a, q, k) return attention_flops(a, q.shape[1], q.shape[2], k.shape[2], q.shape[3]) end

-- Returns the flops of a product of a query or key with the row of a table for each distance.
local function distance_flops(a, scores, _, tbl)
  local shape = scores.shape
  return 2 * shape[1] * shape[2] * shape[3] * (shape[4] - (a.extra or 0)) * tbl.shape[2]
end

local function context_width(a, v) return v.shape[3] // (a.kv_heads or a.heads) * a.heads end

local function context_shape(a, weights, v) return { weights.shape[1], weights.shape[3], context_width(a, v) } end

local function context_flops(a, weights, v)
  return attention_flops(a, weights.shape[1], weights.shape[3], weights.shape[4], context_width(a, v))
end

-- The shape that an attribute gives: numbers with commas between them.
local function written_shape(a)
  return words.map(words.list(a.shape, "%d+"), function(size) return math.tointeger(tonumber(size)) end)
end

ops.table = {
  linear = { class = { region = "rows", product = true, takes_epilogue = true, by_row = { "x" } },
    operands = "x weight bias? pairs?", shape = product_shape, flops = product_flops,
    equation = "x · Wᵀ + b; with pairs: of windows of 3 rows, 2 apart, whose pair_rows these are, two at a time by "
      .. "Winograd's five products in place of six" },
  adapt = { class = { region = "rows", takes_epilogue = true, in_place = true, by_row = { "x", "rows" } },
    operands = "x rows inputs outputs adapters", attributes = "first",
    equation = "x + rows · Aᵀ · B, with the rows of inputs (A) and outputs (B) from first[n - 1] to first[n] - 1, "
      .. "where n is the number in adapters for the sequence of a row; x where it is 0", arithmetic = 2 },
  round = { class = { region = "rows", epilogue = true, ends_epilogue = true, in_place = true, by_row = { "x" } },
    equation = "x rounded to the nearest bf16, ties to even", arithmetic = 2 },
  round_weights = { class = { role = "weights_to_weights", heads_as_rows = true, by_row = { "weights" } },
    operands = "weights", type = "bf16", equation = "weights rounded to the nearest bf16, ties to even",
    arithmetic = 2 },
  row_scale = { class = { region = "rows", by_row = { "x", "guard" } }, operands = "x factors? guard?",
    shape = function(a, x) return with_last(x.shape, a.heads or 1) end,
    equation = "max |x factors| / 127, over the last dimension (or over a head's part of it), and at least 2^-125; a "
      .. "factor a column; NaN where the guard has a number that is not finite; bits 4: / 16", arithmetic = 2,
    arithmetic_of = "x" },
  gather_columns = { class = each_row, operands = "x order",
    shape = function(_, x, order) return with_last(x.shape, order.shape[1]) end,
    equation = "column order[j] of x as column j", arithmetic = 0 },
  quantise_blocks = { class = each_row, type = types.coarse,
    equation = "x as scale times an integer from -127 to 127, rounded to the nearest, ties to even; 32 numbers of a "
      .. "row share a scale, the largest magnitude / 127", arithmetic = 4 },
  quantise_blocks_finely = { class = each_row, type = types.fine,
    equation = "x as scale / 128 times an integer from -16256 to 16256, rounded to the nearest, ties to even; 32 "
      .. "numbers of a row share a scale, the largest magnitude / 127", arithmetic = 4 },
  quantise = { class = { region = "rows", in_place_of_floats = true, by_row = { "x", "scale" } },
    operands = "x scale factors?", type = types.quantised,
    equation = "x factors (1 / scale of its row, or of a head's part of it) rounded to the nearest integer, ties to "
      .. "even; 0 where the scale is not finite; bits 4: to the nearest odd integer from -15 to 15, then 1",
    arithmetic = 3 },
  keep = { class = { keeps = true }, operands = "x scale?",
    equation = "x, which the state of a sequence keeps for other entries; scale: of integers", arithmetic = 0 },
  centre = { operands = "x lengths?",
    equation = "x less its mean over the rows of a sequence, or over the first lengths of them", arithmetic = 2 },
  column_scale = { operands = "x lengths?", shape = function(_, x) return { x.shape[1], 1, x.shape[3] } end,
    equation = "max |x| / 127 over the rows of a sequence, or over the first lengths of them, and at least 2^-125; "
      .. "numbers that are not finite do not count", arithmetic = 2, arithmetic_of = "x" },
  quantise_columns = { operands = "x scale lengths?", type = "s8",
    equation = "x (1 / scale of its column) rounded to the nearest integer, ties to even; 0 where x is not finite, and "
      .. "after the first lengths rows", arithmetic = 2 },
  linear_integers = { class = { region = "rows", product = true, takes_epilogue = true, by_row = { "x" } },
    operands = "x weight", type = "i32", wide = true, shape = product_shape, flops = product_flops,
    equation = "x · Wᵀ, in integers" },
  dequantise = { class = { region = "rows", takes_epilogue = true, epilogue = true, by_row = { "x", "row_scale" } },
    operands = "x row_scale scale bias?", equation = "x row_scale scale + bias: scales of the row and of the column",
    arithmetic = 3 },
  embed = { class = { region = "rows", takes_epilogue = true, looks_up = "table" }, operands = "ids table scale?",
    arithmetic = 0, shape = function(_, ids, tbl) return { ids.shape[1], ids.shape[2], tbl.shape[2] } end,
    equation = "table[ids], times its row's scale" },
  embed_boxes = { class = { region = "rows", takes_epilogue = true }, operands = "boxes table sizes?", arithmetic = 5,
    shape = function(_, x, t, h) return with_last(x.shape, h and 4 * t.shape[2] + 2 * h.shape[2] or t.shape[2]) end,
    equation = "the sum of six rows of a table in four parts, x, y, h and w, for a box (left, upper, right, lower): "
      .. "x[left], x[right], y[upper], y[lower], h[|lower - upper|], w[|right - left|]; with sizes, which has h and w, "
      .. "these rows side by side, x[left], y[upper] first; negative sizes count as 0" },
  grid_positions = { operands = "shapes table", attributes = "rows",
    shape = function(a, x, tbl) return { x.shape[1], a.rows, tbl.shape[2] } end, arithmetic = 8,
    equation = "a table of a square grid, resized to the rows and columns of a sequence's shape; 0 in rows after "
      .. "them" },
  drop_tokens = { operands = "x ids lengths?", attributes = "id share",
    equation = "0 in rows with this id; the others times (1 - share) / (1 - the id's share of the sequence, or of the "
      .. "first lengths rows)", arithmetic = 2 },
  own_ids = { class = { region = "rows", of_ranks = true }, operands = "ids", attributes = "first", type = "i32",
    equation = "ids less the rank's first row of a table; 0 for rows of other ranks", arithmetic = 2 },
  sum_ranks = { class = { region = "rows", of_ranks = true, meeting = true, in_place = true }, operands = "x ids?",
    equation = "the sum of all ranks' x; with ids, of the rows whose ids are the rank's own", arithmetic = 1 },
  gather_ranks = { class = { region = "rows", of_ranks = true, meeting = true }, attributes = "first",
    shape = function(a, x) return with_last(x.shape, math.tointeger(tonumber(a.first:match("%d+$")))) end,
    equation = "the columns of all ranks' x, one rank after the other", arithmetic = 0 },
  own_columns = { class = { region = "rows", of_ranks = true }, attributes = "starts columns",
    shape = function(a, x) return with_last(x.shape, a.columns) end, equation = "the rank's own columns of x",
    arithmetic = 0 },
  pass_on = { class = { region = "rows", of_ranks = true, meeting = true, sends = true },
    equation = "x, which the next stage takes", arithmetic = 0 },
  take_on = { class = { region = "rows", of_ranks = true, meeting = true }, operands = "", attributes = "shape",
    shape = written_shape, arithmetic = 0, equation = "the result of this name of the stage before" },
  give_output = { class = { region = "rows", of_ranks = true, meeting = true, sends = true },
    equation = "x, an output, which all other stages take", arithmetic = 0 },
  take_output = { class = { region = "rows", of_ranks = true, meeting = true }, operands = "", attributes = "shape",
    shape = written_shape, equation = "the output of this name of the last stage", arithmetic = 0 },
  add = { class = elementwise_of_two, operands = "a b",
    equation = "a + b, b repeated over the leading dimensions it lacks" },
  copy = { class = each_row, equation = "x", arithmetic = 0 },
  activate = { class = elementwise, attributes = "function", equation = "function(x)" },
  clamp = { class = elementwise, attributes = "limit",
    equation = "x, at least -limit and at most limit; only_above: at most limit", arithmetic = 2 },
  multiply = { class = elementwise_of_two, operands = "a b",
    equation = "a b, b repeated over the leading dimensions it lacks; plus_one: (a + 1) b" },
  gate_rows = { class = elementwise_of_two, operands = "a b", equation = "a times number `column` (0) of a row of b" },
  logarithm = { class = elementwise, attributes = "least factor shift", equation = "factor ln(max(x, least)) + shift",
    arithmetic = 16 },
  channel_factors = { operands = "x gain bias", attributes = "eps",
    shape = function(_, x) return { x.shape[1], 2, x.shape[3] } end,
    equation = "row 0: gain / sqrt(the sum of the squares of rows 1 on + eps); row 1: bias - row 0 of x times that. "
      .. "With x the mean and the factor L of a covariance L Lᵀ, both times a weight, they normalise its channels",
    arithmetic = 2, arithmetic_of = "x" },
  scale_columns = { class = elementwise, operands = "x factors", equation = "x times row 0 of factors + row 1",
    arithmetic = 2 },
  scale = { class = each_element, attributes = "factor", equation = "factor x" },
  swap = { shape = function(_, x) return { x.shape[2], x.shape[1], x.shape[3] } end,
    equation = "x with its first two axes exchanged", arithmetic = 0 },
  split_heads = { attributes = "heads",
    shape = function(a, x) return { x.shape[1], a.heads, x.shape[2], x.shape[3] // a.heads } end,
    equation = "rows [batch][rows][heads head_dim] as [batch][heads][rows][head_dim]", arithmetic = 0 },
  join = { operands = "a b?", attributes = "batch zeros",
    shape = function(a, x, y)
      local function rows(tensor) return tensor and tensor.shape[#tensor.shape - 1] or 0 end
      local width = x.shape[#x.shape] * (#x.shape == 4 and x.shape[2] or 1)
      return { a.batch, a.rows or (a.zeros_before or 0) + rows(x) + rows(y) + a.zeros, width }
    end,
    equation = "the rows of a, of b, then rows of zeros, of each sequence, after zeros_before of them; a row of "
      .. "[batch][heads][rows][head_dim] is that of all heads; with the attribute `rows` only the first of a",
    arithmetic = 0 },
  page_places = { class = { adjacent = true }, type = "i32", wide = true, operands = "boxes",
    attributes = "across down", shape = function(a, x) return { x.shape[1], x.shape[2] + a.across * a.down + 1, 4 } end,
    equation = "left, place in the sequence, right and lower of boxes, then of a page, and of its down x across parts, "
      .. "whose places begin again at 0", arithmetic = 0 },
  patches = { class = { in_row_blocks = true }, attributes = "patch",
    shape = function(a, x)
      local p = a.patch
      return { x.shape[1], x.shape[3] // p * (x.shape[4] // p), x.shape[2] * p * p }
    end, equation = "patches of an image, row by row, each [channels][patch][patch]", arithmetic = 0 },
  patches_of_columns = { class = { in_row_blocks = true }, attributes = "patch row_stride column_stride",
    shape = function(a, x)
      local down, across = (x.shape[3] - a.patch) // a.row_stride + 1, (x.shape[2] - a.patch) // a.column_stride + 1
      return { x.shape[1], down * across, a.patch * a.patch }
    end,
    equation = "patches of an image that comes in column by column, row by row, each [patch][patch]; a stride apart",
    arithmetic = 0 },
  neighbours = { operands = "x lengths?", attributes = "kernel",
    shape = function(a, x) return with_last(x.shape, a.kernel * x.shape[3]) end,
    equation = "each column of a row with this column of the rows around it, `kernel` in all; 0 before the first row "
      .. "of a sequence and after its last, or after the first lengths of them; with the attribute dilation: the rows "
      .. "around it, this far apart, one after the other", arithmetic = 0 },
  windows = { class = { in_row_blocks = true }, attributes = "kernel stride",
    shape = function(a, x) return { x.shape[1], (x.shape[2] - a.kernel) // a.stride + 1, a.kernel * x.shape[3] } end,
    equation = "rows stride i to stride i + kernel - 1 of a sequence, side by side, as row i", arithmetic = 0 },
  pair_rows = { class = { in_row_blocks = true },
    shape = function(_, x) return { x.shape[1], ((x.shape[2] - 1) // 2 + 1) // 2, 4 * x.shape[3] } end,
    equation = "of rows x0 to x4, from row 4 i of a sequence on: x0 - x2, x1, x3 and x4 - x2, side by side, as row i; "
      .. "0 stands after its last row" },
  convolve = { class = { region = "rows", product = true, windows = true, takes_epilogue = true },
    operands = "x weight bias? lengths?", attributes = "kernel groups", shape = product_shape, flops = product_flops,
    equation = "for each group of columns: the kernel rows from row i - kernel // 2 on, side by side, · Wᵀ + b, with "
      .. "the group's rows of W; 0 stands before the first row of a sequence and after its last, or after the first "
      .. "lengths of them" },
  convolve_columns = { class = { reads_before = true }, operands = "x weight bias?", attributes = "kernel",
    flops = function(a, x) return 2 * rows_of(x.shape) * x.shape[3] * a.kernel end,
    equation = "each column by itself: b and the sum over t < kernel of x[i - kernel + 1 + t] w[t], in this order, "
      .. "with 0 before the first row of a sequence" },
  recurrent = { operands = "x weight lengths? marks?", attributes = "directions",
    shape = function(_, x) return with_last(x.shape, x.shape[3] // 4) end,
    flops = function(a, x, weight) return 2 * rows_of(x.shape) * x.shape[3] * weight.shape[1] // a.directions end,
    equation = "for each direction h = s(o) tanh(c), where c = s(f) c' + s(i) tanh(g), with the sigmoid s and (i, f, "
      .. "g, o) = x + h' · W; h' and c' are of the row before, for the second direction of the row after; rows whose "
      .. "mark is not 1, and those after lengths, are passed over, and are 0" },
  match_labels = { operands = "x labels weight out marks lengths?", attributes = "most",
    shape = function(a, x, _, _, out) return with_last(x.shape, a.most * out.shape[2]) end,
    equation = "a row with the mark 1 is a word, and one with the mark 2 a label, of which a sequence has at most "
      .. "`most`: the scores of each word for each label, (relu((x', l', x\" l\", 1) · W), 1) · out, with the halves "
      .. "x' and x\" of the word's row, l' and l\" of the label's; 0 for other rows, also for those after lengths" },
  rms_norm = { class = leads_in_place, operands = "x gain?", attributes = "eps",
    equation = "x / sqrt(mean(x^2) + eps) * gain, over the last dimension, or over each of its `heads` parts; with the "
      .. "attribute each: a gain of each part", arithmetic = 5 },
  normalise = { class = in_place, attributes = "eps", equation = "x / max(|x|, eps), over the last dimension",
    arithmetic = 3 },
  row_length = { class = each_row, shape = function(_, x) return with_last(x.shape, 1) end,
    equation = "|x|, of each row", arithmetic = 2, arithmetic_of = "x" },
  sparsify = { class = leads_in_place, attributes = "factor",
    equation = "max(x - mean - factor deviation, 0), over the last dimension", arithmetic = 7 },
  share = { class = in_place, attributes = "eps", equation = "x / (sum + eps), over the last dimension",
    arithmetic = 2 },
  softmax_rows = { class = in_place, equation = "exp(x - max) / sum, over the last dimension", arithmetic = 15 },
  log_softmax = { class = in_place, equation = "x - max - log(sum of exp(x - max)), over the last dimension",
    arithmetic = 15 },
  rotate = { class = { region = "rows", in_place = true, by_row = { "x" }, by_position = true },
    operands = "x cosines sines", attributes = "heads pairs",
    equation = "pairs of a head's dimensions rotated by an angle of their position, or of position `row`",
    arithmetic = 3 },
  hadamard = { class = leads_in_place, attributes = "heads block",
    equation = "x with each `block` numbers of a head multiplied by the Hadamard matrix of that size / sqrt(block)",
    arithmetic = 7 },
  layer_norm = { class = leads_in_place, operands = "x gain? bias?", attributes = "eps",
    equation = "(x - mean) / sqrt(variance + eps) * gain + bias, over the last dimension, or over each of its `heads` "
      .. "parts; with the attribute each: a gain of each part", arithmetic = 8 },
  scores = { class = { region = "attention", role = "makes_scores", dots = true, by_row = { "q" }, alike = sees_alike },
    operands = "q k lengths? k_scale?", attributes = mask_attributes, shape = scores_shape, flops = scores_flops,
    equation = "q · kᵀ a head, -inf where masked; integers k times the scale of a row's head" },
  scores_of_integers = {
    class = { region = "attention", role = "makes_scores", dots = true, by_row = { "q", "q_scale" },
      alike = sees_alike }, operands = "q k q_scale k_scale lengths?", attributes = mask_attributes,
    shape = scores_shape, flops = scores_flops,
    equation = "q · kᵀ a head, in integers, times the scales of the query and of the key; -inf where masked" },
  additive_scores = { class = { region = "attention", role = "makes_scores", by_row = { "q" }, alike = sees_alike },
    operands = "q k score lengths?", attributes = mask_attributes, shape = scores_shape,
    equation = "score · tanh(q + k) a head, -inf where masked" },
  add_relative = { class = { role = "scores_to_scores", packed = "table" }, operands = "scores x table",
    attributes = "keys", flops = distance_flops, equation = "scores + x · table[distance], x the query or the key" },
  add_disentangled = { class = { role = "scores_to_scores", packed = "table" }, operands = "scores x table",
    attributes = "keys reach table_heads", flops = distance_flops,
    equation = "scores + x · table[head][reach + distance], x the key, or table[head][reach - distance], x the query" },
  softcap = { class = each_element, attributes = "cap", equation = "cap tanh(x / cap)" },
  add_distance = { class = { role = "scores_to_scores", own_keys = true, heads_as_rows = true },
    operands = "scores table", equation = "scores + table[head][distance]" },
  add_gated = { class = { role = "scores_to_scores", own_keys = true }, operands = "scores table gates",
    equation = "scores + gates[query][head] table[head][distance]" },
  add_places = { class = { role = "scores_to_scores", own_keys = true }, operands = "scores boxes across down along?",
    equation = "scores + across[head][left of the key - left of the query] + down[head][lower - lower] of boxes, and "
      .. "along[head][upper - upper], where places of the sequence take the place of upper sides" },
  position_gates = { class = each_row, operands = "x weight bias factors", attributes = "heads",
    shape = function(a, x) return with_last(x.shape, a.heads) end,
    equation = "a (b factor - 1) + 2 a head, a the sigmoid of the sum of the first half of x · Wᵀ + b, b of the second",
    arithmetic = 16, arithmetic_of = "x" },
  add_array = { class = { role = "scores_to_scores", own_keys = true, by_row = { "scores" }, alike = has_one_row },
    operands = "scores array", attributes = "shape", equation = "scores + array" },
  block_array = { class = { role = "scores_to_scores", own_keys = true, by_row = { "scores" }, alike = has_one_row },
    operands = "scores array", attributes = "shape",
    equation = "-inf (or scores + value) where the array is not 0, else scores" },
  add_length = { class = { role = "scores_to_scores", by_row = { "scores" } }, operands = "scores lengths",
    attributes = "value", equation = "scores + value where the key is after its sequence's end, else scores" },
  bucket_table = {
    operands = "table index", unbatched = true, -- one for all sequences
    shape = function(_, tbl, index) return { tbl.shape[2], index.shape[1] } end,
    equation = "table[index[distance]][head]",
  },
  weigh = { class = { role = "scores_to_weights", by_row = { "scores" } }, operands = "scores",
    attributes = "relu scale", equation = "scale scores, or max(scale scores, 0); 0 where masked" },
  head_scale = { class = { role = "weights_to_weights", by_row = { "weights" } }, operands = "weights factors",
    attributes = "layer", equation = "weights factors[layer][head]" },
  mean_heads = { class = { role = "mean_of_weights", in_row_blocks = true }, operands = "weights",
    shape = function(_, w) return { w.shape[1], w.shape[3], w.shape[4] } end,
    equation = "mean of the weights over heads" },
  softmax = { class = { role = "scores_to_weights", in_chunks = true, heads_as_rows = true, by_row = { "scores" } },
    operands = "scores sinks?", attributes = "scale",
    equation = "exp(scale (s - max)) / sum, by row; a row of -inf only gives 0; with sinks: exp(sink of the head) is a "
      .. "term of the sum", arithmetic = 15 },
  context = { class = { role = "reads_weights", by_row = { "weights" }, alike = sees_alike },
    operands = "weights v lengths? v_scale?", attributes = mask_attributes, shape = context_shape,
    flops = context_flops,
    equation = "weights · v a head, over the keys that are not masked; integers v times the scale of a row's head" },
  exponentials = { class = { role = "scores_to_weights", by_row = { "scores" } }, operands = "scores",
    attributes = "scale", equation = "255 exp(scale (s - max)), by row; a row of -inf only gives 0", arithmetic = 13 },
  round_to_bytes = { class = { role = "weights_to_weights", by_row = { "weights" } }, operands = "weights", type = "u8",
    equation = "weights from 0 to 255 rounded to the nearest integer, ties to even; 0 for NaN", arithmetic = 1 },
  weight_scale = { class = { by_row = { "weights", "exact" } }, operands = "weights exact",
    shape = function(_, x) return with_last(x.shape, 1) end,
    equation = "1 / the sum of a row's weights, 1 if that is 0; NaN if one was NaN before it was rounded",
    arithmetic = 1, arithmetic_of = "weights" },
  context_of_integers = {
    class = { role = "reads_weights", by_row = { "weights", "weight_scale" }, alike = sees_alike },
    operands = "weights v weight_scale v_scale", attributes = mask_attributes, shape = context_shape,
    flops = context_flops,
    equation = "weights · v a head, in integers, times the scales of the row of weights and of the column of values" },
  pool = { class = { pools = true }, operands = "x lengths? mask? ids?", attributes = "function",
    shape = function(a, x)
      local _, more = a["function"]:gsub(" ", "")
      local width = (more + 1) * x.shape[3]
      return a.row and { x.shape[1], 1, width } or { x.shape[1], width }
    end,
    equation = "mean, max, first, ... of a sequence's rows (patches: the mean from row `tokens` on; tokens: of those "
      .. "before), of the first lengths of them, or of those that a mask keeps; several are concatenated; with the "
      .. "attribute `row` the result is a sequence of one row; with ids the last row is that of the last id but `pad`, "
      .. "or of the first id `ending` (-1: of the first largest id), or row 0; with cut, mean and deviation leave out "
      .. "rows at both ends" },
  argmax = { class = { region = "rows" }, type = "i32",
    shape = function(_, x) return table.move(x.shape, 1, #x.shape - 1, 1, {}) end,
    equation = "the index of the largest, the first of equals", arithmetic = 1, arithmetic_of = "x" },
  topk_values = { class = { region = "rows" }, attributes = "k",
    shape = function(a, x) return with_last(x.shape, a.k) end,
    equation = "the k largest of a row, descending, the first of equals first", arithmetic = 1, arithmetic_of = "x" },
  topk_indices = { class = { region = "rows" }, attributes = "k", type = "i32", wide = true,
    shape = function(a, x) return with_last(x.shape, a.k) end,
    equation = "the indices of the k largest of a row, the first of equals first", arithmetic = 1,
    arithmetic_of = "x" },
}
for name, declared in pairs(of_experts.table) do ops.table[name] = declared end
for _, declared in pairs(ops.table) do
  local operands = declared.operands or "x"
  declared.optional = words.set(words.list(operands, "(%S+)%?"))
  declared.operands, declared.attributes = words.list(operands, "[^ ?]+"), words.list(declared.attributes or "")
  declared.shape = declared.shape or function(_, first) return first.shape end
end

local none = {}

--- Returns the inputs of a product that is an op of a graph: numbers of x that an element of the result reads.
function ops.inputs(op)
  local width = op.operands.x.shape[#op.operands.x.shape]
  if op.operands.groups then return of_experts.inputs(op.operands.x, op.operands.groups) end
  return ops.class(op).windows and op.attributes.kernel * width // op.attributes.groups or width
end

ops.choices = of_experts.choices

--- Returns the outputs of a product that is an op of a graph, of experts: of each.
function ops.outputs(op)
  local weight = op.operands.weight
  return weight.shape[1] // (weight.experts or 1)
end

--- Returns the class of an op of a graph, or of the op with a name.
function ops.class(op) return ops.table[op.op or op].class or none end

--- Returns an op. operands: name -> tensor. Errors (defects of the caller) on a wrong operand or attribute.
function ops.make(name, section, operands, attributes)
  local declared = assert(ops.table[name], name)
  local list = words.map(declared.operands, function(operand)
    local tensor = operands[operand]
    assert(tensor or declared.optional[operand], name .. " lacks " .. operand)
    return tensor or false
  end)
  for operand in pairs(operands) do
    local known = words.any(declared.operands, function(each) return each == operand end)
    assert(known, name .. " has no operand " .. operand)
  end
  for _, attribute in ipairs(declared.attributes) do
    assert(attributes[attribute] ~= nil, name .. " lacks attribute " .. attribute)
  end
  return {
    op = name, section = section, operands = operands, attributes = attributes,
    shape = declared.shape(attributes, table.unpack(list)), type = declared.type or "f32",
    unbatched = declared.unbatched, wide = declared.wide,
    flops = declared.flops and declared.flops(attributes, table.unpack(list)) or 0,
  }
end

return ops
