-- verdict.lua: says in one line what the numbers of a comparison mean for its user.
local verdict = {}

-- The least numbers for "close" and "usable": the share of equal largest scores, the cosine, the share of a top ten
-- that stays, the correlation of similarities. Only measured numbers count. A model that writes has other bars: the
-- most growth of perplexity, and the most mean KL divergence.
local bars = {
  { word = "close to f32", top = 0.99, cosine = 0.999, kept = 0.95, correlation = 0.999, growth = 0.01, kl = 0.02 },
  { word = "usable, with some differences", top = 0.95, cosine = 0.99, kept = 0.85, correlation = 0.99, growth = 0.05,
    kl = 0.1 },
}
local FAR = "far from f32"
local LOSS = 0.005      -- loss of accuracy up to which outputs are close, whatever the other numbers are
local FEW_ROWS = 20     -- rows below which a share means little

local function passes(row, bar)
  if row.accuracy then return row.accuracy >= row.accuracy_f32 - LOSS end
  local n = row.neighbours or {}
  for key, value in pairs { top = row.top or false, cosine = row.cosine or false, kept = n.kept or false,
    correlation = n.correlation or false } do
    if value and value < bar[key] then return false end
  end
  return true
end

local function growth_of(language) return language.perplexity / language.perplexity_f32 - 1 end

local function word_of(outputs, language)
  for _, bar in ipairs(bars) do
    local all = true
    if language then
      if growth_of(language) <= bar.growth and language.kl_mean <= bar.kl then return bar.word end
      all = false
    end
    for _, row in ipairs(language and {} or outputs) do all = all and passes(row, bar) end
    if all then return bar.word end
  end
  return FAR
end

-- Returns the number that differs most, in words.
local function reason_of(outputs, language)
  if language then
    return ("perplexity %.4g, in f32 %.4g (%+.2f%%); %.1f%% of the greedy tokens are the same"):format(
      language.perplexity, language.perplexity_f32, 100 * growth_of(language), 100 * language.equal_greedy)
  end
  local parts = {}
  for _, row in ipairs(outputs) do
    local n = row.neighbours
    if row.accuracy then
      parts[#parts + 1] = ("accuracy %.1f%%, in f32 %.1f%%"):format(100 * row.accuracy, 100 * row.accuracy_f32)
    elseif n then
      parts[#parts + 1] = ("%.0f%% of the %d nearest rows stay"):format(100 * n.kept, n.near)
    elseif row.top then
      parts[#parts + 1] = ("%.1f%% of the largest scores are the same"):format(100 * row.top)
    elseif row.cosine then
      parts[#parts + 1] = ("cosine %.4f"):format(row.cosine)
    end
  end
  return parts[1]
end

-- Returns the name of an output that has NaN or infinity where f32 has finite numbers, or nil.
local function broken(outputs)
  for _, row in ipairs(outputs) do if row.largest == math.huge then return row.name end end
  return nil
end

--- Returns the line. measured: the result of quality.measure with `rows` (the number that was compared), `cost` or nil,
--- and can_calibrate, which is true if factors against outliers were not used and may help.
function verdict.line(measured)
  local outputs = measured.outputs
  for _, row in ipairs(outputs) do
    if row.is_empty then return ("unknown: in f32 no number of %s is finite"):format(row.name) end
  end
  local word, odd = word_of(outputs, measured.language), broken(outputs)
  local of = measured.sources
  local line
  if odd then
    word = FAR
    line = ("%s: %s has NaN or infinity where f32 has numbers"):format(word, odd)
  else
    line = of and ("%s: %.1f%% of the tokens of answers are the same"):format(word, 100 * (of.equal or 0))
      or ("%s: %s"):format(word, reason_of(outputs, measured.language) or "no output can be compared")
  end
  local cost = measured.cost
  if cost then
    line = line .. ("; takes %.2f of the time and %.2f of the weights' bytes"):format(cost.ms / cost.ms_f32,
      cost.weight_bytes / cost.weight_bytes_f32)
  end
  if word ~= bars[1].word and measured.can_calibrate then
    line = line .. "; `attn2c calibrate` finds factors or importance that may bring it closer"
  end
  if (measured.rows or FEW_ROWS) < FEW_ROWS then
    line = line .. ("; only %d %s: give more inputs"):format(measured.rows, measured.rows == 1 and "row" or "rows")
  end
  return line
end

return verdict
