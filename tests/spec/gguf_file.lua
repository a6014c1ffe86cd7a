-- gguf_file: the bytes of small GGUF files for specs and the fuzzer: metadata, and tensors of zeros.
local gguf_types = require("common.gguf_types")

local gguf_file = {}

local values = { UINT8 = { 0, "<I1" }, INT8 = { 1, "<i1" }, UINT16 = { 2, "<I2" }, INT16 = { 3, "<i2" },
  UINT32 = { 4, "<I4" }, INT32 = { 5, "<i4" }, FLOAT32 = { 6, "<f" }, BOOL = { 7, "<I1" }, STRING = { 8, "<s8" },
  ARRAY = { 9 }, UINT64 = { 10, "<I8" }, INT64 = { 11, "<i8" }, FLOAT64 = { 12, "<d" } }

local function value_bytes(kind, value)
  local of = kind:match("^ARRAY (.*)$")
  if not of then return string.pack(values[kind][2], value) end
  local parts = { string.pack("<I4I8", values[of][1], #value) }
  for i, each in ipairs(value) do parts[i + 1] = string.pack(values[of][2], each) end
  return table.concat(parts)
end

--- The bytes of a metadata entry. kind: a type of the format, or "ARRAY STRING" and so on.
function gguf_file.entry(key, kind, value)
  return string.pack("<s8I4", key, values[kind:match("^%w+")][1]) .. value_bytes(kind, value)
end

--- The bytes of a file. entries: { { key, kind, value } }; tensors: { { name, type, shape (row-major), bytes (or
--- zeros) } }.
function gguf_file.bytes(entries, tensors)
  local parts, list, data, at = {}, {}, {}, 0
  for i, entry in ipairs(entries) do parts[i] = gguf_file.entry(table.unpack(entry)) end
  for i, tensor in ipairs(tensors) do
    local name, kind, shape, bytes = table.unpack(tensor)
    local type, elements, dims = gguf_types.by_name[kind], 1, {}
    for d = #shape, 1, -1 do
      elements, dims[#dims + 1] = elements * shape[d], string.pack("<I8", shape[d])
    end
    bytes = bytes or ("\0"):rep(elements // type.elements * type.bytes)
    list[i] = string.pack("<s8I4", name, #shape) .. table.concat(dims) .. string.pack("<I4I8", type.id, at)
    data[i] = bytes .. ("\0"):rep(-#bytes % 32)
    at = at + #data[i]
  end
  local head = string.pack("<c4I4I8I8", "GGUF", 3, #tensors, #entries) .. table.concat(parts) .. table.concat(list)
  return head .. ("\0"):rep(-#head % 32) .. table.concat(data)
end

-- The bytes of one number by the numbers of types.
local sizes = {}
for kind, value in pairs(values) do
  if kind ~= "STRING" and kind ~= "ARRAY" then sizes[value[1]] = string.packsize(value[2]) end
end

-- Returns the position after a value.
local function after(text, type, at)
  if type == values.STRING[1] then return (select(2, string.unpack("<s8", text, at))) end
  if type ~= values.ARRAY[1] then return at + sizes[type] end
  local inner, count
  inner, count, at = string.unpack("<I4I8", text, at)
  for _ = 1, count do at = after(text, inner, at) end
  return at
end

--- Returns the places of the metadata entries of a file's bytes: { key, from, to (both of its type and value), head
--- (the position after the list of tensors) }.
function gguf_file.places(text)
  local list, tensors, entries, at = {}, string.unpack("<I8I8", text, 9)
  for i = 1, entries do
    local key, from, type
    key, from = string.unpack("<s8", text, at)
    type, at = string.unpack("<I4", text, from)
    at = after(text, type, at)
    list[i] = { key = key, from = from, to = at - 1 }
  end
  for _ = 1, tensors do
    local rank
    _, rank, at = string.unpack("<s8I4", text, at)
    at = at + 8 * rank + 12
  end
  for _, place in ipairs(list) do place.head = at end
  return list
end

--- Returns a file's bytes with another type and value at such a place.
function gguf_file.with(text, place, kind, value)
  local entry = string.pack("<I4", values[kind:match("^%w+")][1]) .. value_bytes(kind, value)
  local head = text:sub(1, place.from - 1) .. entry .. text:sub(place.to + 1, place.head - 1)
  local data = place.head - 1 + -(place.head - 1) % 32
  return head .. ("\0"):rep(-#head % 32) .. text:sub(data + 1)
end

--- The metadata entries of a small Llama, and its tensors. change: key -> { kind, value }, or false to leave it out.
function gguf_file.llama(change)
  local entries, tensors = {}, {}
  local usual = { { "general.architecture", "STRING", "llama" }, { "llama.block_count", "UINT32", 2 },
    { "llama.context_length", "UINT32", 64 }, { "llama.embedding_length", "UINT32", 32 },
    { "llama.feed_forward_length", "UINT32", 64 }, { "llama.attention.head_count", "UINT32", 4 },
    { "llama.attention.head_count_kv", "UINT32", 2 },
    { "llama.attention.layer_norm_rms_epsilon", "FLOAT32", 1e-5 }, { "llama.rope.freq_base", "FLOAT32", 10000 } }
  change = change or {}
  for _, entry in ipairs(usual) do
    local other = change[entry[1]]
    if other == nil then entries[#entries + 1] = entry end
    if other then entries[#entries + 1] = { entry[1], other[1], other[2] } end
    change[entry[1]] = nil
  end
  for key, other in pairs(change) do entries[#entries + 1] = { key, other[1], other[2] } end
  local function add(...) tensors[#tensors + 1] = { ... } end
  add("token_embd.weight", "Q8_0", { 300, 32 })
  add("output_norm.weight", "F32", { 32 })
  for i = 0, 1 do
    local function layer(name, ...) add(("blk.%d.%s.weight"):format(i, name), ...) end
    layer("attn_norm", "F32", { 32 })
    layer("attn_q", "Q4_0", { 32, 32 })
    layer("attn_k", "Q4_0", { 16, 32 })
    layer("attn_v", "Q5_1", { 16, 32 })
    layer("attn_output", "Q4_1", { 32, 32 })
    layer("ffn_norm", "F32", { 32 })
    layer("ffn_gate", "Q5_0", { 64, 32 })
    layer("ffn_up", "F16", { 64, 32 })
    layer("ffn_down", "BF16", { 32, 64 })
  end
  return entries, tensors
end

return gguf_file
