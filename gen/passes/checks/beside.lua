-- beside.lua: finds buffers of the arena that share bytes because they never have values at the same time.
-- Buffers that overlap on purpose (`over`) are not among them.
local expect = require("passes.checks.expect")

local function root_of(program, name)
  while program.buffers[name].over do name = program.buffers[name].over end
  return name
end

--- Returns a table: buffer -> the others that overlap it. Buffers that overlap on purpose must begin at the same
--- offset. names: the buffers that have an offset; they are sorted by it.
return function(program, names)
  local beside, open = {}, {}
  for _, name in ipairs(names) do beside[name] = {} end
  table.sort(names, function(x, y)
    if program.offsets[x] ~= program.offsets[y] then return program.offsets[x] < program.offsets[y] end
    return x < y
  end)
  for _, name in ipairs(names) do
    local first, still = program.offsets[name], {}
    for _, other in ipairs(open) do
      if program.offsets[other] + program.buffers[other].bytes > first then
        still[#still + 1] = other
        local together = root_of(program, name) == root_of(program, other)
        expect(not together or program.offsets[other] == first, "memory", "the offset of %s over %s", name, other)
        if not together and not program.own[name] == not program.own[other] then
          table.insert(beside[name], other)
          table.insert(beside[other], name)
        end
      end
    end
    still[#still + 1] = name
    open = still
  end
  return beside
end
