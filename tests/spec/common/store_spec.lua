-- store_spec: results that are kept, found only where they are whole, and only in the user's own cache.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")
local store = require("common.store")

local function silent(line) error("said: " .. line) end

local function open(folder, environment, say)
  return store.open(folder, say or silent, function(name) return environment[name] end)
end

local function keep(self, key, text)
  local work = self:begin(key)
  files.write_all(work, { { name = "a.o", text = text }, { name = "left.tmp", text = "x" } })
  return self:keep(work, key, "a.o"), work
end

describe("a store", function()
  after_each(helper.clean)

  it("lies in the user's cache", function()
    local function location(environment) return store.location(function(name) return environment[name] end) end
    assert.equal("/c/attn2c", location { XDG_CACHE_HOME = "/c", HOME = "/h" })
    assert.equal("/h/.cache/attn2c", location { XDG_CACHE_HOME = "relative", HOME = "/h" })
    assert.equal("/h/.cache/attn2c", location { XDG_CACHE_HOME = "", HOME = "/h" })
    assert.is_nil(location { HOME = "" })
    assert.is_nil(location {})
  end)

  it("finds what it keeps, alone in its entry", function()
    local self = open(helper.folder(), { XDG_CACHE_HOME = helper.folder() .. "/new" })
    assert.is_nil(self:find("k", "a.o"))
    local kept, work = keep(self, "k", "object")
    assert.same(kept, self:find("k", "a.o"))
    assert.equal("object", kept.text)
    assert.equal("object", files.read(kept.path))
    assert.equal(require("common.hash").content("object"), kept.sum)
    assert.is_nil(lfs.attributes(work, "mode"))
    assert.is_nil(lfs.attributes(self.path .. "/results/k/left.tmp", "mode"))
    assert.equal("rwx------", lfs.attributes(self.path, "permissions"))
  end)

  it("does not find what is half, planted or changed, and replaces it", function()
    local self = open(helper.folder(), { XDG_CACHE_HOME = helper.folder() })
    local kept = keep(self, "k", "object")
    for _, spoil in ipairs {
      function() helper.write(kept.path, "obj") end,
      function() helper.write(kept.path, "") end,
      function() helper.write(kept.path, "planted") end,
      function() os.remove(kept.path) end,
      function() os.remove(self.path .. "/results/k/sha256") end,
      function() helper.write(self.path .. "/results/k/sha256", "") end,
    } do
      spoil()
      assert.is_nil(self:find("k", "a.o"))
      keep(self, "k", "object")
      assert.equal("object", self:find("k", "a.o").text)
    end
  end)

  it("keeps the whole result of who came first", function()
    local self = open(helper.folder(), { XDG_CACHE_HOME = helper.folder() })
    keep(self, "k", "first")
    local kept, work = keep(self, "k", "second")
    assert.equal("first", kept.text)
    assert.is_nil(lfs.attributes(work, "mode"))
  end)

  it("lets one process at a time make a result", function()
    local caches = helper.folder()
    local self = open(helper.folder(), { XDG_CACHE_HOME = caches })
    local other = process.start { gather = "all", environment = { XDG_CACHE_HOME = caches }, words = { "lua5.4", "-e",
      ([[package.path = %q .. "/gen/?.lua;" .. package.path
      local self = require("common.store").open("/nowhere", error)
      self:begin("k") io.open(%q, "w"):close() os.execute("sleep 60")]]):format(helper.root, caches .. "/begun") } }
    process.wait(function() return other.over or lfs.attributes(caches .. "/begun", "mode") end)
    assert.is_nil(self:begin("k"))
    self:drop(assert(self:begin("other")))
    self:drop(assert(self:begin())) -- of a result without a key
    process.stop("sigkill") -- a process that ends has no locks
    assert.equal("object", keep(self, "k", "object").text)
    local left = {}
    for name in lfs.dir(self.path) do left[#left + 1] = name:match("^making%-.*") end
    self:drop(assert(self:begin("k")))
    assert.same({}, left)
  end)

  it("is beside the output where the user has none", function()
    local folder = helper.folder()
    for _, environment in ipairs { {}, { HOME = "/proc/none" }, { XDG_CACHE_HOME = "/dev/null" } } do
      assert.equal(folder .. "/.cache", open(folder, environment).path)
    end
    assert.equal("rwx------", lfs.attributes(folder .. "/.cache", "permissions"))
  end)

  it("is beside the output, and says why, where others could write the user's", function()
    local caches, folder = helper.folder(), helper.folder()
    local function refused(why)
      local said = {}
      local self = open(folder, { XDG_CACHE_HOME = caches }, function(line) said[#said + 1] = line end)
      assert.equal(folder .. "/.cache", self.path)
      assert.same({ ("the cache %s/attn2c %s: %s/.cache is used instead"):format(caches, why, folder) }, said)
    end
    lfs.mkdir(caches .. "/attn2c")
    os.execute("chmod 0770 " .. caches .. "/attn2c")
    refused("is open to other users")
    lfs.rmdir(caches .. "/attn2c")
    assert(lfs.link(helper.folder(), caches .. "/attn2c", true))
    refused("is not a folder")
    os.remove(caches .. "/attn2c")
    if os.execute("mkdir -m 700 " .. caches .. "/attn2c && chown 65534 " .. caches .. "/attn2c 2>/dev/null") then
      refused("belongs to another user")
    end
    os.execute("chmod 0777 " .. folder .. "/.cache")
    assert.equal(4, helper.fault(open, folder, {}).code)
  end)

  it("sweeps what was not used for longest", function()
    local self = open(helper.folder(), { XDG_CACHE_HOME = helper.folder() })
    local now = os.time()
    for i = 1, 4 do
      keep(self, "k" .. i, ("x"):rep(1000))
      lfs.touch(self.path .. "/results/k" .. i, now - 10000 + i)
    end
    lfs.touch(self.path .. "/results/k1", now)
    local limits = { bytes = 2500, every = 100, in_use = 3600 }
    self:sweep(limits)
    local left = {}
    for i = 1, 4 do left[i] = self:find("k" .. i, "a.o") ~= nil end
    assert.same({ true, false, false, true }, left)
    limits.bytes, limits.in_use = 0, -1
    self:sweep(limits) -- too early
    assert.truthy(self:find("k1", "a.o"))
    limits.every, limits.in_use = 0, 3600
    self:sweep(limits) -- what is too much is in use
    assert.truthy(self:find("k1", "a.o"))
    limits.in_use = -1
    lfs.touch(self.path .. "/swept", now + 1000) -- the clock was set back
    self:sweep(limits)
    assert.is_nil(self:find("k1", "a.o"))
  end)

  it("has no folders of killed builds once the next one works in it, but keeps those of builds that live", function()
    local self = open(helper.folder(), { XDG_CACHE_HOME = helper.folder() })
    local dead, other, own = self.path .. "/new-dead00", self.path .. "/new-other0", self:begin()
    for _, folder in ipairs { dead, other } do
      lfs.mkdir(folder)
      helper.write(folder .. "/.lock", "")
      lfs.touch(folder, os.time() - 10000)
    end
    local holds = process.start { gather = "all", words = { "lua5.4", "-e", ([[local handle = io.open(%q, "a")
      require("lfs").lock(handle, "w") io.open(%q, "w"):close() os.execute("sleep 60")]]):format(
      other .. "/.lock", other .. "/ready") } }
    process.wait(function() return holds.over or lfs.attributes(other .. "/ready", "mode") end)
    local kept, work = keep(self, "k", "x")
    assert.equal("x", kept.text)
    assert.is_nil(lfs.attributes(work, "mode"))
    assert.is_nil(lfs.attributes(dead, "mode"))
    for _, folder in ipairs { other, own } do assert.equal("directory", lfs.attributes(folder, "mode")) end
    process.stop()
    self:drop(self:begin())
    self:drop(own)
    assert.same({ "results" }, helper.entries(self.path))
  end)
end)
