-- reference_keys_spec: every key that transformers, sentence-transformers, tokenizers, peft and gguf read is in the
-- table of gen/common/file_keys.lua. tests/hf/reference_keys.py finds the keys in the libraries' sources.
-- ATTN2C_REFERENCES names a folder of packages that has them (site-packages); otherwise `make test-long` installs their
-- packages, without those that these need, into out/references once. `make test` does without it.
local helper = require("tests.spec.helper")
local families = require("checkpoints.families")
local known = require("common.known")
local lfs = require("lfs")
local words = require("common.words")

local root = helper.absolute_root()
local PACKAGES = "transformers==5.23.0 sentence-transformers==6.2.0 tokenizers==0.23.3 gguf==0.19.0 peft==0.21.2"

-- Model types of folders with code of their own: no library has their keys.
local others = words.set { "jina_bert", "new" }

-- Keys that the file of a family, or the record of an architecture, lists.
local listed = { ["config.json"] = { is_causal = true }, GGUF = {} }
for _, family in pairs(families.by_name) do
  for _, entry in ipairs(family.config or {}) do
    for i = 1, #entry do listed["config.json"][entry[i]] = true end
  end
end
for _, record in pairs(require("checkpoints.architectures")) do
  for _, row in ipairs(record.keys) do listed.GGUF["{arch}." .. row[1]] = true end
end

-- Returns the folder of the libraries, which it may install.
local function libraries()
  local given = os.getenv("ATTN2C_REFERENCES")
  if given then return given end
  local folder = root .. "/out/references"
  if lfs.attributes(folder .. "/gguf", "mode") ~= "directory" then
    helper.succeeds(("python3 -m pip --disable-pip-version-check install --quiet --no-deps --target %s %s"):format(
      helper.shell(folder), PACKAGES), root)
  end
  return folder
end

-- Returns the model types of transformers that are supported, sorted.
local function model_types()
  local list = {}
  for word in pairs(families.by_type) do
    if not word:find(":", 1, true) and not others[word] then list[#list + 1] = word end
  end
  table.sort(list)
  return list
end

-- True if config.json of a model type may have a key without a line.
local function is_of(word, key)
  local family, sections = families.by_type[word], { "config.json" }
  local lists = { family.config }
  for object, entries in pairs(family.inner or {}) do -- a key of an object is called as one of the whole
    if object == key then return true end
    lists[#lists + 1] = entries
  end
  for _, entry in ipairs(words.append({}, table.unpack(lists))) do
    for i = 1, #entry do if entry[i] == key then return true end end
  end
  if family.causal and key == "is_causal" then return true end
  if family.inside and family.inside[word] then table.insert(sections, 1, "config.json with parts") end
  table.insert(sections, 1, "config.json of " .. family.name)
  return known.entry(key, sections) ~= nil
end

-- True if the table has a key that a line of reference_keys.py names.
local function is_listed(section, key)
  local whose = section:match("^config%.json|(.*)$")
  if not whose then return known.entry(key, { section }) ~= nil or (listed[section] or {})[key] ~= nil end
  for word in whose:gmatch("[^|]+") do if is_of(word, key) then return true end end
  return false
end

describe("the table of keys", function()
  it("has those that the reference libraries read", function()
    if not helper.is_long then return end
    local said, out = helper.run(("python3 tests/hf/reference_keys.py %s %s"):format(helper.shell(libraries()),
      table.concat(model_types(), " ")), root)
    assert.equal(0, said, out)
    local lacks, count = {}, {}
    for section, key in out:gmatch("([^\t\n]+)\t([^\n]+)") do
      local file = section:match("^[^|]*")
      count[file] = (count[file] or 0) + 1
      if not is_listed(section, key) then lacks[#lacks + 1] = section .. ": " .. key end
    end
    assert.same({}, lacks)
    for _, file in ipairs { "GGUF", "adapter_config.json", "config.json", "config.json of module Pooling",
      "config.json: rope_parameters",
      "config.json: quantization_config", "config_sentence_transformers.json", "generation_config.json",
      "modules.json", "preprocessor_config.json", "sentence_bert_config.json", "special_tokens_map.json",
      "tokenizer.json", "tokenizer_config.json" } do
      assert.is_true((count[file] or 0) > 1, file .. ": no key was found")
    end
  end)
end)
