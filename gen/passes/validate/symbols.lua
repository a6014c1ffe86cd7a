-- symbols.lua: the sizes of an entry's calls, which passes ask in place of the keys of a description.
-- A symbol is { name, least, most, set_by, is_open }. A fixed size has least = most. A size that is open is set by each
-- call, or by the slot of a caller's context, which keeps a sequence.

local symbols = {}

-- Returns a resolved spec's symbols by name: sequences of a call, tokens of a sequence, rows of a call, past, the
-- tokens of a sequence before a call's, and source, the rows of what `encode` has read for a sequence.
local function of(spec)
  local list, most = {}, spec.call_rows
  local function add(name, least, largest, set_by)
    list[name] = { name = name, least = least, most = largest, set_by = set_by, is_open = set_by ~= "build" }
  end
  if not spec.any then
    add("sequences", spec.batch, spec.batch, "build")
    add("tokens", spec.seq, spec.seq, "build")
    add("rows", spec.batch * spec.seq, spec.batch * spec.seq, "build")
    add("past", spec.past, spec.past, "build")
    return list
  end
  add("sequences", 1, spec.sequences or most, "call")
  add("tokens", spec.least, spec.seq, spec.context and "slot" or "call")
  add("rows", spec.least, most, "call")
  add("past", 0, spec.context and spec.seq - 1 or 0, spec.context and "slot" or "build")
  if spec.source then add("source", spec.source.least, spec.source.seq, "slot") end
  return list
end

--- Sets a resolved spec's `symbols`, also in the specs of its layers, and of an encoder that is a part of it.
function symbols.resolve(spec)
  local list = of(spec)
  for _, part in ipairs { spec, not spec.source and spec.memory and spec.memory.encoder or nil } do
    part.symbols = list
    for _, layer in ipairs(part.each or {}) do layer.symbols = list end
  end
end

return symbols
