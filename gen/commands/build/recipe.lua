-- recipe.lua: lists the jobs that compile and link a model, as a table for build.lua.
-- A job is { name, commands, from or inputs }. Nothing here runs a program or knows a path.
local linkage = require("data.linkage")
local systems = require("data.systems")
local version = require("common.version")
local words = require("common.words")

local recipe = {}

-- Placeholders for words that the builder knows: the compiler and the user's flags, the folder of the runtime, the
-- archive of Jansson, a job's source and inputs, only its source, its result, the user's weights, and the flags that
-- keep the names of folders out of results.
local CC, CFLAGS, LDFLAGS = { of = "compiler" }, { of = "cflags" }, { of = "ldflags" }
local AR, OBJCOPY = { of = "ar" }, { of = "objcopy" }
local RUNTIME, INPUTS, RESULT = { of = "runtime" }, { of = "inputs" }, { of = "result" }
local SOURCE, WEIGHTS, MAPS = { of = "source" }, { of = "weights" }, { of = "maps" }
local JANSSON = { of = "jansson" }
local MPI_FLAGS, MPI_LIBRARIES = { of = "mpi_flags" }, { of = "mpi_libraries" }

-- Flags of all compilations. Each function has its own section, so that a static program has only those that it calls.
local plain = { "-std=c11", "-g0", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-ffunction-sections",
  "-fdata-sections", MAPS, "-iquote", RUNTIME }

-- The level of code that does little in a call, or runs once. gcc takes half of the time of -O2 for it, and half of the
-- time of -O1 for lists of calls. A library is 1% larger.
local QUICK = "-Og"

-- Flags of code that is only in the program: nobody unwinds its stack, and tables for that are a tenth of its size.
local of_program = { "-fno-asynchronous-unwind-tables" }

-- Flags of a static program, which has no symbols, and only the sections that it calls.
local smaller = { "-static", "-s", "-Wl,--gc-sections" }

-- The folder of Jansson's header, after all other folders. musl-gcc looks only into musl's own folders, which still
-- come first. Other compilers look there anyway.
local jansson_header = { "-idirafter", "/usr/include" }

-- The runtime's folders that are only in the program.
local of_commands = words.set { "reference", "check", "program", "measure", "grammar" }

-- Returns the folder of a source of the runtime.
local function room_of(source) return source:match("^%w+") end

-- Sources of the runtime that work on each number or byte of a file, of weights, of a text or of an answer. With -O1 a
-- check takes 1.2 times as long.
local computes = { "^base/", "^ranks/", "^text/", "^picture/", "^sound/", "^generate/", "^speech/", "^grammar/",
  "^formats/gguf_blocks%.c$", "^formats/npy%.c$", "^formats/tensors%.c$", "^weights/block_reader%.c$",
  "^reading/coded%.c$", "^weights/constants%.c$", "^weights/orders%.c$", "^packing/pack%.c$", "^weights/random%.c$",
  "^reading/resized%.c$", "^packing/scale_", "^reading/taps%.c$", "^reading/views%.c$", "^weights/weights%.c$",
  "^model/team%.c$", "^model/text/kept%.c$", "^reference/", "^check/compare%.c$", "^check/tolerance%.c$", "^measure/",
  "^program/answers/similar%.c$" }

-- Returns the level of a source of the runtime. In a static program, code of the commands is small rather than fast:
-- its check takes some 15% longer.
local function level_of(source, is_static)
  if is_static and of_commands[room_of(source)] then return "-Os" end
  for _, pattern in ipairs(computes) do if source:match(pattern) then return "-O2" end end
  return QUICK
end

-- Flags of element loops, which the compiler vectorises. None lets it change NaN, infinity or rounding.
local exact = { "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fopenmp-simd" }
local loops = { "-O3", exact }

-- Flags of files of the runtime that are element loops. Their results are part of the weights or of beams' scores, so
-- they have the same bits on every machine.
local of_source = { ["weights/projected.c"] = loops, ["packing/scale_search.c"] = { "-O2", exact },
  ["generate/beam.c"] = loops, ["speech/times.c"] = loops }

-- The generator of kernels for when a model is opened. libxsmm's is linked into the library, so that its user needs
-- nothing but libc and libm. None is needed if all kernels are in C.
local generator_of = { libxsmm = { "-lxsmmgen" }, c = {} }
local text_libraries = { "-lutf8proc", "-lpcre2-8" }
-- Words before and after libraries that are put into a shared library, for machines that lack them. Their functions are
-- not shown.
local INNER, AFTER_INNER = "-Wl,-Bstatic", { "-Wl,-Bdynamic", "-Wl,--exclude-libs,libutf8proc.a:libpcre2-8.a:libz.a" }
local picture_libraries = { "-lpng", "-ljpeg", "-lz" } -- only of the program
local sound_libraries = { "-lsndfile", "-lsoxr" } -- only of the program
local speech_libraries = { "-lz" }
local serve_libraries = { "-levent_extra", "-levent_core" } -- only of the program

-- Returns the name of a source's object: NAME.o for an emitted file, FOLDER-FILE.o for one of the runtime. No model's
-- name has a `-`, so that an emitted file and a file of the runtime never have the same object. ending: distinguishes
-- several objects of one source.
local function object_name(source, ending) return source:gsub("/", "-"):gsub("%.c$", "") .. (ending or "") .. ".o" end

-- Returns the job that compiles a source of the model (`from` = "model") or of the runtime ("runtime"). name: the
-- object's name, if it is not object_name's.
local function object(from, source, flags, name)
  return { name = name or object_name(source), from = from, source = source, is_object = true,
    commands = { { CC, plain, flags, CFLAGS, "-c", INPUTS, "-o", RESULT } } }
end

-- True if a source is in a folder of that name, at the top or of the program, or its name begins with it.
local function is_part(source, name)
  return source:match("^" .. name .. "/") or source:match("^%w+/" .. name .. "[_/]")
end

-- True if a source is only part of models that are divided among ranks.
local function is_of_ranks(source) return is_part(source, "ranks") end

-- Sources of the program of a model of pictures that has a model of texts linked in.
local of_texts = words.set { "program/picture/texts.c", "program/text/source.c" }

-- Needs of sources of the server, by the word that their names begin with. Sources with other names are for all models.
local of_server = { generate = { "has_generation", "has_text" }, text = { "has_text" }, picture = { "has_pictures" },
  sound = { "has_sound" } }

local function is_of_server(source, options)
  local is_media = options.has_pictures or options.has_sound
  if source == "program/serve/media.c" then return options.has_serve and is_media end
  local needed = of_server[source:match("^program/serve/(%l+)")] or {}
  return words.all(needed, function(name) return options[name] end) and options.has_serve
end

-- True if a source is part of a model. picture/, program/picture/ and FOLDER/picture_*.c are only for models that take
-- pictures; in the same way text is for models that take text, generate for those that continue, grammar for those
-- that do both, ranks for those that are divided among ranks, sound for those that take sound, and chat/ for those with
-- a chat template. sound/ is also for those with CTC or speech. program/answers/ is for text, pictures and sound,
-- program/media/ for the last two. A file with the name of a system is for that system. Tools are separate programs.
local function is_wanted(source, providers, options)
  if source:match("^tools/") then return false end
  local system = source:match("(%w+)%.c$")
  if systems[system] and system ~= (options.system or "linux") then return false end
  if source:match("^program/serve/") then return is_of_server(source, options) end
  if source:match("generate") and not options.has_generation then return false end
  if of_texts[source] and options.texts then return true end
  if source == "program/picture/texts.c" then return false end
  local is_media = options.has_pictures or options.has_sound
  if source:match("^program/answers/") then return options.has_text or is_media end
  if source:match("^program/media/") then return is_media end
  if source == "program/speech/sounds.c" and not options.has_sound then return false end
  if is_part(source, "speech") then return options.has_speech end
  if source == "program/sound/cues.c" and options.has_speech then return true end
  if is_part(source, "picture") then return options.has_pictures end
  if source:match("^sound/") then return options.has_sound or options.has_ctc or options.has_speech end
  if is_part(source, "sound") then return options.has_sound end
  if is_part(source, "grammar") then return options.has_text and options.has_generation end
  if is_part(source, "text") then return options.has_text end
  if source:match("^chat/") then return options.has_chat end
  if is_of_ranks(source) then return options.has_ranks end
  local provider = source:match("^model/kernels_(.*)%.c$")
  return provider == nil or provider == providers.library or provider == providers.program
end

-- Returns the macros for a source. The program prints the licences of the libraries that are linked in. A static
-- program loads no library.
local function defined_by(source, providers, is_static)
  if source == "program/serve/page.c" then return { "-I", RUNTIME } end -- the assembler looks there for the page
  if source == "program/text/generate_line.c" then return is_static and "-DATTN2C_STATIC" or {} end
  return source == "program/licenses.c" and providers.program == "libxsmm" and "-DATTN2C_WITH_LIBXSMM" or {}
end

-- Returns the objects of the runtime. runtime_sources: FOLDER/FILE.c, in order.
local function runtime_objects(providers, runtime_sources, options)
  local list = {}
  for _, source in ipairs(runtime_sources) do
    if is_wanted(source, providers, options) then
      local more = of_commands[room_of(source)] and { of_program, jansson_header } or {}
      list[#list + 1] = object("runtime", source, { of_source[source] or level_of(source, options.is_static), more,
        "-fopenmp-simd", defined_by(source, providers, options.is_static), is_of_ranks(source) and MPI_FLAGS or {} })
    end
  end
  return list
end

-- Optimisation levels of a static program's own objects, by folder. It has them in place of the library's objects: they
-- have no unwinding tables, and code that reads files is small.
local static_levels = { formats = "-Os", packing = "-Os", reading = "-Os", weights = "-Os" }

local function static_objects(providers, runtime_sources, options)
  local list = {}
  for _, source in ipairs(runtime_sources) do
    local room = room_of(source)
    if not of_commands[room] and is_wanted(source, providers, options) then
      list[#list + 1] = object("runtime", source, { of_source[source] or static_levels[room] or level_of(source),
        "-fopenmp-simd", of_program }, object_name(source, "-static"))
    end
  end
  return list
end

local function archive_of(provider) return "libattn2c_" .. provider .. ".a" end

--- Returns the provider of kernels at run time in a model's program, which also times the roof.
function recipe.provider(spec) return spec.kernels == "c" and "c" or "libxsmm" end

--- Returns the name of the archive of what all programs share, for recipe.needed.
function recipe.runtime(spec) return archive_of(recipe.provider(spec)) end

-- The archive of what libraries may contain. So a build of only libraries compiles no commands.
local LIBRARY_ARCHIVE = "libattn2c_library.a"

-- Returns the objects that are not only in the program.
local function of_library(objects)
  return words.filter(objects, function(job) return not of_commands[room_of(job.source)] end)
end

-- Returns the job of the runtime's archive, with one of the providers of kernels.
local function archive_job(provider, objects, name)
  local inputs = {}
  for _, job in ipairs(objects) do
    local other = job.source:match("^model/kernels_(.*)%.c$")
    if not other or other == provider then inputs[#inputs + 1] = job.name end
  end
  return { name = name or archive_of(provider), inputs = inputs, commands = { { AR, "rcsD", RESULT, INPUTS } } }
end

-- Appends the objects of one target's code: the library's to `shipped`, objects of only the program to `program`.
local function add_build(shipped, program, spec, build, entries, is_static)
  local own, flags = spec.name .. build.suffix, build.flags
  local steps = { QUICK, flags }
  -- The program's own lists of calls, with clock readings or traces between them, need not be fast. Without
  -- optimisation they compile in less than half the time, but take twice the space.
  local beside = { is_static and "-O1" or "-O0", flags, of_program }
  for _, entry in ipairs(entries) do
    for i, workers in ipairs(spec.workers) do
      local ship = linkage.ship(own, entry, workers, i == 1)
      shipped[#shipped + 1] = object("model", ship .. ".c", steps)
      program[#program + 1] = object("model", ship .. ".c", { beside, "-DATTN2C_PROFILE" }, ship .. "_profile.o")
    end
    program[#program + 1] = object("model", linkage.entry(own, entry) .. "_trace.c", beside)
  end
  shipped[#shipped + 1] = object("model", own .. "_ops.c", { loops, flags })
  shipped[#shipped + 1] = object("model", own .. "_kernels.c", { loops, flags })
end

-- Returns the objects of the model that library and program share, and those that only one of them has. A library that
-- only opens packed weights has a table of readers of its own.
local function model_objects(spec, builds, entries, options)
  local name, shipped, program, own = spec.name, {}, {}, {}
  for _, build in ipairs(builds) do add_build(shipped, program, spec, build, entries, options.is_static) end
  local binding = { QUICK, options.has_ranks and MPI_FLAGS or {} }
  local is_packed = spec.opens == "packed"
  if is_packed then
    program[#program + 1] = object("model", name .. "_model.c", { binding, "-DATTN2C_PROGRAM" }, name .. "_reads.o")
  end
  table.insert(is_packed and own or shipped, object("model", name .. "_model.c", binding))
  if options.has_generation then shipped[#shipped + 1] = object("model", name .. "_sequences.c", { QUICK }) end
  if options.has_text then shipped[#shipped + 1] = object("model", name .. "_text.c", { QUICK }) end
  if options.has_pictures then shipped[#shipped + 1] = object("model", name .. "_picture.c", { QUICK }) end
  if options.has_sound or options.has_ctc then
    shipped[#shipped + 1] = object("model", name .. "_sound_facts.c", { QUICK })
  end
  if options.has_chat then shipped[#shipped + 1] = object("model", name .. "_chat.c", { QUICK }) end
  for _, build in ipairs(builds) do
    program[#program + 1] = object("model", name .. build.suffix .. "_program.c", { QUICK, of_program })
    program[#program + 1] = object("model", linkage.roof(build.suffix) .. ".c", { loops, build.flags, of_program })
  end
  return shipped, program, own
end

-- Commands for weights that are linked in. A program without weights packs them, or checks that they fit. It runs each
-- time, because the files that it reads are not results of jobs. The weights' object is made in the folder of the file
-- `weights`.
local fitting = {}

function fitting.packed(packs) return { { packs, "-o", RESULT } } end

function fitting.stored(packs) return { { packs, "-o", "/dev/null" }, { "cp", "--", WEIGHTS, RESULT } } end

-- Returns the jobs of weights that are linked in. target: the one that they are packed for, whatever this machine is.
local function weight_jobs(name, form, packer, target)
  local source = name .. "_weights.c"
  local packs = { INPUTS, "pack", "--weights", WEIGHTS }
  return {
    object("model", source, "-O1", name .. "_none.o"),
    packer,
    { name = name .. ".weights", inputs = { packer.name }, is_fresh = true,
      environment = { ATTN2C_TARGET = target }, commands = fitting[form](packs) },
    { name = name .. "_weights.o", inputs = { name .. ".weights" }, from = "model", source = source,
      is_object = true,
      commands = { { "ln", "-s", "--", INPUTS, "weights" },
        { CC, plain, "-O1", "-DATTN2C_WEIGHTS", CFLAGS, "-c", SOURCE, "-o", RESULT } } },
  }
end

-- Returns the job that finds the versions of linked libraries, in the macros that their headers define.
local function versions_job(spec, provider, options)
  return { name = spec.name .. ".versions", from = "runtime", source = "program/versions.h", is_fresh = true,
    is_read = true, commands = { { CC, plain, jansson_header, CFLAGS,
      provider == "libxsmm" and "-DATTN2C_WITH_LIBXSMM" or {},
      (options.has_text or options.texts) and "-DATTN2C_WITH_TEXT" or {},
      options.has_pictures and "-DATTN2C_WITH_PICTURES" or {}, options.has_sound and "-DATTN2C_WITH_SOUND" or {},
      options.has_speech and "-DATTN2C_WITH_SPEECH" or {}, options.has_serve and "-DATTN2C_WITH_SERVE" or {},
      options.has_ranks and { "-DATTN2C_WITH_MPI", MPI_FLAGS } or {},
      "-E", "-dM", INPUTS, "-o", RESULT } } }
end

-- The program that opens a tokenizer's tables. It is the same for all models, and so is its name.
local OPENER = "tables.opener"

local function opening_jobs(runtime, libraries)
  local opener = object("runtime", "tools/open_tables.c", { QUICK, "-fopenmp-simd" })
  local inputs = { opener.name }
  for _, job in ipairs(runtime) do
    local room = room_of(job.source)
    if room == "text" or room == "base" or room == "system" then inputs[#inputs + 1] = job.name end
  end
  return { opener, { name = OPENER, is_program = true, inputs = inputs,
    commands = { { CC, LDFLAGS, CFLAGS, "-o", RESULT, INPUTS, text_libraries, libraries } } } }
end

local function names_of(...)
  local names = {}
  for _, jobs in ipairs { ... } do
    for _, job in ipairs(jobs) do names[#names + 1] = job.name end
  end
  return names
end

--- Returns the shared library's name at run time, on a system of data/systems.lua (default: linux).
function recipe.soname(name, system) return (systems[system or "linux"].shared:format(name, version.abi)) end

--- Returns the program that opens tables (runtime/tools/open_tables.c) from the results of a model with text.
function recipe.opener(results) return results[OPENER] end

--- Returns all jobs of a model with these entries. NAME_text.c includes NAME.tables, and has its hash.
---
--- builds: for each target { target, suffix = the end of its files' names, flags = the compiler's }. The first packs.
---
--- A job:
---   name          its result
---   inputs        the jobs whose results it takes
---   is_output     true if the result goes into the model's folder, next to links()
---   is_fresh      true if it is made each time and not kept
---   is_read       true if the builder reads the result's text
---   is_object     true if the result is an object
---   environment   variables that its commands run with
---
--- options:
---   system        the operating system (data/systems.lua); nil: linux
---   providers     { library, program }: the provider of kernels at run time in each, "libxsmm" or "c" (none)
---   is_static     true if the program is static
---   is_portable   true if the shared library needs no other one than the C library's
---   embed         "packed" or "stored": the form of weights that are linked in; nil: none are
---   has_text      true if the model takes text
---   has_pictures  true if it takes pictures
---   has_sound     true if it takes sound
---   has_speech    true if it writes down speech
---   has_ctc       true if its scores become text by CTC
---   has_chat      true if it has a chat template
---   has_generation  true if the model continues its sequences
---   has_ranks     true if it is divided among ranks
---   has_serve     true if the program has the command `serve`
---   texts         the name of the model of texts that is linked into the program, whose archive the runner is given;
---                 nil: none
---   draft         the name of the model that guesses, which is linked in the same way; nil: none
function recipe.jobs(spec, builds, runtime_sources, entries, options)
  options = options or {}
  local name, embed = spec.name, options.embed
  local providers = options.providers or { library = "c", program = "c" }
  local system = systems[options.system or "linux"]
  local libraries, soname = system.libraries, recipe.soname(name, options.system)
  local runtime = runtime_objects(providers, runtime_sources, options)
  local shipped, program, own = model_objects(spec, builds, entries, options)
  local of_ranks = options.has_ranks and MPI_LIBRARIES or {}
  local is_portable = options.is_portable
  local own_text = { options.has_text and text_libraries or {}, options.has_speech and speech_libraries or {} }
  local has_own = options.has_text or options.has_speech
  local of_text = { is_portable and has_own and { INNER, own_text, AFTER_INNER } or own_text, of_ranks }
  local of_program_text = { (options.has_text or options.texts) and text_libraries or {}, of_ranks }
  local second = options.texts or options.draft
  local texts = second and { { name = ("lib%s.a"):format(second) } } or {}
  local whole = "lib" .. name .. ".o"
  local linked_in = embed and { { name = name .. "_weights.o" } } or {}
  -- Objects of the server, which nothing else calls: an archive would leave them out.
  local server = words.filter(runtime, function(job) return job.source:match("^program/serve/") end)
  local function program_job(job_name, weights, more, archive, static)
    return { name = job_name, is_program = true,
      inputs = names_of(shipped, program, weights, more, server,
        { { name = object_name("program/main.c") }, { name = object_name("program/fortified.c") },
          { name = archive } }, texts),
      commands = { { CC, LDFLAGS, CFLAGS, static,
        #system.linking > 0 and { "-L", RUNTIME, system.linking } or {}, "-o", RESULT, INPUTS,
        generator_of[providers.program], JANSSON, of_program_text, options.has_pictures and picture_libraries or {},
        options.has_sound and sound_libraries or {}, options.has_speech and speech_libraries or {},
        options.has_serve and serve_libraries or {}, libraries } } }
  end
  local is_static = options.is_static
  local licenses = (is_static or is_portable) and { object("runtime", "program/licenses.c",
    { "-Os", of_program, is_static and "-DATTN2C_STATIC" or {}, defined_by("program/licenses.c", providers),
      (options.has_text or options.texts) and "-DATTN2C_STATIC_TEXT" or {},
      options.has_pictures and "-DATTN2C_STATIC_PICTURES" or {},
      is_static and options.has_sound and "-DATTN2C_STATIC_SOUND" or {},
      (options.has_pictures or options.has_speech) and "-DATTN2C_STATIC_ZLIB" or {},
      options.has_serve and "-DATTN2C_STATIC_SERVE" or {} },
    object_name("program/licenses.c", "-static")) } or {}
  local runtime_of_static = is_static and static_objects(providers, runtime_sources, options) or {}
  local archive = is_static and "libattn2c_static.a" or archive_of(providers.program)
  local static = is_static and { smaller, options.has_serve and words.map(system.unused or {}, function(unused)
    return ("-Wl,--wrap=%s,--defsym=__wrap_%s=abort"):format(unused, unused)
  end) or {} } or {}
  local final = program_job(systems.program_of(name, options.system), linked_in, licenses, archive, static)
  final.is_output = true
  -- One object with only the model's own interface, so that two models, or versions of the runtime, fit in one program.
  local joined = system.hides and { { name = whole, inputs = names_of(shipped, own, { { name = LIBRARY_ARCHIVE } }),
    commands = { { CC, "-r", "-nostdlib", "-o", "all.o", INPUTS, generator_of[providers.library] },
      { OBJCOPY, system.hides, "--wildcard", "--keep-global-symbol=" .. name .. "_*", "all.o", RESULT } } } }
  local parts = names_of(joined or words.append({}, shipped, own, of_library(runtime)), linked_in)
  local sharing = words.map(system.sharing, function(option) return option:format(soname) end)
  local links = {
    archive_job(providers.library, of_library(runtime), LIBRARY_ARCHIVE),
    archive_job(providers.program, runtime),
    { name = "lib" .. name .. ".a", is_output = true, inputs = parts, commands = { { AR, "rcsD", RESULT, INPUTS } } },
    { name = soname, is_output = true, is_program = true, inputs = parts, commands = {
      { CC, "-shared", is_portable and system.portable or {}, sharing, LDFLAGS, CFLAGS, "-o", RESULT,
        INPUTS, of_text, libraries } } },
    final,
  }
  if is_static then
    local objects = words.append({}, runtime_of_static)
    for _, job in ipairs(runtime) do
      if of_commands[room_of(job.source)] then objects[#objects + 1] = job end
    end
    table.insert(links, 2, archive_job(providers.program, objects, archive))
  end
  local packer = program_job(name .. ".packer", { { name = name .. "_none.o" } }, {}, archive_of(providers.program), {})
  local packing = embed and weight_jobs(name, embed, packer, builds[1].target)
  return words.append({}, shipped, own, program, runtime, runtime_of_static, licenses, packing, joined, links,
    { versions_job(spec, providers.program, options) },
    options.has_text and system.program and opening_jobs(runtime, libraries) or nil)
end

--- Returns the symbolic links next to the outputs: { name, link }.
function recipe.links(spec, system)
  local form = systems[system or "linux"].link
  return form and { { name = form:format(spec.name), link = recipe.soname(spec.name, system) } } or {}
end

local function needed(jobs, names)
  local by_name, wanted, list = {}, {}, {}
  for _, job in ipairs(jobs) do by_name[job.name] = job end
  local function want(each)
    if wanted[each] then return end
    wanted[each] = true
    for _, input in ipairs(assert(by_name[each], each).inputs or {}) do want(input) end
  end
  for _, name in ipairs(names) do want(name) end
  for _, job in ipairs(jobs) do if wanted[job.name] then list[#list + 1] = job end end
  return list, by_name
end

--- Returns the jobs that the result `name` needs and its own, which then is an output.
function recipe.needed(jobs, name)
  local list, by_name = needed(jobs, { name })
  by_name[name].is_output = true
  return list
end

--- Returns the jobs that the libraries need, with those that find versions and open a tokenizer's tables.
function recipe.of_libraries(jobs, spec, system)
  local names = { "lib" .. spec.name .. ".a", recipe.soname(spec.name, system), spec.name .. ".versions" }
  for _, job in ipairs(jobs) do if job.name == OPENER then names[#names + 1] = OPENER end end
  return (needed(jobs, names))
end

--- Returns the objects of the runtime among jobs, without those that only some models need: of ranks, whose compiler
--- flags may be missing here, and of a provider of kernels, which a late pass chooses.
function recipe.of_runtime(jobs)
  local list = {}
  for _, job in ipairs(jobs) do
    local is_common = job.is_object and job.from == "runtime"
      and not is_of_ranks(job.source) and not job.source:match("^model/kernels_")
    if is_common then list[#list + 1] = job end
  end
  return list
end

--- Returns the compiler flags that sources are compiled with: each different list as a text, in order.
function recipe.flags(jobs, cflags)
  local list, is_there = {}, {}
  local of = { mpi_flags = {},
    compiler = {}, cflags = cflags, runtime = "runtime", inputs = {}, result = {}, source = {}, maps = {} }
  for _, job in ipairs(jobs) do
    for _, command in ipairs(job.source and job.source:match("%.c$") and job.commands or {}) do
      if command[1] == CC then
        local text = table.concat(recipe.words(command, of), " "):gsub(" %-c %-o$", "")
        if not is_there[text] then list[#list + 1] = text end
        is_there[text] = true
      end
    end
  end
  return list
end

--- Returns the words of a command as a flat list. `of` maps a placeholder's name to its word or list of words, or to a
--- function that returns these. The user's level replaces a job's, so that jobs that differ only in it share a result.
function recipe.words(command, of)
  local list, is_users = {}, false
  for i, word in ipairs(of.cflags) do
    is_users = is_users or word:match("^%-O") and not (of.cflags[i - 1] or ""):match("^%-X")
  end
  local function add(word)
    if type(word) ~= "table" then
      if not (is_users and word:match("^%-O")) then list[#list + 1] = word end
    elseif word.of then
      local meant = assert(of[word.of], word.of)
      if type(meant) == "function" then meant = meant() end
      for _, each in ipairs(type(meant) == "table" and meant or { meant }) do list[#list + 1] = each end
    else
      for _, each in ipairs(word) do add(each) end
    end
  end
  add(command)
  return list
end

return recipe
