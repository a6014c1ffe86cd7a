-- types.lua: lists the number types of tensors and kernels, and rounds sizes to cache lines.
-- Passes exchange sizes and offsets in bytes; this file alone converts elements to bytes and back.
local words = require("common.words")

local types = {}

--- Bytes of a cache line. Every buffer and every panel of a weight begins at a multiple.
types.LINE = 64

--- Number types. The runtime reads them in base/number_types.h, which `make headers` writes. bytes: of an element; c:
--- the type in C. A type that weights may have also has these fields:
--- word: its name in descriptions and messages
--- group: inputs of one output that are next to each other in a panel of weights, in 4 bytes
--- start: rows of s32 before the groups, one of which holds the first values of a target's sums
--- scales: true if each output has a scale, in a weight of its own
--- attention: true if the products of an attention may have the type
--- bit: in the field of a packed file that says which types the file contains; it never changes
types.list = {
  { name = "f32", bytes = 4, c = "float", word = "f32", group = 1, start = 0, attention = true, bit = 1 },
  { name = "i32", bytes = 4, c = "int32_t", group = 1, start = 0 },
  { name = "bf16", bytes = 2, c = "uint16_t", word = "bf16", group = 2, start = 0, attention = true, bit = 2 },
  { name = "i8", bytes = 1, c = "int8_t", word = "int8", group = 4, start = 2, scales = true, bit = 4 },
}

--- Number types by name, and names by word.
types.all, types.of_word = {}, {}
for _, each in ipairs(types.list) do
  types.all[each.name] = each
  if each.word then types.of_word[each.word] = each.name end
end

--- Types of a product: of A, the weights; of B; of its sums; of its result.
types.f32_product = { a = "f32", b = "f32", sum = "f32", c = "f32" }
types.bf16_product = { a = "bf16", b = "bf16", sum = "f32", c = "f32" }
types.bf16_floats_product = { a = "bf16", b = "f32", sum = "f32", c = "f32" } -- B: floats that are bf16
types.int8_product = { a = "i8", b = "i8", sum = "i32", c = "i32" }

--- Returns the types of a product by the type of its weights. rows: the type that the rows of B are stored in.
function types.product(type, rows)
  if type == "bf16" then return rows == "f32" and types.bf16_floats_product or types.bf16_product end
  return type == "f32" and types.f32_product or types.int8_product
end

function types.c(type) return types.all[type].c end

--- Returns the number of inputs of one output that are next to each other in a panel.
function types.group(type) return types.all[type].group end

--- Returns the bytes of a panel of weights for k inputs, `lda` outputs wide: [start + ceil(k / group)][lda][group],
--- where each row has 4 bytes per output.
function types.panel_bytes(k, lda, type)
  local of = types.all[type]
  return ((k + of.group - 1) // of.group + of.start) * lda * of.group * of.bytes
end

--- Returns the panel in elements: { rows, ld: from one row to the next, group }.
function types.panel(k, lda, type)
  local of = types.all[type]
  return { rows = (k + of.group - 1) // of.group + of.start, ld = lda * of.group, group = of.group }
end

--- Returns the bytes of a row of `count` elements of a weight that is kept as rows: whole groups.
function types.row_bytes(count, type)
  local of = types.all[type]
  return (count + of.group - 1) // of.group * of.group * of.bytes
end

--- Returns the bytes of `count` elements.
function types.bytes(count, type) return count * types.all[type].bytes end

--- Returns the number of elements in `bytes`, which must be whole elements.
function types.elements(bytes, type)
  local each = types.all[type].bytes
  assert(bytes % each == 0, type)
  return bytes // each
end

--- Returns the number of elements in a cache line.
function types.per_line(type) return types.LINE // types.all[type].bytes end

--- Returns `count` elements, rounded up to whole cache lines.
function types.whole_lines(count, type) return words.round_up(count, types.per_line(type)) end

--- Returns `bytes`, rounded up to whole cache lines.
function types.line_bytes(bytes) return words.round_up(bytes, types.LINE) end

return types
