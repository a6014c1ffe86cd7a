-- shared.lua: checks functions that alike lists of steps share: with its bases each list makes its own calls.
local calls = require("passes.common.calls")
local expect = require("passes.checks.expect")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local words = require("common.words")

-- Returns the loops and calls of a list: { name, then of each operand: operand, access, type }.
local function lines_of(program, list)
  local lines, line = {}, nil
  local function add(operand, access, type)
    local last = #line
    line[last + 1], line[last + 2], line[last + 3] = operand, access, type
  end
  for _, step in ipairs(list) do
    if step.form == "begin" or step.form == "finish" then
      lines[#lines + 1] = { step.form .. step.loop }
    elseif calls.is_shown(program, step) then
      line = { calls.name(program, step) }
      operands.each_open(step, function(name) line[1] = line[1] .. " " .. step.sizes[name] end)
      calls.each_shown(program, step, add)
      lines[#lines + 1] = line
    end
  end
  return lines
end

-- True if a call that begins at the bases of list `number` has an operand where the first list's is `model`.
local function reaches(program, of, number, place_of, model, access, own)
  local class = calls.class(program, model)
  if class ~= calls.class(program, own) or not operands.move_alike(model, own) then return false end
  if not class or access == "value" then
    return model.buffer == own.buffer and model.offset == own.offset and model.symbol == own.symbol
      and model.value == own.value and model.plus == own.plus
  end
  local base = of.base_of[class] and of.base_of[class][model.buffer]
  return place_of(model) + (base and base.moves[number] or 0) == place_of(own)
end

-- Returns what the function of a stretch does, as text and places { class, at, of_base }: its loops, its chunks, the
-- weights that workers prefetch, and the bases of the functions of its lists.
local function stretch_of(program, stretch)
  local parts, places = { words.plain_members(stretch.phases[1].loop or {}) }, {}
  for _, phase in ipairs(stretch.phases) do
    parts[#parts + 1] = ("%d chunks, %d stocks"):format(#phase.chunks, #(phase.stocks or {}))
    for _, name in ipairs { "form", "loop", "step", "piece", "multiple" } do
      parts[#parts + 1] = ("%s"):format(phase.claimed and phase.claimed[name])
    end
    for _, list in ipairs(phase.chunks) do
      local alike = program.shared[list]
      parts[#parts + 1] = tostring(alike and alike.of or list)
      for _, base in ipairs(alike and alike.of.bases or {}) do
        places[#places + 1] = { class = base.class, at = base.low + base.moves[alike.number] }
      end
    end
    for _, stock in ipairs(phase.stocks or {}) do
      parts[#parts + 1], places[#places + 1] = stock.bytes, { class = "weight", at = stock.at }
    end
  end
  return table.concat(parts, "\n"), places
end

-- Checks the functions of alike stretches: each stretch has the loops, chunks and functions of the first, and with its
-- bases their places.
local function check_stretches(program)
  local of_region = {}
  for _, stretch in ipairs(programs.stretches(program)) do of_region[stretch.region] = stretch end
  for region, alike in pairs(program.shared_stretches) do
    local of, number = alike.of, alike.number
    local text, places = stretch_of(program, of_region[region])
    local first_text, first = stretch_of(program, of_region[of.members[1].region])
    local section = of_region[region].section
    expect(text == first_text, "kernels", "%s: a stretch does other phases than its own", section)
    local index = 0
    for i, place in ipairs(first) do
      local is_private, moved = place.class == "private", 0
      index = index + (is_private and 0 or 1)
      local base = not is_private and of.base_of[place.class] and of.base_of[place.class][index]
      if base then moved = base.moves[number] end
      expect(place.at + moved == places[i].at and place.class == places[i].class, "kernels",
        "%s: a stretch has another base than its own", section)
    end
  end
end

--- Checks the shared functions of a program.
return function(state, program)
  if program.divided then check_stretches(program) end
  local place_of, lines_of_first = programs.places(state, program), {}
  programs.each_list(program, function(list, section)
    local alike = program.shared[list]
    if not alike then return end
    local of, lines = alike.of, lines_of(program, list)
    local first = lines_of_first[of] or lines_of(program, of.members[1].list)
    lines_of_first[of] = first
    expect(#lines == #first, "kernels", "%s: a function does other steps than its own", section.name)
    for i, line in ipairs(lines) do
      local model = first[i]
      if line[1] ~= model[1] or #line ~= #model then
        expect(false, "kernels", "%s: %s in the place of %s", section.name, model[1], line[1])
      end
      for j = 2, #line, 3 do
        local access, type = line[j + 1], line[j + 2]
        if access ~= model[j + 1] or type ~= model[j + 2]
          or not reaches(program, of, alike.number, place_of, model[j], access, line[j]) then
          expect(false, "kernels", "%s: %s has another operand %d than its own", section.name, line[1], (j + 1) // 3)
        end
      end
    end
  end)
end
