-- models_spec.lua: whole models, end to end: described, compiled, built by gcc and clang,
-- checked against the reference, run against PyTorch's outputs, under sanitizers, from C
-- programs of other languages' standards, and drawn at random with guard pages.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local pipeline = require("pipeline")
local targets = require("data.targets")
local words = require("common.words")

local root = helper.absolute_root()
local folder = root .. "/out/spec"
local shell = helper.shell

local STRICT = "-std=c11 -Wall -Wextra -Werror"

-- Shell words in front of both kinds of builds: those with a user's flags, with guard pages, and those that find races.
-- `make test-long` takes clang for the latter.
local start_of = { guarded = helper.optimised .. " " .. helper.guarded,
  races = (helper.is_long and "CC=clang " or "") .. helper.with_races }

-- Not looked through for races: each of their keys and options is in other descriptions, too.
local is_plain = { ["small.lua"] = true, ["bert_base.lua"] = true }
-- The model that `make test` looks through for races; `make test-long` has all.
local is_raced = { ["speaker.lua"] = true }

-- Runs a shell command in out/spec/`at`; returns what it printed. Where the exit is not `wanted`, the test fails with
-- that.
local function sh(at, command, wanted)
  local code, said = helper.run(command, folder .. "/" .. at)
  if code ~= (wanted or 0) then
    error(("%s\nexit %d, but %d was expected:\n%s"):format(command, code, wanted or 0, said:sub(-4000)), 2)
  end
  return said
end

local attn2c = shell(root .. "/gen/attn2c")

-- Checks with the command; the table must end in rows that passed, and none that failed.
local function check(at, environment, description, overrides)
  local said = sh(at, ("%s %s check %s %s"):format(environment, attn2c, shell(description),
    table.concat(overrides, " ")))
  local passed, failed = said:match("(%d+) passed, (%d+) failed%s*$")
  assert.is_truthy(passed, said:sub(-2000))
  assert.is_true(tonumber(passed) > 0)
  assert.equal("0", failed)
  assert.is_nil(said:match("warning"), "the compiler warned")
  return said
end

local function names_in(path, suffix)
  local list = {}
  for name in lfs.dir(path) do
    if name:sub(-#suffix) == suffix and name:sub(1, 1) ~= "." then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

local function spec_of(description)
  return pipeline.run(root, description, {}, "validate").spec
end

-- Overrides that make any model small: what its layers are stays, how many and how wide does not.
local function smaller(description)
  local spec = spec_of(description)
  local list = {}
  local function at_most(key, most) if spec[key] > most then list[#list + 1] = key .. "=" .. most end end
  at_most("batch", 3)
  at_most("layers", 2)
  at_most("d_ff", 96)
  local reads_picture = spec.memory and spec.memory.encoder and spec.memory.encoder.input.stage == "image"
  if spec.input.stage == "image" then list[#list + 1] = "input.height=32 input.width=64 input.channels=2"
  else at_most(spec.context and "context" or "seq", 40) end
  if reads_picture then
    list[#list + 1] = "pictures=false memory.input.height=32 memory.input.width=48 memory.layers=1 memory.d_model=20 "
      .. "memory.heads=4"
  elseif spec.memory then
    list[#list + 1] = "memory.seq=23"
  end
  if spec.memory and not spec.memory.encoder then list[#list + 1] = "memory.width=50" end
  if spec.attention_output.layers then list[#list + 1] = "'attention_output={ kind = \"heads\", layers = { 1 } }'" end
  if spec.d_model > 128 then
    list[#list + 1] = ("d_model=%d%s"):format(8 * spec.heads, spec.projections and " head_dim=9" or "")
    for i, stage in ipairs(spec.output) do
      if stage.to == spec.d_model then list[#list + 1] = ("output.%d.to=%d"):format(i, 8 * spec.heads) end
    end
  end
  return list
end

-- Goldens of PyTorch (whole/torch) and draws have the keys of the other models in `make test`.
local models = helper.is_long and names_in(root .. "/models", ".lua") or { "speaker.lua", "vit_b16.lua" }

local function model(name) return root .. "/models/" .. name .. ".lua" end

-- Builds a description into out/spec/`at`/NAME and returns NAME.
local function build(at, environment, description, overrides)
  local name = spec_of(description).name
  sh(at, ("%s %s build %s %s -o %s"):format(environment, attn2c, shell(description), table.concat(overrides or {}, " "),
    name))
  return name
end

describe("every model of models/, in small", function()
  assert(#models >= 2)
  for kind, start in pairs(start_of) do
    for _, file in ipairs(models) do
      if kind == "guarded" or is_raced[file] or helper.is_long and not is_plain[file] then
        it(("%s, %s"):format(file, kind), function()
          local path = root .. "/models/" .. file
          check(kind, start, path, smaller(path))
        end)
      end
    end
  end
end)

describe("a check", function()
  local small = model("small")

  it("ends with 1 and names the first tensor where the numbers are wrong", function()
    local compiler = helper.spoiling("_ops.c", "s/attn2c_gelu(/attn2c_gelu_tanh(/")
    local said = sh("wrong", ("%s %s check %s %s name=wrong"):format(compiler, attn2c, shell(small),
      table.concat(smaller(small), " ")), 1)
    assert.is_truthy(said:match("first to diverge: l0%.ff%.act") or said:match("l0%.ff%.act[^\n]*FAIL"), said)
    assert.is_truthy(said:match("passed, [1-9]%d* failed"), said)
  end)

  it("crashes, with guard pages, where a kernel reads one row too many of an input", function()
    -- Of libxsmm, whose shape has a row more; in C, where k is one more, beyond the last row.
    for kernels, change in pairs {
      libxsmm = "s/^  { 64, 40, \\(64, 64, 64, .* NULL }\\)/  { 64, 41, \\1/",
      c = "/^void product_40x/,/^}/s/^\\( *\\)64, \\([0-9]*, 64, [0-9]*, 0,\\)/\\165, \\2/",
    } do
      local command = ("%%s %s check %s seq=40 d_model=64 heads=4 plan.panel=64 plan.fetch=0 kernels=%s name=%%s")
        :format(attn2c, shell(small), kernels)
      local said = sh("overrun", command:format(helper.spoiling("_kernels.c", change), "overrun"), 6)
      assert.is_truthy(said:match("ended by signal 11"), said)
      if helper.is_long then sh("overrun", command:format(helper.spoiling("_kernels.c", ""), "unspoiled")) end
    end
  end)
end)

describe("the C interface", function()
  local name
  setup(function() name = build("interface", "", model("speaker"), smaller(model("speaker"))) end)

  it("has a header that stands alone as C99 and as C++", function()
    local header = ("%s/%s.h"):format(name, name)
    for _, command in ipairs {
      "gcc -std=c99 -pedantic -x c", "clang -std=c99 -pedantic -x c", "g++ -std=c++98 -pedantic -x c++",
      "g++ -std=c++17 -pedantic -x c++", "clang++ -std=c++17 -pedantic -x c++",
    } do
      if command:match("c%+%+98") then command = command .. " -Wno-long-long" end
      sh("interface", ("%s -Wall -Wextra -Werror -fsyntax-only -include %s /dev/null"):format(command, header))
    end
  end)

  it("shows only its own symbols in both libraries", function()
    local wanted = words.set {
      "open", "open_memory", "create", "forward", "destroy", "close", "strerror", "descriptor", "version", "abi",
    }
    for _, command in ipairs {
      ("nm -D --defined-only --format=posix %s/lib%s.so"):format(name, name),
      ("nm -g --defined-only --format=posix %s/lib%s.a"):format(name, name),
    } do
      local seen = 0
      for symbol in sh("interface", command .. " | awk 'NF > 2 { print $1 }'"):gmatch("%S+") do
        local own = symbol:match("^" .. name .. "_(.*)$")
        assert.is_truthy(own, ("%s shows %s"):format(command, symbol))
        if wanted[own] then seen = seen + 1 end
      end
      assert.equal(10, seen, command)
    end
  end)

  it("needs nothing beside the C library at run time", function()
    local allowed = words.set { "libc", "libm", "ld-linux-x86-64" }
    for _, file in ipairs { "lib" .. name .. ".so", name } do
      local said, count = sh("interface", ("readelf -d %s/%s"):format(name, file)), 0
      for library in said:gmatch("NEEDED.-%[([^%]]+)%.so") do
        assert.is_true(allowed[library], file .. " needs " .. library)
        count = count + 1
      end
      assert.is_true(count > 0, said)
      assert.is_nil(sh("interface", ("ldd %s/%s"):format(name, file)):find("jansson", 1, true))
    end
  end)

  it("tells its version and its ABI", function()
    local version = require("common.version")
    files.write_all(folder .. "/interface", { { name = "version.c", text = ([[
#include "NAME/NAME.h"
#include <stdio.h>
int main(void) { return printf("%s %d %d\n", NAME_version(), NAME_abi(), UPPER_ABI) < 0; }
]]):gsub("NAME", name):gsub("UPPER", name:upper()) } })
    local said = sh("interface", ("cc -std=c99 -Wall -Wextra -Werror version.c -o version -L%s -l%s "
      .. "-Wl,-rpath,\"$PWD\"/%s && ./version && %s/%s --version"):format(name, name, name, name, name))
    assert.equal(("%s %d %d"):format(version.generator, version.abi, version.abi), said:match("^[^\n]*"))
    assert.is_truthy(said:find(("\n%s, compiled by attn2c %s from [^\n]*%%(%%x+%%) for %%w+\n$"):format(name,
      version.generator:gsub("%.", "%%."))), said)
  end)
end)

-- A safetensors file of zeros and small numbers for every weight of a model.
local function checkpoint(description, path)
  local state = pipeline.run(root, description, {}, "graph").entries[1]
  local header, data, at = {}, {}, 0
  for _, name in ipairs(state.graph.weights) do
    local stored = state.graph.tensors[name].from.stored[1]
    local count = 1
    for _, n in ipairs(stored.shape) do count = count * n end
    header[#header + 1] = ('"%s":{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}'):format(stored.names[1],
      table.concat(stored.shape, ","), at, at + 4 * count)
    for i = 1, count do data[#data + 1] = string.pack("<f", (i % 7 - 3) * 0.05) end
    at = at + 4 * count
  end
  local text = "{" .. table.concat(header, ",") .. "}"
  text = text .. (" "):rep(-#text % 8)
  files.write_all(path:match("^(.*)/"), { { name = path:match("[^/]*$"),
    text = string.pack("<I8", #text) .. text .. table.concat(data) } })
end

describe("memory", function()
  it("is what info says: asked for once, and no more while it runs", function()
    local description = folder .. "/memory/hosted.lua"
    files.write_all(folder .. "/memory", { { name = "hosted.lua", text = [[
return { name = "hosted", seq = 400, d_model = 240, heads = 4, d_ff = 800, layers = 2, mask = "causal" }
]] } })
    checkpoint(description, folder .. "/memory/hosted.safetensors")
    build("memory", "", description)
    local arena = tonumber(sh("memory", "hosted/hosted info --json"):match('"arena_bytes": *(%d+)'))
    -- Large enough to be seen, and below the size from which memory comes in huge pages.
    assert.is_true(arena > 1e6 and arena < 4e6, tostring(arena))
    sh("memory", ("cc %s -O1 -Ihosted %s hosted/libhosted.so -Wl,-rpath,\"$PWD\"/hosted -o host"):format(STRICT,
      shell(root .. "/tests/c/host_memory.c")))
    local said = sh("memory", "./host hosted.safetensors")
    local asked, grown, allocations = said:match("^asked (%d+) grown (%d+) allocations (%d+)")
    asked, grown = tonumber(asked), tonumber(grown)
    assert.is_true(asked >= arena and asked < arena + 64, said)
    assert.is_true(math.abs(grown - arena) <= 0.1 * arena + 256 * 1024, ("arena %d, %s"):format(arena, said))
    assert.equal("0", allocations)
  end)
end)

describe("under AddressSanitizer and UndefinedBehaviorSanitizer", function()
  for _, name in ipairs { "speaker", helper.is_long and "small" or nil } do
    it(name, function()
      local overrides = smaller(model(name))
      overrides[#overrides + 1] = "kernels=c"
      check("sanitized", helper.with_addresses, model(name), overrides)
    end)
  end
end)

-- Where the machine has no more than AVX2, this is the check of each model once more.
local has_lower = helper.is_long or targets.host(targets.machine(os.getenv)) ~= "avx2"
describe("for a lower instruction set", function()
  for _, name in ipairs(has_lower and { "speaker", helper.is_long and "small" or nil } or {}) do
    it(name .. " with LIBXSMM_TARGET=hsw", function()
      check("lower", "LIBXSMM_TARGET=hsw", model(name), smaller(model(name)))
      assert.is_truthy(sh("lower", ("out/%s.variants/*/%s info --json"):format(name, name)):match('"target": *"avx2"'))
    end)
  end
end)

describe("random models", function()
  local fuzz = "lua5.4 " .. shell(root .. "/tests/fuzz/fuzz.lua") .. " "

  it("agree with the reference, and touch nothing outside their memory", function()
    local count = helper.is_long and 12 or 2
    local said = sh("random", ("%s%d 20 --folder ."):format(fuzz, count))
    assert.is_truthy(said:find(count .. " passed, 0 failed", 1, true), said)
  end)

  it("of any length do, whatever else is in a call", function()
    local count = helper.is_long and 24 or 1
    local said = sh("random", ("%s%d 21 --any --folder any"):format(fuzz, count))
    assert.is_truthy(said:find(count .. " passed, 0 failed", 1, true), said)
  end)

  it("fail where they do not build", function()
    local said = sh("random", "CC=false " .. fuzz .. "2 20 --folder unbuilt --no-shrink", 1)
    assert.is_truthy(said:match("case 1 failed: compile"), said)
    assert.is_truthy(said:match("0 passed, 2 failed"), said)
  end)
end)
