-- gguf_patterns_spec.lua: each pre-tokenizer that GGUF names is made of components that are compiled.
require("tests.spec.helper")
local json = require("common.json")
local patterns = require("text.gguf_patterns")
local tokenizer = require("text.tokenizer")

local function object(value) return setmetatable(value, { __jsontype = "object" }) end

describe("the pre-tokenizers of GGUF", function()
  it("are compiled, each with its normalizer, cuts and decoder", function()
    local sizes = {}
    for name, record in pairs(patterns.list) do
      local cuts = {}
      for i, cut in ipairs(record.cuts) do
        local copy = {}
        for key, value in pairs(cut) do
          copy[key] = type(value) == "table" and object { Regex = value.Regex } or value
        end
        cuts[i] = object(copy)
      end
      local root = object { normalizer = record.normalizer and object { type = record.normalizer } or nil,
        pre_tokenizer = object { type = "Sequence", pretokenizers = cuts },
        model = object { type = "BPE", vocab = object { a = 0 }, merges = setmetatable({}, { __jsontype = "array" }) } }
      assert.equal("object", json.kind(root))
      local _, state = tokenizer.compile(root, name)
      sizes[name] = #state.components
    end
    assert.same({ 2, 4, 3, 7 }, { sizes["gpt-2"], sizes.qwen2, sizes.smollm, sizes["deepseek-coder"] })
  end)
end)
