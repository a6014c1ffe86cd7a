-- batch.lua: turns the inputs of a command line into one batch of an entry, which `check` takes.
-- The inputs may have any number of sequences.
local arrays = require("commands.quality.arrays")
local files = require("common.files")

local batch = {}

-- Returns the inputs as { member, path, text, tensor of the entry, shape }. Returns nil if one of them is not an array
-- of an input of the entry; the program then says what is wrong.
local function given_to(list, graph)
  local of = {}
  for _, name in ipairs(graph.entry.inputs) do of[graph.tensors[name].member] = graph.tensors[name] end
  local result = {}
  for i, word in ipairs(list) do
    local member, path = arrays.given(word)
    if not member and #graph.entry.inputs == 1 then member = graph.tensors[graph.entry.inputs[1]].member end
    local tensor, text = of[member or ""], files.read(path)
    local shape = text and arrays.shape(text)
    if not tensor or not shape or #shape ~= #tensor.shape then return nil end
    result[i] = { member = member, path = path, text = text, tensor = tensor, shape = shape }
  end
  return result
end

-- Returns the size of the inputs along the axes with a letter (Builder:grows). Returns nil if none has such an axis,
-- false if the sizes differ.
local function size_along(inputs, letter)
  local size
  for _, each in ipairs(inputs) do
    local axis = (each.tensor.grows or ""):find(letter, 1, true)
    if axis and size and each.shape[axis] ~= size then return false end
    size = axis and each.shape[axis] or size
  end
  return size
end

--- Returns the words for `check` in place of --input: { input = words, note }. Arrays whose number of sequences is not
--- the batch are cut, or repeated, and written to `folder`. note: the reason why there are no words, if the entry has
--- no sequences of this length.
function batch.of(list, state, folder)
  local as_given = { input = list }
  local spec = state.primary.spec
  local inputs = #list > 0 and given_to(list, state.primary.graph)
  if not inputs then return as_given end
  local seq, sequences = size_along(inputs, "s"), size_along(inputs, "b")
  if seq == false or sequences == false then return as_given end -- the program refuses one of them
  if seq and seq ~= spec.seq then
    return { input = {}, note = ("the check uses random inputs: the arrays of --input have %d tokens, and the model's "
      .. "entry %d"):format(seq, spec.seq) }
  end
  local result = { input = {} }
  for i, each in ipairs(inputs) do
    local path = each.path
    if (each.tensor.grows or ""):sub(1, 1) == "b" and each.shape[1] ~= spec.batch then
      path = ("%s/batch_%s.npy"):format(folder, each.member)
      files.write(path, arrays.exactly(each.text, spec.batch))
    end
    result.input[i] = each.member .. "=" .. path
  end
  return result
end

return batch
