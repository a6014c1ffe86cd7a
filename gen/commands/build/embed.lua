-- embed.lua: reads --embed and --weights, which choose the weights to link in and their form.
-- The form is packed, or as a checkpoint stores them.
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local headers = require("common.headers")
local lfs = require("lfs")

local embed = {}

local FORMS = { f32 = "packed", f16 = "stored" }
local WIDE = { F32 = true, F64 = true }

local function refuse(path, what) faults.raise("format", ("%s: %s"):format(path, what)) end

local function is_there(path) return lfs.attributes(path, "mode") ~= nil end

-- Returns the one file of a checkpoint. Refuses a checkpoint of several files, and names the file that shows it.
local function single_file(path)
  local function several(what)
    refuse(path, what .. ": --embed=f16 takes a checkpoint of one file; --embed=f32 takes any")
  end
  if path:match("%.json$") then several("is an index of several files") end
  if gguf.is(path) and (gguf.read(path).metadata["split.count"] or 1) ~= 1 then several("is one of several parts") end
  if lfs.attributes(path, "mode") ~= "directory" then return path end
  for i = 1, 9 do
    if is_there(("%s/%d_Dense/model.safetensors"):format(path, i)) then several(("%d_Dense has a file"):format(i)) end
  end
  local main = is_there(path .. "/0_Transformer") and path .. "/0_Transformer" or path
  local file = main .. "/model.safetensors"
  if is_there(file) then return file end
  if is_there(file .. ".index.json") then several("has model.safetensors.index.json, an index of several files") end
  return path -- the reader of checkpoints says what is missing
end

-- Refuses a file whose tensors take no fewer bytes than packed ones.
local function verify_narrow(path)
  if files.read_some(path, 16) == "attn2c weights\n\0" then
    refuse(path, "is a packed file in f32: use --embed FILE")
  end
  for _, tensor in pairs(headers.read(path).tensors) do
    if not WIDE[tensor.dtype] and not tensor.expected then return end
  end
  refuse(path, "has only tensors of type F32 or F64: use --embed=f32")
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
    faults.raise("usage", ("--embed=%s: --weights FILE is needed, too"):format(asked))
  end
  if form == "stored" then
    path = single_file(path)
    verify_narrow(path)
  end
  return { embed = form, weights = absolute(path) }
end

return embed
