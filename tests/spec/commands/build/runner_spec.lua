-- runner_spec: jobs run, kept and found again by the contents of what they read.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local progress = require("common.progress")
local runner = require("commands.build.runner")
local store = require("common.store")

local INPUTS, RESULT, CFLAGS = { of = "inputs" }, { of = "result" }, { of = "cflags" }

-- A runner in new folders: `log` counts what ran; jobs are shell lines that copy and join.
local function new()
  local folder = helper.folder()
  local self = { folder = folder, sources = { a = "A", b = "B" }, headers = "h", cflags = {}, identity = "cc 1" }
  self.store = store.open(folder, error, function(name)
    return name == "XDG_CACHE_HOME" and folder .. "/cache" or nil
  end)
  self.counts = ("echo >>%s/log; "):format(helper.shell(folder))
  local function compile(name)
    return { name = name .. ".o", source = name, from = "model",
      commands = { { "sh", "-c", self.counts .. 'cat "$1" >"$2"', "sh", INPUTS, RESULT, CFLAGS } } }
  end
  self.jobs = { { name = "whole", is_output = true, inputs = { "a.o", "b.o" },
    commands = { { "sh", "-c", 'cat "$@" >part', "sh", INPUTS }, { "cp", "part", RESULT } } },
    compile("a"), compile("b") }
  function self.run()
    for name, text in pairs(self.sources) do files.write_all(folder .. "/in", { { name = name, text = text } }) end
    os.remove(folder .. "/log")
    local results = runner.run({ store = self.store, bar = self.bar or progress.start { terminal = false },
      folders = { model = self.model or folder .. "/in", runtime = self.runtime or "/nowhere" },
      sources = { model = self.sources },
      headers = function() return self.headers end, links = self.links, weights = self.weights,
      toolchain = { system = "linux", compiler = { "cc" }, cflags = self.cflags, ldflags = {},
        identity = self.identity, libraries = function() return "" end,
        library = function(name) return name end } }, self.jobs)
    return results.whole.text, #(files.read(folder .. "/log") or "")
  end
  function self.leftovers()
    local list = {}
    for name in lfs.dir(self.store.path) do if name:match("^new") then list[#list + 1] = name end end
    return list
  end
  return self
end

describe("the runner", function()
  after_each(helper.clean)

  it("runs what it does not know, in the order of what needs what, and nothing twice", function()
    local at = new()
    assert.same({ "AB", 2 }, { at.run() })
    assert.same({ "AB", 0 }, { at.run() })
    assert.same({}, at.leftovers())
  end)

  it("takes what another process makes meanwhile, and makes the rest", function()
    local at, whole, asked = new(), getmetatable(new().store).__index, 0
    -- The other one is at work when the first result is asked for, and keeps it later.
    function at.store:begin(key)
      asked = asked + 1
      if asked == 3 then
        local work = whole.begin(self, key)
        files.write_all(work, { { name = "a.o", text = "other's" } })
        self:keep(work, key, "a.o")
      end
      if asked <= 3 then return nil end
      return whole.begin(self, key)
    end
    assert.same({ "other'sB", 1 }, { at.run() })
    assert.same({}, at.leftovers())
  end)

  it("shows on a terminal how far it is, after two seconds", function()
    local at, shown, now = new(), {}, 0
    at.bar = progress.start { terminal = true, write = function(text) shown[#shown + 1] = text end,
      clock = function()
        now = now + 1
        return now
      end }
    for _, job in ipairs(at.jobs) do table.insert(job.commands, 1, { "sleep", "0.2" }) end -- looked at meanwhile
    at.run()
    local text = table.concat(shown)
    assert.matches("%] %d+ s[^\r]*  compiling: 0 of 3", text)
    assert.matches("compiling: 2 of 3", text)
    assert.equal("\r\27[K", shown[#shown])
  end)

  it("runs again what reads other contents, flags, headers or tools", function()
    local at = new()
    at.run()
    at.sources.b = "C"
    assert.same({ "AC", 1 }, { at.run() })
    at.sources.b = "B" -- known from before
    assert.same({ "AB", 0 }, { at.run() })
    at.cflags = { "-g1" }
    assert.same({ "AB", 2 }, { at.run() })
    at.headers = "other"
    assert.same({ "AB", 2 }, { at.run() })
    at.identity = "cc 2"
    assert.same({ "AB", 2 }, { at.run() })
  end)

  it("keeps folders out of results, but where a compiler cannot: then they are in the key", function()
    local at = new()
    at.jobs = { { name = "whole", is_output = true, source = "a", from = "model",
      commands = { { "sh", "-c", at.counts .. 'shift; printf "%s\\n" "$@" >"$0"', RESULT, "", { of = "maps" } } } } }
    local lines = {}
    for line in at.run():gmatch("[^\n]+") do lines[#lines + 1] = line:gsub("/new%-%w+=", "/new=") end
    local map = "-ffile-prefix-map="
    assert.same({ map .. "/nowhere=attn2c/runtime", map .. at.store.path .. "/new=." }, lines)
    local function moved(what, name)
      at[what] = at.folder .. "/" .. name
      files.make_folder(at[what])
      return (select(2, at.run())) > 0
    end
    assert.is_false(moved("model", "other"))
    assert.is_false(moved("model", "m=n")) -- of which a compiler gets no name
    assert.is_false(moved("runtime", "other"))
    assert.is_true(moved("runtime", "a=b"))
    assert.is_nil(at.run():find("a=b", 1, true))
    assert.is_true(moved("runtime", "a=c"))
  end)

  it("does not look at times", function()
    local at = new()
    at.run()
    lfs.touch(at.folder .. "/in/a", os.time() + 1000)
    assert.same({ "AB", 0 }, { at.run() })
  end)

  it("runs again what was planted or cut in the store, and does not look at what it does not need", function()
    local at = new()
    at.run()
    local function plant(name)
      for key in lfs.dir(at.store.path .. "/results") do
        local path = ("%s/results/%s/%s"):format(at.store.path, key, name)
        if files.read(path) then helper.write(path, "planted") end
      end
    end
    plant("a.o")
    assert.same({ "AB", 0 }, { at.run() })
    plant("whole")
    assert.same({ "AB", 1 }, { at.run() })
    plant("whole")
    assert.same({ "AB", 0 }, { at.run() })
  end)

  it("gives a compiler no header of another model in a folder below", function()
    local at = new()
    files.make_folder(at.folder .. "/runtime/model")
    files.make_folder(at.folder .. "/in/model")
    helper.write(at.folder .. "/runtime/model/model.h", "int of_runtime;\n")
    helper.write(at.folder .. "/in/model/model.h", "#error of another model\n")
    at.runtime, at.links = at.folder .. "/runtime", { "own.h" }
    at.sources = { ["own.h"] = '#include "model/model.h"\n', ["own.c"] = '#include "own.h"\n' }
    at.jobs = { { name = "whole", is_output = true, source = "own.c", from = "model",
      commands = { { "cc", "-E", "-P", "-iquote", { of = "runtime" }, INPUTS, "-o", RESULT } } } }
    assert.equal("int of_runtime;\n", (at.run()))
    assert.same({}, at.leftovers())
  end)

  it("gives a compiler no path of a model's source, which its result could have", function()
    local at = new()
    at.jobs = { { name = "whole", is_output = true, source = "a", from = "model",
      commands = { { "sh", "-c", 'printf "%s %s" "$1" "$2" >"$3"; [ -e "$1" ]', "sh", INPUTS, { of = "source" },
        RESULT } } } }
    assert.equal("a a", (at.run()))
  end)

  it("runs a fresh job each time, with the user's weights, and what comes from it only where it changed", function()
    local at = new()
    at.weights = at.folder .. "/we $(ights"
    helper.write(at.weights, "W")
    at.jobs[1].inputs = { "a.o", "fresh", "apart.o" }
    at.jobs[3] = { name = "fresh", is_fresh = true, inputs = { "a.o" },
      commands = { { "sh", "-c", 'echo >>"$3.log"; cat "$1" "$3" >"$2"', "sh", INPUTS, RESULT, { of = "weights" } } } }
    at.jobs[4] = { name = "apart.o", source = "b", from = "model", inputs = { "fresh" },
      commands = { { "ln", "-s", "--", INPUTS, "weights" },
        { "sh", "-c", 'cat weights "$1" >"$2"', "sh", { of = "source" }, RESULT } } }
    local function fresh_runs() return #(files.read(at.weights .. ".log") or "") end
    assert.same({ "AAWAWB", 1 }, { at.run() })
    assert.equal(1, fresh_runs())
    assert.same({ "AAWAWB", 0 }, { at.run() })
    assert.equal(2, fresh_runs())
    helper.write(at.weights, "X")
    assert.same({ "AAXAXB", 0 }, { at.run() })
    assert.same({}, at.leftovers())
    for key in lfs.dir(at.store.path .. "/results") do
      assert.is_nil(files.read(("%s/results/%s/fresh"):format(at.store.path, key)))
    end
  end)

  it("refuses what writes no result, or no object", function()
    local at = new()
    local lines = { ['true'] = "no part.o", [': >"$1"'] = "no object", ['echo .text >"$1"'] = "no object" }
    for line, said in pairs(lines) do
      at.jobs = { { name = "part.o", source = "a", from = "model", is_object = said == "no object",
        commands = { { "sh", "-c", line, "sh", RESULT } } } }
      local fault = helper.fault(at.run)
      assert.same({ 4, { "cannot compile a: sh wrote " .. said .. "; CC must be a C compiler, and ATTN2C_CFLAGS must "
        .. "not change what it writes" } }, { fault.code, fault.lines })
      assert.same({}, at.leftovers())
    end
  end)

  it("hands on what a fresh job says of the weights, and its exit code", function()
    local at = new()
    at.jobs[3] = { name = "b.o", is_fresh = true,
      commands = { { "sh", "-c", "echo 'tiny.packer: f: missing' >&2; echo 'tiny.packer: g' >&2; exit 3" } } }
    local fault = helper.fault(at.run)
    assert.same({ 3, { "f: missing", "g" } }, { fault.code, fault.lines })
    at.jobs[3].commands = { { "sh", "-c", "echo 'cp: no room' >&2; exit 1" } }
    fault = helper.fault(at.run)
    assert.same({ 4, { "cp: no room" } }, { fault.code, fault.lines })
    at.jobs[3].commands = { { "sh", "-c", "exit 9" } }
    fault = helper.fault(at.run)
    assert.same({ 4, { "cannot take the weights" } }, { fault.code, fault.lines })
    assert.same({}, at.leftovers())
  end)

  it("says in one line that libxsmm is not there, whoever misses it", function()
    local line = "the compiler finds no libxsmm (in Debian 12 the package libxsmm-dev, only for amd64); "
      .. "kernels=c builds without it"
    for _, said in ipairs { "v.h:6:10: fatal error: libxsmm_version.h: No such file or directory",
      "v.h:6:10: fatal error: 'libxsmm_version.h' file not found",
      "/usr/bin/ld: cannot find -lxsmmgen: No such file or directory" } do
      local at = new()
      at.jobs[2].commands = { { "sh", "-c", 'echo "$0" >&2; exit 1', said } }
      local fault = helper.fault(at.run)
      assert.same({ 6, { line } }, { fault.code, fault.lines })
    end
  end)

  it("says which job failed, ends the others and leaves nothing", function()
    local at = new()
    at.jobs[2].commands = { { "sh", "-c", "printf 'half' >\"$1\"; echo so >&2; exit 1", "sh", RESULT } }
    at.jobs[3].commands = { { "sh", "-c", "sleep 600; touch late" } }
    local begun = os.time()
    local fault = helper.fault(at.run)
    assert.same({ "cannot compile a: what the compiler said is above" }, fault.lines)
    assert.equal(4, fault.code)
    assert.is_true(os.time() - begun < 300)
    assert.same({}, at.leftovers())
    at.jobs[2].commands = { { "false" } }
    assert.same({ "cannot compile a: the compiler said nothing and ended with status 1" }, helper.fault(at.run).lines)
    at.jobs[2].commands = { { "sh", "-c", "kill -9 $$" } }
    assert.same({ "cannot compile a: the compiler said nothing and was ended by signal 9" },
      helper.fault(at.run).lines)
    at.jobs[2].commands = { { "/nonexistent/cc" } }
    assert.same({ "cannot compile a: /nonexistent/cc: no such file or directory" }, helper.fault(at.run).lines)
    at.jobs[2].commands = { { "true" } } -- which makes no result
    assert.equal(4, helper.fault(at.run).code)
    assert.same({}, at.leftovers())
  end)
end)
