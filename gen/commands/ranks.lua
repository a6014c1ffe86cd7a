-- ranks.lua: starts programs of several ranks by MPI's mpirun, and refuses what does not go with them.
local common_words = require("common.words")
local faults = require("common.faults")
local libuv = require("common.libuv")
local process = require("common.process")

local ranks = {}

-- Variables that let Open MPI start more ranks than there are cores, and start them as root, as in a container; other
-- launchers do not read them.
local crowded = { OMPI_MCA_rmaps_base_oversubscribe = "1" }
local as_root = { OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1" }

-- Returns the words of ATTN2C_MPIRUN, or mpirun.
local function given()
  local list = common_words.list(os.getenv("ATTN2C_MPIRUN") or "")
  return #list > 0 and list or { "mpirun" }
end

-- Returns a launcher's words before the words of a program of `count` ranks.
local function before(list, count, words) return common_words.append(list, { "-n", tostring(count) }, words) end

--- Returns the words that a user types to start a program with `count` ranks.
function ranks.typed(count, words) return before(given(), count, words) end

-- Returns the words of the command that starts ranks, which is there. Faults: io.
local function launcher()
  local list = given()
  local name = list[1]
  list[1] = name:find("/", 1, true) and name or process.find(name)
  if list[1] then return list end
  return faults.raise("io", name == "mpirun" and "ranks need mpirun: install openmpi-bin or mpich"
    or ("ATTN2C_MPIRUN: there is no command %s"):format(faults.quote(name)))
end

--- Returns the words that start a program with `count` ranks, and the variables of their environment, added to given
--- ones. count: nil or 1: the program itself. Faults: io, if there is no mpirun.
function ranks.start(count, words, environment)
  if (count or 1) == 1 then return words, environment end
  local as = libuv.getuid() == 0 and as_root or nil
  return before(launcher(), count, words), common_words.merged(crowded, as, environment)
end

--- Refuses what is linked into one program. options: is_static, embed. Faults: usage.
function ranks.check(count, options)
  if (count or 1) == 1 then return end
  if options.serves then faults.raise("usage", "--serve: does not go with ranks: one process answers") end
  if options.is_static then faults.raise("usage", "--static: does not go with ranks: MPI's library is shared") end
  if options.embed then
    faults.raise("usage", "--embed: does not go with ranks: each rank reads its own part of a file, --weights FILE")
  end
end

return ranks
