-- store.lua: keeps the results of jobs on disk, by the hash of their inputs.
-- An entry is a folder with this hash as its name, which contains the result and the result's SHA-256. It appears by
-- one rename, and is used only if result and SHA-256 agree, so that no partial or foreign result is linked. The store
-- must belong to nobody but the user, which is checked when it is opened. If several processes need a result, one makes
-- it, and locks a file with the key in its name meanwhile. Work is done in folders new-XXXXXX (scratch.lua): the next
-- build removes the files of killed ones.
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local scratch = require("common.scratch")
local uv = require("common.libuv")

local store = {}

local MOST_BYTES = 1 << 30    -- bytes that a store may have
local SWEEP_EVERY = 3600      -- seconds between two sweeps
local IN_USE = 3600           -- seconds after its last use during which an entry is not removed
local PRIVATE = 448           -- mode 0700
local CLAIM = "making-"       -- begins the name of the file that is locked while a result is made

local Store = {}
Store.__index = Store

--- True if a path is a folder of this user that is closed to others. Otherwise also returns the reason.
function store.is_private(path)
  local found = uv.fs_lstat(path)
  if not found then return false, "is not there" end
  if found.type ~= "directory" then return false, "is not a folder" end
  if found.uid ~= uv.getuid() then return false, "belongs to another user" end
  if found.mode & 63 ~= 0 then return false, "is open to other users" end
  return true
end

--- Makes a private folder and its parents. Returns its path, or nil and why: "is not there" if none could be made.
function store.private_folder(path)
  local above = path:match("^(.*)/[^/]*$")
  if above and above ~= "" then pcall(files.make_folder, above) end
  uv.fs_mkdir(path, PRIVATE)
  local ok, reason = store.is_private(path)
  if not ok then return nil, reason end
  if not uv.fs_access(path, "W") then return nil, "cannot be written" end
  if not uv.fs_access(path, "RX") then return nil, "cannot be read" end
  return path
end

store.location = require("common.compiled").location

--- Writes a file into the user's cache. Raises an error if that cannot be used.
function store.write(name, text)
  files.write_all(assert(store.private_folder(store.location(os.getenv))), { { name = name, text = text } })
end

-- Returns the store in a private folder.
local function at(path)
  path = uv.fs_realpath(path)
  uv.fs_mkdir(path .. "/results", PRIVATE)
  return setmetatable({ path = path, works = {}, claims = {} }, Store)
end

--- Opens the user's store. Returns nil, its location (nil: there is none) and the reason, if it cannot be used.
--- environment: replaces os.getenv in tests.
function store.of_user(environment)
  local location = store.location(environment or os.getenv)
  if not location then return nil end
  local path, reason = store.private_folder(location)
  if path then return at(path) end
  return nil, location, reason
end

--- Opens the user's store, or, if that cannot be used, one in `folder`. say(line) is called if the user's store is not
--- safe. environment: replaces os.getenv in tests.
function store.open(folder, say, environment)
  local own, location, reason = store.of_user(environment)
  if own then return own end
  if location and reason ~= "is not there" then
    say(("the cache %s %s: %s/.cache is used instead"):format(location, reason, folder))
  end
  local path
  path, reason = store.private_folder(folder .. "/.cache")
  if not path then faults.raise("io", "cannot use %s/.cache, which %s", folder, reason) end
  return at(path)
end

--- True if there is a result of a key under its name. It may be damaged.
function Store:has(key, name)
  return lfs.attributes(("%s/results/%s/%s"):format(self.path, key, name), "mode") == "file"
end

--- Returns the result of a key under its name, { path, text, sum }, or nil if there is no complete one.
function Store:find(key, name)
  local entry = self.path .. "/results/" .. key
  local sum = files.read(entry .. "/sha256")
  local text = sum and files.read(entry .. "/" .. name)
  if not text or hash.content(text) ~= sum then return nil end
  lfs.touch(entry)
  return { path = entry .. "/" .. name, text = text, sum = sum }
end

-- Locks the file of a key. Returns its handle, which is false if the file system has no locks; nil if another process
-- has the lock.
local function claim(path)
  local handle = io.open(path, "a")
  if not handle then return false end
  local ok, why = lfs.lock(handle, "w")
  if ok then return handle end
  handle:close()
  if why:find("temporarily unavailable") or why:find("Permission denied") then return nil end
  return false
end

-- Ends a claim. The file is removed first: who has opened it before then locks a file that is gone, finds the result,
-- or makes it once more.
local function release(self, work)
  local held = self.claims[work]
  self.claims[work] = nil
  if held and held.handle then
    os.remove(held.path)
    held.handle:close()
  end
end

--- Makes a folder for the work on one result. It is locked as long as this process works on it. If a key is given, and
--- another process works on its result, returns nil.
function Store:begin(key)
  local claimed = key and self.path .. "/" .. CLAIM .. key
  local claim_handle = claimed and claim(claimed)
  if claimed and claim_handle == nil then return nil end
  local made = scratch.make(self.path, "new")
  self.works[made.path], self.claims[made.path] = made, claimed and { path = claimed, handle = claim_handle } or nil
  return made.path
end

--- Removes such a folder, or an entry.
function Store:drop(work)
  release(self, work)
  local made <close> = self.works[work]
  if not made and lfs.attributes(work, "mode") then files.remove_folder(work) end
  self.works[work] = nil
end

--- Returns a result in such a folder that is not kept, in the form of Store:find.
function Store.look(_, work, name)
  local path = work .. "/" .. name
  local text = files.read(path)
  if not text then faults.raise("io", "cannot read " .. path) end
  return { path = path, text = text, sum = hash.content(text) }
end

--- Keeps the result `name` of such a folder. Returns it in the form of Store:find. If another process has kept a
--- complete result first, that one stays.
function Store:keep(work, key, name)
  local text = files.read(work .. "/" .. name)
  if not text then faults.raise("io", "cannot read %s/%s", work, name) end
  local hidden = scratch.hide(work) -- without its lock it is no folder that a later build would remove
  for other in lfs.dir(hidden) do -- other files that the commands left
    if other ~= "." and other ~= ".." and other ~= name then os.remove(hidden .. "/" .. other) end
  end
  local sum, entry = hash.content(text), self.path .. "/results/" .. key
  files.write_all(hidden, { { name = "sha256", text = sum } })
  for _ = 1, 2 do
    if os.rename(hidden, entry) then
      self:drop(work)
      return { path = entry .. "/" .. name, text = text, sum = sum }
    end
    local there = self:find(key, name)
    if there then
      self:drop(work)
      return there
    end
    self:drop(entry)
  end
  faults.raise("io", "cannot write %s", entry)
end

-- Returns the entries with their sizes, the longest unused first.
local function entries_of(path)
  local list = {}
  for key in lfs.dir(path) do
    if key ~= "." and key ~= ".." then
      local entry = { path = path .. "/" .. key, bytes = 0 }
      entry.used = lfs.symlinkattributes(entry.path, "modification") or 0
      if lfs.symlinkattributes(entry.path, "mode") == "directory" then
        for name in lfs.dir(entry.path) do
          local about = lfs.symlinkattributes(entry.path .. "/" .. name)
          if about and about.mode == "file" then entry.bytes = entry.bytes + about.size end
        end
        list[#list + 1] = entry
      end
    end
  end
  table.sort(list, function(a, b) return a.used < b.used end)
  return list
end

--- Removes the longest unused entries of a store that is too large, and the claims of killed builds. It does so every
--- SWEEP_EVERY seconds. limits (for tests): bytes, every, in_use.
function Store:sweep(limits)
  limits = limits or { bytes = MOST_BYTES, every = SWEEP_EVERY, in_use = IN_USE }
  local now, mark = os.time(), self.path .. "/swept"
  local age = now - (lfs.attributes(mark, "modification") or 0)
  if age >= 0 and age < limits.every then return end -- a clock may be set back, and files' times be ahead of os.time
  files.write_all(self.path, { { name = "swept", text = "" } })
  lfs.touch(mark)
  for name in lfs.dir(self.path) do
    local path = self.path .. "/" .. name
    local age_of = now - (lfs.symlinkattributes(path, "modification") or now)
    if age_of > limits.in_use and name:sub(1, #CLAIM) == CLAIM then os.remove(path) end
  end
  local list, total = entries_of(self.path .. "/results"), 0
  for _, entry in ipairs(list) do total = total + entry.bytes end
  for _, entry in ipairs(list) do
    if total <= limits.bytes or now - entry.used < limits.in_use then break end
    self:drop(entry.path)
    total = total - entry.bytes
  end
end

return store
