-- ahead.lua: measures how single strips of few rows read weights from memory fastest (plan/ahead.lua): whether they
-- prefetch into the first-level cache, and whether one or two rows prefetch at all. Processors with the same
-- instructions differ: with 4 to 14 rows of bf16 and int8, a Zen 5 takes 0.83 to 0.95 of the time with the first-level
-- cache, a Zen 4 up to 1.4. One row with AVX2 takes 0.7 to 0.9 of the time on a Zen 3 if it prefetches; a Zen 4 does
-- not need that.
local calls = require("commands.products.calls")
local library = require("commands.products.library")
local plan = require("passes.plan.ahead")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")
local types = require("data.types")
local words = require("common.words")

local ahead = {}

local OUTPUTS, INPUTS = 1024, 1024 -- of the weights of the timed products
local LONGEST = " n 512 " -- in the key of a product: the rows of the longest call, which decide the rule's choice

-- Ways to prefetch, by the names in a target's `times`: rows of the timed products; how the rule's choice for them and
-- the other one differ from the rule of many rows; the fact that says so if the other is faster: its ending and value.
-- Strips of a library have the same name if they prefetch from different rows on, so the rule's prefetch nothing there.
local WAYS = {
  level = { rows = { 4, 5, 8, 12, 16, 32 }, rule = {}, other = { stream = plan.FIRST_LEVEL }, ending = "_ahead",
    value = plan.FIRST_LEVEL },
  rows = { rows = { 1, 2 }, rule = { fetch = 0, stream = 0 }, other = { stream_rows = 1 }, ending = "_least",
    value = 1 },
}
local ORDER = { "level", "rows" }

-- The type that stands for all weights in scale blocks.
local OF_BLOCKS = "q4"

-- Arguments of the timer: KB of weights that it reads one after the other, milliseconds of a sample, rounds, seconds.
local TIMING = { "131072", "0.5", "15", "1" }

-- The most of the rule's time in the mean and with each number of rows.
local GAIN, LOSS = 0.97, 1.03

--- The flags of the library.
ahead.flags = { "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd", "-fPIC",
  "-shared" }

-- Calls visit(word of a type, way) for everything that is timed on a target.
local function each_case(target, visit)
  for _, name in ipairs(ORDER) do
    for _, word in ipairs(target.times[name] or {}) do visit(word, WAYS[name]) end
  end
end

-- Returns the type of weights that a word of the facts stands for.
local function type_of(word) return word == targets.SCALED and OF_BLOCKS or types.of_word[word] end

-- Returns the rule's choice for a word's products, whose rows only a call knows.
local function rule_of(target, word)
  local parameters = tuning.parameters { spec = { target = target.name, plan = {}, kernels = "c",
    symbols = { rows = { is_open = true } } } }
  return parameters.of(LONGEST, { shape = { OUTPUTS, INPUTS }, type = type_of(word) })
end

--- Returns the C text of the library that is timed for a target.
function ahead.text(target)
  local list = {}
  each_case(target, function(word, way)
    local rule, of = rule_of(target, word), types.product(type_of(word), targets.rows(target.name, word))
    for _, choice in ipairs { words.merged(rule, way.rule), words.merged(rule, way.other) } do
      for _, rows in ipairs(way.rows) do
        local shape = { outputs = OUTPUTS, inputs = INPUTS, rows = rows, types = of }
        list[#list + 1] = calls.of(target, shape, choice, true)
      end
    end
  end)
  return library.text(list, target.vector)
end

--- Returns the words by which the timer is run.
function ahead.command(timer, path) return words.append({ timer, path }, TIMING) end

--- Returns the facts, of the timer's output: { bf16_ahead = 10240 }. A type that keeps the target's rule is not in it.
function ahead.chosen(target, output)
  local ns, at, result = words.map(words.list(output, "%S+"), function(line) return tonumber(line) end), 0, {}
  each_case(target, function(word, way)
    local sum, most = 0, 0
    for i = at + 1, at + #way.rows do
      local ratio = ns[i + #way.rows] / ns[i]
      sum, most = sum + math.log(ratio), math.max(most, ratio)
    end
    if math.exp(sum / #way.rows) <= GAIN and most <= LOSS then result[word .. way.ending] = way.value end
    at = at + 2 * #way.rows
  end)
  return result
end

return ahead
