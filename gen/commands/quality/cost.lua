-- cost.lua: measures the cost of two variants of a model: milliseconds of a call, bytes of weights, arena and state.
local dkjson = require("dkjson")
local document = require("report.document")

local cost = {}

local TURNS = 2      -- times that each is timed; the least time counts, since other work only adds to it
local MOST_TURNS = 5 -- if other work disturbs them

-- Returns bench's row of the longest entry, or nil.
local function bench_of(program, weights, run)
  local code, text = run(program, { "bench", "--weights", weights, "-r", "4", "-o", "json" })
  if code ~= 0 then return nil end
  local found
  for line in (text or ""):gmatch("[^\n]+") do found = dkjson.decode(line) or found end
  return found
end

--- Times both programs in turn, with the longest entry, and again where other work disturbs them. Returns { ms, ms_f32,
--- weight_bytes, weight_bytes_f32, arena_bytes, arena_bytes_f32, state_bytes, state_bytes_f32 (nil: no state), entry,
--- disturbed = a sentence, or nil }, or nil if bench fails. programs: { f32, other }; run(program, words): returns the
--- exit code and the output.
function cost.measure(programs, weights, run)
  local least, last, quiet, why = {}, {}, 0, nil
  for _ = 1, MOST_TURNS do
    if quiet == TURNS then break end
    local disturbed
    for _, which in ipairs { "f32", "other" } do
      local found = bench_of(programs[which], weights, run)
      if not found then return nil end
      least[which] = math.min(least[which] or math.huge, found.ms_min)
      last[which] = found
      disturbed = disturbed or document.disturbed { bench = found }
    end
    quiet, why = quiet + (disturbed and 0 or 1), disturbed or why
  end
  return { entry = last.other.entry, ms = least.other, ms_f32 = least.f32, weight_bytes = last.other.weight_bytes,
    weight_bytes_f32 = last.f32.weight_bytes, arena_bytes = last.other.arena_bytes,
    arena_bytes_f32 = last.f32.arena_bytes, state_bytes = last.other.state_bytes,
    state_bytes_f32 = last.f32.state_bytes, disturbed = quiet < TURNS and why or nil }
end

return cost
