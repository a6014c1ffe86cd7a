-- text.lua: writes the facts of a model that takes text, as the values of templates/text.c.in.
-- The facts say which inputs text fills, and which outputs an answer has (runtime/base/text_facts.h).
local c = require("common.c")
local hash = require("common.hash")
local reserved = require("data.reserved")
local words = require("common.words")

local emit_text = {}

-- Returns the prompts as C strings, { name, text }, sorted by their names.
local function prompt_rows(prompts)
  return words.map(words.sorted_keys(prompts or {}), function(name)
    return { name = c.string(name), text = c.string(prompts[name]) }
  end)
end

--- Returns the names of a spec's prompts, sorted, for a comment.
function emit_text.prompt_names(spec) return words.map(words.sorted_keys(spec.prompts or {}), c.comment) end

--- True for a classifier that says whether one text follows from another.
function emit_text.entails(state)
  local answer = state.primary.graph.answer
  if not state.tokenizer or not answer or answer.kind ~= "LABEL" then return false end
  for _, label in ipairs(state.spec.labels or {}) do if label:lower():find("^entail") then return true end end
  return false
end

--- True for a model that translates, and knows languages.
function emit_text.has_languages(state)
  local known = state.spec.memory and state.tokenizer and state.tokenizer.languages
  return known and #known.list > 0 or false
end

--- Returns facts of the embedding that a model makes of a text: its output's name, its width, the numbers that are
--- usual, and whether they are scaled to a unit vector; false for other models.
function emit_text.embedding(state)
  local graph, spec = state.primary.graph, state.primary.spec
  if not state.tokenizer or graph.answer.kind ~= "EMBEDDING" then return false end
  local tensor = graph.tensors[graph.entry.outputs[graph.answer.output + 1]]
  local width = tensor.shape[#tensor.shape]
  return { name = reserved.member(tensor.member), width = width, usual = spec.dimensions or width,
    is_unit = graph.answer.is_unit }
end

--- Returns the largest side of the boxes that words of texts have; false for a model without them.
function emit_text.most_side(state)
  local graph = state.primary.graph
  local number = state.tokenizer and graph.answer.inputs.boxes or -1
  return number >= 0 and graph.tensors[graph.entry.inputs[number + 1]].limit - 1
end

--- True for a model whose texts come with a picture of their page.
function emit_text.has_page_image(state)
  local image = state.tokenizer and state.spec.pictures and state.primary.graph.answer.inputs.source_image or -1
  return emit_text.most_side(state) and image >= 0
end

-- Returns the special tokens, which have no lexical weight, as a list of C.
local function unweighted(specials)
  return table.concat(words.map({ "cls", "eos", "pad", "sep", "unk" }, function(name) return specials[name] end), ", ")
end

-- Returns how vectors of tokens are compared, as the members of attn2c_late, or nil.
local function late_rows(given, tokens)
  if not given then return nil end
  local list = {}
  for _, each in ipairs { { "query_marker", tokens.query_marker or -1 },
    { "document_marker", tokens.document_marker or -1 }, { "expansion", tokens.expansion or -1 },
    { "query_length", given.query_length or 0 }, { "document_length", given.document_length or 0 },
    { "attends", given.attends and 1 or 0 }, { "first", given.first }, { "mean", given.mean and 1 or 0 },
    { "skip", #tokens.skip > 0 and "skipped" or "NULL" }, { "skip_count", #tokens.skip } } do
    list[#list + 1] = (".%s = %s,"):format(each[1], each[2])
  end
  return list
end

-- Returns how spans are found, as the members of attn2c_spans, or false.
local function span_rows(spec, answer, tokens)
  local given = spec.spans
  if not given then return false end
  local list = {}
  for _, each in ipairs { { "label", tokens.label }, { "separator", tokens.separator }, { "width", given.width },
    { "words", given.words }, { "marks", answer.inputs.marks }, { "labels", answer.third }, { "most", given.most } } do
    list[#list + 1] = each[2] and (".%s = %d,"):format(each[1], each[2])
  end
  return list
end

function emit_text.values(state)
  local tokenizer, answer = state.tokenizer, state.primary.graph.answer
  local inputs, labels = answer.inputs, words.map(state.spec.labels or {}, c.string)
  return { tables_hash = hash.content(tokenizer.tables), tables_bytes = #tokenizer.tables,
    written_hash = tokenizer.written and hash.content(tokenizer.written) or false,
    written_bytes = tokenizer.written and #tokenizer.written or false, ids = inputs.ids,
    types = inputs.token_types, lengths = inputs.lengths, mask = inputs.attention_mask, pool_mask = inputs.pool_mask,
    most_side = emit_text.most_side(state), boxes = inputs.boxes,
    image = state.spec.pictures and inputs.source_image or -1,
    separator = state.spec.input.separator_place and tokenizer.specials.sep or -1,
    separator_place = state.spec.input.separator_place or 0,
    prompt = state.spec.prompt and c.string(state.spec.prompt) or false, answer = answer.kind, output = answer.output,
    answers = answer.answers or {}, late = late_rows(state.spec.late_interaction, tokenizer.late) or false,
    spans = span_rows(state.spec, answer, tokenizer.spans),
    skipped = tokenizer.late and table.concat(tokenizer.late.skip, ", ") or "",
    query_bytes = tokenizer.query_weights and #tokenizer.query_weights or false,
    unweighted = answer.answers and unweighted(tokenizer.specials) or "",
    second = answer.second, label_list = labels, label_function = "ATTN2C_" .. answer.label_function,
    prompts = prompt_rows(state.spec.prompts), dimensions = state.spec.dimensions or false,
    is_unit = answer.is_unit, similarity = state.spec.similarity and state.spec.similarity:upper() or false,
    embedding = emit_text.embedding(state), entails = emit_text.entails(state), has_chat = state.chat ~= nil,
    has_languages = emit_text.has_languages(state), has_adapters = state.adapters ~= nil,
    mask_token = tokenizer.mask or -1, bos_token = tokenizer.bos or -1, cls_token = tokenizer.cls or -1,
    pad_token = state.spec.input.padded and tokenizer.pad or false }
end

return emit_text
