-- stretches.lua: finds the stretches of phases that one function runs, such as the stretches of alike layers. Stretches
-- are alike if their phases have the same loops and chunks, and these call the same functions of alike lists with the
-- same distances between their bases. A function has own bases, which give its lists' bases.
local loops = require("data.loops")
local programs = require("passes.common.programs")

local stretches = {}

-- Calls visit(place) for each place that a stretch's function computes: the bases of its lists, { list, base, class,
-- at: bytes from the class's pointer }, and the weights that workers prefetch, { stock, class, at }.
local function each_place(program, stretch, visit)
  for _, phase in ipairs(stretch.phases) do
    for _, list in ipairs(phase.chunks) do
      local alike = program.shared[list]
      for _, base in ipairs(alike and alike.of.bases or {}) do
        visit { list = list, base = base, class = base.class, at = base.low + base.moves[alike.number] }
      end
    end
    for _, stock in ipairs(phase.stocks or {}) do visit { stock = stock, class = "weight", at = stock.at } end
  end
end

-- Returns a stretch in the form of an alike list: { section, key, places, first_op }; nil if one of its lists has a
-- function for itself.
local function form_of(program, stretch, number_of)
  local parts, places, first_op = { stretch.phases[1].loop and loops.text(stretch.phases[1].loop) or "" }, {}, nil
  for _, phase in ipairs(stretch.phases) do
    parts[#parts + 1] = ("phase %d %s"):format(#(phase.stocks or {}), phase.claimed and loops.text(phase.claimed))
    for _, stock in ipairs(phase.stocks or {}) do parts[#parts + 1] = stock.bytes end
    for _, list in ipairs(phase.chunks) do
      local alike = program.shared[list]
      if not alike then return nil end
      number_of[alike.of] = number_of[alike.of] or #number_of + 1
      number_of[number_of[alike.of]] = alike.of
      local op = alike.of.members[alike.number].first_op
      first_op = first_op or op
      parts[#parts + 1] = ("%d %d"):format(number_of[alike.of], op - first_op)
    end
  end
  each_place(program, stretch, function(place)
    local is_private = place.class == "private" -- counted from a worker's own part, which is no base
    parts[#parts + 1] = is_private and place.at or place.class
    if not is_private then
      places[#places + 1] = { class = place.class, buffer = #places + 1, at = place.at, low = place.at,
        list = place.list, base = place.base }
    end
  end)
  return { section = stretch.section, region = stretch.region, key = table.concat(parts, "\n"), places = places,
    first_op = first_op }
end

-- True if all weights that workers prefetch have one base.
local function has_one_stock_base(of)
  local first
  for i, place in ipairs(of.members[1].places) do
    if not place.list then
      local base = of.base_of[place.class] and of.base_of[place.class][i] or "none"
      if first and first ~= base then return false end
      first = base
    end
  end
  return true
end

--- Sets program.shared_stretches: region -> { of: the function of alike stretches, as shared.find gives it, number }.
function stretches.find(program, shared)
  local by_key, found, number_of = {}, {}, {}
  for _, stretch in ipairs(programs.stretches(program)) do
    local form = form_of(program, stretch, number_of)
    if form then
      if not by_key[form.key] then
        by_key[form.key] = { members = {} }
        found[#found + 1] = by_key[form.key]
      end
      table.insert(by_key[form.key].members, form)
    end
  end
  for _, of in ipairs(found) do
    shared.set_bases(of, true)
    table.sort(of.bases, function(x, y) return x.name < y.name end)
    if #of.members > 1 and has_one_stock_base(of) then
      for number, member in ipairs(of.members) do
        program.shared_stretches[member.region] = { of = of, number = number }
      end
    end
  end
end

return stretches
