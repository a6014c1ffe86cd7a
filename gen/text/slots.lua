-- slots.lua: hash tables as runtime/text/tables.c reads them. A chain of more than LONGEST_CHAIN entries is never
-- written: keys that collide get a larger table first, then another seed. Both are bounded, so that every list of
-- keys ends in tables or in a refusal.
local slots = {}

local LONGEST_CHAIN = 200
local MOST_SEEDS = 16
local LARGEST = 4 -- times as many slots as a table of these entries has at first

--- FNV-1a, 32 bits, from a seed on.
function slots.hash(seed, text)
  local hash = seed
  for i = 1, #text do hash = ((hash ~ text:byte(i)) * 0x01000193) & 0xffffffff end
  return hash
end

--- The place of a text by its hash.
function slots.of_hash(hash) return ((hash * 0x9e3779b1) & 0xffffffff) ~ hash >> 15 end

--- The place of a number of 64 bits.
function slots.of_number(seed, number)
  local mixed = (number + seed * 0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15
  return ((mixed ~ mixed >> 32) * 0xc2b2ae3d27d4eb4f) >> 32
end

-- A list of what is in each slot, by its number + 1; nil where a chain is too long.
local function try(count, size, place, entry)
  local list, mask = {}, size - 1
  for i = 1, count do
    local at, chain = place(i) & mask, 1
    while list[at + 1] do
      at, chain = at + 1 & mask, chain + 1
      if chain > LONGEST_CHAIN then return nil end
    end
    list[at + 1] = entry(i)
  end
  return list
end

--- The bytes of a table with open addressing: entry(i), for i of 1..count in order, goes into the first free slot from
--- place(i) on. It has at least four slots for three entries. nil where the places of many entries are equal.
function slots.fill(count, place, entry, empty)
  if count == 0 then return "" end
  local size = 4
  while size * 3 < count * 4 do size = size * 2 end
  local most = size * LARGEST
  repeat
    local list = try(count, size, place, entry)
    if list then
      for at = 1, size do list[at] = list[at] or empty end
      return table.concat(list)
    end
    size = size * 2
  until size > most
  return nil
end

--- The first seed for which make(seed), a list of MOST tables, has no hole; that list, and the seed. nil where no seed
--- is good enough.
function slots.seeded(most, make)
  for i = 0, MOST_SEEDS - 1 do
    local seed = (0x811c9dc5 + i * 0x9e3779b9) & 0xffffffff -- the first is FNV's own
    local list, is_whole = make(seed), true
    for at = 1, most do is_whole = is_whole and list[at] ~= nil end
    if is_whole then return list, seed end
  end
  return nil
end

return slots
