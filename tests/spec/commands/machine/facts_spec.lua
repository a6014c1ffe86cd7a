-- facts_spec: the facts of this machine: where they are kept, when they are measured again, and what is done with a
-- file that is damaged, of another machine, or cannot be kept. Nothing is measured here.
local helper = require("tests.spec.helper")
local facts = require("commands.machine.facts")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local store = require("common.store")

local MEASURED = [[{"targets": {"avx512bf16": {"f32": 178.0, "bf16": 89.0, "int8": 715.0},
  "avx512": {"f32": 178.0, "bf16": 178.0, "int8": 300}, "amx": {"missing": "AMX"}},
"levels": [{"number": 1, "bytes": 49152, "gigabytes": 350.0, "nanoseconds": 1.1}],
"cores": 2, "all_cores": 40.0, "lost": 0.01, "seconds": 0.5}
]]
local INFO = "processor\t: 0\nvendor_id\t: A\nmodel name\t: A \"CPU\" <1>\nmicrocode\t: 0x1\nflags\t\t: fma avx2\n"
  .. "cpu MHz\t\t: 2000\n\nprocessor\t: 1\nmodel name\t: B\n"

describe("the identity of a machine", function()
  local function key(info, names) return select(2, facts.identity(info, names or { "avx2" })) end

  it("is that of its first processor, whose name is plain text", function()
    assert.equal("A CPU 1", (facts.identity(INFO, {})))
    assert.equal("unknown", (facts.identity("", {})))
    assert.equal(key(INFO), key((INFO:gsub("2000", "3000"):gsub("B\n", "C\n"))))
  end)

  it("changes with the model, the microcode, the instructions and the targets", function()
    local seen = { [key(INFO)] = true }
    for _, other in ipairs { (INFO:gsub("0x1", "0x2")), (INFO:gsub("avx2", "avx512f")),
      (INFO:gsub("CPU", "GPU")), "" } do
      assert.is_nil(seen[key(other)])
      seen[key(other)] = true
    end
    assert.is_nil(seen[key(INFO, { "avx2", "x86_64" })])
  end)
end)

describe("the file of facts", function()
  it("gives back what was measured, only for its key", function()
    local text = facts.text("k", "A CPU", MEASURED)
    local value = facts.parse(text, "k")
    assert.equal(89.0, value.targets.avx512bf16.bf16)
    assert.equal("AMX", value.targets.amx.missing)
    assert.equal(49152, value.levels[1].bytes)
    assert.is_nil(facts.parse(text, "other"))
    assert.is_nil(facts.parse((text:gsub('"format": %d+', '"format": 0')), "k"))
  end)

  it("is refused if it is cut anywhere", function()
    local text = facts.text("k", "A CPU", MEASURED)
    for last = 0, #text - 2 do assert.is_nil(facts.parse(text:sub(1, last), "k"), last) end
  end)

  it("is refused with a part that is missing, of another type or out of range", function()
    local function with(from, to)
      local text, count = facts.text("k", "A CPU", MEASURED):gsub(from, to)
      assert.equal(1, count, from)
      return facts.parse(text, "k")
    end
    assert.is_table(with('"bf16": 89.0', '"bf16": "wrong"'))
    assert.equal(10240, with('"bf16": 89.0', '%0, "bf16_ahead": 10240').targets.avx512bf16.bf16_ahead)
    assert.equal(1, with('"bf16": 89.0', '%0, "scaled_least": 1').targets.avx512bf16.scaled_least)
    for _, each in ipairs { { '"bf16": 89.0', '"bf16": "right"' }, { '"bf16": 89.0', '"bf16": -1' },
      { '"bf16": 89.0', '"bf16": 1e300' }, { '"bf16": 89.0', '"bf16": null' },
      { '"bf16": 89.0', '%0, "bf16_ahead": 0' }, { '"bf16": 89.0', '%0, "bf16_ahead": 1e9' }, { '"bf16": 89.0, ', "" },
      { '"bf16": 89.0', '%0, "int8_least": 0' }, { '"bf16": 89.0', '%0, "scaled_least": "1"' },
      { '"avx512":', '"sse":' }, { '"missing": "AMX"', '"missing": 1' }, { '"cores": 2', '"cores": "2"' },
      { '"lost": 0.01, ', "" },
      { '"levels": %[.-%]', '"levels": []' }, { '"levels": %[.-%]', '"levels": 1' }, { '"bytes"', '"b"' },
      { '"all_cores": 40.0, ', "" }, { '"targets": {.-}},\n"levels"', '"targets": {},\n"levels"' } } do
      assert.is_nil(with(each[1], each[2]), each[2])
    end
  end)
end)

describe("the facts of this machine", function()
  local said, runs, home

  local function environment(name) return name == "XDG_CACHE_HOME" and home or name == "TMPDIR" and helper.folder() end
  local function say(line) said[#said + 1] = line end
  local function run(_, machine, folder)
    assert.equal("directory", lfs.attributes(folder, "mode"))
    assert.matches("^[%w_]+$", machine)
    runs = runs + 1
    return MEASURED
  end
  local function get(again) return facts.get("root", again, say, environment, run) end
  -- The path of the only file that is kept.
  local function kept()
    local found
    for name in lfs.dir(home .. "/attn2c/machine") do
      if name:match("%.json$") then
        assert.is_nil(found)
        found = home .. "/attn2c/machine/" .. name
      end
    end
    return found
  end

  before_each(function()
    said, runs = {}, 0
    home = helper.folder() .. "/cache"
  end)
  after_each(helper.clean)

  it("are measured once, and kept for the user alone", function()
    local value, processor, is_new = get()
    assert.is_true(is_new and processor ~= "")
    assert.equal(178.0, value.targets.avx512.f32)
    local again, _, is_newer = get()
    assert.same(value, again)
    assert.is_false(is_newer)
    assert.equal(1, runs)
    assert.equal("rwx------", lfs.attributes(home .. "/attn2c/machine", "permissions"))
    assert.is_table(require("common.json").decode(files.read(kept())))
    assert.same({}, said)
  end)

  it("are measured again when asked", function()
    get()
    get(true)
    assert.equal(2, runs)
    get()
    assert.equal(2, runs)
  end)

  it("are measured anew where other work has disturbed them: by the command at once, by builds later", function()
    local busy = MEASURED:gsub('"lost": 0.01', '"lost": 0.25')
    local function run_busy(_, ...) return run(_, ...) and busy end
    local value, _, is_new = facts.get("root", nil, say, environment, run_busy)
    assert.is_true(is_new)
    assert.equal("disturbed by other work, which took 25% of a processor's time", facts.disturbed(value))
    assert.equal(0.25, get().lost) -- a build, at once
    assert.equal(1, runs)
    lfs.touch(kept(), os.time() - 61, os.time() - 61)
    value, _, is_new = get()
    assert.same({ 0.01, false, 2 }, { value.lost, is_new, runs })
    lfs.touch(kept(), os.time() - 61, os.time() - 61)
    assert.is_nil(facts.disturbed(get()))
    assert.equal(2, runs)
    facts.get("root", true, say, environment, run_busy)
    assert.equal(0.25, get("disturbed").lost) -- another process may just have measured
    lfs.touch(kept(), os.time() - 3, os.time() - 3)
    assert.equal(0.25, get().lost)
    assert.equal(0.01, get("disturbed").lost)
    get("disturbed")
    assert.equal(4, runs)
    assert.same({}, said)
    os.remove(kept())
    facts.source("root", environment, run_busy, say)()
    assert.same({ "measured this machine in 0.5 s, disturbed by other work, which took 25% of a processor's time; "
      .. "`attn2c machine` prints the facts" }, said)
  end)

  it("are measured anew where the file is damaged, foreign or no file", function()
    get()
    local path = kept()
    local text = files.read(path)
    for i, bad in ipairs { "", "{}", text:sub(1, 100), (text:gsub('"key": "%x', '"key": "x')), "return os.exit(1)",
      ("x"):rep(1 << 17) } do
      helper.write(path, bad)
      assert.equal(178.0, get().targets.avx512.f32)
      assert.equal(1 + i, runs)
      assert.equal(text, files.read(path))
    end
    assert.same({}, said)
  end)

  it("are not kept, which a line says, where a folder has the file's place", function()
    get()
    local path = kept()
    os.remove(path)
    lfs.mkdir(path)
    assert.equal(178.0, get().targets.avx512.f32)
    assert.equal(1, #said)
    assert.matches("^the facts of this machine are not kept: cannot write .*: is a folder$", said[1])
  end)

  it("are not kept, which a line says, in a cache that others may write", function()
    files.make_folder(home .. "/attn2c")
    assert(os.execute("chmod 777 " .. helper.shell(home .. "/attn2c")))
    local value, _, is_new = get()
    assert.is_true(is_new and value.cores == 2)
    assert.same({ ("the facts of this machine are not kept: %s/attn2c is open to other users"):format(home) }, said)
    assert.is_nil(lfs.attributes(home .. "/attn2c/machine"))
    files.make_folder(home .. "/attn2c/machine")
    assert(os.execute(("chmod 700 %s; chmod 755 %s"):format(helper.shell(home .. "/attn2c"),
      helper.shell(home .. "/attn2c/machine"))))
    get()
    assert.equal(("the facts of this machine are not kept: %s/attn2c/machine is open to other users"):format(home),
      said[2])
  end)

  it("are read, and not measured each time, in a cache that cannot be written", function()
    get()
    local private_folder = store.private_folder
    finally(function() store.private_folder = private_folder end)
    function store.private_folder() return nil, "cannot be written" end
    assert.equal(178.0, get().targets.avx512.f32)
    assert.equal(1, runs)
    assert.same({}, said)
  end)

  it("are measured in TMPDIR where there is no cache, which is named if it is no folder", function()
    local missing = helper.folder() .. "/missing"
    local fault = helper.fault(facts.get, "root", false, say, function(name) return name == "TMPDIR" and missing end,
      run)
    assert.same({ ('TMPDIR is "%s", which is not a folder'):format(missing) }, fault.lines)
    assert.equal(faults.code.io, fault.code)
    assert.is_nil(lfs.attributes(missing, "mode"))
    assert.equal(0, runs)
  end)

  it("are refused if the program prints something else", function()
    for _, text in ipairs { "", "{}", "Illegal instruction" } do
      local ok, fault = pcall(facts.get, "root", false, say, environment, function() return text end)
      assert.is_false(ok)
      assert.is_true(faults.is(fault))
      assert.same({ "its program printed no facts" }, fault.lines)
      assert.equal(faults.code.machine, fault.code)
    end
  end)

  it("are asked for once by a run of the compiler, and a failure is a line", function()
    local source = facts.source("root", environment, run, say)
    assert.equal(0, runs)
    assert.equal(89.0, source().avx512bf16.bf16)
    source()
    assert.equal(1, runs)
    assert.same({ "measured this machine in 0.5 s; `attn2c machine` prints the facts" }, said)
    said = {}
    assert.is_table(facts.source("root", environment, run, say)())
    assert.same({}, said)
    os.remove(kept())
    local tries = 0
    source = facts.source("root", environment, function()
      tries = tries + 1
      faults.raise("machine", "its program failed")
    end, say)
    assert.is_nil(source())
    assert.is_nil(source())
    assert.equal(1, tries)
    assert.same({ "this machine was not measured: its program failed" }, said)
  end)
end)
