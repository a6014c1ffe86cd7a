-- hash_spec: names and contents of texts.
local helper = require("tests.spec.helper")
local hash = require("common.hash")

describe("hashes", function()
  teardown(helper.clean)

  it("are FNV-1a and SHA-256", function()
    assert.equal("cbf29ce484222325", hash.text(""))
    assert.equal("85944171f73967e8", hash.text("foobar"))
    assert.equal("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", hash.content("abc"))
  end)

  it("of files are those of their contents", function()
    for _, text in ipairs { "", "abc", ("x"):rep((1 << 20) + 7) } do
      assert.equal(hash.content(text), hash.file(helper.file(text)))
    end
    assert.is_nil(hash.file(helper.folder()))
    assert.is_nil(hash.file("no such file"))
  end)

  it("tell lists apart however they are cut", function()
    local seen = {}
    for _, list in ipairs { {}, { "" }, { "", "" }, { "ab" }, { "a", "b" }, { "b", "a" }, { "ab", "" } } do
      local h = hash.list(list)
      assert.is_nil(seen[h])
      seen[h] = true
    end
  end)
end)
