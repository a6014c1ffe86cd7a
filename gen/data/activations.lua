-- activations.lua: lists the activations: all that the compiler must know of each. Its code is attn2c_NAME in
-- runtime/ops/elementary.h, its plain definition is NAME in runtime/reference/rows.c, and runtime/reference/table.h has
-- the error that it may have.
local activations = {}

--- cost: of an element, in the units of steps.lua. arithmetic: operations of an element, as ops.lua counts them.
--- of: the function that this one is a short form of, for results that are only rounded to bf16 or int8; descriptions
--- do not name it, nor one that is is_inner. row_lanes: vectors of that number of floats have attn2c_NAME_row, which
--- computes rows with the same bits in fewer instructions (ops/gelu.h).
activations.list = {
  { name = "relu", equation = "max(x, 0)", cost = 2, arithmetic = 1 },
  { name = "gelu", equation = "x/2 (1 + erf(x / sqrt 2))", cost = 44, arithmetic = 22 },
  { name = "gelu_rounded", of = "gelu", equation = "x/2 (1 + erf(x / sqrt 2))", cost = 22, arithmetic = 14,
    row_lanes = 16 },
  { name = "gelu_tanh", equation = "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", cost = 56, arithmetic = 24 },
  { name = "quick_gelu", equation = "x sigmoid(1.702 x)", cost = 44, arithmetic = 16 },
  { name = "silu", equation = "x sigmoid(x)", cost = 42, arithmetic = 16 },
  { name = "sigmoid", equation = "1 / (1 + exp(-x))", cost = 38, arithmetic = 15 },
  { name = "log_relu", equation = "log(1 + max(x, 0))", cost = 40, arithmetic = 18 },
  { name = "tanh", equation = "tanh(x)", cost = 38, arithmetic = 16 },
  { name = "square", equation = "x x", cost = 2, arithmetic = 1, is_inner = true },
}

--- The activations by name; the names in descriptions; the short forms by the name of the function.
activations.by_name, activations.of_descriptions, activations.rounded = {}, {}, {}
for _, each in ipairs(activations.list) do
  activations.by_name[each.name] = each
  if each.of then
    activations.rounded[each.of] = each
  elseif not each.is_inner then
    activations.of_descriptions[each.name] = each
  end
end

return activations
