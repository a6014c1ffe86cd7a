-- quality.lua: how far a model's outputs are from those in f32, as a table: both are built and run on the same
-- inputs, and the arrays that they write are compared.
local arrays = require("commands.quality.arrays")
local faults = require("common.faults")
local files = require("common.files")
local precision = require("data.precision")
local terminal = require("common.terminal")

local quality = {}

-- The words of a command line with precision=f32 in place of what they say of it.
local function in_f32(list)
  local plain = { "precision=f32" }
  for _, word in ipairs(list) do
    if not word:match("^precision[.=]") then plain[#plain + 1] = word end
  end
  return plain
end

-- Random values for the inputs that a call must have, as files; their words of a command line.
local function random_inputs(graph, folder)
  local list = {}
  math.randomseed(1, 0)
  for _, name in ipairs(graph.entry.inputs) do
    local tensor = graph.tensors[name]
    if not tensor.optional and not tensor.zeros then
      local path = ("%s/in_%d.npy"):format(folder, #list // 2)
      files.write(path, arrays.random(tensor.shape, tensor.type, tensor.minimum, tensor.limit))
      list[#list + 1], list[#list + 2] = "--input", tensor.member .. "=" .. path
    end
  end
  return list
end

local function words_of(arguments, graph, folder, weights)
  local list = { "run", "--weights", weights }
  local option = arguments.text_option or "--text"
  for _, text in ipairs(arguments.text) do list[#list + 1], list[#list + 2] = option, text end
  for _, input in ipairs(arguments.input) do list[#list + 1], list[#list + 2] = "--input", input end
  if #arguments.text + #arguments.input == 0 then
    for _, word in ipairs(random_inputs(graph, folder)) do list[#list + 1] = word end
  end
  return list
end

local function output_path(folder, which, number) return ("%s/%s_%d.npy"):format(folder, which, number) end

-- A row of the table: an output's name, shape and differences.
local function row_text(row)
  local function number(format, value) return value and format:format(value) or "-" end
  return ("| %s | %s | %s | %s | %s | %s |"):format(terminal.safe(row.name), table.concat(row.shape, "x"),
    number("%.6f", row.cosine), number("%.2e", row.relative), number("%.1f%%", row.top and 100 * row.top),
    number("%.3g", row.largest))
end

--- Builds and runs both: { name, precision, target, outputs = { { name, shape, cosine, relative, top, largest } } },
--- each number as arrays.compare has it. arguments: overrides, input { "NAME=FILE.npy" }, text { text }, text_option
--- (how a program takes a text; --text). build(list, with_text): the program of a variant and the pipeline's state;
--- run(path, words): its exit code. Of a run whose code is not 0 nil and that code.
function quality.measure(arguments, weights, build, run)
  if not weights then
    faults.raise("usage", "quality: --weights is needed: of random weights no number means anything")
  end
  local with_text = #arguments.text > 0
  local asked, state = build(arguments.overrides, with_text)
  if precision.is_plain(state.spec.precision) then
    faults.raise("usage", "quality: the precision is f32; another is compared with it: precision=bf16")
  end
  local plain = build(in_f32(arguments.overrides), with_text)
  local folder = asked:match("^(.*)/[^/]*$") .. "/quality"
  files.make_folder(folder)
  local graph = state.entries[#state.entries].graph
  local given = words_of(arguments, graph, folder, weights)
  for which, path in pairs { f32 = plain, other = asked } do
    local list = table.move(given, 1, #given, 1, {})
    for i, name in ipairs(graph.entry.outputs) do
      list[#list + 1] = "--output"
      list[#list + 1] = graph.tensors[name].member .. "=" .. output_path(folder, which, i)
    end
    local code = run(path, list)
    if code ~= 0 then
      files.remove_folder(folder)
      return nil, code
    end
  end
  local outputs = {}
  for i, name in ipairs(graph.entry.outputs) do
    local f32 = arrays.read(output_path(folder, "f32", i))
    local row = arrays.compare(f32, arrays.read(output_path(folder, "other", i)))
    row.name, row.shape = graph.tensors[name].member, f32.shape
    outputs[i] = row
  end
  files.remove_folder(folder)
  return { name = state.spec.name, precision = precision.text(state.spec.precision), target = state.spec.target,
    outputs = outputs }
end

--- As measure, as a table's text; or nil and the code of a run that is not 0.
function quality.run(arguments, weights, build, run)
  local measured, code = quality.measure(arguments, weights, build, run)
  if not measured then return nil, code end
  local lines = { ("%s: precision %s against f32, for %s"):format(measured.name, measured.precision,
    measured.target), "",
    "| output | shape | cosine | relative error | equal top-1 | largest difference |", "|:--|:--|--:|--:|--:|--:|" }
  for _, row in ipairs(measured.outputs) do lines[#lines + 1] = row_text(row) end
  return table.concat(lines, "\n") .. "\n"
end

return quality
