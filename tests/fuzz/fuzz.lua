#!/usr/bin/env lua5.4
-- fuzz.lua: the fuzzer: draws random descriptions, or takes each bound by itself, compiles,
-- builds with guard pages and checks each. A failure prints what repeats it, then a simpler
-- description that fails in the same way. Exit 1 on a failure.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = here .. "/?.lua;" .. root .. "/gen/?.lua;" .. package.path

local argparse = require("argparse")
local case = require("case")
local draw = require("draw")
local extremes = require("extremes")
local files = require("common.files")
local shrink = require("shrink")
local text = require("text")

case.root = root

local MOST_LINES = 3000 -- emitted steps of a drawn model; one with more takes a C compiler too long
local SHRINK_ATTEMPTS = 60

local function arguments()
  local parser = argparse("fuzz.lua", "Compiles, builds and checks random descriptions with guard pages.")
  parser:argument("count", "How many cases.", "100"):convert(math.tointeger)
  parser:argument("seed", "The same cases for the same seed, on every machine.", "1"):convert(math.tointeger)
  parser:option("--first", "Number of the first case.", "1"):convert(math.tointeger):argname("K")
  parser:option("--folder", "Where cases are built; they are removed when they pass.", "out/fuzz"):argname("DIR")
  parser:flag("--extremes", "Each bound of each size by itself instead.")
  parser:flag("--typed", "Products of bf16 and int8 in every case.")
  parser:flag("--any", "Sequences of any length in every case that may have them.")
  parser:flag("--context", "Calls that go on from those before in every case.")
  parser:flag("--encoder", "An encoder beside calls that go on, in every case.")
  parser:flag("--joined", "A picture's patches after the tokens, in every case.")
  parser:flag("--ranks", "Models that are divided among ranks or stages, in every case.")
  parser:flag("--experts", "Mixtures of experts in every case that may have them.")
  parser:flag("--adapters", "Adapters next to the weights in every case that may have them.")
  parser:flag("--tied", "A vocabulary that multiplies by the table of tokens in every case.")
  parser:flag("--exposed", "Inner tensors are outputs, too, each of which is also the only one wanted.")
  parser:flag("--no-shrink", "Print a failure as it was drawn only.")
  parser:flag("-v --verbose", "A line a case.")
  return parser:parse()
end

-- True if some layer of a description has experts.
local function has_experts(d)
  for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do if layer.experts then return true end end
  return d.experts and (type(d.layers) == "table" and #d.layers or d.layers) > 0
end

-- True if the vocabulary of a description is the table of tokens.
local function is_tied(d)
  for _, stage in ipairs(d.output or {}) do
    if stage.stage == "vocabulary" and stage.tied ~= false then return true end
  end
  return false
end

-- True if a description has what was asked: a context, an encoder beside it, ranks or stages, experts.
local function has_asked(asked, d)
  return (not asked.experts or has_experts(d)) and (d.context or not asked.context and not asked.encoder)
    and (d.adapters or not asked.adapters) and (d.memory or not asked.encoder)
    and (d.memory and d.memory.joined or not asked.joined)
    and (d.ranks or d.stages or not asked.ranks) and (not asked.tied or is_tied(d))
end

-- The description of a number: the first of those drawn from it that is not too long and has what was asked.
local function drawn(asked, number)
  local folder = asked.folder
  local path = folder .. "/drawn.lua"
  for attempt = 0, 999 do
    local description = draw.description(asked.seed, number + (attempt << 32), asked)
    if has_asked(asked, description) then
      files.write_all(folder, { { name = "drawn.lua", text = text.description(description) } })
      local state = case.compile(path)
      os.remove(path)
      local lines = 0
      for _, entry in ipairs(state and state.builds[1].entries or {}) do lines = lines + entry.plan.lines end
      if lines <= MOST_LINES then return description end
    end
  end
  error(("case %d: no description of at most %d steps"):format(number, MOST_LINES))
end

local function one_line(description)
  return (text.description(description):gsub("^return ", ""):gsub("%s+", " "))
end

local function report(number, description, folder, options, kind, said, shrinks)
  io.write(("\ncase %d failed: %s\n%s\n%s"):format(number, kind, said, text.description(description)))
  if shrinks then
    description = shrink.run(description, function(candidate)
      local ok, same = case.run(candidate, folder, options)
      return not ok and same == kind
    end, SHRINK_ATTEMPTS)
    local _, _, last = case.run(description, folder, options)
    io.write("simpler, and fails in the same way:\n", last or "", "\n", text.description(description))
  end
  io.write("repeat it with: ", case.command(folder .. "/description.lua", description.name, options), "\n")
end

local function main()
  local asked = arguments()
  local bounds = asked.extremes and extremes.list() or {}
  local passed, large, failed = 0, 0, 0
  files.make_folder(asked.folder)
  for number = asked.first, asked.extremes and #bounds or asked.first + asked.count - 1 do
    local bound = bounds[number]
    local description = bound and bound.description or drawn(asked, number)
    local folder = ("%s/case_%d"):format(asked.folder, number)
    local options = { flags = case.flags(bound and 1 or number), seed = asked.seed + number,
      exposed = asked.exposed }
    if asked.verbose then
      io.write(("%d: %s"):format(number, bound and bound.what or one_line(description)))
      io.flush()
    end
    local ok, kind, said = case.run(description, folder, options)
    if not ok then failed = failed + 1 elseif kind then large = large + 1 else passed = passed + 1 end
    if asked.verbose then io.write(" ", kind or "ok", "\n") else io.write(not ok and "F" or kind and "o" or ".") end
    if not ok then report(number, description, folder, options, kind, said, not asked.no_shrink) end
    io.flush()
  end
  if large > 0 then io.write(("%s%d with numbers too large for f32"):format(asked.verbose and "" or "\n", large)) end
  io.write(("%s%d passed, %d failed\n"):format(asked.verbose and large == 0 and "" or "\n", passed, failed))
  return failed == 0 and 0 or 1
end

os.exit(main(), true)
