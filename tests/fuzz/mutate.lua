-- mutate.lua: a whole file made into a damaged one: bytes of any file, members of JSON, the header of a checkpoint and
-- that of packed weights, also with a length and a checksum that fit. Draws are math.random's.
local mutate = {}

local random = math.random

local function pick(list) return list[random(#list)] end

local words = { 0, 1, 7, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, 1 << 40,
  math.maxinteger, math.mininteger, -1 }
local parts = { "", "\0", "\255", "\"", "\\", "{", "}", "[", "]", ",", ":", "-", "1e999", "\\u0000", "\\ud800", "é",
  "\27[31m", "\n", "\r\n", "../", "%s%n", "$(x)" }

local byte_changes = {
  function(text, at)
    return text:sub(1, at - 1) .. string.char(text:byte(at) ~ 1 << random(0, 7)) .. text:sub(at + 1)
  end,
  function(text, at) return text:sub(1, at - 1) .. string.char(random(0, 255)) .. text:sub(at + 1) end,
  function(text, at) return text:sub(1, at - 1) end,
  function(text, at) return text:sub(1, at - 1) .. text:sub(at + random(40)) end,
  function(text, at) return text:sub(1, at + random(40)) .. text:sub(at) end,
  function(text, at) return text:sub(1, at - 1) .. pick(parts):rep(random(3)) .. text:sub(at + random(0, 6)) end,
  function(text, at) return text:sub(1, at - 1) .. string.pack("<i8", pick(words)) .. text:sub(at + 8) end,
}

--- One, or up to four, changes of bytes anywhere, or, half of them, among the first `front`.
function mutate.bytes(text, front)
  for _ = 1, pick { 1, 1, 2, 4 } do
    if #text == 0 then return text end
    local at = random(2) == 1 and random(math.min(#text, front or #text)) or random(#text)
    text = pick(byte_changes)(text, at)
  end
  return text
end

local function nested(open, close)
  return function()
    local depth = pick { 3, 50, 1000, 200000 }
    return open:rep(depth) .. (random(2) == 1 and close:rep(depth) or "")
  end
end

local values = { "0", "1", "-1", "0.5", "1e999", "-1e308", "1e-320", "2147483648", "4294967295", "9223372036854775807",
  "9223372036854775808", "99999999999999999999999999", "1000000", "64", "3", "null", "true", "false", "[]", "{}",
  '""', '"a"', '"\\u0000"', '"\\ud800"', '"../../etc"', '"\\u001b[31m"', "NaN", "[1,2,3]", '{"a":1}', '["a"]',
  function() return '"' .. ("x"):rep(pick { 300, 100000 }) .. '"' end, nested("[", "]"), nested('{"a":', "}") }

local function value()
  local found = pick(values)
  return type(found) == "function" and found() or found
end

-- The end of the JSON value that begins at a place; whatever follows it, a place is found.
local function value_end(text, at)
  local depth = 0
  at = text:match("^%s*()", at)
  repeat
    local c = text:sub(at, at)
    if c == '"' then
      at = text:match('^"[^"\\]*()', at)
      while text:sub(at, at) == "\\" do at = text:match('^\\.?[^"\\]*()', at) end
      at = at + 1
    elseif c == "{" or c == "[" then
      depth, at = depth + 1, at + 1
    elseif c == "}" or c == "]" then
      depth, at = depth - 1, at + 1
    else
      local next_at = text:match("^[^%[%]{}\"]*()", at)
      if depth == 0 then next_at = text:match("^[^%[%]{}\",%s]*()", at) end
      at = math.max(next_at, at + (depth > 0 and 0 or 1))
    end
  until depth <= 0 or at > #text
  return math.min(at, #text + 1)
end

-- Returns a member: where its key begins, its value begins, and its end. Half of the members are near the two ends of
-- the text, where most decisions depend on them.
local function member(text)
  local from = random(math.max(1, #text))
  if random(2) == 1 then from = random(math.min(#text, 1500)) end
  if random(4) == 1 then from = math.max(1, #text - random(1500)) end
  local key, at = text:match('()"[^"\\]*"%s*:()', from)
  if not key then key, at = text:match('()"[^"\\]*"%s*:()') end
  if not key then return nil end
  return key, at, value_end(text, at)
end

local member_changes = {
  function(text, _, at, behind) return text:sub(1, at - 1) .. value() .. text:sub(behind) end,
  function(text, key, _, behind) return text:sub(1, behind - 1) .. "," .. text:sub(key) end,
  function(text, key, at, _) return text:sub(1, at - 1) .. value() .. "," .. text:sub(key) end,
  function(text, key, _, behind) return text:sub(1, key - 1) .. (text:sub(behind):gsub("^%s*,", "")) end,
  function(text, key, at, _) return text:sub(1, key - 1) .. '"' .. pick { "", "a", "type", "\\u0000" } .. '":'
    .. text:sub(at) end,
  function(text, _, at, behind)
    local _, other, other_end = member(text)
    if not other or other < behind and other_end > at then return text end
    local first, second = { at, behind }, { other, other_end }
    if at > other then first, second = second, first end
    return text:sub(1, first[1] - 1) .. text:sub(second[1], second[2] - 1) .. text:sub(first[2], second[1] - 1)
      .. text:sub(first[1], first[2] - 1) .. text:sub(second[2])
  end,
}

--- One, or up to three, members of JSON with other values, twice, gone, renamed or exchanged; or bytes.
function mutate.json(text)
  if random(5) == 1 then return mutate.bytes(text, 1500) end
  for _ = 1, pick { 1, 1, 1, 2, 3 } do
    local key, at, behind = member(text)
    if not key then return mutate.bytes(text) end
    text = pick(member_changes)(text, key, at, behind)
  end
  return text
end

--- A safetensors file: its header as JSON with a length that fits or not, or bytes, half of them in the header.
function mutate.checkpoint(text)
  local length = string.unpack("<I8", text)
  local kind = random(4)
  if kind == 1 then return mutate.bytes(text, 8 + length) end
  if kind == 2 then
    return string.pack("<i8", random(2) == 1 and pick(words) or length + random(-9, 9)) .. text:sub(9)
  end
  local header = mutate.json(text:sub(9, 8 + length))
  return string.pack("<I8", random(9) == 1 and length or #header) .. header .. text:sub(9 + length)
end

-- Changes of a list of groups, of which an input each has one.
local group_changes = {
  function(list) -- the same numbers of inputs
    local a, b = random(#list), random(#list)
    list[a], list[b] = list[b], list[a]
  end,
  function(list) for i = #list, 2, -1 do local j = random(i) list[i], list[j] = list[j], list[i] end end,
  function(list) table.sort(list) end,
  function(list) list[random(#list)] = list[random(#list)] end,
  function(list) list[random(#list)] = pick(words) end,
  function(list) for i = 1, #list do list[i] = -1 end end,
}

--- A safetensors file whose tensors of groups of inputs, which are called `ending`, are others: one of them, or all
--- alike.
function mutate.groups(text, ending)
  local length, list = string.unpack("<I8", text), {}
  for from, to in text:sub(9, 8 + length):gmatch(ending .. '":{[^}]-"data_offsets":%[(%d+), ?(%d+)%]') do
    list[#list + 1] = { 9 + length + math.tointeger(from), 8 + length + math.tointeger(to) }
  end
  local change, seed = pick(group_changes), random(0)
  if random(2) == 1 then list = { pick(list) } end
  for _, place in ipairs(list) do
    local groups = {}
    for at = place[1], place[2], 4 do groups[#groups + 1] = string.unpack("<i4", text, at) end
    if #list > 1 then math.randomseed(seed) end
    change(groups)
    for i, group in ipairs(groups) do groups[i] = string.pack("<I4", group & 0xffffffff) end
    text = text:sub(1, place[1] - 1) .. table.concat(groups) .. text:sub(place[2] + 1)
  end
  return text
end

local kinds = { "UINT8", "INT8", "UINT16", "INT32", "UINT32", "FLOAT32", "BOOL", "STRING", "UINT64", "INT64", "FLOAT64",
  "ARRAY STRING", "ARRAY INT32", "ARRAY FLOAT32", "ARRAY UINT8" }

-- A metadata value of a type.
local function metadata_value(kind)
  if kind:find("STRING") then return kind == "STRING" and pick(parts) or { pick(parts), "a" } end
  local number = pick { 0, 1, 2, 3, 8, 77, 127 }
  return kind:find("^ARRAY") and { number, 1, number } or number
end

--- The metadata entries of a GGUF file: one or more of another type or value, twice, or gone.
function mutate.entries(entries)
  local list = table.move(entries, 1, #entries, 1, {})
  for _ = 1, pick { 1, 1, 2 } do
    local i = random(#list)
    local kind, change = pick(kinds), random(6)
    if change == 1 then
      table.remove(list, i)
    elseif change == 2 then
      list[#list + 1] = list[i]
    elseif change == 3 then
      list[i] = { list[i][1], list[i][2], list[i][2]:find("ARRAY") and list[i][3] or metadata_value(list[i][2]) }
    else
      list[i] = { list[i][1], kind, metadata_value(kind) }
    end
  end
  return list
end

-- runtime/base/checksum.c
local function step(lane, word)
  lane = (lane ~ word) * 0x9ddfea08eb382d69
  return lane ~ lane >> 29
end

local function checksum(text)
  local lanes, at, sum = { 0, 1, 2, 3 }, 1, #text
  while at <= #text do
    for i = 1, 4 do
      if at <= #text then
        lanes[i] = step(lanes[i], (string.unpack("<i8", text:sub(at, at + 7) .. ("\0"):rep(8))))
        at = at + 8
      end
    end
  end
  for i = 1, 4 do sum = step(sum, lanes[i]) end
  return sum
end

local HEADER = 4096
local fields = { 16, 20, 24, 32, 40, 48, 56, 80, 112, 120, 360, 368, 4000 }
local FOOTER = 512
local footer_fields = { 0, 24, 28, 32, 40, 48, 64, 72, 104, 136, 392, 400, 404, 408 }

-- Returns a record with some of its fields changed, whose last 8 bytes are a checksum that fits or not.
local function changed(record, places)
  local most = #record - 8
  local fields_of = record:sub(1, most)
  for _ = 1, random(2) do
    local at = pick(places)
    local new = random(3) == 1 and pick(parts):rep(random(40)):sub(1, 300) or string.pack("<i8", pick(words))
    fields_of = (fields_of:sub(1, at) .. new .. fields_of:sub(at + #new + 1)):sub(1, most)
  end
  return fields_of .. (random(5) > 1 and string.pack("<i8", checksum(fields_of)) or record:sub(most + 1))
end

--- Packed weights or a saved sequence: fields of the header with a checksum that fits it or not, or bytes.
function mutate.packed(text)
  if random(3) == 1 then return mutate.bytes(text, HEADER) end
  text = changed(text:sub(1, HEADER), fields) .. text:sub(HEADER + 1)
  return random(4) == 1 and text:sub(1, random(#text)) or text
end

--- Embeddings that a program keeps: fields of the footer with a checksum that fits it or not, or bytes.
function mutate.kept(text)
  if random(2) == 1 then return mutate.bytes(text) end
  text = text:sub(1, -FOOTER - 1) .. changed(text:sub(-FOOTER), footer_fields)
  return random(4) == 1 and text:sub(1, random(#text)) or text
end

return mutate
