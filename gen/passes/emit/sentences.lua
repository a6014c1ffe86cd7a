-- sentences.lua: writes the comment above each function of N_ops.c: its equation and its constants.
-- Every constant that the equation does not name is in the comment, so functions that differ have different comments.
-- Panel loops are the exception: their code says what they call.
local kernel_text = require("passes.common.kernel_text")
local libxsmm = require("kernels.libxsmm")
local operands = require("data.operands")
local steps = require("data.steps")

local sentences = {}

local WIDTH = 112

-- Returns an equation and its remarks; the remarks get a line of their own if both do not fit one line.
local function joined(equation, list)
  if #list == 0 then return equation end
  local rest = table.concat(list, ", ")
  return equation .. (#equation + #rest > WIDTH and "\n * " or "; ") .. rest
end

--- Returns the comment of a row operation. absent: the declared operands that the call leaves out.
function sentences.row(step, absent)
  local form, list, named = steps.rows[step.fn], {}, operands.named(step.constants)
  for _, name in ipairs(form.constants) do
    if not form.equation:find("${" .. name .. "}", 1, true) and named[name] ~= name then
      list[#list + 1] = name .. " " .. steps.constant(named[name])
    end
  end
  for _, name in ipairs(absent) do list[#list + 1] = "no " .. name end
  return joined(steps.fill(form.equation, named), list)
end

--- Returns the comment of a map: its operations, each applied to the result of the one before.
function sentences.map(step)
  local k = operands.named(step.constants)
  local equation, list = "y[i][j]", {}
  for _, name in ipairs { "rows", "cols", "ld" } do
    if k[name] ~= name then list[#list + 1] = ("%s %d"):format(name, k[name]) end
  end
  if #list == 3 then list = { table.concat(list, ", ") } end
  for _, operation in ipairs(step.elementwise) do
    local meaning = steps.elementwise[operation.kind].equation
    local names_ld = meaning:find("${ld}", 1, true)
    if operation.argument then meaning = meaning:format(operation.argument) end
    meaning = steps.fill(meaning, steps.constants_of(operation))
    equation = steps.elementwise[operation.kind].loads and operation.argument .. "[i][j]"
      or meaning:gsub("%f[%w]v%f[%W]", function() return equation end, 1)
    if operation.ld and not names_ld then list[#list + 1] = ("ld of %s %d"):format(operation.argument, operation.ld) end
  end
  return joined("y[i][j] = " .. equation, list)
end

--- Returns the comment of a product: its equation, its strips, the weights that it prefetches, and the calls of libxsmm
--- that make it, if any.
function sentences.product(step, calls)
  local k = operands.named(step.kernel)
  local list = { kernel_text.strips(k.strips) }
  if not k.a_room then list[#list + 1] = ("only %s floats of a row of A are read"):format(k.m) end
  if k.fetch then
    list[#list + 1] = k.fetch.by_strips and "each prefetches by the number of strips" or kernel_text.ahead(k.fetch)
  end
  return joined(("C[%s][%s] %s= B[%s][%s] A[%s][%s]; lda %d, ldb %d, ldc %d"):format(k.n, k.m,
    k.beta == 0 and "" or "+", k.n, k.k, k.k, k.m, k.lda, k.ldb, k.ldc):gsub("%] =", "] ="), list)
    .. (calls and "\n * by " .. libxsmm.text(calls) or "")
end

function sentences.panel_loop(each)
  local k = operands.named(each.kernel)
  local m = each.count * k.m
  return ("C[%s][%d] = B[%s][%d] A[%d][%d] in %d panels of %d outputs, each with its epilogue"):format(k.n, m,
    k.n, k.k, k.k, m, each.count, k.m)
end

return sentences
