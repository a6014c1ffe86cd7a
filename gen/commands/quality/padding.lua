-- padding.lua: which rows of arrays are padding, by the inputs that say how long sequences are, or which tokens are
-- kept: they are neither compared nor looked at. Of texts the program writes zeros there.
local arrays = require("commands.quality.arrays")
local faults = require("common.faults")
local files = require("common.files")

local padding = {}

-- Inputs that tell padding, the first that is given in each list: of the rows, or, of qkv(), keys; of those of the
-- memory. counts: an input says how many rows a sequence has; else it has a number for each row: with keeps, one that
-- is not 0 where the row counts, without, where the row is padding.
local telling = {
  { { member = "lengths", counts = true }, { member = "rows", counts = true },
    { member = "attention_mask", keeps = true }, { member = "key_padding" } },
  { { member = "memory_lengths", counts = true }, { member = "source_lengths", counts = true },
    { member = "memory_key_padding" }, { member = "source_attention_mask", keeps = true },
    { member = "source_key_padding" } },
}
local of_queries = { { member = "rows", counts = true } }

-- The file that each input is given by: member -> path.
local function files_of(words)
  local of = {}
  for i = 1, #words - 1 do
    local member, path = arrays.given(words[i + 1])
    if words[i] == "--input" and member then of[member] = path end
  end
  return of
end

-- Whether row `row` of sequence `b`, both from 0, is padding, as a function; nil where no input of the list is given.
-- past: how many keys stand before the first row's.
local function told_by(list, given, renamed, past)
  for _, each in ipairs(list) do
    local path = given[renamed[each.member] or each.member]
    if path then
      local numbers, wrong = arrays.integers(files.read(path) or "")
      if not numbers then faults.raise("format", ("%s: %s"):format(path, wrong)) end
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

--- What tells padding of a run. words: its command line, which the program has taken; spec: the model's. Faults:
--- format.
function padding.of(words, spec)
  local given, renamed = files_of(words), spec.inputs or {}
  local has_keys = spec.input.stage == "qkv"
  local rows, memory = told_by(telling[1], given, renamed, spec.past), told_by(telling[2], given, renamed, 0)
  return { s = has_keys and told_by(of_queries, given, renamed, 0) or not has_keys and rows or nil,
    k = has_keys and rows or nil, memory = memory,
    memory_seq = spec.memory and (spec.memory.encoder or spec.memory).seq }
end

-- The axis of a tensor's rows, and what tells their padding; nil where it has none.
local function axis_of(told, tensor)
  local grows = tensor.grows or ""
  for _, letter in ipairs { "s", "k" } do
    local axis = grows:find(letter, 1, true)
    if axis then return axis, told[letter] end
  end
  if told.memory and grows == "b.." and tensor.shape[2] == told.memory_seq then return 2, told.memory end
  return nil
end

--- The parts of an array of a tensor that are padding: { inner = numbers in a part, [part] = true }, parts counted from
--- 0; nil where there are none. shape: of the array.
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
    for i = last, 1, -1 do
      place[i], rest = rest % shape[i], rest // shape[i]
    end
    if is_padding(place[of_batch], place[axis]) then
      parts[part] = true
      found = parts
    end
  end
  return found
end

return padding
