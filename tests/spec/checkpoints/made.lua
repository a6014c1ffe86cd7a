-- made: small checkpoint folders for specs: a configuration and tensors of zeros.
local helper = require("tests.spec.helper")
local json = require("common.json")
local lfs = require("lfs")

local made = {}

--- A value as JSON; tables with [1] are lists.
function made.json(value)
  if value == json.null then return "null" end
  if type(value) ~= "table" then
    return type(value) == "string" and ("%q"):format(value) or tostring(value)
  end
  local parts, is_list = {}, value[1] ~= nil or next(value) == nil
  for _, each in ipairs(value) do parts[#parts + 1] = made.json(each) end
  if is_list then return "[" .. table.concat(parts, ",") .. "]" end
  for key, each in pairs(value) do parts[#parts + 1] = ("%q:%s"):format(key, made.json(each)) end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local sizes = { BF16 = 2, F16 = 2, F32 = 4, I32 = 4, I64 = 8, I8 = 1, U8 = 1 }

--- The bytes of a safetensors file: name -> shape, with a field dtype (float16 without it); all zero, or the field
--- bytes.
function made.safetensors(tensors)
  local names, entries, data, at = {}, {}, {}, 0
  for name in pairs(tensors) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local tensor = tensors[name]
    local dtype, shape = tensor.dtype or "F16", table.move(tensor, 1, #tensor, 1, {})
    local bytes = sizes[dtype]
    for _, n in ipairs(shape) do bytes = bytes * n end
    entries[i] = ('%q:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}'):format(name, dtype, made.json(shape), at,
      at + bytes)
    data[i], at = tensor.bytes or ("\0"):rep(bytes), at + bytes
  end
  local header = "{" .. table.concat(entries, ",") .. "}"
  return string.pack("<I8", #header) .. header .. table.concat(data)
end

function made.write(path, text)
  local handle = assert(io.open(path, "wb"))
  assert(handle:write(text))
  assert(handle:close())
end

--- The tensors of a one-layer BertModel with a width of 8 and a vocabulary of 11, after a prefix.
function made.bert(prefix)
  local tensors = {}
  local function add(name, ...) tensors[(prefix or "") .. name] = { ... } end
  local function layer(name, out, from)
    add(name .. ".weight", out, from)
    add(name .. ".bias", out)
  end
  local function norm(name)
    add(name .. ".weight", 8)
    add(name .. ".bias", 8)
  end
  add("embeddings.word_embeddings.weight", 11, 8)
  add("embeddings.position_embeddings.weight", 16, 8)
  add("embeddings.token_type_embeddings.weight", 2, 8)
  norm("embeddings.LayerNorm")
  for _, part in ipairs { "self.query", "self.key", "self.value", "output.dense" } do
    layer("encoder.layer.0.attention." .. part, 8, 8)
  end
  norm("encoder.layer.0.attention.output.LayerNorm")
  layer("encoder.layer.0.intermediate.dense", 12, 8)
  layer("encoder.layer.0.output.dense", 8, 12)
  norm("encoder.layer.0.output.LayerNorm")
  layer("pooler.dense", 8, 8)
  return tensors
end

--- Its configuration, with keys more.
function made.config(more)
  local config = { model_type = "bert", architectures = { "BertModel" }, vocab_size = 11, hidden_size = 8,
    num_hidden_layers = 1, num_attention_heads = 2, intermediate_size = 12, max_position_embeddings = 16 }
  for key, value in pairs(more or {}) do config[key] = value end
  return config
end

--- A folder of files: name -> bytes; names may have one slash.
function made.folder(list, title)
  local folder = helper.folder()
  if title then
    folder = folder .. "/" .. title
    assert(lfs.mkdir(folder))
  end
  for name, bytes in pairs(list) do
    local below = name:match("^(.*)/")
    if below then lfs.mkdir(folder .. "/" .. below) end
    made.write(folder .. "/" .. name, bytes)
  end
  return folder
end

--- A folder of the BertModel; config: a table or a text; more: files.
function made.checkpoint(config, tensors, more, title)
  local list = { ["config.json"] = type(config) == "string" and config or made.json(config or made.config()),
    ["model.safetensors"] = made.safetensors(tensors or made.bert()) }
  for name, bytes in pairs(more or {}) do list[name] = bytes or nil end
  return made.folder(list, title)
end

return made
