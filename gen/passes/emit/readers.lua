-- readers.lua: finds the parts of the runtime that read a model's weights (runtime/base/readers.h). A library links
-- those that its model can need.
local c = require("common.c")
local types = require("data.types")
local words = require("common.words")

local emit_readers = {}

-- The formats of checkpoints by the word of the key `opens`, in the order in which a file's first bytes are compared.
local formats = {
  gguf = { "&attn2c_gguf_format" }, safetensors = { "&attn2c_safetensors_format" },
  torch = { "&attn2c_torch_format", "&attn2c_safetensors_format" },
  any = { "&attn2c_gguf_format", "&attn2c_torch_format", "&attn2c_safetensors_format" },
}
formats.packed = formats.any -- of the program, which packs them

-- The members of the table of readers, each with what needs it.
local members = {
  { "orders", "check_packed", "attn2c_packed_orders_check" },
  { false, "loader", "&attn2c_checkpoint_loader" }, { false, "formats", "formats" }, { "coding", "coding" },
  { "adapter", "adapter", "&adapter" }, { "linked", "kept", "kept_adapters" },
  { "resized", "resized", "&attn2c_resized_reader" }, { "taps", "taps", "&attn2c_taps_reader" },
  { "projector", "projector", "&attn2c_distance_projector" }, { "orders", "orders", "&attn2c_group_order_reader" },
  { "blocks", "blocks", "&attn2c_scale_block_reader" },
  { "sound", "sound_constant", "attn2c_sound_constant" },
}

-- Marks what the weights of an entry need.
local function add_needs(entry, needs)
  for name, tensor in pairs(entry.graph.tensors) do
    for _, view in ipairs(tensor.from and tensor.from.views or {}) do
      needs.resized, needs.taps = needs.resized or view.resized, needs.taps or view.taps
    end
    needs.projector = needs.projector or (tensor.formula or ""):find("^projected ")
    needs.sound = needs.sound or tensor.is_of_sound
    needs.orders = needs.orders or tensor.order_of or tensor.row_order or tensor.order_like
    local layout = entry.weights.layouts[name]
    needs.blocks = needs.blocks or layout and types.all[layout.type].block
  end
end

--- Returns the rows of attn2c_merge of an adapter in C (checkpoints/adapter.lua), or false without one.
function emit_readers.merges(adapter)
  return adapter and words.map(adapter.rows, function(row)
    local names = words.map(row.names, c.string)
    local function name(text) return text and c.string(text) or "NULL" end
    return ("{ (const char *const[]){ %s, NULL }, %s, %s, %s, %s, %s, %d, %d, %d },"):format(table.concat(names, ", "),
      name(row.base), name(row.outputs), name(row.inputs), name(row.lengths), c.double(row.scale or 1.0), row.rank or 0,
      row.is_transposed and 1 or 0, row.part or -1)
  end) or false
end

--- Returns { formats, rows, packed_rows }: the list of formats, and the members of the table of readers in C, of the
--- program and of a library that opens only packed weights (else false). states: of all targets or ranks; coding: the
--- runtime's name of how quantised tensors are stored, or false.
function emit_readers.values(states, coding)
  local spec = states[1].spec
  local needs, rows = { coding = coding, adapter = states[1].adapter, linked = states[1].linked }, {}
  for _, state in ipairs(states) do
    for _, entry in ipairs(state.entries) do add_needs(entry, needs) end
  end
  for _, row in ipairs(members) do
    local need, member, name = table.unpack(row)
    if not need or needs[need] then rows[#rows + 1] = (".%s = %s,"):format(member, name or coding) end
  end
  local packed_rows = needs.orders and { rows[1] } or {}
  return { formats = table.concat(formats[spec.opens], ", "), rows = rows,
    packed_rows = spec.opens == "packed" and packed_rows or false }
end

return emit_readers
