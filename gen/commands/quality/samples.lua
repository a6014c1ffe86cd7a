-- samples.lua: chooses the inputs that a variant of a model is run on, and the words of the variant in f32.
-- The inputs are those or the texts of a command line, the first of them, or random numbers.
local arrays = require("commands.quality.arrays")
local files = require("common.files")
local lfs = require("lfs")

local samples = {}

--- Returns the words of a command line with precision=f32 in place of the given precision, weights=none in place of
--- the given weights if has_weights, and cache=f32 in place of the given cache if has_cache.
function samples.in_f32(list, has_weights, has_cache)
  local plain = { "precision=f32" }
  if has_weights then plain[#plain + 1] = "weights=none" end
  if has_cache then plain[#plain + 1] = "cache=f32" end
  for _, word in ipairs(list) do
    local is_type = word:match("^precision[.=]") or has_weights and word:match("^weights[.=]")
      or has_cache and word:match("^cache=")
    if not is_type then plain[#plain + 1] = word end
  end
  return plain
end

-- Writes random values for the required inputs of a call as files.
local function random_inputs(graph, folder)
  local list = {}
  math.randomseed(1, 0)
  for _, name in ipairs(graph.entry.inputs) do
    local tensor = graph.tensors[name]
    if not tensor.optional and not tensor.zeros then
      local path = ("%s/in_%d.npy"):format(folder, #list)
      files.write(path, arrays.random(tensor.shape, tensor.type, tensor.minimum, tensor.limit))
      list[#list + 1] = tensor.member .. "=" .. path
    end
  end
  return list
end

--- Returns the words of `run` for the inputs or texts of quality.measure's arguments, without outputs.
function samples.words(arguments, graph, folder, weights)
  local list = { "run", "--weights", weights }
  local option = arguments.text_option or "--text"
  for _, text in ipairs(arguments.text) do list[#list + 1], list[#list + 2] = option, text end
  local inputs = arguments.input
  if #arguments.text + #inputs == 0 then inputs = random_inputs(graph, folder) end
  for _, input in ipairs(inputs) do list[#list + 1], list[#list + 2] = "--input", input end
  return list
end

--- Returns the arguments with the standard input as a file in a folder, because only the first of several runs could
--- read it.
function samples.from_file(arguments, folder)
  local list = {}
  for i, text in ipairs(arguments.text) do
    if text == "-" and not arguments.text_option then
      text = folder .. "/texts.txt"
      if not files.read(text) then files.write(text, io.read("a") or "") end
    end
    list[i] = text
  end
  return setmetatable({ text = list }, { __index = arguments })
end

local function first_lines(text, count)
  local lines = {}
  for line in text:gmatch("[^\n]*\n?") do
    if #lines == count or line == "" then break end
    lines[#lines + 1] = line
  end
  return table.concat(lines)
end

--- Returns the arguments with the first `count` sequences of each array with a batch, or lines of each file of texts.
function samples.first(arguments, graph, folder, count)
  local result = { input = {}, text = {}, text_option = arguments.text_option }
  for i, input in ipairs(arguments.input) do
    local member, path = arrays.given(input)
    local tensor
    for _, name in ipairs(graph.entry.inputs) do
      local each = graph.tensors[name]
      if each.member == member or not member and #graph.entry.inputs == 1 then tensor = each end
    end
    local text = tensor and (tensor.grows or ""):sub(1, 1) == "b" and files.read(path)
    if text then
      local cut = ("%s/first_%d.npy"):format(folder, i)
      files.write(cut, arrays.first(text, count))
      input = member and member .. "=" .. cut or cut
    end
    result.input[i] = input
  end
  for i, text in ipairs(arguments.text) do
    local lines = not arguments.text_option and lfs.attributes(text, "mode") == "file" and files.read(text)
    if lines then
      text = ("%s/first_%d.txt"):format(folder, i)
      files.write(text, first_lines(lines, count))
    end
    if i <= count then result.text[i] = text end
  end
  return result
end

--- Adds `--output MEMBER=FILE` for each of { member, path }.
function samples.with_outputs(list, outputs)
  local all = table.move(list, 1, #list, 1, {})
  for _, each in ipairs(outputs) do
    all[#all + 1], all[#all + 2] = "--output", each.member .. "=" .. each.path
  end
  return all
end

return samples
