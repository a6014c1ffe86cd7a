-- types.lua: lists the number types of tensors and kernels, and rounds sizes to cache lines.
-- Passes exchange sizes and offsets in bytes; only this file converts elements to bytes and back.
local words = require("common.words")

local types = {}

--- Bytes of a cache line. Every buffer and every panel of a weight begins at a multiple.
types.LINE = 64

local GROUP = 4 -- bytes

--- Inputs of a scale block, of the pair that a step takes, and of a unit; outputs of a panel of such weights.
types.SCALE_BLOCK, types.SCALE_PAIR, types.SCALE_UNIT, types.SCALE_PANEL = 32, 64, 256, 16

--- The widths that experts read are multiples of this, so that rows of all number types are whole groups.
types.EXPERT_UNIT = 4

--- The types of rows that products with weights in scale blocks read: integers of 8 bits, and of 15.
types.coarse, types.fine = "x8", "x15"

--- The most bits of an integer of the types in scale blocks whose scales packing searches
--- (runtime/packing/scale_search.h).
types.SEARCHED_BITS = 4

-- The planes of an integer: bits of the low plane and of the high one, by all bits.
local planes = { [2] = { 2, 0 }, [3] = { 2, 1 }, [4] = { 4, 0 }, [5] = { 4, 1 }, [6] = { 4, 2 }, [8] = { 8, 0 } }

-- Completes the record of a type in scale blocks.
local function scaled(record)
  local block = record.block
  block.scales, block.minimum, block.step = block.scales or 1, block.minimum or false, block.step or 1
  block.planes = planes[block.bits]
  --- Bytes of a block's minima, and of all of a block, of one output.
  block.scale_bytes = block.unit and 1 or block.scale_bytes
  block.minimum_bytes = block.minimum and block.unit ~= 4 and block.scales * block.scale_bytes or 0
  block.bytes = block.scales * block.scale_bytes + block.minimum_bytes + types.SCALE_BLOCK * block.bits // 8
  --- Bytes of the units of 256 inputs of an output, each an f16.
  block.unit_bytes = not block.unit and 0 or block.minimum and 4 or 2
  record.bits, record.c, record.rows = 8, "uint8_t", types.coarse
  record.panel = types.SCALE_PANEL
  return record
end

-- The numbers that the integers of some types are the indices of, by the format that has them: E2M1, doubled (Open
-- Compute Project, Microscaling Formats 1.0), and formats of ggml.
local of_e2m1 = { -12, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 12 }
local of_iq4 = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 }
local of_iq3_s = { -15, -13, -11, -9, -7, -5, -3, -1, 1, 3, 5, 7, 9, 11, 13, 15 }
local of_iq3_xxs = { -62, -52, -44, -36, -28, -20, -12, -4, 4, 12, 20, 28, 36, 44, 52, 62 }
local of_iq2 = { -43, -25, -8, 8, 25, 43 }

--- Number types. The runtime has them in base/tables.h, which `make headers` writes. bits: of an element; c:
--- the type in C. A group is the elements in 4 bytes: inputs of one output, next to each other in a panel of weights.
--- is_of_attention: true if only tensors within an attention have it, and no file or caller.
--- A type that weights may have also has these fields:
--- word: its name in descriptions and messages
--- also: other words for it, which messages about a description explain
--- start: rows of s32 before the groups of a panel, one of which holds the first values of a target's sums; nil: none
--- scales: true if each output has a scale, in a weight of its own
--- rows: what is done to the rows that its products read: "round": to the type's numbers, which a target may store as
---   floats; "quantise": to integers with a scale for each row, whose outliers factors divide. nil: nothing
--- sum: the type of a product's sums, if not f32
--- attention: true if the products of an attention may have the type
--- flushes: true if its products take denormals for zero
--- libxsmm: true if libxsmm may make its products, or the target's form for them (data/targets.lua) that it must have
--- few_rows: the most rows of a single strip that prefetches one line of each pair. Such a strip reads as fast as
---   memory gives. A Zen 4 then takes 1.2 to 1.9 times as long if all lines are asked for, and processors of Intel read
---   lines in pairs. nil: there are no such strips
--- few_rows_of_pairs: the same for panels of which a step reads one pair of lines. With more rows, such strips of f32
---   take 1.5 times as long on a Zen 4 if they ask for one of each pair. nil: as few_rows
--- bit: in the field of a packed file that says which types the file contains; it never changes
---
--- Weights of integers in scale blocks, 32 inputs of one output that share a scale (runtime/ops/product/scaled.h), have
--- these fields. Their elements are the bytes of the packed form:
--- weights: its name in the key `weights`; rows: the type of the rows that its products usually read
--- block: { bits: of an integer; scale_bytes: of a scale, 2 for f16, 4 for f32, or 1 for a power of two; scales: of a
---   block, 1 or 2, each for an equal part of the inputs; minimum: true if each scale has a minimum: a number is then
---   scale * integer + minimum;
---   unit: bits of a scale that is an integer, 8 (signed) or 4. Eight blocks, 256 inputs, share a unit of f16: a scale
---   is integer * unit * step. A minimum has a unit of its own, and no step; of 4 bits it shares a byte with its scale.
---   step: a power of two, 1 by default; values: the numbers that integers are the indices of, at most 16 }
--- error: mean squared error of rounded weights with a normal distribution, relative to their mean square; of the types
---   among which the pass `sizes` chooses
--- with_factor: the type that holds such numbers times any factor, if it is not the type itself; false: there is none
--- together: rows of the type have a multiple of this number of elements; apart: they may be longer by this number
types.list = {
  { name = "f32", bits = 32, c = "float", word = "f32", also = { "fp32", "float32", "float" }, attention = true,
    libxsmm = true, few_rows = 6, few_rows_of_pairs = 4, bit = 1 },
  { name = "i32", bits = 32, c = "int32_t" },
  { name = "bf16", bits = 16, c = "uint16_t", word = "bf16", also = { "bfloat16", "fp16", "float16", "f16", "half" },
    rows = "round", attention = true, flushes = true, libxsmm = "pairs", few_rows = 5, bit = 2 },
  { name = "i8", bits = 8, c = "int8_t", word = "int8", also = { "i8", "q8" }, start = 2, scales = true,
    rows = "quantise", sum = "i32", attention = true, few_rows = 4, bit = 4 },
  -- The weights and the values of an attention in int8: weights from 0 to 255, values from -127 to 127.
  { name = "u8", bits = 8, c = "uint8_t", is_of_attention = true },
  { name = "s8", bits = 8, c = "int8_t", is_of_attention = true },
  -- Rows of inputs in scale blocks, as integers of 8 or of 15 bits: attn2c_x8 of runtime/ops/scaled.h, two bytes an
  -- input, and attn2c_x15, four bytes an input.
  { name = "x8", bits = 16, c = "uint16_t", is_of_rows = true, together = 64, apart = 32 },
  { name = "x15", bits = 32, c = "uint32_t", is_of_rows = true, together = 64, apart = 32 },
  scaled { name = "q8", weights = "int8", block = { bits = 8, scale_bytes = 2 }, bit = 8, error = 2.85e-5,
    with_factor = "q8f" },
  scaled { name = "q4", weights = "int4", block = { bits = 4, scale_bytes = 2 }, bit = 16, with_factor = "q8f" },
  scaled { name = "q4m", weights = "int4m", block = { bits = 4, scale_bytes = 2, minimum = true }, bit = 32,
    with_factor = "q4f" },
  scaled { name = "q4f", weights = "int4f", block = { bits = 4, scale_bytes = 4, minimum = true }, bit = 64 },
  scaled { name = "q8f", weights = "int8f", block = { bits = 8, scale_bytes = 4, minimum = true }, bit = 128 },
  scaled { name = "q8h", weights = "int8h", block = { bits = 8, scale_bytes = 4, scales = 2 }, bit = 256 },
  scaled { name = "fp4", weights = "mxfp4", block = { bits = 4, scale_bytes = 1, values = of_e2m1 }, bit = 1 << 9,
    with_factor = "q8f" },
  scaled { name = "q2k", weights = "int2", block = { bits = 2, scales = 2, minimum = true, unit = 4 }, bit = 1 << 10,
    error = 0.071, with_factor = false },
  scaled { name = "q3k", weights = "int3", block = { bits = 3, scales = 2, unit = 8 }, bit = 1 << 11, error = 0.0205,
    with_factor = "q8h" },
  scaled { name = "q4k", weights = "int4k", block = { bits = 4, minimum = true, unit = 8 }, bit = 1 << 12,
    error = 0.00492, with_factor = "q4f" },
  scaled { name = "q5k", weights = "int5k", block = { bits = 5, minimum = true, unit = 8 }, bit = 1 << 13,
    error = 0.00144, with_factor = "q8f" },
  scaled { name = "q6k", weights = "int6k", block = { bits = 6, scales = 2, unit = 8 }, bit = 1 << 14, error = 3.53e-4,
    with_factor = "q8h" },
  scaled { name = "q5", weights = "int5", block = { bits = 5, scale_bytes = 2 }, bit = 1 << 21, with_factor = "q8f" },
  scaled { name = "q5m", weights = "int5m", block = { bits = 5, scale_bytes = 2, minimum = true }, bit = 1 << 22,
    with_factor = "q8f" },
  scaled { name = "v4", weights = "iq4", block = { bits = 4, scale_bytes = 2, values = of_iq4 }, bit = 1 << 15,
    with_factor = "q8f" },
  scaled { name = "v4k", weights = "iq4k", block = { bits = 4, unit = 8, values = of_iq4 }, bit = 1 << 16,
    with_factor = "q8f" },
  scaled { name = "v4s", weights = "iq3s", block = { bits = 4, unit = 8, values = of_iq3_s }, bit = 1 << 17,
    with_factor = "q8f" },
  scaled { name = "v4x", weights = "iq3", block = { bits = 4, unit = 8, step = 1 / 4, values = of_iq3_xxs },
    bit = 1 << 18, with_factor = "q8f" },
  scaled { name = "v3", weights = "iq2", block = { bits = 3, unit = 8, step = 1 / 8, values = of_iq2 }, bit = 1 << 19,
    with_factor = "q8f" },
  scaled { name = "v3h", weights = "iq2h",
    block = { bits = 3, scales = 2, unit = 8, step = 1 / 8, values = of_iq2 }, bit = 1 << 20, with_factor = "q8h" },
}

--- Number types by name; weights' types, in order; names by word. Then the types of weights in scale blocks, in
--- order, and their names by their word in the key `weights`.
types.all, types.of_weights, types.of_word, types.scaled, types.of_scaled = {}, {}, {}, {}, {}
for _, each in ipairs(types.list) do
  types.all[each.name], each.group = each, each.block and types.SCALE_PAIR or GROUP * 8 // each.bits
  if each.block then types.scaled[#types.scaled + 1], types.of_scaled[each.weights] = each, each.name end
  if each.word then types.of_weights[#types.of_weights + 1], types.of_word[each.word] = each, each.name end
end

--- The type of rows that are quantised.
types.quantised = "i8"

-- Types of products, by the type of the weights: with rows of this type, with floats on its grid, with fine rows.
local products, products_of_floats, products_of_fine = {}, {}, {}
for _, each in ipairs(types.of_weights) do
  local name, sum = each.name, each.sum or "f32"
  products[name] = { word = each.word, a = name, b = name, sum = sum, c = sum }
  products_of_floats[name] = each.rows == "round" and { word = each.word, a = name, b = "f32", sum = sum, c = sum }
    or nil
end

for _, each in ipairs(types.scaled) do
  products[each.name] = { word = "scaled", a = each.name, b = types.coarse, sum = "f32", c = "f32" }
  products_of_fine[each.name] = { word = "scaled", a = each.name, b = types.fine, sum = "f32", c = "f32" }
end

-- An attention's values times its weights.
products.s8 = { word = "u8", a = "s8", b = "u8", sum = "i32", c = "i32" }

--- Returns the types of a product: { a: of the weights, word: that type's word, b: of the rows, sum: of its sums, c: of
--- its result }. type: that of the weights; rows: the type that the rows of B are stored in.
function types.product(type, rows)
  return rows == "f32" and products_of_floats[type] or rows == types.fine and products_of_fine[type] or products[type]
end

--- The types of a product of floats.
types.f32_product = products.f32

--- Returns the words of the types of weights as a text, "bf16 or int8". rows: only of those with this field `rows`.
function types.words(rows)
  local list = words.map(types.of_weights, function(each)
    return (not rows or each.rows == rows) and each.word or nil
  end)
  return (table.concat(list, ", "):gsub(", ([^,]*)$", " or %1"))
end

function types.c(type) return types.all[type].c end

--- Returns the word of a type of weights in messages and keys of products.
function types.word(type) return types.all[type].word or types.all[type].weights .. "_blocks" end

--- Returns the number of inputs of one output that are next to each other in a panel, and that a step takes.
function types.group(type) return types.all[type].group end

--- Returns the elements from one output of a panel of weights for k inputs to the next; of scale blocks, on average.
function types.apart(k, type) return types.all[type].block and types.panel_bytes(k, 1, type) or types.group(type) end

-- Returns the rows of a panel of weights for k inputs.
local function panel_rows(of, k) return (k + of.group - 1) // of.group + (of.start or 0) end

--- Returns the bytes of a pair of scale blocks of `lda` outputs.
function types.pair_bytes(lda, type) return 2 * types.all[type].block.bytes * lda end

--- Returns the cache lines prefetched in a pair's time: all lines of a panel with its units, of any number of inputs.
function types.pair_lines(lda, type)
  local units = types.all[type].block.unit and types.LINE or 0 -- at most
  return (types.pair_bytes(lda, type) + units + types.LINE - 1) // types.LINE
end

-- Returns the bytes that the units of `blocks` scale blocks of an output and the blocks take: a panel begins with its
-- units, so that they are read with the blocks after them.
local function block_bytes(block, blocks)
  local unit = types.SCALE_UNIT // types.SCALE_BLOCK
  local units = words.round_up((blocks + unit - 1) // unit * block.unit_bytes, GROUP)
  return units + words.round_up(blocks * block.bytes, GROUP)
end

--- Returns a panel of weights for k inputs, `lda` outputs wide, [start + ceil(k / group)][lda][group], in elements:
--- { rows, ld: from one row to the next, group: elements of an output in a row, whole: whether a product reads all of
--- a row }. Scale blocks are one row.
function types.panel(k, lda, type)
  local of = types.all[type]
  if of.block then return { rows = 1, ld = types.panel_bytes(k, lda, type), group = of.group, whole = true } end
  return { rows = panel_rows(of, k), ld = lda * of.group, group = of.group }
end

--- Returns the bytes of the panel, whole cache lines.
function types.panel_bytes(k, lda, type)
  local of = types.all[type]
  return of.block and block_bytes(of.block, 2 * panel_rows(of, k)) * lda or panel_rows(of, k) * lda * GROUP
end

--- Returns the bytes of a row of `count` elements of a weight that is kept as rows: whole groups, or scale blocks.
function types.row_bytes(count, type)
  local of = types.all[type]
  if of.block then return block_bytes(of.block, (count + types.SCALE_BLOCK - 1) // types.SCALE_BLOCK) end
  return (count + of.group - 1) // of.group * GROUP
end

function types.bytes(count, type) return count * types.all[type].bits // 8 end

--- Returns the bytes of `count` numbers, without padding.
function types.number_bytes(count, type)
  local block = types.all[type].block
  if not block then return types.bytes(count, type) end
  local each = types.SCALE_UNIT // types.SCALE_BLOCK * block.bytes + block.unit_bytes
  return (count * each + types.SCALE_UNIT - 1) // types.SCALE_UNIT
end

--- Returns the number of elements in `bytes`, which must be whole elements.
function types.elements(bytes, type)
  local bits = types.all[type].bits
  assert(8 * bytes % bits == 0, type)
  return 8 * bytes // bits
end

function types.per_line(type) return types.elements(types.LINE, type) end

--- Returns the least number of elements that a row may be longer than another: a cache line, or a scale block.
function types.step(type) return types.all[type].apart or types.per_line(type) end

--- Returns `count` elements, rounded up to whole cache lines.
function types.whole_lines(count, type)
  return words.round_up(count, types.all[type].together or types.per_line(type))
end

--- Returns the elements of a row of `count` that are stored.
function types.whole(count, type)
  local together = types.all[type].together
  return together and words.round_up(count, together) or count
end

--- Returns `bytes`, rounded up to whole cache lines.
function types.line_bytes(bytes) return words.round_up(bytes, types.LINE) end

return types
