-- wheel.lua: is the command `wheel`, which makes a Python package of one model: the library for several targets, packed
-- weights, the module with its hints, the program, licences and the bill of materials.
local archive = require("commands.wheel.archive")
local dkjson = require("dkjson")
local emit_python = require("passes.emit.python")
local emit_tasks = require("passes.emit.tasks")
local embed = require("commands.build.embed")
local emulator = require("common.emulator")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local metadata = require("commands.wheel.metadata")
local overrides = require("commands.overrides")
local process = require("common.process")
local recipe = require("commands.build.recipe")
local scratch = require("common.scratch")
local systems = require("data.systems")
local targets = require("data.targets")
local template = require("common.template")
local terminal = require("common.terminal")
local uv = require("common.libuv")
local version = require("common.version")
local words = require("common.words")

local wheel = {}

-- Files of a checkpoint's folder that are put among the licences.
local NOTICES = { "LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE", "NOTICE.txt" }

-- Returns the words of a model without a target, with the targets of all machines.
local function with_targets(state, list)
  if state.description.target ~= nil then return list end
  local names = targets.of_all_machines(targets.machine(os.getenv), state.product_types)
  return words.append({}, list, { "target=" .. table.concat(names, ",") })
end

-- Returns the processor that a finished pipeline is for.
local function machine_of(state) return targets.by_name[state.target_names[1]].machine or targets.machine(os.getenv) end

-- Returns the version of macOS that a library needs, as its header says; 11, the first for all processors, without one.
local function least_macos(text)
  local at, count = 33, #text > 32 and string.unpack("<I4", text, 17) or 0
  for _ = 1, count do
    if at + 15 > #text then break end
    local command, size, _, version_of = string.unpack("<I4I4I4I4", text, at)
    if command == 0x32 then return version_of >> 16 end
    at = at + size
  end
  return 11
end

-- Returns the tag of a built model. Linux' has the version of the C library in its bill of materials.
local function tag_of(system, machine, library_text, bill)
  local form = system.wheel[machine]
  if form then return "py3-none-" .. form:format(least_macos(library_text)) end
  local library
  for _, part in ipairs(bill.packages) do library = part.name == "glibc" and part.versionInfo or library end
  if not library then
    faults.raise("machine", "wheel: the compiler's C library is not glibc, whose version the names of wheels have")
  end
  return ("py3-none-manylinux_%s_%s"):format(library:gsub("%.", "_", 1), machine)
end

-- Runs the model's program, and returns what it prints. Its reasons are printed if it fails.
local function output_of(program, list, target)
  local child = process.run { words = emulator.words { "./" .. program, table.unpack(list) }, gather = "all",
    environment = { ATTN2C_TARGET = target } }
  if child.signal ~= 0 then faults.raise("machine", "%s was ended by signal %d", program, child.signal) end
  if child.code ~= 0 then
    io.stderr:write((child.errors:gsub("[^\n]+", terminal.safe)))
    faults.pass_on(program, child.code)
  end
  return child.output
end

-- Returns the module as a part of its package.
local function in_package(text)
  local own = emit_python.name
  return (text:gsub("\nimport " .. own .. " as", "\nfrom . import " .. own .. " as")
    :gsub("\nfrom " .. own .. " import", "\nfrom ." .. own .. " import"))
end

-- True if a model has weights, which no formula makes.
local function has_weights(graph)
  return words.any(graph.weights, function(name) return graph.tensors[name].kind == "weight" end)
end

local function emitted(state, name)
  for _, file in ipairs(state.files) do if file.name == name then return file.text end end
end

local function page_of(root, state, values)
  local tasks = emit_tasks.names(state)
  return template.open(root, "wheel.md.in")(words.merged(values, { tasks = tasks, list = table.concat(tasks, ", ") }))
end

-- Builds the program that packs the weights of a library for a system that has none: Linux' for the same processor. The
-- compiler is that of the system from then on.
local function build_packer(of_build, options, tools, machine)
  local cross = machine ~= uv.os_uname().machine and machine .. "-linux-gnu-" or ""
  for _, name in ipairs { "CC", "ATTN2C_CFLAGS", "ATTN2C_LDFLAGS" } do uv.os_unsetenv(name) end
  uv.os_setenv("CROSS", cross)
  local folder = of_build.output .. "-packer"
  tools.generate(words.merged(of_build, { output = folder }), words.merged(options, { is_libraries = false }))
  return folder
end

-- Writes the files of the package into a folder. made: { library = its text, program = the folder of the program,
-- runs_on = its system, system, weights = a path or nil, is_bare = true if the package has no program }.
local function fill(root, state, stage, information, made, facts)
  local name, package, system, is_bare = state.spec.name, {}, systems[made.system], made.is_bare
  local module = assert(emitted(state, name .. ".py"))
  local function add(file, text, is_program) package[#package + 1] = { name = file, text = text,
    is_program = is_program } end
  add("__init__.py", in_package(module))
  add(emit_python.name .. ".py", assert(emitted(state, emit_python.name .. ".py")))
  add("py.typed", "")
  add((system.link or system.shared):format(name), made.library)
  local program = systems.program_of(name, made.runs_on)
  local function output(list, target) return output_of(made.program .. "/" .. program, list, target) end
  if not is_bare then
    add("__main__.py", template.open(root, "wheel_main.py.in") { name = name, program = program })
    add(program, assert(files.read(made.program .. "/" .. program)), true)
  end
  files.write_all(stage .. "/" .. name, package)
  if made.weights then
    output({ "pack", "--weights", made.weights, "-o",
      ("%s/%s/%s.weights"):format(stage, name, name) }, state.target_names[1])
  end
  local described = { { name = "METADATA", text = metadata.text(facts) },
    { name = "WHEEL", text = metadata.wheel(facts.tag) } }
  if not is_bare then described[3] = { name = "entry_points.txt", text = metadata.entry_points(name) } end
  files.write_all(stage .. "/" .. information, described)
  local licenses = { { name = "NOTICES.txt", text = output { "info", "--licenses" } } }
  for _, each in ipairs(facts.folder and NOTICES or {}) do
    local text = files.read(facts.folder .. "/" .. each)
    if text then licenses[#licenses + 1] = { name = each, text = text } end
  end
  files.write_all(("%s/%s/licenses"):format(stage, information), licenses)
  files.write_all(("%s/%s/sboms"):format(stage, information), { { name = name .. ".spdx.json", text = facts.bill } })
end

--- Makes the package, and returns its path and its bytes. tools: look(list, last) runs the passes up to one of them;
--- generate(arguments, options) builds, and returns the finished pipeline. Faults: usage, io, machine, format.
function wheel.run(root, arguments, tools)
  local number = arguments.version or metadata.usual_version
  metadata.check_version(number)
  if arguments.output == "" then faults.raise("usage", "-o: the name is empty; a folder is needed") end
  local state = tools.look(arguments.overrides, "validate")
  local name, own = state.spec.name, arguments.own
  metadata.check_name(name)
  if state.spec.processes then faults.raise("usage", "wheel: does not go with ranks and stages; ranks=1 stages=1") end
  local list, weights = with_targets(state, arguments.overrides), arguments.weights or own
  local options = arguments.embed and embed.find("f32", arguments.weights, own) or {}
  if not weights and has_weights(tools.look(list, "graph").primary.graph) then
    faults.raise("usage", "wheel: --weights FILE is needed: the description has no weights")
  end
  if weights and not lfs.attributes(weights, "mode") then
    faults.raise("io", "--weights: %s: is not there", weights)
  end
  local system = require("commands.build.toolchain").new().system
  local has_program = systems[system].program ~= nil
  if arguments.embed and not has_program then
    faults.raise("usage", "--embed: does not go with %s, whose program would pack the weights", system)
  end
  local folder = overrides.folder(name, list, { "wheel", system, arguments.embed and "embed" or nil })
  options.compile, options.is_portable, options.is_static = true, true, not state.spec.sound
  options.is_libraries, options.serves = not has_program, arguments.serve
  local of_build = words.merged(arguments, { overrides = list, output = folder })
  options.arguments = of_build
  state = tools.generate(of_build, options)
  local text = assert(files.read(("%s/%s.spdx.json"):format(folder, name)))
  local made_library = assert(files.read(folder .. "/" .. recipe.soname(name, system)))
  local tag = tag_of(systems[system], machine_of(state), made_library, dkjson.decode(text))
  local file = ("%s-%s"):format(metadata.file_name(name), number)
  local information, made = file .. ".dist-info", { library = made_library,
    weights = not arguments.embed and weights or nil, system = system,
    is_bare = not has_program or state.spec.sound and not systems[system].is_static }
  made.runs_on = has_program and system or "linux"
  made.program = has_program and folder or build_packer(of_build, options, tools, machine_of(state))
  local facts = { name = name, version = number, tag = tag, bill = text, folder = own
    and lfs.attributes(own, "mode") == "directory" and own or nil, requires = { "numpy" },
    summary = ("%s: a transformer, compiled by attn2c to C for exactly this model"):format(name) }
  if state.spec.sound then
    facts.extras, facts.requires = { "sound" }, { "numpy", 'soundfile; extra == "sound"', 'soxr; extra == "sound"' }
  end
  facts.text = page_of(root, state, { name = name, generator = version.generator,
    has_program = not made.is_bare, place = systems[system].place, targets = table.concat(state.target_names, ", ") })
  local stage <close> = scratch.make(folder, "wheel")
  fill(root, state, stage.path .. "/parts", information, made, facts)
  local path = ("%s-%s.whl"):format(file, tag)
  local beside = ("%s/%s/%s"):format(lfs.currentdir(), stage.path, path)
  archive.make(stage.path .. "/parts", information, beside,
    { [name .. "/" .. systems.program_of(name, made.runs_on)] = true })
  local place = arguments.output or "out/" .. name
  files.make_folder(place)
  local moved = os.rename(beside, place .. "/" .. path)
  if not moved then
    files.write_all(place, { { name = path, text = assert(files.read(beside)) } }) -- another file system
  end
  return place .. "/" .. path, lfs.attributes(place .. "/" .. path, "size")
end

return wheel
