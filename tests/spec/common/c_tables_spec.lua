-- c_tables_spec.lua: the tables that headers of the runtime have are read.
local helper = require("tests.spec.helper")
local c_tables = require("common.c_tables")
local chat = require("text.chat.numbers")
local numbers = require("text.numbers")

describe("a header of the runtime", function()
  it("gives its enumerations, with the numbers that C counts", function()
    local list = c_tables.enums("text/numbers.h")
    assert.same({ { name = "MODEL_WORDPIECE", value = 1 }, { name = "MODEL_BPE", value = 2 },
      { name = "MODEL_UNIGRAM", value = 3 } }, list[3])
    assert.same({ fuse_unknown = 1, byte_fallback = 2, ignore_merges = 4, needs_unknown = 8, library = 16, codes = 32,
      split_special = 64 }, numbers.OPTION)
    assert.same({ "characters", "pattern", "bytes", "metaspace" }, numbers.names.CUT)
    assert.equal(8, numbers.CUT.invert)
  end)

  it("gives the numbers that it defines", function()
    assert.equal(4, numbers.VERSION)
    assert.equal(0xffffffff, numbers.NONE)
  end)

  it("gives the members of its structures, with their comments", function()
    local list = c_tables.members("text/text.h", "attn2c_text_place")
    assert.same({ "  uint32_t byte_begin, byte_end, begin, end;" }, list)
    assert.equal("  int32_t mirostat;", c_tables.members("generate/sampling.h", "attn2c_sampling")[23]:match("^[^;]*;"))
  end)

  it("gives the rows of its macros", function()
    assert.same({ number = 3, name = "default", parameters = { { name = "default_value", is_required = false },
      { name = "boolean", is_required = false } } }, chat.filter.default)
    assert.same({ "ABS", "abs", "0", "" }, c_tables.rows("chat/chat_numbers.h", "CHAT_FILTER_ROWS")[1])
    assert.equal(27, #chat.methods)
  end)

  it("has the same numbers for the compiler of C", function()
    local code = '#include "text/numbers.h"\n#include "chat/chat_numbers.h"\n'
    for name, value in pairs { SECTION_COUNT = #numbers.names.SECTION, CUT_INVERT = numbers.CUT.invert,
      TEXT_NONE = numbers.NONE, CHAT_STEPS = chat.step.stop + 1, CHAT_IS_NOT_IN = chat.comparison.not_in,
      CHAT_FILTERS = #chat.filters, CHAT_TEST_UPPER = chat.test.upper.number, CHAT_METHODS = #chat.methods } do
      code = code .. ('_Static_assert(%s == %d, "%s");\n'):format(name, value, name)
    end
    helper.succeeds(("printf '%%s' %s | cc -x c -std=c11 -iquote %s/runtime -o /dev/null - -fsyntax-only"):format(
      helper.shell(code), helper.absolute_root()))
  end)
end)
