-- model_spec.lua: what is read of a tokenizer's model, by its values: options, merges, scores, and the ids of added
-- tokens.
require("tests.spec.helper")
local json = require("common.json")
local look = require("text.look")
local model = require("text.model")

-- A model from JSON, its added tokens from more; and the warnings and faults.
local function read(text, added)
  local at = look.new("t.json")
  local root = assert(json.decode(('{"model":%s,"added_tokens":%s}'):format(text, added or "[]")))
  local made = model.read(at, root)
  made.added_ids = {}
  return made, model.add(at, root, made), at
end

local function bpe(more, merges)
  return ('{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"##b":3,"abb":4},"merges":%s%s}'):format(merges or '["a b"]',
    more or "")
end

describe("a model", function()
  it("of BPE has its options", function()
    for more, expected in pairs { [""] = 0, [',"fuse_unk":true'] = 1, [',"byte_fallback":true'] = 2,
      [',"ignore_merges":true'] = 4, [',"fuse_unk":true,"ignore_merges":true'] = 5, [',"unk_token":"a"'] = 0,
      [',"unk_token":"z"'] = 8 } do
      assert.equal(expected, read(bpe(more)).options, more)
    end
    assert.equal(0, read(bpe(',"unk_token":"a"')).unknown)
    assert.is_nil(read(bpe(',"unk_token":"z"')).unknown)
    local made = read(bpe(',"end_of_word_suffix":"</w>"'))
    assert.same({ 2, "", "</w>", 5, 4 }, { made.kind, made.prefix, made.suffix, made.count, made.largest })
  end)

  it("of BPE ranks merges in their order; the last of equal ones counts", function()
    local function merges(list, more)
      local made = read(bpe(more, list)).merges
      local lines = {}
      for i = 1, made.count do
        lines[i] = ("%d+%d=%d at %d"):format(made.left[i], made.right[i], made.result[i], made.rank[i])
      end
      return lines
    end
    assert.same({ "0+1=2 at 0", "2+1=4 at 1" }, merges('["a b","ab b"]'))
    assert.same({ "0+1=2 at 0", "2+1=4 at 1" }, merges('["#version: 0.2",["a","b"],["ab","b"]]'))
    assert.same({ "0+1=2 at 2", "2+1=4 at 1" }, merges('["a b","ab b","a b"]'))
    -- A continuation's prefix is left out of what two tokens become.
    assert.same({ "0+3=2 at 0" }, merges('["a ##b"]', ',"continuing_subword_prefix":"##"'))
  end)

  it("of WordPiece has its prefix and its longest word", function()
    local made, _, at = read('{"type":"WordPiece","vocab":{"[UNK]":0,"a":1},"unk_token":"[UNK]",'
      .. '"continuing_subword_prefix":"@@","max_input_chars_per_word":7}')
    assert.same({ 1, 0, "@@", 7, {} }, { made.kind, made.unknown, made.prefix, made.longest_word, at.warnings })
    made, _, at = read('{"vocab":{"a":1},"unk_token":"u","continuing_subword_prefix":"","max_input_chars_per_word":7}')
    assert.same({ 1, 1 }, { made.kind, #at.warnings })
    assert.is_nil(made.unknown)
  end)

  it("of Unigram has the scores that the library reads, and an unknown one 10 below", function()
    local made = read('{"type":"Unigram","unk_id":1,"vocab":[["a",-1.5],["b",-3.25],["c",0]]}')
    assert.same({ 3, 1, -13.25, 0 }, { made.kind, made.unknown, made.unknown_score, made.options })
    assert.same({ -1.5, -3.25, 0.0 }, { made.scores[0], made.scores[1], made.scores[2] })
    assert.equal(2, read('{"type":"Unigram","byte_fallback":true,"vocab":[["a",-1.5]]}').options)
    -- 17 digits divided by a power of ten are not the nearest number.
    assert.equal(-10.413266654746876, read('{"type":"Unigram","vocab":[["a",-10.413266654746877]]}').scores[0])
  end)

  it("gives added tokens the model's own id, or the next that is free", function()
    local function token(content, id, lstrip)
      return ('{"content":"%s","id":%d,"lstrip":%s,"rstrip":false,"single_word":false,"normalized":false,'
        .. '"special":false}'):format(content, id, tostring(lstrip or false))
    end
    local function list(...) return "[" .. table.concat({ ... }, ",") .. "]" end
    local made, added, at = read(bpe(), list(token("b", 1), token("x", 5), token("y", 6)))
    assert.same({}, at.warnings)
    assert.same({ { text = "b", id = 1, flags = 0, path = "added_tokens[0]" },
      { text = "x", id = 5, flags = 0, path = "added_tokens[1]" },
      { text = "y", id = 6, flags = 0, path = "added_tokens[2]" } }, added)
    assert.same({ 6, "y" }, { made.largest, made.tokens[6] })
    made, added, at = read(bpe(), list(token("b", 3), token("x", 17)))
    assert.same({ 1, 5, 2 }, { added[1].id, added[2].id, #at.warnings })
    assert.equal(5, made.largest)
    -- The last of two entries for one token counts.
    added = select(2, read(bpe(), list(token("x", 5), token("x", 5, true))))
    assert.same({ { text = "x", id = 5, flags = 1, path = "added_tokens[1]" } }, added)
  end)

  it("gives each flag of an added token its bit", function()
    for i, name in ipairs { "lstrip", "rstrip", "single_word", "normalized", "special" } do
      local flags = {}
      for _, each in ipairs { "lstrip", "rstrip", "single_word", "normalized", "special" } do
        flags[#flags + 1] = ('"%s":%s'):format(each, tostring(each == name))
      end
      local _, added = read(bpe(), ('[{"content":"x","id":5,%s}]'):format(table.concat(flags, ",")))
      assert.equal(1 << (i - 1), added[1].flags, name)
    end
  end)
end)
