-- state_parts.lua: decides what a caller's context keeps of a sequence, for all entries of a build.
-- A part is a tensor of keys or values. The entry that computes the tensor writes it, and every entry whose attentions
-- read it reads it. A part grows with a symbol: "tokens", which each call adds to, or the length of a source, whose
-- rows an entry writes whole. Only parts that grow with tokens have a window.
local forms = require("data.storage")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local types = require("data.types")
local words = require("common.words")

local state_parts = {}

-- The most windows whose first keys a state forgets: ATTN2C_MOST_WINDOWS of runtime/base/descriptor.h.
local MOST_WINDOWS = 16

-- Returns the most keys that a state keeps of a sequence where queries see `left` keys before them, and the number of
-- the window, from 0, whose first keys it forgets; nil: it forgets none. There is room for the keys that the window
-- shows of a sequence that went back by a call's tokens, and for a call's new ones. When it is full, the runtime moves
-- the keys that are still wanted to its beginning.
local function room_for(kept, spec, left)
  local page, windows = kept.page, kept.windows
  local keys = words.round_up(left + spec.call_rows, page) + page + words.round_up(spec.call_rows, page)
  if left < 0 or keys >= spec.seq then return spec.seq, nil end
  for i, window in ipairs(windows) do
    if window.left == left then return keys, i - 1 end
  end
  if #windows == MOST_WINDOWS then return spec.seq, nil end
  windows[#windows + 1] = { left = left, keys = keys, page = page }
  return keys, #windows - 1
end

-- Calls visit(tensor, op, scale) for each tensor of a state that an entry's attentions and convolutions read; scale: of
-- its integers.
local function each_read(entry, visit)
  for _, op in ipairs(entry.ops) do
    local class, operands = ops.class(op), op.operands
    local tensor = class.role == "makes_scores" and operands.k or class.role == "reads_weights" and operands.v
      or class.reads_before and operands.x
    if tensor and tensor.kept then visit(tensor, op, operands.k_scale or operands.v_scale) end
  end
end

-- Returns how many rows before them the queries of each attention of an entry, or the rows of a convolution, see, by
-- the keys, values or rows that it reads.
local function lefts_of(entry)
  local lefts, left = {}, nil
  each_read(entry, function(tensor, op)
    if tensor.kept.role == "keys" then left = grouping.band(op.attributes) end
    if ops.class(op).reads_before then left = op.attributes.kernel - 1 end
    local other = lefts[tensor.name] or left
    lefts[tensor.name] = (left < 0 or other < 0) and -1 or math.max(left, other)
  end)
  return lefts
end

-- Numbers the windows of all layers of a model whose layers ranks divide, so that all stages number them alike.
local function number_windows(build)
  local whole = build.whole and build.whole.stages and build.whole.primary.graph.entry
  if not whole then return end
  local lefts = lefts_of(whole)
  each_read(whole, function(tensor) room_for(build.kept, build.spec, lefts[tensor.name]) end)
end

-- Returns the number of a symbol, from 0, that parts grow with up to `most` rows.
local function symbol_of(kept, name, most)
  for i, symbol in ipairs(kept.symbols) do
    if symbol.name == name then
      symbol.most = math.max(symbol.most, most)
      return i - 1
    end
  end
  kept.symbols[#kept.symbols + 1] = { name = name, most = most }
  return #kept.symbols - 1
end

-- Adds the part that keeps a tensor, which is read by queries that see `left` keys before them.
local function add(kept, spec, tensor, scale, left)
  local of, width = tensor.kept, tensor.shape[#tensor.shape]
  local form = forms.kept_as(tensor)
  local place = forms.forms[form].packed
  local rows, window = tensor.shape[2], nil
  if of.grows_with == "tokens" then rows, window = room_for(kept, spec, left) end
  local part = { name = tensor.name, role = of.role, form = form, type = tensor.type, grows_with = of.grows_with,
    symbol = symbol_of(kept, of.grows_with, rows), window = window, width = width, head_dim = of.head_dim,
    rows_per_sequence = rows, key_block = kept.page, scale = scale, readers = {}, buffer = tensor.name .. place.suffix,
    separate = true, whole_batch = false }
  kept.parts[#kept.parts + 1], kept.of[tensor.name], kept.offsets[part.buffer] = part, part, kept.bytes
  kept.bytes = kept.bytes + types.line_bytes(types.bytes(place.sequence(part), part.type))
  return part
end

--- Sets build.kept: parts = list of { name, role, form, grows_with, writer, readers, symbol and window = their numbers
--- from 0, and the fields of a storage }, of = the parts by name, offsets = bytes from the beginning of a sequence by
--- buffer, symbols = { name, most rows }, tokens first, and adapter, that of a sequence, windows = { left, keys,
--- page }, bytes, page = keys of a page.
function state_parts.decide(build)
  local kept = { parts = {}, of = {}, offsets = {}, windows = {}, symbols = {}, bytes = 0,
    page = build.parameters.common.key_block }
  build.kept = kept
  if build.spec.symbols.past.is_open then symbol_of(kept, "tokens", build.spec.symbols.tokens.most) end
  if build.spec.adapters and build.spec.symbols.past.is_open then symbol_of(kept, "adapter", #build.spec.adapters) end
  number_windows(build)
  for i = #build.entries, 1, -1 do
    local state = build.entries[i]
    local entry, lefts = state.graph.entry, lefts_of(state.graph.entry)
    each_read(entry, function(tensor, _, scale)
      local part = kept.of[tensor.name] or add(kept, build.spec, tensor, scale, lefts[tensor.name])
      part.readers[#part.readers + 1] = part.readers[#part.readers] ~= state.name and state.name or nil
    end)
  end
  for _, state in ipairs(build.entries) do
    for _, op in ipairs(state.graph.entry.ops) do
      local part = op.result.kept and kept.of[op.result.name]
      if part then part.writer = state.name end
    end
  end
end

--- Appends a line for each part of a state, and for each window.
function state_parts.dump(build, lines)
  local kept = build.kept
  if #kept.parts == 0 then return end
  lines[#lines + 1] = ("state of a sequence: %d bytes, pages of %d keys"):format(kept.bytes, kept.page)
  for _, part in ipairs(kept.parts) do
    lines[#lines + 1] = ("  %10d %s as %s, grows with %s, at most %d%s; written by %s, read by %s"):format(
      kept.offsets[part.buffer], part.name, part.form, part.grows_with, part.rows_per_sequence,
      part.window and (", window %d"):format(part.window) or "", part.writer, table.concat(part.readers, " and "))
  end
  for i, window in ipairs(kept.windows) do
    lines[#lines + 1] = ("  window %d: a query sees %d keys before it; the last %d keys are kept"):format(i - 1,
      window.left, window.keys)
  end
end

return state_parts
