-- ops_experts.lua: declares the operations of a mixture of experts, as ops.lua does the others.
local shapes = require("common.shapes")

local rows_of, widened, with_last = shapes.rows, shapes.widened, shapes.with_last

local of_experts = {}

--- Returns the number of experts of a row. groups: the order of choices by expert.
function of_experts.choices(groups) return groups.shape[#groups.shape] end

--- Returns the numbers of x that each of a row's experts reads.
function of_experts.inputs(x, groups) return x.shape[#x.shape] // of_experts.choices(groups) end

local function shape_of_experts(_, _, groups, weight)
  return with_last(groups.shape, groups.shape[#groups.shape] * (weight.shape[1] // weight.experts))
end

local function flops_of_experts(a, x, groups, weight)
  local shape = shape_of_experts(a, x, groups, weight)
  return 2 * rows_of(shape) * shape[#shape] * weight.shape[2]
end

of_experts.table = {
  pick = { class = { region = "rows", by_row = { "x", "chosen" } }, operands = "x chosen",
    shape = function(_, _, chosen) return chosen.shape end, arithmetic = 0,
    equation = "x[chosen[j]] as number j of a row; x may be one row for all" },
  group_rows = { class = { region = "rows", mixes_rows = true }, operands = "chosen", attributes = "experts",
    type = "i32", wide = true, shape = function(_, chosen) return chosen.shape end,
    equation = "chosen, the experts of each row, from 0 to experts - 1; stored as the order of all choices by expert",
    arithmetic = 4 },
  spread = { class = { region = "rows", mixes_rows = true }, operands = "x groups",
    shape = function(_, x, groups) return widened(x.shape, groups.shape[#groups.shape]) end,
    equation = "x once for each expert of a row", arithmetic = 0 },
  linear_experts = { class = { region = "rows", product = true, takes_epilogue = true },
    operands = "x groups weight bias?", shape = shape_of_experts, flops = flops_of_experts,
    equation = "x · Wᵀ + b for each expert of a row, with its part of a row of x and its rows of W" },
  linear_experts_integers = { class = { region = "rows", product = true, takes_epilogue = true },
    operands = "x groups weight", type = "i32", wide = true, shape = shape_of_experts, flops = flops_of_experts,
    equation = "x · Wᵀ for each expert of a row, in integers" },
  dequantise_experts = { class = { region = "rows", takes_epilogue = true, epilogue = true },
    operands = "x row_scale scale groups bias?",
    equation = "x row_scale scale + bias for each expert of a row: scales of its part of the row, and of its columns",
    arithmetic = 3 },
  combine = { class = { region = "rows", takes_epilogue = true, mixes_rows = true }, operands = "x weights groups",
    attributes = "factor",
    shape = function(_, x, weights) return with_last(x.shape, x.shape[#x.shape] // weights.shape[#weights.shape]) end,
    equation = "factor times the sum over the experts of a row of its weight times its part of x, in order",
    arithmetic = 2, arithmetic_of = "x" },
}

return of_experts
