-- declared.lua: emits the row operation of an operation of the graph as steps.lua declares it.
-- This is a method of the lowering, for steps whose operands and constants have the names that the operation has.
local steps = require("data.steps")

local declared = {}

--- Emits the row operation `fn` for an area of an operation's result: { row, rows, column, cols, origin, result = the
--- tensor that has it, if that is another }. y is the result, and weights have no rows of the area. rows and cols are
--- the area's, ldx and ldy leading dimensions, and other constants attributes. more: constants and operands that are
--- others.
function declared:row_of(fn, op, area, more)
  local entry, o, y, constants, arguments = steps.rows[fn], op.operands, area.result or op.result, {}, {}
  for _, operand in ipairs(entry.operands) do
    local name = operand[1]
    local tensor = name == "y" and y or o[name]
    arguments[name] = more and more[name]
    if tensor and not arguments[name] then
      local is_weight = tensor.kind == "weight" or tensor.kind == "constant"
      arguments[name] = self:at(tensor, is_weight and 0 or area.row, operand.type == "i32" and 0 or area.column,
        area.origin)
    end
  end
  for _, name in ipairs(entry.constants) do
    constants[name] = more and more[name]
    if constants[name] ~= nil then goto next end
    if name == "rows" or name == "cols" then
      constants[name] = area[name]
    elseif name == "ldx" or name == "ldy" then
      constants[name] = self:ld(name == "ldy" and y or o.x)
    else
      constants[name] = op.attributes[name]
    end
    ::next::
  end
  self:row(fn, constants, arguments)
end

return declared
