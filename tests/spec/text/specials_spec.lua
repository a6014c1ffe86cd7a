-- specials_spec.lua: the ids of tokens with a meaning of their own, and where a folder's files name them.
require("tests.spec.helper")
local specials = require("text.specials")

local ids = { ["[MASK]"] = 1, ["[CLS]"] = 2, ["<mask>"] = 3, ["<s>"] = 4, ["<m>"] = 5, ["<c>"] = 6, ["<b>"] = 7 }

-- Returns the special tokens of a vocabulary of these tokens.
local function find(tokens, ...)
  local state = { model = { ids = {}, added_ids = {}, tokens = {} } }
  for i, token in ipairs(tokens) do
    state.model[i % 2 == 0 and "ids" or "added_ids"][token] = ids[token]
    state.model.tokens[ids[token]] = token
  end
  return specials.find(state, ...)
end

local bert, roberta, all = { "[MASK]", "[CLS]" }, { "<mask>", "<s>" },
  { "[MASK]", "[CLS]", "<mask>", "<s>", "<m>", "<c>", "<b>" }

describe("tokens with a meaning", function()
  it("are BERT's or RoBERTa's where no file says otherwise", function()
    assert.same({ mask = 1, cls = 2 }, find(bert))
    assert.same({ mask = 3, cls = 4 }, find(roberta, {}))
    assert.same({}, find { "[CLS]", "<b>" })
    assert.same({ mask = 1 }, find { "[MASK]" })
  end)

  it("have no CLS but a named one in classes without names of their own", function()
    for _, class in ipairs { "PreTrainedTokenizerFast", "TokenizersBackend" } do
      assert.same({ mask = 1 }, find(bert, { tokenizer_class = class }))
      assert.same({ mask = 1, cls = 2 }, find(bert, { tokenizer_class = class, cls_token = "[CLS]" }))
    end
    assert.same({ mask = 1, cls = 2 }, find(bert, { tokenizer_class = "BertTokenizer" }))
  end)

  it("follow tokenizer_config.json, then special_tokens_map.json", function()
    assert.same({ mask = 5, cls = 6, bos = 7 }, find(all, { mask_token = "<m>", cls_token = { content = "<c>" },
      bos_token = "<b>" }, { mask_token = "<mask>", cls_token = "<s>", bos_token = "<s>" }))
    assert.same({ mask = 5, cls = 6, bos = 7 }, find(all, { mask_token = "no token" }, { mask_token = "<m>",
      cls_token = { content = "<c>" }, bos_token = "<b>" }))
  end)

  it("begin a text as config.json says where nothing else does", function()
    assert.equal(6, find(all, {}, {}, { bos_token_id = 6 }).bos)
    assert.equal(7, find(all, { bos_token = "<b>" }, {}, { bos_token_id = 6 }).bos)
    for _, bos in ipairs { 99, 1.5, "<b>" } do assert.is_nil(find(all, {}, {}, { bos_token_id = bos }).bos) end
  end)
end)
