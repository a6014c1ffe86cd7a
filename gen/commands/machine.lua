-- machine.lua: is the command `machine`, which prints the measured facts of this machine and what `host` means.
local facts = require("commands.machine.facts")
local json = require("dkjson")
local libuv = require("common.libuv")
local targets = require("data.targets")
local types = require("data.types")
local words = require("common.words")
local wanted = require("passes.validate.precision").wanted

local machine = {}

-- Keys of the JSON in order, after targets and number types.
local KEYS = { "missing", "levels", "number", "bytes", "gigabytes", "nanoseconds", "all_cores", "lost", "disturbed",
  "seconds" }

-- Returns the words of types in the facts of how weights are prefetched.
local function types_timed()
  return words.append(words.map(types.of_weights, function(type) return type.word end), { targets.SCALED })
end

-- Returns why `host` means a target: one clause.
local function reason_of(type, name, rates)
  local target = targets.by_name[name]
  if type == "f32" then return "the most instructions that products of f32 use" end
  if target.has_tiles then return "tiles multiply fastest, and their results are right" end
  for _, other in ipairs(targets.list) do
    local rate = rates[other.name] and rates[other.name].bf16
    local own = rates[name] and rates[name].bf16
    if other.is_measured and rate == "wrong" then return other.name .. " computes wrong results here" end
    if other.is_measured and not target.is_measured and rate and own and rate < own then
      return ("%s multiplies bf16 at %.0f GFLOP/s, widened numbers run at %.0f"):format(other.name, rate, own)
    end
  end
  return "the highest measured rate"
end

--- Returns what `target = "host"` means: a list of { precision, target, reason }.
function machine.hosts(rates, processor_machine, flags)
  local list = {}
  for i, type in ipairs(types.of_weights) do
    local name = targets.host(processor_machine, wanted(type.word), function() return rates end, flags)
    list[i] = { precision = type.word, target = name, reason = reason_of(type.word, name, rates) }
  end
  return list
end

local function bytes_text(bytes)
  if bytes == 0 then return "" end
  if bytes % (1 << 20) == 0 then return ("%d MB"):format(bytes >> 20) end
  return ("%d KB"):format(bytes >> 10)
end

local function rate_text(rate) return type(rate) == "string" and rate or ("%.0f"):format(rate) end

-- Returns a line of the table of rates. cell(type): its text for a number type.
local function row(name, cell)
  local parts = { ("%-12s"):format(name) }
  for _, type in ipairs(types.of_weights) do parts[#parts + 1] = (" %8s"):format(cell(type.word)) end
  return table.concat(parts)
end

--- Returns the text that the command prints.
function machine.text(processor, value, hosts)
  local lines = { ("processor    %s, %d cores usable"):format(processor, value.cores), "",
    row("target", function(type) return type end) .. "   10^9 operations a second, one core, operands in registers" }
  for _, target in ipairs(targets.list) do
    local rates = value.targets[target.name]
    if rates and rates.missing then
      lines[#lines + 1] = ("%-12s this machine lacks %s"):format(target.name, rates.missing)
    elseif rates then
      lines[#lines + 1] = row(target.name, function(type) return rate_text(rates[type]) end)
    end
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = ("%-12s %8s %8s %8s   one core"):format("level", "size", "GB/s", "ns")
  for _, level in ipairs(value.levels) do
    lines[#lines + 1] = ("%-12s %8s %8s %8s"):format(level.number == 0 and "memory" or "L" .. level.number,
      bytes_text(level.bytes), level.gigabytes > 0 and ("%.0f"):format(level.gigabytes) or "-",
      level.nanoseconds > 0 and ("%.1f"):format(level.nanoseconds) or "-")
  end
  lines[#lines + 1] = ("%-12s %8s %8.0f"):format("all cores", "", value.all_cores)
  lines[#lines + 1] = ""
  lines[#lines + 1] = "host means"
  for _, each in ipairs(hosts) do
    lines[#lines + 1] = ("  %-10s %-12s %s"):format(each.precision, each.target, each.reason)
  end
  for _, target in ipairs(targets.list) do
    for _, word in ipairs(types_timed()) do
      local of = value.targets[target.name] or {}
      local bytes, least = of[word .. "_ahead"], of[word .. "_least"]
      if bytes then
        lines[#lines + 1] = ("  %-10s %-12s few rows prefetch weights %s ahead, into the first-level cache"):format(
          word, target.name, bytes_text(bytes))
      end
      if least then
        lines[#lines + 1] = ("  %-10s %-12s products prefetch weights from %d row%s on"):format(word, target.name,
          least, least == 1 and "" or "s")
      end
    end
  end
  local disturbed = facts.disturbed(value)
  if disturbed then
    words.append(lines, { "", disturbed .. ": rates may be higher", "the next `attn2c machine` measures again" })
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Runs the command. Returns what it prints. say(line): takes lines for the user.
function machine.run(root, arguments, say)
  local value, processor = facts.get(root, arguments.measure or "disturbed", say)
  local hosts = machine.hosts(value.targets, libuv.os_uname().machine)
  if not arguments.json then return machine.text(processor, value, hosts) end
  local of_host, order = {}, { "processor", "cores", "host", "targets" }
  for _, each in ipairs(hosts) do of_host[each.precision] = each.target end
  for _, target in ipairs(targets.list) do order[#order + 1] = target.name end
  for _, word in ipairs(types_timed()) do words.append(order, { word, word .. "_ahead", word .. "_least" }) end
  words.append(order, KEYS)
  return json.encode({ processor = processor, targets = value.targets, levels = value.levels, cores = value.cores,
    all_cores = value.all_cores, lost = value.lost, disturbed = facts.disturbed(value) ~= nil,
    seconds = value.seconds, host = of_host },
    { indent = true, keyorder = order }) .. "\n"
end

return machine
