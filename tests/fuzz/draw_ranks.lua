-- draw_ranks.lua: divides a drawn description among ranks and stages if it goes with them; and the words that start its
-- program.
local accepted = require("accepted")
local sizes = require("sizes")

local draw_ranks = {}

--- Gives a description ranks or stages or both, and one thread, if it goes with them. exposed: whether inner tensors
--- are outputs, too, which most stages cannot give. Returns whether it does.
function draw_ranks.change(d, exposed)
  local threads = d.threads
  d.threads = nil
  for _, each in ipairs(sizes.pick { { { nil, 2 }, { 2 } }, { { 2, 2 }, { 2 } }, { { 2 } }, { { 3 } }, { { 4 } },
    { { nil, 3 }, { nil, 2 }, { 2 } } }) do
    d.ranks, d.stages = each[1], each[2]
    if accepted(d, exposed) then return true end
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
