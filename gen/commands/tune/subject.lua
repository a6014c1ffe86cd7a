-- subject.lua: builds and times candidates in one form of a model, in turn with the rule's build.
-- `tune` searches in a form with few layers where these stand for all, and compares its choices in the whole model.
local document = require("report.document")
local measure = require("commands.tune.measure")
local search = require("commands.tune.search")
local uv = require("common.libuv")

local subject = {}

local UNKNOWN_NOISE = 0.05  -- assumed noise of a ratio before the third run of the rule
local LEAST_CALLS = 4       -- runs of the rule that show whether other work disturbs them
local RUN_MS, LEAST_RUNS, MOST_RUNS = 400, 3, 2000

local Subject = {}
Subject.__index = Subject

local function clock() return uv.hrtime() / 1e9 end

--- Returns a form of a model that is not built yet. options:
---   root, arguments, folder
---   overrides        of this form
---   products         of the whole model, by key
---   is_draft         whether its builds are not checked
---   cold_megabytes   of measure.run
function subject.new(options)
  local self = setmetatable({ history = {}, calls = {}, repetitions = LEAST_RUNS }, Subject)
  for name, value in pairs(options) do self[name] = value end
  for key in pairs(self.products) do self.history[key] = {} end
  return self
end

--- Builds the form with these choices. Returns what measure.build does.
function Subject:build(choices, name)
  local start = clock()
  local built = measure.build(self.root, self.arguments, self.overrides, choices, self.folder .. "/" .. name,
    self.is_draft)
  self.build_seconds = clock() - start
  return built
end

--- Times a build. The times `ms` of products are sums over all layers. is_verified: its calls are compared with its
--- trace variant first, and are few, as other calls come between them.
function Subject:run(built, is_verified)
  local start = clock()
  local result = measure.run(built, { repetitions = is_verified and LEAST_RUNS or self.repetitions,
    is_verified = is_verified, cold_megabytes = self.cold_megabytes })
  if not is_verified then self.run_seconds = 0.5 * (clock() - start) + 0.5 * (self.run_seconds or clock() - start) end
  for key, each in pairs(result.of) do each.ms = each.ms * self.products[key].flops / built.products[key].flops end
  return result
end

--- Lets the compiler's checkers see what these choices make of the form.
function Subject:check(choices) measure.emit(self.root, self.arguments, self.overrides, choices) end

--- Builds the form with the rule's choices, and decides how often a run repeats its calls.
function Subject:prepare()
  measure.prepare(self.root, measure.emit(self.root, self.arguments, self.overrides, {}, true), self.folder .. "/rule")
  self.rule_built = self:build({}, "rule")
  local ms = self:run(self.rule_built).all_ms
  self.repetitions = math.max(LEAST_RUNS, math.min(MOST_RUNS, math.ceil(RUN_MS / ms)))
end

--- Times the rule's build.
function Subject:run_rule()
  local result = self:run(self.rule_built)
  self.last_rule = result
  table.insert(self.calls, result.ms)
  for key, each in pairs(result.of) do table.insert(self.history[key], each) end
  return result
end

--- Returns a sentence if other work has disturbed the calls of the rule's build, else nil.
function Subject:disturbed()
  local sorted = table.move(self.calls, 1, #self.calls, 1, {})
  table.sort(sorted)
  return #sorted >= LEAST_CALLS and document.disturbed { bench = { ms_min = sorted[1],
    ms_median = sorted[(#sorted + 1) // 2] } } or nil
end

--- Returns the noise of a product's ratio: the spread of the rule's ratio to the mean of its neighbours in time.
function Subject:noise(key)
  local list, history = {}, self.history[key]
  for i = 2, #history - 1 do list[#list + 1] = history[i].own / (0.5 * (history[i - 1].own + history[i + 1].own)) end
  if #list < 3 then return UNKNOWN_NOISE end
  local _, spread = search.spread(list)
  return spread
end

--- Times a candidate between two runs of the rule. Returns key -> { own, region = ratios to the rule's time; times,
--- rule_times = lists of the product's times with all rows, in ms }.
function Subject:ratios(built)
  local before = self.last_rule
  local result = self:run(built)
  local after = self:run_rule()
  local ratios = {}
  for key, times in pairs(result.of) do
    ratios[key] = { times = { times.ms }, rule_times = { before.of[key].ms, after.of[key].ms } }
    for _, what in ipairs { "own", "region" } do
      local rule = 0.5 * (before.of[key][what] + after.of[key][what])
      ratios[key][what] = rule > 0 and times[what] / rule or 1
    end
  end
  return ratios
end

--- Returns the part of a call of the whole model that a product takes.
function Subject:part(key)
  local last = self.last_rule
  local function whole_ms(other)
    return last.of[other].own * self.products[other].flops / self.rule_built.products[other].flops
  end
  local rest, sum = last.ms, 0
  for other, each in pairs(last.of) do rest, sum = rest - each.own, sum + whole_ms(other) end
  return whole_ms(key) / (sum + math.max(0, rest))
end

--- Returns the seconds of one more candidate, which is timed with the rule.
function Subject:candidate_seconds() return self.build_seconds + 2 * self.run_seconds end

return subject
