-- ranks.lua: divides a model among the ranks of its description, processes that MPI starts.
-- Each rank computes a graph of its own: its heads, its part of the feed-forward's inner width, its rows of the
-- vocabulary. Norms and residual sums are whole on every rank. Meetings, operations that all ranks do together, make
-- whole tensors of parts.
--
-- Before: the graphs of the one build's entries. After, for a description with ranks:
--   state.builds   a build for each kind of rank: ranks with equal shapes share their C. `members`: the builds of its
--                  ranks, { rank, entries, primary }, which inherit from it and have graphs with weights of their own
--   state.whole    { entries, primary, divisions = an entry's name -> the division of each tensor (ranks/divide.lua) }
--                  of the model that nobody has divided, which the reference computes
-- Without ranks it changes nothing.
local divide = require("passes.ranks.divide")
local divisions = require("data.divisions")
local faults = require("common.faults")
local local_graph = require("passes.ranks.local_graph")
local ops = require("data.ops")
local words = require("common.words")

local ranks = {}

-- Returns a text of what the C of a rank depends on: the sizes of its parts, and its numbers of constants that the
-- compiler knows.
local function kind_of(entries, divided, rank)
  local parts = {}
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

-- Returns the build of a rank over another, from which it inherits what it does not have.
local function build_of(state, over, divided, rank)
  local build = setmetatable({ rank = rank, entries = {} }, { __index = over })
  for i, entry in ipairs(state.entries) do
    local own = { graph = local_graph(entry.graph, divided[i], rank) }
    if over == state then
      for _, field in ipairs { "name", "role", "suffix", "sizes", "family", "spec" } do own[field] = entry[field] end
    end
    build.entries[i] = setmetatable(own, { __index = over == state and build or over.entries[i] })
    if entry == state.primary then build.primary = build.entries[i] end
  end
  return build
end

function ranks.run(state)
  local count = state.spec.ranks or 1
  if count == 1 then return end
  local divided, builds, by_kind, made = {}, {}, {}, {}
  for i, entry in ipairs(state.entries) do
    if entry.graph.smoothing then
      faults.raise("usage", ("%s: does not go with ranks, whose parts of weights have other inputs; --factors=none")
        :format(state.factors.file))
    end
    divided[i] = divide(entry.graph, entry.spec, state.file)
    made[entry.name] = divided[i].made
  end
  for rank = 0, count - 1 do
    local kind = kind_of(state.entries, divided, rank)
    if not by_kind[kind] then
      local build = build_of(state, state, divided, rank)
      build.build_suffix, build.members = "_rank" .. rank, { build }
      by_kind[kind], builds[#builds + 1] = build, build
    else
      local first = by_kind[kind]
      first.members[#first.members + 1] = build_of(state, first, divided, rank)
    end
  end
  state.whole = { entries = state.entries, primary = state.primary, divisions = made }
  state.builds = builds
end

local function part_text(of, rank)
  if of.sum then return "a term of each rank" end
  local count, from = divisions.range(of.first, rank)
  return ("%d to %d of axis %d"):format(from, from + count - 1, of.axis)
end

--- Returns each divided tensor with the part of each rank, then the meetings.
function ranks.dump(state)
  if not state.whole then return "one process computes the model: its description has no ranks\n" end
  local lines = {}
  for _, entry in ipairs(state.whole.entries) do
    local made = state.whole.divisions[entry.name]
    lines[#lines + 1] = ("entry %s, divided among %d ranks"):format(entry.name, state.spec.ranks)
    for _, name in ipairs(entry.graph.order) do
      local of, parts = made[name], {}
      if of then
        for rank = 0, of.sum and 0 or state.spec.ranks - 1 do parts[#parts + 1] = part_text(of, rank) end
        lines[#lines + 1] = ("  %s %s: %s"):format(name, words.shape(entry.graph.tensors[name].shape),
          table.concat(parts, "; "))
      end
    end
  end
  for _, build in ipairs(state.builds) do
    local numbers = {}
    for i, member in ipairs(build.members) do numbers[i] = tostring(member.rank) end
    for _, entry in ipairs(build.entries) do
      lines[#lines + 1] = ("meetings of %s of rank %s"):format(entry.name, table.concat(numbers, ", "))
      for _, op in ipairs(entry.graph.entry.ops) do
        if ops.class(op).meeting then
          lines[#lines + 1] = ("  %s = %s(%s)   %s"):format(op.result.name, op.op, op.operands.x.name,
            words.shape(op.result.shape))
        end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return ranks
