-- types.lua: the number types of tensors and kernels, and the cache line that buffers and panels are made of.
-- Passes exchange sizes and offsets in bytes; this file alone converts elements to bytes and back.
local words = require("common.words")

local types = {}

--- Bytes of a cache line: every buffer begins at a multiple, and so does every panel of a weight.
types.LINE = 64

--- bytes: of an element; c: its type in C; group: inputs of an output that lie together in a panel of weights; start:
--- rows of s32 before them, of which a target's sums begin with one.
types.all = {
  f32 = { bytes = 4, c = "float", group = 1, start = 0 },
  i32 = { bytes = 4, c = "int32_t", group = 1, start = 0 },
  bf16 = { bytes = 2, c = "uint16_t", group = 2, start = 0 },
  i8 = { bytes = 1, c = "int8_t", group = 4, start = 2 },
}

--- The types of a product: of A, the weights, of B, its sums and its result.
types.f32_product = { a = "f32", b = "f32", sum = "f32", c = "f32" }
types.bf16_product = { a = "bf16", b = "bf16", sum = "f32", c = "f32" }
types.bf16_floats_product = { a = "bf16", b = "f32", sum = "f32", c = "f32" } -- B: floats that are bf16
types.int8_product = { a = "i8", b = "i8", sum = "i32", c = "i32" }

--- Of a product whose weights have a type; rows: the type that the rows are stored in.
function types.product(type, rows)
  if type == "bf16" then return rows == "f32" and types.bf16_floats_product or types.bf16_product end
  return type == "f32" and types.f32_product or types.int8_product
end

function types.c(type) return types.all[type].c end

--- Inputs of an output that lie together in a panel.
function types.group(type) return types.all[type].group end

--- Bytes of a panel of weights for k inputs, `lda` outputs wide: [start + ceil(k / group)][lda][group], where each row
--- has 4 bytes an output.
function types.panel_bytes(k, lda, type)
  local of = types.all[type]
  return ((k + of.group - 1) // of.group + of.start) * lda * of.group * of.bytes
end

--- The same as rows of elements: { rows, ld: from one to the next, group }.
function types.panel(k, lda, type)
  local of = types.all[type]
  return { rows = (k + of.group - 1) // of.group + of.start, ld = lda * of.group, group = of.group }
end

--- Bytes of so many elements.
function types.bytes(count, type) return count * types.all[type].bytes end

--- Elements in so many bytes, which must be whole ones.
function types.elements(bytes, type)
  local each = types.all[type].bytes
  assert(bytes % each == 0, type)
  return bytes // each
end

--- Elements in a cache line.
function types.per_line(type) return types.LINE // types.all[type].bytes end

--- So many elements, rounded up to whole cache lines.
function types.whole_lines(count, type) return words.round_up(count, types.per_line(type)) end

--- So many bytes, rounded up to whole cache lines.
function types.line_bytes(bytes) return words.round_up(bytes, types.LINE) end

return types
