-- draw_ranks.lua: divides a drawn description among ranks and stages if it goes with them; and the words that start its
-- program.
local pipeline = require("pipeline")
local sizes = require("sizes")

local draw_ranks = {}

-- The passes that refuse a division.
local refusing = { "validate", "tokenizer", "graph", "ranks" }

-- True if ranks add their terms of two outputs before they meet. The check compares that sum with the sum of the
-- outputs, which are rounded: it allows for another order only where it has the terms.
local function adds_outputs(state)
  for _, entry in ipairs(state.whole and state.whole.entries or {}) do
    local made = state.whole.divisions[entry.name] or {}
    for _, op in ipairs(entry.graph.entry.ops) do
      local a, b = op.operands.a, op.operands.b
      local are_terms = op.op == "add" and made[a.name] and made[a.name].sum and made[b.name] and made[b.name].sum
      if are_terms and (a.kind == "output" or b.kind == "output") then return true end
    end
  end
  return false
end

local function is_accepted(d, exposed)
  return pcall(function()
    local state = { file = "drawn.lua", overrides = {}, description = d, notes = {}, exposed = exposed }
    function state.host() return "avx2" end
    for _, name in ipairs(refusing) do pipeline.step(state, name) end
    assert(not adds_outputs(state))
  end)
end

--- Gives a description ranks or stages or both, and one thread, if it goes with them. exposed: whether inner tensors
--- are outputs, too, which most stages cannot give. Returns whether it does.
function draw_ranks.change(d, exposed)
  local threads = d.threads
  d.threads = nil
  for _, each in ipairs(sizes.pick { { { nil, 2 }, { 2 } }, { { 2, 2 }, { 2 } }, { { 2 } }, { { 3 } }, { { 4 } },
    { { nil, 3 }, { nil, 2 }, { 2 } } }) do
    d.ranks, d.stages = each[1], each[2]
    if is_accepted(d, exposed) then return true end
  end
  d.threads, d.ranks, d.stages = threads, nil, nil
  return false
end

--- Returns the shell words before a description's program.
function draw_ranks.start(d)
  local count = (d.ranks or 1) * (d.stages or 1)
  if count == 1 then return "" end
  return ("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -q --oversubscribe -n %d "):format(count)
end

return draw_ranks
