-- beside_spec: which buffers of the arena share bytes.
require("tests.spec.helper")
local beside = require("passes.checks.beside")

describe("buffers side by side", function()
  it("are known to be, and others not to be", function()
    local state = 1
    local function random(first, last)
      state = (state * 1103515245 + 12345) % 2147483648
      return first + (state >> 8) % (last - first + 1)
    end
    for _ = 1, 300 do
      local program, names = { buffers = {}, offsets = {}, own = {} }, {}
      for i = 1, random(1, 8) do
        local name = "b" .. i
        local over = i > 1 and random(1, 4) == 1 and names[random(1, i - 1)] or nil
        program.buffers[name] = { bytes = random(1, 6), over = over }
        program.offsets[name] = over and program.offsets[over] or random(0, 20)
        program.own[name] = over and program.own[over] or not over and random(1, 3) == 1 or nil
        names[i] = name
      end
      local any, pairs_of = beside.any(program, names), beside.of(program, { table.unpack(names) })
      local is_plain = true
      for _, name in ipairs(names) do is_plain = is_plain and not program.buffers[name].over end
      for _, name in ipairs(names) do
        if #pairs_of[name] > 0 then assert.is_true(any[name]) end
        if is_plain then assert.equal(#pairs_of[name] > 0, any[name]) end
      end
    end
  end)
end)
