-- python_spec: runtime/python, whose files stand alone, and the one module that is made of them.
local helper = require("tests.spec.helper")
local emit_python = require("passes.emit.python")
local files = require("common.files")

local root = helper.absolute_root()

-- Writes files below a folder's runtime/python. Returns the folder.
local function folder_of(texts)
  local folder = helper.folder()
  files.make_folder(folder .. "/runtime/python")
  for name, text in pairs(texts) do helper.write(("%s/runtime/python/%s.py"):format(folder, name), text) end
  return folder
end

describe("files of Python", function()
  teardown(helper.clean)

  it("do alone what a module needs, without a library", function()
    helper.succeeds("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=runtime/python:tests/bindings /usr/bin/python3 -W error "
      .. "tests/python/parts.py", root)
  end)

  it("satisfy a strict checker of types alone", function()
    assert.matches("^Success: no issues found in [1-9]%d* source files\n$",
      helper.succeeds(("mypy --strict --cache-dir %s *.py"):format(helper.shell(helper.mypy_cache)),
        root .. "/runtime/python"))
  end)

  it("become one text, with each import once and none of each other", function()
    local folder = folder_of {
      a = "# a.py: is one.\nfrom __future__ import annotations\n\nimport os\nfrom typing import B, A\n\n"
        .. "import numpy as np\n\nx = 1\n",
      b = "# b.py: is two.\n\nimport ctypes\nfrom typing import A, C\n\nfrom a import x\n\n\ndef y():\n"
        .. "    import os\n    return x\n" }
    local imports, code = emit_python.join(folder, { "a", "b" }, "from numpy.typing import D\nimport os\n")
    assert.equal("from __future__ import annotations\n\nimport ctypes\nimport os\nfrom typing import A, B, C\n\n"
      .. "import numpy as np\nfrom numpy.typing import D", imports)
    assert.equal("# runtime/python/a.py\n\nx = 1\n\n\n# runtime/python/b.py\n\n"
      .. "def y():\n    import os\n    return x\n", code)
  end)

  it("have imports that one line says", function()
    for _, line in ipairs { "from a import (b,\n  c)", "import a as b", "from a import b as c", "import a\\" } do
      assert.has_error(function() emit_python.join(folder_of { a = line .. "\n" }, { "a" }, "") end,
        "runtime/python/a.py: an import has one line and no other name")
    end
    assert.has_error(function() emit_python.join(helper.folder(), { "a" }, "") end, "runtime/python/a.py is missing")
  end)

  it("are in a module only if the model needs them", function()
    local tokens = { input = { stage = "tokens", vocab = 9 } }
    local function parts_of(more)
      local list = {}
      for name in helper.emitted(helper.tiny(more), "tiny.py"):gmatch("\n# runtime/python/(%w+)%.py\n") do
        list[#list + 1] = name
      end
      return table.concat(list, " ")
    end
    assert.equal("values calls library", parts_of {})
    assert.equal("values calls library", parts_of(tokens))
    tokens.mask = "padding"
    assert.equal("values calls masks library", parts_of(tokens))
  end)
end)
