-- seed.lua: runs a Lua program that builds (gen/attn2c), and copies what it takes from its cache, and adds to it, into
-- another cache, $SEED_CACHE/attn2c. If $SEED_THIN is set, it copies only seven of eight objects of the runtime. So
-- tests of caches of their own need not compile the whole runtime (helper.seed).
--   lua5.4 tests/seed.lua PROGRAM [WORDS ...]
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
dofile(here .. "/../gen/common/compiled.lua").start(((here .. "/../gen"):gsub("/tests/%.%./", "/")))

local files = require("common.files")
local recipe = require("commands.build.recipe")
local store = require("common.store")

local is_thin = os.getenv("SEED_THIN") ~= nil
local is_of_runtime = {}

local function environment(name) return name == "XDG_CACHE_HOME" and os.getenv("SEED_CACHE") or nil end
local other = store.open("/nowhere", error, environment)

local open = store.open

function store.open(...)
  local opened = open(...)
  local find, keep = opened.find, opened.keep
  local function copied(key, name, result)
    local is_chosen = not is_thin or is_of_runtime[name] and not key:find("^[01]")
    if result and is_chosen and not other:find(key, name) then
      local work = other:begin()
      files.write_all(work, { { name = name, text = result.text } })
      other:keep(work, key, name)
    end
    return result
  end
  function opened:find(key, name) return copied(key, name, find(self, key, name)) end
  function opened:keep(work, key, name) return copied(key, name, keep(self, work, key, name)) end
  return opened
end

local jobs = recipe.jobs

-- The runtime's objects are taken even if what consists of them is there.
function recipe.jobs(...)
  local list = jobs(...)
  for _, job in ipairs(list) do
    if job.from == "runtime" and job.is_object then job.is_read, is_of_runtime[job.name] = true, true end
  end
  return list
end

table.move(arg, 1, #arg + 1, 0)
dofile(arg[0])
