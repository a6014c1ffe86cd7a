-- python_spec: runtime/python, whose files stand alone, and the one module that is made of them.
local helper = require("tests.spec.helper")
local emit_python = require("passes.emit.python")

local root = helper.absolute_root()

describe("files of Python", function()
  teardown(helper.clean)

  it("do by themselves what a module needs, without a library", function()
    helper.succeeds("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=runtime/python:tests/bindings /usr/bin/python3 -W error "
      .. "tests/python/parts.py", root)
  end)

  it("satisfy a strict checker of types alone", function()
    assert.matches("^Success: no issues found in [1-9]%d* source files\n$",
      helper.succeeds(("mypy --strict --cache-dir %s *.py"):format(helper.shell(helper.mypy_cache)),
        root .. "/runtime/python"))
  end)

  it("become one module, which has all of them and needs no other", function()
    local folder = helper.folder()
    helper.write(folder .. "/" .. emit_python.name .. ".py", emit_python.join(root))
    local said = helper.succeeds(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s /usr/bin/python3 -W error -c "
      .. "'import %s as own; print(own._Generating, own._ChatLibrary, own._PictureModel, own._opens_on_ranks)'")
      :format(helper.shell(folder), emit_python.name), root)
    assert.matches("_Generating.*_ChatLibrary.*_PictureModel.*_opens_on_ranks", said)
    assert.matches("^Success", helper.succeeds(("mypy --strict --cache-dir %s %s.py")
      :format(helper.shell(helper.mypy_cache), emit_python.name), folder))
    assert.has_error(function() emit_python.join(helper.folder()) end, "runtime/python/values.py is missing")
  end)

  it("are shared by models, whose own modules are tables of at most 100 lines", function()
    local tokens = { mask = "padding", input = { stage = "tokens", vocab = 9 } }
    local function of(more, name) return helper.emitted(helper.tiny(more), name .. ".py") end
    assert.equal(of({}, emit_python.name), of(tokens, emit_python.name))
    for _, more in ipairs { {}, tokens } do
      local own = of(more, "tiny")
      assert.truthy(select(2, own:gsub("\n", "")) <= 100, own)
    end
  end)
end)
