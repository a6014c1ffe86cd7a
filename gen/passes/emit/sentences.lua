-- sentences.lua: writes the comment above each function of N_ops.c: its equation and its constants.
-- Every constant that the equation does not name is in the comment, so functions that differ have different comments.
-- Panel loops are the exception: their code says what they call.
local operands = require("data.operands")
local steps = require("data.steps")
local types = require("data.types")

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

-- Returns a remark on the weights that a tile fetches, counted in inputs from its panel's first: its own, or the next
-- ones.
local function fetched(step)
  local from, upto
  for _, call in ipairs(step.calls) do
    if call.fetch then
      local last = call.fetch.from + types.LINE * call.fetch.lines
      from, upto = math.min(from or call.fetch.from, call.fetch.from), math.max(upto or last, last)
    end
  end
  if not from then return "fetches nothing" end
  from, upto = types.elements(from, step.kernel.types.a), types.elements(upto, step.kernel.types.a)
  local panel = step.kernel.k * step.kernel.lda
  local what = from >= panel and "after the panel" or upto > panel and "of the panel and after it" or "of the panel"
  return ("fetches a[%d:%d], %s"):format(from, upto, what)
end

-- Returns the number of inputs that the first strip of rows sums over before the next strip begins.
local function k_panel_of(calls)
  local inputs = 0
  for _, call in ipairs(calls) do
    if call.c ~= calls[1].c then break end
    inputs = inputs + call.kernel.k * call.batch.count
  end
  return inputs
end

--- Returns the comment of a tile of several kernel calls.
function sentences.tile(step)
  local shape, calls = step.kernel, step.calls
  local first = calls[1]
  local inputs = first.kernel.k .. (first.batch.count > 1 and " x " .. first.batch.count or "")
  return joined(("C[%d][%d] = B[%d][%d] A[%d][%d]; lda %d, ldb %d, ldc %d"):format(shape.n, shape.m, shape.n, shape.k,
    shape.k, shape.m, shape.lda, shape.ldb, shape.ldc), {
    ("%d calls of %d rows and %s inputs"):format(#calls, first.kernel.n, inputs),
    ("%d inputs of all rows at a time"):format(k_panel_of(calls)), fetched(step) })
end

-- Returns "2 x 9 and 1 x 8 rows" for shares { count, size }.
local function divided(shares, what)
  local list = {}
  for i, share in ipairs(shares) do list[i] = ("%d x %d"):format(share.count, share.size) end
  return table.concat(list, " and ") .. " " .. what
end

--- Returns the comment of a product in C: its equation, how its rows and outputs are divided, exceptions of its
--- strips, and the weights that it prefetches.
function sentences.product(step)
  local k = operands.named(step.kernel)
  local list = { k.strips.is_open and ("at most %d rows by %s"):format(k.strips.strips[1].size,
    divided(k.strips.groups, "vectors")) or divided(k.strips.strips, "rows") .. " by "
    .. divided(k.strips.groups, "vectors") }
  if k.strips.step then list[#list + 1] = ("in tiles, %d inputs a step"):format(k.strips.step) end
  if k.strips.rows_held then list[#list + 1] = "rows stay in registers" end
  if not k.a_room then list[#list + 1] = ("only %s floats of a row of A are read"):format(k.m) end
  if k.fetch and k.fetch.by_strips then
    list[#list + 1] = "prefetches by its number of strips"
  elseif k.fetch then
    list[#list + 1] = ("each prefetches %d lines every %d inputs, from %d bytes ahead + %d a strip"):format(
      k.fetch.lines, k.fetch.every, k.fetch.from, k.fetch.each)
  end
  return joined(("C[%s][%s] %s= B[%s][%s] A[%s][%s]; lda %d, ldb %d, ldc %d"):format(k.n, k.m,
    k.beta == 0 and "" or "+", k.n, k.k, k.k, k.m, k.lda, k.ldb, k.ldc):gsub("%] =", "] ="), list)
end

--- Returns the comment of a panel loop.
function sentences.series(each)
  local k = operands.named(each.calls[1].step.kernel)
  local m = each.count * k.m
  return ("C[%s][%d] = B[%s][%d] A[%d][%d] in %d panels of %d outputs, each with its epilogue"):format(k.n, m,
    k.n, k.k, k.k, m, each.count, k.m)
end

return sentences
