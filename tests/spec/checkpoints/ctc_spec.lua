-- ctc_spec.lua: the files of a tokenizer for CTC become the keys `labels` and `ctc`, or a note says why not; and what
-- these keys refuse.
local helper = require("tests.spec.helper")
local ctc = require("checkpoints.ctc")
local emit = require("passes.emit.sound_facts")
local json = require("common.json")

local VOCABULARY = { ["<pad>"] = 0, ["|"] = 1, A = 2, ["Ü"] = 3 }

local function read(files, config, width)
  local notes = {}
  local labels, found = ctc.of(function(name) return files[name] end, config, width or 4, notes)
  return labels, found, notes[1]
end

local function refusals(more)
  return helper.refusals(helper.description(require("common.words").merged({ labels = { "-", "a", "b" },
    output = { { stage = "linear", to = 3 } } }, more)))
end

describe("checkpoints.ctc", function()
  it("reads tokens, the blank and the delimiter", function()
    local labels, found = read({ ["vocab.json"] = VOCABULARY })
    assert.same({ "<pad>", "|", "A", "Ü" }, labels)
    assert.same({ blank = 0, delimiter = "|" }, found)
    labels, found = read({ ["vocab.json"] = { de = VOCABULARY }, ["added_tokens.json"] = { ["<s>"] = 4, B = 2 },
      ["special_tokens_map.json"] = { pad_token = { content = "A" }, unk_token = "?" } },
      { target_lang = "de", pad_token = "|", word_delimiter_token = json.null, replace_word_delimiter_char = "",
        do_lower_case = true, clean_up_tokenization_spaces = true }, 7)
    assert.same({ "<pad>", "|", "A", "ü", "<s>", "?", "</s>" }, labels)
    assert.same({ blank = 2, space = "", lower = true, clean = true }, found)
  end)

  it("reads added tokens in one place, and gives ids to special ones that the vocabulary lacks", function()
    local labels, found = read({ ["vocab.json"] = VOCABULARY, ["added_tokens.json"] = { no = 4 },
      ["special_tokens_map.json"] = { pad_token = "A" } }, { added_tokens_decoder = { ["5"] = { content = "</s>" },
      ["2"] = { content = "hidden" } } }, 9)
    assert.same({ "<pad>", "|", "A", "Ü", "<unk>", "</s>", "<s>", "<unk>", "<unk>" }, labels)
    assert.same({ blank = 0, delimiter = "|" }, found)
    labels, found = read({ ["vocab.json"] = { A = 0, B = 1 } }, { unk_token = "A", bos_token = "" }, 5)
    assert.same({ "A", "B", "</s>", "<pad>", "|" }, labels)
    assert.same({ blank = 3, delimiter = "|" }, found)
  end)

  it("has small letters, but for those that are not known", function()
    local config = { do_lower_case = true }
    local vocabulary = { ["<pad>"] = 0, ["É"] = 1, ["Ÿ"] = 2, ["Ž"] = 3, ["š"] = 4, ["Ώ"] = 5, ["Я"] = 6, ["Ѐ"] = 7,
      ["Ế"] = 8, ["ß"] = 9, s = 10 }
    assert.same({ "<pad>", "é", "ÿ", "ž", "š", "ώ", "я", "ѐ", "ế", "ß", "s" },
      (read({ ["vocab.json"] = vocabulary }, config, 11)))
  end)

  it("reads the tokens, the output and the layers of an adapter's language", function()
    local import = require("checkpoints.import")
    local folder = helper.absolute_root() .. "/tests/hf/sounds/layer"
    local function described(name) return import.text(folder, nil, nil, nil, nil, { adapter = name }) end
    local text, notes = described("fra")
    for _, part in ipairs { [["A", "B", "\195\169", "\195\167", "\197\147"]], "to = 10",
      '["output.1.linear"] = "fra/lm_head"',
      '["l*.ff.second.up"] = "fra/wav2vec2.encoder.layers.*.adapter_layer.linear_1"' } do
      assert.truthy(text:find(part, 1, true), text)
    end
    assert.same({}, notes)
    text, notes = described(nil)
    assert.is_nil(text:find("fra/", 1, true))
    assert.matches("adapter_attn_dim: the weights are of one language; adapter=LANGUAGE builds another one: eng, fra$",
      notes[1])
    assert.same({ 'adapter: "deu" is no folder, and the checkpoint has adapters of eng, fra' },
      helper.fault(described, "deu").lines)
    -- transformers refuses tensors of other parts of a model, too
    local own = helper.folder()
    assert(os.execute(("cp %s/* %s"):format(helper.shell(folder), own)))
    local path = own .. "/adapter.fra.safetensors"
    helper.write(path, (helper.read(path):gsub("layers%.0(%.adapter_layer%.norm%.bias)", "layers.1%1")))
    folder = own
    assert.same({ 'adapter.fra: "wav2vec2.encoder.layers.1.adapter_layer.norm.bias": is no tensor of an adapter of 1 '
      .. "layers, or of their output" }, helper.fault(described, "fra").lines)
    local code, said = helper.run(("%s/gen/attn2c import %s adapter=fra 2>&1"):format(
      helper.shell(helper.absolute_root()), helper.shell(own)), own)
    assert.equal(2, code)
    assert.matches('^attn2c: "adapter=fra": a description cannot name the file of an adapter: build the folder', said)
    helper.clean()
  end)

  it("says why a model gives no text", function()
    local none = ": the model gives scores, and no text"
    assert.equal("vocab.json: is missing" .. none, select(3, read({})))
    assert.equal('tokenizer_config.json: tokenizer_class: "T5Tokenizer" is not supported' .. none,
      select(3, read({ ["vocab.json"] = VOCABULARY }, { tokenizer_class = "T5Tokenizer" })))
    assert.equal('pad_token: "x" is no token of vocab.json' .. none,
      select(3, read({ ["vocab.json"] = VOCABULARY }, { pad_token = "x" })))
    for _, vocabulary in ipairs { { de = 5 }, { fr = VOCABULARY }, { de = { "a" } } } do
      assert.equal('tokenizer_config.json: target_lang: vocab.json has no tokens of "de"' .. none,
        select(3, read({ ["vocab.json"] = vocabulary }, { target_lang = "de" })))
    end
    assert.equal("vocab.json: 16001 tokens, but at most 16000 are supported" .. none,
      select(3, read({ ["vocab.json"] = VOCABULARY }, nil, 16001)))
    local parts = read({ ["vocab.json"] = VOCABULARY }, nil, 1001)
    assert.same({ 2, 1000, 1 }, { #parts, #parts[1], #parts[2] })
  end)

  it("gives keys that are checked", function()
    assert.same({}, refusals { ctc = {} })
    assert.same({}, refusals { ctc = false })
    assert.same({ "ctc: true, but false or a table such as { blank = 0, delimiter = \"|\" } is allowed" },
      refusals { ctc = true })
    assert.same({ 'ctc: no field "blanks" (did you mean blank?)', "ctc.clean: 1, but true or false is allowed" },
      refusals { ctc = { blanks = 1, clean = 1 } })
    assert.same({ "ctc.blank: 3, but a token from 0 to 2 is allowed" }, refusals { ctc = { blank = 3 } })
    assert.same({ "ctc: goes with labels, which name the tokens" }, helper.refusals(helper.description { ctc = {} }))
  end)

  it("gives tokens as they are written", function()
    assert.same({ tokens = { '"_"', '"\\174"', '"AB"' }, blank = 0, delimiter = '"\\174"', space = '""', lowers = 1,
      cleans = 1, longest = 2 },
      emit.ctc { labels = { "_", "|", "AB" }, ctc = { blank = 0, delimiter = "|", space = "", lower = true,
        clean = true } })
    assert.is_false(emit.ctc { labels = { "a" } })
    local state = helper.tiny({ labels = { "-", "a" }, ctc = {}, output = { { stage = "linear", to = 2 } } }, "graph")
    assert.equal("SPEECH", state.graph.answer.kind)
  end)
end)
