-- gguf_spec.lua: tokenizers from GGUF's metadata: those of the goldens, written as metadata and compiled, have the same
-- components and the ids of the real library; what is not supported or contradicts itself is refused in one line.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local gguf_file = require("tests.spec.gguf_file")
local golden_cases = require("tests.spec.golden_cases")
local patterns = require("text.gguf_patterns")
local tokenizer = require("text.tokenizer")

local folder = helper.root .. "/out/test/text_gguf"
local NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6

-- A golden's tokenizer.json, parsed.
local function golden(name)
  local script = helper.shell(helper.root .. "/tests/text/compile.lua")
  assert(os.execute(("lua5.4 %s %s %s"):format(script, name, helper.shell(folder))))
  return (dkjson.decode(helper.read(folder .. "/" .. name .. ".json")))
end

-- The tokens of a golden in the order of their ids, their types, and the id of each.
local function tokens_of(root)
  local tokens, kinds, ids = {}, {}, {}
  for token, id in pairs(root.model.vocab) do
    if type(id) == "table" then token, id = id[1], token - 1 end
    tokens[id + 1], ids[token] = token, id
  end
  for _, each in ipairs(root.added_tokens) do tokens[each.id + 1], ids[each.content] = each.content, each.id end
  for i, token in ipairs(tokens) do kinds[i] = token:find("^<0x%x%x>$") and BYTE or NORMAL end
  for _, each in ipairs(root.added_tokens) do
    kinds[each.id + 1] = each.content == "<unk>" and UNKNOWN or each.special and CONTROL or 4
  end
  return tokens, kinds, ids
end

local function entries_of(kind, tokens, kinds, more)
  local list = { { "tokenizer.ggml.model", "STRING", kind }, { "tokenizer.ggml.tokens", "ARRAY STRING", tokens },
    { "tokenizer.ggml.token_type", "ARRAY INT32", kinds } }
  for _, entry in ipairs(more) do
    list[#list + 1] = { "tokenizer.ggml." .. entry[1], entry[2], entry[3] }
  end
  return list
end

-- Compiles the tokenizer of metadata entries.
local function compile(entries)
  files.write_all(folder, { { name = "t.gguf", text = gguf_file.bytes(entries, {}) } })
  return tokenizer.from_path(folder .. "/t.gguf")
end

local function merges_of(root)
  local list = {}
  for i, merge in ipairs(root.model.merges) do
    list[i] = type(merge) == "table" and table.concat(merge, " ") or merge
  end
  return list
end

-- The components of a compiled tokenizer at one stage or more, without their places in the file.
local function components_of(state, stages)
  local list = {}
  for _, each in ipairs(state.components) do
    if stages[each.stage] then
      list[#list + 1] = { each.stage, each.kind, each.flags or 0, each.number or 0, each.a or "", each.b or "" }
    end
  end
  return list
end

local numbers = require("text.numbers")
local stage = numbers.STAGE

-- Asserts that two compiled tokenizers have the same stages, ids and merges.
local function same(expected, got, also)
  local stages = { [stage.normalize] = true, [stage.cut] = true, [also or stage.cut] = true }
  assert.same(components_of(expected, stages), components_of(got, stages))
  for _, key in ipairs { "tokens", "merges", "scores", "options", "unknown", "prefix" } do
    assert.same(expected.model[key], got.model[key], key)
  end
  assert.same(expected.templates, got.templates)
end

describe("a tokenizer in GGUF's metadata", function()
  teardown(helper.clean)

  for name, more in pairs {
    gpt2 = { { "pre", "STRING", "gpt-2" } },
    qwen2 = { { "pre", "STRING", "qwen2" }, { "bos_token_id", "UINT32", 0 }, { "add_bos_token", "BOOL", 0 } },
    llama3 = { { "pre", "STRING", "llama-bpe" } },
  } do
    it("of byte-level BPE gives the ids of " .. name, function()
      local root = golden(name)
      local _, expected = tokenizer.compile(root, name)
      local tokens, kinds, ids = tokens_of(root)
      local entries = entries_of("gpt2", tokens, kinds, more)
      entries[#entries + 1] = { "tokenizer.ggml.merges", "ARRAY STRING", merges_of(root) }
      if ids["<|begin_of_text|>"] then
        entries[#entries + 1] = { "tokenizer.ggml.bos_token_id", "UINT32", ids["<|begin_of_text|>"] }
      end
      local made, got = compile(entries)
      same(expected, got)
      local said = golden_cases(folder, name, made)
      assert.matches(", 0 failed", said)
    end)
  end

  it("of byte-level BPE is compiled with each name of a pattern, and GLM-4's takes whole words first", function()
    local tokens = { "a", "b", "ab", "<s>" }
    for name, record in pairs(patterns.list) do
      local _, got = compile(entries_of("gpt2", tokens, { 1, 1, 1, 3 }, { { "merges", "ARRAY STRING", { "a b" } },
        { "pre", "STRING", name }, { "bos_token_id", "UINT32", 3 } }))
      assert.equal(record.bos and 6 or 3, #got.templates, name)
    end
    assert.is_true(patterns.list.glm4.ignore_merges)
  end)

  it("has the special tokens that the metadata names", function()
    local _, got = compile(entries_of("gpt2", { "a", "<b>", "<m>" }, { 1, 3, 3 }, { { "merges", "ARRAY STRING", {} },
      { "bos_token_id", "UINT32", 1 }, { "eos_token_id", "UINT32", 4294967295 }, { "mask_token_id", "UINT32", 2 } }))
    assert.same({ bos = 1, mask = 2 }, got.specials)
  end)

  it("comes with the file's chat template, which is a text", function()
    local entries = entries_of("gpt2", { "a", "<b>" }, { 1, 3 }, { { "merges", "ARRAY STRING", {} },
      { "bos_token_id", "UINT32", 1 } })
    entries[#entries + 1] = { "tokenizer.chat_template", "STRING", "{{ bos_token }}" }
    local _, got = compile(entries)
    assert.equal("{{ bos_token }}", got.chat.text)
    assert.matches("t.gguf: metadata tokenizer.chat_template$", got.chat.file)
    assert.same({ { name = "bos_token", text = "<b>" } }, got.chat_tokens)
    entries[#entries] = { "tokenizer.chat_template", "UINT32", 1 }
    _, got = compile(entries)
    assert.matches("metadata tokenizer.chat_template: is not a text$", got.chat.problem)
  end)

  it("of WordPiece gets back the marks of parts of words", function()
    local root = golden("bert_uncased")
    local _, expected = tokenizer.compile(root, "b")
    local tokens, kinds, ids = tokens_of(root)
    for i, token in ipairs(tokens) do
      if kinds[i] == NORMAL then tokens[i] = token:sub(1, 2) == "##" and token:sub(3) or "▁" .. token end
    end
    local more = { { "cls_token_id", "UINT32", ids["[CLS]"] }, { "seperator_token_id", "UINT32", ids["[SEP]"] },
      { "unknown_token_id", "UINT32", ids["[UNK]"] } }
    local made, got = compile(entries_of("bert", tokens, kinds, more))
    assert.matches(", 0 failed", golden_cases(folder, "bert_uncased", made))
    assert.same(components_of(expected, { [stage.normalize] = true, [stage.cut] = true, [stage.decode] = true }),
      components_of(got, { [stage.normalize] = true, [stage.cut] = true, [stage.decode] = true }))
    assert.same(expected.model.tokens, got.model.tokens)
    assert.same(expected.templates, got.templates)
    tokens[#tokens + 1], kinds[#kinds + 1] = "▁Word", NORMAL
    local _, cased = compile(entries_of("bert", tokens, kinds, more))
    assert.not_same(got.components[1].flags, cased.components[1].flags)
    for _, each in ipairs { { { lowercase = true }, got.components[1].flags },
      { { lowercase = false }, cased.components[1].flags },
      { { lowercase = true, strip_accents = false }, got.components[1].flags & ~numbers.BERT.strip } } do
      local stated = table.move(more, 1, #more, 1, {})
      for key, value in pairs(each[1]) do
        stated[#stated + 1] = { "normalizer." .. key, "BOOL", value and 1 or 0 }
      end
      local _, made_so = compile(entries_of("bert", tokens, kinds, stated))
      assert.equal(each[2], made_so.components[1].flags)
    end
  end)

  it("of SentencePiece's BPE gets merges from scores", function()
    local tokens = { "<unk>", "<s>", "</s>", "<0x0A>", "ab", "abc", "bc", "a", "b", "c", "▁" }
    local kinds, scores = { 2, 3, 3, 6, 1, 1, 1, 1, 1, 1, 1 }, { 0, 0, 0, 0, -1, -2, -0.5, -9, -9, -9, -9 }
    local more = { { "scores", "ARRAY FLOAT32", scores }, { "bos_token_id", "UINT32", 1 },
      { "eos_token_id", "UINT32", 2 }, { "unknown_token_id", "UINT32", 0 } }
    local _, got = compile(entries_of("llama", tokens, kinds, more))
    local list = got.model.merges
    local pairs_made = {}
    for i = 1, list.count do
      pairs_made[i] = tokens[list.left[i] + 1] .. "+" .. tokens[list.right[i] + 1]
    end
    assert.same({ "b+c", "a+b", "ab+c", "a+bc" }, pairs_made)
    assert.equal(6, #got.templates, "BOS before a text and before each text of a pair")
    more[#more + 1] = { "add_bos_token", "BOOL", 0 }
    more[#more + 1] = { "add_space_prefix", "BOOL", 0 }
    local _, without = compile(entries_of("llama", tokens, kinds, more))
    assert.equal(#got.components - 2, #without.components)
  end)

  it("has llama.cpp's ids of special tokens if the file names none, and Phi-3's spaces", function()
    local tokens = { "<unk>", "<s>", "</s>", "<|user|>", "<mask>", "a", "▁" }
    local entries = entries_of("llama", tokens, { 2, 3, 3, 4, 3, 1, 1 }, { { "scores", "ARRAY FLOAT32",
      { 0, 0, 0, 0, 0, -1, -2 } }, { "eos_token_id", "UINT32", 4294967295 } })
    local _, got = compile(entries)
    assert.same({ bos = 1, eos = 2, mask = 4, unk = 0 }, got.specials)
    assert.equal(6, #got.templates, "BOS before a text and before each text of a pair")
    local function strips(side)
      local list = {}
      for _, each in ipairs(got.added) do
        list[#list + 1] = each.flags & numbers.ADDED[side] ~= 0 and each.id or nil
      end
      return list
    end
    assert.same({ {}, {} }, { strips("lstrip"), strips("rstrip") })
    entries[#entries + 1] = { "general.name", "STRING", "Phi-3 mini" }
    _, got = compile(entries)
    assert.same({ 2, 3, 4 }, strips("rstrip"))
  end)

  it("of SentencePiece's BPE has merges of long tokens soon, and of many lengths not at all", function()
    local tokens = { "<unk>", "a", "b", ("ab"):rep(100000), "c" .. ("ab"):rep(100000), "c" }
    local function made()
      local kinds, scores = { UNKNOWN }, {}
      for i = 1, #tokens do kinds[i], scores[i] = kinds[i] or NORMAL, -i end
      return compile(entries_of("llama", tokens, kinds, { { "scores", "ARRAY FLOAT32", scores } }))
    end
    local begin = os.clock()
    local _, got = made()
    assert.is_true(os.clock() - begin < 3)
    assert.same({ 1, { 5 }, { 3 }, { 4 } }, { got.model.merges.count, got.model.merges.left, got.model.merges.right,
      got.model.merges.result })
    for i = 1, 1200 do tokens[i + 1] = ("a"):rep(i) end
    begin = os.clock()
    local fault = helper.fault(made)
    assert.is_true(os.clock() - begin < 10)
    assert.equal(faults.code.format, fault.code)
    assert.matches('"tokenizer.ggml.tokens": token %d+ of %d+ bytes: its long tokens have too many lengths',
      fault.lines[1])
  end)

  it("of SentencePiece's BPE gives the ids of the real library", function()
    local root = golden("llama_old")
    local _, expected = tokenizer.compile(root, "l")
    local tokens, kinds, ids = tokens_of(root)
    local scores = {}
    for i in ipairs(tokens) do scores[i] = -1000 end
    for rank, merge in ipairs(merges_of(root)) do
      local i = ids[merge:gsub(" ", "")] + 1
      scores[i] = math.max(scores[i], -rank)
    end
    local _, got = compile(entries_of("llama", tokens, kinds, { { "scores", "ARRAY FLOAT32", scores },
      { "unknown_token_id", "UINT32", ids["<unk>"] }, { "bos_token_id", "UINT32", ids["<s>"] } }))
    assert.same(components_of(expected, { [stage.normalize] = true, [stage.cut] = true }),
      components_of(got, { [stage.normalize] = true, [stage.cut] = true }))
    assert.same(expected.model.tokens, got.model.tokens)
    assert.equal(expected.model.options, got.model.options)
  end)

  it("of Gemma 4 has merges, bytes for other characters and no blank in front, and begins with BOS", function()
    local root = golden("gemma")
    local _, expected = tokenizer.compile(root, "g")
    local tokens, kinds, ids = tokens_of(root)
    local more = { { "merges", "ARRAY STRING", merges_of(root) }, { "unknown_token_id", "UINT32", ids["<unk>"] },
      { "bos_token_id", "UINT32", ids["<bos>"] }, { "add_bos_token", "BOOL", 0 } }
    local _, got = compile(entries_of("gemma4", tokens, kinds, more))
    assert.same(components_of(expected, { [stage.normalize] = true }), components_of(got, { [stage.normalize] = true }))
    for _, key in ipairs { "tokens", "merges", "options", "unknown" } do
      assert.same(expected.model[key], got.model[key], key)
    end
    assert.equal(6, #got.templates)
    assert.matches('"tokenizer.ggml.merges": is missing', helper.fault(compile, entries_of("gemma4", tokens, kinds,
      { more[2] })).lines[1])
  end)

  it("of Unigram has its scores and its map of characters", function()
    local root = golden("xlmr")
    local _, expected = tokenizer.compile(root, "x")
    local tokens, kinds, ids = tokens_of(root)
    local scores, map = {}, {}
    for i in ipairs(tokens) do scores[i] = root.model.vocab[i] and root.model.vocab[i][2] or 0 end
    local text = expected.components[1].a
    for at = 1, #text do map[at] = string.unpack("<i1", text, at) end
    local made, got = compile(entries_of("t5", tokens, kinds, { { "scores", "ARRAY FLOAT32", scores },
      { "precompiled_charsmap", "ARRAY INT8", map }, { "unknown_token_id", "UINT32", ids["<unk>"] },
      { "bos_token_id", "UINT32", ids["<s>"] }, { "eos_token_id", "UINT32", ids["</s>"] },
      { "add_bos_token", "BOOL", 1 } }))
    assert.equal(text, got.components[1].a)
    -- The scores are f32, where the golden's have more digits: that decides few ties between ways to cut a word.
    assert.is_true(tonumber(golden_cases(folder, "xlmr", made):match("580 cases, (%d+) failed")) <= 3)
    assert.equal(#tokens, got.model.count)
    assert.is_true(math.abs(expected.model.scores[40] - got.model.scores[40]) < 1e-6)
  end)

  it("of Unigram with all 256 bytes gives the bytes of characters that it does not know, and joins them", function()
    local root = golden("unigram_bytes")
    local _, expected = tokenizer.compile(root, "u")
    local tokens, kinds, ids = tokens_of(root)
    local scores = {}
    for i, token in ipairs(tokens) do
      scores[i] = root.model.vocab[i] and root.model.vocab[i][2] or 0
      if token:find("^<0x%x%x>$") then kinds[i] = BYTE end -- the golden has them as special tokens
    end
    local function made()
      local _, got = compile(entries_of("t5", tokens, kinds, { { "scores", "ARRAY FLOAT32", scores },
        { "unknown_token_id", "UINT32", ids["<unk>"] }, { "eos_token_id", "UINT32", ids["</s>"] } }))
      return got.model.options, components_of(got, { [stage.decode] = true })
    end
    local blanks = components_of(expected, { [stage.decode] = true })
    assert.same({ expected.model.options, 2, blanks[1] }, { made(), #select(2, made()), select(2, made())[2] })
    assert.equal(require("text.numbers").DECODE.byte_fallback, select(2, made())[1][2])
    kinds[ids["<0x41>"] + 1] = NORMAL -- 255 bytes fall back to <unk>, as texts of others do
    assert.same({ 0, blanks }, { made() })
  end)

  it("that is not supported, or contradicts itself, is refused in one line", function()
    local function refused(entries, said)
      local fault = helper.fault(compile, entries)
      assert.same({ faults.code.format, 1 }, { fault.code, #fault.lines })
      assert.matches("^.*/t%.gguf: metadata " .. said, fault.lines[1])
    end
    local none = { { "merges", "ARRAY STRING", {} } }
    refused(entries_of("rwkv", { "a" }, { 1 }, none),
      '"tokenizer.ggml.model": "rwkv" is not supported; supported are bert, gemma4, gpt2, llama, t5; tokenizer=false')
    refused(entries_of("gpt2", { "a" }, { 1 }, { none[1], { "pre", "STRING", "no such" } }),
      '"tokenizer.ggml.pre": "no such" is not supported; supported are ')
    refused(entries_of("gpt2", { "a" }, { 1 }, {}), '"tokenizer.ggml.merges": is missing')
    refused(entries_of("gpt2", { "a", "b" }, { 1 }, none),
      '"tokenizer.ggml.token_type": has 1 values, but there are 2 tokens')
    refused(entries_of("gpt2", { "a\255" }, { 1 }, none), '"tokenizer.ggml.tokens": token 0 is not UTF%-8')
    refused(entries_of("llama", { "a" }, { 1 }, {}), '"tokenizer.ggml.scores": is missing')
    refused(entries_of("llama", { "a" }, { 1 }, { { "scores", "STRING", "a" } }),
      '"tokenizer.ggml.scores": has type STRING, but an array of FLOAT32 is expected')
    refused(entries_of("gpt2", { "a" }, { 1 }, { none[1], { "add_bos_token", "STRING", "yes" } }),
      '"tokenizer.ggml.add_bos_token": has type STRING, but a boolean is expected')
    refused(entries_of("bert", { "a" }, { 1 }, {}), '"tokenizer.ggml.tokens": a model of WordPiece needs')
  end)
end)
