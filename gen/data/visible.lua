-- visible.lua: counts the queries and keys that a static mask lets meet.
local visible = {}

-- Counts the pairs of visible.pairs, query by query.
local function count_pairs(attributes, queries, keys, offset, extra, prefix)
  local pairs_left, own = 0, keys - extra
  prefix = math.min(prefix, own)
  for i = offset, offset + queries - 1 do
    local first = attributes.left >= 0 and math.max(0, i - attributes.left) or 0
    local last = attributes.right >= 0 and math.min(own - 1, i + attributes.right) or own - 1
    if attributes.causal then last = math.min(last, i) end
    local seen = math.max(0, last - first + 1)
    local before = prefix - math.max(0, math.min(prefix - 1, last) - first + 1)
    pairs_left = pairs_left + seen + before + extra
  end
  return pairs_left
end

local counted = {} -- counts by their arguments as text: layers are alike, and have many queries

--- Returns the number of (query, key) pairs of queries x keys that a static mask leaves. Query i is at position
--- offset + i; the last `extra` keys and those before `prefix` are always seen.
function visible.pairs(attributes, queries, keys)
  local offset, extra, prefix = attributes.offset or 0, attributes.extra or 0, attributes.prefix or 0
  local key = table.concat({ queries, keys, attributes.left, attributes.right, offset, extra, prefix,
    tostring(attributes.causal) }, " ")
  counted[key] = counted[key] or count_pairs(attributes, queries, keys, offset, extra, prefix)
  return counted[key]
end

return visible
