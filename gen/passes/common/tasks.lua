-- tasks.lua: finds the plan's partition of a step's task, and the buffers that workers do not share.
-- A task is the part of a region that workers divide without a barrier (plan/partition.lua).

local tasks = {}

--- Returns the { axis, meeting } of a step's task, for a number of workers.
function tasks.partition(step, threads)
  local records = step.region.partition[threads]
  return records[1].axis == "tokens" and records[1] or records[step.task]
end

--- True if each worker has its own copy of a buffer in a task: the rows of a unit, or of a block of tokens if
--- workers divide these.
function tasks.is_own(buffer, step, threads)
  local kind = buffer and buffer.private
  return kind == "unit" or (kind == "block" and tasks.partition(step, threads).axis == "tokens")
end

return tasks
