-- step_text.lua: writes a step as one line of text, for the dumps of the passes.
local operands = require("data.operands")
local words = require("common.words")

local step_text = {}

-- Returns an operand as text: buffer+offset+b*stride.
local function operand_text(operand)
  if operand.value then return tostring(operand.value) end
  local text = operand.buffer .. "+" .. operand.offset
  for _, symbol in ipairs { "s", "b" } do
    if operand.terms and operand.terms[symbol] then text = text .. ("+%s*%d"):format(symbol, operand.terms[symbol]) end
  end
  if operand.is_value then text = ("[%s]%+d"):format(text, operand.plus) end
  return text
end

local formats = {}

function formats.note(step) return "# " .. step.text end
function formats.begin(step) return ("for %s < %d"):format(step.symbol, step.count) end
function formats.finish(step) return "end " .. step.symbol end

function formats.product(step)
  local k = step.kernel
  local sum = step.calls and ("%d calls"):format(#step.calls)
    or ("%d (%d, %d)"):format(step.batch.count, step.batch.a, step.batch.b)
  return ("product m%d n%d k%d lda%d ldb%d ldc%d beta%d x %s  %s  %s  %s"):format(k.m, k.n, k.k, k.lda, k.ldb, k.ldc,
    k.beta, sum, operand_text(step.arguments.a), operand_text(step.arguments.b),
    operand_text(step.arguments.c))
end

function formats.map(step)
  local texts = {}
  for _, operation in ipairs(step.elementwise) do texts[#texts + 1] = operation.fn or operation.kind end
  local text = ("%s %dx%d ld%d"):format(table.concat(texts, "+"), step.constants.rows, step.constants.cols,
    step.constants.ld)
  operands.each(step, function(operand) text = text .. "  " .. operand_text(operand) end)
  return text
end

function formats.row(step)
  local texts = { step.fn }
  for _, name in ipairs(words.sorted_keys(step.constants)) do
    local value = step.constants[name]
    texts[#texts + 1] = ("%s=%s"):format(name, math.type(value) == "float" and ("%.9g"):format(value)
      or tostring(value))
  end
  for _, name in ipairs(words.sorted_keys(step.arguments)) do
    texts[#texts + 1] = (" %s=%s"):format(name, operand_text(step.arguments[name]))
  end
  return table.concat(texts, " ")
end

--- Returns a step as one line of text.
function step_text.of(step) return formats[step.form](step) end

return step_text
