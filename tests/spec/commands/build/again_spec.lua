-- again_spec: the line that repeats a build is a shell's, whatever the names, and takes the words that were given.
local helper = require("tests.spec.helper")
local again = require("commands.build.again")
local words = require("common.words")

local function line(arguments, environment, used)
  arguments.overrides = arguments.overrides or {}
  return again.line(arguments, used or {}, "avx2", function(name) return (environment or {})[name] end)
end

describe("the line that repeats a build", function()
  after_each(helper.clean)

  it("has the names of files without their folders, and the target that host stood for", function()
    assert.equal("attn2c build a.lua target=avx2", line { description = "/some/where/a.lua" })
    assert.equal("attn2c build mini seq=8 target=avx2 --embed=f16 --static", line { description = "x/mini/",
      overrides = { "target=host", "seq=8" }, embed = "f16", static = true, output = "elsewhere" })
    assert.equal("attn2c build mini target=avx2 --libraries", line { description = "mini", libraries = true })
    assert.equal("attn2c build . target=avx2", line { description = "." })
    assert.equal("attn2c build a target=avx2 --embed=w.safetensors", line { description = "a",
      embed = "/u/w.safetensors" })
    assert.equal("attn2c build a target=avx2 --embed=f32 --weights=w", line { description = "a", embed = "f32",
      weights = "../w" })
    assert.equal("attn2c build a target=avx2 --chat-template=c.jinja", line { description = "a",
      chat_template = "/u/c.jinja" })
    assert.equal("attn2c build a target=avx2 --chat-template=none", line { description = "a", chat_template = "none" })
  end)

  it("keeps apart what the command would take for an option or a form", function()
    assert.equal("attn2c build ./-a target=avx2 --embed=./f32", line { description = "x/-a", embed = "./f32" })
  end)

  it("has the files of tuning and factors that were used, and none where others were asked for in vain", function()
    assert.equal("attn2c build a.lua target=avx2 --tuning=a.tune --factors=a.factors",
      line({ description = "a.lua" }, {}, { tuning = "b/a.tune", factors = "b/a.factors" }))
    assert.equal("attn2c build a.lua target=avx2 --tuning=none --factors=none",
      line { description = "a.lua", tuning = "b.tune", factors = "none" })
  end)

  it("has the server", function()
    assert.equal("attn2c build a target=avx2 --serve", line({ description = "a", serve = true }))
  end)

  it("has the compiler and its flags", function()
    assert.equal("CC='gcc -m64' ATTN2C_CFLAGS='-O0 -DX='\\''y'\\''' attn2c build a target=avx2",
      line({ description = "a" }, { CC = "gcc -m64", ATTN2C_CFLAGS = "-O0 -DX='y'", ATTN2C_LDFLAGS = "" }))
  end)
end)

describe("a word of a shell", function()
  after_each(helper.clean)

  it("is what it was, whatever its bytes, and the line is of ASCII alone", function()
    for _, text in ipairs { "", "plain", "a b", "it's", "$(touch x)", "`x`", "a\nb", "\27[31m", "ü\xFF", "\\",
      "a\\'b\1", "*", "~", "#x", "a;b", "{a,b}", "!x", "\0271" } do
      local quoted = words.shell(text)
      assert.is_nil(quoted:find("[^ -~]"))
      local script = helper.file("printf %s " .. quoted .. "\n", "script")
      assert.equal(text, helper.succeeds("bash " .. helper.shell(script)))
    end
  end)
end)
