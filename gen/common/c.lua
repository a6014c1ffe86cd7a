-- c.lua: writes strings, comments, numbers and a step's operands as C.
local symbols = require("common.symbols")

local c = {}

--- Returns a string literal. All characters except plain printable ASCII are escaped.
function c.string(text)
  if not text:find("[^%w_.]") then return '"' .. text .. '"' end
  return '"' .. text:gsub('[^%w %.%-_/%[%]():,=·]', function(character)
    return ("\\%03o"):format(character:byte())
  end):gsub("[\128-\255]", function(byte) return ("\\%03o"):format(byte:byte()) end) .. '"'
end

--- Returns the text made safe for a comment: it cannot end the comment, and no backslash continues a line.
function c.comment(text) return (text:gsub("[%c\\]", "?"):gsub("%*/", "* /"):gsub("/%*", "/ *")) end

--- Returns a C literal that reads back as exactly this double.
function c.double(value)
  if value ~= value then return "0.0 / 0.0" end
  local text = ("%.17g"):format(value)
  if not text:find("[%.eni]") then text = text .. ".0" end
  return text
end

-- Returns `text` plus the terms of an operand; symbols with the same stride are multiplied by it together.
local function with_terms(text, operand, unit)
  local strides, alike = {}, {}
  for _, symbol in ipairs(operand.terms and symbols or {}) do
    local stride = operand.terms[symbol]
    if stride and not alike[stride] then strides[#strides + 1], alike[stride] = stride, {} end
    if stride then table.insert(alike[stride], symbol) end
  end
  for _, stride in ipairs(strides) do
    local sign, size, list = stride < 0 and "-" or "+", math.abs(stride) // unit, alike[stride]
    local sum = #list == 1 and list[1] or "(" .. table.concat(list, " + ") .. ")"
    if size == 1 and stride > 0 then sum = table.concat(list, " + ") end
    text = ("%s %s %s%s"):format(text, sign, sum, size == 1 and "" or " * " .. size)
  end
  return text
end

function c.plus(pointer, elements) return elements == 0 and pointer or ("%s + %d"):format(pointer, elements) end

--- Returns the pointer expression of an operand, `offset` bytes after the pointer `base`, apart from the operand's
--- terms. unit: the bytes per element of the base pointer. cast: { type = C type, bytes = bytes per element } if the
--- operand's elements have another type than the base pointer's, else nil.
function c.pointer(operand, base, offset, unit, cast)
  if cast then
    assert(offset % cast.bytes == 0, operand.buffer)
    local constant = operand.class == "weight" and "const " or ""
    return with_terms(c.plus(("(%s%s *)%s"):format(constant, cast.type, base), offset // cast.bytes), operand,
      cast.bytes)
  end
  assert(offset % unit == 0, operand.buffer)
  return with_terms(c.plus(base, offset // unit), operand, unit)
end

--- Returns a symbol plus an integer: "keys - 1".
function c.sized(symbol, plus)
  if plus == 0 then return symbol end
  return ("%s %s %d"):format(symbol, plus < 0 and "-" or "+", math.abs(plus))
end

--- Returns the integer expression of a value operand. base: the array of the caller that it may be in; unit: the bytes
--- of its elements.
function c.value(operand, base, unit)
  if operand.value then return tostring(operand.value) end
  if operand.symbol then return c.sized(operand.symbol, operand.plus) end
  local index = with_terms(tostring(operand.offset // unit), operand, unit):gsub("^0 %+ ", "")
  local text = ("%s[%s]"):format(base, index)
  if operand.plus > 0 then text = text .. " + " .. operand.plus end
  if operand.plus < 0 then text = text .. " - " .. -operand.plus end
  return text
end

return c
