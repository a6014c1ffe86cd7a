-- languages_spec.lua: tokenizers of models that translate, against the classes of transformers
-- (tests/text/languages.py): ids of texts in several scripts and languages, and the texts that ids give.
local helper = require("tests.spec.helper")
local files = require("common.files")
local json = require("common.json")
local tokenizer = require("text.tokenizer")

local root = helper.root .. "/tests/text/languages"
local bin = helper.root .. "/out/test/bin/text_languages"
local folder = helper.root .. "/out/test/languages"

-- Folders: the number of languages, and the target (text/numbers.lua).
local folders = { m2m_100 = { 100, "first" }, m2m_100_bpe = { 100, "first" },
  m2m_100_bytes = { 100, "first" }, m2m_100_bare = { 100, "first" }, marian = { 2, "source" },
  marian_separate = { 0, "none" }, mbart = { 25, "start" }, mbart_json = { 25, "start" }, mbart_50 = { 52, "first" },
  nllb = { 4, "first" }, nllb_json = { 4, "first" }, nllb_legacy = { 4, "first" } }

local function to_digits(text) return (text:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end
local function from_digits(digits)
  return (digits:gsub("%x%x", function(each) return string.char(tonumber(each, 16)) end))
end

-- Returns the lines that a tokenizer's tables give for cases. with_ids: for the ids that transformers gives.
local function answers(name, tables, cases, with_ids)
  local lines = {}
  for i, each in ipairs(cases) do
    lines[i] = ("%s\t%s%s\n"):format(each[1], to_digits(each[2]),
      with_ids and "\t" .. table.concat(each[3], " ") or "")
  end
  files.write_all(folder, { { name = name .. ".tables", text = tables },
    { name = name .. ".lines", text = table.concat(lines) } })
  local handle = assert(io.popen(("%s %s < %s"):format(bin, folder .. "/" .. name .. ".tables",
    folder .. "/" .. name .. ".lines")))
  local list = {}
  for line in handle:lines() do list[#list + 1] = line end
  assert(handle:close(), list[#list])
  return list
end

-- True if the class writes special tokens into a text with blanks of its own, which are not compared.
local function is_slow(name) return name:find("^ma?2?m_100") or name:find("^marian") end

describe("a tokenizer of a model that translates", function()
  setup(function()
    assert.is_true(os.execute(("make -s -C %s -f tests/c/build.mk out/test/bin/text_languages"):format(
      helper.shell(helper.root))))
  end)

  for name, expected in pairs(folders) do
    it("gives transformers' ids and texts: " .. name, function()
      local path = root .. "/" .. name
      local cases = assert(json.decode(helper.read(path .. "/cases.json")))
      local tables, made = tokenizer.from_folder(path)
      local lines = answers(name, tables, cases)
      local written = made.has_target and answers(name, tokenizer.of_target(path), cases, true) or lines
      assert.equal(#cases + 1, #lines)
      local numbers = require("text.numbers")
      assert.matches("^" .. numbers.TARGET[expected[2]], lines[1])
      assert.equal(expected[1], select(2, lines[1]:gsub("=", "")))
      for i, each in ipairs(cases) do
        local ids, _, whole = lines[i + 1]:match("^([^\t]*)\t(%x*)\t(%x*)$")
        local text = written[i + 1]:match("^[^\t]*\t(%x*)\t%x*$")
        assert.equal(table.concat(each[3], " "), ids, each[2])
        -- transformers leaves out the number of the sources' <pad> in other vocabularies, too.
        if not (made.has_target and each[2]:find("<pad>")) then
          assert.equal(each[4], text and from_digits(text), each[2])
        end
        if not is_slow(name) then assert.equal(each[5], from_digits(whole), each[2]) end
      end
    end)
  end
end)
