-- longformer.lua: describes Longformer (Beltagy et al. 2020): RoBERTa with a window in each layer. Its classes whose
-- tokens see some tokens everywhere (global attention) are not supported: these have projections of their own.
local faults = require("common.faults")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

local GLOBAL = "its global attention has projections of its own, which are not supported"

local function refuse(...) faults.raise("usage", "config.json: attention_window: " .. faults.line(...)) end

-- Sets the windows: half of attention_window to each side, a number for all layers or one for each.
local function derive(facts)
  local given = facts.windows
  if type(given) == "table" and #given ~= facts.layers then
    refuse("%d numbers, but one for each of %d layers is expected", #given, facts.layers)
  end
  facts.longest = facts.max_position - facts.pad - 1
  local first, differs = type(given) == "table" and given[1] or given, false
  for i = 0, facts.layers - 1 do
    local each = type(given) == "table" and given[i + 1] or given
    differs = differs or each ~= first
    if math.type(each) ~= "integer" or each < 2 or each % 2 ~= 0 then
      refuse("%s is not supported: an even number is", tostring(each))
    end
    if each // 2 < facts.longest - 1 then layers.own(facts, i).window = each // 2 + 1 end
  end
  if not differs and facts.each then facts.window, facts.each = facts.each[1].window, nil end
end

return {
  known = "Longformer (base, large): states, masked words and labels of tokens",
  model_types = { longformer = "Longformer" },
  called = { longformer = "Longformer" },
  config = heads.bert_config({ vocab = 30522, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072,
    pad = 1 }, {
    { "attention_window", to = "windows", default = 512, kind = "counts" },
  }),
  positions_after_pad = true,
  derive = derive,
  heads = {
    Model = heads.roberta.Model, ForMaskedLM = heads.roberta.ForMaskedLM,
    ForTokenClassification = heads.roberta.ForTokenClassification,
  },
  refused = { ForSequenceClassification = GLOBAL, ForQuestionAnswering = GLOBAL, ForMultipleChoice = GLOBAL },
}
