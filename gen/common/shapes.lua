-- shapes.lua: shapes that are made from others.
local shapes = {}

--- Returns the rows of a shape: the product of all sizes but the last.
function shapes.rows(shape)
  local n = 1
  for i = 1, #shape - 1 do n = n * shape[i] end
  return n
end

function shapes.with_last(shape, last)
  local result = table.move(shape, 1, #shape - 1, 1, {})
  result[#shape] = last
  return result
end

--- Returns a shape whose rows are `times` as wide.
function shapes.widened(shape, times) return shapes.with_last(shape, shape[#shape] * times) end

return shapes
