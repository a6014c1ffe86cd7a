-- rope.lua: computes the frequencies of scaled rotary positions and the factor of their cosines and sines.
-- There is one frequency for each pair of dimensions. They are computed in doubles, as transformers does.
local stages = require("data.stages")

local rope = {}

-- Returns theta^(-2 i / d) for i < d / 2.
local function plain(theta, dim)
  local list = {}
  for i = 0, dim // 2 - 1 do list[i + 1] = theta ^ (-2 * i / dim) end
  return list
end

local function each(list, change)
  for i, frequency in ipairs(list) do list[i] = change(frequency, i - 1) end
  return list
end

-- Functions of theta, dim, scaling and longest position + 1, by type: frequencies, and a factor if it is not 1.
local kinds = {}

--- Divides positions by the factor.
function kinds.linear(theta, dim, s)
  return each(plain(theta, dim), function(f) return f / s.factor end)
end

--- Rotates only the first pairs, `rotated` dimensions in all.
function kinds.proportional(theta, dim, s)
  return each(plain(theta, dim), function(f, i) return 2 * i < s.rotated and f / s.factor or 0 end)
end

--- Raises the base with the longest sequence, once that is beyond max_position.
function kinds.dynamic(theta, dim, s, longest)
  local length = math.max(s.longest > 0 and s.longest or longest, s.max_position)
  local base = theta * (s.factor * length / s.max_position - (s.factor - 1)) ^ (dim / (dim - 2))
  return plain(base, dim)
end

--- Stretches long waves, keeps short ones, and mixes both for those between.
function kinds.llama3(theta, dim, s)
  return each(plain(theta, dim), function(f)
    local wave = 2 * math.pi / f
    if wave < s.original / s.high_freq_factor then return f end
    if wave > s.original / s.low_freq_factor then return f / s.factor end
    local t = (s.original / wave - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor)
    return (1 - t) * f / s.factor + t * f
  end)
end

--- Ramps over the dimensions from those that turn beta_fast times in the original length to beta_slow times.
function kinds.yarn(theta, dim, s)
  local function dimension(turns) return dim * math.log(s.original / (turns * 2 * math.pi)) / (2 * math.log(theta)) end
  local low, high = dimension(s.beta_fast), dimension(s.beta_slow)
  if s.truncate then low, high = math.floor(low), math.ceil(high) end
  low, high = math.max(low, 0), math.min(high, dim - 1)
  if low == high then high = high + 0.001 end
  local list = each(plain(theta, dim), function(f, i)
    local ramp = math.min(math.max((i - low) / (high - low), 0), 1)
    return ramp * f / s.factor + (1 - ramp) * f
  end)
  local factor = s.attention_factor
  if factor == 0 then factor = s.factor <= 1 and 1 or 0.1 * math.log(s.factor) + 1 end
  return list, factor
end

--- Divides each frequency by a factor of its own, from the long list if sequences are longer than the original.
function kinds.longrope(theta, dim, s, longest)
  local factors = longest > s.original and s.long_factor or s.short_factor
  local list = each(plain(theta, dim), function(f, i) return f / (factors[i + 1] or 1) end)
  return list, s.attention_factor > 0 and s.attention_factor or 1
end

--- Returns the frequencies of a spec's rotary positions and the factor of their cosines and sines. longest: in use.
function rope.frequencies(spec, longest)
  return kinds[spec.rope_scaling.type](spec.rope_theta, spec.rope_dim, spec.rope_scaling, longest)
end

--- True if some query grows: at position p it is multiplied by 1 + beta ln(1 + floor(p / original)) (Ministral 3).
function rope.grows(spec)
  local s = spec.rope_scaling
  return s and (s.query_beta or 0) > 0 and spec.symbols.tokens.most + spec.past > s.original or false
end

--- Returns the formula (runtime/weights/constants.h) of a table of cosines or sines: `rows` rows from position
--- `first` on. grows: of queries that grow.
function rope.formula(name, spec, first, rows, grows)
  local list, factor = rope.frequencies(spec, first + rows)
  local parts = { ("angle_%s %d %.17g"):format(name, first, factor or 1) }
  if grows then
    parts[1] = ("grown_%s %d %.17g %.17g %.17g"):format(name, first, factor or 1, spec.rope_scaling.query_beta,
      spec.rope_scaling.original)
  end
  for i, frequency in ipairs(list) do parts[i + 1] = ("%.17g"):format(frequency) end
  return table.concat(parts, " ")
end

--- Returns the formula of a table of cosines or sines of an image's patches, by the places of their middles.
function rope.of_patches(name, spec)
  local down, across = stages.patches(spec.input)
  return ("plane_%s %.17g %d %d"):format(name, spec.rope_theta, spec.seq - down * across, across)
end

return rope
