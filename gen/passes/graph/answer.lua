-- answer.lua: decides what the answer to a text, a picture or a sound is: the inputs that they fill, its kind, and its
-- outputs. runtime/base/text_facts.h has the kinds.
local faults = require("common.faults")
local words = require("common.words")

local answer = {}

-- Patterns of outputs that explain an answer and are not part of it.
local beside = { "^attention_%d+$", "^cross_attention_%d+$", "^scores_%d+$", "^cross_scores_%d+$", "^keys_%d+$",
  "^values_%d+$", "^cross_queries_%d+$" }

local function is_beside(member)
  return words.any(beside, function(pattern) return member:match(pattern) end)
end

answer.inputs = { "ids", "token_types", "lengths", "attention_mask", "pool_mask", "marks", "boxes", "source_image" }
local of_media = { "image", "features", "hidden", "shapes", "lengths", "source_image" }

-- Refuses a number of kept numbers that the answer does not have.
local function check_dimensions(spec, kind, width)
  local count = spec.dimensions
  if not count then return end
  if kind ~= "EMBEDDING" then
    faults.raise("usage", "dimensions: goes with models that give an embedding of a text")
  elseif count > width then
    faults.raise("usage", "dimensions: %d, but the embedding has %d numbers", count, width)
  end
end

local function check_similarity(spec, kind)
  if spec.similarity and kind ~= "EMBEDDING" then
    faults.raise("usage", "similarity: goes with models that give an embedding of a text")
  end
end

-- Refuses padding before texts where transformers' results depend on it: texts that are filled up, and questions, which
-- transformers then puts after their texts.
local function check_padding(spec, kind, tokenizer)
  local file = tokenizer and tokenizer.pads_left
  if not file or not spec.input.padded and kind ~= "SPAN" then return end
  faults.raise("usage", "%s: padding_side: left is not supported %s; tokenizer=false builds the model without text",
    file, kind == "SPAN" and "for answers to questions" or "where all texts are filled up to one length")
end

-- Returns the number, from 0, of each input of a list of attn2c's own names; -1: the entry has none.
local function inputs_of(spec, graph, list)
  local renamed, number, result = spec.inputs or {}, {}, {}
  for i, name in ipairs(graph.entry.inputs) do number[graph.tensors[name].member] = i - 1 end
  for _, name in ipairs(list) do result[name] = number[renamed[name] or name] or -1 end
  return result
end

-- Returns the number, from 1, of the output that the stage `similarity` gives, or nil.
local function similarity_of(graph)
  for i, name in ipairs(graph.entry.outputs) do if name:find("^output%.%d+%.similarity%.pool$") then return i end end
  return nil
end

local passed_over = words.set { "similarity", "softmax", "log_softmax" }

-- Returns the last stage that is more than a function of each number.
local function last_stage(spec)
  for i = #spec.output, 1, -1 do
    local stage = spec.output[i]
    if not passed_over[stage.stage] and (stage.stage == "linear" or not stage.activation) then return stage.stage end
  end
  return "hidden"
end

-- Outputs whose names are what a search wants, and the kinds of answers that they are, the usual one first.
local of_search = { { "sentence_embedding", "EMBEDDING" }, { "lexical_weights", "LEXICAL" },
  { "token_embeddings", "VECTORS" } }

-- Returns the answers of a model that has lexical weights or vectors of tokens, { { kind, output } }, or nil.
local function searched(number)
  if not number.lexical_weights and not number.token_embeddings then return nil end
  local list = {}
  for _, each in ipairs(of_search) do
    if number[each[1]] then list[#list + 1] = { kind = each[2], output = number[each[1]] } end
  end
  return list
end

-- Returns the kind of the answer, its outputs, and the answers that a caller may have in its place, or nil. has_mask:
-- whether the tokenizer has a mask token.
local function kind_of(spec, graph, has_mask, is_text)
  local number, last, similarity = {}, 0, similarity_of(graph)
  for i, name in ipairs(graph.entry.outputs) do
    local member = graph.tensors[name].member
    number[member] = i - 1
    if not is_beside(member) and i ~= similarity then last = i end
  end
  local function rank_of(i) return #graph.tensors[graph.entry.outputs[i]].shape end
  if number.start_logits and number.end_logits then return "SPAN", number.start_logits, number.end_logits end
  if is_text and spec.spans then return "SPANS", number.starts or number.pairs, number.ends or number.pairs end
  local list = is_text and searched(number)
  if list then return list[1].kind, list[1].output, 0, list end
  if spec.pictures and number.pooler_output then return "EMBEDDING", number.pooler_output, 0 end
  if number.last_hidden_state then return "STATES", number.last_hidden_state, 0 end
  if number.embeddings and not spec.labels then return "EMBEDDING", number.embeddings, 0 end
  if last == 0 then return "STATES", 0, 0 end
  local stage, is_rows = last_stage(spec), rank_of(last) == 3
  local member = graph.tensors[graph.entry.outputs[last]].member
  if stage == "argmax" and not is_rows and rank_of(last) == 1 then return "NUMBER", last - 1, 0 end
  if stage == "vocabulary" then
    local is_masked = is_rows and not spec.mask.causal and has_mask
    return is_masked and "MASKED" or "NEXT", last - 1, 0
  end
  if spec.ctc and is_rows then return "SPEECH", last - 1, 0 end
  if spec.labels or (stage == "linear" and member == "logits") then
    return is_rows and "TOKENS" or "LABEL", last - 1, 0
  end
  return is_rows and "STATES" or "EMBEDDING", last - 1, 0
end

local functions = { softmax = "SOFTMAX", sigmoid = "SIGMOID", none = "AS_IT_IS" }

-- Returns the function that makes probabilities of `width` scores, unless the model has made them itself.
local function function_of(spec, width)
  if spec.label_function then return functions[spec.label_function] end
  local last = spec.output[#spec.output]
  if last.stage == "softmax" or last.stage == "log_softmax" or last.stage == "sigmoid" then return "AS_IT_IS" end
  return width == 1 and "SIGMOID" or "SOFTMAX"
end

-- Returns the number, from 0, of the output of this name; nil if there is none.
local function output_called(graph, member)
  for i, name in ipairs(graph.entry.outputs) do if graph.tensors[name].member == member then return i - 1 end end
  return nil
end

--- Returns { inputs = name -> number or -1, kind, output, second: numbers of outputs from 0, label_function,
--- third: of spans, the number of the output for labels;
--- answers: a list of all answers, { kind, output }, if a caller may choose one; is_unit: whether the answer is an
--- embedding that was scaled to a unit vector, similarity: the number of the output that turns its cosines into scores,
--- or nil }.
--- tokenizer: nil for a model that takes pictures or sound.
function answer.of(spec, graph, tokenizer)
  local similarity = similarity_of(graph)
  local kind, output, second, list = kind_of(spec, graph, tokenizer and tokenizer.mask ~= nil, tokenizer ~= nil)
  local shape = graph.tensors[graph.entry.outputs[output + 1]].shape
  check_dimensions(spec, kind, shape[#shape])
  check_similarity(spec, kind)
  check_padding(spec, kind, tokenizer)
  if spec.ctc and kind ~= "SPEECH" then
    faults.raise("usage", "ctc: goes with a last output that has a row of scores for each row of states")
  end
  return { inputs = inputs_of(spec, graph, tokenizer and answer.inputs or of_media), kind = kind,
    output = output, second = second, third = kind == "SPANS" and (output_called(graph, "labels") or output) or nil,
    answers = list, label_function = function_of(spec, shape[#shape]),
    is_unit = kind == "EMBEDDING" and (list and graph.entry.outputs[output + 1]:find("%.normalise$") ~= nil
      or not list and last_stage(spec) == "normalise"),
    similarity = similarity and similarity - 1 }
end

--- Returns an answer as lines of text.
function answer.dump(made)
  local lines = { ("  answer %s of output %d%s, %s"):format(made.kind, made.output,
    made.kind == "SPAN" and " and " .. made.second or made.third and (", %d and %d"):format(made.second, made.third)
    or "", made.label_function) }
  for _, name in ipairs(answer.inputs) do
    if (made.inputs[name] or -1) >= 0 then
      lines[#lines + 1] = ("  text fills input %d, %s"):format(made.inputs[name], name)
    end
  end
  if made.similarity then lines[#lines + 1] = ("  output %d makes scores of cosines"):format(made.similarity) end
  local image = made.inputs.image or -1
  if image >= 0 then lines[#lines + 1] = ("  pictures fill input %d, image"):format(image) end
  return lines
end

return answer
