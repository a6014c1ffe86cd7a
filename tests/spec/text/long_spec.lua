-- long_spec.lua: texts of 200,000 bytes in every place of tokenizer.json that has one are compiled or refused soon: no
-- place takes time by the square of a length.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local faults = require("common.faults")
local tokenizer = require("text.tokenizer")

local LENGTH, SECONDS = 200000, 3 -- by the square it would be minutes
local parts = { "a", "ab", "(", "[", "[^a]", "\\p{L}", "x+", "a|", " ", "\226\150\129", "\\" }

local function json(text) return (dkjson.decode(text)) end

local byte_pairs = [[{ "added_tokens": [{ "id": 3, "content": "<s>", "single_word": false, "lstrip": false,
  "rstrip": false, "normalized": false, "special": true }],
  "normalizer": { "type": "Sequence", "normalizers": [{ "type": "Prepend", "prepend": "_" },
    { "type": "Replace", "pattern": { "String": " " }, "content": "_" },
    { "type": "Replace", "pattern": { "Regex": "a+" }, "content": "b" }] },
  "pre_tokenizer": { "type": "Split", "pattern": { "Regex": "[ab]" }, "behavior": "Isolated", "invert": false },
  "post_processor": { "type": "TemplateProcessing", "single": [{ "SpecialToken": { "id": "<s>", "type_id": 0 } },
    { "Sequence": { "id": "A", "type_id": 0 } }], "pair": [{ "Sequence": { "id": "A", "type_id": 0 } },
    { "Sequence": { "id": "B", "type_id": 1 } }],
    "special_tokens": { "<s>": { "id": "<s>", "ids": [3], "tokens": ["<s>"] } } },
  "decoder": { "type": "Sequence", "decoders": [{ "type": "Replace", "pattern": { "String": "_" }, "content": " " },
    { "type": "ByteFallback" }, { "type": "Fuse" }, { "type": "Strip", "content": " ", "start": 1, "stop": 0 }] },
  "model": { "type": "BPE", "unk_token": "a", "continuing_subword_prefix": "", "end_of_word_suffix": "",
    "vocab": { "a": 0, "b": 1, "ab": 2 }, "merges": ["a b"] } }]]

-- Calls visit(object, key) for each text within a value.
local function each_text(value, visit)
  for _, key in ipairs(require("common.words").sorted_keys(value)) do
    if type(value[key]) == "table" then each_text(value[key], visit) end
    if type(value[key]) == "string" and key ~= "type" then visit(value, key) end
  end
end

-- Compiles in bounded time. Returns the fault, or nil.
local function compiled(root, about)
  local copy, begin = json(dkjson.encode(root)), os.clock()
  local ok, fault = pcall(tokenizer.compile, copy, "t.json")
  assert.is_true(os.clock() - begin < SECONDS, ("%g s: %s"):format(os.clock() - begin, about))
  assert.is_true(ok or faults.is(fault), about .. ": " .. tostring(fault))
  for _, line in ipairs(not ok and fault.lines or {}) do assert.is_true(#line < 1000, about) end
  return not ok and fault or nil
end

describe("long texts in tokenizer.json", function()
  it("take time by their length", function()
    local root, count = json(byte_pairs), 0
    assert.is_nil(compiled(root, "as it is"))
    each_text(root, function(object, key)
      local before = object[key]
      for _, part in ipairs(parts) do
        count = count + 1
        if count % (helper.is_long and 1 or 5) == 0 then
          object[key] = part:rep(LENGTH // #part)
          compiled(root, ("%s: %s"):format(key, part))
        end
      end
      object[key] = before
    end)
    assert.is_true(count > 150, count)
  end)

  it("are tokens, halves of merges and pieces", function()
    local root, long = json(byte_pairs), ("ab"):rep(LENGTH // 2)
    root.model.vocab[long], root.model.vocab[long .. "a"] = 3, 4
    root.model.merges[2] = long .. " a"
    root.added_tokens[2] = { id = 6, content = ("<"):rep(LENGTH), single_word = false, lstrip = true, rstrip = true,
      normalized = true, special = false }
    local fault = compiled(root, "a merge")
    assert.is_nil(fault and fault.lines[1])
    local pieces = { { "<unk>", 0.0 }, { long, -1.5 } }
    for i = 1, 300 do pieces[i + 2] = { ("b"):rep(i), -2.5 } end
    fault = compiled({ added_tokens = {}, model = { type = "Unigram", unk_id = 0, vocab = pieces } }, "a piece")
    assert.is_nil(fault and fault.lines[1])
    local words = { ["[UNK]"] = 0, [long] = 1, ["##" .. long] = 2 }
    fault = compiled({ added_tokens = {}, model = { type = "WordPiece", unk_token = "[UNK]", vocab = words,
      continuing_subword_prefix = "##", max_input_chars_per_word = LENGTH } }, "a word")
    assert.is_nil(fault and fault.lines[1])
  end)
end)
