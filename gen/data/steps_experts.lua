-- steps_experts.lua: declares the row operations of mixtures of experts, as steps.lua declares others.
-- The choices of a block of rows, `used` of each, are sorted by expert: `order` has the number of each choice in the
-- order of experts, `place` is its inverse, and `first` has the first of each expert's choices in that order.
local footprint = require("data.footprint")
local types = require("data.types")

local matrix, product = footprint.matrix, footprint.product

local function each(cost) return function(c) return cost * c.rows * c.used * (c.cols or 1) end end

local first = "first w bounds: i32"

local rows = {
  pick = { constants = "rows (cols) used ldx ldc ldy",
    operands = { "y w rows x used / ldy", "x r rows x cols / ldx", "chosen r rows x used / ldc: i32" },
    cost = product("8 rows used"), equation = "y[i][j] = x[i][chosen[i][j]]" },
  group_rows = { constants = "rows used bounds ldx",
    operands = { "place w rows used: i32", "order w rows used: i32", first, "chosen r rows x used / ldx: i32" },
    cost = each(16),
    equation = "order = the choices of all rows by expert, place = its inverse, first = where each expert's begin" },
  experts_of_groups = { -- in a trace
    constants = "rows used bounds",
    operands = { "y w rows used: i32", "order r rows used: i32", "first r bounds: i32" },
    cost = each(8), equation = "y[order[i]] = the expert e with first[e] <= i < first[e + 1]",
  },
  scatter_parts = { -- in a trace
    constants = "rows cols used all ldx",
    operands = { "y w all x used cols / used cols", "x r rows used x cols / ldx", "order r rows used: i32" },
    cost = each(8), equation = "y[order[i]] = x[i], parts of ${cols} numbers",
  },
  scatter_choices = { -- in a trace
    constants = "rows cols ldx ldy",
    operands = { "y w rows x cols / ldy", "x r rows x cols / ldx", "order r rows: i32" },
    cost = product("8 rows cols"), equation = "y[order[i]] = x[i]",
  },
  combine = { constants = "rows cols used all ldw ldy factor",
    operands = { "y w rows x cols / ldy", "x r all x used cols / used cols", "weights r rows x used / ldw",
      "place r rows used: i32" }, cost = each(8),
    equation = "y[i] = ${factor} sum over j of weights[i][j] x[place[i ${used} + j]]" },
}

-- Rows of each number type, once for each of a row's choices.
for _, type in ipairs(types.list) do
  local is_of_rows = type.is_of_rows or type.word
  if is_of_rows then
    local suffix = type.name == "f32" and "" or "_" .. type.name
    rows["spread" .. suffix] = {
      constants = "rows cols used all ldx ldy",
      operands = { { "y", "w", matrix("rows used", "cols", "ldy"), type = type.name },
        { "x", "r", matrix("all", "cols", "ldx"), type = type.name },
        "order r rows used: i32" },
      cost = each(6), equation = "y[i] = x[order[i] / ${used}]",
      body = "attn2c_spread(y, x, order, ${rows}, ${cols} * (int)sizeof *y, ${used}, ${all}, "
        .. "${ldx} * (int)sizeof *x, ${ldy} * (int)sizeof *y)",
    }
  end
end

return rows
