-- early_spec: another process compiles objects that the build then finds in the store.
local helper = require("tests.spec.helper")
local early = require("commands.build.early")
local lfs = require("lfs")
local process = require("common.process")
local runner = require("commands.build.runner")
local sources = require("commands.build.sources")
local store = require("common.store")
local toolchain = require("commands.build.toolchain")
local uv = require("common.libuv")

local NAMES = { "base/guard.c", "base/shape.c", "base/utf8.c" }

-- Sets variables of the environment, which the process takes over, until `restore` is called.
local function with_environment(more)
  local before = {}
  for name, value in pairs(more) do
    before[name] = os.getenv(name) or false
    uv.os_setenv(name, value)
  end
  return function()
    for name, value in pairs(before) do
      if value then uv.os_setenv(name, value) else uv.os_unsetenv(name) end
    end
  end
end

describe("objects that are compiled early", function()
  local restore, folder
  after_each(function()
    restore()
    helper.clean()
  end)

  -- The runner's context with an empty store, and jobs that compile some files of the runtime.
  local function begin(cflags)
    folder = helper.folder()
    restore = with_environment { XDG_CACHE_HOME = folder .. "/cache", ATTN2C_CFLAGS = cflags or "-O0" }
    local path, jobs = uv.fs_realpath(helper.root .. "/runtime"), {}
    local runtime = sources.of_runtime(path)
    for i, name in ipairs(NAMES) do
      jobs[i] = { name = ("%d.o"):format(i), from = "runtime", source = name, is_object = true,
        commands = { { { of = "compiler" }, { of = "cflags" }, { of = "maps" }, "-iquote", { of = "runtime" }, "-c",
          { of = "inputs" }, "-o", { of = "result" } } } }
    end
    return { store = store.of_user(), toolchain = toolchain.new(), folders = { runtime = path },
      sources = { runtime = runtime.texts }, headers = function() return runtime.of_headers end }, jobs
  end

  local function work_folders()
    local list = {}
    for name in lfs.dir(folder .. "/cache/attn2c") do if name:match("^new") then list[#list + 1] = name end end
    return list
  end

  it("are in the store, under the keys of the build", function()
    local context, jobs = begin()
    local made = early.start(context, jobs)
    early.finish(made, nil, function(text) assert.equal("", text) end)
    for _, job in ipairs(jobs) do assert.is_true(runner.has(context, job), job.name) end
    assert.same({}, work_folders())
    assert.is_nil(early.start(context, jobs))
  end)

  it("have the compiler's warnings, once", function()
    local context, jobs = begin("-O0 -Wpadded -Wsystem-headers")
    local said = {}
    early.finish(early.start(context, jobs), nil, function(text) said[#said + 1] = text end)
    assert.matches("warning: .*%[%-Wpadded%]", table.concat(said))
  end)

  it("are left to the build where they cannot be compiled, without a word", function()
    local context, jobs = begin("-O0 -Werror -Wpadded -Wsystem-headers")
    early.finish(early.start(context, jobs), nil, error)
    for _, job in ipairs(jobs) do assert.is_false(runner.has(context, job)) end
    assert.same({}, work_folders())
  end)

  it("are given up when the build has a fault", function()
    local context, jobs = begin()
    jobs[1].commands = { { "sleep", "600" } }
    local begun = os.time()
    early.finish(early.start(context, jobs), "a fault", error)
    assert.is_true(os.time() - begun < 300)
    assert.same({}, work_folders())
  end)

  it("are given up with a compiler that a signal does not end", function()
    local context, jobs = begin()
    local own = folder .. "/own"
    jobs[1].commands = { { "sh", "-c", ("trap '' TERM; echo $$ >%s.new; mv %s.new %s; sleep 600"):format(own, own,
      own) } }
    local made = early.start(context, jobs)
    process.wait(function() return made.child.over or lfs.attributes(own, "mode") end)
    early.finish(made, "a fault", error)
    assert.is_nil(lfs.attributes(("/proc/%d/exe"):format(helper.read(own)), "mode"))
  end)

  it("leave no folder where they cannot begin, or a signal comes while they are waited for", function()
    local context, jobs = begin()
    local usual = context.store.begin
    function context.store:begin() -- a folder has the name of the file that is to be written
      local work = usual(self)
      lfs.mkdir(work .. "/jobs.json")
      return work
    end
    assert.matches("jobs.json: is a folder", helper.fault(early.start, context, jobs).lines[1])
    context.store.begin = nil
    assert.same({}, work_folders())
    jobs[1].commands = { { "sleep", "600" } }
    local made = early.start(context, jobs)
    process.limit(0)
    assert.same({ false, "late!" }, { pcall(early.finish, made, nil, error) })
    assert.same({}, work_folders())
  end)

  it("are not made any more when the build is killed, and nothing is left", function()
    begin() -- for the environment
    local own = folder .. "/own"
    local script = helper.file(([[
local helper = dofile(%q)
local sources = require("commands.build.sources").of_runtime(%q)
local made = require("commands.build.early").start({ store = require("common.store").of_user(),
  toolchain = require("commands.build.toolchain").new(), folders = { runtime = %q },
  sources = { runtime = sources.texts }, headers = function() return sources.of_headers end }, {
  { name = "1.o", from = "runtime", source = "base/guard.c",
  is_object = true, commands = { { "sh", "-c", "echo $$ >%s.new; mv %s.new %s; sleep 600" } } } })
require("common.process").wait(function() return made.child.over end)
]]):format(helper.absolute_root() .. "/tests/spec/helper.lua", uv.fs_realpath(helper.root .. "/runtime"),
      uv.fs_realpath(helper.root .. "/runtime"), own, own, own), "build.lua")
    local child = process.start { words = { "lua5.4", script } }
    process.wait(function() return child.over or lfs.attributes(own, "mode") end)
    assert.equal(2, #work_folders())
    uv.kill(child.pid, "sigkill")
    process.wait(function() return child.over end)
    for _ = 1, 3000 do
      if not lfs.attributes(("/proc/%d/exe"):format(helper.read(own)), "mode") and #work_folders() == 0 then return end
      process.sleep(10)
    end
    error("a compiler or a folder is left")
  end)

  it("are made from a folder of any name", function()
    begin()
    local odd = folder .. "/a;b?c %s \"ü'"
    assert(uv.fs_symlink(helper.absolute_root(), odd))
    helper.write(folder .. "/jobs.json", ('{ "runtime": "%s/runtime", "jobs": [], "parent": %d }'):format(
      helper.absolute_root(), uv.os_getpid()))
    local child = process.run { words = { "lua5.4", odd .. "/gen/commands/build/early_process.lua",
      folder .. "/jobs.json" }, gather = "all" }
    assert.same({ 0, "" }, { child.code, child.errors })
  end)
end)
