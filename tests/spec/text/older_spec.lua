-- older_spec.lua: the tokenizer.json that folders without one stand for, by its values: which keys of
-- tokenizer_config.json it follows, and what transformers' defaults are.
local helper = require("tests.spec.helper")
local older = require("text.older")

-- Returns the tokenizer of a folder of these files. ids: of vocab.json.
local function read(files, config, ids)
  local folder = helper.folder()
  for name, text in pairs(files) do helper.write(folder .. "/" .. name, text) end
  return older.read(folder, config, function() return ids, ids and folder .. "/vocab.json" or nil end)
end

local bert = { ["vocab.txt"] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b \r\n" }

-- Added tokens as "id content".
local function added(root)
  local list = {}
  for i, token in ipairs(root.added_tokens) do list[i] = ("%d %s"):format(token.id, token.content) end
  return list
end

describe("vocab.txt", function()
  teardown(helper.clean)

  it("is a line a token, without the blanks at its end", function()
    local root = read(bert)
    assert.same({ ["[PAD]"] = 0, ["[UNK]"] = 1, ["[CLS]"] = 2, ["[SEP]"] = 3, ["[MASK]"] = 4, a = 5, ["##b"] = 6 },
      setmetatable(root.model.vocab, nil))
    assert.equal(3, read({ ["vocab.txt"] = "[UNK]\n[CLS]\n[SEP]\n\n" }).model.vocab[""])
    assert.equal(2, read({ ["vocab.txt"] = "[UNK]\n[CLS]\n[SEP]" }).model.vocab["[SEP]"])
  end)

  it("may have ESM's letters", function()
    local root = read { ["vocab.txt"] = "<cls>\n<pad>\n<eos>\n<unk>\nL\n<null_1>\n<mask>" }
    assert.same({ "BPE", "<unk>", true, "WhitespaceSplit" }, { root.model.type, root.model.unk_token,
      root.model.fuse_unk, root.pre_tokenizer.type })
    local list = {}
    for i, token in ipairs(root.added_tokens) do list[i] = token.content end
    assert.equal("<cls> <pad> <eos> <unk> <null_1> <mask>", table.concat(list, " "))
    assert.equal(5, #root.post_processor.pair)
  end)

  it("of the first DeBERTa has [CLS]", function()
    local root = read({ ["merges.txt"] = "#version: 0.2\na b\n" },
      nil, { a = 3, b = 4, ab = 5, ["[CLS]"] = 1, ["[SEP]"] = 2, ["[MASK]"] = 6 })
    assert.equal("TemplateProcessing", root.post_processor.type)
    assert.equal(6, #root.post_processor.pair)
    assert.same({ "[MASK]", true }, { root.added_tokens[3].content, root.added_tokens[3].lstrip })
  end)

  it("is not another kind of file that has its name", function()
    local pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" .. ("0"):rep(64) .. "\nsize 231508\n"
    local refused = ": is a Git LFS pointer, not the file itself: run `git lfs pull` in its folder, or download it "
      .. "again"
    local function said(texts, ids)
      local fault = helper.fault(read, texts, nil, ids)
      assert.equal(3, fault.code)
      assert.equal(1, #fault.lines)
      return fault.lines[1]:match("/(%l+%.txt: .*)$")
    end
    assert.equal("vocab.txt" .. refused, said { ["vocab.txt"] = pointer })
    assert.equal("merges.txt" .. refused, said({ ["merges.txt"] = pointer }, { a = 0 }))
    assert.matches("^vocab.txt: is a page of HTML", said { ["vocab.txt"] = "<!DOCTYPE html>\n" })
    assert.equal(0, read({ ["vocab.txt"] = "{\n\"\n[UNK]\n[CLS]\n[SEP]\n" }).model.vocab["{"])
  end)

  it("has transformers' defaults", function()
    local root = read(bert)
    assert.same({ type = "BertNormalizer", clean_text = true, lowercase = true, handle_chinese_chars = true },
      setmetatable(root.normalizer, nil))
    assert.same({ type = "WordPiece", prefix = "##", cleanup = true }, setmetatable(root.decoder, nil))
    assert.equal("BertPreTokenizer", root.pre_tokenizer.type)
    assert.same({ "[UNK]", "##", 100 }, { root.model.unk_token, root.model.continuing_subword_prefix,
      root.model.max_input_chars_per_word })
    assert.same({ "BertProcessing", "[CLS]", 2, "[SEP]", 3 }, { root.post_processor.type, root.post_processor.cls[1],
      root.post_processor.cls[2], root.post_processor.sep[1], root.post_processor.sep[2] })
    assert.same({ "0 [PAD]", "1 [UNK]", "2 [CLS]", "3 [SEP]", "4 [MASK]" }, added(root))
    local token = root.added_tokens[5]
    assert.same({ false, false, false, false, true }, { token.lstrip, token.rstrip, token.single_word,
      token.normalized, token.special })
  end)

  it("follows tokenizer_config.json", function()
    for key, own in pairs { do_lower_case = "lowercase", strip_accents = "strip_accents",
      tokenize_chinese_chars = "handle_chinese_chars" } do
      for _, value in ipairs { true, false } do
        local normalizer = read(bert, { [key] = value }).normalizer
        assert.equal(value, normalizer[own], key)
        assert.equal(own == "lowercase" and value or own ~= "lowercase", normalizer.lowercase, key)
      end
    end
    local root = read({ ["vocab.txt"] = "<u>\n<c>\n<s>\n<p>\n<m>\n" }, { unk_token = "<u>", cls_token = "<c>",
      sep_token = { content = "<s>" }, pad_token = "<p>", mask_token = { content = "<m>", lstrip = true } })
    assert.same({ "0 <u>", "1 <c>", "2 <s>", "3 <p>", "4 <m>" }, added(root))
    assert.same({ "<u>", 1, 2 }, { root.model.unk_token, root.post_processor.cls[2], root.post_processor.sep[2] })
  end)

  it("without a token that every text needs is refused", function()
    for _, name in ipairs { "[UNK]", "[CLS]", "[SEP]" } do
      local text = bert["vocab.txt"]:gsub("%" .. name:sub(1, -2) .. "%]", "x")
      local fault = helper.fault(read, { ["vocab.txt"] = text })
      assert.is_truthy(fault.lines[1]:find(('vocab.txt: has no "%s"'):format(name), 1, true), fault.lines[1])
    end
    assert.matches("is not UTF%-8", helper.fault(read, { ["vocab.txt"] = "[UNK]\n\255" }).lines[1])
  end)
end)

describe("vocab.json with merges.txt", function()
  teardown(helper.clean)

  local merges = { ["merges.txt"] = "#version: 0.2\na b\nab c\r\n\n" }
  local function roberta() return { ["<s>"] = 0, ["<pad>"] = 1, ["</s>"] = 2, ["<unk>"] = 3, ["<mask>"] = 4, a = 5 } end
  local function gpt2() return { a = 0, b = 1, ["<|endoftext|>"] = 2 } end

  it("is GPT-2's", function()
    local root = read(merges, nil, gpt2())
    assert.same({ "a b", "ab c" }, setmetatable(root.model.merges, nil))
    assert.same({ "2 <|endoftext|>" }, added(root))
    assert.same({ type = "ByteLevel", add_prefix_space = false, trim_offsets = true, use_regex = true },
      setmetatable(root.pre_tokenizer, nil))
    assert.same({ type = "ByteLevel", add_prefix_space = false, trim_offsets = false },
      setmetatable(root.post_processor, nil))
    assert.same({ "BPE", "ByteLevel" }, { root.model.type, root.decoder.type })
  end)

  it("is RoBERTa's where it has <s> and </s>; its mask takes the space before it", function()
    local root = read(merges, nil, roberta())
    assert.same({ "0 <s>", "1 <pad>", "2 </s>", "3 <unk>", "4 <mask>" }, added(root))
    for _, token in ipairs(root.added_tokens) do assert.equal(token.content == "<mask>", token.lstrip) end
    local post = root.post_processor
    assert.same({ "RobertaProcessing", "<s>", 0, "</s>", 2, true, false }, { post.type, post.cls[1], post.cls[2],
      post.sep[1], post.sep[2], post.trim_offsets, post.add_prefix_space })
  end)

  it("is refused where GPT-2's class puts tokens around texts", function()
    for _, key in ipairs { "add_bos_token", "add_eos_token" } do
      local fault = helper.fault(read, merges, { [key] = true }, gpt2())
      assert.same({ 2, { ("tokenizer_config.json: %s: true is not supported without tokenizer.json"):format(key) } },
        { fault.code, fault.lines })
      assert.is_table(read(merges, { [key] = false }, gpt2()))
      assert.is_table(read(merges, { [key] = true }, roberta()))
    end
  end)

  it("follows add_prefix_space and the names of tokens", function()
    for _, ids in ipairs { roberta(), gpt2() } do
      local root = read(merges, { add_prefix_space = true }, ids)
      assert.same({ true, true }, { root.pre_tokenizer.add_prefix_space, root.post_processor.add_prefix_space })
    end
    assert.same({ "0 a", "1 b" }, added(read(merges, { bos_token = "a", eos_token = "b", unk_token = "b" }, gpt2())))
    local root = read(merges, { mask_token = "a", cls_token = "</s>" }, roberta())
    assert.same({ "</s>", 2 }, { root.post_processor.cls[1], root.post_processor.cls[2] })
    assert.same({ "1 <pad>", "2 </s>", "3 <unk>", "5 a" }, added(root))
    assert.is_true(root.added_tokens[4].lstrip)
  end)
end)
