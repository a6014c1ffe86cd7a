-- table.lua: writes predictions of `bench --scale` as tables and as JSON.
local dkjson = require("dkjson")

local forms = {}

local function number(x) return x and ("%.4g"):format(x) or "-" end

-- Returns the time of a call on the fewest ranks, by call.
local function first_of(result)
  local first = {}
  for _, each in ipairs(result.predictions) do
    if not first[each.call] or each.ranks < first[each.call].ranks then first[each.call] = each end
  end
  return first
end

local function add_predictions(add, result)
  local network, first = result.network, first_of(result)
  add("Predicted: %s for %s, one core a rank, each rank with memory of its own.", result.model, result.target)
  add("Network: latency %s us, %s GB/s%s.", number(network.latency_us), number(network.gigabytes),
    network.is_given and "" or ", as messages between two ranks of this machine")
  for _, each in ipairs(result) do
    if each.layers < result.layers then
      add("%d rank%s: %d of %d equal layers, and half of them, were timed; the others take as long.", each.ranks,
        each.ranks == 1 and "" or "s", each.layers, result.layers)
    end
  end
  if result.is_disturbed then
    add("Other work disturbed the times: half of the layers took as long as all that were timed.")
  end
  add("")
  add("| ranks | call | ms | parts, ms | meetings, ms | meetings | kB sent by a rank | tokens/s | speed | MB a rank |")
  add("|------:|:-----|---:|----------:|-------------:|---------:|------------------:|---------:|------:|----------:|")
  for _, each in ipairs(result.predictions) do
    local one = first[each.call]
    add("| %d | %s | %s | %s | %s | %d | %s | %s | %.2f | %s |", each.ranks, each.call, number(each.ms),
      number(each.parts_ms), number(each.meetings_ms), each.meetings, number(each.sent_bytes / 1000),
      number(each.tokens_per_s), one.ms / each.ms, ("%.0f"):format(each.memory_bytes / 1e6))
  end
end

local function add_here(add, result)
  if #result.here == 0 then return end
  add("")
  add("Ranks that share this machine, its memory and caches (least times):")
  add("")
  add("| ranks | layers | call | part 0 by itself, ms | parts at once, ms | meetings, ms | predicted, ms | measured, "
    .. "ms | predicted / measured |")
  add("|------:|-------:|:-----|--:|--:|--:|--:|--:|--:|")
  for _, each in ipairs(result.here) do
    add("| %d | %d | %s | %s | %s | %s | %s | %s | %.3f |", each.ranks, each.layers, each.call, number(each.apart_ms),
      number(each.at_once_ms), number(each.meetings_ms), number(each.ms), number(each.measured_ms), each.ratio)
  end
end

function forms.md(result)
  local lines = {}
  local function add(text, ...) lines[#lines + 1] = text:format(...) end
  add_predictions(add, result)
  add_here(add, result)
  return table.concat(lines, "\n") .. "\n"
end

local KEYS = { "scale", "model", "target", "precision", "layers", "network", "timed", "predictions", "here", "meetings",
  "ranks", "call", "ms", "parts_ms", "meetings_ms", "apart_ms", "at_once_ms", "measured_ms", "ratio" }

--- Returns one object: scale (1, the form's number), model, target, layers, network, timed layers, predictions, here,
--- and the measured meetings by number of ranks.
function forms.json(result)
  local timed, meetings = {}, {}
  for i, each in ipairs(result) do timed[i] = each end
  for count, each in pairs(result.measured) do meetings[tostring(count)] = each end
  return dkjson.encode({ scale = 1, model = result.model, target = result.target, precision = result.precision,
    layers = result.layers, network = result.network, timed = timed, predictions = result.predictions,
    here = result.here, meetings = next(meetings) and meetings or nil }, { indent = true, keyorder = KEYS }) .. "\n"
end

return forms
