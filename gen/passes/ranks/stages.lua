-- stages.lua: divides the layers of a model among the stages of a pipeline, and decides what passes between them.
-- Layers are divided in a row, as evenly by the bytes of their weights as whole layers allow. Operations before a
-- layer are in its stage, those after the last layer in the last stage. A tensor that a later stage reads is
-- passed on from stage to stage. Cheap operations are repeated instead: conversions of a tensor, and what is made of
-- nothing but weights and inputs.
local divisions = require("data.divisions")
local faults = require("common.faults")
local ops = require("data.ops")
local types = require("data.types")
local words = require("common.words")

local stages = {}

-- Returns the layer to which an operation belongs, by its section; nil: to none. Rows that a layer chooses from the
-- states of the layer before have that one's name, but are made in the loop of the layer that reads them.
local function layer_of(op)
  local stack, index = op.section:match("^(.*)layer (%d+)$")
  return index and stack:gsub(" ", ".") .. "l" .. index
end

-- Returns the layers of a graph in order, and the bytes of the weights of each, by name.
local function layers_of(graph)
  local list, bytes, seen = {}, {}, {}
  for _, op in ipairs(graph.entry.ops) do
    local layer = layer_of(op)
    if layer and not bytes[layer] then list[#list + 1], bytes[layer], seen[layer] = layer, 0, {} end
    for _, tensor in pairs(layer and op.operands or {}) do
      if tensor.kind == "weight" and not seen[layer][tensor.name] then
        seen[layer][tensor.name] = true
        bytes[layer] = bytes[layer] + types.number_bytes(words.elements(tensor.shape), tensor.type)
      end
    end
  end
  return list, bytes
end

-- Returns the first layer of each stage so that the sum of the squares of the stages' bytes is least.
local function borders(sizes, count)
  local before = { [0] = 0 }
  for i, size in ipairs(sizes) do before[i] = before[i - 1] + size end
  local least, from = { [0] = { [0] = 0 } }, {}
  for s = 1, count do
    least[s], from[s] = {}, {}
    for stop = s, #sizes - (count - s) do
      for first = s - 1, stop - 1 do
        local known = least[s - 1][first]
        local cost = known and known + (before[stop] - before[first] + 0.0) ^ 2
        if cost and (not least[s][stop] or cost < least[s][stop]) then least[s][stop], from[s][stop] = cost, first end
      end
    end
  end
  local first, stop = {}, #sizes
  for s = count, 1, -1 do stop = from[s][stop]; first[s] = stop + 1 end
  return first
end

--- Returns the stage of each layer of a graph by its name, as of the largest entry: { layers = in order, bytes,
--- of = layer -> stage, count }. Faults: usage.
function stages.of_layers(graph, count, file)
  local layers, bytes = layers_of(graph)
  if #layers < count then
    faults.raise("usage", "%s: stages: %d, but the model has %d layer%s; give at most that number", file, count,
      #layers, #layers == 1 and "" or "s")
  end
  local sizes, of = {}, {}
  for i, layer in ipairs(layers) do sizes[i] = bytes[layer] end
  local first, stage = borders(sizes, count), 0
  for i, layer in ipairs(layers) do
    while first[stage + 2] == i do stage = stage + 1 end
    of[layer] = stage
  end
  return { layers = layers, bytes = bytes, of = of, count = count }
end

-- Returns the set of tensors that are made only of weights and inputs, by cheap operations or for all sequences.
local function derived_of(entry)
  local derived = {}
  for _, op in ipairs(entry.ops) do
    local is_derived = not (ops.class(op).product or op.op == "embed") or op.result.unbatched
    for _, tensor in pairs(op.operands) do
      local is_given = tensor.kind ~= "scratch" and tensor.kind ~= "output"
      is_derived = is_derived and (is_given or derived[tensor.name])
    end
    derived[op.result.name] = is_derived and op.result.kind == "scratch" or nil
  end
  return derived
end

-- Finds the operations of one stage and the tensors that it needs, from the last operation to the first.
local function find_needs(entry, own_stage, stage, is_repeated)
  local needs, has = {}, {}
  for i = #entry.ops, 1, -1 do
    local op = entry.ops[i]
    local repeated = is_repeated(op)
    if not repeated and own_stage[op] == stage or repeated and needs[op.result.name] then
      has[op] = true
      for _, tensor in pairs(op.operands) do needs[tensor.name] = true end
    end
  end
  return needs, has
end

--- Returns how the operations of an entry's graph are divided among stages, a list from stage 0 at [1]:
---   has      a set of its operations
---   takes    the tensors that it takes from the stage before, in order
---   passes   a set of the tensors that it passes to the next stage
---   outputs  the outputs that it takes from the last stage, in the order in which they are made: { op, pooled =
---            whether all sequences are taken together }
---   gives    a set of the outputs that it gives to the other stages
--- and the stage that makes each tensor, by its name. of_layers: of stages.of_layers. Faults: usage.
function stages.of(graph, of_layers, file)
  local entry, count, own_stage = graph.entry, of_layers.count, {}
  local derived = derived_of(entry)
  local function is_repeated(op)
    return derived[op.result.name] or divisions.conversions[op.op] and op.result.kind == "scratch"
  end
  local current = count - 1
  for i = #entry.ops, 1, -1 do
    local layer = layer_of(entry.ops[i])
    current = layer and of_layers.of[layer] or current
    own_stage[entry.ops[i]] = current
  end
  local list, passed, made = {}, {}, {}
  for stage = count - 1, 0, -1 do
    local needs, has = find_needs(entry, own_stage, stage, is_repeated)
    local takes, taken = {}, {}
    for _, op in ipairs(entry.ops) do
      local name = op.result.name
      if has[op] then
        made[name] = stage
      elseif needs[name] or passed[name] then
        assert(stage > 0 and op.result.type == "f32" and not op.result.unbatched, name)
        takes[#takes + 1], taken[name] = op, true
      end
    end
    list[stage + 1] = { has = has, takes = takes, passes = passed, outputs = {}, gives = {} }
    passed = taken
  end
  local is_pooled = false
  for _, op in ipairs(entry.ops) do
    local result = op.result
    is_pooled = is_pooled or ops.class(op).pools or false
    for _, name in ipairs(entry.outputs) do
      if name == result.name and made[name] < count - 1 then
        faults.raise("usage", "%s: stages: %s is an output of a stage before the last, which is not supported", file,
          name)
      end
      if name == result.name then list[count].gives[name] = true end
      for stage = 0, name == result.name and count - 2 or -1 do
        table.insert(list[stage + 1].outputs, { op = op, pooled = is_pooled })
      end
    end
  end
  return list, made
end

return stages
