-- included_spec: the headers of a model that each of its files includes.
local helper = require("tests.spec.helper")
local included = require("commands.build.included")

local function texts_of(more)
  local texts = {}
  for _, file in ipairs(helper.tiny(more).files) do texts[file.name] = file.text end
  return texts
end

describe("the headers that a file includes", function()
  it("are those that it names and those that they include, each once, also in a circle", function()
    local texts = { ["m.c"] = '#include "b.h"\n#  include "a.h"\n#include <x.h>\n', ["a.h"] = '#include "c.h"\n',
      ["b.h"] = '#include "a.h"\n#include "base/runtime.h"\n', ["c.h"] = '#include"b.h"\n', ["x.h"] = "", ["n.c"] = "" }
    assert.same({ "a.h", "b.h", "c.h" }, included.by("m.c", texts))
    assert.same({}, included.by("n.c", texts))
  end)

  it("are all that a compiler finds in a model's folder", function()
    local folder = helper.folder()
    local texts = texts_of { target = "x86_64" }
    for name, text in pairs(texts) do helper.write(folder .. "/" .. name, text) end
    for name in pairs(texts) do
      if name:match("%.c$") then
        local said = helper.succeeds(("cc -std=c11 -iquote %s -MM -MG %s"):format(
          helper.shell(helper.absolute_root() .. "/runtime"), name), folder)
        local list = {}
        for word in said:gmatch("%S+%.h") do if texts[word] then list[#list + 1] = word end end
        table.sort(list)
        assert.same(list, included.by(name, texts), name)
      end
    end
    helper.clean()
  end)

  it("are the same for any number of workers where kernels and operations are", function()
    local function with(threads)
      return texts_of { threads = threads, plan = { least_phase = 0, least_team = 0 } }
    end
    local one, three = with(1), with(3)
    for _, name in ipairs { "tiny_kernels.c", "tiny_ops.c" } do
      assert.same({ "tiny_ops.h" }, included.by(name, one))
      assert.equal(one[name] .. one["tiny_ops.h"], three[name] .. three["tiny_ops.h"])
    end
    assert.is_true(one["tiny.h"] ~= three["tiny.h"])
  end)
end)
