-- kinds.lua: recognises files that users give by mistake, and says which file to give instead.
-- It goes by a file's first bytes or the end of its name.
local files = require("common.files")
local lfs = require("lfs")
local words = require("common.words")

local kinds = {}

local MOST_BYTES = 512 -- bytes of a file's start that are read
local MOST_NAMES = 2000 -- names of a folder that a misspelt name is compared with

local FOLDER = "give the checkpoint's folder, with config.json and model.safetensors or pytorch_model.bin"

-- True if a file begins like safetensors, with the length of the header and the header, a JSON object.
local function is_safetensors(start, size)
  local length = #start > 8 and string.unpack("<I8", start) or 0
  return length > 0 and length <= size and start:sub(9, 9) == "{"
end

-- The kinds of files. The first that fits is taken. starts: patterns of the first bytes; ends: patterns of the name's
-- end; fits: a function of the first bytes and the size.
local list = {
  { name = "git-lfs", what = "a Git LFS pointer, not the file itself", starts = { "^version https://git%-lfs" },
    advice = "run `git lfs pull` in its folder, or download it again" },
  { name = "adapter", what = "a LoRA adapter without its model",
    ends = { "adapter_model%.safetensors$", "adapter_model%.bin$" },
    advice = "give the folder of its model, and adapter=FOLDER for that of the adapter" },
  { name = "safetensors", what = "a file of weights (safetensors)", fits = is_safetensors, ends = { "%.safetensors$" },
    advice = FOLDER .. ", or a description, and these weights with --weights" },
  { name = "gguf", what = "a GGUF model", starts = { "^GGUF" }, ends = { "%.gguf$" },
    advice = "give it in place of a description, or as --weights" },
  { name = "onnx", what = "an ONNX model, which is not supported", starts = { "^\8[\1-\32][\18\26\34\42\50\58]" },
    ends = { "%.onnx$" }, advice = FOLDER .. ", that it was exported from" },
  { name = "pickle", what = "a file of torch.save()", starts = { "^PK\3\4", "^\128[\2-\5]" },
    ends = { "%.bin$", "%.pt$", "%.pth$", "%.ckpt$" }, advice = FOLDER },
  { name = "npy", what = "an array of NumPy", starts = { "^\147NUMPY" }, ends = { "%.npy$", "%.npz$" },
    advice = "it can be an --input of check or run" },
  { name = "hdf5", what = "a file of Keras or TensorFlow (HDF5), which is not supported", starts = { "^\137HDF" },
    ends = { "%.h5$", "%.pb$", "%.tflite$" }, advice = FOLDER },
  { name = "program", what = "a compiled program or library", starts = { "^\127ELF" },
    advice = "give the description that it was built from" },
  { name = "html", what = "a page of HTML", starts = { "^%s*<!DOCTYPE", "^%s*<!doctype", "^%s*<html" },
    advice = "download the file itself: on a hub its link is resolve/..., not blob/..." },
  { name = "json", what = "a file of JSON", starts = { "^\239?\187?\191?%s*[{%[]%s*\"", "^%s*{%s*}" },
    ends = { "%.json$" }, advice = FOLDER },
  { name = "python", what = "a Python program", ends = { "%.py$", "%.ipynb$" },
    advice = "describe the model in Lua (attn2c keys lists what a description says)" },
  { name = "text", what = "a text, not a description in Lua", ends = { "%.txt$", "%.md$", "%.csv$", "%.ya?ml$" },
    advice = "a description returns a table (attn2c keys lists what it says); a model that is built takes texts: "
      .. "run --text FILE" },
}

local function matches(text, patterns)
  return words.any(patterns or {}, function(pattern) return text:find(pattern) end)
end

--- Returns the kind of a file, { name, what, advice }, by its name, its first bytes and its size. Returns nil if the
--- kind is not in the list. With `by_bytes` the name does not count.
function kinds.of(path, start, size, by_bytes)
  start = start:sub(1, MOST_BYTES)
  for _, kind in ipairs(list) do
    if matches(start, kind.starts) or (kind.fits and kind.fits(start, size)) then return kind end
  end
  for _, kind in ipairs(by_bytes and {} or list) do
    if matches(path:lower(), kind.ends) then return kind end
  end
  return nil
end

--- Returns the kind as a phrase, "is a Git LFS pointer, not the file itself: ...", or nil. wanted: the name of the kind
--- that the file should have; a file of that kind gets nil.
function kinds.said(path, start, size, by_bytes, wanted)
  local kind = kinds.of(path, start, size, by_bytes)
  if not kind or kind.name == wanted then return nil end
  return ("is %s: %s"):format(kind.what, kind.advice)
end

-- Returns the name in a file's folder that resembles the file's own, or nil.
local function near(path)
  local folder, name = path:match("^(.*/)([^/]*)$")
  folder, name = folder or "", name or path
  if lfs.attributes(folder == "" and "." or folder, "mode") ~= "directory" then return nil end
  local names, done = {}, nil
  pcall(function()
    for each in lfs.dir(folder == "" and "." or folder) do
      if #names < MOST_NAMES and each:sub(1, 1) ~= "." then names[#names + 1] = each end
    end
    done = true
  end)
  if not done then return nil end
  table.sort(names)
  for _, each in ipairs(names) do if each == name .. ".lua" then return folder .. each end end
  local found = #name > 3 and words.nearest(name, names)
  return found and folder .. found or nil
end

--- Returns advice, in brackets, on a path that does not exist, or "".
function kinds.advice_on_missing(path)
  local found = near(path)
  if found then return (" (did you mean %s?)"):format(found) end
  local id = path:gsub("^https://huggingface%.co/([^/]+/?[^/]*).*$", "%1")
  local organisation, name = id:match("^([%w][%w._-]*)/([%w][%w._-]*)$")
  name = name or id:match("^[%w][%w_-][%w._-]*$")
  if name and not name:find("%.%l+$") and not (organisation and lfs.attributes(organisation, "mode")) then
    return (" (a model of the Hugging Face hub is downloaded first: hf download %s --local-dir %s)"):format(id, name)
  end
  return ""
end

--- Returns the phrase of kinds.said for a regular file, by its first bytes.
function kinds.said_of_file(path, wanted)
  local start = files.read_some(path, MOST_BYTES)
  return start and kinds.said(path, start, lfs.attributes(path, "size"), true, wanted)
end

--- Returns the message for a path where a checkpoint's folder is expected.
function kinds.no_folder(path)
  if not lfs.attributes(path, "mode") then return ("%s: no folder is there%s"):format(path,
    kinds.advice_on_missing(path)) end
  return ("%s: %s"):format(path, kinds.said_of_file(path) or "is not a folder: " .. FOLDER .. ", or a GGUF file")
end

return kinds
