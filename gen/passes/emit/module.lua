-- module.lua: writes the values of a model's Python module, which has what depends on the model: parameters, types and
-- shapes. The rest is runtime/python (python.lua).
-- A size of a shape is a number, or "batch", "seq" or "seq + N", which a call decides.
local emit_lengths = require("passes.emit.lengths")
local emit_picture = require("passes.emit.picture")
local emit_python = require("passes.emit.python")
local emit_tasks = require("passes.emit.tasks")
local emit_text = require("passes.emit.text")
local reserved_python = require("data.reserved_python")
local words = require("common.words")

local emit_module = {}

local kinds = { f32 = "float32", i32 = "int32" }

-- Returns a Python literal of a number or a text, in ASCII: a text may be a stranger's, with any bytes.
local function literal(value)
  if type(value) ~= "string" then return tostring(value) end
  local parts = {}
  for character in value:gmatch("[\0-\x7F\xC2-\xFD][\x80-\xBF]*") do
    local code = utf8.len(character) == 1 and utf8.codepoint(character) or 0xFFFD
    local is_plain = code >= 32 and code < 127 and character ~= '"' and character ~= "\\"
    parts[#parts + 1] = is_plain and character or (code < 0x10000 and "\\u%04x" or "\\U%08x"):format(code)
  end
  return '"' .. table.concat(parts) .. '"'
end

local function tuple(sizes)
  local parts = words.map(sizes, literal)
  return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
end

-- Returns the least and the largest value of an integer input.
local function bounds_of(tensor)
  if tensor.type ~= "i32" then return "None", "None" end
  return literal(tensor.minimum), literal(tensor.limit - 1)
end

local function input_of(tensor, entry)
  local spec, is_open = entry.spec, entry.spec.symbols.rows.is_open
  local least, most = bounds_of(tensor)
  local range = least == "None" and "" or (", from %s to %s"):format(least, most)
  local name = reserved_python.parameter(tensor.member)
  if name ~= tensor.member then range = range .. (", of the array %s"):format(tensor.member) end
  local is_optional = tensor.zeros
  return { name = name, kind = kinds[tensor.type],
    sizes = tuple(emit_lengths.sizes(tensor, spec, is_open)), shape = emit_lengths.shape(tensor, spec, is_open),
    range = range .. (is_optional and "; may be left out" or ""), least = least, most = most,
    is_optional = is_optional }
end

local function output_of(tensor, entry, has_text)
  local sizes, shape, spec = emit_lengths.sizes, emit_lengths.shape, entry.spec
  local is_open = spec.symbols.rows.is_open
  local of_text = sizes(tensor, spec, true)
  return { name = tensor.member, kind = kinds[tensor.type],
    sizes = tuple(sizes(tensor, spec, is_open)), shape = shape(tensor, spec, is_open),
    text_sizes = tuple(of_text),
    in_texts = has_text and ("; of texts [%s]"):format(table.concat(of_text, "][")) or "" }
end

-- Returns the name of the parameter of lengths that an attention_mask can replace, or nil. A model with an input called
-- attention_mask has none.
local function masked_of(inputs, graph, spec)
  local member, found = (spec.inputs or {}).lengths or "lengths", nil
  for i, name in ipairs(graph.entry.inputs) do
    local tensor = graph.tensors[name]
    if tensor.member == "attention_mask" then return nil end
    if tensor.member == member and tensor.limit - 1 == spec.seq then found = inputs[i].name end
  end
  return found
end

-- Returns the classes of runtime/python that a model's class and its tokenizer's extend, and the class of its library.
local function classes_of(state, spec)
  local text = state.tokenizer and (spec.spans and "Span" or emit_text.most_side(state) and "Page" or "Text") or ""
  local chat = state.chat and "_own._Chat, " or ""
  local of_sound = spec.speech and "_own._SpeechModel, " or "_own._SoundModel, "
  local of_pictures = spec.input.grid and "_own._PatchModel, " or "_own._PictureModel, "
  local takes = (spec.pictures and of_pictures or "") .. (spec.sound and of_sound or "")
    .. (spec.ctc and "_own._CtcModel, " or "")
  return chat .. takes .. "_own._" .. (spec.symbols.past.is_open and "Generating" .. text or text .. "Model"),
    chat .. (text == "Page" and "_own._PageTokenizer" or "_own._Tokenizer"),
    ("_%sLibrary"):format(state.chat and "Chat" or (text:gsub("Page", "Text")))
end

-- Returns what the module has of an encoder's entry: its inputs, and the rows of a source; false: there is none.
local function source_of(state)
  local entry = state.entries[1]
  if entry.spec.role ~= "encode" then return false end
  local made = { inputs = {}, seq = entry.spec.seq, least = entry.spec.least }
  for i, name in ipairs(entry.graph.entry.inputs) do
    made.inputs[i] = input_of(entry.graph.tensors[name], entry)
    made.inputs[i].optional = made.inputs[i].is_optional and "True" or "False"
  end
  return made
end

-- Returns the arguments of _PageFacts for a model that reads where words are on a page, or false.
local function page_of(state, inputs)
  local most, has_image = emit_text.most_side(state), emit_text.has_page_image(state)
  local function name_of(kind)
    local input = inputs[state.primary.graph.answer.inputs[kind] + 1]
    return literal(input and input.name or "")
  end
  return most and ("%s, %d, %s, %s"):format(name_of("boxes"), most, name_of("lengths"),
    has_image and name_of("source_image") or '""')
end

-- Returns the arguments of _Patches for a model that reads patches of pictures, or false.
local function patches_of(state, inputs)
  local spec, answer = state.primary.spec, state.primary.graph.answer
  if not spec.pictures or not spec.input.grid then return false end
  local names = words.map({ "features", "lengths", "shapes" }, function(name)
    return inputs[answer.inputs[name] + 1].name
  end)
  return ("%d, %d, %s"):format(spec.seq, emit_picture.patch(spec.input), tuple(names))
end

--- Returns the values of templates/module.py.in. state: the model's.
function emit_module.values(state)
  local primary = state.primary
  local graph, made = primary.graph, { inputs = {}, outputs = {} }
  for i, name in ipairs(graph.entry.inputs) do made.inputs[i] = input_of(graph.tensors[name], primary) end
  for i, name in ipairs(graph.entry.outputs) do
    made.outputs[i] = output_of(graph.tensors[name], primary, state.tokenizer)
  end
  made.finds_spans = state.tokenizer ~= nil and state.spec.spans ~= nil
  made.adapter_tuple = state.adapters and tuple(words.map(state.adapters, function(each) return each.name end)) or false
  made.prompt_tuple = tuple(words.sorted_keys(primary.spec.prompts or {}))
  made.masked = masked_of(made.inputs, graph, primary.spec) or false
  for _, each in ipairs(made.inputs) do
    local is_optional = each.is_optional or each.name == made.masked
    each.optional = is_optional and "True" or "False"
    each.hint = is_optional and "Optional[ArrayLike] = None" or "ArrayLike"
  end
  made.arguments = state.adapters and table.move(made.inputs, 1, #made.inputs - 1, 1, {}) or made.inputs
  made.model_classes, made.tokenizer_classes, made.library_class = classes_of(state, primary.spec)
  made.tasks = emit_tasks.values(state, literal, tuple)
  made.ranks = state.spec.processes or false
  made.source = source_of(state)
  made.page = page_of(state, made.inputs)
  made.patches = patches_of(state, made.inputs)
  made.shared = emit_python.name
  made.first_input = made.inputs[1].name
  made.most_threads = primary.spec.workers[#primary.spec.workers]
  local is_shared = made.most_threads > 1
  made.threads_parameter = is_shared and ", threads: Optional[int] = None" or ""
  made.threads_argument = is_shared and "threads" or "None"
  made.threads_text = is_shared and (" threads: that share a\n        call, at most, 1 to %d; None: %d, or the number "
    .. "of cores if that is less."):format(made.most_threads, made.most_threads) or ""
  return made
end

return emit_module
