-- steps_experts.lua: declares the row operations of mixtures of experts, as steps.lua declares others.
-- The choices of a block of rows, `used` of each, are sorted by expert: `order` has the number of each choice in the
-- order of experts, `place` is its inverse, and `first` has the first of each expert's choices in that order.
local footprint = require("data.footprint")
local types = require("data.types")

local matrix, vector = footprint.matrix, footprint.vector

-- Returns the footprint of a number for each choice of `rows` rows; rows: the constant's name.
local function choices(rows)
  return function(c) return { first = 0, { c[rows] * c.used, 1 } } end
end

-- Returns the footprint of rows of all choices; rows: as above.
local function parts(rows)
  return function(c) return { first = 0, { c[rows], c.used * c.cols }, { c.used * c.cols, 1 } } end
end

local function each(cost) return function(c) return cost * c.rows * c.used * (c.cols or 1) end end

local first = { "first", "w", vector("bounds"), type = "i32" }

local rows = {
  pick = { constants = "rows (cols) used ldx ldc ldy",
    operands = { { "y", "w", matrix("rows", "used", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") }, { "chosen",
      "r", matrix("rows", "used", "ldc"), type = "i32" } }, cost = function(c) return 8 * c.rows * c.used end,
    equation = "y[i][j] = x[i][chosen[i][j]]" },
  group_rows = { constants = "rows used bounds ldx",
    operands = { { "place", "w", choices("rows"), type = "i32" }, { "order", "w", choices("rows"), type = "i32" },
      first, { "chosen", "r", matrix("rows", "used", "ldx"), type = "i32" } }, cost = each(16),
    equation = "order = the choices of all rows by expert, place = its inverse, first = where each expert's begin" },
  experts_of_groups = { -- in a trace
    constants = "rows used bounds",
    operands = { { "y", "w", choices("rows"), type = "i32" }, { "order", "r", choices("rows"), type = "i32" },
      { "first", "r", vector("bounds"), type = "i32" } },
    cost = each(8), equation = "y[order[i]] = the expert e with first[e] <= i < first[e + 1]",
  },
  scatter_parts = { -- in a trace
    constants = "rows cols used all",
    operands = { { "y", "w", parts("all") }, { "x", "r", parts("rows") },
      { "order", "r", choices("rows"), type = "i32" } },
    cost = each(8), equation = "y[order[i]] = x[i], parts of ${cols} numbers",
  },
  scatter_choices = { -- in a trace
    constants = "rows cols ldx ldy",
    operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") },
      { "order", "r", vector("rows"), type = "i32" } },
    cost = function(c) return 8 * c.rows * c.cols end, equation = "y[order[i]] = x[i]",
  },
  combine = { constants = "rows cols used all ldw ldy factor",
    operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", parts("all") }, { "weights", "r",
      matrix("rows", "used", "ldw") }, { "place", "r", choices("rows"), type = "i32" } }, cost = each(8),
    equation = "y[i] = ${factor} sum over j of weights[i][j] x[place[i ${used} + j]]" },
}

-- Rows of each number type, once for each of a row's choices.
for _, type in ipairs(types.list) do
  local is_of_rows = type.is_of_rows or type.word
  if is_of_rows then
    local suffix = type.name == "f32" and "" or "_" .. type.name
    rows["spread" .. suffix] = {
      constants = "rows cols used all ldx",
      operands = { { "y", "w", parts("rows"), type = type.name },
        { "x", "r", matrix("all", "cols", "ldx"), type = type.name },
        { "order", "r", choices("rows"), type = "i32" } },
      cost = each(6), equation = "y[i] = x[order[i] / ${used}]",
      body = "attn2c_spread(y, x, order, ${rows}, ${cols} * (int)sizeof *y, ${used}, ${all}, "
        .. "${ldx} * (int)sizeof *x)",
    }
  end
end

return rows
