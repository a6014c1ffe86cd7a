-- steps_ranks.lua: declares the row operations that the ranks of a model do together, for steps.lua.
-- Their bodies take `ranks`. `first` is the list of the first elements of all ranks (data/divisions.lua), as text.
local footprint = require("data.footprint")
local row_entries = require("data.row_entries")

local of_ranks = {}

local matrix = footprint.matrix
local of_rows = row_entries.of_rows

local function each_row(element) return function(c) return element * c.rows end end

of_ranks.own_ids = {
  constants = "rows first", meets = true,
  operands = { "y w rows: i32", "ids r rows: i32" },
  cost = each_row(2), body = "attn2c_own_ids(ranks, y, ids, ${rows}, (const size_t[]){${first}})",
  equation = "y[i] = ids[i] - first of the rank, 0 for ids of others; the ranks begin at ${first}",
}

of_ranks.sum_ranks = of_rows(6, "y = the sum of x of all ranks", { meets = true })
of_ranks.begin_sum = of_rows(6, "y = the sum of x of all ranks, which begins here", { meets = true })

of_ranks.end_sums = {
  constants = "rows (cols) (ldy)", meets = true,
  operands = { "y rw rows x cols / ldy" }, cost = each_row(1),
  equation = "y = the sums of all blocks, which end here",
}

of_ranks.sum_own_rows = of_rows(6, "y[i] = x[i] of the rank that has row ids[i] of the table; the ranks begin at "
  .. "${first}", {
  constants = "first", operands = { "ids r rows: i32" }, meets = true,
  body = "attn2c_sum_own_rows(ranks, y, x, ids, ${rows}, ${cols}, ${ldx}, ${ldy}, (const size_t[]){${first}})",
})

of_ranks.gather_ranks = {
  constants = "rows cols own ldx ldy first", meets = true,
  operands = { row_entries.written(), "x r rows x own / ldx" }, cost = row_entries.each(6),
  body = "attn2c_gather_ranks(ranks, y, x, ${rows}, ${ldx}, ${ldy}, (const size_t[]){${first}})",
  equation = "y = the columns of x of all ranks, which begin at ${first}",
}

of_ranks.own_columns = {
  constants = "rows cols (all) ldx ldy starts", meets = true,
  operands = { row_entries.written(), "x r rows x all / ldx" }, cost = row_entries.each(6),
  body = "attn2c_own_columns(ranks, y, x, ${rows}, ${cols}, ${ldx}, ${ldy}, (const size_t[]){${starts}})",
  equation = "y = ${cols} of x's columns, from ${starts} of the ranks on",
}

-- Rows that stages pass on and take. Outputs may be integers.
for name, of in pairs {
  pass_on = { mode = "r", equation = "the next stage takes y" },
  take_on = { mode = "w", equation = "y = what the stage before passes on" },
  give_output = { mode = "r", equation = "all other stages take y" },
  give_integers = { mode = "r", type = "i32", body = "attn2c_give_output(ranks, y, ${rows}, ${cols}, ${ldy})",
    equation = "all other stages take y" },
  take_output = { mode = "w", equation = "y = what the last stage gives, before the call's outputs are read" },
  take_integers = { mode = "w", type = "i32", body = "attn2c_take_output(ranks, y, ${rows}, ${cols}, ${ldy})",
    equation = "y = what the last stage gives, before the call's outputs are read" },
} do
  of_ranks[name] = {
    constants = "rows cols ldy", meets = true,
    operands = { { "y", of.mode, matrix("rows", "cols", "ldy"), type = of.type } },
    cost = each_row(1), body = of.body, equation = of.equation,
  }
end

return of_ranks
