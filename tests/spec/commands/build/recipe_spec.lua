-- recipe_spec: the table of what is compiled from what.
require("tests.spec.helper")
local recipe = require("commands.build.recipe")

local SOURCES = { "base/attn2c.c", "model/kernels_libxsmm.c", "model/kernels_portable.c", "program/main.c" }

local function jobs(more)
  local spec = { name = "tiny", kernels = "libxsmm", threads = 1, workers = { 1 } }
  for key, value in pairs(more or {}) do spec[key] = value end
  local list, by_name = recipe.jobs(spec, { "-mavx2" }, SOURCES, { "forward" }), {}
  for _, job in ipairs(list) do
    assert.is_nil(by_name[job.name])
    by_name[job.name] = job
  end
  return by_name, list
end

local MEANINGS = { compiler = { "cc", "-m64" }, cflags = { "-DX" }, ldflags = { "-Wl,-z,now" }, runtime = "/r t",
  inputs = { "in" }, result = "/w/out" }

local function line(job, i) return table.concat(recipe.words(job.commands[i or 1], MEANINGS), " ") end

describe("the recipe", function()
  it("compiles calls, loops and the runtime each with their flags", function()
    local by_name = jobs()
    local plain = "cc -m64 -std=c11 -g0 -Wall -Wextra -fPIC -fvisibility=hidden -iquote /r t "
    local tail = " -DX -c in -o /w/out"
    assert.equal(plain .. "-O1 -mavx2" .. tail, line(by_name["tiny.o"]))
    assert.equal(plain .. "-O0 -mavx2" .. tail, line(by_name["tiny_trace.o"]))
    assert.equal(plain .. "-O1" .. tail, line(by_name["tiny_model.o"]))
    assert.equal(plain .. "-O2 -fopenmp-simd" .. tail, line(by_name["attn2c.o"]))
    for _, name in ipairs { "tiny_ops.o", "tiny_kernels.o" } do
      assert.equal(plain .. "-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -mavx2" .. tail,
        line(by_name[name]))
    end
  end)

  it("has the provider's file, and an object a number of workers", function()
    local by_name = jobs { kernels = "portable", threads = 0, workers = { 1, 2, 4 } }
    assert.is_nil(by_name["kernels_libxsmm.o"])
    assert.truthy(by_name["kernels_portable.o"])
    for _, name in ipairs { "tiny.o", "tiny_2.o", "tiny_4.o" } do
      assert.truthy(line(by_name[name]):find("-O1 -mavx2 -DX", 1, true), name)
    end
    assert.equal("cc -m64 -Wl,-z,now -DX -o /w/out in -l:libjansson.a -lpthread -lm", line(by_name.tiny))
  end)

  it("compiles each file of steps a second time, as the program's profile", function()
    local by_name, list = jobs { threads = 0, workers = { 1, 2 } }
    for _, linkage in ipairs { "tiny", "tiny_2" } do
      local ship, profile = by_name[linkage .. ".o"], by_name[linkage .. "_profile.o"]
      assert.equal(ship.source, profile.source)
      assert.truthy(line(profile):find("-O1 -mavx2 -DATTN2C_PROFILE -DX", 1, true))
      assert.is_nil(line(ship):find("ATTN2C_PROFILE", 1, true))
    end
    for _, job in ipairs(recipe.needed(list, "libtiny.so.1")) do
      assert.is_nil(line(job):find("ATTN2C_PROFILE", 1, true))
    end
  end)

  it("links libraries with the model's own symbols, and a SONAME with the ABI", function()
    local by_name = jobs()
    assert.equal("cc -m64 -r -nostdlib -o all.o in -lxsmmgen", line(by_name["libtiny.o"]))
    assert.equal("objcopy --localize-hidden --wildcard --keep-global-symbol=tiny_* all.o /w/out",
      line(by_name["libtiny.o"], 2))
    assert.equal("libtiny.so.1", recipe.soname("tiny"))
    assert.equal("cc -m64 -shared -Wl,-soname,libtiny.so.1 -Wl,-z,now -DX -o /w/out in "
      .. "-Wl,-z,noexecstack -lpthread -lm", line(by_name["libtiny.so.1"]))
    assert.same({ { name = "libtiny.so", link = "libtiny.so.1" } }, recipe.links { name = "tiny" })
  end)

  it("names only results that are there, and those that one needs", function()
    local by_name, list = jobs()
    for _, job in ipairs(list) do
      for _, input in ipairs(job.inputs or {}) do assert.truthy(by_name[input], input) end
    end
    local needed = {}
    for _, job in ipairs(recipe.needed(list, "tiny")) do needed[job.name] = true end
    for _, name in ipairs { "tiny", "main.o", "tiny_trace.o", "libattn2c_libxsmm.a", "attn2c.o" } do
      assert.is_true(needed[name], name)
    end
    for _, name in ipairs { "libtiny.a", "libtiny.o", "libtiny.so.1" } do assert.is_nil(needed[name]) end
  end)
end)
