-- slots.lua: writes the hash tables that runtime/text/tables.c reads.
-- No chain has more than LONGEST_CHAIN entries: keys that collide get a larger table first, then another seed. Both are
-- bounded, so that every list of keys ends in tables or in a refusal.
local slots = {}

local LONGEST_CHAIN = 200
local MOST_SEEDS = 16
local LARGEST = 4 -- the largest table's slots as a multiple of the first table's

--- Returns the 32-bit FNV-1a hash of a text, beginning with a seed.
function slots.hash(seed, text)
  local hash = seed
  for i = 1, #text do hash = ((hash ~ text:byte(i)) * 0x01000193) & 0xffffffff end
  return hash
end

--- Returns the place of a text from its hash.
function slots.of_hash(hash) return ((hash * 0x9e3779b1) & 0xffffffff) ~ hash >> 15 end

--- Returns the place of a 64-bit number.
function slots.of_number(seed, number)
  local mixed = (number + seed * 0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15
  return ((mixed ~ mixed >> 32) * 0xc2b2ae3d27d4eb4f) >> 32
end

-- Returns a list with the entry of each slot, by the slot's number + 1, or nil if a chain is too long.
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

--- Returns the bytes of a table with open addressing, or nil if the places of many entries are equal. entry(i), i from
--- 1 to count, goes into the first free slot from place(i) on. The table has at least four slots for three entries.
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

--- Returns make(seed), a list of `most` tables, and the first seed for which it has no hole. Returns nil if no seed is
--- good enough.
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
