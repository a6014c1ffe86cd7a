-- languages_spec.lua: tokenizers of models that translate: what is refused, and what the compiler is told of languages.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local numbers = require("text.numbers")
local tokenizer = require("text.tokenizer")

local root = helper.root .. "/tests/text/languages/"

-- Returns a folder with a golden's files. changed: texts by name, or false: the file is left out.
local function folder_of(name, changed)
  local path = helper.folder()
  for file in lfs.dir(root .. name) do
    local text = changed[file]
    if text == nil and lfs.attributes(root .. name .. "/" .. file, "mode") == "file" then
      text = helper.read(root .. name .. "/" .. file)
    end
    if text then files.write_all(path, { { name = file, text = text } }) end
  end
  return path
end

local function config_of(name, changes)
  local text = helper.read(root .. name .. "/tokenizer_config.json")
  for key, value in pairs(changes) do
    text = text:gsub(('"%s": "[^"]*", '):format(key), ""):gsub("^{", ('{"%s": "%s", '):format(key, value))
  end
  return { ["tokenizer_config.json"] = text }
end

describe("a tokenizer of a model that translates", function()
  for _, each in ipairs {
    { "marian", { ["source.spm"] = false }, "io", "/source.spm: is missing, but a regular file is allowed" },
    { "marian", { ["target.spm"] = false }, "io", "/target.spm: is missing, but a regular file is allowed" },
    { "marian", { ["vocab.json"] = false }, "io", "/vocab.json: is missing, but the tokenizer's class has one" },
    { "marian", { ["vocab.json"] = "[1]" }, "format", "/vocab.json: an object is expected" },
    { "marian", { ["vocab.json"] = '{"</s>":0,"<unk>":1,"a":3}' }, "format", "/vocab.json: no token has the number 2" },
    { "marian", { ["vocab.json"] = '{"</s>":0,"a":1}' }, "format", '/vocab.json: has no "<unk>"' },
    { "marian", { ["vocab.json"] = '{"a":-1}' }, "format",
      '/vocab.json: "a": its number is no integer from 0, or another token\'s, too' },
    { "marian", { ["source.spm"] = "\10\4abcd" }, "format",
      "/source.spm: is not a model of SentencePiece, or is cut off" },
    { "marian_separate", { ["target_vocab.json"] = false }, "io",
      "/target_vocab.json: is missing, but the tokenizer's class has one" },
    { "nllb_json", config_of("nllb_json", { src_lang = "eng" }), "format",
      "/tokenizer_config.json: src_lang: \"eng\" is no language "
        .. "of the vocabulary; languages: eng_Latn, fra_Latn, rus_Cyrl, zul_Latn" },
    { "nllb_json", config_of("nllb_json", { legacy_behaviour = "yes" }), "format",
      "/tokenizer_config.json: legacy_behaviour: true or false is allowed" },
    { "m2m_100", config_of("m2m_100", { language_codes = "all" }), "format",
      'tokenizer_config.json: language_codes: "all", but m2m100 and wmt21 are allowed' },
  } do
    it("is refused: " .. each[1] .. ": " .. each[4], function()
      local path = folder_of(each[1], each[2])
      local fault = helper.fault(function()
        local _, made = tokenizer.from_folder(path)
        if made.has_target then tokenizer.of_target(path) end
      end)
      assert.same({ 1, each[4] }, { #fault.lines, (fault.lines[1]:gsub("^" .. path:gsub("%p", "%%%0"), "")) })
      assert.equal(require("common.faults").code[each[3]], fault.code)
    end)
  end

  it("has the languages of the folder, and the source that it names", function()
    local _, made = tokenizer.from_folder(folder_of("m2m_100", config_of("m2m_100", { src_lang = "fr" })))
    assert.equal("fr", made.languages.source)
    assert.equal(numbers.TARGET.first, made.languages.target)
    assert.same({ "af", "zu" }, { made.languages.list[1].code, made.languages.list[100].code })
    _, made = tokenizer.from_folder(folder_of("m2m_100", config_of("m2m_100", { language_codes = "wmt21",
      src_lang = "ha" })))
    assert.equal(8, #made.languages.list)
  end)

  it("has another vocabulary for the texts that it writes, if the folder says so", function()
    local _, made = tokenizer.from_folder(root .. "marian_separate")
    local _, target = tokenizer.of_target(root .. "marian_separate")
    assert.is_true(made.has_target)
    assert.is_not_nil(target.model.ids["▁die"] or target.model.ids["▁ei"] or target.model.ids["вок"]
      or target.model.ids["к"])
    assert.is_nil(made.model.ids["к"])
    _, made = tokenizer.from_folder(root .. "marian")
    assert.is_false(made.has_target)
    local state = { with_text = true, folder = ".", notes = {}, spec = { tokenizer = root .. "marian_separate", seq = 9,
      input = { vocab = 82 }, memory = { encoder = { input = { vocab = 59 } } } } }
    require("passes.tokenizer").run(state)
    assert.equal(tokenizer.of_target(root .. "marian_separate"), state.tokenizer.written)
    state.spec.input.vocab = 81
    assert.matches("marian_separate: the tokenizer has 82 tokens, but the model knows 81",
      helper.fault(require("passes.tokenizer").run, state).lines[1])
  end)
end)
