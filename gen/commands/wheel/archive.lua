-- archive.lua: makes the archive of a Python wheel of a folder's files. The same files give the same bytes.
local base64 = require("text.base64")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local process = require("common.process")
local uv = require("common.libuv")
local words = require("common.words")

local archive = {}

local FILE, PROGRAM = 420, 493 -- modes 0644 and 0755

-- Returns the paths of all files below a folder, without the folder itself.
local function paths_in(folder, below, list)
  for _, name in ipairs(files.names(folder .. below)) do
    local path = below .. "/" .. name
    local is_folder = lfs.attributes(folder .. path, "mode") == "directory"
    if is_folder then paths_in(folder, path, list) elseif name ~= ".lock" then list[#list + 1] = path:sub(2) end
  end
  return list
end

-- Returns a field of a line of RECORD, which is CSV.
local function field(text) return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text end

-- Returns a file's line of RECORD.
local function record(folder, path)
  local bytes = hash.file(folder .. "/" .. path):gsub("%x%x", function(two) return string.char(tonumber(two, 16)) end)
  local sum = base64.encode(bytes):gsub("[+/=]", { ["+"] = "-", ["/"] = "_", ["="] = "" })
  return ("%s,sha256=%s,%d\n"):format(field(path), sum, lfs.attributes(folder .. "/" .. path, "size"))
end

-- The times that archives can have: 1980 to 2107.
local FIRST_TIME, LAST_TIME = 315532800, 4354819198

-- Returns the time of all files, in seconds: SOURCE_DATE_EPOCH, or the first that there is.
local function time_of(given)
  local seconds = math.tointeger(tonumber((given or ""):match("^%d+$") or FIRST_TIME)) or FIRST_TIME
  return math.max(FIRST_TIME, math.min(seconds, LAST_TIME))
end

--- Writes RECORD in the folder `information` (NAME-VERSION.dist-info) of a folder, and the folder's files to the
--- archive `path`, which must be absolute. `programs` is the set of the files that are programs. Faults: machine, if
--- there is no zip.
function archive.make(folder, information, path, programs)
  local zip = process.find("zip")
    or faults.raise("machine", "wheel: zip is not installed: it is in Debian's package zip")
  local list, lines, own = paths_in(folder, "", {}), {}, information .. "/RECORD"
  table.sort(list)
  for i, each in ipairs(list) do lines[i] = record(folder, each) end
  lines[#lines + 1] = field(own) .. ",,\n"
  files.write_all(folder .. "/" .. information, { { name = "RECORD", text = table.concat(lines) } })
  local order = { {}, {} } -- as the format asks for: the information is at the end
  for _, each in ipairs(list) do
    local is_last = each:sub(1, #information + 1) == information .. "/"
    table.insert(order[is_last and 2 or 1], each)
  end
  local all, time = words.append({}, order[1], order[2], { own }), time_of(os.getenv("SOURCE_DATE_EPOCH"))
  for _, each in ipairs(all) do
    uv.fs_chmod(folder .. "/" .. each, programs[each] and PROGRAM or FILE)
    uv.fs_utime(folder .. "/" .. each, time, time)
  end
  local child = process.run { words = { zip, "-X", "-D", "-q", "-9", path, table.unpack(all) }, folder = folder,
    gather = "all", environment = { TZ = "UTC", ZIPOPT = "", ZIP = "" } }
  process.check(child, "zip")
end

return archive
