-- streams.lua: makes parallel streams of states (AltUp, Baykal et al. 2023). A layer predicts all streams from all,
-- computes one of them, and corrects all by the difference to what was predicted.
local Builder = require("passes.graph.builder")

local streams = {}

-- The least mean square of a row that becomes as long as another one.
local LEAST = 1e-5

-- Returns a linear layer of x whose rows have lengths, one number a row.
local function resized(self, path, x, lengths)
  local width = self.spec.d_model
  local y = self:op("normalise", path .. ".unit", { x = self:linear(path, x, width, false) },
    { eps = Builder.to_float(math.sqrt(LEAST * width)) })
  return self:op("gate_rows", path .. ".resized", { a = y, b = lengths })
end

--- Returns the streams that the layers begin with: x, and linear layers of it, as long as x.
function streams.begin(self, x)
  local path = self.prefix .. "input.streams"
  local list, lengths = { x }, self:op("row_length", path .. ".lengths", { x = x })
  for i = 1, self.spec.streams.count - 1 do list[i + 1] = resized(self, ("%s.%d"):format(path, i), x, lengths) end
  return list
end

--- Returns the mean of the first stream and of linear layers of the others, as long as the first.
function streams.join(self, list)
  local path = self.prefix .. "output.streams"
  local sum, lengths = list[1], self:op("row_length", path .. ".lengths", { x = list[1] })
  for i = 1, #list - 1 do
    local own = ("%s.%d"):format(path, i)
    sum = self:op("add", own .. ".sum", { a = resized(self, own, list[i + 1], lengths), b = sum })
  end
  return self:op("scale", path .. ".mean", { x = sum }, { factor = Builder.to_float(1 / #list) })
end

-- Returns a row's coefficients, which a small network makes of x. They are floats in all precisions. The weights of its
-- router are random numbers that make up for the factor of its norm.
local function coefficients(self, path, x, part, count)
  local width, modes = self.spec.d_model, self.spec.streams.count
  path = path .. ".streams"
  local own = ("%s.%s"):format(path, part)
  local y = self:op("rms_norm", own .. ".normed", { x = x,
    gain = self:weight(path .. ".norm.weight", { width }, 1, 0.1, { factor = 1 / width }) }, { eps = self.spec.eps })
  y = self:op("linear", own .. ".routed", { x = y,
    weight = self:weight(path .. ".router.weight", { modes, width }, 0, math.sqrt(width)) })
  y = self:op("activate", own .. ".modes", { x = y }, { ["function"] = "tanh" })
  return self:op("linear", own, { x = y, weight = self:weight(own .. ".weight", { count, modes }, 0, 1 / (2 * modes)) })
end

-- Adds x times a column of coefficients to y.
local function add_times(self, path, x, factors, column, y)
  return self:op("add", path, { b = y,
    a = self:op("gate_rows", path .. ".term", { a = x, b = factors }, { column = column }) })
end

--- Returns the streams as a layer predicts them: each plus a sum of all times coefficients.
function streams.predict(self, path, list)
  local factors, result = coefficients(self, path, list[self.spec.streams.active + 1], "predict", #list * #list), {}
  for i, x in ipairs(list) do
    for j, other in ipairs(list) do
      x = add_times(self, ("%s.streams.predicted.%d.%d"):format(path, i - 1, j - 1), other, factors,
        (i - 1) * #list + j - 1, x)
    end
    result[i] = x
  end
  return result
end

--- Returns a function of a stream's number, from 1, that returns the stream after a layer: as predicted, plus a
--- multiple of the difference between y, the layer's result, and its prediction.
function streams.correction(self, path, predicted, y)
  local factors = coefficients(self, path, y, "correct", #predicted)
  path = path .. ".streams"
  local change = self:op("add", path .. ".change", { b = y, a = self:op("scale", path .. ".less",
    { x = predicted[self.spec.streams.active + 1] }, { factor = -1.0 }) })
  return function(i)
    local own = ("%s.corrected.%d"):format(path, i - 1)
    return self:op("add", own, { b = predicted[i],
      a = add_times(self, own .. ".change", change, factors, i - 1, change) })
  end
end

return streams
