-- oracle_spec.lua: models that combine options, every pair of them at least once, against what
-- tests/oracle/definition.py says that a description means. All are built before the first runs.
local helper = require("tests.spec.helper")
local cases = dofile(helper.root .. "/tests/oracle/cases.lua")

local out = cases.root .. "/out/spec/oracle"
local names = helper.sample(cases.list(cases.folder), 12)

describe("the meaning of a description, in", function()
  setup(function()
    os.execute("rm -rf " .. helper.shell(out))
    cases.build(cases.folder, out, names)
  end)

  for _, name in ipairs(names) do
    it(name, function()
      local wrong = cases.check(cases.folder, out, name)
      assert(not wrong, wrong)
    end)
  end

  it("outputs that are a little off is not found", function()
    local case = cases.read(("%s/%s.safetensors"):format(cases.folder, names[1]))
    local _, output = next(case.arrays)
    for name, array in pairs(case.arrays) do
      if name:find("^expected/") and array.dtype == "F32" then output = array end
    end
    local function moved(by)
      local first = string.unpack("<f", output.bytes)
      return { shape = output.shape:gsub(" ", ""), format = "<f",
        bytes = string.pack("<f", first + by) .. output.bytes:sub(5) }
    end
    assert.is_nil(cases.difference(output, moved(0)))
    assert.is_string(cases.difference(output, moved(1)))
    assert.is_string(cases.difference(output, moved(0 / 0)))
  end)
end)
