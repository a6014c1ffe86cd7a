-- template_spec: the template engine: text, values, lines of Lua, and that it is strict.
local helper = require("tests.spec.helper")
local template = require("common.template")

local function fill(text, values) return template.compile(text, "test.in")(values or {}) end

describe("template", function()
  it("keeps text as it is", function()
    local text = 'int x = 1; /* "quoted" \\n % %d */\n\n  @ not Lua\n$ {x} $x\n'
    assert.equal(text, fill(text))
  end)

  it("puts values in", function()
    assert.equal("a3b\n", fill("a${n}b\n", { n = 3 }))
    assert.equal("xy\n", fill("${p}${q}\n", { p = "x", q = "y" }))
    assert.equal("8\n", fill("${list[2] * 2}\n", { list = { 1, 4 } }))
  end)

  it("does not read values as templates", function()
    assert.equal("${n}\n@x\n", fill("${v}\n", { v = "${n}\n@x" }))
  end)

  it("runs lines that begin with @", function()
    assert.equal("- 1\n- 2\n", fill("@for _, i in ipairs(list) do\n- ${i}\n@end\n", { list = { 1, 2 } }))
    assert.equal("no\n", fill("@if yes then\nyes\n@else\nno\n@end\n", { yes = false }))
  end)

  it("takes a text of one line after the line of Lua", function()
    assert.equal("- 1\n- 2\n", fill("@for _, i in ipairs(list) do |- ${i}\n", { list = { 1, 2 } }))
    assert.equal("  a | b then |\nend\n",
      fill("@if yes then |  a | b then |\n@if not yes then |no\nend\n", { yes = true }))
    assert.matches("test.in:2:", helper.defect(fill, "one\n@if t then |${t.x.y}\n", { t = {} }))
  end)

  it("refuses unknown names, nil, floats, tables and booleans", function()
    assert.matches("test.in: no value for missing", helper.defect(fill, "${missing}\n"))
    assert.matches("a value is a float", helper.defect(fill, "${n / 8}\n", { n = 512 }))
    assert.matches("a value is a table", helper.defect(fill, "${t}\n", { t = {} }))
    assert.matches("a value is a nil", helper.defect(fill, "${t.x}\n", { t = {} }))
    assert.matches("a value is a boolean", helper.defect(fill, "${t}\n", { t = true }))
  end)

  it("sets no globals and has no library", function()
    assert.matches("sets no globals", helper.defect(fill, "@x = 1\n"))
    assert.matches("no value for os", helper.defect(fill, "@os.exit()\n"))
  end)

  it("names the template's own line in an error", function()
    assert.matches("test.in:3:", helper.defect(fill, "one\n@for _, i in ipairs(list) do\n${i.x.y}\n@end\n",
      { list = { {} } }))
    assert.matches("test.in:2:", helper.defect(fill, "one\n@end\n"))
  end)

  it("opens the repository's templates", function()
    local text = template.open(helper.root, "model.pc.in") {
      pcfiledir = "${pcfiledir}", name = "n", generator = "1", target = "avx2", more_libraries = "" }
    assert.matches("^prefix=%${pcfiledir}\nName: n\n", text)
    assert.matches("No such file", (helper.defect(template.open, helper.root, "not_there.in")))
  end)
end)
