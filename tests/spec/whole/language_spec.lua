-- language_spec: the language classifier of models/language: what is in its folder, its ids and logits
-- against Hugging Face's (tests/language/goldens.py), and how many texts it gets right.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")
local tokenizer = require("text.tokenizer")

local root = helper.absolute_root()
local model = root .. "/models/language"
local goldens = root .. "/tests/language"
local folder = root .. "/out/spec/language"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- The pairs of language and text of a file of the folder.
local function pairs_of(name)
  local list = {}
  for language, text in helper.read(model .. "/" .. name):gmatch("(%a+)\t([^\n]+)\n") do
    list[#list + 1] = { language = language, text = text }
  end
  return list
end

local sentences, held = pairs_of("sentences.tsv"), pairs_of("held.tsv")
local config = dkjson.decode(helper.read(model .. "/config.json"))

local function per_language(list)
  local count = {}
  for _, pair in ipairs(list) do count[pair.language] = (count[pair.language] or 0) + 1 end
  return count
end

-- A number as in tests/text/cases.py: seven bits a byte.
local function write_varint(value)
  local out = {}
  while value >= 0x80 do
    out[#out + 1] = string.char(value & 0x7f | 0x80)
    value = value >> 7
  end
  return table.concat(out) .. string.char(value)
end

local function floats(path)
  local bytes, list = helper.read(path), {}
  for at = 11 + string.unpack("<I2", bytes, 9), #bytes - 3, 4 do list[#list + 1] = string.unpack("<f", bytes, at) end
  return list
end

-- The logits of all texts, by the built program.
local function logits_of(list)
  local lines = {}
  for i, pair in ipairs(list) do lines[i] = pair.text .. "\n" end
  files.write_all(folder, { { name = "lines.txt", text = table.concat(lines) } })
  sh(("./language/language run --weights %s --text-file lines.txt --output logits=logits.npy"):format(shell(model)))
  return floats(folder .. "/logits.npy")
end

local labels = 0
for _ in pairs(config.id2label) do labels = labels + 1 end

-- The languages of texts from first to last, by the largest of their logits.
local function right(list, logits, first)
  local count, wrong = 0, {}
  for i, pair in ipairs(list) do
    local best, at = 1, (first + i - 2) * labels
    for k = 2, labels do if logits[at + k] > logits[at + best] then best = k end end
    local found = config.id2label[tostring(best - 1)]
    if found == pair.language then count = count + 1
    else wrong[#wrong + 1] = ("%s taken for %s: %s"):format(pair.language, found, pair.text) end
  end
  return count, table.concat(wrong, "\n")
end

describe("models/language", function()
  local logits

  setup(function()
    files.make_folder(folder)
    sh(("gzip -dc %s >cases"):format(shell(goldens .. "/cases.gz")))
    sh(("%s build %s -o language"):format(shell(root .. "/gen/attn2c"), shell(model)))
    logits = logits_of(table.move(held, 1, #held, #sentences + 1, { table.unpack(sentences) }))
  end)

  it("is under 3 MB, with all its files", function()
    local bytes = 0
    for name in lfs.dir(model) do
      local path = model .. "/" .. name
      if lfs.attributes(path, "mode") == "file" then bytes = bytes + lfs.attributes(path, "size") end
    end
    assert.is_true(bytes < 3e6, ("%d bytes"):format(bytes))
  end)

  it("has sentences and held-out lines of each of its languages", function()
    assert.is_true(labels >= 12)
    assert.is_true(#sentences >= 60)
    assert.is_true(#held >= 500)
    local of_sentences, of_held = per_language(sentences), per_language(held)
    for _, language in pairs(config.id2label) do
      assert.is_true((of_sentences[language] or 0) >= 4, language)
      assert.is_true((of_held[language] or 0) >= 25, language)
    end
    for _, pair in ipairs(held) do assert.equal(40, utf8.len(pair.text), pair.text) end
  end)

  it("has the ids of the real library", function()
    local texts = {}
    for _, list in ipairs { sentences, held } do
      for _, pair in ipairs(list) do texts[#texts + 1] = write_varint(#pair.text) .. pair.text end
    end
    local tables, _, warnings = tokenizer.from_folder(model)
    assert.same({}, warnings)
    files.write_all(folder, { { name = "tables", text = tables }, { name = "texts", text = table.concat(texts) } })
    sh(("make -s -C %s -f tests/c/build.mk out/test/bin/text_cases"):format(shell(root)))
    assert.equal(("%d cases, 0 failed\n"):format(#sentences + #held),
      sh(shell(root .. "/out/test/bin/text_cases") .. " tables texts cases"))
  end)

  it("has the logits of transformers", function()
    local expected, largest = floats(goldens .. "/logits.npy"), 0
    assert.equal(#sentences * labels, #expected)
    assert.equal((#sentences + #held) * labels, #logits)
    for i, want in ipairs(expected) do
      local apart = math.abs(want - logits[i]) / math.max(1, math.abs(want))
      assert.is_true(apart == apart)
      largest = math.max(largest, apart)
    end
    assert.is_true(largest <= 1e-4, ("%g apart"):format(largest))
  end)

  it("gets 97 % of the sentences and of the held-out lines right", function()
    for _, part in ipairs { { sentences, 1 }, { held, #sentences + 1 } } do
      local count, wrong = right(part[1], logits, part[2])
      assert.is_true(count >= 0.97 * #part[1], ("%d of %d\n%s"):format(count, #part[1], wrong))
    end
  end)
end)
