-- sizes.lua: chooses the types of weights in scale blocks so that all packed weights are at most as large as the key
-- `weights` says, and the model's outputs as near those in f32 as that allows.
-- A part is a layer, the layers after the stack ("output"), or the tables of embeddings. `quality --by-part` measures
-- the divergence from f32 of the model with one part in MEASURED, all else in f32. Another type changes a part's
-- divergence as it changes the mean squared error of weights (`error` of data/types.lua), and parts add. All parts
-- begin with the smallest type. Then, as long as bytes are left, the part and type are taken that save most divergence
-- for a byte. A table of embeddings that is the output's weight has its type, as both are then one tensor (layout.lua).
--
-- Before: the spec, and state.make_graph, which makes an entry's graph: sizes depend on shapes.
-- After, if spec.weights.size is given: spec.weights.all and .by_part = the types; state.sized = { size, bytes = of all
-- weights, rest = of those that have no choice, parts = { { name, with = another part that has its type, or false,
-- measured, divergence, bytes, type } } }
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local same_numbers = require("passes.common.same_numbers")
local scale_blocks = require("data.scale_blocks")
local types = require("data.types")
local words = require("common.words")

local sizes = {}

--- The type in which `quality --by-part` measures each part: its divergence is far above noise.
sizes.MEASURED = types.all.q3k

local MOST_BYTES = 1 << 20

-- The types among which the choice is: each has the least error of those with its bits or fewer.
local choices = words.filter(types.scaled, function(type) return type.error end)
table.sort(choices, function(a, b) return a.error > b.error end)

--- Returns the names of the parts of a model, in order: layers, then "output" and "embedding".
function sizes.parts(spec)
  local list = {}
  for i = 1, spec.layers do list[i] = ("layer %d"):format(i - 1) end
  return words.append(list, { "output", "embedding" })
end

--- Returns the file's text. list: { { name, divergence } }
function sizes.text(list)
  local lines = { ("attn2c parts 1 %s"):format(sizes.MEASURED.weights) }
  for i, each in ipairs(list) do lines[i + 1] = ("%s %.6g"):format(each.name, each.divergence) end
  return table.concat(lines, "\n") .. "\n"
end

-- Returns part -> divergence from a file's text. Faults: format, naming the line.
local function parse(text, file)
  local of, number = {}, 0
  for line in text:gmatch("[^\n]+") do
    number = number + 1
    local name, value = line:match("^(%a[%w ]*) (%S+)$")
    local divergence = tonumber(value or "")
    if number == 1 and line ~= "attn2c parts 1 " .. sizes.MEASURED.weights
      or number > 1 and not (divergence and divergence >= 0 and divergence < math.huge) then
      faults.raise("format", "%s: line %d: %s, but %s is expected: quality --by-part writes it", file, number,
        faults.quote(line:sub(1, 40)), number == 1 and '"attn2c parts 1 ' .. sizes.MEASURED.weights .. '"'
        or "a part and its divergence")
    end
    if number > 1 then of[name] = divergence end
  end
  return of
end

--- Returns state.parts, { of = part -> divergence, file, hash, asked }, or nil. asked: { file, asked = whether the user
--- named it }, or nil. Faults: io if a file cannot be read, or the named one does not exist; format.
function sizes.given(asked)
  if not asked then return nil end
  local text, message = files.read_some(asked.file, MOST_BYTES)
  if not text then
    if message or asked.asked then faults.raise("io", "%s: %s", asked.file, message or "is not there") end
    return nil
  end
  return { of = parse(text, asked.file), file = asked.file, hash = hash.text(text), asked = asked.asked }
end

-- Returns the bytes of a weight in a type: of a table's rows, or of panels.
local function bytes_in(weight, is_table, type)
  if is_table then return types.line_bytes(weight.shape[1] * types.row_bytes(weight.shape[2], type)) end
  return types.panel_bytes(weight.shape[2], words.round_up(weight.shape[1], types.SCALE_PANEL), type)
end

-- True if a table has the same numbers as a product's weight: in one type they are one.
local function is_tied(state, made, tbl)
  return words.any(made.entry.ops, function(op)
    return op.operands.weight and same_numbers.are_one(state, tbl, op.operands.weight)
  end)
end

-- Returns the weights of each part, { weight, is_table }, the bytes of the rest, and whether the table of embeddings is
-- the output's weight, whose type it then has. made: a graph whose products have weights in scale blocks.
local function weights_of(state, made, names)
  local of, part_of, rest, tied = {}, {}, 0, false
  for _, name in ipairs(names) do of[name] = {} end
  for _, op in ipairs(made.entry.ops) do
    local is_table = op.op == "embed"
    local weight = is_table and op.operands.table or op.operands.weight
    local part = is_table and "embedding" or op.section
    if weight and types.all[weight.type].block and of[part] and not part_of[weight] then
      part_of[weight] = part
      local is_one = is_table and is_tied(state, made, weight)
      tied = tied or is_one
      if not is_one then table.insert(of[part], { weight = weight, is_table = is_table }) end
    end
  end
  for _, name in ipairs(made.weights) do
    local tensor = made.tensors[name]
    if not part_of[tensor] then rest = rest + types.line_bytes(types.bytes(words.elements(tensor.shape), "f32")) end
  end
  return of, rest, tied
end

-- Returns the step that saves most divergence for a byte, { part, type, bytes }, within `left` bytes; nil: none.
local function best_step(parts, left)
  local best, most
  for _, part in ipairs(parts) do
    for _, type in ipairs(choices) do
      local bytes = part.bytes_in[type.name] - part.bytes_in[part.type.name]
      local saved = part.measured / sizes.MEASURED.error * (part.type.error - type.error)
      local rate = saved / math.max(bytes, 1)
      if bytes <= left and saved > 0 and (not most or rate > most) then
        best, most = { part = part, type = type, bytes = bytes }, rate
      end
    end
  end
  return best
end

-- Returns the divergence of a part that was measured. Faults: usage.
local function measured_of(state, name)
  return state.parts.of[name] or faults.raise("usage",
    "%s: weights: size: %s has no %s: measure again: quality --by-part", state.file, state.parts.file,
    faults.quote(name))
end

-- Returns the parts with their types, and the bytes of all. tied: whether the output's type is the embedding's, too.
-- Faults: usage, if not even the smallest types fit.
local function choose(state, of, rest, names, tied)
  local parts, bytes, size = {}, rest, state.spec.weights.size
  for _, name in ipairs(names) do
    local part = { name = name, type = choices[1], bytes_in = {}, with = tied and name == "output" and "embedding" }
    for _, type in ipairs(choices) do
      part.bytes_in[type.name] = 0
      for _, each in ipairs(of[name]) do
        part.bytes_in[type.name] = part.bytes_in[type.name] + bytes_in(each.weight, each.is_table, type.name)
      end
    end
    if #of[name] > 0 then
      part.measured = measured_of(state, name) + (part.with and measured_of(state, part.with) or 0)
      parts[#parts + 1], bytes = part, bytes + part.bytes_in[part.type.name]
    end
  end
  if bytes > size then
    faults.raise("usage", "%s: weights: size: %d bytes, but the least that these types give is %d", state.file, size,
      bytes)
  end
  repeat
    local step = best_step(parts, size - bytes)
    if step then step.part.type, bytes = step.type, bytes + step.bytes end
  until not step
  return parts, bytes
end

function sizes.run(state)
  local weights = state.spec.weights
  if not (weights and weights.size) then
    if state.parts and state.parts.asked then
      faults.raise("usage", "--parts %s: goes with weights = { size = BYTES }, which has the types chosen",
        state.parts.file)
    end
    return
  end
  if not state.parts then
    faults.raise("usage", "%s: weights: size: the divergence of each part is needed: quality --by-part measures it",
      state.file)
  end
  if state.spec.processes then
    faults.raise("usage", "%s: weights: size does not go with ranks or stages", state.file)
  end
  local names = sizes.parts(state.spec)
  local primary = state.builds[1].primary
  state.make_graph(primary)
  local of, rest, tied = weights_of(state, primary.graph, names)
  local parts, bytes = choose(state, of, rest, names, tied)
  local count, most = {}, nil
  for _, part in ipairs(parts) do
    count[part.type] = (count[part.type] or 0) + 1
    most = most and count[most] >= count[part.type] and most or part.type
    part.divergence = part.measured / sizes.MEASURED.error * part.type.error
    part.bytes = part.bytes_in[part.type.name]
  end
  weights.all = most.weights
  for _, part in ipairs(parts) do
    local own = part.type ~= most and part.type.weights or nil
    weights.by_part[part.name] = own
    if part.with then weights.by_part[part.with] = own end
  end
  state.sized = { size = weights.size, bytes = bytes, rest = rest, parts = parts }
end

function sizes.dump(state)
  local of = state.sized
  if not of then
    return ("no size is asked for, so weights have the description's types: %s\n"):format(
      scale_blocks.text_of(state.spec.precision, state.spec.weights))
  end
  local lines = { ("%d bytes of packed weights, at most %d"):format(of.bytes, of.size),
    ("  rest: %d bytes"):format(of.rest) }
  for _, part in ipairs(of.parts) do
    lines[#lines + 1] = ("  %s%s: %s, %d bytes, divergence %.3g; in %s %.3g"):format(part.name,
      part.with and " and " .. part.with or "", part.type.weights, part.bytes, part.divergence, sizes.MEASURED.weights,
      part.measured)
  end
  return table.concat(lines, "\n") .. "\n"
end

return sizes
