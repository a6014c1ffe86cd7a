-- layout.lua: checks the layouts and places of packed weights.
local expect = require("passes.checks.expect")
local packed = require("passes.common.packed")
local same_numbers = require("passes.common.same_numbers")
local storage = require("data.storage")
local types = require("data.types")
local words = require("common.words")

-- Checks that an entry's weights all have a layout of their type that covers their outputs.
local function check_layouts(state)
  for _, name in ipairs(state.graph.weights) do
    local tensor, layout = state.graph.tensors[name], state.weights.layouts[name]
    expect(layout and state.weights.offsets[name], "layout", "%s of %s has no place", name, state.name)
    expect(layout.type == tensor.type, "layout", "%s is %s, packed as %s", name, tensor.type, layout.type)
    local outputs = layout.format == "rows" and tensor.shape[1] or 0
    for _, width in ipairs(layout.widths or {}) do outputs = outputs + width end
    expect(outputs == tensor.shape[1], "layout", "the panels of %s", name)
  end
end

-- Returns an entry's weights in the packed block, in order: { name, first, stop }, in bytes.
local function places_of(state)
  local list = words.map(state.graph.weights, function(name)
    local first = state.weights.offsets[name]
    return { name = name, first = first,
      stop = first + packed.bytes(state.graph.tensors[name], state.weights.layouts[name]) }
  end)
  table.sort(list, function(x, y) return x.first < y.first end)
  return list
end

-- Checks that two places that overlap, of the same entry or of two, are one weight, or its first rows.
local function check_one(state, here, other, there)
  local a, b = state.graph.tensors[here.name], other.graph.tensors[there.name]
  local of_a, of_b = state.weights.layouts[here.name], other.weights.layouts[there.name]
  local whole = words.shape(a.shape) == words.shape(b.shape)
  local contents = a.from and same_numbers.contents(state, a)
  local is_one = here.name == there.name or a.formula or contents and contents == same_numbers.contents(state, b)
  local are_made_alike = a.formula == b.formula or a.scales_of ~= nil and b.scales_of ~= nil
  expect(is_one and here.first == there.first and are_made_alike
    and (whole or a.shape[1] < b.shape[1] and a.shape[#a.shape] == b.shape[#b.shape])
    and of_a.format == of_b.format and of_a.type == of_b.type
    and table.concat(of_a.widths or {}, " ") == table.concat(of_b.widths or {}, " "), "layout",
    "%s of %s lies over %s of %s", here.name, state.name, there.name, other.name)
end

-- Checks the places of two entries that overlap.
local function check_shared(state, mine, other, theirs)
  local next_one = 1
  for _, here in ipairs(mine) do
    while theirs[next_one] and theirs[next_one].stop <= here.first do next_one = next_one + 1 end
    for i = next_one, #theirs do
      if theirs[i].first >= here.stop then break end
      check_one(state, here, other, theirs[i])
    end
  end
end

-- Checks that packed weights follow each other, on whole lines.
local function check_places(state, places)
  local stop = 0
  for i, place in ipairs(places) do
    expect(place.first % types.LINE == 0, "layout", "the offset of %s", place.name)
    if place.first < stop then check_one(state, place, state, places[i - 1]) end
    stop = place.stop
  end
  expect(stop <= state.weights.bytes, "layout", "the weights leave their %d bytes", state.weights.bytes)
end

-- Checks that the parts of a sequence's state follow each other on whole lines, that each has an entry that writes it,
-- and that it has the rows of its symbol or of its window.
local function check_parts(kept)
  local stop = 0
  for _, part in ipairs(kept.parts) do
    local first, window = kept.offsets[part.buffer], part.window and kept.windows[part.window + 1]
    expect(first % types.LINE == 0 and first >= stop, "layout", "the offset of %s in the state", part.name)
    expect(part.writer and #part.readers > 0, "layout", "no entry writes %s, which the state keeps", part.name)
    expect(not window or kept.symbols[part.symbol + 1].name == "tokens", "layout", "the window of %s", part.name)
    expect(part.rows_per_sequence >= (window and window.left or kept.symbols[part.symbol + 1].most), "layout",
      "the state has %d rows of %s", part.rows_per_sequence, part.name)
    stop = first + types.bytes(storage.packed(part).sequence(part), part.type)
  end
  expect(stop <= kept.bytes, "layout", "the state leaves its %d bytes", kept.bytes)
end

--- Checks that every weight of a build has a layout and a place, that no two overlap, and that entries agree; then
--- the same of the state.
return function(build)
  local larger = {}
  for i = #build.entries, 1, -1 do
    local state = build.entries[i]
    check_layouts(state)
    local places = places_of(state)
    check_places(state, places)
    for _, each in ipairs(larger) do check_shared(state, places, each.state, each.places) end
    larger[#larger + 1] = { state = state, places = places }
  end
  check_parts(build.kept)
end
