-- measure.lua: times a model's products within the model.
-- The model is emitted with given tile parameters, built and profiled. So weights are at their real places, epilogues
-- run, and a product's time is that of its ops in all layers.
local build = require("commands.build")
local common_words = require("common.words")
local faults = require("common.faults")
local json = require("common.json")
local pipeline = require("pipeline")
local plan = require("passes.plan")
local process = require("common.process")
local recipe = require("commands.build.recipe")
local targets = require("data.targets")
local types = require("data.types")
local all_regions = require("passes.common.regions")
local words = require("common.words")

local measure = {}

local TOKENS = 128 -- of the call of a model of any length
local PROMPT = 64  -- tokens of a prompt of a model that continues, before which `bench` decodes

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
  local fixed = common_words.merged(entry.spec.plan)
  local layouts, chosen_by = entry.weights.layouts, entry.weights.chosen_by
  if chosen_by[weight.name] ~= entry.name then fixed.panel = layouts[weight.name].panel end
  if entry.spec.kernels ~= "auto" then fixed.kernels = entry.spec.kernels end
  return fixed
end

local function add_ops(list, fusion)
  list[#list + 1] = fusion.leading
  common_words.append(list, fusion.epilogue, fusion.ends)
end

--- Returns the products of a planned state by key, and in order: { key, outputs, inputs, rows, flops, choice, main,
--- decides, ops, fixed, types, is_open, bytes }.
---
---   choice    the parameters that it was planned with; the token block is that of the main product
---   main      the key of its region's main product
---   types     of its operands; nil if its panels are of groups
---   is_open   whether only a call knows its rows
---   is_continued  whether calls may have one row: the model writes
---   bytes     of all weights that it, and no product before it, is multiplied by
---   count     in how many places the model has it
---   decides   the ops of the regions whose token block is this product's
---   ops       its own ops with its epilogue, which some kernels compute in the same call and others in separate calls
function measure.products(state)
  local products, order, is_counted = {}, {}, {}
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
            count = 0, bytes = 0, types = not weight.groups and fusion.types or nil, is_open = region.loop ~= nil,
            is_continued = entry.spec.symbols.past.is_open, decides = {}, ops = {}, main = main.key,
            least_panel = 2 * targets.by_name[state.spec.target].vector, choice = own, fixed = fixed }
          own.token_block = main.parameters.token_block
          products[fusion.key] = product
          order[#order + 1] = product
        end
        product.flops, product.count = product.flops + fusion.leading.flops, product.count + 1
        if not is_counted[weight.name] then
          is_counted[weight.name] = true
          product.bytes = product.bytes + types.bytes(product.outputs * product.inputs, weight.type)
        end
        add_ops(product.ops, fusion)
      end
    end
    if main then
      for _, fusion in ipairs(region.fusions) do add_ops(products[main.key].decides, fusion) end
    end
  end)
  return products, order
end

--- Emits a model with these choices. Returns the finished pipeline. is_draft: no checker runs.
function measure.emit(root, arguments, overrides, choices, is_draft)
  return pipeline.run(root, arguments.description, overrides, nil,
    { tuning = { set = { choices = choices, hash = "candidate" } }, unchecked = is_draft, watch = process.poll,
      rates = arguments.rates })
end

--- Compiles what all models share, so that other builds only compile what is their own.
function measure.prepare(root, state, folder) build.make(state, folder, root, { only = recipe.runtime(state.spec) }) end

--- Emits and builds a model with these choices in a folder. Returns { state, folder, products }. is_draft: unchecked.
function measure.build(root, arguments, overrides, choices, folder, is_draft)
  local state = measure.emit(root, arguments, overrides, choices, is_draft)
  build.make(state, folder, root, { only = true })
  local products = measure.products(state)
  return { state = state, folder = folder, products = products }
end

-- Reads what `bench --profile -o json` printed. Returns the calls: { { tokens, times = of each op, in ms } }. A model
-- that continues has a call for each of its numbers of tokens, any other one with the ops of all entries. length: the
-- tokens of a model of any length, or nil.
local function calls_of(text, is_continued, length)
  local calls = {}
  for line in text:gmatch("[^\n]+") do
    local row = json.decode(line)
    if is_continued or #calls == 0 then calls[#calls + 1] = { times = {}, tokens = row.tokens or length } end
    local times = calls[#calls].times
    for _, each in ipairs(row.profile.results) do times[#times + 1] = each.ms_min end
  end
  return calls
end

--- Runs a built model, of any length with a sequence of 128 tokens. Returns { ms, all_ms, of = key -> { own, region,
--- ms } }, least times in ms: of a call, of all calls, of each product, and of the regions whose token block the
--- product decides; ms: of the product with all its rows. A call's time is the sum of its ops' least times, which a
--- busy machine disturbs less than whole calls. A model that continues has calls of one token and of several: ms, own
--- and region are their geometric means, as each is as important as the others.
--- options:
---   repetitions
---   is_verified      whether calls are compared with the trace variant first
---   cold_megabytes   bytes that are read before each call, so that no cache has the weights; or nil
function measure.run(built, options)
  local program = "./" .. built.folder .. "/" .. built.state.spec.name
  local spec = built.state.spec
  local command = { program, "bench", "--profile", "-o", "json", "-r", ("%d"):format(options.repetitions) }
  if not options.is_verified then command[#command + 1] = "--brief" end
  local cold = options.cold_megabytes
  if cold then common_words.append(command, { "--cold", ("%d"):format(cold) }) end
  local tokens, usual = spec.symbols.tokens, spec.symbols.past.is_open and PROMPT or TOKENS
  local length = tokens.is_open and math.min(tokens.most, math.max(spec.least, usual))
  if length then common_words.append(command, { "--length", ("%d"):format(length) }) end
  local child = process.run { gather = "output", words = command }
  if child.signal ~= 0 then faults.raise("machine", "%s was ended by signal %d", program, child.signal) end
  for kind, number in pairs(faults.code) do
    if child.code == number then faults.raise(kind, program .. ": not timed: its message is above") end
  end
  local result, ops = { of = {} }, {}
  for _, entry in ipairs(built.state.entries) do common_words.append(ops, entry.graph.entry.ops) end
  local calls, longest = calls_of(child.output, spec.symbols.past.is_open, length or nil), nil
  for _, call in ipairs(calls) do
    assert(#call.times == #ops, "the profile has another form")
    call.of = {}
    for i, op in ipairs(ops) do call.of[op] = call.times[i] end
    if not longest or (call.tokens or 0) > (longest.tokens or 0) then longest = call end
  end
  assert(longest, "the profile has another form")
  local function sum(call, list)
    return words.sum(list, function(op) return call.of[op] end)
  end
  local function mean(list)
    local logarithms = words.sum(calls, function(call) return math.log(sum(call, list)) end)
    return math.exp(logarithms / #calls)
  end
  result.ms, result.all_ms = mean(ops), 0
  for _, call in ipairs(calls) do result.all_ms = result.all_ms + sum(call, ops) end
  for key, product in pairs(built.products) do
    local rows = product.flops / (2 * product.outputs * product.inputs * product.count)
    local each = rows / (spec.sequences or 1) -- of a sequence; a pooled row, or that of logits, is one
    local ran = longest.tokens and each >= tokens.most and each * longest.tokens / tokens.most or each
    result.of[key] = { own = mean(product.ops), region = mean(product.decides),
      ms = rows / ran * sum(longest, product.ops) }
  end
  return result
end

return measure
