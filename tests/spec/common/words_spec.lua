-- words_spec: the helpers on strings and lists: the nearest word, sorted keys, thousands,
-- shapes and rounding.
require("tests.spec.helper")
local words = require("common.words")

describe("words", function()
  it("finds the nearest candidate by a change in three letters", function()
    assert.equal("causal", words.nearest("casual", { "window", "causal", "padding" }))
    assert.equal("show", words.nearest("sohw", { "show" })) -- neighbours change places
    assert.is_nil(words.nearest("lora", { "norm" }))
    assert.equal("heads", words.nearest("head", { "seq", "heads" }))
    assert.equal("heads", words.nearest("heeds", { "heads" }))
    assert.is_nil(words.nearest("xyzzy", { "seq", "batch" }))
    assert.is_nil(words.nearest("ab", { "wxyz" }))
    assert.is_nil(words.nearest("seq", {}))
  end)

  it("takes the first of equally near candidates", function()
    assert.equal("bat", words.nearest("cat", { "bat", "hat" }))
    assert.equal("hat", words.nearest("cat", { "hat", "bat" }))
  end)

  it("looks at no more than 64 bytes of a word", function()
    assert.is_nil(words.nearest(("x"):rep(1000000), { "seq" }))
  end)

  it("maps a list, and leaves out what has no result", function()
    local function flag(word) return word:match("^%-L(.+)") end
    assert.same({ "a", "b" }, words.map({ "-z", "-La", "-x", "-y", "-Lb" }, flag))
    assert.same({}, words.map({}, flag))
    assert.same({ "b1", "a2" }, words.map({ "b", "a" }, function(word, i) return word .. i end))
  end)

  it("asks all members of a list, sums them and finds the most", function()
    local function half(n) return n / 2 end
    local function is_even(n) return n % 2 == 0 end
    assert.same({ true, false, true }, { words.all({ 2, 4 }, is_even), words.all({ 2, 3 }, is_even),
      words.all({}, is_even) })
    assert.same({ 0, 6, 3 }, { words.sum {}, words.sum { 1, 2, 3 }, words.sum({ 1, 2, 3 }, half) })
    assert.same({ 0, 3, 1.5 }, { words.most {}, words.most { 1, 3, 2 }, words.most({ 1, 3, 2 }, half) })
  end)

  it("takes a text apart, and collects members by a key", function()
    assert.same({ "a,b", "c" }, words.list(" a,b  c "))
    assert.same({ "a", "b  c" }, words.list("a,b  c", "[^,]+"))
    local lists = {}
    for _, word in ipairs { "bat", "ape", "bee" } do words.add(lists, word:sub(1, 1), word) end
    assert.same({ a = { "ape" }, b = { "bat", "bee" } }, lists)
  end)

  it("leaves members out of a list", function()
    assert.same({ "a", "c" }, words.without({ "a", "b", "c" }, { b = true, d = true }))
    assert.same({}, words.without({ "b", "b" }, { b = true }))
  end)

  it("joins lists and tables, of which some may be missing", function()
    local list, more = { 1 }, { 3, 4 }
    assert.equal(list, words.append(list, nil, { 2 }, more))
    assert.same({ { 1, 2, 3, 4 }, { 3, 4 } }, { list, more })
    assert.same({ a = 1, b = 3, c = false }, words.merged({ a = 1, b = 2 }, nil, { b = 3, c = false }))
  end)

  it("counts", function()
    assert.same({ "0 lines", "1 line", "12 lines" }, { words.count(0, "line"), words.count(1, "line"),
      words.count(12, "line") })
  end)

  it("sorts keys: numbers by value, then strings by text", function()
    assert.same({ "a", "b", "c" }, words.sorted_keys { c = 1, a = 2, b = 3 })
    assert.same({ 2, 9, 10 }, words.sorted_keys { [10] = 1, [9] = 1, [2] = 1 })
    assert.same({ 9, 10, "10", "5", "9" }, words.sorted_keys { [10] = 1, ["5"] = 1, [9] = 1, ["10"] = 1, ["9"] = 1 })
    assert.same({ true, 1, "1" }, words.sorted_keys { [1] = 1, ["1"] = 1, [true] = 1 })
  end)

  it("sorts keys of mixed types the same whatever order they came in", function()
    local expected
    for seed = 1, 50 do
      math.randomseed(seed)
      local pool, t = {}, {}
      for i = 1, 30 do pool[#pool + 1], pool[#pool + 2] = i, tostring(i) end
      while #pool > 0 do t[table.remove(pool, math.random(#pool))] = true end
      local got = words.sorted_keys(t)
      expected = expected or got
      assert.same(expected, got)
    end
  end)

  it("writes thousands", function()
    for n, text in pairs { [0] = "0", [7] = "7", [999] = "999", [1000] = "1,000", [123456] = "123,456",
      [1234567] = "1,234,567", [-1000] = "-1,000", [-999] = "-999" } do
      assert.equal(text, words.thousands(n))
    end
    assert.equal("1.5", words.thousands(1.5))
  end)

  it("writes shapes", function()
    assert.equal("[2, 17, 60]", words.shape { 2, 17, 60 })
    assert.equal("[]", words.shape {})
  end)

  it("rounds up to a multiple", function()
    assert.same({ 0, 16, 16, 32 }, { words.round_up(0, 16), words.round_up(1, 16), words.round_up(16, 16),
      words.round_up(17, 16) })
  end)

  it("takes bytes off the end, in time that grows with the text", function()
    assert.equal(" a b", words.without_end(" a b \t ", " \t"))
    assert.equal("", words.without_end("  ", " "))
    assert.equal("", words.without_end("", " "))
    local text = (" "):rep(4000000) .. "b"
    assert.equal(text, words.without_end(text .. (" "):rep(4000000), " "))
  end)

  it("makes sets", function()
    assert.same({ a = true, b = true }, words.set { "a", "b" })
  end)
end)
