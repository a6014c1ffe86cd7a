-- reserved_python_spec: names that Python has taken: none of this machine's is missing, and parameters stay apart.
require("tests.spec.helper") -- finds the modules of gen
local reserved = require("data.reserved")
local reserved_python = require("data.reserved_python")

local function words_of(program)
  local list, handle = {}, assert(io.popen("/usr/bin/python3 -c '" .. program .. "'"))
  for word in handle:read("a"):gmatch("%S+") do
    if word:match("^[a-z][a-z0-9_]*$") then list[#list + 1] = word end
  end
  assert(handle:close())
  assert.is_true(#list > 30)
  return list
end

describe("reserved words of Python", function()
  it("are all its keywords, which become parameters with an underscore", function()
    for _, word in ipairs(words_of('import keyword; print(" ".join(keyword.kwlist))')) do
      assert.equal(word .. "_", reserved_python.parameter(word))
      assert.equal(word .. "_", reserved_python.module(word))
    end
  end)

  it("are all modules of its library, for the name of a model's module", function()
    for _, word in ipairs(words_of('import sys; print(" ".join(sys.stdlib_module_names))')) do
      assert.equal(word .. "_", reserved_python.module(word))
    end
    assert.equal("numpy_", reserved_python.module("numpy"))
    assert.equal("speaker", reserved_python.module("speaker"))
  end)

  it("give each name a parameter of its own, which is the member where that is C's", function()
    local seen = {}
    for _, word in ipairs { "lambda", "self", "out", "double", "ids" } do
      for i = 0, 3 do
        local name = word .. ("_"):rep(i)
        local parameter = reserved_python.parameter(name)
        assert.is_nil(seen[parameter], parameter)
        seen[parameter] = true
      end
    end
    assert.equal("out_", reserved_python.parameter("out"))
    assert.equal("self_", reserved_python.parameter("self"))
    assert.equal("ids", reserved_python.parameter("ids"))
    for word in pairs(reserved.keywords) do
      assert.equal(reserved.member(word), reserved_python.parameter(word))
    end
  end)
end)
