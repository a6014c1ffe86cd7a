-- build.lua: compiles emitted C into libraries and a program.
-- It runs the jobs of recipe.lua with the compiler that the environment names, without a shell. It may begin before
-- the passes have finished.
local early = require("commands.build.early")
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local hash = require("common.hash")
local lfs = require("lfs")
local again = require("commands.build.again")
local included = require("commands.build.included")
local lock = require("common.lock")
local opened = require("commands.build.opened")
local process = require("common.process")
local progress = require("common.progress")
local recipe = require("commands.build.recipe")
local runner = require("commands.build.runner")
local sbom = require("commands.build.sbom")
local sources = require("commands.build.sources")
local store = require("common.store")
local systems = require("data.systems")
local targets = require("data.targets")
local terminal = require("common.terminal")
local toolchain = require("commands.build.toolchain")
local version = require("common.version")

local build = {}

local function say(line) io.stderr:write("attn2c: ", terminal.safe(line), "\n") end

-- Returns the path of the runtime, and its files (sources.lua).
local function runtime_of(root)
  local uv = require("common.libuv")
  uv.os_unsetenv("PWD") -- compilers would take the folder's name from it, which may contain links
  local path = uv.fs_realpath(root .. "/runtime")
  return path, sources.of_runtime(path)
end

-- Returns the runner's context for a finished pipeline, and the runtime's sources.
local function context_of(state, folder, root, bar, tools)
  local path, runtime = runtime_of(root)
  local folders = { model = require("common.libuv").fs_realpath(folder), runtime = path }
  local own, links = {}, {}
  for _, file in ipairs(state.files) do
    own[file.name] = file.text
    if file.name:match("%.h$") or file.is_data then links[#links + 1] = file.name end
  end
  return { store = store.open(folder, say), toolchain = tools, bar = bar, folders = folders,
    links = links, sources = { model = own, runtime = runtime.texts },
    headers = function(from, source)
      return runtime.of_headers .. (from == "model" and "\n" .. sources.digest(included.by(source, own), own) or "")
    end }, runtime.names
end

-- Gives the runner's context the library of the second model, which was built before into the same folder.
local function add_texts(context, texts, folder)
  local name = ("lib%s.a"):format(texts.spec.name)
  local path = ("%s/%s"):format(context.folders.model, name)
  local text = files.read(path) or faults.raise("io", "cannot read %s/%s", folder, name)
  context.given = { [name] = { path = path, sum = hash.content(text) } }
  for _, file in ipairs(texts.files) do
    if file.name == texts.spec.name .. ".h" then
      context.links[#context.links + 1] = file.name
      context.sources.model[file.name] = file.text
    end
  end
end

-- Returns the files that the model was made from: { id, name, sum, is_inside }, as sbom.text takes them.
local function inputs_of(state, results, options)
  local name, list = state.spec.name, {}
  local function add(id, path, sum, is_inside)
    list[#list + 1] = { id = id, name = path:match("[^/]*$"), sum = sum, is_inside = is_inside }
  end
  if state.checkpoint and gguf.is(state.file) then
    add("description", state.file, hash.content(state.text))
  elseif state.checkpoint then
    add("description", "config.json", hash.content(files.read(state.folder .. "/config.json") or ""))
  else
    add("description", state.file, hash.content(state.text))
  end
  local tuning, factors, parts = again.tuning_of(state), again.factors_of(state), again.parts_of(state)
  if tuning then add("tuning", tuning, hash.content(files.read(tuning) or "")) end
  if factors then add("factors", factors, hash.content(files.read(factors) or "")) end
  if parts then add("parts", parts, hash.content(files.read(parts) or "")) end
  if state.chat_template and state.chat then
    add("chat-template", state.chat_template, hash.content(files.read(state.chat_template) or ""))
  end
  local weights = results[name .. ".weights"]
  if weights then
    add("weights", name .. ".weights", weights.sum, true)
    local path = options.weights
    local sum = hash.file(path) or hash.file(path .. "/model.safetensors")
    if sum then add("checkpoint", path, sum) end
  end
  for _, file in ipairs(state.files) do
    if file.is_data then add("tokenizer", file.name, hash.content(file.text), true) end
  end
  return list
end

-- Returns the time that SPDX requires. It is not the time of the build, so that the same build gives the same bytes.
local function time_of(epoch)
  local seconds = epoch and epoch:match("^%d+$") and #epoch <= 11 and math.tointeger(tonumber(epoch))
  return seconds and os.date("!%Y-%m-%dT%H:%M:%SZ", seconds) or version.date .. "T00:00:00Z"
end

-- Returns the text of NAME.spdx.json for finished jobs.
local function sbom_of(state, jobs, results, cflags, made, options)
  local spec, outputs = state.spec, {}
  for _, each in ipairs { { "program", systems.program_of(spec.name, made.system) },
    { "archive", "lib" .. spec.name .. ".a" }, { "shared", recipe.soname(spec.name, made.system) } } do
    local result = results[each[2]]
    if result then outputs[#outputs + 1] = { id = each[1], kind = each[1], name = each[2], sum = result.sum } end
  end
  return { name = spec.name .. ".spdx.json", text = sbom.text { name = spec.name, providers = made.providers,
    has_text = made.has_text, has_pictures = made.has_pictures, has_sound = made.has_sound,
    has_speech = made.has_speech, has_serve = made.has_serve,
    has_ranks = made.has_ranks, texts = made.texts, is_static = made.is_static, is_portable = made.is_portable,
    flags = recipe.flags(jobs, cflags), outputs = outputs,
    line = again.line(options.arguments,
      { tuning = again.tuning_of(state), factors = again.factors_of(state), parts = again.parts_of(state) },
      table.concat(state.target_names, ",")),
    versions = sbom.versions(results[spec.name .. ".versions"].text), inputs = inputs_of(state, results, options),
    created = time_of(os.getenv("SOURCE_DATE_EPOCH")) } }
end

-- Returns the model for each target, as recipe.jobs takes it. Faults: usage, if the compiler is for another processor.
local function builds_of(state, tools)
  local list = {}
  for i, each in ipairs(state.builds) do
    local name = each.spec.target
    if tools.machine ~= "" and not targets.fits(targets.by_name[name], tools.machine) then -- "": it does not say
      faults.raise("usage", "target: %s, but the compiler makes code for %s; CC or CROSS (aarch64-linux-gnu-) names "
        .. "another", name, tools.machine)
    end
    list[i] = { target = name, suffix = each.build_suffix, flags = targets.flags(name, tools.is_gcc) }
  end
  return list
end

-- Returns a function that removes the program of an older build, for use after a build of only the libraries, to which
-- the program does not belong. If the older build's list does not have its hash, the function says that it is kept.
local function older_program(folder, name, system)
  local path = ("%s/%s"):format(folder, systems.program_of(name, system))
  if lfs.symlinkattributes(path, "mode") ~= "file" then return function() end end
  local listed = files.read(("%s/%s.spdx.json"):format(folder, name)) or ""
  if listed:find(hash.content(files.read(path) or ""), 1, true) then return function() os.remove(path) end end
  return function() say(path .. ": is kept, because no older build made it; it does not belong to these libraries") end
end

-- Returns the jobs of a build (recipe.lua), and the options that they depend on. library: the provider of kernels in
-- the library; texts: the finished pipeline of the model of texts that is linked in, or nil.
local function jobs_of(state, tools, runtime_sources, options, library, texts)
  local spec, only = state.spec, options.only
  local made = { system = tools.system, embed = options.embed,
    is_static = options.is_static or systems[tools.system].is_static, is_portable = options.is_portable,
    has_text = state.tokenizer ~= nil,
    has_pictures = spec.pictures and true or false, has_sound = spec.sound and true or false,
    has_speech = spec.speech and true or false, has_ctc = spec.ctc and true or false,
    texts = texts and not spec.draft and texts.spec.name, draft = texts and spec.draft and texts.spec.name,
    has_chat = state.chat ~= nil, has_generation = spec.symbols.past.is_open,
    has_ranks = spec.processes ~= nil, has_serve = options.serves, providers = { library = library,
      program = recipe.provider(spec) } }
  local jobs = recipe.jobs(spec, builds_of(state, tools), runtime_sources, state.entries, made)
  if only then jobs = recipe.needed(jobs, only == true and systems.program_of(spec.name, tools.system) or only) end
  if options.is_libraries then jobs = recipe.of_libraries(jobs, spec, tools.system) end
  return jobs, made
end

-- Compiles in a folder that contains the C of a finished pipeline. options: build.make's.
local function compile(state, folder, root, options, bar)
  local spec, only = state.spec, options.only
  local tools = options.begun and options.begun.toolchain or toolchain.new()
  if not options.is_libraries and not systems[tools.system].program then
    faults.raise("usage", "the compiler makes code for %s, for which there are only libraries: build --libraries",
      tools.system)
  end
  local context, runtime_sources = context_of(state, folder, root, bar, tools)
  context.weights = options.weights
  local texts = not only and not options.is_libraries and state.texts or nil
  if texts then add_texts(context, texts, folder) end
  local kernel_count = 0
  for _, each in ipairs(state.builds) do kernel_count = kernel_count + #each.kernels end
  local jobs, made = jobs_of(state, tools, runtime_sources, options, kernel_count > 0 and "libxsmm" or "c", texts)
  local results = runner.run(context, jobs)
  local opener = recipe.opener(results)
  if opener then opened.check(opener.path, ("%s/%s.tables"):format(folder, spec.name), state.tokenizer.made, say) end
  local outputs = only and {} or recipe.links(spec, tools.system)
  for _, job in ipairs(jobs) do
    if job.is_output then
      outputs[#outputs + 1] = { name = job.name, text = results[job.name].text, is_program = job.is_program }
    end
  end
  if not only then outputs[#outputs + 1] = sbom_of(state, jobs, results, context.toolchain.cflags, made, options) end
  local finish_program = options.is_libraries and older_program(folder, spec.name, tools.system)
  files.write_all(folder, outputs)
  if finish_program then finish_program() end
  context.store:sweep()
  return tools.system
end

local Begun = {}
Begun.__index = Begun

-- Starts to compile the runtime.
local function start(self, state)
  local own = store.of_user()
  if not own then return end
  self.toolchain = toolchain.new()
  local path, runtime = runtime_of(self.root)
  self.early = early.start({ store = own, toolchain = self.toolchain, folders = { runtime = path },
    sources = { runtime = runtime.texts }, headers = function() return runtime.of_headers end },
    recipe.of_runtime(jobs_of(state, self.toolchain, runtime.names, self.options, "c")))
end

--- Is called before each pass. Before `graph` it is known which files of the runtime the build takes. From then on
--- signals are looked for between passes: Lua does not see them any more once a child has been started.
function Begun:watch(pass, state)
  if self.toolchain then process.poll() end
  if pass ~= "graph" or not (self.options.compile or self.options.only) then return end
  local done, fault = pcall(start, self, state)
  if not done and not faults.is(fault) then error(fault, 0) end -- the build itself will raise a fault
end

function Begun:__close(fault)
  if self.early then early.finish(self.early, fault) end
end

--- Returns a build that begins while its passes run, as `begun` of the options of build.make, which are the same. It
--- ends with its scope.
function build.begin(root, options) return setmetatable({ root = root, options = options }, Begun) end

--- Writes the C of a finished pipeline into a folder, and compiles it if options.compile. CC, ATTN2C_CFLAGS and
--- ATTN2C_LDFLAGS choose compiler and flags. The folder is locked meanwhile; on a fault its files are restored. The
--- model of texts of a model of pictures is made first, in the same folder.
---
---   only                        the name of the one result to make, or true for the program, instead of all outputs
---   is_libraries                makes only the libraries
---   embed, weights, is_static, is_portable   choose what is linked in (embed.lua, recipe.lua)
---   serves                      true if the program has the command `serve`
---   arguments                   the parsed command line, for the line that repeats the build (again.lua)
---   begun                       of build.begin, if the build has begun
--- Returns the system that the compiler makes code for (data/systems.lua); nil if nothing was compiled.
function build.make(state, folder, root, options)
  if options.is_static and state.spec.sound then
    faults.raise("usage", "--static: a program that takes sound needs libsndfile and libsoxr, which Debian has as "
      .. "shared libraries only; sound=false builds a program that takes features")
  end
  if state.texts then build.make(state.texts, folder, root, options) end
  local bar <close> = progress.start()
  local system
  files.make_folder(folder)
  lock.hold(folder, say, function()
    files.sweep(folder)
    local put_back = files.keep(folder, state.files)
    local _ <close> = setmetatable({}, { __close = function(_, fault) if fault then put_back() end end })
    files.write_all(folder, state.files)
    if options.compile or options.only then system = compile(state, folder, root, options, bar) end
  end)
  return system
end

return build
