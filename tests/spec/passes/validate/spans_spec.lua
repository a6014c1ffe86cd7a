-- spans_spec: the key `spans` and the output stage `recurrent`: their fields, and what they do not go with.
local helper = require("tests.spec.helper")
local made = require("tests.spec.checkpoints.made")
local pipeline = require("pipeline")

local VOCABULARY = { "[PAD]", "[UNK]", "[CLS]", "[SEP]", "<<ENT>>", "<<SEP>>", "a" }

-- Returns the path of a description with a tokenizer. more: lines of the description.
local function description(more)
  local ids = {}
  for i, token in ipairs(VOCABULARY) do ids[token] = i - 1 end
  local tokenizer = helper.file(made.json { version = "1.0", model = { type = "WordPiece", vocab = ids,
    unk_token = "[UNK]", continuing_subword_prefix = "##", max_input_chars_per_word = 9 },
    pre_tokenizer = { type = "Whitespace" } }, "tokenizer.json")
  return helper.file(([[return { name = "spans", seq = any(16), d_model = 8, heads = 2, layers = 1,
    input = tokens { vocab = 7 }, tokenizer = "%s", output = {
      recurrent { to = 8, both = true, marked = true }, linear { to = 12, of = 1, name = "starts" },
      linear { to = 12, of = 1, name = "ends" }, linear { to = 13, of = 0, name = "labels" } },
    spans = { label = "<<ENT>>", separator = "<<SEP>>" }, %s }]]):format(tokenizer, more or ""), "spans.lua")
end

local function state(overrides, last)
  return pipeline.run(helper.root, description(), overrides or {}, last or "graph", { with_text = true })
end

local function refused(what, code, ...)
  local fault = helper.fault(state, ...)
  assert.is_truthy(fault, "nothing was refused: " .. what)
  assert.is_truthy(table.concat(fault.lines, "\n"):find(what, 1, true), table.concat(fault.lines, "\n"))
  assert.equal(code, fault.code)
end

describe("spans of labels", function()
  teardown(helper.clean)

  it("have tokens of the vocabulary, and three outputs", function()
    local found = state()
    assert.same({ label = 4, separator = 5 }, found.tokenizer.spans)
    local answer = found.primary.graph.answer
    assert.same({ "SPANS", 0, 1, 2, 1 }, { answer.kind, answer.output, answer.second, answer.third,
      answer.inputs.marks })
    assert.same({ 12, 384 }, { found.spec.spans.width, found.spec.spans.words })
    assert.is_nil(state({ "tokenizer=false" }).spec.spans)
  end)

  it("are refused without these outputs or tokens", function()
    refused("spans: goes with an output called starts, a linear layer", 2, { "output.2.name=other" })
    refused("the output ends has 11 numbers, but 12 are expected, as in starts", 2, { "output.3.to=11" })
    refused("the output labels has 12 numbers, but 13 are expected, one more than in starts", 2,
      { "output.4.to=12" })
    refused('spans.label: the vocabulary has no token "b"', 3, { "spans.label=b" })
    refused("spans: does not go with input = tokens { types = ... }", 2, { "input.types=2" })
    refused("spans: 5, but a table such as", 2, { "spans=5" })
    refused("spans.width: 0, but an integer from 1 to 1024 is allowed", 2, { "spans.width=0" })
  end)

  it("follow rows that an LSTM reads in turn", function()
    local graph = state().primary.graph
    local op
    for _, each in ipairs(graph.entry.ops) do if each.op == "recurrent" then op = each end end
    assert.same({ { 1, 16, 8 }, { 8, 16 }, { 1, 16 }, 2 }, { op.result.shape, op.operands.weight.shape,
      op.operands.marks.shape, op.attributes.directions })
    refused("output.1.to: 7, but an even number goes with both", 2, { "output.1.to=7" })
    refused("output.1.to: 1200, but one LSTM has at most 1024", 2, { "output.1.to=1200", "output.1.both=false" })
    refused("output.2: the rows were pooled before", 2, { "spans=nil",
      "output={pool 'first', recurrent { to = 8 }}" })
  end)

  it("are also made of scores of words, with an output of pairs", function()
    local stages = "output={ linear { to = 6 }, linear { to = 6, of = 0 }, match { labels = 2, of = 1, hidden = 9, "
      .. "scores = 3, most = %d, name = 'pairs' } }"
    local found = state({ stages:format(7) })
    local answer = found.primary.graph.answer
    assert.same({ "SPANS", 0, 0, 0, 1, 7 }, { answer.kind, answer.output, answer.second, answer.third,
      answer.inputs.marks, found.spec.spans.most })
    local pairs_ = found.primary.graph.entry.ops
    assert.same({ "match_labels", { 1, 16, 21 }, { 10, 9 }, { 10, 3 } }, { pairs_[#pairs_].op,
      pairs_[#pairs_].result.shape, pairs_[#pairs_].operands.weight.shape, pairs_[#pairs_].operands.out.shape })
    local function changed(from, to) return { (stages:format(7):gsub(from, to)) } end
    refused("spans: the output pairs has 2 scores of a pair, but 3 are expected", 2,
      changed("scores = 3", "scores = 2"))
    refused("output.3: rows of 5 numbers, but an even number is allowed", 2, changed("linear { to = 6 }",
      "linear { to = 5 }"))
    refused("output.3.labels: 2, but a stage before it with rows of 6 numbers, like words, is allowed", 2,
      changed("to = 6, of = 0", "to = 4, of = 0"))
    refused("output.3.labels: 3, but a stage before it", 2, changed("labels = 2", "labels = 3"))
  end)

  it("are of one length where later rows are read and no mask says which there are", function()
    local fixed = { "tokenizer=false", "seq=16", "output.1.marked=false" }
    assert.matches("its tokens see all others", state(fixed, "validate").spec.exact)
    assert.is_nil(state({ "tokenizer=false", "seq=16", "mask=causal", "output.1.marked=false",
      "output.1.both=false" }, "validate").spec.exact)
  end)
end)
