-- steps_ranks.lua: declares the row operations that the ranks of a model do together, for steps.lua.
-- Their bodies take `ranks`. `first` is the list of the first elements of all ranks (data/divisions.lua), as text.
local footprint = require("data.footprint")

local of_ranks = {}

local matrix, vector = footprint.matrix, footprint.vector

local function each_row(element) return function(c) return element * c.rows end end

local function each(element) return function(c) return element * c.rows * c.cols end end

of_ranks.own_ids = {
  constants = { "rows", "first" }, meets = true,
  operands = { { "y", "w", vector("rows"), type = "i32" }, { "ids", "r", vector("rows"), type = "i32" } },
  cost = each_row(2),
  body = "attn2c_own_ids(ranks, y, ids, ${rows}, (const size_t[]){${first}})",
  equation = "y[i] = ids[i] - first of the rank, 0 for ids of others; the ranks begin at ${first}",
}

of_ranks.sum_ranks = {
  constants = { "rows", "cols", "ldx", "ldy" }, meets = true,
  operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") } },
  cost = each(6),
  body = "attn2c_sum_ranks(ranks, y, x, ${rows}, ${cols}, ${ldx}, ${ldy})",
  equation = "y = the sum of x of all ranks",
}

of_ranks.begin_sum = {
  constants = { "rows", "cols", "ldx", "ldy", "step" }, meets = true,
  operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") },
    { "row", "value" } },
  cost = each(6),
  body = "attn2c_begin_sum(ranks, y, x, row, ${rows}, ${cols}, ${ldx}, ${ldy}, ${step})",
  equation = "y = the sum of x of all ranks, which begins here; blocks have ${step} rows",
}

of_ranks.end_sum = {
  constants = { "rows", "cols", "ldy", "step" }, meets = true,
  operands = { { "y", "rw", matrix("rows", "cols", "ldy") }, { "row", "value" } },
  cost = each_row(1),
  body = "attn2c_end_sum(ranks, y, row, ${rows}, ${step})",
  equation = "y = the sums of all blocks, which end here; blocks have ${step} rows (0: numbers)",
}

of_ranks.sum_own_rows = {
  constants = { "rows", "cols", "ldx", "ldy", "first" }, meets = true,
  operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") },
    { "ids", "r", vector("rows"), type = "i32" } },
  cost = each(6),
  body = "attn2c_sum_own_rows(ranks, y, x, ids, ${rows}, ${cols}, ${ldx}, ${ldy}, (const size_t[]){${first}})",
  equation = "y[i] = x[i] of the rank that has row ids[i] of the table; the ranks begin at ${first}",
}

of_ranks.gather_ranks = {
  constants = { "rows", "cols", "own", "ldx", "ldy", "first" }, meets = true,
  operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "own", "ldx") } },
  cost = each(6),
  body = "attn2c_gather_ranks(ranks, y, x, ${rows}, ${ldx}, ${ldy}, (const size_t[]){${first}})",
  equation = "y = the columns of x of all ranks, which begin at ${first}",
}

return of_ranks
