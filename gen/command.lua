-- command.lua: the command line: its grammar, and what each command does with the pipeline.
local argparse = require("argparse")
local build = require("build")
local faults = require("faults")
local files = require("files")
local keys = require("keys")
local pipeline = require("pipeline")
local stage_table = require("stages")
local tune = require("tune")
local tuning = require("tuning")
local version = require("version")
local words = require("words")

local command = {}

local stages = { "describe", "validate", "graph", "plan", "lower", "schedule", "memory", "kernels", "emit" }

-- The exit code, once what was printed is out.
local function flushed(code)
  if io.stdout:flush() then return code end
  io.stderr:write("attn2c: cannot write to the standard output\n")
  return faults.code.io
end

-- Prints, or ends with a fault: a write that fails leaves nothing for the last flush to notice.
local function print_out(text)
  if not io.write(text) then faults.raise("io", "cannot write to the standard output") end
end

local function print_and_leave(text)
  local written = io.write(text, "\n")
  os.exit(written and flushed(0) or faults.code.io, true)
end

-- argparse's own help exits 0 even where it could not be written.
local function with_help(parser)
  return parser:add_help { action = function() print_and_leave(parser:get_help()) end }
end

local function grammar()
  local parser = argparse("attn2c", "Compiles a description of a transformer to C made for exactly that model.")
  with_help(parser):command_target("command")
  parser:flag("--version", "Print the version."):action(function() print_and_leave("attn2c " .. version.generator) end)
  local function with_description(sub)
    with_help(sub)
    sub:argument("description", "A description, such as models/small.lua.")
    sub:argument("overrides", "KEY=VALUE: overrides a key of the description (seq=64 mask=causal output.4.to=10).")
      :args("*")
    return sub
  end
  local function with_tuning(sub)
    sub:option("--tuning", "Measured tile parameters (default: beside the description, NAME.tune, where there is one); "
      .. "none: the rule's."):argname("FILE")
    return with_description(sub)
  end
  local gen = with_tuning(parser:command("gen", "Emit C."))
  gen:option("-o --output", "The folder to write to (default: out/NAME)."):argname("DIR")
  local make = with_tuning(parser:command("build", "Emit C and compile it: libraries and program."))
  make:option("-o --output", "The folder to write to (default: out/NAME)."):argname("DIR")
  local check = with_tuning(parser:command("check", "Build, then compare every tensor with the reference."))
  check:option("--weights", "Weights in safetensors form (default: seeded random)."):argname("FILE")
  check:option("--input", "An input as NAME=FILE.npy (default: seeded random)."):argname("NAME=FILE"):count("*")
  check:option("--seed", "Of random weights and inputs."):argname("K")
  check:flag("--json", "Print JSON.")
  local bench = with_tuning(parser:command("bench", "Build, then time it against the roof of this machine."))
  bench:option("--weights", "Weights in safetensors form (default: seeded random)."):argname("FILE")
  bench:option("-r --repetitions", "How often (default: about a second)."):argname("N")
  bench:option("-o --output", "The form of the table."):choices { "md", "json", "csv" }
  bench:flag("--profile", "Split the time by operation and layer.")
  bench:flag("--bound", "The time that the best tiles and row operations would take, part by part.")
  local tuner = with_description(parser:command("tune", "Measure which tile parameters are best on this machine."))
  tuner:option("--budget", "Seconds of the search; to compare again what is left may take a little more.")
    :argname("SECONDS"):default("120")
    :convert(function(text)
      local n = tonumber(text)
      if n and n >= 1 and n <= 1e6 then return n end
      return nil, "--budget: " .. faults.quote(text) .. ", but 1 to 1000000 seconds are allowed"
    end)
  tuner:option("-o --output", "The file to write (default: beside the description, NAME.tune)."):argname("FILE")
  tuner:flag("-v --verbose", "Say of each candidate, product by product, its time by the rule's, and its region's.")
  local show = with_tuning(parser:command("show", "Print what a pass of the compiler made."))
  show:option("--stage", "Which pass."):choices(stages):count(1)
  with_help(parser:command("keys", "Print every key of a description: type, default, range, meaning."))
  return parser
end

-- The words that follow a command on the emitted program's line.
local function program_words(name, arguments)
  local list = { name }
  local function add(option, value)
    list[#list + 1] = option
    if value then list[#list + 1] = value end
  end
  if arguments.weights then add("--weights", arguments.weights) end
  for _, input in ipairs(arguments.input or {}) do add("--input", input) end
  if arguments.seed then add("--seed", arguments.seed) end
  if arguments.repetitions then add("-r", arguments.repetitions) end
  if name == "bench" and arguments.output then add("-o", arguments.output) end
  if arguments.json then add("--json") end
  if arguments.profile then add("--profile") end
  if arguments.bound then add("--bound") end
  return list
end

-- Runs the passes up to `last`, with the tuning that was asked for or lies beside the description.
local function compile(root, arguments, last)
  local asked = arguments.tuning
  local from = asked ~= "none" and { file = asked or tuning.beside(arguments.description), asked = asked ~= nil } or nil
  local state = pipeline.run(root, arguments.description, arguments.overrides, last, from)
  for _, line in ipairs(state.notes) do io.stderr:write("attn2c: ", line, "\n") end
  return state
end

local function generate(root, arguments, folder)
  if folder == "" then faults.raise("usage", "-o: an empty name, but a folder is needed") end
  local state = compile(root, arguments)
  folder = (folder or "out/" .. state.spec.name):gsub("(.)/+$", "%1")
  files.write_all(folder, state.files)
  return state, folder
end

-- Runs the built program in our place; its exit code is ours.
local function run_program(folder, name, list)
  local parts = { files.shell((folder:sub(1, 1) == "/" and "" or "./") .. folder .. "/" .. name) }
  for _, word in ipairs(list) do parts[#parts + 1] = files.shell(word) end
  local _, how, code = os.execute(table.concat(parts, " "))
  -- The shell between us reports a child's signal as its own exit code, 128 above it.
  if how == "exit" and code > 128 then how, code = "signal", code - 128 end
  if how == "signal" then faults.raise("machine", ("%s was ended by signal %d"):format(parts[1], code)) end
  return code
end

local run = {}

function run.gen(root, arguments)
  local state, folder = generate(root, arguments, arguments.output)
  print_out(("%s/%s.c: %s steps, arena %s bytes, for %s\n"):format(folder, state.spec.name,
    words.thousands(state.plan.entries[1].lines), words.thousands(4 * state.programs[1].arena_floats),
      state.spec.target))
  return 0
end

function run.build(root, arguments)
  local state, folder = generate(root, arguments, arguments.output)
  build.run(state, folder, root)
  print_out(("%s/%s, lib%s.a, lib%s.so, %s.h, %s.pc\n"):format(folder, state.spec.name, state.spec.name,
    state.spec.name,
    state.spec.name, state.spec.name))
  return 0
end

local function build_and_run(name)
  return function(root, arguments)
    local state, folder = generate(root, arguments)
    build.run(state, folder, root)
    return run_program(folder, state.spec.name, program_words(name, arguments))
  end
end

run.check, run.bench = build_and_run("check"), build_and_run("bench")

run.tune = tune.run

function run.show(root, arguments)
  local state = compile(root, arguments, arguments.stage)
  print_out(pipeline.dump(state, arguments.stage))
  return 0
end

local function range_text(field)
  if field.words then return table.concat(field.words, ", ") end
  if field.min then return ("%s to %s"):format(field.min, field.max) end
  return ""
end

function run.keys()
  for _, field in ipairs(keys.list) do
    local default = field.default_text or (field.default ~= nil and tostring(field.default))
      or (field.required and "required" or "none")
    print_out(("%-11s %-10s default %-32s %s\n"):format(field.key, field.type, default, range_text(field)))
    print_out(("%-11s %s\n"):format("", field.meaning))
  end
  print_out("\nConstructors of input, output and memory, with their fields:\n")
  for _, name in ipairs(words.sorted_keys(stage_table.constructors)) do
    local stage = stage_table.constructors[name]
    print_out(("  %-11s %s\n"):format(name, stage.meaning))
    for _, key in ipairs(words.sorted_keys(stage.fields)) do
      local field = stage.fields[key]
      local default = field.default ~= nil and "default " .. tostring(field.default)
        or (field.required and "required" or "")
      print_out(("  %-11s   %-12s %-14s %-18s %s\n"):format("", key .. (field.place == "input" and " (input)" or ""),
        default, range_text(field), field.meaning))
    end
  end
  return 0
end

--- Runs a command line; returns the exit code.
function command.main(root, argv)
  local parser = grammar()
  local ok, arguments = parser:pparse(argv)
  if not ok then
    io.stderr:write("attn2c: ", (tostring(arguments):gsub("\n.*", "")), " (attn2c -h tells more)\n")
    return faults.code.usage
  end
  local done, result = xpcall(run[arguments.command], function(value)
    if faults.is(value) then return value end
    return { defect = debug.traceback(tostring(value), 2) }
  end, root, arguments)
  if done then
    return flushed(result)
  end
  if faults.is(result) then
    for _, line in ipairs(result.lines) do io.stderr:write("attn2c: ", line, "\n") end
    return result.code
  end
  -- Without memory the handler above is not called: the error comes as the bare text.
  local defect = type(result) == "table" and result.defect or tostring(result)
  if defect:find("interrupted!", 1, true) then
    io.stderr:write("attn2c: interrupted\n")
    return 130 -- what shells expect
  end
  if defect:find("not enough memory", 1, true) then
    io.stderr:write("attn2c: out of memory\n")
    return faults.code.memory
  end
  io.stderr:write("attn2c: a defect of the compiler: ", (defect:gsub("\n.*", "")), "\n")
  if os.getenv("ATTN2C_DEBUG") then io.stderr:write(defect, "\n") end
  return 70
end

return command
