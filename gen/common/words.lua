-- words.lua: collects small helpers on strings and lists that several passes share.
local words = {}

-- Returns the insertions, deletions, replacements and exchanges of neighbours from a to b.
local function distance(a, b)
  local rows = { [0] = {} }
  for j = 0, #b do rows[0][j] = j end
  for i = 1, #a do
    local row, above = { [0] = i }, rows[i - 1]
    rows[i] = row
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], rows[i - 2][j - 2] + 1)
      end
    end
  end
  return rows[#a][#b]
end

--- Returns a table with the keys of several tables, each of which may be nil. The last with a key gives its value.
function words.merged(...)
  local result = {}
  for i = 1, select("#", ...) do
    for key, value in pairs((select(i, ...)) or {}) do result[key] = value end
  end
  return result
end

--- Returns the candidate nearest to a word, or nil if none resembles it: at most one change in three letters.
function words.nearest(word, candidates)
  word = word:sub(1, 64)
  local best, best_distance = nil, math.min(math.max(1, (#word + 1) // 3), #word - 1)
  for _, candidate in ipairs(candidates) do
    local d = distance(word, candidate)
    if d < best_distance or (d == best_distance and best == nil) then best, best_distance = candidate, d end
  end
  return best
end

--- Returns the sorted keys of a table: numbers before strings, keys of another type by their text.
function words.sorted_keys(t)
  local keys, is_text = {}, true
  for key in pairs(t) do keys[#keys + 1], is_text = key, is_text and type(key) == "string" end
  table.sort(keys, not is_text and function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end or nil)
  return keys
end

--- Returns the members of a table that are no tables as text, by name, but for those in the set `but`.
function words.plain_members(t, but)
  local parts = {}
  for _, name in ipairs(words.sorted_keys(t)) do
    if type(t[name]) ~= "table" and not (but and but[name]) then parts[#parts + 1] = ("%s=%s"):format(name, t[name]) end
  end
  return table.concat(parts, " ")
end

-- True if b has each member of a that is no table, but for those in the set `but`.
local function has_members(b, a, but)
  for name, value in pairs(a) do
    if b[name] ~= value and type(value) ~= "table" and not (but and but[name]) then return false end
  end
  return true
end

--- True if the members of two tables that are no tables are the same, but for those in the set `but`.
function words.same_members(a, b, but) return a == b or has_members(b, a, but) and has_members(a, b, but) end

--- Adds the members of further lists, each of which may be nil, to a list. Returns the list.
function words.append(list, ...)
  for i = 1, select("#", ...) do
    local more = (select(i, ...)) or {}
    table.move(more, 1, #more, #list + 1, list)
  end
  return list
end

--- Returns the matches of a pattern in a text; without a pattern its words, which have blanks between them.
function words.list(text, pattern)
  local list = {}
  for word in text:gmatch(pattern or "%S+") do list[#list + 1] = word end
  return list
end

function words.set(list)
  local set = {}
  for _, member in ipairs(list) do set[member] = true end
  return set
end

--- Returns the members of a list for which is(member) is true.
function words.filter(list, is)
  local rest = {}
  for _, member in ipairs(list) do if is(member) then rest[#rest + 1] = member end end
  return rest
end

function words.without(list, gone) return words.filter(list, function(member) return not gone[member] end) end

--- True if is(member) is true for a member of a list.
function words.any(list, is)
  for _, member in ipairs(list) do if is(member) then return true end end
  return false
end

--- True if is(member) is true for all members of a list.
function words.all(list, is)
  for _, member in ipairs(list) do if not is(member) then return false end end
  return true
end

--- Returns the list of of(member, index) for the members of a list, without those for which it is nil.
function words.map(list, of)
  local made = {}
  for i, member in ipairs(list) do made[#made + 1] = of(member, i) end
  return made
end

--- Returns the sum of of(member) for the members of a list; without `of`, of the members.
function words.sum(list, of)
  local sum = 0
  for _, member in ipairs(list) do sum = sum + (of and of(member) or member) end
  return sum
end

--- Returns the largest of(member) for the members of a list, or 0; without `of`, the largest member.
function words.most(list, of)
  local most = 0
  for _, member in ipairs(list) do most = math.max(most, of and of(member) or member) end
  return most
end

--- Adds a member to the list that a table has at a key, which is made if it is missing.
function words.add(lists, key, member)
  lists[key] = lists[key] or {}
  table.insert(lists[key], member)
end

--- Returns an integer with commas: 1234567 -> 1,234,567.
function words.thousands(n)
  local text = tostring(n)
  local sign, digits = text:match("^(-?)(%d+)$")
  if not digits then return text end
  return sign .. digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
end

--- Returns a word for a shell's command line, quoted if necessary, in ASCII only.
function words.shell(text)
  if text:match("^[%w_./:=,+@%-]+$") then return text end
  if not text:find("[^ -~]") then return "'" .. text:gsub("'", "'\\''") .. "'" end
  return "$'" .. text:gsub("[\\']", "\\%0"):gsub("[^ -~]", function(c) return ("\\%03o"):format(c:byte()) end) .. "'"
end

--- Returns the text without trailing bytes of a set. set: the inside of a pattern's brackets. The time is proportional
--- to the text's length; the pattern [set]+$ takes quadratic time.
function words.without_end(text, set) return text:match("^(.*[^" .. set .. "])") or "" end

--- Returns a number with a noun: "1 line", "3 lines".
function words.count(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

--- Returns shares { count, size } as text, with separators between them: "3 x 8, 7".
function words.shares(list, separator)
  return table.concat(words.map(list, function(share)
    return (share.count > 1 and share.count .. " x " or "") .. share.size
  end), separator)
end

function words.elements(shape)
  local n = 1
  for _, size in ipairs(shape) do n = n * size end
  return n
end

function words.shape(shape) return "[" .. table.concat(shape, ", ") .. "]" end

function words.round_up(n, multiple) return (n + multiple - 1) // multiple * multiple end

return words
