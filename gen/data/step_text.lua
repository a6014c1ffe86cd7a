-- step_text.lua: writes a step as one line of text, for the dumps of the passes.
local operands = require("data.operands")
local symbols = require("common.symbols")
local words = require("common.words")

local step_text = {}

-- Returns an operand as text: buffer+offset+b*stride.
local function operand_text(operand)
  if operand.value then return tostring(operand.value) end
  if operand.symbol then return ("%s%+d"):format(operand.symbol, operand.plus) end
  local text = operand.buffer .. "+" .. operand.offset
  for _, symbol in ipairs(symbols) do
    local stride = operand.terms and operand.terms[symbol]
    if stride then text = text .. (stride < 0 and "-%s*%d" or "+%s*%d"):format(symbol, math.abs(stride)) end
  end
  if operand.is_value then text = ("[%s]%+d"):format(text, operand.plus) end
  return text
end

local formats = {}

function formats.note(step) return "# " .. step.text end
function formats.begin(step)
  if step.loop == "batch" then return ("for b < %d"):format(step.count) end
  return ("for %s, at most %d times"):format(step.loop, step.count)
end

function formats.finish(step) return "end " .. (step.loop == "batch" and "b" or step.loop) end

-- Returns the open sizes of a call, " rows=rows", as text.
local function sizes_text(step)
  local text = ""
  for _, name in ipairs(step.sizes and words.sorted_keys(step.sizes) or {}) do
    text = ("%s %s=%s"):format(text, name, step.sizes[name])
  end
  return text
end

function formats.product(step)
  local k = step.kernel
  return ("product m%d n%d k%d lda%d ldb%d ldc%d beta%d  %s  %s  %s%s"):format(k.m, k.n, k.k, k.lda, k.ldb, k.ldc,
    k.beta, operand_text(step.arguments.a), operand_text(step.arguments.b), operand_text(step.arguments.c),
    sizes_text(step))
end

function formats.map(step)
  local texts = words.map(step.elementwise, function(operation) return operation.fn or operation.kind end)
  local text = ("%s %dx%d ld%d"):format(table.concat(texts, "+"), step.constants.rows, step.constants.cols,
    step.constants.ld)
  operands.each(step, function(operand) text = text .. "  " .. operand_text(operand) end)
  return text .. sizes_text(step)
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
  return table.concat(texts, " ") .. sizes_text(step)
end

function step_text.of(step)
  return (step.panels and ("%d panels: "):format(step.panels.count) or "") .. formats[step.form](step)
end

return step_text
