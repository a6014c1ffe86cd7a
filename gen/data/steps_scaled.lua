-- steps_scaled.lua: declares the row operations of numbers in scale blocks, for steps.lua.
-- They quantise rows to int8, widen them in a trace, and look up rows of tables of embeddings.
local footprint = require("data.footprint")
local row_entries = require("data.row_entries")
local types = require("data.types")

-- Returns the footprint of rows that are stored as blocks.
local function blocks(ld, type)
  return function(c) return { first = 0, { c.rows, c[ld] }, { types.whole(c.cols, type), 1 } } end
end

-- Returns the footprint of the rows of a table that ids may choose.
local function looked_up(type)
  return function(c)
    return { first = c.ids_least * c.ldt, { c.ids - c.ids_least + 1, c.ldt }, { types.row_bytes(c.cols, type), 1 } }
  end
end

local rows = {}

-- Declares the operations of a type of rows.
local function declare(type, name, equation)
  rows[name] = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { { "y", "w", blocks("ldy", type), type = type }, row_entries.read() },
    cost = row_entries.each(20), equation = equation,
  }
  rows["widen_" .. type] = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { row_entries.written(), { "x", "r", blocks("ldx", type), type = type } },
    cost = row_entries.each(6), equation = "y = x, as float",
  }
end

declare(types.coarse, "quantise_blocks", "y = x as bytes in scale blocks")
declare(types.fine, "quantise_blocks_finely", "y = x as integers of 15 bits in scale blocks")

for _, type in ipairs(types.scaled) do
  local block = type.block
  rows["embed_" .. type.name] = {
    constants = { "rows", "cols", "ldt", "ldy" },
    operands = { row_entries.written(),
      { "table", "r", looked_up(type.name), type = type.name,
        touched = function(c) return c.rows * types.row_bytes(c.cols, type.name) end },
      { "ids", "r", footprint.vector("rows"), type = "i32" } },
    cost = row_entries.each(16),
    body = ("attn2c_embed_scaled(y, table, ids, ${rows}, ${cols}, ${ldt}, ${ldy}, %d, %d, %d, %d)"):format(block.bits,
      block.scale_bytes, block.scales, block.minimum and 1 or 0),
    equation = "y[i] = table[ids[i]], as float",
  }
end

return rows
