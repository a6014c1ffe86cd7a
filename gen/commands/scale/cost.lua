-- cost.lua: says how long meetings of ranks take: from measured times, or from a network's latency and bandwidth.
-- The formulas belong to the algorithms in runtime/ranks (across.c, gather.c). Nothing is counted as hidden behind
-- computation. All times are in microseconds; 1 GB/s is 1000 bytes a microsecond.
local cost = {}

local FLOAT = 4
local SMALL = 2048 -- floats of a sum that takes one message to each other rank: ATTN2C_RANKS_SMALL
local ORDER = 900  -- bytes by which rank 0 of a program tells the others a call

--- Returns the latency and GB/s of measured messages { { floats, microseconds } }: the time of the smallest, and the
--- bytes of the largest in the time beyond it.
function cost.fitted(messages)
  local latency, last = messages[1][2], messages[#messages]
  return latency, last[1] * FLOAT / 1000 / math.max(last[2] - latency, 1e-3)
end

-- Returns the time of one message to each other rank, of `bytes` in all.
local function exchange(network, count, bytes)
  return network.latency_us + (count - 2) * network.message_us + bytes / (1000 * network.gigabytes)
end

local of_kind = {}

-- Small sums go to all ranks whole; of others each rank adds a part, and gives it to the others.
function of_kind.sum(network, count, floats)
  local others = count - 1
  if floats <= SMALL then
    local bytes = others * floats * FLOAT
    return exchange(network, count, bytes) + others * floats / network.adds_per_us, bytes
  end
  local bytes = others * floats * FLOAT / count
  return 2 * exchange(network, count, bytes) + others * floats / count / network.adds_per_us, 2 * bytes
end

-- Each rank gives its part to all others.
function of_kind.gather(network, count, floats)
  local bytes = (count - 1) * floats * FLOAT / count
  return exchange(network, count, bytes), bytes
end

--- Returns the time of the meetings { kind, floats, times } of a call on ranks that a network { latency_us, gigabytes,
--- message_us (each further message of a rank), adds_per_us } links, with the order that begins it; the bytes that a
--- rank sends; and the number of meetings.
function cost.of_call(list, count, network)
  if count == 1 then return 0, 0, 0 end
  local rounds = math.ceil(math.log(count, 2))
  local time, bytes, number = rounds * (network.latency_us + ORDER / (1000 * network.gigabytes)), 0, 0
  for _, each in ipairs(list) do
    local one, sent = of_kind[each.kind](network, count, each.floats)
    time, bytes, number = time + each.times * one, bytes + each.times * sent, number + each.times
  end
  return time, bytes, number
end

--- Returns the time of some floats on the line through measured times { { floats, microseconds } }.
function cost.between(points, floats)
  local i = 2
  while i < #points and points[i][1] < floats do i = i + 1 end
  local a, b = points[i - 1], points[i]
  if floats <= a[1] then return a[2] end
  return a[2] + (b[2] - a[2]) * (floats - a[1]) / (b[1] - a[1])
end

--- Returns the time of meetings of ranks that share this machine. measured: of scale/meetings.lua
function cost.here(list, measured)
  local points, time = { sum = measured.sums, gather = measured.gathers }, 0
  for _, each in ipairs(list) do time = time + each.times * cost.between(points[each.kind], each.floats) end
  return time
end

return cost
