-- text.lua: writes the facts of a model that takes text, as the values of templates/text.c.in.
-- The facts say which inputs text fills, and which outputs an answer has (runtime/base/text_facts.h).
local c = require("common.c")
local hash = require("common.hash")

local emit_text = {}

-- Patterns of outputs that explain an answer and are not part of it.
local beside = { "^attention_%d+$", "^cross_attention_%d+$", "^scores_%d+$", "^cross_scores_%d+$", "^keys_%d+$",
  "^values_%d+$" }

local function is_beside(member)
  for _, pattern in ipairs(beside) do if member:match(pattern) then return true end end
  return false
end

-- Returns the number, from 0, of each input of the entry by attn2c's own name for it.
local function inputs_of(state)
  local renamed, number = state.spec.inputs or {}, {}
  for i, name in ipairs(state.graph.entry.inputs) do number[state.graph.tensors[name].member] = i - 1 end
  local result = {}
  for _, name in ipairs { "ids", "token_types", "lengths", "attention_mask", "pool_mask" } do
    result[name] = number[renamed[name] or name] or -1
  end
  return result
end

-- Returns the last stage that is more than a function of each number.
local function last_stage(spec)
  for i = #spec.output, 1, -1 do
    local stage = spec.output[i]
    if stage.stage ~= "softmax" and stage.stage ~= "log_softmax" and (stage.stage == "linear" or not stage.activation)
    then
      return stage.stage
    end
  end
  return "hidden"
end

-- Returns the kind of the answer, and its outputs.
local function answer_of(state)
  local graph, spec, number, last = state.graph, state.spec, {}, 0
  for i, name in ipairs(graph.entry.outputs) do
    local member = graph.tensors[name].member
    number[member] = i - 1
    if not is_beside(member) then last = i end
  end
  local function rank_of(i) return #graph.tensors[graph.entry.outputs[i]].shape end
  if number.start_logits and number.end_logits then return "SPAN", number.start_logits, number.end_logits end
  if number.last_hidden_state then return "STATES", number.last_hidden_state, 0 end
  if last == 0 then return "STATES", 0, 0 end
  local stage, is_rows = last_stage(spec), rank_of(last) == 3
  local member = graph.tensors[graph.entry.outputs[last]].member
  if stage == "argmax" and not is_rows and rank_of(last) == 1 then return "NUMBER", last - 1, 0 end
  if stage == "vocabulary" then
    local is_masked = is_rows and not spec.mask.causal and state.tokenizer.mask
    return is_masked and "MASKED" or "NEXT", last - 1, 0
  end
  if spec.labels or (stage == "linear" and member == "logits") then
    return is_rows and "TOKENS" or "LABEL", last - 1, 0
  end
  return is_rows and "STATES" or "EMBEDDING", last - 1, 0
end

local functions = { softmax = "ATTN2C_SOFTMAX", sigmoid = "ATTN2C_SIGMOID", none = "ATTN2C_AS_IT_IS" }

-- Returns the function that makes probabilities, unless the model has made them itself.
local function function_of(state, width)
  local spec = state.spec
  if spec.label_function then return functions[spec.label_function] end
  local last = spec.output[#spec.output]
  if last.stage == "softmax" or last.stage == "log_softmax" or last.stage == "sigmoid" then return "ATTN2C_AS_IT_IS" end
  return width == 1 and "ATTN2C_SIGMOID" or "ATTN2C_SOFTMAX"
end

--- Returns the values of the template.
function emit_text.values(state)
  local longest, tokenizer = state.entries[#state.entries], state.tokenizer
  local inputs = inputs_of(longest)
  local kind, output, second = answer_of(longest)
  local shape = longest.graph.tensors[longest.graph.entry.outputs[output + 1]].shape
  local labels = {}
  for i, label in ipairs(state.spec.labels or {}) do labels[i] = c.string(label) end
  return { tables_hash = hash.content(tokenizer.tables), tables_bytes = #tokenizer.tables, ids = inputs.ids,
    types = inputs.token_types, lengths = inputs.lengths, mask = inputs.attention_mask, pool_mask = inputs.pool_mask,
    prompt = state.spec.prompt and c.string(state.spec.prompt) or false, answer = kind, output = output,
    second = second, label_list = labels, label_function = function_of(state, shape[#shape]),
    mask_token = tokenizer.mask or -1, bos_token = tokenizer.bos or -1,
    cls_token = tokenizer.cls or -1 }
end

return emit_text
