-- same_numbers.lua: tells which weights have the same numbers, whatever their names are.
local dump = require("common.dump")
local headers = require("common.headers")
local words = require("common.words")

local same_numbers = {}

-- Returns the names of a stored tensor among which a checkpoint's is found: the one that it has, or all. tensors: the
-- checkpoint's by name, or nil. Copies, with equal bytes, have one name, which is kept as the tensor's `copy_of`.
local function names_of(stored, tensors)
  local found, copy
  for _, name in ipairs(tensors and stored.names or {}) do
    local tensor = tensors[name]
    found = found or tensor
    if tensor and headers.are_equal(found, tensor) then copy = tensor.copy_of or name end
  end
  if not found then return stored.names end
  found.copy_of = found.copy_of or copy
  return { found.copy_of }
end

--- Returns what a weight is, apart from its name, as text: its place in a checkpoint, or a constant's formula, which
--- may be of another weight; nil: unknown. state: has the checkpoint, if it is known.
function same_numbers.contents(state, tensor)
  local of = tensor.scales_of or tensor.order_of
  if of then return ("%s %s"):format(tensor.formula:match("^%S+"), same_numbers.contents(state, of)) end
  if tensor.formula or not tensor.from then return tensor.formula end
  return dump.table { views = tensor.from.views, stored = words.map(tensor.from.stored, function(stored)
    return { names = names_of(stored, state.checkpoint), shape = stored.shape }
  end) }
end

-- True if a weight's rows and columns are as the checkpoint has them.
local function is_in_order(tensor) return not (tensor.in_groups or tensor.row_order or tensor.order_like) end

--- True if two weights of a model are the same tensor of a checkpoint, in the same shape, before they are rounded.
function same_numbers.are_one(state, a, b)
  if a.kind ~= "weight" or b.kind ~= "weight" or a.experts or b.experts then return false end
  if words.shape(a.shape) ~= words.shape(b.shape) or not (is_in_order(a) and is_in_order(b)) then return false end
  local contents = same_numbers.contents(state, a)
  return contents ~= nil and contents == same_numbers.contents(state, b)
end

--- True if both also have the same type and the same factors, so that they are the same bytes in the same layout.
function same_numbers.when_packed(state, a, b)
  return a.type == b.type and dump.table(a.factors or {}) == dump.table(b.factors or {})
    and not a.is_zero and not b.is_zero and same_numbers.are_one(state, a, b)
end

return same_numbers
