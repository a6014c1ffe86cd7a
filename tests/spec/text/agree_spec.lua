-- agree_spec.lua: which keys of tokenizer_config.json are compared with tokenizer.json, and with which defaults.
require("tests.spec.helper")
local agree = require("text.agree")
local json = require("common.json")
local pieces = require("text.pieces")

local bert = [[{"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"BertNormalizer",
  "lowercase":true,"handle_chinese_chars":true}]}}]]
local bytes = '{"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false}}'

-- The keys that warnings name, with both values. model: config.json.
local function warnings(root, config, model)
  local list = {}
  root, config = json.decode(root), config and json.decode(config)
  for _, line in ipairs(agree.warnings(root, config, "c.json", pieces.class(config, model))) do
    local key, here, there = line:match("^c%.json: warning: (%S+) is (%S+) here and (%S+) in tokenizer%.json")
    list[#list + 1] = ("%s %s %s"):format(key, here, there)
  end
  return table.concat(list, ", ")
end

describe("tokenizer_config.json", function()
  it("agrees where it has no keys, and where it has the same values", function()
    for _, root in ipairs { bert, bytes } do
      assert.equal("", warnings(root, "{}"))
      assert.equal("", warnings(root, nil))
    end
    assert.equal("", warnings(bert, '{"do_lower_case":true,"tokenize_chinese_chars":true}'))
  end)

  it("disagrees by its keys and by transformers' defaults", function()
    assert.equal("do_lower_case false true", warnings(bert, '{"do_lower_case":false}'))
    assert.equal("strip_accents true nil", warnings(bert, '{"strip_accents":true}'))
    assert.equal("tokenize_chinese_chars false true", warnings(bert, '{"tokenize_chinese_chars":false}'))
    assert.equal("add_prefix_space true false", warnings(bytes, '{"add_prefix_space":true}'))
    assert.equal("add_prefix_space false true", warnings(bytes:gsub("false", "true"), "{}"))
    assert.equal("do_lower_case true false, tokenize_chinese_chars true false", warnings(bert:gsub("true", "false"),
      "{}"))
  end)

  it("disagrees where LlamaTokenizer puts a blank before the first piece alone", function()
    local old = '{"normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"x"}]}}'
    local new = '{"pre_tokenizer":{"type":"Metaspace","replacement":"x","prepend_scheme":"first","split":false}}'
    for _, class in ipairs { "LlamaTokenizer", "LlamaTokenizerFast" } do
      local function config(more) return ('{"tokenizer_class":"%s"%s}'):format(class, more) end
      assert.equal("legacy false true", warnings(old, config ""))
      assert.equal("", warnings(old:gsub("Prepend", "NFC"), config ',"legacy":true'))
      assert.matches("puts a blank before texts that begin with one, too", agree.warnings(json.decode(old),
        json.decode(config ',"legacy":true'), "c.json", "LlamaTokenizer")[1])
      assert.equal("add_prefix_space false true", warnings(new, config ',"legacy":false,"add_prefix_space":false'))
      assert.equal("legacy true false", warnings(new, config ',"legacy":true'))
      assert.equal("", warnings(new, config ',"legacy":false'))
    end
    assert.equal("", warnings(old, '{"tokenizer_class":"GemmaTokenizer"}'))
    assert.equal("", warnings(bytes, '{"tokenizer_class":"LlamaTokenizer"}'))
  end)

  it("disagrees where a class puts blanks before texts, or makes letters small, by a component of its own", function()
    local text = [[{"normalizer":{"type":"%s"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Metaspace",
      "replacement":"_","prepend_scheme":"%s"}]}}]]
    local function of(class, lower, scheme, more)
      return warnings(text:format(lower, scheme), ('{"tokenizer_class":"%s"%s}'):format(class, more or ""))
    end
    assert.equal("", of("XLMRobertaTokenizer", "NFC", "always"))
    assert.equal("add_prefix_space false true", of("XLMRobertaTokenizerFast", "NFC", "always",
      ',"add_prefix_space":false'))
    assert.equal("add_prefix_space true false", of("XLMRobertaTokenizer", "NFC", "never"))
    assert.equal("", of("DebertaV2Tokenizer", "NFC", "first", ',"add_prefix_space":false'))
    assert.equal("do_lower_case true false", of("DebertaV2TokenizerFast", "NFC", "always", ',"do_lower_case":true'))
    assert.equal("do_lower_case true false", of("AlbertTokenizer", "NFC", "always"))
    assert.equal("", of("AlbertTokenizer", "Lowercase", "always"))
    assert.equal("do_lower_case false true", warnings(text:format("Lowercase", "always"), '{"do_lower_case":false}',
      json.object { model_type = "albert" }))
  end)

  it("gives added tokens their flags, and special tokens of the vocabulary their places", function()
    local function added(tokens, vocab, config, map)
      local root = json.decode(('{"added_tokens":%s,"model":{"vocab":%s}}'):format(tokens, vocab))
      agree.add(root, json.decode(config), map and json.decode(map))
      local list = {}
      for i, entry in ipairs(root.added_tokens) do
        list[i] = ("%d %s"):format(entry.id, entry.content)
        for _, flag in ipairs { "lstrip", "rstrip", "single_word", "normalized", "special" } do
          if entry[flag] then list[i] = list[i] .. " " .. flag end
        end
      end
      return table.concat(list, ", ")
    end
    local mask = [=[[{"id":4,"content":"<mask>","lstrip":true,"special":true}]]=]
    assert.equal("4 <mask> lstrip special", added(mask, "{}", '{"mask_token":{"content":"<mask>","rstrip":true}}'))
    assert.equal("4 <mask> rstrip normalized special", added(mask, "{}", [[{"mask_token":"<mask>",
      "added_tokens_decoder":{"4":{"content":"<mask>","rstrip":true,"normalized":true}}}]]))
    assert.equal("1 </s> special, 0 <s> rstrip special", added("[]", '[["<s>",0],["</s>",0]]',
      '{"eos_token":"</s>","pad_token":"<pad>"}', '{"bos_token":{"content":"<s>","rstrip":true}}'))
    assert.equal("2 a normalized, 3 b special", added("[]", '{"a":2,"b":3}', [[{"added_tokens_decoder":{
      "2":{"content":"a"}},"extra_special_tokens":["b"]}]], '{"bos_token":"c"}'))
  end)

  it("may name tokens that the tokenizer lacks, which transformers adds", function()
    local function said(config)
      return agree.tokens(json.decode(config), function(text) return text == "[PAD]" end, "c.json")
    end
    assert.is_nil(said('{"pad_token":"[PAD]","mask_token":null,"extra_special_tokens":["[PAD]"],"name":"x"}'))
    assert.equal('c.json: warning: names "<x>", which the tokenizer does not have; transformers adds tokens for them',
      said('{"image_token":{"content":"<x>"}}'))
    assert.matches('names "<a>" and 2 more, which', said(
      '{"additional_special_tokens":["<b>","<a>"],"added_tokens_decoder":{"5":{"content":"<c>"}}}'), 1, true)
  end)

  it("is not followed by classes that read any tokenizer.json", function()
    for _, class in ipairs { "PreTrainedTokenizerFast", "TokenizersBackend" } do
      assert.equal("", warnings(bert, ('{"do_lower_case":false,"tokenizer_class":"%s"}'):format(class)))
    end
  end)
end)
