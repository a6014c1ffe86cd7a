-- buffers.lua: declares the buffers of a lowered program: stored tensors, tiles, and the copies that a trace keeps.
local address = require("passes.lower.address")
local all_regions = require("passes.common.regions")
local forms = require("data.storage")
local keys = require("passes.lower.keys")

local buffer_of = address.buffer_of

local function add_packed(buffers, storage, sequences, private)
  local place = forms.packed(storage)
  buffers[storage.buffer] = buffer_of(storage.type, sequences * place.sequence(storage), place.pitch(storage),
    { class = forms.forms[storage.form].class, private = private })
end

-- Adds the buffers of a tensor. sequences: how many are stored at a time; here: the sequences of a micro-batch; most:
-- the most sequences of a call of any length, else nil.
local function add_tensor(buffers, variant, tensor, storage, sequences, here, most)
  local rows = forms.rows(storage)
  local has_most = most and address.has_fixed_rows(tensor, storage)
  if has_most then sequences = most end
  if rows and rows.elements and (variant == "trace" or not rows.of_trace) then
    local elements = rows.elements(storage, sequences, tensor)
    -- An output's shape is that of one sequence. If the caller does not want it, the arena has it for all of a call.
    if has_most and tensor.kind == "output" then elements = elements * most end
    buffers[tensor.name .. rows.suffix] = buffer_of(storage.type, elements, rows.pitch(storage),
      { class = forms.class(tensor, storage), private = rows.private,
        over = variant == "ship" and storage.over or nil })
  end
  if forms.packed(storage) then add_packed(buffers, storage, storage.whole_batch and sequences or here) end
  if variant == "trace" and forms.is_traced(storage) then
    local count = (storage.unbatched and 1 or sequences) * storage.rows_per_sequence
    buffers[forms.trace_name(tensor.name)] = buffer_of(forms.trace_type(storage), count * storage.width, storage.width,
      { class = "arena", traces = tensor.name })
  end
end

--- Declares every buffer of a program, { type, bytes, pitch, class, private, over }: stored tensors, tiles, and in a
--- trace the copies of tensors that are not stored whole. pitch: bytes from one row to the next.
return function(self, state)
  local buffers, micro_batch_of = {}, {}
  for _, segment in ipairs(state.plan.segments) do
    for _, section in ipairs(segment.sections) do
      for _, op in ipairs(section.ops) do micro_batch_of[op.result.name] = segment.micro_batch end
    end
  end
  for name, storage in pairs(self.storage) do
    local here = micro_batch_of[name] or state.spec.batch
    add_tensor(buffers, self.variant, state.graph.tensors[name], storage,
      (self.whole or storage.whole_batch) and state.spec.batch or here, here, state.spec.call_rows)
  end
  for region, segment in all_regions(state.plan.segments) do
    local kv_heads = self.divided and region.kind == "attention" and (region.context.attributes.kv_heads
      or region.context.attributes.heads)
    if region.kept then add_packed(buffers, region.kept, segment.micro_batch) end
    for _, storage in pairs { region.keys, region.values } do
      if self.divided and not region.open.continues then
        add_packed(buffers, keys.of_head(storage, 0, storage.width // kv_heads), 1, "unit")
      elseif storage.separate then
        add_packed(buffers, storage, segment.micro_batch)
      end
    end
  end
  for name, tile in pairs(self.tiles) do buffers[name] = tile end
  return buffers
end
