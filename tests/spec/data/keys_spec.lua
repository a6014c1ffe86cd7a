-- keys_spec.lua: the meanings of keys name what the compiler takes.
require("tests.spec.helper")
local keys = require("data.keys")
local precision = require("data.precision")

describe("the key precision", function()
  it("names every part that may have its own type", function()
    for _, key in ipairs(keys.list) do
      if key.key == "precision" then
        for _, part in ipairs(precision.parts) do assert.matches("[ ,]" .. part.name .. ",", key.meaning) end
        return
      end
    end
    error("no key precision")
  end)
end)
