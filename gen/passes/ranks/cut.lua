-- cut.lua: cuts a rank's part out of a weight or constant: its shape, the boxes that it is read from, its formula.
local words = require("common.words")

local cut = {}

-- Returns a box that is cut to rows (columns) [from, from + count) of its weight, which are at `to` on the rank; nil if
-- nothing is left.
local function cut_box(view, names, from, count, to)
  local at, size, step = table.unpack(names)
  local first = math.max(view[at], from)
  local stop = math.min(view[at] + view[size], from + count)
  if first >= stop then return nil end
  local own = words.merged(view)
  own.first = view.first + (first - view[at]) * view[step]
  own[at], own[size] = first - from + to, stop - first
  return own
end

local fields = { { "row", "rows", "row_step" }, { "column", "columns", "column_step" } }

-- Functions by the first word of a formula: the formula of elements [from, from + count) of an axis of a constant.
local formulas = {}

function formulas.alibi(tensor, _, from) return ("%s %d %d"):format(tensor.formula, from, tensor.shape[1]) end

formulas.alibi_of = formulas.alibi

function formulas.list(tensor, _, from, count)
  local list = {}
  for number in tensor.formula:gmatch("%S+", 5) do list[#list + 1] = number end
  return "list " .. table.concat(list, " ", from + 1, from + count)
end

function formulas.scales(tensor) return tensor.formula end

function formulas.order(tensor) return tensor.formula end

--- Returns elements [from, from + count) of an axis of a weight or constant, as a tensor of its own. For a weight of
--- experts, it takes these rows of each expert.
function cut.tensor(tensor, axis, from, count)
  local own, experts = words.merged(tensor), axis == 1 and tensor.experts or 1
  local all = tensor.shape[axis] // experts
  own.shape = table.move(tensor.shape, 1, #tensor.shape, 1, {})
  own.shape[axis] = experts * count
  own.cut = { of = tensor, axis = axis, from = from, experts = experts }
  if tensor.formula then
    own.formula = formulas[tensor.formula:match("^%S+")](tensor, axis, from, count)
    own.values = tensor.values and table.move(tensor.values, from + 1, from + count, 1, {})
    return own
  end
  if tensor.row_order and axis == 1 then return own end -- its rows are among all rows
  own.from = { stored = tensor.from.stored, views = {} }
  local at, size = table.unpack(fields[axis])
  for _, view in ipairs(tensor.from.views) do
    for expert = view[at] // all, (view[at] + view[size] - 1) // all do
      table.insert(own.from.views, cut_box(view, fields[axis], expert * all + from, count, expert * count))
    end
  end
  return own
end

--- Returns a weight of zeros, in place of one that another rank adds.
function cut.zeros(tensor)
  local own = words.merged(tensor)
  own.is_zero = true
  return own
end

return cut
