-- build.lua: compiles emitted C into libraries and a program.
-- It runs the jobs of recipe.lua with the compiler that the environment names, without a shell.
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local hash = require("common.hash")
local lfs = require("lfs")
local again = require("commands.build.again")
local included = require("commands.build.included")
local lock = require("common.lock")
local opened = require("commands.build.opened")
local progress = require("common.progress")
local recipe = require("commands.build.recipe")
local runner = require("commands.build.runner")
local sbom = require("commands.build.sbom")
local store = require("commands.build.store")
local targets = require("data.targets")
local terminal = require("common.terminal")
local toolchain = require("commands.build.toolchain")
local version = require("common.version")

local build = {}

local function say(line) io.stderr:write("attn2c: ", terminal.safe(line), "\n") end

-- Returns the files in the runtime's folders whose names have this ending: a sorted list of FOLDER/FILE, and their
-- texts by name.
local function runtime_files(folder, ending)
  local list, texts = {}, {}
  for room in lfs.dir(folder) do
    if room:sub(1, 1) ~= "." and lfs.attributes(folder .. "/" .. room, "mode") == "directory" then
      for name in lfs.dir(folder .. "/" .. room) do
        if name:sub(-#ending) == ending and name:sub(1, 1) ~= "." then list[#list + 1] = room .. "/" .. name end
      end
    end
  end
  table.sort(list)
  for _, name in ipairs(list) do texts[name] = files.read(folder .. "/" .. name) end
  return list, texts
end

-- Returns one text that identifies a list of files, by their names and contents.
local function digest(list, texts)
  local parts = {}
  for i, name in ipairs(list) do parts[i] = name .. " " .. hash.content(texts[name]) end
  return table.concat(parts, "\n")
end

local known_runtimes = {} -- by folder: a command may build many variants

-- Returns what builds need of the runtime in a folder: its sources, their texts by name, and what identifies the
-- headers.
local function runtime_of(folder)
  if not known_runtimes[folder] then
    local headers, texts = runtime_files(folder, ".h")
    local runtime = { of_headers = digest(headers, texts) }
    runtime.sources, runtime.texts = runtime_files(folder, ".c")
    known_runtimes[folder] = runtime
  end
  return known_runtimes[folder]
end

-- Returns the runner's context for a finished pipeline, and the runtime's sources.
local function context_of(state, folder, root, bar)
  local uv = require("common.libuv")
  uv.os_unsetenv("PWD") -- compilers would take the folder's name from it, which may contain links
  local folders = { model = uv.fs_realpath(folder), runtime = uv.fs_realpath(root .. "/runtime") }
  local runtime = runtime_of(folders.runtime)
  local own, links = {}, {}
  for _, file in ipairs(state.files) do
    own[file.name] = file.text
    if file.name:match("%.h$") or file.is_data then links[#links + 1] = file.name end
  end
  return { store = store.open(folder, say), toolchain = toolchain.new(), bar = bar, folders = folders,
    links = links, sources = { model = own, runtime = runtime.texts },
    headers = function(from, source)
      return runtime.of_headers .. (from == "model" and "\n" .. digest(included.by(source, own), own) or "")
    end }, runtime.sources
end

-- Gives the runner's context the library of the model of texts, which was built before into the same folder.
local function add_texts(context, texts, folder)
  local name = ("lib%s.a"):format(texts.spec.name)
  local path = ("%s/%s"):format(context.folders.model, name)
  local text = files.read(path) or faults.raise("io", ("cannot read %s/%s"):format(folder, name))
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
  local tuning, factors = again.tuning_of(state), again.factors_of(state)
  if tuning then add("tuning", tuning, hash.content(files.read(tuning) or "")) end
  if factors then add("factors", factors, hash.content(files.read(factors) or "")) end
  if state.chat_template and state.chat then
    add("chat-template", state.chat_template, hash.content(files.read(state.chat_template) or ""))
  end
  local weights = results[name .. ".weights"]
  if weights then
    add("weights", name .. ".weights", weights.sum, true)
    local path = options.weights
    local text = files.read(path) or files.read(path .. "/model.safetensors")
    if text then add("checkpoint", path, hash.content(text)) end
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
  for _, each in ipairs { { "program", spec.name }, { "archive", "lib" .. spec.name .. ".a" },
    { "shared", recipe.soname(spec.name) } } do
    local result = results[each[2]]
    if result then outputs[#outputs + 1] = { id = each[1], kind = each[1], name = each[2], sum = result.sum } end
  end
  return { name = spec.name .. ".spdx.json", text = sbom.text { name = spec.name, providers = made.providers,
    has_text = made.has_text, has_pictures = made.has_pictures, has_ranks = made.has_ranks, texts = made.texts,
    is_static = made.is_static,
    flags = recipe.flags(jobs, cflags), outputs = outputs,
    line = again.line(options.arguments,
      { tuning = again.tuning_of(state), factors = again.factors_of(state) }, table.concat(state.target_names, ",")),
    versions = sbom.versions(results[spec.name .. ".versions"].text), inputs = inputs_of(state, results, options),
    created = time_of(os.getenv("SOURCE_DATE_EPOCH")) } }
end

-- Returns the model for each target, as recipe.jobs takes it. Faults: usage, if the compiler makes code for another
-- processor.
local function builds_of(state, tools)
  local list = {}
  for i, each in ipairs(state.builds) do
    local name = each.spec.target
    if tools.machine ~= "" and not targets.fits(targets.by_name[name], tools.machine) then -- "": it does not say
      faults.raise("usage", ("target: %s, but the compiler makes code for %s; CC or CROSS (aarch64-linux-gnu-) names "
        .. "another"):format(name, tools.machine))
    end
    list[i] = { target = name, suffix = each.build_suffix, flags = targets.flags(name, tools.is_gcc) }
  end
  return list
end

-- Returns a function that removes the program of an older build, for use after a build of only the libraries, to which
-- the program does not belong. If the older build's list does not have its hash, the function says that it is kept.
local function older_program(folder, name)
  local path = ("%s/%s"):format(folder, name)
  if lfs.symlinkattributes(path, "mode") ~= "file" then return function() end end
  local listed = files.read(path .. ".spdx.json") or ""
  if listed:find(hash.content(files.read(path) or ""), 1, true) then return function() os.remove(path) end end
  return function() say(path .. ": is kept, because no older build made it; it does not belong to these libraries") end
end

-- Compiles in a folder that contains the C of a finished pipeline. options: those of build.make.
local function compile(state, folder, root, options, bar)
  local spec, only = state.spec, options.only
  local context, runtime_sources = context_of(state, folder, root, bar)
  context.weights = options.weights
  local texts = not only and not options.is_libraries and state.texts or nil
  if texts then add_texts(context, texts, folder) end
  local kernel_count = 0
  for _, each in ipairs(state.builds) do kernel_count = kernel_count + #each.kernels end
  local made = { embed = options.embed, is_static = options.is_static, has_text = state.tokenizer ~= nil,
    has_pictures = spec.pictures and true or false, texts = texts and texts.spec.name,
    has_chat = state.chat ~= nil, has_generation = spec.context ~= nil,
    has_ranks = spec.processes ~= nil, providers = { library = kernel_count > 0 and "libxsmm" or "c",
      program = spec.kernels == "c" and "c" or "libxsmm" } }
  local jobs = recipe.jobs(spec, builds_of(state, context.toolchain), runtime_sources, state.entries, made)
  if only then jobs = recipe.needed(jobs, only) end
  if options.is_libraries then jobs = recipe.of_libraries(jobs, spec) end
  local results = runner.run(context, jobs)
  local opener = recipe.opener(results)
  if opener then opened.check(opener.path, ("%s/%s.tables"):format(folder, spec.name), state.tokenizer.made, say) end
  local outputs = only and {} or recipe.links(spec)
  for _, job in ipairs(jobs) do
    if job.is_output then
      outputs[#outputs + 1] = { name = job.name, text = results[job.name].text, is_program = job.is_program }
    end
  end
  if not only then outputs[#outputs + 1] = sbom_of(state, jobs, results, context.toolchain.cflags, made, options) end
  local finish_program = options.is_libraries and older_program(folder, spec.name)
  files.write_all(folder, outputs)
  if finish_program then finish_program() end
  context.store:sweep()
end

--- Writes the C of a finished pipeline into a folder, and compiles it if options.compile. CC, ATTN2C_CFLAGS and
--- ATTN2C_LDFLAGS choose compiler and flags. The folder is locked meanwhile; on a fault its files are restored. The
--- model of texts of a model of pictures is made first, in the same folder.
---
---   only                        the one result to make, instead of libraries and program
---   is_libraries                makes only the libraries
---   embed, weights, is_static   choose what is linked in (embed.lua, recipe.lua)
---   arguments                   the parsed command line, for the line that repeats the build (again.lua)
function build.make(state, folder, root, options)
  if state.texts then build.make(state.texts, folder, root, options) end
  local bar <close> = progress.start()
  files.make_folder(folder)
  lock.hold(folder, say, function()
    files.sweep(folder)
    local put_back = files.keep(folder, state.files)
    local _ <close> = setmetatable({}, { __close = function(_, fault) if fault then put_back() end end })
    files.write_all(folder, state.files)
    if options.compile or options.only then
      compile(state, folder, root, options, bar)
    end
  end)
end

return build
