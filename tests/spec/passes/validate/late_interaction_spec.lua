-- late_interaction_spec: the key `late_interaction`: its fields, the tokens that a tokenizer has for them, and what it
-- does not go with.
local helper = require("tests.spec.helper")
local any_length = require("passes.validate.any_length")
local made = require("tests.spec.checkpoints.made")
local pipeline = require("pipeline")

local VOCABULARY = { "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "a", "!", "." }

-- A folder with a tokenizer that has, or lacks, a mask token. settings: of sentence-transformers.
local function folder(settings, config)
  local ids = {}
  for i, token in ipairs(VOCABULARY) do ids[token] = i - 1 end
  if config and not config.mask_token then ids["[MASK]"], ids.b = nil, 4 end
  local text = made.json { version = "1.0", model = { type = "WordPiece", vocab = ids, unk_token = "[UNK]",
    continuing_subword_prefix = "##", max_input_chars_per_word = 9 }, pre_tokenizer = { type = "Whitespace" } }
  local tensors = made.bert()
  tensors["linear.weight"] = { 4, 8 }
  return made.checkpoint(made.config(), tensors, {
    ["modules.json"] = made.json { { type = "sentence_transformers.models.Transformer", path = "" } },
    ["config_sentence_transformers.json"] = made.json(settings), ["tokenizer.json"] = text,
    ["tokenizer_config.json"] = made.json(config or { mask_token = "[MASK]", unk_token = "[UNK]" }) })
end

local function state(settings, overrides, config, last)
  return pipeline.run(helper.root, folder(settings, config), overrides or {}, last or "graph", { with_text = true })
end

local MARKED = { similarity_fn_name = "MaxSim", query_prefix = "[unused0]", document_prefix = "[unused1]",
  query_length = 6, document_length = 9, skiplist_words = { "!", "?", "." } }

local function with(more)
  local result = {}
  for _, list in ipairs { MARKED, more or {} } do for key, value in pairs(list) do result[key] = value end end
  return result
end

local function refused(what, code, ...)
  local fault = helper.fault(state, ...)
  assert.is_truthy(fault, "nothing was refused: " .. what)
  assert.equal(1, #fault.lines)
  assert.is_truthy(fault.lines[1]:find(what, 1, true), fault.lines[1])
  assert.equal(code, fault.code)
end

describe("late interaction", function()
  teardown(helper.clean)

  it("has tokens of the vocabulary; one that it lacks is the unknown token", function()
    local found = state(MARKED)
    assert.same({ query_marker = 5, document_marker = 6, expansion = 4, skip = { 8, 1, 9 } }, found.tokenizer.late)
    assert.same({ { kind = "VECTORS", output = 0 } }, found.primary.graph.answer.answers)
    assert.same({ "", "" }, { found.spec.prompts.query, found.spec.prompts.document })
    assert.is_nil(state(with { similarity_fn_name = "dot" }).spec.similarity)
  end)

  it("fills up queries in calls of one length, unless all tokens see what fills them up", function()
    local found = state(MARKED)
    assert.same({ 9, false }, { found.primary.spec.seq, found.primary.spec.any or false })
    local open = state(with { attend_to_expansion_tokens = true })
    assert.is_true(open.primary.spec.any)
    assert.is_true(state(with { do_query_expansion = false }).primary.spec.any)
    assert.same({ "late_interaction" }, { any_length.reasons(found.primary.spec)[1][1] })
  end)

  it("has the defaults of PyLate, within the model's length", function()
    local late = state({ similarity_fn_name = "MaxSim", query_prefix = "", document_prefix = "" }).spec.late_interaction
    assert.same({ 16, 16, 32 }, { late.query_length, late.document_length, #late.skip })
  end)

  it("has no effect without a tokenizer", function()
    assert.is_nil(state(MARKED, { "tokenizer=false" }).spec.late_interaction)
  end)

  it("refuses what does not fit in a line", function()
    refused('late_interaction.query_marker: the vocabulary has no token "[Q] "', 3, with { query_prefix = "[Q] " })
    refused("late_interaction.expands: the tokenizer has no mask, EOS or padding token", 3, MARKED, {},
      { unk_token = "[UNK]" })
    refused("query_length: 2, but a number of tokens from 4 is expected", 3, with { query_length = 2 })
    refused("late_interaction.document_length: 9, but calls take at most 7 tokens", 2, MARKED, { "seq=7" })
    refused("late_interaction.expands: goes with query_length", 2, MARKED, { "late_interaction={expands=true}" })
    refused("late_interaction.skip.1: 5, but a token's text is allowed", 2, MARKED, { "late_interaction={skip={5}}" })
    refused("late_interaction.skip: 5, but a list of at most 4096 tokens is allowed", 2, MARKED,
      { "late_interaction={skip=5}" })
    refused("late_interaction: 5, but a table such as", 2, MARKED, { "late_interaction=5" })
    refused("late_interaction: no field \"x\"", 2, MARKED, { "late_interaction={x=5}" })
    refused('late_interaction.expands: without attends goes with mask = "padding"', 2, MARKED,
      { "seq=9", 'mask=attention_mask' })
  end)
end)
