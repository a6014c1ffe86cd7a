-- ranks.lua: divides a model among the ranks of its description, processes that MPI starts.
-- Each rank computes a graph of its own: its heads, its part of the feed-forward's inner width, its rows of the
-- vocabulary. Norms and residual sums are whole on every rank. Meetings, operations that all ranks do together, make
-- whole tensors of parts. With stages, ranks have some of the layers each (ranks/stages.lua): the ranks of a stage
-- divide its layers, and a stage passes its states on to the next. Rank r of stage s is number s R + r of all, with R
-- ranks each.
--
-- Before: the graphs of the one build's entries. After, for a description with ranks:
--   state.builds   a build for each kind of rank: ranks with equal shapes share their C. `members`: the builds of its
--                  ranks, { rank, entries, primary }, which inherit from it and have graphs with weights of their own
--   state.whole    { entries, primary, divisions = an entry's name -> the division of each tensor (ranks/divide.lua) }
--                  of the model that nobody has divided, which the reference computes; stages = { layers = of
--                  stages.of_layers, made = an entry's name -> the stage that makes each tensor }, or nil
-- Without ranks it changes nothing.
local divide = require("passes.ranks.divide")
local divisions = require("data.divisions")
local faults = require("common.faults")
local local_graph = require("passes.ranks.local_graph")
local ops = require("data.ops")
local stages = require("passes.ranks.stages")
local words = require("common.words")

local ranks = {}

-- The division of a graph of which each rank has the whole.
local undivided = { made = {}, cuts = {}, of_first = {}, how = {}, whole = {}, lists = {} }

-- Returns a text of what the C of a rank of a stage depends on: the sizes of its parts, and its numbers of constants
-- that the compiler knows.
local function kind_of(entries, divided, rank, stage)
  local parts = { ("stage %d"):format(stage) }
  for i, each in ipairs(divided) do
    for _, first in ipairs(each.lists) do parts[#parts + 1] = (divisions.range(first, rank)) end
    local graph = entries[i].graph
    for _, name in ipairs(graph.order) do
      local values, of = graph.tensors[name].values, each.cuts[name]
      if values and of then
        local count, from = divisions.range(of.first, rank)
        local own = table.concat(values, " ", from + 1, from + count)
        parts[#parts + 1] = ("%s %s"):format(name, own)
      end
    end
  end
  return table.concat(parts, " ")
end

-- Returns the build of a rank of a stage over another, from which it inherits what it does not have. parts: the parts
-- of a stage by entry; nil: the model has no stages.
local function build_of(state, over, divided, rank, stage, parts)
  local number = stage * (state.spec.ranks or 1) + rank
  local build = setmetatable({ rank = number, stage = stage, entries = {} }, { __index = over })
  for i, entry in ipairs(state.entries) do
    local own = { graph = over == state and local_graph.of(entry.graph, divided[i], rank, parts and parts[i][stage + 1])
      or local_graph.like(over.entries[i].graph, entry.graph, divided[i], rank) }
    if over == state then
      for _, field in ipairs { "name", "role", "suffix", "sizes", "spec" } do own[field] = entry[field] end
    end
    build.entries[i] = setmetatable(own, { __index = over == state and build or over.entries[i] })
    if entry == state.primary then build.primary = build.entries[i] end
  end
  return build
end

-- Returns the parts of all stages by entry, and what state.whole says of stages; nil if there is one.
local function in_stages(state)
  local count = state.spec.stages or 1
  if count == 1 then return nil, nil end
  local parts, of = {}, { layers = stages.of_layers(state.primary.graph, count, state.file), made = {} }
  for i, entry in ipairs(state.entries) do
    parts[i], of.made[entry.name] = stages.of(entry.graph, of.layers, state.file)
  end
  return parts, of
end

function ranks.run(state)
  if not state.spec.processes then return end
  local count = state.spec.ranks or 1
  local divided, builds, by_kind, made = {}, {}, {}, {}
  for i, entry in ipairs(state.entries) do
    if entry.graph.smoothing then
      faults.raise("usage", "%s: does not go with ranks, whose parts of weights have other inputs; --factors=none",
        state.factors.file)
    end
    divided[i] = count > 1 and divide(entry.graph, entry.spec, state.file) or undivided
    made[entry.name] = divided[i].made
  end
  local parts, of_stages = in_stages(state)
  for number = 0, state.spec.processes - 1 do
    local stage, rank = number // count, number % count
    local kind = kind_of(state.entries, divided, rank, stage)
    if not by_kind[kind] then
      local build = build_of(state, state, divided, rank, stage, parts)
      build.build_suffix, build.members = "_rank" .. number, { build }
      by_kind[kind], builds[#builds + 1] = build, build
    else
      local first = by_kind[kind]
      first.members[#first.members + 1] = build_of(state, first, divided, rank, stage, parts)
    end
  end
  state.whole = { entries = state.entries, primary = state.primary, divisions = made, stages = of_stages }
  state.builds = builds
end

local function part_text(of, rank)
  if of.sum then return "a term of each rank" end
  local count, from = divisions.range(of.first, rank)
  return ("%d to %d of axis %d"):format(from, from + count - 1, of.axis)
end

-- Appends the layers of each stage, and their bytes.
local function stages_text(state, lines)
  local of = state.whole.stages.layers
  lines[#lines + 1] = ("%d stages of %d rank%s"):format(of.count, state.spec.ranks or 1,
    (state.spec.ranks or 1) > 1 and "s each" or "")
  for stage = 0, of.count - 1 do
    local names, bytes = {}, 0
    for _, layer in ipairs(of.layers) do
      if of.of[layer] == stage then names[#names + 1], bytes = layer, bytes + of.bytes[layer] end
    end
    lines[#lines + 1] = ("  stage %d: %s   %d bytes of weights of layers"):format(stage, table.concat(names, " "),
      bytes)
  end
end

local function meeting_text(op)
  local x, name = op.operands.x, op.result.name
  if ops.class(op).sends then return ("  %s(%s)   %s"):format(op.op, x.name, words.shape(x.shape)) end
  return ("  %s = %s(%s)   %s"):format(name, op.op, x and x.name or "", words.shape(op.result.shape))
end

--- Returns the layers of each stage, each divided tensor with the part of each rank, then the meetings.
function ranks.dump(state)
  if not state.whole then return "one process computes the model: its description has no ranks\n" end
  local lines, count = {}, state.spec.ranks or 1
  if state.whole.stages then stages_text(state, lines) end
  for _, entry in ipairs(count > 1 and state.whole.entries or {}) do
    local made = state.whole.divisions[entry.name]
    lines[#lines + 1] = ("entry %s, divided among %d ranks"):format(entry.name, count)
    for _, name in ipairs(entry.graph.order) do
      local of, parts = made[name], {}
      if of then
        for rank = 0, of.sum and 0 or count - 1 do parts[#parts + 1] = part_text(of, rank) end
        lines[#lines + 1] = ("  %s %s: %s"):format(name, words.shape(entry.graph.tensors[name].shape),
          table.concat(parts, "; "))
      end
    end
  end
  for _, build in ipairs(state.builds) do
    local numbers = words.map(build.members, function(member) return tostring(member.rank) end)
    for _, entry in ipairs(build.entries) do
      lines[#lines + 1] = ("meetings of %s of rank %s"):format(entry.name, table.concat(numbers, ", "))
      for _, op in ipairs(entry.graph.entry.ops) do
        if ops.class(op).meeting then lines[#lines + 1] = meeting_text(op) end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return ranks
