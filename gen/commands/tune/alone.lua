-- alone.lua: times the candidates of products by themselves, before a model is built with any.
-- All candidates of a product are one library. Libraries are compiled one a processor at a time, those
-- of the most expensive products first. A part of the time is for compilers; those that still run then are ended.
local calls = require("commands.products.calls")
local candidates = require("passes.plan.candidates")
local divide = require("passes.common.divide")
local faults = require("common.faults")
local files = require("common.files")
local library = require("commands.products.library")
local process = require("common.process")
local scratch = require("common.scratch")
local search = require("commands.tune.search")
local targets = require("data.targets")
local toolchain = require("commands.build.toolchain")
local uv = require("common.libuv")
local words = require("common.words")

local alone = {}

local COMPILING = 0.7           -- part of the time that is for compilers
local SLICE = 6                 -- most seconds of a product's candidates
local POOL_BYTES = 160 << 20    -- most bytes of weights, more than caches hold
local SAMPLE_MS, ROUNDS = 1, 10
local FLAGS = { "-std=gnu11", "-w" }
local LOOPS = { "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd", "-fPIC",
  "-shared" }

-- Rows of calls of a product of any length, which has one choice for all of them, and of a model that writes, whose
-- tokens come one by one. The longest call is added.
local OPEN_ROWS, CONTINUED_ROWS = { 16, 128 }, { 1, 8, 32 }

-- Products of these types of weights are timed by themselves. Weights in scale blocks have one panel.
local is_timed = words.set { "f32", "bf16", "i8" }

-- Returns the rows of the calls that a product's candidates are timed with.
local function rows_of(product)
  local sizes = product.is_continued and CONTINUED_ROWS or product.is_open and OPEN_ROWS or {}
  local list = words.filter(sizes, function(rows) return rows < product.rows end)
  list[#list + 1] = product.rows
  return list
end

--- Returns the candidates of a product (measure.products) as { choice, calls, same }, and nil if it is only timed in
--- the model. There is one for those with the same calls; `same` has their choices. The first is the rule's.
function alone.candidates(product, target)
  if not (product.types and is_timed[product.types.a]) or product.fixed.kernels == "libxsmm" then return nil end
  local list, seen = {}, {}
  local function add(choice)
    local own = {}
    for name, value in pairs(choice) do own[name] = product.fixed[name] or value end
    local made, signature = {}, {}
    for i, rows in ipairs(rows_of(product)) do
      local shape = { outputs = product.outputs, inputs = product.inputs, rows = rows, types = product.types }
      made[i] = calls.of(target, shape, own, product.is_open)
      signature[i] = made[i].signature
    end
    local text = table.concat(signature, "\n")
    if not seen[text] then
      seen[text] = { choice = own, calls = made, same = {} }
      list[#list + 1] = seen[text]
    end
    table.insert(seen[text].same, own)
  end
  add(product.choice)
  for _, choice in ipairs(candidates.of(product, "c")) do add(choice) end
  return list
end

local function seconds() return uv.hrtime() / 1e9 end

local function started(words_of)
  local child, message = process.start { words = words_of, gather = "all" }
  return child or faults.raise("io", "cannot start %s: %s", words_of[1], message)
end

-- True if a compiler has ended well.
local function is_made(child) return child.over and child.code == 0 and child.signal == 0 end

-- Starts the compiler with words after the flags of all programs.
local function compiler_of(root)
  local tools = toolchain.new()
  return function(...)
    return started(words.append({}, tools.compiler, FLAGS, { "-iquote", root .. "/runtime" }, { ... }, tools.cflags,
      tools.ldflags))
  end, tools.is_gcc
end

-- Returns the jobs of products that are timed, each once for products with the same candidates, the most expensive
-- first: { products, list: candidates, path: of the library without ending }.
local function jobs_of(order, target, folder)
  local sorted, jobs, by = words.append({}, order), {}, {}
  table.sort(sorted, function(x, y)
    if x.flops ~= y.flops then return x.flops > y.flops end
    return x.key < y.key
  end)
  for _, product in ipairs(sorted) do
    local key = ("%d %d %d %s %s"):format(product.outputs, product.inputs, product.rows,
      product.types and product.types.a, search.signature(product, product.choice))
    local list = not by[key] and alone.candidates(product, target)
    if list and #list > 1 then
      by[key] = { products = {}, list = list, path = ("%s/product_%d"):format(folder, #jobs + 1) }
      jobs[#jobs + 1] = by[key]
    end
    if by[key] then table.insert(by[key].products, product) end
  end
  return jobs
end

-- Compiles the libraries of jobs until a moment. Sets job.child; what still runs at the end is ended.
local function compile_all(jobs, target, compile, is_gcc, moment)
  local running, flags = {}, targets.flags(target.name, is_gcc)
  local function settle(is_over)
    process.wait(function()
      local left = words.filter(running, function(child) return not child.over end)
      running = left
      return is_over() or seconds() > moment
    end)
  end
  for _, job in ipairs(jobs) do
    settle(function() return #running < process.processors() end)
    if seconds() > moment then break end
    local all = {}
    for _, candidate in ipairs(job.list) do words.append(all, candidate.calls) end
    files.write(job.path .. ".c", library.text(all, target.vector))
    job.child = compile(table.unpack(words.append({}, LOOPS, flags, { "-o", job.path .. ".so", job.path .. ".c" })))
    running[#running + 1] = job.child
  end
  settle(function() return #running == 0 end)
  if #running > 0 then process.stop() end
end

-- Times the candidates of a job. Returns { { choice, same, ratio: to the rule's time, ns: of the longest call,
-- rule_ns } }, or nil if its timer failed.
local function timed(job, program, pool_bytes, slice)
  local each = #job.list[1].calls
  local child = process.run { words = { program, job.path .. ".so", ("%d"):format(pool_bytes // 1024),
    tostring(SAMPLE_MS), tostring(ROUNDS), ("%.1f"):format(slice), ("%d"):format(each) }, gather = "all" }
  local times = words.map(words.list(child.output, "[^\n]+"), function(line) return (tonumber(line)) end)
  if child.code ~= 0 or child.signal ~= 0 or #times ~= each * #job.list then return nil end
  return words.map(job.list, function(candidate, i)
    local sum = 0
    for r = 1, each do sum = sum + math.log(times[(i - 1) * each + r] / times[r]) end
    return { choice = candidate.choice, same = candidate.same, ratio = math.exp(sum / each), ns = times[i * each],
      rule_ns = times[each] }
  end)
end

--- Times the candidates of products (measure.products) in a folder, within a number of seconds. Returns key ->
--- { { choice, same: choices that make the same calls, ratio: to the rule's time, ns: of the longest call, rule_ns } },
--- the rule's first, for those products for which the time was enough; and the number of candidates. report(line)
--- takes lines for the user.
function alone.run(root, folder, order, target, most, report)
  local began, found, bytes = seconds(), {}, 0
  local work <close> = scratch.make(folder, "alone")
  for _, product in ipairs(order) do bytes = bytes + product.bytes end
  local compile, is_gcc = compiler_of(root)
  local program = work.path .. "/products"
  local timer = compile("-O2", "-o", program, root .. "/runtime/tools/products.c", "-ldl")
  local jobs, ready = jobs_of(order, target, work.path), {}
  compile_all(jobs, target, compile, is_gcc, began + COMPILING * most)
  process.wait(function() return timer.over end)
  for _, job in ipairs(is_made(timer) and jobs or {}) do
    if job.child and is_made(job.child) then ready[#ready + 1] = job end
  end
  local count = 0
  for i, job in ipairs(ready) do
    local left = began + most - seconds()
    if left <= 0 then break end
    report(("%s: %d candidates"):format(job.products[1].key, #job.list))
    local slice = math.min(SLICE, left / (#ready - i + 1))
    local list = timed(job, program, math.min(bytes, POOL_BYTES), slice)
    for _, product in ipairs(list and job.products or {}) do found[product.key] = list end
    count = count + (list and #list or 0)
  end
  return found, count
end

-- Returns the rows of a product's longest block with some parameters.
local function block_of(product, choice) return divide.blocks(product.rows, choice.token_block)[1].count end

--- Returns the fastest candidate of each product that was timed: key -> { choice, ratio, ns, rule_ns }. Products of a
--- region have one token block: the rule's, or one that takes less time for all of them and for the main product.
--- found: the result of run(); gain: the least part of a time that counts.
function alone.best(order, found, gain)
  local function fastest(product, block)
    local best
    for _, each in ipairs(found[product.key]) do
      if block_of(product, each.choice) == block and (not best or each.ratio < best.ratio) then best = each end
    end
    return best
  end
  -- Returns the time of a region's products with a block, or nil if one has no candidate with it.
  local function whole(main, block)
    local sum = 0
    for _, product in ipairs(order) do
      if product.main == main.key and found[product.key] then
        local each = fastest(product, block)
        if not each then return nil end
        local calls_of = product.flops / (product.outputs * product.inputs * product.rows)
        sum = sum + each.ratio * each.rule_ns * calls_of
      end
    end
    return sum
  end
  local blocks, chosen = {}, {}
  for _, product in ipairs(order) do
    blocks[product.key] = block_of(product, product.choice)
    if product.main == product.key and found[product.key] then
      local least = whole(product, blocks[product.key])
      for _, each in ipairs(found[product.key]) do
        local block = block_of(product, each.choice)
        local time = each.ratio < 1 - gain and whole(product, block)
        if time and time < (1 - gain) * least then blocks[product.key], least = block, time end
      end
    end
  end
  for _, product in ipairs(order) do
    chosen[product.key] = found[product.key] and fastest(product, blocks[product.main]) or nil
  end
  return chosen
end

return alone
