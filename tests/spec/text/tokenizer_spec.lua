-- tokenizer_spec.lua: what of a tokenizer.json is refused, by its name; what is said where tokenizer_config.json
-- disagrees; folders without a tokenizer.json; and how long a large vocabulary takes.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local from_text = require("tests.text.from_text")
local golden_cases = require("tests.spec.golden_cases")
local numbers = require("text.numbers")
local tokenizer = require("text.tokenizer")

local folder = helper.root .. "/out/test/text"

local unpacked = {}

-- A golden's tokenizer.json, parsed.
local function golden(name)
  local script = helper.shell(helper.root .. "/tests/text/compile.lua")
  if not unpacked[name] then assert(os.execute(("lua5.4 %s %s %s"):format(script, name, helper.shell(folder)))) end
  unpacked[name] = true
  return (dkjson.decode(helper.read(folder .. "/" .. name .. ".json")))
end

-- The lines of the fault of a changed golden.
local function refusal(name, change)
  local root = golden(name)
  change(root)
  local fault = helper.fault(tokenizer.compile, root, "t.json")
  assert.is_not_nil(fault)
  assert.equal(faults.code.format, fault.code)
  return table.concat(fault.lines, "\n")
end

describe("a tokenizer.json", function()
  teardown(helper.clean)

  it("with keys that nobody knows is read, and gets a line for each", function()
    local root = golden("bert_uncased")
    root.speed, root.normalizer.speed, root.added_tokens[2].speed = 3, true, "x"
    root.post_processor.special_tokens["[CLS]"].speed = 1
    local _, _, warnings = tokenizer.compile(root, "t.json")
    assert.same({ "t.json: \"speed\": not known: results may differ from tokenizers'",
      "t.json: normalizer: \"speed\": not known: results may differ from tokenizers'",
      "t.json: added_tokens[1]: \"speed\": not known: results may differ from tokenizers'" }, warnings)
  end)

  it("that asks for what is not supported is refused by name", function()
    assert.equal("t.json: model: dropout: 0.1 is not supported: only null and 0 are supported",
      refusal("gpt2", function(r) r.model.dropout = 0.1 end))
    assert.matches('^t%.json: normalizer%.type: "Magic" is not supported; supported: BertNormalizer, ByteLevel, ',
      refusal("bert_uncased", function(r) r.normalizer.type = "Magic" end))
    assert.matches('^t%.json: pre_tokenizer%.pretokenizers%[0%]%.pattern%.Regex: \\X is not supported in patterns$',
      refusal("llama3", function(r) r.pre_tokenizer.pretokenizers[1].pattern.Regex = "\\X" end))
    assert.matches('^t%.json: model%.type: "WordLevel" is not supported; supported: BPE, Unigram, WordPiece$',
      refusal("bert_uncased", function(r) r.model.type = "WordLevel" end))
  end)

  it("that contradicts itself is refused, all faults at once", function()
    local text = refusal("bert_uncased", function(r)
      r.normalizer.lowercase = "yes"
      r.pre_tokenizer = 3
      r.truncation = { max_length = -1, strategy = "Some", stride = 0, direction = "Right" }
    end)
    assert.equal(4, select(2, text:gsub("[^\n]+", "")))
    assert.matches('normalizer%.lowercase: "yes"; true or false is expected', text)
    assert.matches("have the same id", refusal("bert_uncased", function(r)
      r.model.vocab["[CLS]"] = r.model.vocab["[SEP]"]
    end))
    assert.matches("a half or their union is not a token",
      refusal("gpt2", function(r) r.model.merges[1] = "zzz yyy" end))
    assert.matches("no token has the id 99999",
      refusal("bert_cased", function(r) r.post_processor.sep[2] = 99999 end))
    assert.matches("model%.unk_id: is not the id of a token", refusal("xlmr", function(r) r.model.unk_id = 100000 end))
  end)

  it("whose template repeats a token of many ids is refused before it is written out", function()
    local ids, single = {}, {}
    for i = 1, 4000 do ids[i] = 1 end
    for i = 1, 4000 do single[i] = { SpecialToken = { id = "many", type_id = 0 } } end
    local text = refusal("bert_uncased", function(r)
      r.post_processor = { type = "TemplateProcessing", single = single,
        pair = { { Sequence = { id = "A", type_id = 0 } } },
        special_tokens = { many = { id = "many", ids = ids, tokens = { "many" } } } }
    end)
    assert.equal("t.json: post_processor.single[1]: has more than 4096 tokens with those before it", text)
  end)

  it("that is no JSON, cut or too deep is refused in one line", function()
    local texts = { "", "{", "[1]", "nonsense", '{"a":1} x', ("["):rep(300000), "\255\254", '{"model":{"type":"BPE"' }
    for _, text in ipairs(texts) do
      local fault = helper.fault(from_text, text, "t.json")
      assert.is_not_nil(fault)
      assert.equal(1, #fault.lines)
    end
  end)

  it("gives the same tables each time", function()
    local text = helper.read(folder .. "/bert_uncased.json")
    assert.equal((from_text(text, "t")), (from_text(text, "t")))
  end)

  it("of the library's first versions needs no type of its model", function()
    local root = golden("gpt2")
    root.model.type = nil
    assert.matches(", 0 failed", golden_cases(folder, "gpt2", (tokenizer.compile(root, "t.json"))))
  end)
end)

describe("a folder", function()
  teardown(helper.clean)

  it("warns where AutoTokenizer would follow tokenizer_config.json", function()
    local path = helper.folder()
    local text = dkjson.encode(golden("bert_cased"))
    files.write_all(path, { { name = "tokenizer.json", text = text }, { name = "tokenizer_config.json", text = "{}" } })
    local _, _, warnings = tokenizer.from_folder(path)
    assert.equal(1, #warnings)
    assert.matches("config%.json: warning: do_lower_case is true here and false in tokenizer%.json", warnings[1])
    files.write_all(path, { { name = "tokenizer_config.json", text = '{"do_lower_case":false}' } })
    _, _, warnings = tokenizer.from_folder(path)
    assert.same({}, warnings)
    -- The class that reads any file as it stands, by its names in versions 4 and 5.
    for _, class in ipairs { "PreTrainedTokenizerFast", "TokenizersBackend" } do
      files.write_all(path, { { name = "tokenizer_config.json", text = ('{"tokenizer_class":"%s"}'):format(class) } })
      _, _, warnings = tokenizer.from_folder(path)
      assert.same({}, warnings)
    end
  end)

  it("of sentence-transformers has small letters first if it asks for them", function()
    local path, root = helper.folder(), golden("bert_cased")
    local function first(normalizer, limits, modules)
      root.normalizer = normalizer
      files.write_all(path, { { name = "tokenizer.json", text = dkjson.encode(root) },
        { name = "modules.json", text = modules }, { name = "sentence_bert_config.json", text = limits } })
      local _, state = tokenizer.from_folder(path)
      local kinds = {}
      for i, each in ipairs(state.components) do
        kinds[i] = each.stage == numbers.STAGE.normalize and each.kind or nil
      end
      return kinds
    end
    local yes, LOWER, STRIP = '{"do_lower_case":true}', numbers.NORMALIZE.lowercase, numbers.NORMALIZE.strip
    local strip = { type = "Strip", strip_left = true, strip_right = true }
    assert.same({ LOWER, STRIP }, first(strip, yes, "[]"))
    assert.same({ LOWER }, first(nil, yes, "[]"))
    assert.same({ STRIP }, first(strip, '{"do_lower_case":false}', "[]"))
    local both = { type = "Sequence", normalizers = { strip, { type = "Lowercase" } } }
    assert.same({ STRIP, LOWER }, first(both, yes, "[]"))
  end)

  it("has the side and the types of tokens that tokenizer_config.json states, or its class", function()
    local path, root = helper.folder(), golden("bert_cased")
    local function state_of(config, direction)
      root.truncation = direction and { max_length = 9, strategy = "LongestFirst", stride = 0, direction = direction }
      files.write_all(path, { { name = "tokenizer.json", text = dkjson.encode(root) },
        { name = "tokenizer_config.json", text = config } })
      local _, state = tokenizer.from_folder(path)
      local types = 0
      for _, piece in ipairs(state.templates) do types = math.max(types, piece.type) end
      return state.from_left, types, state.untyped
    end
    for _, case in ipairs { { "{}", nil, 0 }, { '{"truncation_side":"left"}', nil, 1 }, { "{}", "Left", 1 },
      { '{"truncation_side":"right"}', "Left", 0 }, { '{"truncation_side":"left"}', "Right", 1 } } do
      assert.equal(case[3], (state_of(case[1], case[2])))
    end
    local _, types, note = state_of '{"model_input_names":["input_ids","attention_mask"]}'
    assert.same({ 0, nil }, { types, note })
    _, types = state_of '{"model_input_names":["input_ids","token_type_ids"],"tokenizer_class":"DistilBertTokenizer"}'
    assert.equal(1, types)
    for class, expected in pairs { BertTokenizer = 1, BertTokenizerFast = 1, PreTrainedTokenizerFast = 0,
      TokenizersBackend = 0, DistilBertTokenizerFast = 0 } do
      _, types, note = state_of(('{"tokenizer_class":"%s"}'):format(class))
      assert.same({ expected, expected == 0 }, { types, note ~= nil })
    end
    assert.matches("the class %S+ gives no token_type_ids",
      select(3, state_of '{"tokenizer_class":"TokenizersBackend"}'))
    for key, said in pairs { truncation_side = '"up" is not supported; supported: left, right',
      model_input_names = '"up"; an array of strings is expected' } do
      local fault = helper.fault(state_of, ('{"%s":"up"}'):format(key))
      assert.same({ ("%s/tokenizer_config.json: tokenizer.%s: %s"):format(path, key, said) }, fault.lines)
    end
    for value, said in pairs { ["{}"] = "tokenizer.model_input_names: an object; an array of strings is expected",
      ["[5]"] = "tokenizer.model_input_names: an array; an array of strings is expected",
      ["[null]"] = "byte 23: null in an array, which is not supported" } do
      local fault = helper.fault(state_of, ('{"model_input_names":%s}'):format(value))
      assert.same({ 3, ("%s/tokenizer_config.json: %s"):format(path, said) }, { fault.code, fault.lines[1] })
    end
  end)

  it("with a file that cannot be read is refused, and not taken for one without it", function()
    for _, name in ipairs { "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "vocab.txt" } do
      local path = helper.folder()
      if name ~= "tokenizer.json" and name ~= "vocab.txt" then
        files.write_all(path, { { name = "tokenizer.json", text = dkjson.encode(golden("bert_cased")) } })
      end
      files.make_folder(path .. "/" .. name) -- a user who may not read it finds it in the same way
      local fault = helper.fault(tokenizer.from_folder, path)
      assert.same({ ("%s/%s: cannot be read: is a directory, and a regular file is expected"):format(path, name) },
        fault.lines)
      assert.equal(4, fault.code)
    end
  end)

  it("with vocab.txt alone is BERT's", function()
    local lines, path = {}, helper.folder()
    for token, id in pairs(golden("bert_uncased").model.vocab) do lines[id + 1] = token end
    files.write_all(path, { { name = "vocab.txt", text = table.concat(lines, "\n") .. "\n" } })
    assert.matches(", 0 failed", golden_cases(folder, "bert_uncased", (tokenizer.from_folder(path))))
  end)

  it("with vocab.txt may have a line of blanks, which takes no time of its own", function()
    local path, long = helper.folder(), (" "):rep(400000)
    files.write_all(path, { { name = "vocab.txt", text = "[UNK]\n[CLS]\n[SEP]\na" .. long .. "\n" .. long .. "b\n" } })
    local _, state = tokenizer.from_folder(path)
    assert.equal("a", state.model.tokens[3])
    assert.equal(long .. "b", state.model.tokens[4])
  end)

  it("with vocab.json and merges.txt is GPT-2's or RoBERTa's", function()
    for _, name in ipairs { "gpt2", "roberta" } do
      local root, path, merges = golden(name), helper.folder(), { "#version: 0.2" }
      for _, merge in ipairs(root.model.merges) do merges[#merges + 1] = table.concat(merge, " ") end
      for _, token in ipairs(root.added_tokens) do root.model.vocab[token.content] = token.id end
      files.write_all(path, { { name = "vocab.json", text = dkjson.encode(root.model.vocab) },
        { name = "merges.txt", text = table.concat(merges, "\n") .. "\n" } })
      assert.matches(", 0 failed", golden_cases(folder, name, (tokenizer.from_folder(path))))
    end
  end)

  it("of SigLIP 2 puts texts into small letters, which tokenizer.json does not say", function()
    local path, root = helper.folder(), golden("gpt2")
    local function tables_of(class, model_type)
      files.write_all(path, { { name = "tokenizer.json", text = dkjson.encode(root) },
        { name = "tokenizer_config.json", text = ('{"tokenizer_class":"%s"}'):format(class) },
        { name = "config.json", text = ('{"model_type":"%s"}'):format(model_type) } })
      local tables, _, warnings = tokenizer.from_folder(path)
      return tables, warnings
    end
    local lower = golden("gpt2")
    lower.normalizer = { type = "Sequence", normalizers = { { type = "Lowercase" }, root.normalizer } }
    local expected = tokenizer.compile(lower, "t.json")
    local tables, warnings = tables_of("Siglip2Tokenizer", "siglip2")
    assert.equal(expected, tables)
    assert.same({}, warnings)
    tables, warnings = tables_of("GemmaTokenizerFast", "siglip2")
    assert.same({ expected, {} }, { tables, warnings })
    tables, warnings = tables_of("GemmaTokenizerFast", "siglip")
    assert.equal(expected, tables)
    assert.matches("tokenizer_class is GemmaTokenizer in a folder of SigLIP 2: texts are put into small letters, as by "
      .. "Siglip2Tokenizer; AutoTokenizer keeps capitals", warnings[1])
    assert.equal((tokenizer.compile(golden("gpt2"), "t.json")), (tables_of("GemmaTokenizer", "gemma")))
  end)

  it("with SigLIP's spiece.model alone has its pieces, and damaged ones are refused", function()
    local path, whole = helper.folder(), helper.read(helper.root .. "/tests/hf/towers/siglip/spiece.model")
    local function put(text, class)
      files.write_all(path, { { name = "spiece.model", text = text },
        { name = "tokenizer_config.json", text = ('{"tokenizer_class":"%s"}'):format(class or "SiglipTokenizer") } })
    end
    put(whole)
    local _, state = tokenizer.from_folder(path)
    assert.equal("▁a", state.model.tokens[7])
    assert.equal(1, state.specials.pad)
    for _, size in ipairs { 1, 20, #whole - 1 } do
      put(whole:sub(1, size))
      assert.matches("spiece%.model: is not a model of SentencePiece, or is cut off",
        helper.fault(tokenizer.from_folder, path).lines[1])
    end
    put((whole:gsub("</s>", "</t>")))
    assert.matches('spiece%.model: has no "</s>"', helper.fault(tokenizer.from_folder, path).lines[1])
    put("version https://git-lfs.github.com/spec/v1\n")
    assert.matches("spiece%.model: is a Git LFS pointer", helper.fault(tokenizer.from_folder, path).lines[1])
    put(whole, "BigBirdTokenizer")
    assert.is_nil(tokenizer.from_folder(path))
  end)

  it("with half of the files is refused", function()
    local path = helper.folder()
    assert.is_nil(tokenizer.from_folder(path))
    files.write_all(path, { { name = "vocab.json", text = "{}" } })
    assert.matches("has no merges%.txt next to it", helper.fault(tokenizer.from_folder, path).lines[1])
  end)
end)

describe("a vocabulary of 150,000", function()
  it("takes a few seconds", function()
    -- Letters, pairs of them, pairs of pairs.
    local tokens, merges, vocabulary = {}, {}, {}
    for code = 0x30, 0x39 do tokens[#tokens + 1] = string.char(code) end
    for code = 0x41, 0x7a do if code ~= 0x5c then tokens[#tokens + 1] = string.char(code) end end
    for level = 1, 2 do
      local last = #tokens
      for first = level == 1 and 1 or 68, last do
        for second = level == 1 and 1 or 68, last do
          if #tokens < 150000 then
            tokens[#tokens + 1] = tokens[first] .. tokens[second]
            merges[#merges + 1] = ('"%s %s"'):format(tokens[first], tokens[second])
          end
        end
      end
    end
    for i, token in ipairs(tokens) do vocabulary[i] = ('"%s":%d'):format(token, i - 1) end
    local text = ('{"model":{"type":"BPE","vocab":{%s},"merges":[%s]}}'):format(table.concat(vocabulary, ","),
      table.concat(merges, ","))
    local began = os.clock()
    from_text(text, "t.json")
    assert.is_true(os.clock() - began < 15, "it takes 2 s on an idle machine")
  end)
end)
