-- slots_spec.lua: hash tables of keys that collide: made with another seed, or refused; never tried for ever.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local faults = require("common.faults")
local from_text = require("tests.text.from_text")
local slots = require("text.slots")
local tables = require("text.tables")
local tokenizer = require("text.tokenizer")
local written = require("tests.spec.text.written")

local SEED = 0x811c9dc5

-- Two blocks of letters that lead from a hash to the same hash, and that hash.
local function pair_from(hash)
  local seen = {}
  for n = 0, 1 << 20 do
    local number, letters = n * 0x9e3779b1 % 26 ^ 6 // 1 | 0, {}
    for i = 1, 6 do letters[i], number = 97 + number % 26, number // 26 end
    local block = string.char(table.unpack(letters))
    local reached = slots.hash(hash, block)
    if seen[reached] then return seen[reached], block, reached end
    seen[reached] = block
  end
end

-- 2^stages texts with the same hash.
local function colliding(stages)
  local list, hash = { "" }, SEED
  for _ = 1, stages do
    local first, second, reached = pair_from(hash)
    local longer = {}
    hash = reached
    for _, text in ipairs(list) do
      longer[#longer + 1] = text .. first
      longer[#longer + 1] = text .. second
    end
    list = longer
  end
  return list
end

describe("a hash table", function()
  it("of keys with one place is refused, however small", function()
    local tried = 0
    local function place()
      tried = tried + 1
      return 7
    end
    assert.is_nil(slots.fill(1000, place, function() return "x" end, "-"))
    assert.is_true(tried < 1000)
    assert.is_string(slots.fill(200, place, function() return "x" end, "-"))
  end)

  it("is made with the first seed that does", function()
    local function make(good) return function(seed) return { 1, seed == good and 2 or nil } end end
    local list, seed = slots.seeded(2, function() return { 1, 2 } end)
    assert.same({ { 1, 2 }, SEED }, { list, seed })
    list, seed = slots.seeded(2, make((SEED + 3 * 0x9e3779b9) & 0xffffffff))
    assert.equal(2, list[2])
    assert.equal((SEED + 3 * 0x9e3779b9) & 0xffffffff, seed)
    assert.is_nil((slots.seeded(2, make(-1))))
  end)
end)

describe("a tokenizer.json", function()
  it("whose tokens have equal hashes finds each of them", function()
    local tokens, vocabulary, cases = colliding(8), { '"[UNK]":0' }, {}
    for i, token in ipairs(tokens) do
      assert.equal(slots.hash(SEED, tokens[1]), slots.hash(SEED, token))
      vocabulary[i + 1] = ('"%s":%d'):format(token, i)
      cases[i] = { text = token, ids = { i }, places = { { 0, #token } } }
    end
    local text = ('{"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",'
      .. '"max_input_chars_per_word":100,"vocab":{%s}}}'):format(table.concat(vocabulary, ","))
    assert.equal("256 cases, 0 failed\n", written.run((from_text(text, "t.json")), cases))
  end)

  it("whose merges have equal hashes makes each of them", function()
    local tokens, vocabulary, merges, cases = {}, {}, {}, {}
    for i = 0, 999 do tokens[i] = utf8.char(0x4e00 + i) end
    for left = 0, 999 do
      for right = 0, 999 do
        if #merges < 256 and slots.of_number(SEED, left << 32 | right) & 2047 == 99 then
          merges[#merges + 1] = tokens[left] .. " " .. tokens[right]
          tokens[#tokens + 1] = tokens[left] .. tokens[right]
          cases[#merges] = { text = tokens[#tokens], ids = { #tokens }, places = { { 0, 2 } } }
        end
      end
    end
    assert.equal(256, #merges)
    for id = 0, #tokens do vocabulary[tokens[id]] = id end
    local text = dkjson.encode { model = { type = "BPE", vocab = vocabulary, merges = merges } }
    assert.equal("256 cases, 0 failed\n", written.run((from_text(text, "t.json")), cases))
  end)

  it("for which no seed is good is refused in one line", function()
    local seeded = slots.seeded
    finally(function() slots.seeded = seeded end)
    slots.seeded = function() return nil end
    local root = { model = { type = "Unigram", unk_id = 0, vocab = { { "a", -1.5 } } } }
    local fault = helper.fault(tokenizer.compile, root, "t.json")
    assert.equal(faults.code.format, fault.code)
    assert.same({ "t.json: model.vocab: too many tokens or merges with the same hash" }, fault.lines)
    assert.is_nil((tables.write({ model = { tokens = {}, ids = {}, largest = -1 } })))
  end)
end)
