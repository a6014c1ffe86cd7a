-- experts.lua: reads the key `experts` of a description.
local values = require("passes.validate.values")

-- The widths of experts are multiples of this, so that rows of all number types are whole groups.
local UNIT = 4

local fields = {
  count = { type = "integer", min = 1, max = 1024, required = true, meaning = "the number of experts" },
  used = { type = "integer", min = 1, max = 64, required = true, meaning = "the experts of each row" },
  d_ff = { type = "integer", min = UNIT, max = 65536, required = true, meaning = "the width of each expert" },
  router = { type = "word", words = { "softmax", "sigmoid" }, default = "softmax" },
  normalise = { type = "boolean", default = true },
  bias = { type = "boolean", default = false },
  correction = { type = "boolean", default = false },
  factor = { type = "number", min = 1e-6, max = 1e6, default = 1.0 },
  shared = { type = "integer", min = 0, max = 65536, default = 0 },
  shared_gate = { type = "boolean", default = false },
}

local function check(say, key, e)
  if e.used and e.count and e.used > e.count then
    say(key .. ".used", ("%d, but there are %d experts"):format(e.used, e.count))
  end
  if e.d_ff and e.d_ff % UNIT ~= 0 then
    say(key .. ".d_ff", ("%d, but a multiple of %d is allowed"):format(e.d_ff, UNIT))
  end
  if e.correction and e.router ~= "sigmoid" then say(key .. ".correction", "goes with router = \"sigmoid\"") end
  if e.shared_gate and e.shared == 0 then say(key .. ".shared_gate", "goes with shared, a width") end
end

return values.table_reader(fields, "{ count = 8, used = 2, d_ff = 1024 }", true, check)
