-- damaged_spec.lua: bounded parts of the fuzzers of files from strangers (tests/fuzz/damaged.lua and many.lua), and
-- that what they draw is sometimes taken and sometimes refused.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local mutate = require("mutate")

local COUNT = 300

describe("damaged files", function()
  local function taken_or_refused()
    local code, said = helper.run(("lua5.4 tests/fuzz/damaged.lua %d 12 --folder out/spec/damaged"):format(COUNT))
    assert.equal(0, code, said)
    assert.matches(("\n%d passed, 0 failed\n$"):format(COUNT), said)
    local subjects = 0
    for name, taken, refused in said:gmatch("\n(%l+) +(%d+) taken +(%d+) refused") do
      subjects = subjects + 1
      assert.is_true(tonumber(taken) > 0, name .. " is never taken")
      assert.is_true(tonumber(refused) > 0, name .. " is never refused")
    end
    assert.equal(12, subjects)
  end
  if helper.is_long then it("are taken or refused in plain lines", taken_or_refused) end

  it("in many files of GGUF, torch.save(), chat templates and pictures are taken or refused", function()
    local many = helper.is_long and 100000 or 1000
    local code, said = helper.run(("lua5.4 tests/fuzz/many.lua %d 12 --folder out/spec/many"):format(many))
    assert.equal(0, code, said)
    assert.matches(("%d passed, 0 failed, "):format(many), said)
    local kinds = 0
    for name, taken, refused in said:gmatch("(%l+) +(%d+) taken +(%d+) refused") do
      kinds = kinds + 1
      assert.is_true(tonumber(taken) > many // 100 and tonumber(refused) > many // 100, name)
    end
    assert.equal(5, kinds)
  end)

  it("are the same for a seed", function()
    local text = helper.read(helper.root .. "/tests/hf/texts/sequence/config.json")
    local function drawn(number)
      math.randomseed(1, number)
      return mutate.json(text)
    end
    local others = 0
    for number = 1, 50 do
      assert.equal(drawn(number), drawn(number))
      if drawn(number) ~= text then others = others + 1 end
    end
    assert.is_true(others > 45)
  end)
end)
