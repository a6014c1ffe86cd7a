-- regex_spec.lua: Oniguruma's patterns in PCRE2's dialect: what is written otherwise, and what is refused.
require("tests.spec.helper")
local regex = require("text.regex")

-- The plain pattern, without the code points that PCRE2 lacks, which would fill pages.
local function plain(text) return (regex.convert(text, true)) end

local function refused(text)
  local pattern, problem = regex.convert(text)
  assert.is_nil(pattern)
  return problem
end

describe("patterns", function()
  it("of published tokenizers keep their form", function()
    assert.equal([[\x{27}s| ?\p{L}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})]],
      plain([['s| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)]]))
    assert.equal([[(?i:\x{27}s)|[^\x{d}\x{a}\p{L}]?\p{L}++|\p{N}{1,3}]],
      plain([[(?i:'s)|[^\r\n\p{L}]?\p{L}++|\p{N}{1,3}]]))
    assert.equal("\\p{sc:Han}+", plain("\\p{Han}+"))
  end)

  it("have what PCRE2's tables lack in the exact one", function()
    assert.matches("^%[\\p{L}\\x{1c89}.*\\x{31350}%-\\x{323af}.*%]%+$", (regex.convert("\\p{L}+")))
    assert.equal("\\p{White_Space}", (regex.convert("\\s")))
  end)

  it("repeat what Oniguruma repeats", function()
    assert.equal("(?:a{1,3})+", plain("a{1,3}+"))
    assert.equal("(?:(?:a+))?", plain("(?:a+)?"))
    assert.equal("(?:a{2}){3}", plain("a{2}{3}"))
    assert.equal("a{0,3}", plain("a{,3}"))
    assert.equal("(?:(?:ab))*+", plain("(ab)*+"))
    assert.equal("a{2}", plain("a{2}"))
    assert.equal("a\\x{7b}b", plain("a{b"))
  end)

  it("take hexadecimal digits and code points", function()
    assert.equal("[0-9a-fA-F]\\x{4e00}[\\x{4e00}-\\x{9fff}]", plain("\\h\\u4e00[\\u4e00-\\x{9fff}]"))
  end)

  it("have brackets that hold all that Oniguruma's hold", function()
    assert.equal("[abc]", plain("[a[b[c]]]"))
    assert.equal("[^ab\\x{5b}]+", plain("[^a[b\\[]]+"))
    assert.equal("(?>(?=[a-z])(?>[^ae]))", plain("[a-z&&[^ae]]"))
    assert.equal("(?>(?!(?=[a-z])(?=[b])(?>[c\\x{2d}]))(?s:.))", plain("[^a-z&&b&&c-]"))
    assert.equal("(?>(?=[a\\x{2d}])(?>[a]))", plain("[a-&&a]"))
    assert.equal("(?>[a]|[^b])", plain("[a[^b]]"))
    assert.equal("(?>(?!(?>[a]|[^b]))(?s:.))*", plain("[^a[^b]]*"):gsub("^%(%?:(.*)%)%*$", "%1*"))
    assert.equal("(?>[0-9a-fA-Fx]|[^0-9a-fA-F])", plain("[\\hx\\H]"))
    assert.equal("[\\p{Alphabetic}\\p{Nd}\\x{8}]", plain("[[:alnum:]\\b]"))
    assert.equal("(?>[\\x{3a}a]|[^\\p{Nd}])", plain("[:[:^digit:]a]"))
    assert.equal("[\\P{L}]", plain("[\\P{L}]"))
    assert.matches("^%(%?>%[a%]|%[^\\p{L}\\x{1c89}.*%]%)$", (regex.convert("[a\\P{L}]")))
    assert.matches("^%(%?>%[a%]|%(%?!%[\\x{1171e}.*%]%)%[\\p{Mn}.*%]%)$", (regex.convert("[a\\p{Mn}]")))
    assert.is_truthy(regex.convert("\\w"):find("\\x{b2}", 1, true)) -- as Oniguruma's
    assert.is_nil(regex.convert("[\\w]"):find("\\x{b2}", 1, true))
  end)

  it("have edges of words by Oniguruma's words", function()
    local word = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"
    assert.equal(("(?:(?<=w)(?!w)|(?<!w)(?=w))a"):gsub("w", function() return word end), plain("\\ba"))
    assert.equal(("(?:(?<=w)(?=w)|(?<!w)(?!w))"):gsub("w", function() return word end), plain("\\B"))
    assert.equal("a quantifier of nothing", refused("\\b+"))
    assert.equal("[^0-9a-fA-F](?s:.)[^\\x{a}]", plain("\\H\\O\\N"))
  end)

  it("that are not understood are refused by what they hold", function()
    for _, escape in ipairs { "\\X", "\\K", "\\G", "\\y", "\\1" } do assert.equal(escape, refused(escape .. "foo")) end
    assert.equal("\\p{Foo}", refused("\\p{Foo}"))
    for _, text in ipairs { "[]", "[^]", "[a&&]", "[&&a]", "[a[]]" } do
      assert.equal("empty brackets", refused(text))
    end
    for _, text in ipairs { "[a", "[a[b]", "[a[b]&&" } do assert.equal("brackets without an end", refused(text)) end
    assert.equal("[:punct:]", refused("[[:punct:]]"))
    assert.equal("a malformed range", refused("[a-[b]]"))
    assert.equal("a malformed range", refused("[a-\\d]"))
    assert.equal("a range from a property", refused("[[a]-z]"))
    assert.equal("ignoring the case of &&", refused("(?i:[a&&b])"))
    assert.equal("ignoring the case of brackets in brackets", refused("(?i:[a[^b]])"))
    assert.equal("letters that fold into one", refused("(?i:ss)"))
    for _, half in ipairs { "\\x{d800}", "\\x{dfff}", "\\udc00", "\\x{110000}" } do
      assert.equal(half, refused(half))
    end
    assert.equal("ignoring the case of non-ASCII letters", refused("(?i:é)"))
    assert.equal("a group without an end", refused("(a"))
    assert.equal(")", refused("a)"))
    assert.equal("a quantifier of nothing", refused("+"))
    assert.equal("(?x", refused("(?x)a"):sub(1, 3))
    assert.equal("more than 10,000 bytes", refused(("a"):rep(10001)))
    assert.equal("groups too deep in each other", refused(("("):rep(60) .. "a" .. (")"):rep(60)))
    assert.equal("groups too deep in each other", refused(("["):rep(60) .. "a" .. ("]"):rep(60)))
  end)
end)
