-- types.lua: the number types of tensors and kernels, and the cache line that buffers and panels are made of.
-- Passes exchange sizes and offsets in bytes; this file alone converts elements to bytes and back.
local words = require("common.words")

local types = {}

--- Bytes of a cache line: every buffer begins at a multiple, and so does every panel of a weight.
types.LINE = 64

--- bytes: of an element; c: its type in C.
types.all = {
  f32 = { bytes = 4, c = "float" },
  i32 = { bytes = 4, c = "int32_t" },
  bf16 = { bytes = 2, c = "uint16_t" },
  i8 = { bytes = 1, c = "int8_t" },
}

--- Of a product whose operands, sums and result are f32.
types.f32_product = { a = "f32", b = "f32", sum = "f32", c = "f32" }

function types.c(type) return types.all[type].c end

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
