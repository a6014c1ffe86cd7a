-- packed_spec.lua: weights as they lie in memory: written by `pack`, taken wherever a checkpoint is, linked into
-- library and program; of another model, cut, changed, in places of any name, on a full disk.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")

local root = helper.absolute_root()
local here = root .. "/out/spec/packed"
local TINY = [[return { name = "tiny", input = tokens { vocab = 11 }, mask = "padding", batch = 2, d_model = 24,
  heads = 2, seq = 5, layers = 2, output = { pool "mean", linear { to = 7, name = "logits" } } }]]
local HOSTILE = { "a$(touch ran)", "a`touch ran`", "a b", "a:b", "a%b%s", "a;touch ran;", "a'b", 'a"b', "a\nb", "a\\b",
  "-dash", "@file", "a=b,c", "\27[31mred", "ü\xFF", "*", "f32 ", ".incbin \"x\"" }
local MAGIC = "attn2c weights\n\0"

local try, runs = helper.runner(here)

-- Fails with a code and one line on stderr for each fragment.
local function fails(words, code, fragments)
  local got, _, errors = try(words)
  local about = table.concat(words, " ") .. "\n" .. errors
  assert.equal(code, got, about)
  local count = select(2, errors:gsub("\n", ""))
  assert.equal(#fragments, count, about)
  for _, fragment in ipairs(fragments) do assert.truthy(errors:find(fragment, 1, true), fragment .. " in " .. about) end
  assert.is_nil(errors:find("[%z\1-\9\11-\31\127]"), about)
end

local function attn2c(...)
  return { "lua5.4", root .. "/gen/attn2c", ... }
end

-- The words that build only a program, in a folder.
local function program_of(description, folder, ...)
  return { "lua5.4", root .. "/tests/program.lua", description, folder, ... }
end

-- The seconds of a processor that a process has used.
local function cpu_of(pid)
  local stat = files.read(("/proc/%d/stat"):format(pid)) or ""
  local user, system = stat:match("%) " .. ("%S+ "):rep(11) .. "(%d+) (%d+)")
  return user and (user + system) / 100 or 0
end

local function read(name) return assert(files.read(here .. "/" .. name), name) end
local function write(name, text) helper.write(here .. "/" .. name, text) end

local inputs = { "--input", "ids=ids.npy", "--input", "lengths=lengths.npy" }

-- Returns the answer of a program. weights: nil for its own.
local function answer(program, weights)
  local words = { program, "run", table.unpack(inputs) }
  if weights then table.move({ "--weights", weights }, 1, 2, #words + 1, words) end
  table.move({ "--output", "logits=y.npy" }, 1, 2, #words + 1, words)
  runs(words)
  local text = read("y.npy")
  os.remove(here .. "/y.npy")
  return text
end

local expected

setup(function()
  if lfs.attributes(here, "mode") then files.remove_folder(here) end
  files.make_folder(here)
  write("tiny.lua", TINY)
  write("tiny.st", checkpoints.text(here .. "/tiny.lua", "F32"))
  write("narrow.st", checkpoints.text(here .. "/tiny.lua", "F16"))
  write("ids.npy", checkpoints.npy("3, 5", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 3, 6, 9, 1 }))
  write("lengths.npy", checkpoints.npy("3,", { 5, 3, 1 }))
  runs(attn2c("build", "tiny.lua", "-o", "tiny"))
  runs { "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "tiny.weights" }
  expected = answer("tiny/tiny", "tiny.st")
end)

teardown(function() files.remove_folder(here) end)

describe("a packed file", function()
  it("is a page of header and the block, and the same each time", function()
    local text = read("tiny.weights")
    assert.equal(MAGIC, text:sub(1, #MAGIC))
    local bytes = tonumber(runs({ "tiny/tiny", "info", "--json" }):match('"weight_bytes": (%d+)'))
    assert.equal(4096 + bytes, #text)
    runs { "tiny/tiny", "pack", "--weights", "tiny.st", "--output", "again.weights" }
    runs { "tiny/tiny", "pack", "--weights", "tiny.weights", "-o", "from_packed.weights" }
    assert.equal(text, read("again.weights"))
    assert.equal(text, read("from_packed.weights"))
  end)

  it("has the same bytes in a pipe, with memory for one weight", function()
    runs(program_of("tiny.lua", "narrow", "--answers", "precision=int8", "target=generic", "name=narrow"))
    for program, weights in pairs { ["tiny/tiny"] = "tiny.st", ["narrow/narrow"] = "narrow.st" } do
      runs { program, "pack", "--weights", weights, "-o", "file.weights" }
      helper.succeeds(("%s pack --weights %s -o /dev/stdout | cat >piped.weights"):format(program, weights), here)
      assert.equal(read("file.weights"), read("piped.weights"))
    end
    fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "/dev/full" }, 4, { "/dev/full: cannot be written" })
  end)

  it("gives the bits that the checkpoint gives, and passes the checks", function()
    assert.equal(expected, answer("tiny/tiny", "tiny.weights"))
    for _, more in ipairs { {}, { "--nan" } } do
      local output = runs { "tiny/tiny", "check", "--weights", "tiny.weights", table.unpack(more) }
      assert.truthy(output:find(" 0 failed\n", 1, true), output)
    end
    runs { "tiny/tiny", "bench", "-r", "1", "--weights", "tiny.weights" }
    local output = runs { "tiny/tiny", "pack", "--verify", "tiny.weights" }
    assert.truthy(output:find("bytes of packed weights of tiny: the checksum is right\n", 1, true))
    runs(attn2c("check", "tiny.lua", "--weights", "tiny.weights"))
  end)

  it("that was changed by a byte is found by check and --verify; its header by all", function()
    local text = read("tiny.weights")
    local function with(at) return text:sub(1, at) .. string.char(text:byte(at + 1) ~ 64) .. text:sub(at + 2) end
    local again = "tiny pack --weights CHECKPOINT -o FILE"
    for _, at in ipairs { 4096, 4096 + 777, #text - 1 } do
      write("bad.weights", with(at))
      fails({ "tiny/tiny", "check", "--weights", "bad.weights" }, 3, { "bad.weights: packed weights: damaged" })
      fails({ "tiny/tiny", "pack", "--verify", "bad.weights" }, 3, { again })
      fails({ "tiny/tiny", "pack", "--weights", "bad.weights", "-o", "never" }, 3, { again })
      answer("tiny/tiny", "bad.weights") -- opening looks at the header alone
    end
    for _, at in ipairs { 17, 24, 33, 41, 50, 90, 113, 2000, 4095 } do
      write("bad.weights", with(at))
      for _, words in ipairs { { "run", "--output", "logits=never", table.unpack(inputs) }, { "check" },
        { "bench", "-r", "1" } } do
        fails({ "tiny/tiny", words[1], "--weights", "bad.weights", table.unpack(words, 2) }, 3, { again })
      end
      fails({ "tiny/tiny", "pack", "--verify", "bad.weights" }, 3, { again })
    end
    for _, size in ipairs { 1, 9, 16, 4095, 4096, 5000, #text - 1 } do
      write("bad.weights", text:sub(1, size))
      fails({ "tiny/tiny", "check", "--weights", "bad.weights" }, 3, { "bad.weights" })
    end
    assert.is_nil(lfs.attributes(here .. "/never", "mode"))
  end)

  it("that is cut while it is in use ends the program with a line", function()
    write("busy.weights", read("tiny.weights"))
    local child = process.start { folder = here, gather = "all",
      words = { "tiny/tiny", "bench", "-r", "1000000", "--weights", "busy.weights" } }
    -- Once it computes: opening takes some milliseconds of a processor.
    process.wait(function() return child.over or cpu_of(child.pid) > 0.5 end)
    assert.is_false(child.over)
    write("busy.weights", "")
    process.wait(function() return child.over end)
    assert.same({ 4, 0, "tiny: the file of the weights cannot be read any more: it was cut, or its disk fails\n" },
      { child.code, child.signal, child.errors })
  end)

  it("of another model or description is refused with what to do", function()
    write("other.lua", (TINY:gsub('"tiny"', '"other"')))
    runs(program_of("other.lua", "other", "--answers"))
    fails({ "other/other", "check", "--weights", "tiny.weights" }, 3,
      { "for another model, tiny; this is other; pack them again: other pack --weights CHECKPOINT -o FILE" })
    write("longer.lua", (TINY:gsub("seq = 5", "seq = 6")))
    runs(program_of("longer.lua", "longer", "--answers"))
    fails({ "longer/tiny", "check", "--weights", "tiny.weights" }, 3, { "for another description of tiny (" })
    runs(program_of("tiny.lua", "plain", "--answers", "target=x86_64"))
    local target = read("tiny.weights"):match("^%Z+", 81)
    fails({ "plain/tiny", "check", "--weights", "tiny.weights" }, 3, { target == "x86_64"
      and "for another description of tiny (" -- the machine has no more
      or ("for another target, %s; this build is for x86_64; pack them again: tiny pack "):format(target) })
    -- With the same description and other tiles.
    runs(program_of("tiny.lua", "tiles", "--answers", "plan.panel=16"))
    runs { "tiles/tiny", "pack", "--weights", "tiny.st", "-o", "tiles.weights" }
    assert.equal(expected:sub(1, 128), answer("tiles/tiny", "tiles.weights"):sub(1, 128))
    local ours, theirs = read("tiny.weights"), read("tiles.weights")
    assert.not_equal(ours:sub(41, 48), theirs:sub(41, 48)) -- the layout
  end)
end)

describe("pack", function()
  it("says what is missing, and what would be lost", function()
    fails({ "tiny/tiny", "pack" }, 2, { "--weights F.safetensors is needed", "-o FILE is needed" })
    fails({ "tiny/tiny", "pack", "--verify", "tiny.weights", "-o", "x" }, 2, { "--verify FILE allows no other option" })
    fails({ "tiny/tiny", "pack", "--verify", "tiny.st" }, 3, { "tiny.st: is a checkpoint, but a file that pack wrote" })
    fails({ "tiny/tiny", "pack", "--weights", "none", "-o", "x" }, 4, { "none: cannot be opened" })
    fails({ "tiny/tiny", "pack", "--weights", "ids.npy", "-o", "x" }, 3, { "ids.npy: " })
    fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "x", "--seed=1" }, 2,
      { "allowed are --weights, -o, --verify, --help" })
    assert(lfs.link("tiny.st", here .. "/link.st", true))
    for _, path in ipairs { "tiny.st", "./tiny.st", "link.st" } do
      fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", path }, 2, { "this file belongs to the weights" })
    end
    assert.is_nil(lfs.attributes(here .. "/x", "mode"))
    assert(lfs.mkdir(here .. "/checkpoint"))
    files.write_all(here .. "/checkpoint", { { name = "model.safetensors", text = helper.read(here .. "/tiny.st") },
      { name = "config.json", text = "{}" } })
    for _, name in ipairs { "model.safetensors", "config.json" } do
      fails({ "tiny/tiny", "pack", "--weights", "checkpoint/", "-o", "checkpoint/" .. name }, 2,
        { "this file belongs to the weights" })
    end
    assert.equal(helper.read(here .. "/tiny.st"), helper.read(here .. "/checkpoint/model.safetensors"))
    for _ = 1, 2 do runs { "tiny/tiny", "pack", "--weights", "checkpoint", "-o", "checkpoint/tiny.weights" } end
  end)

  it("replaces what is there, through links, keeping its permissions", function()
    write("old.weights", "old")
    runs { "chmod", "640", "old.weights" }
    assert(lfs.link("old.weights", here .. "/link.weights", true))
    runs { "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "link.weights" }
    assert.equal("link", lfs.symlinkattributes(here .. "/link.weights", "mode"))
    assert.equal("rw-r-----", lfs.attributes(here .. "/old.weights", "permissions"))
    assert.equal(read("tiny.weights"), read("old.weights"))
    assert.equal(expected, answer("tiny/tiny", "link.weights"))
  end)

  it("keeps what was there where it cannot write", function()
    fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "/dev/full" }, 4, { "No space left on device" })
    fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "." }, 4, { ".: cannot be written" })
    fails({ "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "none/x" }, 4, { "none/x: cannot be written" })
    write("limited.weights", "old")
    fails({ "sh", "-c", "ulimit -f 8; exec tiny/tiny pack --weights tiny.st -o limited.weights" }, 4,
      { "limited.weights: cannot be written: File too large" })
    assert.equal("old", read("limited.weights"))
    for name in lfs.dir(here) do assert.is_nil(name:match("^%.attn2c"), name) end
  end)

  it("takes paths of any name", function()
    for _, name in ipairs(HOSTILE) do
      write(name, read("tiny.st"))
      runs { "tiny/tiny", "pack", "--weights", name, "-o", "./" .. name .. ".packed" }
      assert.equal(read("tiny.weights"), read(name .. ".packed"))
    end
    assert.is_nil(lfs.attributes(here .. "/ran"))
  end)
end)

-- A program that opens the model without a path.
local HOST = [[
#include "tiny.h"
#include <stdio.h>
int main(int argc, char **argv) {
  static const int32_t ids[TINY_IN_IDS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, lengths[2] = {5, 3};
  static float logits[TINY_OUT_LOGITS];
  char message[500] = "";
  tiny_model *model;
  tiny_ctx *context;
  int status = tiny_open(argc > 1 ? argv[1] : NULL, &model, message, sizeof message);
  if (status) return fprintf(stderr, "%s\n", message), status;
  tiny_forward_in in = {.ids = ids, .lengths = lengths};
  tiny_forward_out out = {.logits = logits};
  if (tiny_create(model, &context) || tiny_forward(context, &in, &out)) return 1;
  fwrite(logits, sizeof logits, 1, stdout);
  tiny_destroy(context);
  tiny_close(model);
  return 0;
}
]]

local function host_of(folder, static)
  write("host.c", HOST)
  runs { "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I" .. folder, "host.c",
    static and folder .. "/libtiny.a" or folder .. "/libtiny.so", "-Wl,-rpath," .. here .. "/" .. folder, "-lpthread",
    "-lm", "-o", "host" }
  return "./host"
end

describe("build --embed", function()
  local two = 2 * 7 * 4 -- bytes of the answer to a batch

  it("links the weights into program and libraries", function()
    for i, from in ipairs { "tiny.st", "tiny.weights" } do
      runs(attn2c("build", "tiny.lua", "-o", "linked", "--embed", from))
      assert.equal(expected, answer("linked/tiny"))
      if i == 2 then break end
      assert.equal(answer("tiny/tiny", "narrow.st"), answer("linked/tiny", "narrow.st"))
      for static = 0, 1 do
        local host = host_of("linked", static == 1)
        local own = runs { host }
        assert.equal(expected:sub(129, 128 + two), own)
        assert.equal(own, (runs { host, "tiny.weights" }))
      end
      for _, more in ipairs { {}, { "--nan" } } do
        assert.truthy(runs({ "linked/tiny", "check", table.unpack(more) }):find(" 0 failed\n", 1, true))
      end
      runs { "linked/tiny", "bench", "-r", "1" }
    end
    local size = #read("tiny.weights")
    assert.truthy(runs({ "linked/tiny", "info" }):find(("linked in    %d bytes, packed: no --weights"):format(size), 1,
      true))
    assert.truthy(runs({ "linked/tiny", "info", "--json" }):find('"embedded": {\n    "form": "packed",\n    "bytes": '
      .. size, 1, true))
    local header = read("linked/tiny.h")
    assert.truthy(header:find("/* weights NULL: the weights that are linked in. */\nint tiny_open", 1, true))
  end)

  it("has them read-only, at a page, and used in place", function()
    local sections = runs { "readelf", "-SW", "linked/libtiny.so.3" }
    assert.is_nil(sections:match("%.data%.[^\n]*weights"))
    local at = tonumber(runs({ "nm", "linked/tiny" }):match("(%x+) [rR] tiny_weights_bytes"), 16)
    assert.equal(0, at % 4096)
    -- Nothing but the model's interface is visible.
    for symbol in runs({ "nm", "-D", "--defined-only", "linked/libtiny.so.3" }):gmatch("%x+ %u (%S+)") do
      assert.is_nil(symbol:find("weights"), symbol)
      assert.matches("^tiny_", symbol)
    end
  end)

  it("leaves no trace in a model without", function()
    assert.is_nil(lfs.attributes(here .. "/tiny/tiny_weights.c", "mode"))
    for name in lfs.dir(here .. "/tiny") do
      local text = name:match("%.[ch]$") and read("tiny/" .. name) or ""
      assert.is_nil(text:find("attn2c_embedded", 1, true) or text:find("tiny_weights", 1, true), name)
    end
    assert.is_nil(runs({ "tiny/tiny", "info", "--json" }):find('"embedded"', 1, true))
    assert.is_nil(runs({ "tiny/tiny", "info" }):find("linked in", 1, true))
    fails({ host_of("tiny") }, 2, { "no path of a weights file was given" })
    fails({ "tiny/tiny", "run", "--output", "logits=never", table.unpack(inputs) }, 2,
      { "--weights F.safetensors is needed" })
  end)

  it("takes paths of any name", function()
    -- A build takes a second: one has all that is hostile in its name.
    for _, name in ipairs(helper.is_long and HOSTILE or { table.concat(HOSTILE) }) do
      write(name, read("tiny.st"))
      runs(attn2c("build", "tiny.lua", "--output=./" .. name .. ".folder", "--embed=./" .. name))
      assert.equal(expected, answer("./" .. name .. ".folder/tiny"))
    end
    assert.is_nil(lfs.attributes(here .. "/ran"))
  end)

  it("follows the contents of the file, whatever its time", function()
    write("changing.st", read("tiny.st"))
    local time = lfs.attributes(here .. "/changing.st", "modification")
    runs(attn2c("build", "tiny.lua", "-o", "changing", "--embed", "changing.st"))
    assert.equal(expected, answer("changing/tiny"))
    local text = read("tiny.st")
    write("changing.st", text:sub(1, -5) .. string.pack("<f", 3))
    lfs.touch(here .. "/changing.st", time, time)
    runs(attn2c("build", "tiny.lua", "-o", "changing", "--embed", "changing.st"))
    assert.equal(answer("tiny/tiny", "changing.st"), answer("changing/tiny"))
    assert.not_equal(expected, answer("changing/tiny"))
  end)

  it("refuses what does not fit, in the words and with the status of the reader, and leaves no program", function()
    local text = read("tiny.st")
    write("cut.st", text:sub(1, -2))
    fails(attn2c("build", "tiny.lua", "-o", "never", "--embed", "cut.st"), 3, { "attn2c: " .. here .. "/cut.st: " })
    fails(attn2c("build", "tiny.lua", "-o", "never", "--embed", "none.st"), 4, { "none.st: cannot be opened" })
    fails(attn2c("build", "tiny.lua", "-o", "never", "--embed", "/dev/zero"), 4, { "is not a regular file" })
    fails(attn2c("build", "tiny.lua", "-o", "never", "seq=6", "--embed", "tiny.weights"), 3,
      { "for another description of tiny" })
    assert.is_nil(lfs.attributes(here .. "/never/tiny", "mode"))
    assert.is_nil(lfs.attributes(here .. "/never/libtiny.a", "mode"))
    for name in lfs.dir(here .. "/never") do assert.matches("^%.+l?o?c?k?$", name) end
    -- A folder that was built before has what it had. The cache is of this test alone.
    helper.seed(here .. "/cache", false, { "c" })
    local function build_alone(...)
      return { "env", "XDG_CACHE_HOME=" .. here .. "/cache", table.unpack(attn2c("build", "tiny.lua", "kernels=c", "-o",
        "before", ...)) }
    end
    runs(build_alone())
    local header, own = read("before/tiny.h"), answer("before/tiny", "tiny.st")
    fails(build_alone("seq=6", "--embed", "tiny.weights"), 3, { "for another description of tiny" })
    assert.equal(header, read("before/tiny.h"))
    assert.equal(own, answer("before/tiny", "tiny.st"))
    for name in lfs.dir(here .. "/cache/attn2c") do assert.is_nil(name:match("^new"), name) end
  end)

  it("says how it is used", function()
    for _, case in ipairs { { { "--embed=f16" }, "--embed=f16: --weights FILE is needed, too" },
      { { "--embed=f32" }, "--embed=f32: --weights FILE is needed, too" },
      { { "--embed=" }, "--embed: the name is empty" },
      { { "--weights", "tiny.st" }, "--weights: needs --embed=f32 or --embed=f16" },
      { { "--weights", "tiny.st", "--embed", "tiny.st" }, "but --embed has a file" } } do
      fails(attn2c("build", "tiny.lua", "-o", "never", table.unpack(case[1])), 2, { case[2] })
    end
    assert.truthy(runs(attn2c("build", "--help")):find("--embed", 1, true))
  end)
end)

describe("build --embed=f16", function()
  it("keeps a checkpoint as it is stored, and widens it on opening", function()
    runs(attn2c("build", "tiny.lua", "-o", "narrow", "--embed=f16", "--weights", "narrow.st"))
    assert.equal(answer("tiny/tiny", "narrow.st"), answer("narrow/tiny"))
    assert.equal(expected, answer("narrow/tiny")) -- the values of both are the same
    local size = #read("narrow.st")
    assert.truthy(runs({ "narrow/tiny", "info" }):find(("linked in    %d bytes, checkpoint"):format(size), 1, true))
    assert.is_true(size < 0.7 * #read("tiny.st"))
    assert.truthy(read("narrow/tiny"):find(read("narrow.st"), 1, true))
    assert.truthy(runs({ "narrow/tiny", "check" }):find(" 0 failed\n", 1, true))
    assert.equal(expected:sub(129, 128 + 56), runs { host_of("narrow") })
  end)

  it("refuses what is wide, packed or in several files", function()
    local function refused(weights, fragment, code)
      fails(attn2c("build", "tiny.lua", "-o", "never", "--embed=f16", "--weights", weights), code or 3, { fragment })
    end
    refused("tiny.st", "tiny.st: has only tensors of type F32 or F64: use --embed=f32")
    refused("tiny.weights", "tiny.weights: is a packed file in f32")
    files.make_folder(here .. "/shards")
    local map = {}
    for i, name in ipairs { "a", "b" } do
      local header = ('{"%s":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}'):format(name)
      write(("shards/%s.safetensors"):format(name), string.pack("<I8", #header) .. header .. "\0\0")
      map[i] = ('"%s":"%s.safetensors"'):format(name, name)
    end
    write("shards/model.safetensors.index.json", ('{"weight_map":{%s}}'):format(table.concat(map, ",")))
    for _, path in ipairs { "shards", "shards/model.safetensors.index.json" } do
      refused(path, path .. ": has several files: --embed=f16 takes a checkpoint of one file; --embed=f32 takes any")
    end
    files.make_folder(here .. "/dense/2_Dense")
    write("dense/model.safetensors", read("narrow.st"))
    write("dense/2_Dense/model.safetensors", read("narrow.st"))
    refused("dense", "dense: has several files")
    refused("none.st", "none.st: cannot be opened", 4)
    files.make_folder(here .. "/empty")
    refused("empty", "the folder has none of", 4)
    assert.is_nil(lfs.attributes(here .. "/never/tiny", "mode"))
  end)

  it("takes a folder's own weights", function()
    local folder, answers = root .. "/tests/hf/goldens/bert_model", {}
    for i, form in ipairs { "f32", "f16" } do
      runs(attn2c("build", folder .. "/", "-o", "own", "--embed=" .. form))
      assert.truthy(runs({ "own/bert_model", "check" }):find(" 0 failed\n", 1, true))
      answers[i] = runs({ "own/bert_model", "info" }):match("linked in +%d+ bytes, (%a+)")
    end
    assert.same({ "packed", "checkpoint" }, answers)
  end)
end)

describe("build --static", function()
  it("gives a program that needs no other file", function()
    runs(attn2c("build", "tiny.lua", "-o", "static", "--embed", "tiny.st", "--static"))
    assert.is_nil(runs({ "readelf", "-d", "static/tiny" }):find("NEEDED", 1, true))
    assert.is_nil(runs({ "readelf", "-lW", "static/tiny" }):find("INTERP", 1, true))
    runs { "env", "-i", "./static/tiny", "run", "--input", "ids=ids.npy", "--input", "lengths=lengths.npy", "--output",
      "logits=alone.npy" }
    assert.equal(expected, read("alone.npy"))
    assert.truthy(runs({ "static/tiny", "info", "--licenses" }):find("GNU C Library", 1, true))
    assert.is_nil(runs({ "tiny/tiny", "info", "--licenses" }):find("GNU C Library", 1, true))
    assert.is_nil(read("static/tiny"):find("--mirostat", 1, true)) -- it does not continue sequences
    -- The library beside it is as ever.
    assert.truthy(runs({ "readelf", "-d", "static/libtiny.so.3" }):find("NEEDED", 1, true))
  end)

  it("answers where nothing else is", function()
    local program = "static/tiny"
    files.make_folder(here .. "/nothing")
    for name, text in pairs { tiny = read(program), ["ids.npy"] = read("ids.npy"),
      ["lengths.npy"] = read("lengths.npy") } do write("nothing/" .. name, text) end
    runs { "chmod", "755", "nothing/tiny" }
    -- As root, or as root of a namespace of our own; where neither is allowed, the test above stands for it.
    local words = { "chroot", "nothing", "/tiny", "run", "--input", "ids=/ids.npy", "--input", "lengths=/lengths.npy",
      "--output", "logits=/y.npy" }
    if try { "chroot", "/", "true" } ~= 0 then
      if try { "unshare", "-r", "chroot", "/", "true" } ~= 0 then return end
      table.move({ "unshare", "-r" }, 1, 2, 1, table.move(words, 1, #words, 3))
    end
    runs(words)
    assert.equal(expected, read("nothing/y.npy"))
    local check = table.move(words, 1, words[1] == "unshare" and 5 or 3, 1, {})
    check[#check + 1] = "check"
    local output = runs(check)
    assert.truthy(output:find(" 0 failed\n", 1, true))
  end)
end)

describe("a full disk", function()
  it("leaves nothing half-written, and the same command succeeds once there is room", function()
    local disk = here .. "/disk"
    files.make_folder(disk)
    if try { "mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk } ~= 0 then
      return pending("needs the right to mount a small disk")
    end
    finally(function() try { "umount", "-l", disk } end)
    local words = { "tiny/tiny", "pack", "--weights", "tiny.st", "-o", "disk/w" }
    fails(words, 4, { "disk/w: cannot be written: No space left on device" })
    for name in lfs.dir(disk) do assert.is_true(name == "." or name == "..", name) end
    runs { "mount", "-o", "remount,size=4m", disk }
    runs(words)
    assert.equal(read("tiny.weights"), read("disk/w"))
  end)
end)
