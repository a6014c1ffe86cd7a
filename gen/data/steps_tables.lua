-- steps_tables.lua: declares the row operations that look up rows of tables of embeddings, for steps.lua.
-- A table of each type is packed as rows, or in panels if a product reads the same weight (ops/table.h). `groups`: the
-- groups of 4 bytes of a row; in panels, of an output with what is before them.
local footprint = require("data.footprint")
local row_entries = require("data.row_entries")
local types = require("data.types")
local words = require("common.words")

local of_tables = {}

local function in_group(type) return types.elements(4, type) end

local function row_elements(cols, type)
  return types.all[type].block and types.row_bytes(cols, type) or cols
end

-- Returns the footprint of rows that ids may choose.
local function of_rows(type)
  return function(c)
    local pitch = c.groups * in_group(type)
    return { first = c.ids_least * pitch, { c.ids - c.ids_least + 1, pitch }, { row_elements(c.cols, type), 1 } }
  end
end

-- Returns the footprint of the panels up to the last that ids may choose an output of.
local function of_panels(type)
  return function(c)
    local function lines(width) return types.whole_lines(width, "f32") end
    local tails = c.panel * c.count
    local outputs = (c.ids // c.panel + 1) * lines(c.panel)
    if c.ids >= tails then
      outputs = c.count * lines(c.panel) + lines(c.tail) + lines(math.max(0, c.ids + 1 - tails - c.tail))
    end
    return { first = 0, { outputs * c.groups * in_group(type), 1 } }
  end
end

-- Returns the footprint of one element for each id that is possible.
local function of_scales(c) return { first = c.ids_least, { c.ids - c.ids_least + 1, 1 } } end

-- Declares the operation of a type for one way of packing. constants: those that say how; packing: C that makes
-- an attn2c_table; reach: the footprint; row: how the equation calls a row.
local function declare(name, type, constants, packing, reach, row)
  local of = types.all[type]
  local scales, suffix = of.scales, of.block and "_scaled" or type == "f32" and "" or "_" .. type
  local operands = { row_entries.written(), { "table", "r", reach, type = type,
    touched = function(c) return c.rows * row_elements(c.cols, type) end },
    { "ids", "r", footprint.vector("rows"), type = "i32" } }
  if scales then
    table.insert(operands, 3, { "scale", "r", of_scales, touched = footprint.product("rows") })
  end
  of_tables[name] = {
    constants = "rows cols ldy " .. constants, operands = operands,
    cost = row_entries.each(of.block and 16 or 8),
    body = ("attn2c_embed%s(y, table, %sids, %s, ${rows}, ${cols}, ${ldy}%s)"):format(suffix,
      scales and "scale, " or "", packing, of.block and ", ATTN2C_" .. type:upper() or ""),
    equation = ("y[i] = %s%s%s"):format(scales and "scale[ids[i]] " or "", row,
      not scales and type ~= "f32" and ", as float" or ""),
  }
end

for _, type in ipairs(words.append(words.append({}, types.of_weights), types.scaled)) do
  local name = type.name == "f32" and "" or "_" .. type.name
  declare("embed" .. name, type.name, "groups", "attn2c_table_rows(${groups})", of_rows(type.name), "table[ids[i]]")
  declare("embed_panels" .. name, type.name, "groups panel count tail rest",
    ("attn2c_table_panels(${groups}, %d, ${panel}, ${count}, ${tail}, ${rest})"):format(type.start or 0),
    of_panels(type.name), "output ids[i] of the panels of table")
end

return of_tables
