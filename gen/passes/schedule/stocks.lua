-- stocks.lua: finds the weights that each worker reads first after a phase.
-- It prefetches them while it waits for others. So memory works on while one worker normalises a row, or if workers end
-- at different times.
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local types = require("data.types")

local stocks = {}

-- Returns the first byte and the bytes of the panels that a step reads from the packed weights, or nil.
local function panels_of(step, offsets)
  local a = step.form == "product" and step.arguments.a
  if not a or a.class ~= "weight" then return nil end
  return offsets[a.buffer] + a.offset, panel_loops.count(step)
    * types.panel_bytes(step.kernel.k, step.kernel.lda, step.kernel.types.a)
end

-- Returns the panels that follow each other in memory and in the run of chunks that a worker begins a phase with
-- (runtime/model/team.h), at most `most` bytes: { at, bytes }; nil: the run begins without weights.
local function first_of_run(phase, worker, threads, offsets, most)
  local stock
  for chunk = #phase.chunks * worker // threads + 1, #phase.chunks * (worker + 1) // threads do
    for _, step in ipairs(phase.chunks[chunk]) do
      local at, bytes
      if programs.is_call(step) then at, bytes = panels_of(step, offsets) end
      if at and not stock then stock = { at = at, bytes = 0 } end
      if at and at ~= stock.at + stock.bytes or stock and stock.bytes >= most then return stock end
      if at then stock.bytes = math.min(most, stock.bytes + bytes) end
    end
  end
  return stock
end

--- Sets the stocks of each phase of a program of any length: a list by worker, { at, bytes } in the packed weights.
--- They are of the next phase that reads weights; none after the last.
function stocks.add(program, offsets, most)
  local after
  for i = #program.segments, 1, -1 do
    local phases = program.segments[i].phases
    for j = #phases, 1, -1 do
      phases[j].stocks = after
      local own = {}
      for worker = 0, program.threads - 1 do
        own[#own + 1] = first_of_run(phases[j], worker, program.threads, offsets, most)
      end
      if #own == program.threads then after = own end
    end
  end
end

return stocks
