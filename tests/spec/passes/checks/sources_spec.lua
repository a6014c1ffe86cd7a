-- sources_spec.lua: tests that the checker after memory finds wrong bounds of the keys of a source.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local checks = require("passes.checks")

describe("the checker after memory, of a source", function()
  -- Breaks an entry of a model with an encoder after the pass, and gives the message.
  local function of_source(entry, breaks)
    local encode, decode = encoded.states(nil, nil, "memory")
    local state = entry == "encode" and encode or decode
    breaks(state, helper.steps(state.programs[1]))
    return helper.defect(checks.memory, state)
  end

  it("finds a bound that is that of the tokens", function()
    assert.matches("leaves l0.cross.scores@tile", of_source("forward", function(_, steps)
      for _, each in ipairs(steps) do each.of_source = nil end
    end))
  end)

  it("finds one that is larger than the entry that writes the source has", function()
    assert.matches("leaves l0.cross.scores@tile", of_source("forward", function(state)
      state.spec.symbols.source.most = 100
    end))
  end)

  it("finds keys of a source that are written behind their place", function()
    assert.matches("leaves l0.cross.v.kept@state", of_source("encode", function(_, steps)
      for _, each in ipairs(steps) do
        for _, operand in pairs(each.arguments or {}) do
          if operand and operand.buffer == "l0.cross.v.kept@state" then operand.offset = operand.offset + 4096 end
        end
      end
    end))
  end)
end)
