-- buffers.lua: declares the buffers of a lowered program: stored tensors, tiles, and the copies that a trace keeps.
local address = require("passes.lower.address")
local keys = require("passes.lower.keys")
local regions = require("passes.common.regions")
local words = require("common.words")

local buffer_of, in_pairs = keys.buffer_of, address.in_pairs

-- Returns the buffer of the rows of a tensor that one unit works on.
local function of_unit(storage)
  return buffer_of(storage.type, storage.tile_rows, storage.leading_dimension, { class = "arena", private = "unit" })
end

-- Adds the buffers of a tensor. sequences: how many are stored at a time; here: those of a micro-batch.
local function add_tensor(buffers, self, tensor, storage, sequences, here)
  local name, ld = tensor.name, storage.leading_dimension
  local rows = (storage.unbatched and 1 or sequences) * storage.rows_per_sequence
  local over = self.variant == "ship" and storage.over or nil
  if storage.form == "external" then -- whole, whatever the order of its axes is
    buffers[name] = buffer_of(storage.type, words.elements(tensor.shape) // ld, ld,
      { class = address.external_class[tensor.kind] })
  elseif storage.form == "full" then
    buffers[name] = buffer_of(storage.type, rows, ld, { class = "arena", over = over })
  elseif storage.form == "tile" then
    buffers[name] = buffer_of(storage.type, storage.tile_rows, ld, { class = "arena", private = "block", over = over })
  elseif storage.form == "unit" then
    buffers[name .. "@unit"] = of_unit(storage)
  elseif storage.form == "transposed" then
    buffers[name .. "@tile"] = of_unit(storage)
  elseif in_pairs[storage.form] and self.variant == "trace" then
    buffers[name .. "@rounded"] = of_unit(storage)
  end
  if storage.form == "transposed" or storage.form == "key_pairs" then
    buffers[storage.buffer] = keys.transposed_buffer(storage, here)
  elseif storage.form == "value_pairs" then
    buffers[storage.buffer] = keys.paired_buffer(storage, here)
  end
  if self.variant == "trace" and address.is_traced(storage) then
    buffers[name .. "@trace"] = buffer_of(address.trace_type(storage), rows, storage.width,
      { class = "arena", traces = name })
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
    add_tensor(buffers, self, state.graph.tensors[name], storage,
      (self.whole or storage.whole_batch) and state.spec.batch or here, here)
  end
  for region, segment in regions(state.plan.segments) do
    local read, values = region.keys, region.values
    if read and read.separate then buffers[read.buffer] = keys.transposed_buffer(read, segment.micro_batch) end
    if values and values.separate then buffers[values.buffer] = keys.paired_buffer(values, segment.micro_batch) end
  end
  for name, tile in pairs(self.tiles) do buffers[name] = tile end
  return buffers
end
