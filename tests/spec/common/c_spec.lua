-- c_spec: values as C: literals, comments, floats, and operands as expressions.
require("tests.spec.helper")
local c = require("common.c")

describe("c.string", function()
  it("leaves plain text alone", function()
    assert.equal('"l0.attn.q [2, 17]"', c.string("l0.attn.q [2, 17]"))
  end)

  it("escapes quotes, backslashes, newlines, trigraphs and bytes beyond ASCII as octal of three digits", function()
    assert.equal([["a\042b"]], c.string('a"b'))
    assert.equal([["a\134n"]], c.string("a\\n"))
    assert.equal([["\0121"]], c.string("\n1"))
    assert.equal([["\077\077/"]], c.string("??/"))
    assert.equal([["\302\267"]], c.string("·"))
    assert.equal([["\000"]], c.string("\0"))
  end)

  it("escapes every byte so that C reads it back", function()
    for byte = 0, 255 do
      local inner = c.string(string.char(byte)):match('^"(.*)"$')
      local octal = inner:match("^\\(%d%d%d)$")
      assert.equal(byte, octal and tonumber(octal, 8) or inner:byte())
      if not octal then assert.is_truthy(inner:match('^[^"\\?%c\128-\255]$')) end
    end
  end)
end)

describe("c.comment", function()
  it("cannot be ended or begun from within", function()
    for _, text in ipairs { "*/", "a*/b", "*/*/", "/*", "/*/", "*/*", "**//", "/**/" } do
      local inner = c.comment(text)
      assert.is_nil(inner:find("*/", 1, true), text)
      assert.is_nil(inner:find("/*", 1, true), text)
    end
    assert.equal("a* /b", c.comment("a*/b"))
  end)

  it("stays on its line", function()
    assert.equal("a?b?c?", c.comment("a\nb\rc\\"))
  end)
end)

describe("c.double", function()
  it("reads back exactly", function()
    for _, value in ipairs { 0.1, 1 / 3, 1e-12, 1e300, 123456789.125, 5e-324, -2.5 } do
      assert.equal(value, tonumber(c.double(value)))
    end
  end)

  it("is a double, never an integer", function()
    assert.equal("3.0", c.double(3))
    assert.equal("3.0", c.double(3.0))
    assert.equal("1e+20", c.double(1e20))
  end)
end)

describe("operands", function()
  local function pointer(offset, unit, terms, cast)
    return c.pointer({ buffer = "t", terms = terms }, "a", offset, unit or 4, cast)
  end

  it("are the base, then the offset as one literal, in elements of the pointer", function()
    assert.equal("a + 69", pointer(276))
    assert.equal("a + 35", pointer(70, 2))
    assert.equal("a", pointer(0))
    assert.equal("(const int8_t *)w + 70", c.pointer({ class = "weight" }, "w", 70, 4, { type = "int8_t", bytes = 1 }))
  end)

  it("are whole elements", function()
    assert.has_error(function() pointer(6) end)
    assert.has_error(function() pointer(5, 4, nil, { type = "uint16_t", bytes = 2 }) end)
  end)

  it("add a stride times each symbol, s before b, and no factor 1", function()
    assert.equal("a + 64 + s * 128 + b * 32", pointer(256, 4, { b = 128, s = 512 }))
    assert.equal("a + s", pointer(0, 4, { s = 4 }))
  end)

  it("multiply the sum of symbols with the same stride, where the first of them comes", function()
    assert.equal("a + (first + query) * 48 + keys * 2", pointer(0, 4, { first = 192, keys = 8, query = 192 }))
    assert.equal("a - (first + query) * 48 + keys * 48", pointer(0, 4, { first = -192, keys = 192, query = -192 }))
    assert.equal("a + first + query", pointer(0, 4, { first = 4, query = 4 }))
    assert.equal("a - (first + query)", pointer(0, 4, { first = -4, query = -4 }))
  end)

  it("that are values are literals or elements, with what is added", function()
    assert.equal("12", c.value({ value = 12 }))
    assert.equal("keys - 1", c.value({ symbol = "keys", plus = -1 }))
    local function at(offset, plus, terms)
      return c.value({ offset = offset, plus = plus, terms = terms }, "in->ids", 4)
    end
    assert.equal("in->ids[0]", at(0, 0))
    assert.equal("in->ids[3] - 16", at(12, -16))
    assert.equal("in->ids[s + b] + 2", at(0, 2, { s = 4, b = 4 }))
  end)
end)
