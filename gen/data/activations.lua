-- activations.lua: lists the activations: all that the compiler and the check must know of each.
-- Its code is attn2c_NAME in runtime/ops/elementary.h, and its plain definition is NAME in
-- runtime/check/reference_rows.c. `make headers` writes the rows that the check needs to runtime/check/ops.h.
local activations = {}

--- cost: of an element, in the units of steps.lua. arithmetic: operations of an element, as ops.lua counts them.
--- relative: the error of a result relative to itself; 0 if the result is exact. times_x: true if the function is x
--- times a factor; where the factor is flushed to 0, the error is |x| times the smallest normal number.
activations.list = {
  { name = "relu", equation = "max(x, 0)", cost = 2, arithmetic = 1, relative = "0" },
  { name = "gelu", equation = "x/2 (1 + erf(x / sqrt 2))", cost = 44, arithmetic = 22, relative = "4e-6",
    times_x = true },
  { name = "gelu_tanh", equation = "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", cost = 56, arithmetic = 24,
    relative = "4e-5", times_x = true },
  { name = "quick_gelu", equation = "x sigmoid(1.702 x)", cost = 44, arithmetic = 16, relative = "4e-6",
    times_x = true },
  { name = "silu", equation = "x sigmoid(x)", cost = 42, arithmetic = 16, relative = "4e-6", times_x = true },
  { name = "sigmoid", equation = "1 / (1 + exp(-x))", cost = 38, arithmetic = 15, relative = "4e-6" },
  { name = "tanh", equation = "tanh(x)", cost = 38, arithmetic = 16, relative = "4e-5" },
}

--- The activations by name.
activations.by_name = {}
for _, each in ipairs(activations.list) do activations.by_name[each.name] = each end

return activations
