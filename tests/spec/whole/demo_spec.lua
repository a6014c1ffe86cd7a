-- demo_spec.lua: the four parts of `make demo`: each ends well and prints the results that models/README.md states
-- of its trained model.
local helper = require("tests.spec.helper")

local root = helper.absolute_root()

-- For each demo, patterns of lines that it prints, but for its times.
local printed = {
  speaker = {
    "\nagainst the reference +28 passed, 0 failed ", "\naccuracy +63 of 64 held%-out segments ",
    "\ndifference to PyTorch +%d%.%de%-0[67] at most\n", "\nspeed, one thread +[%d.]+ ms for 32 segments, ",
  },
  language = {
    "\nlanguage +80 of 80 sentences in 20 languages\n", "\nWo ist der Bahnhof%? +de 0%.%d+\n",
    "\nspeed, one thread +[%d.]+ ms for its 11 tokens\n",
  },
  tales = {
    "\nlibrary, program +out/tales/libtales%.so, out/tales/tales\n",
    "\nOnce upon a time.....", "\nThere was once an old owl.....",
  },
  numbers = {
    "\nto digits: siebzehnter Juli neunzehnhundertneunundachtzig\n    1989%-07%-17\n",
    "\ntranslated rightly +200 of 200 held%-out sources\n",
  },
}

describe("the demo", function()
  for name, lines in pairs(printed) do
    local function check()
      local said = "\n" .. helper.succeeds("bash models/" .. name .. "/demo.sh", root)
      for _, line in ipairs(lines) do assert.is_truthy(said:find(line), said) end
    end
    if helper.is_long or name == "language" then it("of models/" .. name, check) end -- the others take longer
  end
end)
