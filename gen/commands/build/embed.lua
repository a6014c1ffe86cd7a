-- embed.lua: reads --embed and --weights, which choose the weights to link in and their form.
-- The form is packed, or as a checkpoint stores them.
local faults = require("common.faults")
local files = require("common.files")
local headers = require("common.headers")
local lfs = require("lfs")

local embed = {}

local FORMS = { f32 = "packed", f16 = "stored" }
local WIDE = { F32 = true, F64 = true }

local function refuse(path, ...) faults.raise("format", "%s: %s", path, faults.line(...)) end

-- Returns the one file of a checkpoint, whose tensors take fewer bytes than packed ones.
local function narrow_file(path)
  if files.read_some(path, 16) == "attn2c weights\n\0" then
    refuse(path, "is a packed file in f32: use --embed FILE")
  end
  local file, is_narrow
  for _, tensor in pairs(headers.read(path).tensors) do
    if file and tensor.path ~= file then
      refuse(path, "has several files: --embed=f16 takes a checkpoint of one file; --embed=f32 takes any")
    end
    file, is_narrow = tensor.path, is_narrow or not WIDE[tensor.dtype] and not tensor.expected
  end
  if not is_narrow then refuse(path, "has only tensors of type F32 or F64: use --embed=f32") end
  return file
end

-- Returns an absolute path, because jobs run in other folders.
local function absolute(path) return path:sub(1, 1) == "/" and path or lfs.currentdir() .. "/" .. path end

--- Returns { embed = "packed" or "stored", weights = an absolute path }, or {} if nothing is linked in. asked: the
--- value of --embed, a path or "f32" or "f16"; given: that of --weights; own: the folder that is the description, or
--- nil. Faults: usage, format.
function embed.find(asked, given, own)
  if not asked then
    if given then faults.raise("usage", "--weights: needs --embed=f32 or --embed=f16") end
    return {}
  end
  local form = FORMS[asked]
  if not form then
    if given then faults.raise("usage", "--weights: needs --embed=f32 or --embed=f16, but --embed has a file") end
    if asked == "" then faults.raise("usage", "--embed: the name is empty; a file, f32 or f16 is needed") end
    return { embed = "packed", weights = absolute(asked) }
  end
  local path = given or own
  if not path or path == "" then
    faults.raise("usage", "--embed=%s: --weights FILE is needed, too", asked)
  end
  if form == "stored" then path = narrow_file(path) end
  return { embed = form, weights = absolute(path) }
end

return embed
