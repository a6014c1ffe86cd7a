-- text.lua: writes the facts of a model that takes text, as the values of templates/text.c.in.
-- The facts say which inputs text fills, and which outputs an answer has (runtime/base/text_facts.h).
local c = require("common.c")
local hash = require("common.hash")

local emit_text = {}

--- Returns the values of the template.
function emit_text.values(state)
  local tokenizer, answer = state.tokenizer, state.primary.graph.answer
  local inputs, labels = answer.inputs, {}
  for i, label in ipairs(state.spec.labels or {}) do labels[i] = c.string(label) end
  return { tables_hash = hash.content(tokenizer.tables), tables_bytes = #tokenizer.tables, ids = inputs.ids,
    types = inputs.token_types, lengths = inputs.lengths, mask = inputs.attention_mask, pool_mask = inputs.pool_mask,
    prompt = state.spec.prompt and c.string(state.spec.prompt) or false, answer = answer.kind, output = answer.output,
    second = answer.second, label_list = labels, label_function = "ATTN2C_" .. answer.label_function,
    has_chat = state.chat ~= nil,
    mask_token = tokenizer.mask or -1, bos_token = tokenizer.bos or -1, cls_token = tokenizer.cls or -1 }
end

return emit_text
