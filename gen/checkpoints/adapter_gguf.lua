-- adapter_gguf.lua: reads a LoRA adapter of a GGUF file, as llama.cpp's convert_lora_to_gguf.py writes it. Tensors
-- NAME.lora_a and NAME.lora_b are the factors of the tensor NAME of a GGUF model.
local copies = require("checkpoints.adapter_copies")
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local known = require("common.known")
local words = require("common.words")

local adapter_gguf = {}

local ALPHA, ARCHITECTURE = "adapter.lora.alpha", "general.architecture"
local TABLE = "token_embd.weight"
local Q8_BLOCK, Q8_BYTES = 32, 34 -- numbers and bytes of a block of Q8_0

-- Returns the floats of Q8_0 as bytes. They are exact.
local function of_q8(text)
  local parts = {}
  for at = 1, #text, Q8_BYTES do
    local scale = gguf.of_half(("<I2"):unpack(text, at))
    local numbers = { (("b"):rep(Q8_BLOCK)):unpack(text, at + 2) }
    for i = 1, Q8_BLOCK do numbers[i] = numbers[i] * scale end
    parts[#parts + 1] = (("<" .. ("f"):rep(Q8_BLOCK)):pack(table.unpack(numbers, 1, Q8_BLOCK)))
  end
  return table.concat(parts)
end

-- Returns a tensor of the file as one of a type that safetensors files have, with its bytes as `data`.
local function tensor_of(file, name, text)
  local tensor = file.tensors[name]
  local data, dtype = text:sub(tensor.at + 1, tensor.at + tensor.bytes), tensor.dtype
  if dtype == "Q8_0" then data, dtype = of_q8(data), "F32" end
  if not copies.widths[dtype] then
    faults.raise("usage", "%s: %s: %s is not supported in an adapter; F32, F16, BF16 and Q8_0 are", file.path,
      faults.quote(name), dtype)
  end
  local shape = tensor.shape
  if name == TABLE .. ".lora_a" and #shape == 2 then -- llama.cpp looks up its rows
    data, shape = copies.transposed(data, shape[1], shape[2], copies.widths[dtype]), { shape[2], shape[1] }
  end
  return { dtype = dtype, shape = shape, bytes = #data, data = data }
end

--- Returns the changes and tensors of a GGUF adapter: { path, tensors, changes, scheme }, with `alpha`, the number that
--- is divided by each rank, or nil. A change has target, module, inputs, outputs, base and is_table, as in adapter.lua.
--- Faults: io, format, usage.
function adapter_gguf.read(path, notes)
  local file = gguf.read(path)
  local function refuse(key, what, ...)
    faults.raise("usage", "%s: metadata %s: %s", path, faults.quote(key), faults.line(what, ...))
  end
  local function text_of(key)
    local value = file.metadata[key]
    return type(value) == "string" and value or refuse(key, value == nil and "is missing" or "is no text")
  end
  if text_of("general.type") ~= "adapter" then
    refuse("general.type", "%s, but an adapter is expected", faults.quote(text_of("general.type")))
  end
  if text_of("adapter.type") ~= "lora" then
    refuse("adapter.type", "%s is not supported; lora is", faults.quote(text_of("adapter.type")))
  end
  known.check(file.metadata, path:match("[^/]*$") .. ": metadata", { "GGUF of an adapter" }, notes, nil,
    function(line) faults.raise("usage", path:match("^(.-)[^/]*$") .. line) end)
  local alpha = file.metadata[ALPHA] or 0
  if type(alpha) ~= "number" or alpha ~= alpha or math.abs(alpha) > 1e6 then refuse(ALPHA, "a number is expected") end
  local result, by_target, text = { path = path, tensors = {}, changes = {}, alpha = alpha ~= 0 and alpha or nil,
    scheme = "gguf-" .. text_of(ARCHITECTURE) }, {}, files.read(path)
  for _, name in ipairs(words.sorted_keys(file.tensors)) do
    local target, letter = name:match("^(.*)%.lora_([ab])$")
    local part = letter and (letter == "a" and "inputs" or "outputs") or "base"
    target = target or name
    if not by_target[target] then
      by_target[target] = { target = target, module = target:gsub("%.[^.]*$", ""), is_table = target == TABLE or nil }
      table.insert(result.changes, by_target[target])
    end
    by_target[target][part], result.tensors[name] = name, tensor_of(file, name, text)
    if part == "base" then
      notes[#notes + 1] = ("%s: %s takes the place of the model's; llama.cpp leaves it out"):format(path, name)
    end
  end
  return result
end

return adapter_gguf
