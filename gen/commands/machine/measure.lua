-- measure.lua: compiles the program that measures this machine, runs it, and returns what it prints.
-- The program is runtime/tools/machine.c, with loops of multiply-adds for each target whose instructions are here.
local faults = require("common.faults")
local files = require("common.files")
local forms = require("kernels.forms")
local process = require("common.process")
local scratch = require("common.scratch")
local targets = require("data.targets")
local template = require("common.template")
local types = require("data.types")

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

-- Starts the compiler with words after the plain flags. Returns the child.
local function start(compiler, root, words)
  local all = { compiler, "-std=c11", "-w", "-iquote", root .. "/runtime", table.unpack(words) }
  local child, message = process.start { words = all, gather = "all" }
  return child or faults.raise("machine", "cannot start %s: %s", compiler, message)
end

local function finish(list)
  process.wait(function()
    for _, child in ipairs(list) do if not child.over then return false end end
    return true
  end)
  for _, child in ipairs(list) do process.check(child, "its program did not compile") end
end

-- Writes and compiles the program in a folder. Returns its path.
local function compile(root, folder, machine)
  local compiler, names = process.compiler(), measure.names(machine)
  local is_gcc = not compiler:find("clang", 1, true)
  local fill, main = template.open(root, "rates.c.in"), folder .. "/machine"
  local children, link = {}, { "-o", main }
  local function object(path, ...)
    local to = ("%s/%d.o"):format(folder, #children + 1)
    local words = { "-O2", "-c", path, "-o", to, ... }
    children[#children + 1] = start(compiler, root, words)
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
  finish(children)
  for _, word in ipairs { "-lpthread", "-lm" } do link[#link + 1] = word end
  finish { start(compiler, root, link) }
  return main
end

--- Compiles the program in a folder below `folder` and runs it. Returns its output. Faults: machine, if it does not
--- compile or run; io.
function measure.run(root, machine, folder)
  local work <close> = scratch.make(folder, "measuring")
  return process.output({ compile(root, work.path, machine) }, "its program failed")
end

return measure
