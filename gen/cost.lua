-- cost.lua: what a step costs, in floating-point operations of a product that take as long:
-- enough to divide work evenly before anything runs. Measured once on AVX-512, where a core
-- does 64 such operations a cycle; tests/bench/elementary.c measures the row operations.
local operands = require("operands")

local cost = {}

-- An element of a row operation.
local row = {
  softmax = 51, mask_band = 6, mask_length = 3, context_repair = 5, transpose = 8, layer_norm = 22, copy = 6, embed = 8,
  pool_mean = 6, pool_max = 6, pool_row = 2, argmax = 16,
  softmax_nan = 51, softmax_begin = 48, softmax_more = 48, softmax_add = 8, softmax_end = 6, softmax_of = 48,
  mask_band_prefix = 6, add_length = 3, context_repair_nonzero = 5, fill = 3, rms_norm = 16,
  normalise = 16, rotate = 16, patches = 6, mean_heads = 6, bucket_table = 8,
  additive_scores = 44, -- of each of head_dim terms
}

-- An element of an elementwise part.
local part = {
  load = 4, bias = 6, add = 8, multiply = 8, scale = 2, scale_by = 2, softcap = 42, add_band = 8,
  add_reversed = 12, block = 8, add_where = 8, weigh = 4, weigh_relu = 4, relu = 2,
  gelu = 44, gelu_tanh = 56, quick_gelu = 44, silu = 42, sigmoid = 38, tanh = 38,
}

--- The cost of a step; notes and loops cost nothing.
function cost.of(step)
  if step.form == "product" then
    local k = step.kernel
    return 2 * k.m * k.n * k.k * step.batch.count
  elseif step.form == "row" then
    local c = step.constants
    return row[step.fn] * (c.rows or step.at_most or 1) * c.cols * (step.fn == "additive_scores" and c.head_dim or 1)
  elseif step.form == "map" then
    local each = 0
    for _, p in ipairs(step.parts) do each = each + part[p.fn or p.kind] end
    return each * step.constants.rows * step.constants.cols
  end
  return 0
end

--- Bytes that a step reads and writes, each element once: what passes between the caches and the core if the step finds
--- nothing in registers. Weights of a product count as often as its calls read them.
function cost.bytes(step)
  if step.form == "product" then
    local sum = 0
    for _, call in ipairs(step.calls or { step }) do
      local k = call.kernel
      sum = sum + 4 * (k.k * call.batch.count * (k.m + k.n) + k.n * k.m * (1 + k.beta))
    end
    return sum
  elseif step.form == "row" or step.form == "map" then
    local c, touched = step.constants, 0
    local elements = (c.rows or step.at_most or 1) * c.cols
    operands.each(step, function(operand, access)
      if operand.class == "weight" then
        touched = touched + c.cols
      elseif not operand.is_value and operand.buffer then
        touched = touched + elements * (access == "rw" and 2 or 1)
      end
    end)
    return 4 * touched
  end
  return 0
end

return cost
