-- tuning.lua: finds the tile parameters of each product, and reads and writes the tuning file.
-- The target's rule is overridden by a tuning file, and both by the description's `plan`.
--
-- A product's key is "OUTxIN n ROWS +EPILOGUE", in bf16 "OUTxIN bf16 n ROWS +EPILOGUE". ROWS are its region's,
-- which the token block divides, so the key does not depend on the choice. The file is one line of format, target and
-- machine, then a line for each product:
--   attn2c tuning 5 avx512 AMD-EPYC-9654
--   3072x768 n 128 +bias_gelu: kernels libxsmm panel 64 token_block 128 call_rows 6 fetch 1 stream 0; 231.0 GFLOP/s,
--     rule 215.2      (on the same line)
local activations = require("data.activations")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local ops = require("data.ops")
local targets = require("data.targets")
local terminal = require("common.terminal")
local types = require("data.types")
local words = require("common.words")

local tuning = {}

tuning.FORMAT = 5

local MOST_BYTES = 1 << 20

--- Parameters that may differ from product to product. The plan reads all but the first.
tuning.names = { "kernels", "panel", "token_block", "call_rows", "fetch", "stream" }

--- Returns the key of a product with the ops of its epilogue, in a region of `rows` rows. Short forms of activations
--- have the name of the function, so that files of builds without these forms are used.
function tuning.key(leading, epilogue, rows)
  local weight = leading.operands.weight
  local parts = {}
  if leading.operands.bias then parts[1] = "bias" end
  for _, op in ipairs(epilogue) do
    local short = activations.by_name[op.attributes["function"]]
    if not ops.class(op).ends_epilogue then
      parts[#parts + 1] = short and short.of or op.attributes["function"] or op.op
    end
  end
  if #parts == 0 then parts[1] = "none" end
  local type = weight.type ~= "f32" and types.word(weight.type) .. " " or ""
  return ("%dx%d %sn %d +%s"):format(ops.outputs(leading), weight.shape[2], type, rows, table.concat(parts, "_"))
end

--- Returns this machine's processor as one word.
function tuning.machine()
  local name
  local info = io.open("/proc/cpuinfo", "r")
  if info then
    for line in info:lines() do name = name or line:match("^model name%s*:%s*(.-)%s*$") end
    info:close()
  end
  name = (name or ""):gsub("[^%w.]+", "-"):gsub("^%-+", ""):gsub("%-+$", ""):sub(1, 80)
  return name == "" and "unknown" or name
end

local DISTURBED = ", disturbed" -- ends a line whose times were disturbed by other work

local function choice_text(choice)
  return table.concat(words.map(tuning.names, function(name) return name .. " " .. choice[name] end), " ")
end

tuning.choice_text = choice_text

--- Returns the text of a file. set: { target, machine, choices = key -> parameters, with gflops,
--- rule_gflops and is_disturbed }.
function tuning.text(set)
  local lines = { ("attn2c tuning %d %s %s"):format(tuning.FORMAT, set.target, set.machine) }
  for _, key in ipairs(words.sorted_keys(set.choices)) do
    local choice = set.choices[key]
    lines[#lines + 1] = ("%s: %s; %.1f GFLOP/s, rule %.1f%s"):format(key, choice_text(choice), choice.gflops,
      choice.rule_gflops, choice.is_disturbed and DISTURBED or "")
  end
  return table.concat(lines, "\n") .. "\n"
end

local function number_or_word(parameter, text)
  if parameter.words then return words.set(parameter.words)[text] and text or nil end
  local n = #text <= 9 and math.tointeger(text)
  if not n or n < parameter.min or n > parameter.max or n % (parameter.multiple or 1) ~= 0 then return nil end
  return n
end

local function allowed(parameter)
  if parameter.words then return table.concat(parameter.words, " or ") end
  return (parameter.multiple and ("a multiple of %d "):format(parameter.multiple) or "an integer ")
    .. ("from %d to %d"):format(parameter.min, parameter.max)
end

local first_line = "^attn2c tuning (%d+) ([%w_]+) ([%w.-]+)$"
local product_line = "^(%d+x%d+ [%w_]* ?n %d+ %+[%w_]+): ([%w_ ]+); ([%d.]+) GFLOP/s, rule ([%d.]+)(.*)$"

-- Returns the parameters of a product's line: each once, in order.
local function parse_choice(text, refuse)
  local choice = {}
  for name, value in (text .. " "):gmatch("(%S+) (%S+) ") do
    local parameter = words.set(tuning.names)[name] and targets.parameters[name]
    if not parameter then
      refuse("no parameter %s; there are %s", faults.quote(name), table.concat(tuning.names, ", "))
    end
    choice[name] = number_or_word(parameter, value)
    if not choice[name] then refuse("%s %s, but %s is allowed", name, faults.quote(value), allowed(parameter)) end
  end
  for _, name in ipairs(tuning.names) do if not choice[name] then refuse(name .. " is missing") end end
  if choice_text(choice) ~= text then
    refuse(faults.quote(text) .. ", but each parameter once, in order, is expected")
  end
  return choice
end

--- Reads a text that tuning.text wrote; `place` names it. Faults: format, one line.
function tuning.parse(text, place)
  local number = 0
  local function refuse(...) faults.raise("format", "%s: line %d: %s", place, number, faults.line(...)) end
  local set = { choices = {} }
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    if number == 1 then
      local format, target, machine = line:match(first_line)
      if not format then refuse(faults.quote(line) .. ", but \"attn2c tuning FORMAT TARGET MACHINE\" is expected") end
      if format ~= tostring(tuning.FORMAT) then
        refuse("format %s, but %d is allowed: delete the file, and tune again", format:sub(1, 20), tuning.FORMAT)
      end
      if not targets.by_name[target] then refuse("no target " .. faults.quote(target)) end
      set.target, set.machine = target, machine
    else
      local key, parameters, gflops, rule, mark = line:match(product_line)
      gflops, rule = tonumber(gflops), tonumber(rule)
      local is_wrong = not gflops or not rule or math.max(gflops, rule) == math.huge
      if is_wrong or mark ~= "" and mark ~= DISTURBED then -- tune could not write such a rate
        refuse(faults.quote(line) .. ", but \"OUTxIN n ROWS +EPILOGUE: PARAMETERS; N GFLOP/s, rule N\" is expected")
      end
      if set.choices[key] then refuse("a second line for " .. faults.quote(key)) end
      set.choices[key] = parse_choice(parameters, refuse)
      if set.choices[key].kernels == "libxsmm" and not targets.by_name[set.target].has_libxsmm then
        refuse("kernels \"libxsmm\", which goes with the targets %s, not with %s", targets.with_libxsmm(), set.target)
      end
      set.choices[key].gflops, set.choices[key].rule_gflops = gflops, rule
      set.choices[key].is_disturbed = mark == DISTURBED or nil
    end
  end
  return set
end

--- Reads a file; returns nil if it does not exist. Faults: io if it cannot be read, format if it is malformed.
function tuning.read(path)
  local text, message = files.read_some(path, MOST_BYTES + 1)
  if not text then
    if message then faults.raise("io", "%s: %s", path, message) end
    return nil
  end
  if #text > MOST_BYTES then faults.raise("format", "%s: more than %d bytes", path, MOST_BYTES) end
  local set = tuning.parse(text, path)
  set.hash = hash.text(text)
  return set
end

--- Returns state.tuning, { set, file, asked }, or nil. asked: { file = path, asked = whether the user named it },
--- { set = a set }, or nil. Faults: as tuning.read; io if the user named a file that does not exist.
function tuning.given(asked)
  if not asked or asked.set then return asked end
  local set = tuning.read(asked.file)
  if set then return { set = set, file = asked.file, asked = asked.asked } end
  if asked.asked then faults.raise("io", "cannot read %s", asked.file) end
  return nil
end

-- Returns the set that a run of the pipeline uses, of state.tuning; nil if there is none or it is for another target.
local function set_for(state)
  local given = state.tuning
  local is_of_another = given and given.file and given.set.target ~= state.spec.target
  return given and not is_of_another and given.set or nil
end

--- Adds notes about the user's file, once the parameters of all products are known.
function tuning.conclude(state)
  local given = state.tuning
  if not (given and given.file) then return end
  local set = given.set
  local function note(...) state.notes[#state.notes + 1] = terminal.safe(given.file .. ": " .. string.format(...)) end
  if set.target ~= state.spec.target then
    if not words.set(state.target_names)[set.target] then -- else it is used for that one
      note("made for %s, but the target is %s: ignored", set.target, state.spec.target)
    end
  elseif not next(set.choices) then
    return -- `tune` has kept the rule
  elseif not state.parameters.hash then
    note("no line is for a product of this model: ignored")
  elseif set.machine ~= state.machine then
    note("measured on %s, but this is %s: used nevertheless", set.machine, state.machine)
  elseif not given.asked then
    note("is used, because it is next to the description; --tuning=none goes without it")
  end
end

-- Returns the parameters that replace the rule for a product of this key and weight [out][in], else nil. is_open:
-- whether only a call knows the rows.
local function rule_of(target, key, weight, is_open)
  local rows = tonumber(key:match(" n (%d+) "))
  local outputs, inputs = weight.shape[1], weight.shape[2]
  local lesser = math.min(inputs, outputs)
  for _, entry in ipairs(target.products or {}) do
    local fits = rows >= entry.rows and inputs <= (entry.inputs or inputs) and outputs <= (entry.outputs or outputs)
      and (not entry.narrow or weight.type ~= "f32")
      and (not entry.widened or weight.type == "bf16" and target.bf16_rows == "f32")
      and (not entry.open or is_open) and (not entry.weights or entry.weights == types.word(weight.type))
      and lesser >= (entry.least or 1) and types.bytes(outputs * inputs, weight.type) <= (entry.bytes or math.huge)
      and (not entry.silent or rows < target.rule.stream_rows)
      and (not entry.blocks or types.all[weight.type].block)
    if fits and (lesser < targets.deep) == (entry.shallow or false) then return entry.use end
  end
  return nil
end

-- Returns the width of panels of a weight in groups of rows, at most `most`: no panel has rows of two groups. Panels of
-- whole lines are taken if there are some: their strips have no half vectors.
local function panel_of_groups(weight, most)
  local each, line = weight.shape[1] // weight.groups, types.per_line("f32")
  for panel = math.min(each, most) // line * line, line, -line do if each % panel == 0 then return panel end end
  local panel = math.min(each, most)
  while each % panel ~= 0 do panel = panel - 1 end
  return panel
end

--- Returns the tile parameters of a build: { common: for all products alike; of(key, weight): for one product;
--- provider(key): who makes the bodies of a product, "c" or "libxsmm", key nil: of those that have no key; hash: of the
--- set, if it has a line for a product that was asked for }.
function tuning.parameters(state)
  local target = targets.by_name[state.spec.target]
  local common = {}
  for _, values in ipairs { target.rule, state.spec.plan } do
    for name, value in pairs(values) do if name ~= "kernels" then common[name] = value end end
  end
  local set, result = set_for(state), { common = common }
  local measured = state.measured and state.measured[state.spec.target] or {} -- of this machine, by state.host
  local function fact(type, name)
    return measured[(types.all[type].block and targets.SCALED or types.word(type)) .. name]
  end
  function result.of(key, weight)
    local choice = set and set.choices[key]
    if choice then result.hash = set.hash end
    choice = choice or rule_of(target, key, weight, state.spec.symbols.rows.is_open) or common
    local own, here = {}, { stream = fact(weight.type, "_ahead") }
    for i = 2, #tuning.names do
      local name = tuning.names[i]
      own[name] = state.spec.plan[name] or choice[name] or here[name] or common[name]
    end
    own.stream_rows = state.spec.plan.stream_rows or fact(weight.type, "_least") or common.stream_rows
    own.panel = types.all[weight.type].panel or own.panel
    if weight.groups then own.panel = panel_of_groups(weight, own.panel) end
    return own
  end
  local asked = state.spec.kernels ~= "auto" and state.spec.kernels or state.spec.plan.kernels
  function result.provider(key)
    local choice = set and set.choices[key]
    return asked or choice and choice.kernels or "c"
  end
  return result
end

return tuning
