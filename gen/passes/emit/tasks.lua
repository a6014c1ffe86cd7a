-- tasks.lua: decides which functions a model's Python module has, by what the model takes and what its answer is
-- (runtime/python/tasks.py).
local emit_text = require("passes.emit.text")
local reserved = require("data.reserved")
local reserved_python = require("data.reserved_python")
local words = require("common.words")

local emit_tasks = {}

-- The classes of a pipeline, and the functions that they give the module, by what the model takes and by the kind of
-- its answer. SCORE: one label. ENTAILS: one of the labels says that a text follows from another.
local of = {
  texts = {
    EMBEDDING = { { "Searching", "OfTexts" }, { "encode", "similarity", "rank" } },
    LABEL = { { "Classifying", "OfTexts" }, { "classify" } },
    ENTAILS = { { "Entailing" }, { "classify", "zero_shot" } },
    SCORE = { { "Scoring" }, { "predict", "rank" } },
    TOKENS = { { "Tagging" }, { "tag" } },
    MASKED = { { "Filling" }, { "fill" } },
    SPAN = { { "Answering" }, { "answer" } },
    SPANS = { { "Labelling" }, { "tag" } },
  },
  pictures = {
    EMBEDDING = { { "Embedding", "OfPictures" }, { "encode", "similarity" } },
    LABEL = { { "Classifying", "OfPictures" }, { "classify" } },
  },
  sounds = {
    EMBEDDING = { { "Embedding", "OfSounds" }, { "encode", "similarity" } },
    LABEL = { { "Classifying", "OfSounds" }, { "classify" } },
    SPEECH = { { "Spelling" }, { "transcribe" } },
  },
}

-- Classes and functions of a model that writes.
local writing = { { "Writing" }, { "generate" } }
local chatting = { { "Chatting" }, { "generate", "chat" } }
local translating = { { "Translating" }, { "generate", "translate" } }
local captioning = { { "Captioning" }, { "caption" } }
local listening = { { "Listening" }, { "transcribe" } }

-- Returns the classes and functions of a model, or nil.
local function entry_of(state)
  local spec, answer = state.spec, state.primary.graph.answer
  if spec.processes or not answer then return nil end
  if spec.symbols.past.is_open then
    if not state.tokenizer then return nil end
    if spec.speech then return spec.sound and listening or nil end
    if spec.pictures then return captioning end
    if state.tokenizer.languages then return translating end
    return state.chat and chatting or writing
  end
  local is_page = emit_text.has_page_image(state)
  local takes = is_page and "texts" or spec.pictures and "pictures" or spec.sound and "sounds"
    or state.tokenizer and "texts"
  if not takes or spec.pictures and spec.input.grid then return nil end
  local tensor = state.primary.graph.tensors[state.primary.graph.entry.outputs[answer.output + 1]]
  local kind = answer.kind == "LABEL" and tensor.shape[#tensor.shape] == 1 and "SCORE" or answer.kind
  if kind == "SPAN" and not state.primary.spec.symbols.rows.is_open and not is_page then return nil end
  if kind == "LABEL" and takes == "texts" and not is_page and emit_text.entails(state) then kind = "ENTAILS" end
  local found = of[takes][kind]
  if not found or not emit_text.most_side(state) then return found end
  return { words.append({ "OfPages" }, found[1]), found[2] }
end

function emit_tasks.names(state)
  local entry = entry_of(state)
  return entry and entry[2] or {}
end

local functions = { SOFTMAX = "softmax", SIGMOID = "sigmoid", AS_IT_IS = "none" }

--- Returns what a module has of its tasks: { names, classes, facts }, texts of Python; false: it has none. literal,
--- tuple: module.lua's.
function emit_tasks.values(state, literal, tuple)
  local entry = entry_of(state)
  if not entry then return false end
  local graph, answer, inputs = state.primary.graph, state.primary.graph.answer, {}
  local function output(number) return reserved.member(graph.tensors[graph.entry.outputs[number + 1]].member) end
  for _, name in ipairs { "ids", "token_types", "image", "features", "hidden" } do
    local number = answer.inputs[name] or -1
    local tensor = number >= 0 and graph.tensors[graph.entry.inputs[number + 1]]
    if tensor then inputs[#inputs + 1] = reserved_python.parameter(tensor.member) end
  end
  local tokenizer = state.tokenizer or {}
  local classes = words.map(entry[1], function(each) return "_own._" .. each end)
  return { names = entry[2], list = table.concat(entry[2], "(), ") .. "()", classes = table.concat(classes, ", "),
    facts = table.concat({ tuple(inputs), literal(output(answer.output)),
      literal(answer.kind == "SPAN" and output(answer.second) or ""), literal(functions[answer.label_function]),
      tuple(state.spec.labels or {}), literal(tokenizer.mask or -1), literal(tokenizer.cls or -1),
      literal((tokenizer.specials or {}).unk or -1), literal(tokenizer.prefix or ""),
      literal(state.spec.similarity or "cosine") }, ", ") }
end

return emit_tasks
