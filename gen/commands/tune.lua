-- tune.lua: is the command `tune`, which measures tile parameters on this machine.
-- Candidates of products in C are timed by themselves first. The best of them, and other candidates, are built into a
-- form of the model with as few layers as stand for all, and timed in turn with the rule's build (tune/subject.lua).
-- The end is a comparison in the whole model, for which time is kept. The search begins with an earlier file's choices.
-- The tuning file always has the best choice so far. The command ends with it when its time is over.
local alone = require("commands.tune.alone")
local companion = require("commands.companion")
local facts = require("commands.machine.facts")
local faults = require("common.faults")
local files = require("common.files")
local measure = require("commands.tune.measure")
local pipeline = require("pipeline")
local process = require("common.process")
local progress = require("common.progress")
local search = require("commands.tune.search")
local shorter = require("commands.tune.shorter")
local subject = require("commands.tune.subject")
local targets = require("data.targets")
local terminal = require("common.terminal")
local tuning = require("passes.common.tuning")
local uv = require("common.libuv")
local words = require("common.words")

local tune = {}

local LEAST_GAIN = 0.01     -- least gain of a product over the rule that is worth a line
local ALONE_PART = 0.5      -- part of the time before the comparison that is for products by themselves
local SMALL = 0.005         -- part of a call below which no candidate is built for a product by itself
local CALL_NOISE = 0.005    -- part of a call by which it may seem slower with products that are faster
local FINAL_PAIRS, LEAST_PAIRS = 5, 3 -- runs of the choice and of the rule in turn, at the end
local VERIFYING = 2         -- runs that take as long as the comparison with the trace variant
local ENDING = 0.02         -- part of the budget for ending
local INTERRUPTED = 130     -- the exit code that shells expect

-- Returns seconds since an arbitrary moment, in steps of hundredths.
local function clock()
  local uptime = files.read("/proc/uptime")
  return uptime and tonumber(uptime:match("^[%d.]+")) or os.time()
end

local Tuner = {}
Tuner.__index = Tuner

-- Returns the arguments with the one target in use here, and the source of rates. A tuning file is for one target.
local function aimed(root, arguments)
  local machine = targets.machine(os.getenv)
  if machine ~= uv.os_uname().machine then
    faults.raise("usage", "tune measures the machine that it runs on, but CC or CROSS names a compiler for %s: run "
      .. "it on such a machine, and use its file with --tuning", machine)
  end
  local rates = facts.source(root)
  local state = pipeline.run(root, arguments.description, arguments.overrides, "validate", { rates = rates })
  if (state.spec.ranks or 1) > 1 or (state.spec.stages or 1) > 1 then
    faults.raise("usage", "%s: tune does not go with ranks or stages: tune with ranks=1 stages=1; builds with ranks "
      .. "or stages use its file for products of the same sizes", arguments.description)
  end
  local asked = os.getenv("ATTN2C_TARGET")
  local is_list, runs = #state.target_names > 1, targets.runs_on(machine)
  local name = state.target_names[1]
  if is_list then name = targets.in_use(state.target_names, runs, asked) end
  if not name then
    faults.raise("usage", "%s: its targets are %s, and %s", arguments.description, table.concat(state.target_names,
      ", "), asked and asked ~= "" and "ATTN2C_TARGET is " .. faults.quote(asked)
      or "this machine can run none of them")
  end
  if not runs(name) then
    faults.raise("machine", "%s: target %s: tune measures candidates here, but this machine cannot run them",
      arguments.description, name)
  end
  for _, build in ipairs(state.builds) do
    local known = build.spec.target == name and name ~= asked and build.instead and rates()
    if known then name = targets.fastest({ name, build.instead }, { bf16 = true }, known) or name end
  end
  local list = words.filter(arguments.overrides, function(word) return not word:match("^target=") end)
  list[#list + 1] = "target=" .. (state.measured and state.measured[name] and "host" or name) -- as builds have it
  return list, rates
end

local function fits(choice, fixed)
  return words.all(tuning.names, function(name) return fixed[name] == nil or choice[name] == fixed[name] end)
end

local function new(root, arguments, start)
  local aimed_at, rates = aimed(root, arguments)
  local list = words.filter(aimed_at, function(word) return not word:match("^threads=") end)
  list[#list + 1] = "threads=1" -- tiles do not depend on the number of workers
  arguments = setmetatable({ rates = rates }, { __index = arguments })
  local planned = pipeline.run(root, arguments.description, list, "plan", { rates = rates })
  local products, order = measure.products(planned)
  local self = setmetatable({ root = root, arguments = arguments, overrides = list, spec = planned.spec,
    products = products, order = order, rule = {}, best = {}, seen = {}, count = 0, start = start,
    bar = progress.start() }, Tuner)
  self.budget = arguments.budget
  self.path = companion.place(arguments.output, arguments.description, planned.spec.name, "tune")
  self.folder = ("out/%s.variants/tune"):format(planned.spec.name)
  self.is_terminal = uv.guess_handle(2) == "tty"
  for key, product in pairs(products) do
    self.rule[key], self.best[key] = product.choice, { choice = product.choice, ratio = 1 }
    self.seen[key] = {}
  end
  self:choose_forms(planned)
  self.others, self.earlier = {}, {}
  local before = tuning.read(self.path)
  if before and before.target == self.spec.target then
    for key, choice in pairs(before.choices) do
      if not products[key] then
        self.others[key] = choice
      elseif before.machine == tuning.machine() and not choice.is_disturbed and fits(choice, products[key].fixed) then
        self.earlier[key] = choice
      end
    end
  end
  return self
end

-- Chooses the forms of the model in which candidates are timed, and choices are compared.
function Tuner:choose_forms(planned)
  local overrides, layers, cold = shorter.of(self.root, self.arguments, self.overrides, planned, self.products,
    self.order)
  local function form(of, folder, more)
    return subject.new(words.merged({ root = self.root, arguments = self.arguments, overrides = of, folder = folder,
      products = self.products, is_draft = layers ~= nil }, more or {}))
  end
  self.whole, self.layers = form(self.overrides, self.folder), layers
  self.few = layers and form(overrides, self.folder .. "/few", { cold_megabytes = math.ceil(cold / (1 << 20)) })
    or self.whole
end

function Tuner:elapsed() return clock() - self.start end

function Tuner:report(line)
  if self.is_terminal then
    self.bar:show(self:elapsed() / self.budget, line)
  else
    io.stderr:write(("%6.1f s  %s\n"):format(self:elapsed(), line))
  end
end

-- Reports what was found of a product's choice, if details are asked for.
function Tuner:detail(product, choice, format, ...)
  if not self.arguments.verbose then return end
  io.stderr:write(("%10s%-34s %-24s %s\n"):format("", product.key, search.text(product, choice), format:format(...)))
end

-- True if a product's best choice, timed once in the model, beats the rule by more than the noise. Times of products
-- by themselves are not enough: the model may be slower with what is 5% faster by itself.
function Tuner:is_clear(key)
  local best = self.best[key]
  return not best.is_alone and best.ratio < 1 - math.max(LEAST_GAIN, 2 * self.few:noise(key))
end

-- True if a product's best choice is worth the comparison at the end, which times it again.
function Tuner:is_promising(key) return self.best[key].ratio < 1 - LEAST_GAIN end

-- Returns the rule's best rate for a product in all of its runs, in GFLOP/s.
function Tuner:rule_rate(product)
  local times = {}
  for _, form in ipairs { self.few, self.whole } do
    for _, each in ipairs(form.history[product.key]) do times[#times + 1] = each.ms end
  end
  return search.rate(product.flops, times)
end

-- Returns the choices that are better than the rule, for a file. The two rates of a choice come from alternating runs:
-- the machine may have been slower then than in the rule's other runs.
function Tuner:taken(is_better)
  local choices = {}
  for _, product in ipairs(self.order) do
    local key = product.key
    local best = self.best[key]
    if best.choice ~= self.rule[key] and is_better(self, key) then
      local choice = { gflops = search.rate(product.flops, best.times),
        rule_gflops = search.rate(product.flops, best.rule_times) }
      for _, name in ipairs(tuning.names) do choice[name] = best.choice[name] end
      choices[key] = choice
    end
  end
  return choices
end

-- Returns choices and the earlier choices of the file. Where both have a product, the file's counts.
function Tuner:with_earlier(choices) return words.merged(choices, self.earlier) end

-- True if a choice makes the same calls as the product's earlier one.
function Tuner:is_earlier(key, choice)
  local earlier, product = self.earlier[key], self.products[key]
  return earlier and search.signature(product, earlier) == search.signature(product, choice)
end

-- Forgets earlier choices that the comparison at the end has replaced: the same were timed again, or are slower.
function Tuner:replace_earlier(choices)
  for key, choice in pairs(choices) do
    local earlier = self.earlier[key]
    if earlier and (self:is_earlier(key, choice)
      or choice.gflops * earlier.rule_gflops > earlier.gflops * choice.rule_gflops) then self.earlier[key] = nil end
  end
end

-- Returns a sentence if other work has disturbed the times, else nil.
function Tuner:disturbed() return self.few:disturbed() or self.whole:disturbed() end

function Tuner:write(choices)
  for _, choice in pairs(choices) do choice.is_disturbed = self:disturbed() ~= nil end
  local all = words.merged(self:with_earlier(choices), self.others)
  local folder, name = self.path:match("^(.*)/([^/]*)$")
  files.write_all(folder or ".", { { name = name or self.path,
    text = tuning.text { target = self.spec.target, machine = tuning.machine(), choices = all } } })
end

-- Times the candidates of products by themselves, and takes the best.
function Tuner:time_alone()
  local target = targets.by_name[self.spec.target]
  local function report(line) self:report(line) end
  local most = math.max(0, ALONE_PART * (self.budget - self:elapsed() - self:reserved()))
  local found
  found, self.alone_count = alone.run(self.root, self.folder, self.order, target, most, report)
  for key, best in pairs(alone.best(self.order, found, LEAST_GAIN)) do
    local product = self.products[key]
    local ms = 1e-6 * product.flops / (2 * product.outputs * product.inputs * product.rows) -- of all layers
    for _, each in ipairs(found[key]) do
      for _, choice in ipairs(each.same) do self.seen[key][search.signature(product, choice)] = true end
    end
    self:detail(product, best.choice, "%.3f by itself", best.ratio)
    if best.ratio < 1 - LEAST_GAIN then
      self.best[key] = { choice = best.choice, ratio = best.ratio, is_alone = true, times = { ms * best.ns },
        rule_times = { ms * best.rule_ns } }
    end
  end
  self:begin_with_earlier()
end

-- Takes the file's earlier choices as the best so far, except where another one is faster by itself than the earlier
-- one was. So they are timed in the model first, and the search goes on from them.
function Tuner:begin_with_earlier()
  for key, earlier in pairs(self.earlier) do
    local ratio = earlier.gflops > 0 and earlier.rule_gflops / earlier.gflops or 1
    if ratio < self.best[key].ratio then
      local choice, flops = {}, self.products[key].flops
      for _, name in ipairs(tuning.names) do choice[name] = earlier[name] end
      self.best[key] = { choice = choice, ratio = ratio, is_alone = true, times = { 1e-6 * flops / earlier.gflops },
        rule_times = earlier.rule_gflops > 0 and { 1e-6 * flops / earlier.rule_gflops } or {} }
    end
  end
end

-- Times in the model what was found outside of it, or by an earlier run, as one candidate. Products that it does not
-- speed up go back to the rule.
function Tuner:confirm()
  if not next(self:taken(self.is_promising)) then return end
  self.pending = {}
  local ratios = self:try(function(product) return self.best[product.key].choice end, "own")
  for key, each in pairs(ratios) do
    local best = self.best[key]
    if best.is_alone and each.own < 1 then
      self.best[key] = { choice = best.choice, ratio = each.own, times = each.times, rule_times = each.rule_times }
    elseif best.is_alone then
      local is_slower = each.own > 1 + math.max(LEAST_GAIN, 2 * self.few:noise(key))
      if is_slower and self:is_earlier(key, best.choice) then self.earlier[key] = nil end
      self.best[key] = { choice = self.rule[key], ratio = 1 }
    end
  end
end

-- Builds and times the choices of `choice_of(product)`, and takes those that are better. by: "own" or "region" time.
function Tuner:try(choice_of, by)
  local choices = {}
  for _, product in ipairs(self.order) do choices[product.key] = choice_of(product) end
  self.count = self.count + 1
  self:report(("candidate %d: %s"):format(self.count, search.text(self.order[1], choices[self.order[1].key])))
  local built = self.few:build(choices, "candidate")
  local ratios = self.few:ratios(built)
  for _, product in ipairs(self.order) do
    local key = product.key
    local ran, ratio = built.products[key].choice, ratios[key][by]
    self.seen[key][search.signature(product, ran)] = true
    local to_beat = by == "own" and self.best[key].ratio or self.region_best[key]
    if self.pending[key] then to_beat = self.pending[key].ratio end
    if choices[key] ~= self.best[key].choice and ratio < to_beat then
      self.pending[key] = { choice = ran, ratio = ratio, times = ratios[key].times,
        rule_times = ratios[key].rule_times }
    end
    self:detail(product, ran, "%.3f %.3f", ratios[key].own, ratios[key].region)
  end
  return ratios
end

-- Returns the seconds of the comparison at the end.
function Tuner:final_seconds()
  return self.whole.build_seconds + (2 * LEAST_PAIRS + VERIFYING) * self.whole.run_seconds
end

-- Returns the seconds of one more candidate and of the end.
function Tuner:reserved() return self.few:candidate_seconds() + self:final_seconds() + self.few.run_seconds end

function Tuner:has_time() return self:elapsed() + self:reserved() < self.budget end

-- Estimates the number of candidates and the budget that all of them need, before the first one.
function Tuner:estimate()
  self.all = search.count(self.order, self.rule, self.seen) + (next(self:taken(self.is_promising)) and 1 or 0)
  local seconds = self:elapsed() + self.all * self.few:candidate_seconds() + 2 * self:final_seconds()
  self.whole_budget = math.max(10, math.ceil(seconds / 10) * 10)
  self:report(("about %d candidates in the model of %.1f s each; all of them need --budget=%d"):format(self.all,
    self.few:candidate_seconds(), self.whole_budget))
end

-- Returns the extent of the search, for the last line.
function Tuner:searched()
  local text = ("%d candidates by themselves, "):format(self.alone_count or 0)
  if not self.all then return text .. ("none in the model in %.0f s"):format(self:elapsed()) end
  if self.count >= self.all then return text .. ("%d in the model in %.0f s"):format(self.count, self:elapsed()) end
  return text .. ("%d of about %d in the model in %.0f s (--budget=%d is enough for all)"):format(self.count, self.all,
    self:elapsed(), self.whole_budget)
end

function Tuner:round(name)
  local lists, most = {}, 0
  for _, product in ipairs(self.order) do
    lists[product.key] = search.moves(name, product, self.best[product.key].choice, product.fixed,
      self.seen[product.key])
    if not product.is_small then most = math.max(most, #lists[product.key]) end
  end
  if most == 0 then return end
  self.pending = {}
  local by = name == "token_blocks" and "region" or "own"
  if by == "region" then -- compared with the regions of the choices so far
    self.region_best = {}
    if not self:has_time() then return end
    for _, product in ipairs(self.order) do self.region_best[product.key] = 0 end
    local ratios = self:try(function(product) return self.best[product.key].choice end, by)
    for key, ratio in pairs(ratios) do self.region_best[key] = ratio.region end
  end
  for i = 1, most do
    if not self:has_time() then break end
    self:try(function(product) return lists[product.key][i] or self.best[product.key].choice end, by)
    if by == "own" then self:write_with_pending() end
  end
  self:settle(by)
end

-- Takes the choices that a round has found.
function Tuner:settle(by)
  for key, found in pairs(self.pending) do
    if by == "own" then
      self.best[key] = found
    elseif found.ratio < self.region_best[key] * (1 - LEAST_GAIN) then
      found.ratio = self.best[key].ratio * found.ratio / self.region_best[key]
      self.best[key] = found
    end
  end
  if by == "region" then -- the others of a region go with its main product
    for _, product in ipairs(self.order) do
      local best, size = self.best[product.key], self.best[product.main].choice.token_block
      if best.choice.token_block ~= size then
        local choice = words.merged(best.choice, { token_block = size })
        self.best[product.key] = { choice = choice, ratio = best.ratio, times = best.times,
          rule_times = best.rule_times }
      end
    end
  end
  self.pending = {}
  self:write(self:taken(self.is_clear))
end

function Tuner:write_with_pending()
  local before = self.best
  self.best = setmetatable({}, { __index = before })
  for key, found in pairs(self.pending) do self.best[key] = found end
  self:write(self:taken(self.is_clear))
  self.best = before
end

-- Times the composed choice and the rule in turn. Returns the ratio of their calls, each product's ratio, and the
-- spread of the first. A product that does not beat the rule by more than its spread goes back to the rule.
function Tuner:compare(choices)
  for _, product in ipairs(self.order) do
    if choices[product.key] then self:detail(product, choices[product.key], "compared") end
  end
  local model = self.whole
  if self.few ~= model then self.few:check(choices) end -- its layers are the whole model's
  local built = model:build(choices, "candidate")
  local runs, whole, found = {}, {}, {}
  for i = 1, FINAL_PAIRS do
    if i > LEAST_PAIRS and self:elapsed() + 3 * model.run_seconds > (1 - ENDING) * self.budget then break end
    self:report(("the choice against the rule, %d of %d"):format(i, FINAL_PAIRS))
    if i == 1 then model:run(built, true) end
    local rule, choice = model:run_rule(), model:run(built)
    whole[i] = choice.ms / rule.ms
    for key in pairs(choices) do
      runs[key] = runs[key] or { ratios = {}, times = {}, rule_times = {} }
      local list = runs[key]
      list.times[i], list.rule_times[i] = choice.of[key].ms, rule.of[key].ms
      list.ratios[i] = choice.of[key].own / rule.of[key].own
    end
  end
  for key, list in pairs(runs) do
    local ratio, spread = search.spread(list.ratios)
    found[key] = { ratio = ratio, is_better = ratio < 1 - math.max(LEAST_GAIN, spread), times = list.times,
      rule_times = list.rule_times }
  end
  local ratio, spread = search.spread(whole)
  return ratio, found, spread
end

-- Compares the choices with the rule, drops those that are not better, and repeats until all are better. So the
-- choices that are kept have been timed as a whole, if the time is enough. Returns the choices, and the ratio of calls.
function Tuner:finish()
  local choices = self:taken(self.is_promising)
  local ratio, spread
  while next(choices) do
    if self:elapsed() + self:final_seconds() > self.budget then
      if not ratio then return self:end_early() end
      break -- those that are left have been timed, with others
    end
    local found, dropped
    ratio, found, spread = self:compare(choices)
    for key, each in pairs(found) do
      local best = self.best[key]
      best.ratio, best.times, best.rule_times = each.ratio, each.times, each.rule_times
      if each.ratio >= 1 and self:is_earlier(key, best.choice) then self.earlier[key] = nil end
      if not each.is_better then
        choices[key] = nil
        self.best[key] = { choice = self.rule[key], ratio = 1 }
        dropped = true
      end
    end
    choices = self:taken(function(_, key) return choices[key] ~= nil end)
    if not dropped then break end
  end
  if next(choices) and ratio > 1 + math.min(CALL_NOISE, spread) then choices = {} end
  self:replace_earlier(choices)
  self:write(choices)
  return self:with_earlier(choices), next(choices) and ratio or nil
end

-- Returns a rate as text, or nothing where no time was measured, and of a model that continues: its calls compute some
-- products that are only for the last tokens.
local function rate_text(rate, spec)
  return rate > 0 and not spec.symbols.past.is_open and ("%.1f"):format(rate) or ""
end

function Tuner:table(choices, ratio)
  local lines = { "| product | rule | choice | rule GFLOP/s | choice GFLOP/s | ratio |",
    "|:---|:---|:---|---:|---:|---:|" }
  local is_new = false
  for _, product in ipairs(self.order) do
    local key = product.key
    local choice, rate = choices[key], self:rule_rate(product)
    is_new = is_new or choice ~= self.earlier[key]
    if rate == 0 then rate = choice and choice.rule_gflops or 0 end -- no run of the model: the time was over before
    lines[#lines + 1] = ("| %s | %s | %s | %s | %s | %.3f |"):format(key, search.text(product, self.rule[key]),
      choice and search.text(product, choice) or "the rule", rate_text(rate, self.spec),
      rate_text(choice and choice.gflops or rate, self.spec),
      choice and choice.rule_gflops > 0 and choice.gflops / choice.rule_gflops or 1)
  end
  lines[#lines + 1] = ""
  local said = {}
  if ratio then
    said[1] = ("a call takes %.3f of the rule's time"):format(ratio)
  elseif is_new then
    said[1] = "the time was over before the choices were compared in the model"
  end
  if next(self.earlier) then said[#said + 1] = "choices that the file had stay" end
  lines[#lines + 1] = ("%s: %s; %s. A tile is its panel and tokens. GFLOP/s are computed from the least "
    .. "times, which include the epilogue."):format(terminal.safe(self.path),
    self:searched(), #said > 0 and table.concat(said, "; ") or "the rule is kept")
  if self:disturbed() then lines[#lines + 1] = self:disturbed() .. " The next `tune` measures its choices again." end
  lines[#lines + 1] = next(choices) and companion.next(self.arguments, "tuning", self.path)
  return table.concat(lines, "\n") .. "\n"
end

-- Ends without another comparison. Returns the choices that were clearly better so far. A file from before stays if
-- nothing was timed.
function Tuner:end_early()
  local choices = self:taken(self.is_clear)
  if self.alone_count then self:write(choices) end
  return self:with_earlier(choices)
end

-- Builds and times the rule.
local function first_runs(self)
  self:report(self.layers and ("the rule: candidates have %d of %d layers"):format(self.layers, self.spec.layers)
    or "the rule")
  self.few:prepare()
  if self.whole ~= self.few then self.whole:prepare() end
  self.few:run_rule()
  for _, product in ipairs(self.order) do
    product.is_small = self.few:part(product.key) < SMALL
    self.seen[product.key][search.signature(product, self.rule[product.key])] = true
  end
end

-- Searches until the time is over. Returns the choices, and the ratio of calls with them if they were compared.
local function search_all(self)
  first_runs(self)
  self:time_alone()
  self:estimate()
  if self:has_time() then self:confirm() end
  for _, name in ipairs(search.rounds) do self:round(name) end
  return self:finish()
end

--- Runs the command. Returns the exit code and the text to print.
function tune.run(root, arguments)
  local start = clock()
  local self = new(root, arguments, start)
  if #self.order == 0 then faults.raise("usage", arguments.description .. ": has no product to tune") end
  process.limit((1 - ENDING) * self.budget - self:elapsed())
  local choices, ratio
  local done, failure = xpcall(function() choices, ratio = search_all(self) end,
    function(value) return faults.is(value) and value or tostring(value) .. "" end)
  process.limit(nil)
  self.bar:hide()
  if not done and failure == "late!" then
    choices = self:end_early()
  elseif not done then
    if type(failure) == "string" and failure:find("interrupted!", 1, true) then
      io.stderr:write(("attn2c: interrupted after %d candidates; %s\n"):format(self.count, files.read(self.path)
        and terminal.safe(self.path) .. " has the choices found so far" or "nothing was found"))
      return INTERRUPTED
    end
    error(failure, 0)
  end
  io.write(self:table(choices, ratio))
  return 0
end

return tune
