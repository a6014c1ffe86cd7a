-- padding.lua: finds the rows of arrays that are padding, which are not compared.
-- It goes by the inputs that state the lengths of sequences or the tokens that are kept. For texts, the program writes
-- zeros to the rows that are padding.
local arrays = require("commands.quality.arrays")
local faults = require("common.faults")
local files = require("common.files")

local padding = {}

-- Inputs that tell which rows are padding. The first list is for the rows (with qkv(), for the keys), the second for
-- the rows of the memory. The first input of a list that is given is taken. counts: the input has the number of rows of
-- each sequence. Otherwise it has a number for each row: with `keeps`, 0 is padding; without, every other number is.
local telling = {
  { { member = "lengths", counts = true },
    { member = "attention_mask", keeps = true }, { member = "key_padding" } },
  { { member = "memory_lengths", counts = true }, { member = "source_lengths", counts = true },
    { member = "memory_key_padding" }, { member = "source_attention_mask", keeps = true },
    { member = "source_key_padding" } },
}

-- Returns the file of each input: member -> path.
local function files_of(words)
  local of = {}
  for i = 1, #words - 1 do
    local member, path = arrays.given(words[i + 1])
    if words[i] == "--input" and member then of[member] = path end
  end
  return of
end

-- Returns a function that is true if row `row` of sequence `b`, both counted from 0, is padding. Returns nil if no
-- input of the list is given. past: the number of keys before the first row's.
local function told_by(list, given, renamed, past)
  for _, each in ipairs(list) do
    local path = given[renamed[each.member] or each.member]
    if path then
      local numbers, wrong = arrays.integers(files.read(path) or "")
      if not numbers then faults.raise("format", "%s: %s", path, wrong) end
      local values, width = numbers.values, numbers.shape[2]
      if each.counts then return function(b, row) return row >= (values[b + 1] or math.huge) end end
      return function(b, row)
        local value = values[b * width + past + row + 1]
        return value ~= nil and (value ~= 0) ~= (each.keeps or false)
      end
    end
  end
  return nil
end

--- Returns the functions that tell a run's padding. words: its command line, which the program has accepted; spec: the
--- model's. Faults: format.
function padding.of(words, spec)
  local given, renamed = files_of(words), spec.inputs or {}
  local has_keys = spec.input.stage == "qkv"
  local rows, memory = told_by(telling[1], given, renamed, spec.past), told_by(telling[2], given, renamed, 0)
  return { s = not has_keys and rows or nil,
    k = has_keys and rows or nil, memory = memory,
    memory_seq = spec.memory and (spec.memory.encoder or spec.memory).seq }
end

-- Returns the axis of a tensor's rows and the function that tells their padding, or nil if it has none.
local function axis_of(told, tensor)
  local grows = tensor.grows or ""
  for _, letter in ipairs { "s", "k" } do
    local axis = grows:find(letter, 1, true)
    if axis then return axis, told[letter] end
  end
  if told.memory and grows == "b.." and tensor.shape[2] == told.memory_seq then return 2, told.memory end
  return nil
end

--- Returns the parts of a tensor's array that are padding, { inner = numbers in a part, [part] = true }, or nil if
--- there are none. Parts are counted from 0. shape: the array's.
function padding.parts(told, tensor, shape)
  local axis, is_padding = axis_of(told, tensor)
  local of_batch = (tensor.grows or ""):find("b", 1, true)
  if not axis or not is_padding or not of_batch then return nil end
  local last, parts, count, found = math.max(axis, of_batch), { inner = 1 }, 1, nil
  for i = #shape, 1, -1 do
    if i > last then parts.inner = parts.inner * shape[i] else count = count * shape[i] end
  end
  for part = 0, count - 1 do
    local place, rest = {}, part
    for i = last, 1, -1 do place[i], rest = rest % shape[i], rest // shape[i] end
    if is_padding(place[of_batch], place[axis]) then
      parts[part] = true
      found = parts
    end
  end
  return found
end

return padding
