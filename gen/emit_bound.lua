-- emit_bound: what a call of the model is made of, for its bound (runtime/bound.h): each
-- distinct product without its epilogue, each kernel of attention, each row operation, and
-- how often a call runs it. Row operations become thunks on scratch memory.
local c = require("c")
local plan = require("plan")
local schedule = require("schedule")
local steps = require("steps")
local words = require("words")

local emit_bound = {}

-- Distinct products, in order of their first appearance.
local function products_of(state)
  local list, by_name = {}, {}
  for _, segment in ipairs(state.plan.entries[1].segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          if group.key then
            local shape = group.head.operands.weight.shape
            local product = by_name[group.key]
            if not product then
              product = { name = group.key, outputs = shape[1], inputs = shape[2], tokens = segment.rows, calls = 0,
                ldb = state.plan.storage[group.head.operands.x.name].leading_dimension,
                ldc = plan.leading_dimension(shape[1], state.plan.parameters) }
              by_name[group.key] = product
              list[#list + 1] = product
            end
            product.calls = product.calls + segment.repeats
          end
        end
      end
    end
  end
  return list
end

-- Calls visit(step, times) for each call of the first shipped program.
local function each_call(state, visit)
  local ship
  for _, program in ipairs(state.programs) do if program.variant == "ship" then ship = ship or program end end
  local inside = 1
  schedule.each(ship, function(step, _, segment)
    if step.form == "begin" then inside = step.count
    elseif step.form == "finish" then inside = 1
    elseif schedule.is_call(step) then visit(step, segment.repeats * inside) end
  end)
end

-- Floats that a row operation may touch behind each of its pointers: rows (or columns, where it turns them) times the
-- longest leading dimension.
local function extent(step)
  local constants, rows, longest = step.constants, 1, 1
  for _, name in ipairs { "rows", "cols" } do rows = math.max(rows, constants[name] or 1) end
  for name, value in pairs(constants) do
    if name:find("^ld") or name == "cols" or name == "head_dim" then longest = math.max(longest, value) end
  end
  if step.form == "map" then
    rows = constants.rows
    for _, part in ipairs(step.parts) do longest = math.max(longest, part.ld or 0) end
  elseif step.fn ~= "transpose" and step.fn ~= "context_repair" and not step.fn:find("^pool") then
    rows = constants.rows
  elseif step.fn:find("^pool") then
    rows = 4096 -- at most; only the rows that are asked for are touched
  end
  return words.round_up(rows * longest, 16) + 16 -- not all at the same place of a page
end

-- The rows that a pool goes over; of other operations, columns.
local function full_value(name, step, state)
  if name == "row" then return 0 end
  if name == "rows" then return state.spec.seq end
  return step.constants.cols
end

local function row_of(step, state)
  local each, at, list = extent(step), 0, {}
  local function pointer(type_)
    list[#list + 1] = (type_ and "(%s *)(x + %d)" or "x + %d"):format(type_ or at, at)
    at = at + each
  end
  if step.form == "map" then
    for _, argument in ipairs(step.arguments) do pointer(argument[4]) end
  else
    for _, argument in ipairs(steps.rows[step.fn].arguments) do
      if step.arguments[argument[1]] then
        if argument[2] == "value" then
          list[#list + 1] = tostring(full_value(argument[1], step, state))
        else
          pointer(argument.type)
        end
      end
    end
  end
  return { name = step.function_name, call = ("%s(%s);"):format(step.function_name, table.concat(list, ", ")),
    floats = at, calls = 0 }
end

local function kernel_of(step)
  local k, batch = step.kernel, step.batch
  return { name = ("attention %d x %d x %d"):format(k.m, k.n, k.k * batch.count), kernel = step.kernel_index,
    count = batch.count, a = batch.a, b = batch.b, calls = 0 }
end

--- The values of the templates: bound_products, bound_kernels, bound_rows, each with calls as a C double.
function emit_bound.values(state)
  local kernels, rows, by_key = {}, {}, {}
  each_call(state, function(step, times)
    local key, list, make
    if step.form ~= "product" then
      key, list, make = step.function_name, rows, row_of
    elseif step.region.kind == "attention" then
      key, list, make = ("%d %s"):format(step.kernel_index, step.batch_name), kernels, kernel_of
    else
      return
    end
    if not by_key[key] then
      by_key[key] = make(step, state)
      list[#list + 1] = by_key[key]
    end
    by_key[key].calls = by_key[key].calls + times
  end)
  local products = products_of(state)
  for _, list in ipairs { products, kernels, rows } do
    for _, part in ipairs(list) do part.calls = c.double(part.calls + 0.0) end
  end
  return { bound_products = products, bound_kernels = kernels, bound_rows = rows }
end

return emit_bound
