-- steps_kept.lua: declares the row operations of keys and values that a state keeps as integers, as steps.lua declares
-- others. They add rows to a page, and multiply queries and weights with a page (runtime/ops/kept.h).
local footprint = require("data.footprint")
local row_entries = require("data.row_entries")
local types = require("data.types")

local vector = footprint.vector
local each, read, written = row_entries.each, row_entries.read, row_entries.written

-- Returns an operand that is a page, or several pages for `keys` keys; page: the constant that has the bytes of one.
local function page_of(name, access, keys)
  return { name, access, function(c) return { first = 0, { c.page * (keys and (c[keys] + c.panel - 1) // c.panel or 1),
    1 } } end, type = types.quantised }
end

-- Declares the adding of rows of a head to a page.
local function add_bytes(of)
  return {
    constants = "rows cols ldx lds panel bits (page)",
    operands = { page_of("y", "w"), read(types.quantised), "scale r rows x 1 / lds", "first value" },
    cost = each(8),
    body = ("attn2c_add_bytes_of_%s(y, x, scale, first, ${rows}, ${cols}, ${ldx}, ${lds}, ${panel}, ${bits})")
      :format(of),
    equation = ("%s first + i of the page = x[i], scale[i]"):format(of),
  }
end

-- Returns the cost of products with the integers of a page, which two rows or more share.
local function cost(c) return (c.rows + 1) * c.cols * c.head_dim end

local rows_of_queries = { "q", "r", vector("rows ldq"),
  type = types.quantised }

return {
  quantise_odd = { constants = "rows heads width ldx ldy lds (cols)",
    operands = { written(types.quantised), "scale w rows x heads / lds", read() }, cost = each(16),
    equation = "y[i] = x[i] / scale[i][head] as odd integers, scale[i][head] = max |x[i]| / 16 over the head" },
  add_bytes_of_keys = add_bytes("keys"),
  add_bytes_of_values = add_bytes("values"),
  integers_of_queries = { constants = "rows cols ldx ldy",
    operands = { { "y", "w", vector("rows ldy"), type = types.quantised }, read() }, cost = each(12),
    equation = "y[i] = x[i] as integers of 16 bits, with a scale" },
  scores_of_page = { constants = "rows cols head_dim lds ldq panel bits (page)",
    operands = { "s w rows x cols / lds", rows_of_queries, page_of("k", "r") }, cost = cost,
    equation = "s[i][j] = q[i] · k[j], times the scales of both" },
  context_of_page = { constants = "rows cols head_dim ldc ldp panel bits (page)",
    operands = { "c rw rows x head_dim / ldc", "p r rows x cols / ldp", page_of("v", "r") }, cost = cost,
    equation = "c[i] += p[i] · v, times the scales of v" },
  context_repair_bytes = { constants = "rows cols head_dim ldc ldp panel bits lo hi (page)",
    operands = { "c rw rows x head_dim / ldc", "p r rows x cols / ldp", page_of("v", "r", "cols"), "valid value" },
    cost = each(5),
    equation = "c[i] = p[i] · v over unmasked keys only, for rows that a masked key's NaN or infinity reached" },
}
