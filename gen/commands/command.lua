-- command.lua: runs the command: the function of each word of its command line.
local grammar = require("commands.grammar") -- the first: what is missing is named in the order of need
local advice = require("commands.advice")
local companion = require("commands.companion")
local emit_python = require("passes.emit.python")
local faults = require("common.faults")
local files = require("common.files")
local kinds = require("common.kinds")
local lfs = require("lfs")
local linkage = require("data.linkage")
local modules = require("common.modules")
local output = require("commands.output")
local overrides = require("commands.overrides")
local paths = require("checkpoints.paths")
local pipeline = require("pipeline")
local progress = require("common.progress")
local ranks = require("commands.ranks")
local reserved_python = require("data.reserved_python")
local systems = require("data.systems")
local terminal = require("common.terminal")
local texts = require("passes.common.texts")
local words = require("common.words")

local command = {}

-- Loads a module only if a command needs it.
local function builder() return require("commands.build") end
local function import() return require("checkpoints.import") end
local function reference() return require("commands.reference") end

-- The commands whose overrides may be lists of values.
local takes_lists = words.set { "bench", "report" }

-- Options that the emitted program has, too, and its other names for them.
local passed_on = { "input", "expect", "tolerance", "entry", "seed", "repetitions", "output", "nan", "compare",
  "length", "json", "profile", "bound" }
local named_there = { repetitions = "reps", output = "format" }

-- Returns the weights that a command is given, or the description's own if it is a checkpoint; nil: random ones.
local function weights_of(arguments)
  return arguments.weights or paths.is_checkpoint(arguments.description) and arguments.description or nil
end

-- Returns the words that follow a command on the emitted program's command line.
local function program_words(name, arguments)
  local list = { name }
  local function add(option, value)
    list[#list + 1] = "--" .. option
    if value ~= true then list[#list + 1] = value end
  end
  if weights_of(arguments) then add("weights", weights_of(arguments)) end
  for _, option in ipairs(passed_on) do
    local given = arguments[option]
    for _, value in ipairs(type(given) == "table" and given or { given or nil }) do
      add(named_there[option] or option, value)
    end
  end
  return list
end

-- Returns a watch over the passes that shows a bar. begun: a build that begins meanwhile, or nil.
local function watch_of(bar, begun)
  local part = 0
  return function(i, state)
    if begun then begun:watch(pipeline.passes[i], state) end
    bar:show(part, "generating: " .. pipeline.passes[i])
    part = part + pipeline.share[pipeline.passes[i]]
  end
end

-- Returns the words by which a build links MPI, or nil: C is emitted on machines without MPI, too.
local function mpi_libraries()
  local ok, list = pcall(function() return require("commands.build.toolchain").new().mpi("--libs") end)
  if ok then return list end
  if not faults.is(list) then error(list, 0) end
  return nil
end

-- Runs the passes up to `last`, with the tuning and the factors that were given or found (companion.lua). watch,
-- exposed: pipeline.run's. with_text: true; "all": with the model of texts of a model of pictures; nil: no tokenizer.
local function run_passes(root, arguments, list, last, with_text, watch, exposed)
  return pipeline.run(root, arguments.description, list, last, { embeds = arguments.embed ~= nil,
    with_text = with_text, with_texts = with_text == "all", chat_template = arguments.chat_template, exposed = exposed,
    rates = require("commands.machine.facts").source(root), mpi = mpi_libraries, watch = watch,
    tuning = companion.find(arguments.tuning, arguments.description, "tune"),
    factors = companion.find(arguments.factors, arguments.description, "factors"),
    parts = companion.find(arguments.parts, arguments.description, "parts") })
end

-- Runs the passes as run_passes does, with a bar, and prints the notes. begun: the build that begins meanwhile, or nil.
local function compile(root, arguments, list, last, with_text, exposed, begun)
  local bar <close> = progress.start()
  local state = run_passes(root, arguments, list, last, with_text, watch_of(bar, begun), exposed)
  bar:hide()
  for _, line in ipairs(state.notes) do io.stderr:write("attn2c: ", terminal.safe(line), "\n") end
  return state
end

local function generate(root, arguments, options)
  local folder = arguments.output
  if folder == "" then faults.raise("usage", "-o: the name is empty; a folder is needed") end
  local begun <close> = builder().begin(root, options)
  options.begun = begun
  local state = compile(root, arguments, arguments.overrides, nil, "all", nil, begun)
  folder = (folder or "out/" .. state.spec.name):gsub("(.)/+$", "%1")
  ranks.check(state.spec.processes, options)
  if options.embed == "stored" and state.spec.opens == "packed" then
    faults.raise("usage", '--embed=f16: does not go with opens = "packed"; --embed=f32 does')
  end
  return state, folder, builder().make(state, folder, root, options)
end

-- Returns texts that distinguish a finished pipeline from others with the same overrides: the files that it has used,
-- and the tensors that it makes outputs.
local function distinctions_of(state, exposed)
  local list = { state.builds[1].parameters.hash and "tuning=" .. state.builds[1].parameters.hash }
  if state.sized then list[#list + 1] = "parts=" .. state.parts.hash end
  if state.primary.graph.smoothing then list[#list + 1] = "factors=" .. state.factors.hash end
  if type(exposed) == "table" then list[#list + 1] = "exposed=" .. table.concat(exposed, ",") end
  return list
end

-- The number of ranks of programs that are divided among several, by path.
local ranks_of = {}

-- Builds the program of a variant in its own folder. Returns its path and the pipeline. exposed: of pipeline.run.
local function build_variant(root, arguments, list, with_text, exposed)
  local options = { only = true }
  local begun <close> = builder().begin(root, options)
  options.begun = begun
  local state = compile(root, arguments, list, nil, with_text, exposed, begun)
  local folder = overrides.folder(state.spec.name, list, distinctions_of(state, exposed))
    .. (exposed and "-exposed" or "")
  local path = folder .. "/" .. systems.program_of(state.spec.name, builder().make(state, folder, root, options))
  ranks_of[path] = state.spec.processes
  return path, state
end

-- Runs a built program and returns its exit code. gather: "output" also returns its output; target: the one to use of
-- several; is_alone: one process of a model of several ranks.
local function run_program(path, list, gather, target, is_alone)
  local words_of = require("common.emulator").words { "./" .. path, table.unpack(list) }
  local line, environment = ranks.start(not is_alone and ranks_of[path] or nil, words_of,
    target and { ATTN2C_TARGET = target })
  local child = require("common.process").run { words = line, gather = gather, environment = environment }
  if child.signal ~= 0 then faults.raise("machine", "./%s was ended by signal %d", path, child.signal) end
  return child.code, child.output
end

local run = {}

function run.gen(root, arguments)
  local state, folder = generate(root, arguments, {})
  local lines, arena = 0, 0
  for _, build in ipairs(state.builds) do
    for _, entry in ipairs(build.entries) do
      lines, arena = lines + entry.plan.lines, math.max(arena, entry.programs[1].arena_bytes)
    end
  end
  local first = linkage.entry(state.spec.name .. state.build_suffix, state.entries[1])
  output.print(("%s/%s.c: %s steps, arena %s bytes, for %s\n"):format(terminal.safe(folder), first,
    words.thousands(lines), words.thousands(arena), table.concat(state.target_names, ", ")))
  return 0
end

-- Returns the names of the files that a build for a system makes, as a text.
local function made_list(state, arguments, system)
  local name, about = state.spec.name, systems[system]
  local made = { ("lib%s.a"):format(name), (about.link or about.shared):format(name), name .. ".h", name .. ".pc",
    reserved_python.module(name) .. ".py", emit_python.name .. ".py", name .. "-config.cmake", name .. ".spdx.json" }
  if not arguments.libraries then table.insert(made, 1, systems.program_of(name, system)) end
  return table.concat(made, ", ")
end

function run.build(root, arguments)
  local own = paths.is_checkpoint(arguments.description) and arguments.description or nil
  local options = require("commands.build.embed").find(arguments.embed, arguments.weights, own)
  options.compile, options.is_static, options.arguments = true, arguments.static, arguments
  options.is_libraries, options.serves = arguments.libraries, arguments.serve
  local state, folder, system = generate(root, arguments, options)
  local name = state.spec.name
  local function name_files(of)
    output.print(("%s/%s\n"):format(terminal.safe(folder), made_list(of, arguments, system)))
  end
  if state.texts then name_files(state.texts) end
  name_files(state)
  local path, try = folder .. "/" .. systems.program_of(name, system), require("commands.build.try")
  local kept = try.kept(state)
  if kept then output.print(kept .. "\n") end
  local line = not arguments.libraries and system == "linux" and try.line(state, path, own, options.embed ~= nil)
  if line then output.print(("try: %s\n"):format(line)) end
  return 0
end

function run.wheel(root, arguments)
  arguments.own = paths.is_checkpoint(arguments.description) and arguments.description or nil
  local path, bytes = require("commands.wheel").run(root, arguments, {
    look = function(list, last) return run_passes(root, arguments, list, last) end,
    generate = function(of_build, options) return (generate(root, of_build, options)) end })
  output.print(("%s (%s bytes)\n"):format(terminal.safe(path), words.thousands(bytes)))
  return 0
end

-- Checks each target of a list, or the one that ATTN2C_TARGET names. Returns the first exit code that is not 0, and
-- the finished pipeline.
local function check_one(root, arguments)
  local path, state = build_variant(root, arguments, arguments.overrides)
  local list, asked, result = program_words("check", arguments), os.getenv("ATTN2C_TARGET") or "", 0
  if #state.target_names == 1 or asked ~= "" then return (run_program(path, list)), state end
  for _, name in ipairs(state.target_names) do
    if not arguments.json then output.print(("target %s\n"):format(name)) end
    local code = run_program(path, list, nil, name)
    if result == 0 then result = code end
  end
  return result, state
end

-- Checks a model, and then the model of texts of a model of pictures. Inputs and an entry are only the first one's.
function run.check(root, arguments)
  local code, state = check_one(root, arguments)
  if not state.spec.texts or arguments.entry or #arguments.input > 0 then return code end
  local path, list = texts.of(state)
  local of_texts = words.merged(arguments, { description = path, overrides = list, tuning = "none",
    factors = "none" })
  local second = check_one(root, of_texts)
  return code ~= 0 and code or second
end

-- Predicts other numbers of ranks.
local function run_scale(root, arguments)
  output.print(require("commands.scale").run(root, arguments, {
    words = { table.unpack(program_words("bench", words.merged(arguments, { output = false })), 2) },
    look = function() return run_passes(root, arguments, arguments.overrides, "validate") end,
    build = function(list) return build_variant(root, arguments, list) end,
    run = function(path, list, is_alone)
      local code, said = run_program(path, list, "output", nil, is_alone)
      if code ~= 0 then faults.pass_on(path, code) end
      return said
    end }))
  return 0
end

function run.bench(root, arguments)
  if arguments.scale then return run_scale(root, arguments) end
  for _, option in ipairs { "latency", "bandwidth", "layers" } do
    if arguments[option] then faults.raise("usage", "--%s: goes with --scale", option) end
  end
  local all, list = overrides.combinations(arguments.overrides), program_words("bench", arguments)
  if #all == 1 then return (run_program(build_variant(root, arguments, all[1].overrides), list)) end
  for _, each in ipairs(all) do each.path = build_variant(root, arguments, each.overrides) end
  for _, each in ipairs(all) do
    local code
    code, each.text = run_program(each.path, list, "output")
    if code ~= 0 then return code end
  end
  output.print(require("commands.bench_table").join(arguments.output or "md", all))
  return 0
end

function run.report(root, arguments)
  local tools = { build = build_variant, run = run_program, look = function(_, of, list)
    return run_passes(root, of, list, "graph", true)
  end }
  local code, said = require("commands.report").run(root, arguments, tools)
  output.print(said)
  return code
end

function run.quality(root, arguments)
  local state = pipeline.run(root, arguments.description, arguments.overrides, "validate")
  arguments.writes = require("commands.quality.language").writes(state)
  if arguments.by_part then
    arguments.output = companion.place(arguments.output, arguments.description, state.spec.name, "parts")
  end
  local text, code = require("commands.quality").run(arguments, weights_of(arguments),
    function(list, with_text, exposed, plain)
      local of = plain and words.merged(arguments, { factors = "none" }) or arguments
      return build_variant(root, of, list, with_text, exposed)
    end,
    function(path, list) return (run_program(path, list, #arguments.text > 0 and "output" or nil)) end,
    function(path, list) return run_program(path, list, "output") end)
  if text then output.print(text) end
  return code or 0
end

function run.calibrate(root, arguments)
  local function with(file) return words.merged(arguments, { factors = file or "none" }) end
  local state = pipeline.run(root, arguments.description, arguments.overrides, "validate")
  if state.spec.source then -- the command gives it none
    faults.raise("usage", "calibrate: is not there for a model with an encoder and a context: its answers need sources")
  end
  arguments.writes, arguments.name = require("commands.quality.language").writes(state), state.spec.name
  local text, code = require("commands.calibrate").run(arguments, weights_of(arguments), {
    -- All rows of all tensors, as in the variant whose tensors are outputs.
    graph = function() return run_passes(root, with(), arguments.overrides, "graph", nil, nil, {}).primary end,
    build = function(list, with_text, exposed, file)
      return build_variant(root, with(file), list, with_text, exposed)
    end,
    run = function(path, list) return (run_program(path, list, "output")) end,
    gather = function(path, list) return run_program(path, list, "output") end })
  if text then output.print(text) end
  return code
end

function run.tune(root, arguments) return require("commands.tune").run(root, arguments) end

-- True if a folder's model does not go with any length. A refused folder goes with it: the build says why.
local function wants_one(root, folder, list)
  local done, state = pcall(pipeline.run, root, folder, list, "validate")
  if not done and not faults.is(state) then error(state, 0) end
  return done and state.length ~= nil and not state.spec.symbols.rows.is_open
end

function run.import(root, arguments)
  if not paths.is_checkpoint(arguments.folder) then faults.raise("io", kinds.no_folder(arguments.folder)) end
  local path = arguments.output
  local there = path and lfs.attributes(path, "mode") == "file" and files.read_some(path, 4096) or ""
  if there ~= "" and not there:find(import().BEGINS) then
    faults.raise("usage", "-o: %s exists and is not a description of attn2c import; it would be lost", path)
  end
  local tower_words = { arguments.tower }
  local tower = arguments.tower == "tower=text" and "text" or nil
  local text, notes = import().text(arguments.folder, arguments.output or "", nil, tower)
  if wants_one(root, arguments.folder, tower_words) then
    text, notes = import().text(arguments.folder, arguments.output or "", "one", tower)
  end
  for _, line in ipairs(notes) do io.stderr:write("attn2c: ", terminal.safe(line), "\n") end
  if arguments.verbose then
    local state = pipeline.run(root, arguments.folder, tower_words, "graph")
    for _, line in ipairs(require("checkpoints.listing").lines(state.primary.graph, state.checkpoint)) do
      text = text .. "-- " .. terminal.safe(line) .. "\n"
    end
  end
  if not arguments.output then return output.print(text) or 0 end
  files.write(arguments.output, text)
  return 0
end

function run.show(root, arguments)
  local state = compile(root, arguments, arguments.overrides, arguments.stage, true)
  output.print(pipeline.dump(state, arguments.stage))
  return 0
end

function run.machine(root, arguments)
  output.print(require("commands.machine").run(root, arguments, function(line)
    io.stderr:write("attn2c: ", terminal.safe(line), "\n")
  end))
  return 0
end

function run.keys()
  for _, row in ipairs(reference().keys()) do
    output.print(("%-11s %-10s default %-32s %s\n"):format(row.name, row.type, row.default, row.range))
    output.print(("%-11s %s\n"):format("", row.meaning))
  end
  output.print("\nConstructors of input, output and memory, with their fields:\n")
  for _, row in ipairs(reference().constructors()) do
    output.print(("  %-11s %s\n"):format(row.name, row.meaning))
    for _, field in ipairs(row.fields) do
      output.print(("  %-11s   %-12s %-14s %-18s %s\n"):format("", field.name .. (field.is_input and " (input)" or ""),
        field.default, field.range, field.meaning))
    end
  end
  return 0
end

--- Runs a command line. Returns the exit code.
function command.main(root, argv)
  local parser = grammar.parser()
  if #argv == 0 then -- on standard error, because for a script without its command this is a fault
    io.stderr:write(parser:get_help(), "\n")
    return faults.code.usage
  end
  local ok, arguments = parser:pparse(argv)
  if not ok then
    io.stderr:write("attn2c: ", terminal.safe(advice.line(parser, argv, tostring(arguments))), "\n")
    return faults.code.usage
  end
  collectgarbage() -- the parser's garbage must leave a description no more room (passes/describe/limits.lua)
  -- A folder's name does not include its last slash.
  if arguments.description then arguments.description = arguments.description:gsub("(.)/+$", "%1") end
  local done, result = xpcall(function()
    if arguments.command == "report" then require("commands.report").sort_words(arguments) end
    for _, name in ipairs { "weights", "factors", "tuning", "labels", "compare", "text_file", "scale" } do
      if arguments[name] == "" then
        faults.raise("usage", "--%s: the name is empty; a file is needed", (name:gsub("_", "-")))
      end
    end
    if arguments.overrides then
      advice.check_words(arguments.overrides)
      overrides.check(arguments.overrides, takes_lists[arguments.command])
    end
    return run[arguments.command](root, arguments)
  end, function(value)
    if faults.is(value) then return value end
    return { defect = debug.traceback(tostring(value), 2) }
  end)
  if done then return output.flushed(result) end
  if faults.is(result) then
    for _, line in ipairs(result.lines) do io.stderr:write("attn2c: ", terminal.safe(line), "\n") end
    return result.code
  end
  -- If memory is exhausted, the handler above is not called, and the error is the bare text.
  local defect = type(result) == "table" and result.defect or tostring(result)
  local lack, code = modules.lack(defect)
  if lack then
    io.stderr:write("attn2c: ", lack, "\n")
    return code
  end
  io.stderr:write("attn2c: a defect of the compiler: ", terminal.safe((defect:gsub("\n.*", ""))), "\n")
  if os.getenv("ATTN2C_DEBUG") then io.stderr:write(defect, "\n") end
  return 70
end

return command
