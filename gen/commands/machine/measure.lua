-- measure.lua: compiles the programs that measure this machine, runs them, and returns what they print as JSON.
-- The first is runtime/tools/machine.c, with loops of multiply-adds for each target whose instructions are here.
-- runtime/tools/products.c times how products prefetch (ahead.lua).
local ahead = require("commands.machine.ahead")
local faults = require("common.faults")
local files = require("common.files")
local forms = require("kernels.forms")
local process = require("common.process")
local scratch = require("common.scratch")
local targets = require("data.targets")
local template = require("common.template")
local types = require("data.types")
local words = require("common.words")

local measure = {}

-- Sources of the runtime that the program consists of.
local SOURCES = { "tools/machine.c", "base/attn2c.c", "base/utf8.c", "system/linux.c", "measure/bandwidth.c",
  "measure/levels.c", "measure/timing.c", "model/balance.c", "model/team.c" }

function measure.values(target)
  local values = { target = target.name, has_tiles = target.has_tiles or false, types = {}, includes = {} }
  local seen = {}
  for _, type in ipairs(types.of_weights) do
    if type.name ~= "f32" then
      local of = types.product(type.name)
      local form = forms.in_tiles(of, target) or forms.of(of, target)
      local peak = form.peak
      table.insert(values.types, { type = type.word, loop = peak and type.word or "f32", proof = form.proof or false,
        in_tiles = form.in_tiles or false, sum = form.sum or false, inputs = peak and peak[1] or false,
        product = peak and peak[2] or false })
      if not seen[form.include] then table.insert(values.includes, form.include) end
      seen[form.include] = true
    end
  end
  return values
end

--- Returns the names of the targets that are measured on this machine, those with the most instructions first. The
--- generic target is measured where there is no other.
function measure.names(machine)
  local list, runs = {}, targets.runs_on(machine)
  for _, target in ipairs(targets.list) do
    if runs(target.name) and (target.machine or #list == 0) then list[#list + 1] = target.name end
  end
  return list
end

-- Starts the compiler with `more` after the plain flags. Returns the child.
local function start(compiler, root, more)
  local all = { compiler, "-std=c11", "-w", "-iquote", root .. "/runtime", table.unpack(more) }
  local child, message = process.start { words = all, gather = "all" }
  return child or faults.raise("machine", "cannot start %s: %s", compiler, message)
end

local function finish(list)
  process.wait(function()
    return words.all(list, function(child) return child.over end)
  end)
  for _, child in ipairs(list) do process.check(child, "its program did not compile") end
end

-- Returns the targets of some names whose products are timed: the first without tiles, if there is something to time.
local function timed(names)
  for _, name in ipairs(names) do
    local target = targets.by_name[name]
    if not target.has_tiles then return target.times and { target } or {} end
  end
  return {}
end

-- Writes and compiles the programs in a folder. Returns the path of the first, and that of the timer of products.
local function compile(root, folder, names)
  local compiler = process.compiler()
  local is_gcc = not compiler:find("clang", 1, true)
  local fill, main, timer = template.open(root, "rates.c.in"), folder .. "/machine", folder .. "/products"
  local children, link = {}, { "-o", main }
  local function object(path, ...)
    local to = ("%s/%d.o"):format(folder, #children + 1)
    children[#children + 1] = start(compiler, root, { "-O2", "-c", path, "-o", to, ... })
    link[#link + 1] = to
  end
  for _, name in ipairs(names) do
    local path = ("%s/rates_%s.c"):format(folder, name)
    files.write(path, fill(measure.values(targets.by_name[name])))
    local flags = targets.flags(name, is_gcc)
    object(path, "-ffp-contract=off", "-fopenmp-simd", table.unpack(flags))
  end
  files.write(folder .. "/rates_list.c", template.open(root, "rates_list.c.in") { names = names })
  object(folder .. "/rates_list.c")
  for _, source in ipairs(SOURCES) do object(root .. "/runtime/" .. source) end
  for _, target in ipairs(timed(names)) do
    local path = ("%s/ahead_%s"):format(folder, target.name)
    files.write(path .. ".c", ahead.text(target))
    children[#children + 1] = start(compiler, root, words.append({}, ahead.flags, targets.flags(target.name, is_gcc),
      { "-o", path .. ".so", path .. ".c" }))
  end
  children[#children + 1] = start(compiler, root, { "-O2", "-D_GNU_SOURCE", "-o", timer,
    root .. "/runtime/tools/products.c", "-ldl" })
  finish(children)
  for _, word in ipairs { "-lpthread", "-lm" } do link[#link + 1] = word end
  finish { start(compiler, root, link) }
  return main, timer
end

-- Returns the facts with how a target's products prefetch: "bf16_ahead": 10240.
local function with_ahead(text, target, output)
  local parts, chosen = {}, ahead.chosen(target, output)
  for i, key in ipairs(words.sorted_keys(chosen)) do parts[i] = (', "%s": %d'):format(key, chosen[key]) end
  return (text:gsub(('("%s": {[^}]*)}'):format(target.name), "%1" .. table.concat(parts) .. "}"))
end

--- Compiles the programs in a folder below `folder` and runs them. Returns the facts as JSON. Faults: machine, if one
--- does not compile or run; io.
function measure.run(root, machine, folder)
  local work <close> = scratch.make(folder, "measuring")
  local names = measure.names(machine)
  local main, timer = compile(root, work.path, names)
  local text = process.output({ main }, "its program failed")
  for _, target in ipairs(timed(names)) do
    local command = ahead.command(timer, ("%s/ahead_%s.so"):format(work.path, target.name))
    text = with_ahead(text, target, process.output(command, "its program failed"))
  end
  return text
end

return measure
