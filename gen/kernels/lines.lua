-- lines.lua: joins lines of C, and puts them into blocks.
local lines = {}

--- Appends lines to a list, each after an indent, if it is given. Returns the list.
function lines.append(list, more, indent)
  for _, line in ipairs(more) do list[#list + 1] = (indent or "") .. line end
  return list
end

--- Returns the lines of a block. opening: what is before its brace; otherwise: the lines of its else, or nil.
function lines.block(opening, body, otherwise)
  local list = lines.append({ opening .. " {" }, body, "  ")
  if otherwise then
    list[#list + 1] = "} else {"
    lines.append(list, otherwise, "  ")
  end
  list[#list + 1] = "}"
  return list
end

return lines
