-- golden_spec: the stage dumps of seven small models, and the emitted C of five, are what they were.
-- Where a change is meant, `make golden` writes them anew, and the difference is reviewed.
local helper = require("tests.spec.helper")
local files = require("common.files")
local golden = dofile(helper.root .. "/tests/golden/regenerate.lua")

describe("goldens", function()
  for _, model in ipairs(golden.models) do
    it("of " .. model .. " are unchanged", function()
      for _, each in ipairs(golden.make(model)) do
        local kept = files.read(golden.folder .. "/" .. each.name)
        assert.is_string(kept, each.name .. " is missing")
        helper.same_text(kept, each.text, "tests/golden/" .. each.name)
      end
    end)
  end

  it("of models that use no option of attention are byte for byte what they were before there were any", function()
    local plain = dofile(helper.root .. "/tests/golden/plain.lua")
    helper.same_text(files.read(plain.file), plain.make(), "tests/golden/plain.txt")
  end)

  it("are small, and none is left over", function()
    local expected, bytes = { ["plain.txt"] = true }, 0
    for _, model in ipairs(golden.models) do
      for _, each in ipairs(golden.make(model)) do expected[each.name] = true end
    end
    for name in require("lfs").dir(golden.folder) do
      if name:match("%.txt$") then
        assert.is_true(expected[name], name)
        bytes = bytes + #files.read(golden.folder .. "/" .. name)
      end
    end
    assert.is_true(bytes < 240 * 1000)
  end)

  it("name the first line that differs", function()
    assert.matches("x: line 2\n  expected: b\n  got:      c", helper.defect(helper.same_text, "a\nb\n", "a\nc\n", "x"))
    assert.matches("x: line 2\n  expected: b\n  got:      %(nothing%)",
      helper.defect(helper.same_text, "a\nb", "a", "x"))
  end)
end)
