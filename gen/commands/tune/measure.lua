-- measure.lua: times a model's products within the model.
-- The model is emitted with given tile parameters, built and profiled. So weights are at their real places, epilogues
-- run, and a product's time is that of its ops in all layers.
local build = require("commands.build")
local faults = require("common.faults")
local pipeline = require("pipeline")
local plan = require("passes.plan")
local process = require("common.process")
local targets = require("data.targets")
local types = require("data.types")
local all_regions = require("passes.common.regions")

local measure = {}

-- Visits the regions of rows of all entries, the longest first: visit(region, segment, entry).
local function each_region(state, visit)
  for i = #state.entries, 1, -1 do
    for region, segment in all_regions(state.entries[i].plan.segments) do
      if region.kind == "rows" then visit(region, segment, state.entries[i]) end
    end
  end
end

-- Returns the parameters of a product that are fixed: those that the description gives, and the panels of a weight that
-- another entry has chosen.
local function fixed_of(entry, weight)
  local fixed = {}
  for name, value in pairs(entry.spec.plan) do fixed[name] = value end
  local layouts, chosen_by = entry.weights.layouts, entry.weights.chosen_by
  if chosen_by[weight.name] ~= entry.name then fixed.panel = layouts[weight.name].panel end
  if entry.spec.kernels ~= "auto" then fixed.kernels = entry.spec.kernels end
  return fixed
end

-- Appends the ops of a fusion.
local function add_ops(list, fusion)
  list[#list + 1] = fusion.leading
  table.move(fusion.epilogue, 1, #fusion.epilogue, #list + 1, list)
  table.move(fusion.ends, 1, #fusion.ends, #list + 1, list)
end

--- Returns the products of a planned state by key, and in order: { key, outputs, inputs, rows, flops, choice, main,
--- decides, ops, fixed, types, is_open, bytes }.
---
---   choice    the parameters that it was planned with; the token block is that of the main product
---   main      the key of its region's main product
---   types     of its operands; nil if its panels are those of groups
---   is_open   whether only a call knows its rows
---   bytes     of all weights that it is multiplied by
---   decides   the ops of the regions whose token block is this product's
---   ops       its own ops with its epilogue, which some kernels compute in the same call and others in separate calls
function measure.products(state)
  local products, order = {}, {}
  each_region(state, function(region, segment, entry)
    local main = plan.main_product(region)
    for _, fusion in ipairs(region.fusions) do
      if fusion.key then
        local product, weight = products[fusion.key], fusion.leading.operands.weight
        if not product then
          local shape = weight.shape
          local own, fixed = entry.parameters.of(fusion.key, weight), fixed_of(entry, weight)
          own.panel, own.kernels = fixed.panel or own.panel, entry.parameters.provider(fusion.key)
          product = { key = fusion.key, outputs = shape[1], inputs = shape[2], rows = segment.rows, flops = 0,
            bytes = 0, types = not weight.groups and fusion.types or nil, is_open = region.loop ~= nil, decides = {},
            ops = {}, main = main.key, least_panel = 2 * targets.by_name[state.spec.target].vector,
            choice = own, fixed = fixed }
          own.token_block = main.parameters.token_block
          products[fusion.key] = product
          order[#order + 1] = product
        end
        product.flops = product.flops + fusion.leading.flops
        product.bytes = product.bytes + types.bytes(product.outputs * product.inputs, weight.type)
        add_ops(product.ops, fusion)
      end
    end
    if main then
      for _, fusion in ipairs(region.fusions) do add_ops(products[main.key].decides, fusion) end
    end
  end)
  return products, order
end

--- Emits and builds a model with these choices in a folder. Returns { state, folder, products }.
function measure.build(root, arguments, overrides, choices, folder)
  local state = pipeline.run(root, arguments.description, overrides, nil,
    { tuning = { set = { choices = choices, hash = "candidate" } }, watch = process.poll })
  build.make(state, folder, root, { only = state.spec.name })
  local products = measure.products(state)
  return { state = state, folder = folder, products = products }
end

-- Returns the fields of a line of csv whose names need no quotes.
local function fields_of(line)
  local list = {}
  for field in (line .. ","):gmatch("([^,]*),") do list[#list + 1] = field end
  return list
end

--- Runs a built model, of any length with its longest sequence. Returns { ms, of = key -> { own, region } }, least
--- times in ms: of a call, of each product, and of the regions whose token block the product decides. A call's time is
--- the sum of its ops' least times, which a busy machine disturbs less than whole calls.
function measure.run(built, repetitions)
  local program = "./" .. built.folder .. "/" .. built.state.spec.name
  local spec = built.state.spec
  local command = { program, "bench", "--profile", "-o", "csv", "-r", ("%d"):format(repetitions) }
  if spec.any then table.move({ "--length", ("%d"):format(spec.seq) }, 1, 2, #command + 1, command) end
  local child = process.run { gather = "output", words = command }
  if child.signal ~= 0 then faults.raise("machine", ("%s was ended by signal %d"):format(program, child.signal)) end
  for kind, number in pairs(faults.code) do
    if child.code == number then faults.raise(kind, program .. ": not timed: its message is above") end
  end
  local result, time_of, row = { ms = 0, of = {} }, {}, 0
  local ops = {}
  for _, entry in ipairs(built.state.entries) do
    local list = entry.graph.entry.ops
    table.move(list, 1, #list, #ops + 1, ops)
  end
  for line in child.output:gmatch("[^\n]+") do
    local fields = fields_of(line)
    if fields[2] == "result" then
      row = row + 1
      time_of[ops[row]] = tonumber(fields[9])
      result.ms = result.ms + tonumber(fields[9])
    end
  end
  assert(row == #ops, "the profile has another form")
  local function sum(list)
    local total = 0
    for _, op in ipairs(list) do total = total + time_of[op] end
    return total
  end
  for key, product in pairs(built.products) do
    result.of[key] = { own = sum(product.ops), region = sum(product.decides) }
  end
  return result
end

return measure
