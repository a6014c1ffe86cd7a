-- shared.lua: finds the lists of steps that one function does, such as the steps of alike layers.
-- Lists are alike if they make the same calls in the same loops, and differ in the places of their operands only. Their
-- function takes a base for each set of places that move together from list to list; the others are constants in it. A
-- call gives the bases as constants, so that no place is looked up at run time.
local alike = require("common.alike")
local calls = require("passes.common.calls")
local loops = require("data.loops")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local stretches = require("passes.kernels.stretches")
local types = require("data.types")

local shared = {}

-- Names of bases by class, if the function also needs the pointer of the class.
local names = { weight = "own", arena = "x", private = "q", state = "pages" }

-- Returns a list of steps as { list, section, parts, first_op, places }; lists with equal parts are alike. parts:
-- values, and tables of terms. places: of buffers in the order of their first use, { class, buffer, at: the first
-- operand in bytes, low: the lowest one }.
local function form_of(program, place_of, list, section)
  local parts, count, places, number_of, first_op, region = {}, 0, {}, {}, nil, nil
  local function part(value)
    count = count + 1
    parts[count] = value or false
  end
  local function add(operand, access, type)
    local class, buffer = calls.class(program, operand), operand.buffer
    part(operand.terms and next(operand.terms) and operand.terms)
    part(class)
    part(type)
    if access == "value" or not class then
      for _, name in ipairs { "class", "buffer", "offset", "symbol", "value", "plus" } do part(operand[name]) end
      return
    end
    local at, of_class = place_of(operand), number_of[class]
    if not of_class then
      of_class = {}
      number_of[class] = of_class
    end
    local number = of_class[buffer]
    if not number then
      number = #places + 1
      of_class[buffer], places[number] = number, { class = class, buffer = buffer, at = at, low = at }
    end
    local of = places[number]
    if at < of.low then of.low = at end
    part(number)
    part(at - of.at)
  end
  for _, step in ipairs(list) do
    if step.region ~= region then
      region = step.region
      if not region.like then return {} end
      part(region.like.number)
    end
    if step.form == "begin" then
      part(loops.text(step))
    elseif step.form == "finish" then
      part("end")
    elseif calls.is_shown(program, step) then
      first_op = first_op or step.op
      part(calls.name(program, step))
      part(step.op - first_op)
      operands.each_open(step, function(name) part(step.sizes[name]) end)
      calls.each_shown(program, step, add)
    end
  end
  for _, of in ipairs(places) do part(of.at % types.LINE) end
  return { list = list, section = section.name, parts = parts, places = places, first_op = first_op }
end

--- Sets the bases of alike lists: { class, name, low: the lowest place of the first list, of a whole float, moves:
--- from there to the base of each list }; base_of[class][buffer of the first list]; and constant, the classes that also
--- have places that do not move. A base that replaces its class's pointer has the pointer's name, unless is_added.
function shared.set_bases(of, is_added)
  local by_moves, count = {}, {}
  of.bases, of.base_of, of.constant = {}, {}, {}
  for i, place in ipairs(of.members[1].places) do
    local moves, moved = {}, false
    for m, member in ipairs(of.members) do
      moves[m] = member.places[i].at - place.at
      moved = moved or moves[m] ~= 0
    end
    local key = place.class .. table.concat(moves, " ")
    if not moved then
      of.constant[place.class] = true
    else
      local base = by_moves[key]
      if not base then
        count[place.class] = (count[place.class] or 0) + 1
        base = { class = place.class, moves = moves, low = place.low, number = count[place.class] }
        by_moves[key], of.bases[#of.bases + 1] = base, base
      end
      base.low = math.min(base.low, place.low)
      of.base_of[place.class] = of.base_of[place.class] or {}
      of.base_of[place.class][place.buffer] = base
    end
  end
  for _, base in ipairs(of.bases) do
    base.low = base.low - base.low % types.bytes(1, "f32") -- a head's first integer may be inside a float
    local is_only = not is_added and count[base.class] == 1 and not of.constant[base.class]
    base.name = is_only and calls.pointers[base.class]
      or names[base.class] .. (base.number > 1 and "_" .. base.number or "")
  end
end

--- Sets program.shared: list -> { of: the function of alike lists, { members, bases, base_of, constant }, number: the
--- list's among them }. Regions are of one kind (plan/kinds.lua). place_of(operand): its bytes from its pointer on.
function shared.find(program, place_of)
  local first_of, by_parts, found = alike.first_list(), {}, {}
  program.shared, program.shared_stretches = {}, {}
  programs.each_list(program, function(list, section)
    local form = form_of(program, place_of, list, section)
    if not form.first_op then return end
    local parts = first_of(form.parts)
    if not by_parts[parts] then
      by_parts[parts] = { members = {} }
      found[#found + 1] = by_parts[parts]
    end
    table.insert(by_parts[parts].members, form)
  end)
  for _, of in ipairs(found) do
    if #of.members > 1 then
      shared.set_bases(of)
      for number, member in ipairs(of.members) do program.shared[member.list] = { of = of, number = number } end
    end
  end
  if program.divided then stretches.find(program, shared) end
end

return shared
