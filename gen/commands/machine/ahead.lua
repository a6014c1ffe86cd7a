-- ahead.lua: measures whether single strips of bf16 and int8 read weights from memory faster if they prefetch into the
-- first-level cache (plan/ahead.lua). Processors with the same instructions differ: a Zen 5 then takes 0.83 to 0.95 of
-- the time with 4 to 14 rows, a Zen 4 up to 1.4.
local calls = require("commands.products.calls")
local library = require("commands.products.library")
local plan = require("passes.plan.ahead")
local targets = require("data.targets")
local types = require("data.types")
local words = require("common.words")

local ahead = {}

-- Rows of the timed products, outputs and inputs of their weights.
local ROWS, OUTPUTS, INPUTS = { 4, 5, 8, 12, 16, 32 }, 1024, 1024

-- Arguments of the timer: KB of weights that it reads one after the other, milliseconds of a sample, rounds, seconds.
local TIMING = { "131072", "0.5", "15", "1" }

-- The most of the rule's time in the mean and with each number of rows.
local GAIN, LOSS = 0.97, 1.03

--- The flags of the library.
ahead.flags = { "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd", "-fPIC",
  "-shared" }

-- Returns the names of the types that are timed on a target, in order, and the bytes ahead of its rule and of the other
-- choice.
local function cases_of(target)
  return target.only_for, { target.rule.stream, plan.FIRST_LEVEL }
end

--- Returns the C text of the library that is timed for a target.
function ahead.text(target)
  local list, words_of, streams = {}, cases_of(target)
  for _, word in ipairs(words_of) do
    local of = types.product(types.of_word[word], targets.rows(target.name, word))
    for _, stream in ipairs(streams) do
      for _, rows in ipairs(ROWS) do
        list[#list + 1] = calls.of(target, { outputs = OUTPUTS, inputs = INPUTS, rows = rows, types = of },
          { panel = 32, token_block = 128, call_rows = 4096, fetch = 1, stream = stream }, true)
      end
    end
  end
  return library.text(list, target.vector)
end

--- Returns the words by which the timer is run.
function ahead.command(timer, path) return words.append({ timer, path }, TIMING) end

--- Returns the bytes ahead by type, of the timer's output: { bf16 = 10240 }. A type that keeps the target's rule is not
--- in it.
function ahead.chosen(target, output)
  local ns, at, result = words.map(words.list(output, "%S+"), function(line) return tonumber(line) end), 0, {}
  local words_of, streams = cases_of(target)
  for _, word in ipairs(words_of) do
    local sum, most = 0, 0
    for i = at + 1, at + #ROWS do
      local ratio = ns[i + #ROWS] / ns[i]
      sum, most = sum + math.log(ratio), math.max(most, ratio)
    end
    if math.exp(sum / #ROWS) <= GAIN and most <= LOSS then result[word] = streams[2] end
    at = at + 2 * #ROWS
  end
  return result
end

return ahead
