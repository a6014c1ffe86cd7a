-- json_spec: JSON of strangers: what it means, and everything that it may not be.
require("tests.spec.helper")
local json = require("common.json")

describe("JSON", function()
  it("is what it says", function()
    local value = json.decode('{"a": [1, -2.5, 1e-12, true, false, null], '
      .. '"b": {"c": "x\\u00e9\\n\\"/"}, "d": {}}', json.null)
    assert.same({ 1, -2.5, 1e-12, true, false, json.null }, value.a)
    assert.equal("xé\n\"/", value.b.c)
    assert.same({ "😀", "\u{10FFFF}x" }, json.decode('["\\ud83d\\ude00", "\\uDBFF\\uDFFFx"]'))
    assert.equal("integer", math.type(value.a[1]))
    assert.equal(7, json.decode(" 7 "))
    assert.same({ a = 1 }, json.decode('{"a": 1, "b": null}'))
    assert.same({ a = 1, b = 20, c = { "x", "y", 3 }, d = 4.5 },
      json.decode('{"a": 1, "b" :20 , "c":["x" ,"y", 3], "d":4.5}'))
  end)

  it("knows what a value was", function()
    assert.same({ "object", "array", "number" }, { json.kind(json.decode("{}")), json.kind(json.decode("[]")),
      json.kind(json.decode("1")) })
  end)

  local refused = {
    [""] = "a value is expected", ["\xef\xbb\xbf{}"] = "begins with a byte order mark",
    ["{"] = "a string is expected", ['{"a"}'] = "':' is expected",
    ['{"a":1,}'] = "a string is expected", ["[1,2,]"] = "a value is expected", ['{"a":1} x'] = "nothing more",
    ["[01]"] = "a malformed number", ["[1.]"] = "a malformed number", ["[.5]"] = "a value is expected",
    ["[+1]"] = "a value is expected", ["[1e]"] = "a malformed number", ["[NaN]"] = "a value is expected",
    ["[1 /* c */]"] = "',' or ']' is expected", ['["\\x"]'] = "an unknown escape", ['["a\nb"]'] = "a control character",
    ['["abc]'] = "a string does not end", ["['a']"] = "a value is expected", ["[truex]"] = "',' or ']' is expected",
    ['{"a":1,"a":2}'] = 'the key "a" occurs twice', ['{"a":1,"\\u0061":2}'] = 'the key "a" occurs twice',
    ['{"x":{"b":1,"b":1}}'] = 'the key "b" occurs twice', ["\255"] = "is not UTF-8",
    ["null"] = "null, where a value is expected", ['{"a":1,"b":2,"b":3}'] = 'the key "b" occurs twice',
    ['{"a":1,"b":02}'] = "a malformed number", ['{"a":1,"b":2x}'] = "a malformed number",
    ['["a","b" "c"]'] = "',' or ']' is expected", ['["\\u12"]'] = "an unknown escape",
    ['["a\\ud800b"]'] = "byte 4: \\ud800 is a surrogate without its other half",
    ['{"\\uDC00":1}'] = "byte 3: \\uDC00 is a surrogate without its other half",
    ['["\\ud800\\u0041"]'] = "a surrogate without its other half",
    ['["\\ud800\\ud800"]'] = "a surrogate without its other half",
    [("["):rep(65)] = "nests deeper than 64 levels", [("["):rep(1000000)] = "nests deeper than 64 levels",
  }
  for text, what in pairs(refused) do
    it("refuses " .. text:sub(1, 30):gsub("%c", "?"), function()
      local value, message = json.decode(text)
      assert.is_nil(value)
      assert.is_truthy(message:find(what, 1, true), message)
    end)
  end

  it("has words for a value in a message", function()
    local values = json.decode('[null, true, 1.5, "a\\u001b", [], {}, [1], {"a": 1}]', json.null)
    local words = {}
    for i = 1, 8 do words[i] = json.shown(values[i]) end
    assert.same({ "null", "true", "1.5", '"a?"', "an array", "an object", "an array", "an object" }, words)
  end)

  it("of a megabyte takes a moment, however it is made", function()
    local clock = os.clock()
    for _, text in ipairs { '["' .. ("\\n"):rep(500000) .. '"]', "[" .. ("1,"):rep(300000) .. "1]",
      (" "):rep(1000000) .. "1", "[" .. ('"a",'):rep(200000) .. "1]" } do
      assert.is_truthy(json.decode(text))
    end
    assert.is_true(os.clock() - clock < 8)
  end)
end)
