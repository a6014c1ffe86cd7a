-- row_entries.lua: makes entries of steps.lua for row operations. Most of them have the same operands and a usual call.
local footprint = require("data.footprint")
local words = require("common.words")

local row_entries = {}

local matrix = footprint.matrix

--- Returns the cost function of an operation that costs `element` for each of rows x cols elements.
function row_entries.each(element) return function(c) return element * c.rows * c.cols end end

--- Return the operands of rows that are written, and of rows that are read. type: of their elements, if not f32.
function row_entries.written(type) return { "y", "w", matrix("rows", "cols", "ldy"), type = type } end
function row_entries.read(type) return { "x", "r", matrix("rows", "cols", "ldx"), type = type } end

-- Returns an entry with constants, operands and the fields of `more`, whose constants and operands come after these.
local function entry_of(constants, operands, element, equation, more)
  local entry = words.merged({ cost = row_entries.each(element), equation = equation }, more)
  entry.constants = constants .. " " .. (entry.constants or "")
  entry.operands = words.append(operands, entry.operands)
  return entry
end

--- Returns an entry that makes rows y of rows x. element: the cost of an element; more: further fields, constants and
--- operands; x, y: the types of the elements of x and y, if not f32.
function row_entries.of_rows(element, equation, more, x, y)
  return entry_of("rows cols ldx ldy", { row_entries.written(y), row_entries.read(x) }, element, equation,
    more)
end

--- Returns an entry that works on a tile of scores s.
function row_entries.of_scores(element, equation, more)
  return entry_of("rows cols ld", { { "s", "rw", matrix("rows", "cols", "ld") } }, element, equation, more)
end

-- Returns an operand, which may be a text (steps.lua), as a table.
local function operand_of(given)
  if type(given) == "table" then return given end
  local name, optional, access, elements = given:match("^([%w_]+)(%??) (%w+) ?([^:]*)")
  local rows, cols, ld = elements:match("^(.*) x (.*) / (.*)$")
  local reach = rows and matrix(rows, cols, ld) or elements ~= "" and footprint.vector(elements) or nil
  return { name, access, reach, type = given:match(": (%w+)$"), optional = optional ~= "" or nil }
end

--- Makes tables of an entry's operands and a list of its constants. An entry without a body gets the usual call: of the
--- function with the operation's name, by its operands, then its constants, then integers that only a call knows.
function row_entries.complete(name, entry)
  local list, values, constants = { entry.meets and "ranks" }, {}, {}
  entry.operands = words.map(entry.operands, operand_of)
  for _, operand in ipairs(entry.operands) do table.insert(operand[2] == "value" and values or list, operand[1]) end
  for bracket, constant in entry.constants:gmatch("(%(?)([%w_]+)") do
    constants[#constants + 1] = constant
    if bracket == "" then list[#list + 1] = "${" .. constant .. "}" end
  end
  entry.constants = constants
  entry.body = entry.body or ("attn2c_%s(%s)"):format(name, table.concat(words.append(list, values), ", "))
end

return row_entries
