-- picture.lua: writes the facts of a model that takes pictures, as the values of templates/picture.c.in.
-- The facts say how pixels become the model's image, and what the answer is (runtime/base/picture_facts.h).
local c = require("common.c")
local emit_text = require("passes.emit.text")
local reserved = require("data.reserved")
local words = require("common.words")

local emit_picture = {}

-- Returns numbers as a list of C's floats.
local function floats(list)
  return table.concat(words.map(list, function(value) return "(float)" .. c.double(value) end), ", ")
end

--- Returns the side of the patches that a stage of rows of patches reads, or false for another stage.
function emit_picture.patch(stage) return stage.grid and math.tointeger((stage.from // 3) ^ 0.5) or false end

--- Returns the stage of the model's picture, and the name of the input that it is. The first entry reads it.
function emit_picture.image(state)
  local spec, graph = state.entries[1].spec, state.entries[1].graph
  local answer = state.primary.graph.answer or { inputs = {} }
  local page = spec.memory and spec.memory.joined and spec.memory.encoder
  local number = page and answer.inputs.source_image or 0
  return (page or spec).input, reserved.member(graph.tensors[graph.entry.inputs[number + 1]].member)
end

function emit_picture.values(state)
  local spec, answer = state.spec, state.primary.graph.answer
  local given, image = spec.pictures, emit_picture.image(state)
  local resize = given.longest_edge and "BETWEEN" or given.shortest_edge and "SHORTEST" or given.max_height and "WITHIN"
    or given.height and "EXACT" or "NONE"
  local inputs, patch = answer.inputs, image.grid and emit_picture.patch(image)
  return { width = image.width or patch, height = image.height or patch, resize = resize,
    patch = patch or false, most = state.entries[1].spec.seq, shapes = inputs.shapes, lengths = inputs.lengths,
    resize_width = given.width or given.max_width or given.longest_edge or given.shortest_edge or 0,
    resize_height = given.height or given.max_height or given.shortest_edge or 0,
    filter = given.filter:upper(), crops = given.crop and 1 or 0, pads = given.pad and 1 or 0,
    keeps_fractions = given.fractions, scale = c.double(given.scale),
    mean = floats(given.mean), deviation = floats(given.std), answer = answer.kind,
    input = math.max(inputs[patch and "features" or "image"] or 0, inputs.source_image, 0),
    output = answer.output, has_calls = true, similarity = answer.similarity or false,
    label_list = words.map(spec.labels or {}, c.string), label_function = "ATTN2C_" .. answer.label_function }
end

--- Returns the names of the model that embeds texts, as templates/program.c.in has them, or false: its functions and
--- macros, its embedding, and the width of that.
function emit_picture.texts(state)
  local other = state.texts
  if not other or state.spec.draft then return false end
  local embedding = emit_text.embedding(other)
  return { name = other.spec.name, upper = other.spec.name:upper(), output = embedding.name, width = embedding.width }
end

return emit_picture
