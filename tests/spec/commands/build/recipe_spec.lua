-- recipe_spec: the table of what is compiled from what.
local helper = require("tests.spec.helper")
local recipe = require("commands.build.recipe")

local SOURCES = { "base/attn2c.c", "model/kernels_libxsmm.c", "model/kernels_c.c", "program/fortified.c",
  "program/main.c" }

local FORWARD = { { name = "forward", suffix = "" } }

local function jobs(more, options, builds, entries)
  local spec = { name = "tiny", threads = 1, workers = { 1 } }
  options = options or {}
  options.providers = options.providers or { library = "libxsmm", program = "libxsmm" }
  for key, value in pairs(more or {}) do spec[key] = value end
  builds = builds or { { target = "avx2", suffix = "", flags = { "-mavx2" } } }
  local list, by_name = recipe.jobs(spec, builds, options.sources or SOURCES, entries or FORWARD, options), {}
  for _, job in ipairs(list) do
    assert.is_nil(by_name[job.name])
    by_name[job.name] = job
  end
  return by_name, list
end

local MEANINGS = { ar = "ar", objcopy = "objcopy", compiler = { "cc", "-m64" }, cflags = { "-DX" },
  ldflags = { "-Wl,-z,now" }, runtime = "/r t", jansson = "-l:libjansson.a",
  inputs = { "in" }, result = "/w/out", source = "/m/source.c", weights = "/u/w", maps = {} }

local function line(job, i) return table.concat(recipe.words(job.commands[i or 1], MEANINGS), " ") end

describe("the recipe", function()
  it("leaves out its levels where the user has one, and only then", function()
    local function levels(cflags)
      local of = setmetatable({ cflags = cflags, weights = "-Ofile" }, { __index = MEANINGS })
      local list = {}
      for _, word in ipairs(recipe.words({ "cc", { "-O3", { of = "weights" } }, { of = "cflags" }, "-c" }, of)) do
        if word:match("^%-O") then list[#list + 1] = word end
      end
      return list
    end
    assert.same({ "-O3", "-Ofile" }, levels { "-DX" })
    assert.same({ "-Ofile", "-O1" }, levels { "-DX", "-O1" })
    assert.same({ "-O3", "-Ofile", "-O1" }, levels { "-Xlinker", "-O1" })
  end)

  it("compiles calls, loops and the runtime each with their flags", function()
    local by_name = jobs(nil, { sources = { "check/check.c", "check/compare.c", "reference/rows.c",
      "formats/json.c", "packing/pack.c", "weights/hints.c", "weights/projected.c", "model/team.c", "model/model.c",
      table.unpack(SOURCES) } })
    local plain = "cc -m64 -std=c11 -g0 -Wall -Wextra -fPIC -fvisibility=hidden "
      .. "-ffunction-sections -fdata-sections -iquote /r t "
    local tail = " -DX -c in -o /w/out"
    assert.equal(plain .. "-Og -mavx2" .. tail, line(by_name["tiny.o"]))
    assert.equal(plain .. "-O0 -mavx2 -fno-asynchronous-unwind-tables" .. tail, line(by_name["tiny_trace.o"]))
    assert.equal(plain .. "-Og" .. tail, line(by_name["tiny_model.o"]))
    assert.equal(plain .. "-O2 -fopenmp-simd" .. tail, line(by_name["base-attn2c.o"]))
    for _, name in ipairs { "program-main.o", "program-fortified.o" } do
      assert.equal(plain .. "-Og -fno-asynchronous-unwind-tables -idirafter /usr/include -fopenmp-simd" .. tail,
        line(by_name[name]))
    end
    for name, level in pairs { ["check-check.o"] = "-Og", ["reference-rows.o"] = "-O2",
      ["check-compare.o"] = "-O2" } do
      assert.truthy(line(by_name[name]):find(plain .. level .. " ", 1, true), name)
    end
    for name, level in pairs { ["formats-json.o"] = "-Og", ["packing-pack.o"] = "-O2", ["weights-hints.o"] = "-Og",
      ["weights-projected.o"] = "-O3", ["model-team.o"] = "-O2", ["model-model.o"] = "-Og" } do
      assert.truthy(line(by_name[name]):find(plain .. level .. " ", 1, true), name)
    end
    for _, name in ipairs { "tiny_ops.o", "tiny_kernels.o" } do
      assert.equal(plain .. "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -mavx2" .. tail,
        line(by_name[name]))
    end
  end)

  it("knows the objects that are the same whatever later passes decide", function()
    local _, list = jobs(nil, { has_ranks = true, sources = { "model/model.c", "model/ranks_open.c", "ranks/open.c",
      table.unpack(SOURCES) } })
    local names = {}
    for i, job in ipairs(recipe.of_runtime(list)) do names[i] = job.name end
    assert.same({ "model-model.o", "base-attn2c.o", "program-fortified.o", "program-main.o" }, names)
  end)

  it("has the provider's file, and an object a number of workers", function()
    local by_name = jobs({ threads = 0, workers = { 1, 2, 4 } }, { providers = { library = "c", program = "c" } })
    assert.is_nil(by_name["model-kernels_libxsmm.o"])
    assert.truthy(by_name["model-kernels_c.o"])
    for _, name in ipairs { "tiny.o", "tiny_2.o", "tiny_4.o" } do
      assert.truthy(line(by_name[name]):find("-Og -mavx2 -DX", 1, true), name)
    end
    assert.equal("cc -m64 -Wl,-z,now -DX -o /w/out in -l:libjansson.a -lpthread -lm", line(by_name.tiny))
  end)

  it("name the files of an entry by its suffix, whatever the entry is called", function()
    local by_name = jobs(nil, nil, nil, { FORWARD[1], { name = "decode", suffix = "_decode" } })
    for _, name in ipairs { "tiny.o", "tiny_profile.o", "tiny_trace.o", "tiny_decode.o", "tiny_decode_profile.o",
      "tiny_decode_trace.o" } do
      assert.truthy(by_name[name], name)
    end
  end)

  it("compiles each file of steps a second time, as the program's profile", function()
    local by_name, list = jobs { threads = 0, workers = { 1, 2 } }
    for _, linkage in ipairs { "tiny", "tiny_2" } do
      local ship, profile = by_name[linkage .. ".o"], by_name[linkage .. "_profile.o"]
      assert.equal(ship.source, profile.source)
      assert.truthy(line(profile):find("-O0 -mavx2 -fno-asynchronous-unwind-tables -DATTN2C_PROFILE -DX", 1, true))
      assert.is_nil(line(ship):find("ATTN2C_PROFILE", 1, true))
    end
    for _, job in ipairs(recipe.needed(list, "libtiny.so.3")) do
      assert.is_nil(line(job):find("ATTN2C_PROFILE", 1, true))
    end
  end)

  it("links libraries with the model's own symbols, and a SONAME with the ABI", function()
    local by_name = jobs()
    assert.equal("cc -m64 -r -nostdlib -o all.o in -lxsmmgen", line(by_name["libtiny.o"]))
    assert.equal("objcopy --localize-hidden --wildcard --keep-global-symbol=tiny_* all.o /w/out",
      line(by_name["libtiny.o"], 2))
    assert.equal("libtiny.so.3", recipe.soname("tiny"))
    assert.equal("cc -m64 -shared -Wl,-soname,libtiny.so.3 -Wl,-z,noexecstack -Wl,-z,now -DX -o /w/out in "
      .. "-lpthread -lm", line(by_name["libtiny.so.3"]))
    assert.same({ { name = "libtiny.so", link = "libtiny.so.3" } }, recipe.links { name = "tiny" })
  end)

  it("takes one file of what differs between systems, and links as each of them does", function()
    local sources = { "system/linux.c", "system/macos.c", "system/windows.c", "program/windows.c",
      table.unpack(SOURCES) }
    local shared = { linux = "libtiny.so.3", macos = "libtiny.dylib", windows = "tiny.dll" }
    for system, name in pairs(shared) do
      local by_name = jobs(nil, { sources = sources, system = system })
      assert.equal(name, recipe.soname("tiny", system))
      assert.is_true(by_name[name].is_output)
      for other in pairs(shared) do
        assert.equal(other == system, by_name[("system-%s.o"):format(other)] ~= nil)
      end
      assert.equal(system == "windows", by_name["program-windows.o"] ~= nil)
      assert.equal(system == "windows", by_name["tiny.exe"] ~= nil)
      -- macOS' linker hides names itself.
      assert.equal(system ~= "macos", by_name["libtiny.o"] ~= nil)
      assert.same(by_name[name].inputs, by_name["libtiny.a"].inputs)
      assert.equal(system == "linux" and 1 or 0, #recipe.links({ name = "tiny" }, system))
    end
    local macos = table.concat(jobs(nil, { sources = sources, system = "macos" })["libtiny.dylib"].inputs, " ")
    assert.truthy(macos:find("tiny_model.o", 1, true) and macos:find("system-macos.o", 1, true))
    assert.is_nil(macos:find("program-", 1, true))
  end)

  it("makes a static program small, and nothing else otherwise", function()
    local plain, static = jobs(), jobs(nil, { is_static = true })
    assert.truthy(line(static["program-licenses-static.o"]):find("-DATTN2C_STATIC -DATTN2C_WITH_LIBXSMM -DX", 1, true))
    local of_text = jobs(nil, { is_static = true, has_text = true })
    assert.truthy(line(of_text["program-licenses-static.o"]):find("-DATTN2C_WITH_LIBXSMM -DATTN2C_STATIC_TEXT -DX", 1,
      true))
    assert.truthy(line(of_text.tiny):find("-l:libjansson.a -lutf8proc -lpcre2-8 -lpthread -lm", 1, true))
    local of_program = { tiny = true, ["program-main.o"] = true, ["program-fortified.o"] = true,
      ["tiny_trace.o"] = true, ["tiny_profile.o"] = true }
    for name, job in pairs(plain) do
      for i in ipairs(job.commands) do
        assert.equal(not of_program[name], line(job, i) == line(static[name], i), name)
      end
    end
    assert.truthy(line(static["program-main.o"]):find(" -Os -fno-asynchronous-unwind-tables ", 1, true))
    assert.is_nil(plain["base-attn2c-static.o"])
    assert.truthy(line(static["base-attn2c-static.o"]):find(" -O2 -fopenmp-simd -fno-asynchronous-unwind-tables ", 1,
      true))
    assert.same({ "base-attn2c-static.o", "model-kernels_libxsmm-static.o", "program-fortified.o", "program-main.o" },
      static["libattn2c_static.a"].inputs)
    assert.truthy(line(static["tiny_trace.o"]):find(" -O1 ", 1, true))
    assert.equal("cc -m64 -Wl,-z,now -DX -static -s -Wl,--gc-sections -o /w/out in -lxsmmgen "
      .. "-l:libjansson.a -lpthread -lm", line(static.tiny))
  end)

  it("links the server's objects and library into programs that ask for it, by what the model has", function()
    local sources = { "base/attn2c.c", "program/main.c", "program/fortified.c", "program/licenses.c" }
    for _, name in ipairs { "http", "generate_writer", "text_routes", "sound" } do
      sources[#sources + 1] = ("program/serve/%s.c"):format(name)
    end
    local function served(more)
      local options = { sources = sources, has_serve = true, is_static = true }
      for key, value in pairs(more or {}) do options[key] = value end
      local by_name, list = jobs(nil, options), {}
      for _, name in ipairs(by_name.tiny.inputs) do list[#list + 1] = name:match("^program%-serve%-(.*)%.o$") end
      return table.concat(list, " "), by_name
    end
    local names, by_name = served()
    assert.equal("http", names)
    assert.truthy(line(by_name.tiny):find("%-Wl,%-%-wrap=getaddrinfo,[^ ]*=abort .* %-levent_extra %-levent_core "))
    assert.truthy(line(by_name["program-licenses-static.o"]):find("-DATTN2C_STATIC_SERVE", 1, true))
    assert.equal("http text_routes", (served { has_text = true }))
    assert.equal("http", (served { has_generation = true }))
    assert.equal("http generate_writer text_routes sound", (served { has_text = true, has_generation = true,
      has_sound = true }))
    names, by_name = served { has_serve = false }
    assert.equal("", names)
    for _, job in pairs(by_name) do
      for i in ipairs(job.commands) do assert.is_nil((line(job, i):find("event", 1, true))) end
    end
  end)

  it("takes pieces of sound for speech, also without the key sound", function()
    local taken = { sources = { "sound/pieces.c", "speech/transcribe.c" }, has_generation = true, has_speech = true }
    assert.is_table((jobs(nil, taken))["sound-pieces.o"])
    taken.has_speech = nil
    assert.is_nil((jobs(nil, taken))["sound-pieces.o"])
  end)

  it("links static programs with a server without a word, and not if a function is missing", function()
    local static = jobs(nil, { is_static = true, has_serve = true, sources = { "program/main.c" } }).tiny
    local options = line(static):match(" (%-static .*) %-o ") .. " " .. line(static):match(" (%-levent_extra.*)$")
    local folder = helper.folder()
    for missing, ends in pairs { [""] = "^$", ["attn2c_missing();"] = "undefined reference to `attn2c_missing'" } do
      helper.write(folder .. "/serves.c", ([[
#include <event2/http.h>
void attn2c_missing(void);
int main(void) { %s return evhttp_new(NULL) != NULL; }
]]):format(missing))
      local code, said = helper.run(("cc serves.c -o serves %s 2>&1"):format(options), folder)
      assert.equal(missing == "", code == 0, said)
      assert.truthy(said:find(ends), said)
    end
  end)

  it("has a program without weights pack those that library and program get", function()
    local by_name, list = jobs(nil, { embed = "packed" })
    assert.equal("in pack --weights /u/w -o /w/out", line(by_name["tiny.weights"]))
    assert.same({ "tiny.packer" }, by_name["tiny.weights"].inputs)
    assert.same({ ATTN2C_TARGET = "avx2" }, by_name["tiny.weights"].environment)
    assert.equal("ln -s -- in weights", line(by_name["tiny_weights.o"]))
    assert.truthy(line(by_name["tiny_weights.o"], 2):find("-O1 -DATTN2C_WEIGHTS -DX -c /m/source.c -o /w/out", 1, true))
    for _, job in ipairs(list) do
      local has = {}
      for _, input in ipairs(job.inputs or {}) do has[input] = true end
      local is_final = job.name == "tiny" or job.name == "libtiny.a" or job.name == "libtiny.so.3"
      assert.equal(is_final, has["tiny_weights.o"] or false, job.name)
      assert.equal(job.name == "tiny.packer", has["tiny_none.o"] or false, job.name)
      assert.is_nil(has["tiny_weights.o"] and has["tiny_none.o"])
      assert.equal(job.name == "tiny.weights" or job.name == "tiny.versions", job.is_fresh or false)
    end
    assert.same({ "in pack --weights /u/w -o /dev/null", "cp -- /u/w /w/out" }, (function()
      local stored = jobs(nil, { embed = "stored" })["tiny.weights"]
      return { line(stored), line(stored, 2) }
    end)())
    for _, name in ipairs { "tiny.packer", "tiny.weights", "tiny_weights.o", "tiny_none.o" } do
      assert.is_nil(jobs()[name])
    end
  end)

  it("compiles the code of each target with its flags, and once what all of them share", function()
    local by_name = jobs(nil, nil, { { target = "avx2", suffix = "_avx2", flags = { "-mavx2" } },
      { target = "x86_64", suffix = "_x86_64", flags = {} } })
    for _, form in ipairs { "tiny%s.o", "tiny%s_ops.o", "tiny%s_kernels.o", "tiny%s_trace.o", "attn2c_roof%s.o" } do
      assert.truthy(line(by_name[form:format("_avx2")]):find(" -mavx2 ", 1, true))
      assert.is_nil(line(by_name[form:format("_x86_64")]):find("-mavx", 1, true))
    end
    for _, name in ipairs { "tiny_model.o", "tiny_avx2_program.o" } do
      assert.is_nil(line(by_name[name]):find("-mavx", 1, true))
    end
  end)

  it("gives no file of a model the result of a file of the runtime, whatever the model is called", function()
    local sources, names = {}, {}
    local list = assert(io.popen("cd " .. helper.shell(helper.root .. "/runtime") .. " && ls */*.[ch]"))
    for path in list:lines() do
      local name, ending = path:match("/(.*)%.([ch])$")
      if ending == "c" then sources[#sources + 1] = path end
      names[#names + 1] = name
      if name:find("_") then names[#names + 1] = name:match("^(.*)_") end -- whose _text.c and the like may meet it
    end
    list:close()
    assert.is_true(#names > 150 and #sources > 80)
    local avx2 = { target = "avx2", suffix = "_avx2", flags = {} }
    local plain = { target = "x86_64", suffix = "", flags = {} }
    local twice = {}
    for _, each in ipairs { { { plain }, FORWARD, { is_static = true, embed = "packed" } },
        { { avx2, plain }, { { name = "forward_8", suffix = "_8" }, { name = "forward_16", suffix = "_16" } }, {} } } do
      local builds, entries, options = table.unpack(each)
      options.has_text, options.providers = true, { library = "c", program = "libxsmm" }
      for _, name in ipairs(names) do
        local seen = {}
        for _, job in ipairs(recipe.jobs({ name = name, workers = { 1, 2 } }, builds, sources, entries, options)) do
          -- `ar` knows a member by the last part of its path
          if seen[job.name] or job.name:find("/", 1, true) then twice[#twice + 1] = name .. ": " .. job.name end
          seen[job.name] = true
        end
      end
    end
    assert.same({}, twice)
  end)

  it("asks for the versions of the libraries that are linked", function()
    local function asked(more, options) return line(jobs(more, options)["tiny.versions"]):match("(%-DX.*)$") end
    assert.equal("-DX -DATTN2C_WITH_LIBXSMM -E -dM in -o /w/out", asked())
    assert.equal("-DX -DATTN2C_WITH_TEXT -E -dM in -o /w/out",
      asked(nil, { has_text = true, providers = { library = "c", program = "c" } }))
  end)

  it("lists the flags that sources are compiled with, each once", function()
    local _, list = jobs()
    local flags = recipe.flags(list, { "-DX" })
    local plain = "-std=c11 -g0 -Wall -Wextra -fPIC -fvisibility=hidden "
      .. "-ffunction-sections -fdata-sections -iquote runtime "
    assert.equal(plain .. "-Og -mavx2 -DX", flags[1])
    local count = {}
    for _, text in ipairs(flags) do count[text] = (count[text] or 0) + 1 end
    assert.equal(1, count[plain .. "-O2 -fopenmp-simd -DX"])
    for text, times in pairs(count) do
      assert.equal(1, times, text)
      assert.is_nil((text .. " "):find(" %-[coE] "), text)
    end
  end)

  it("names only results that are there, and those that one needs", function()
    local by_name, list = jobs()
    for _, job in ipairs(list) do
      for _, input in ipairs(job.inputs or {}) do assert.truthy(by_name[input], input) end
    end
    local needed = {}
    for _, job in ipairs(recipe.needed(list, "tiny")) do needed[job.name] = true end
    for _, name in ipairs { "tiny", "program-main.o", "tiny_trace.o", "libattn2c_libxsmm.a", "base-attn2c.o" } do
      assert.is_true(needed[name], name)
    end
    for _, name in ipairs { "libtiny.a", "libtiny.o", "libtiny.so.3" } do assert.is_nil(needed[name]) end
    local of_libraries = {}
    for _, job in ipairs(recipe.of_libraries(select(2, jobs()), { name = "tiny" })) do of_libraries[job.name] = job end
    for _, name in ipairs { "libtiny.a", "libtiny.so.3" } do assert.is_true(of_libraries[name].is_output) end
    assert.is_true(of_libraries["tiny.versions"].is_read)
    for _, name in ipairs { "tiny", "tiny_trace.o", "program-main.o", "libattn2c_c.a" } do
      assert.is_nil(of_libraries[name])
    end
  end)
end)
