-- beside.lua: finds buffers of the arena that share bytes because they never have values at the same time.
-- Buffers that overlap on purpose (`over`) are not among them.
local expect = require("passes.checks.expect")

local beside = {}

local function root_of(program, name)
  while program.buffers[name].over do name = program.buffers[name].over end
  return name
end

-- Returns the bytes of the buffers of each root, of workers' own ones or of others, as { first, stop, names }, by their
-- first.
local function spans_of(program, names, is_own)
  local by_root, spans = {}, {}
  for _, name in ipairs(names) do
    if (program.own[name] or false) == is_own then
      local root, first = root_of(program, name), program.offsets[name]
      local span = by_root[root]
      if not span then
        span = { first = first, stop = first, names = {} }
        by_root[root], spans[#spans + 1] = span, span
      end
      span.first, span.stop = math.min(span.first, first), math.max(span.stop, first + program.buffers[name].bytes)
      span.names[#span.names + 1] = name
    end
  end
  table.sort(spans, function(x, y) return x.first < y.first end)
  return spans
end

--- Returns a table: buffer -> whether another one may overlap it. names: the buffers that have an offset.
function beside.any(program, names)
  local result = {}
  for _, is_own in ipairs { true, false } do
    local stop, spans = 0, spans_of(program, names, is_own)
    for i, span in ipairs(spans) do
      local is_beside = span.first < stop or spans[i + 1] and spans[i + 1].first < span.stop or false
      for _, name in ipairs(span.names) do result[name] = is_beside end
      stop = math.max(stop, span.stop)
    end
  end
  return result
end

--- Returns a table: buffer -> the others that overlap it. Buffers that overlap on purpose must begin at the same
--- offset. names: the buffers that are compared; they are sorted by it.
function beside.of(program, names)
  local result, open = {}, {}
  for _, name in ipairs(names) do result[name] = {} end
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
          table.insert(result[name], other)
          table.insert(result[other], name)
        end
      end
    end
    still[#still + 1] = name
    open = still
  end
  return result
end

return beside
