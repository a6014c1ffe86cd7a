-- pieces_spec.lua: SentencePiece models of folders without tokenizer.json become the tokenizer.json that the class of
-- transformers makes of them (tests/text/pieces.py).
local helper = require("tests.spec.helper")
local files = require("common.files")
local json = require("common.json")
local pieces = require("text.pieces")
local tokenizer = require("text.tokenizer")

local root = helper.root .. "/tests/text/pieces/"

-- Classes: the model_type of folders that name none, the file's name, and the settings of the second golden.
local classes = {
  T5Tokenizer = { "t5", "spiece.model", { extra_ids = 3 } },
  AlbertTokenizer = { "albert", "spiece.model", { do_lower_case = false, keep_accents = true,
    add_prefix_space = false } },
  XLMRobertaTokenizer = { "xlm-roberta", "sentencepiece.bpe.model", { add_prefix_space = false } },
  CamembertTokenizer = { "camembert", "sentencepiece.bpe.model", { add_prefix_space = false } },
  DebertaV2Tokenizer = { "deberta-v2", "spm.model", { do_lower_case = true, split_by_punct = true } },
  PegasusTokenizer = { "pegasus", "spiece.model", { offset = 10 } },
  MBartTokenizer = { "mbart", "sentencepiece.bpe.model", {} },
  MBart50Tokenizer = { nil, "sentencepiece.bpe.model", {} },
  NllbTokenizer = { nil, "sentencepiece.bpe.model",
    { extra_special_tokens = json.decode('["fra_Latn","eng_Latn","zul_Latn"]') } },
}

local function folder_of(name)
  local path = helper.folder()
  files.write_all(path, { { name = classes[name][2], text = helper.read(root .. name .. ".model") } })
  return path
end

-- Returns a value without what stands for nothing in a file: null, and an empty string in place of null.
local function plain(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, each in pairs(value) do
    if each ~= json.null then copy[key] = plain(each) end
  end
  return copy
end

-- Returns the stages of a tokenizer.json, scores as floats. is_of_languages: without what is around a text.
local function stages(root_of, is_of_languages)
  local copy = plain(root_of)
  if is_of_languages then copy.post_processor = nil end
  copy.version, copy.truncation, copy.padding, copy.model.byte_fallback = nil, nil, nil, nil
  for _, entry in ipairs(copy.model.vocab) do entry[2] = entry[2] + 0.0 end
  if copy.model.type == "BPE" then copy.model.dropout, copy.model.ignore_merges = nil, nil end
  return copy
end

describe("a folder with a SentencePiece model alone", function()
  for name, class in pairs(classes) do
    it("has the steps and the pieces of its class: " .. name, function()
      local path = folder_of(name)
      class[3].tokenizer_class = name
      for file, config in pairs { [name] = { tokenizer_class = name .. "Fast" }, [name .. "_other"] = class[3] } do
        local expected = assert(json.decode(helper.read(root .. file .. ".json")))
        assert.is_true(pieces.is_in(path, setmetatable(config, { __jsontype = "object" })))
        local made = pieces.read(path, config)
        assert.same(stages(expected, not made.post_processor), stages(made))
      end
      assert.is_nil((tokenizer.from_folder(path)))
      files.write_all(path, { { name = "config.json", text = ('{"model_type":"%s"}'):format(class[1] or "none") } })
      local _, state = tokenizer.from_folder(path)
      assert.equal(class[1] ~= nil, state ~= nil and state.specials.pad ~= nil)
    end)
  end

  it("of another class has none that is supported", function()
    local path = folder_of("T5Tokenizer")
    files.write_all(path, { { name = "tokenizer_config.json", text = '{"tokenizer_class":"BigBirdTokenizer"}' } })
    assert.is_nil(tokenizer.from_folder(path))
    files.write_all(path, { { name = "config.json", text = '{"model_type":"t5"}' } })
    assert.is_nil(tokenizer.from_folder(path))
  end)

  it("has a tokenizer_config.json of the right kinds", function()
    local path = folder_of("T5Tokenizer")
    local file = path .. "/tokenizer_config.json: "
    files.write_all(path, { { name = "config.json", text = '{"model_type":"t5"}' } })
    local count = ", but an integer from 0 to 65536 is allowed"
    for text, said in pairs {
      ["[]"] = "is an array, but an object is allowed",
      ['{"tokenizer_class":5}'] = "tokenizer_class: 5, but the name of a class, a string, is allowed",
      ['{"extra_ids":-4}'] = "extra_ids: -4" .. count,
      ['{"extra_ids":"x"}'] = 'extra_ids: "x"' .. count,
      ['{"extra_ids":2.5}'] = "extra_ids: 2.5" .. count,
      ['{"extra_ids":65537}'] = "extra_ids: 65537" .. count,
    } do
      files.write_all(path, { { name = "tokenizer_config.json", text = text } })
      assert.same({ file .. said }, helper.fault(tokenizer.from_folder, path).lines)
    end
    for text, names in pairs { ['{"extra_ids":0}'] = 0, ['{"extra_ids":null}'] = 100 } do
      files.write_all(path, { { name = "tokenizer_config.json", text = text } })
      local root_of, found = pieces.read(path, json.decode(text), { model_type = "t5" }), 0
      for _, entry in ipairs(root_of.model.vocab) do if entry[1]:find("^<extra_id_") then found = found + 1 end end
      assert.equal(names, found)
    end
  end)

  it("has a regular file as its model", function()
    for target, said in pairs { ["."] = "directory", ["nowhere"] = "link to nothing", ["/dev/zero"] = "char device" } do
      local path = helper.folder()
      files.write_all(path, { { name = "config.json", text = '{"model_type":"t5"}' },
        { name = "spiece.model", link = target } })
      assert.same({ ("%s/spiece.model: is a %s, but a regular file is allowed"):format(path, said) },
        helper.fault(tokenizer.from_folder, path).lines)
    end
  end)

  it("needs the special tokens that the class puts around texts", function()
    local path = folder_of("T5Tokenizer")
    for text, said in pairs {
      ['{"tokenizer_class":"T5Tokenizer","unk_token":"[U]"}'] = 'spiece%.model: has no "%[U%]"',
      ['{"tokenizer_class":"T5Tokenizer","eos_token":[1]}'] = "tokenizer_config%.json: eos_token: a token is expected",
    } do
      files.write_all(path, { { name = "tokenizer_config.json", text = text } })
      assert.matches(said, helper.fault(tokenizer.from_folder, path).lines[1])
    end
  end)
end)
