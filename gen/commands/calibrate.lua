-- calibrate.lua: is the command `calibrate`, which writes factors that divide channels of outliers for int8.
-- It runs a variant of the model in f32 whose outputs are the activations that int8 products read, and searches factors
-- for each.
local arrays = require("commands.quality.arrays")
local factors = require("passes.graph.factors")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local padding = require("commands.quality.padding")
local samples = require("commands.quality.samples")
local scratch = require("common.scratch")
local search = require("commands.calibrate.search")
local smoothing = require("passes.graph.smoothing")
local precision = require("data.precision")
local targets = require("data.targets")
local terminal = require("common.terminal")
local uv = require("common.libuv")
local weights_of = require("commands.calibrate.weights")

local calibrate = {}

local MOST_ROWS = 256     -- rows whose largest numbers are compared for each strength
local FEW_ROWS = 100      -- fewer rows say little about others
local LEAST_GAIN = 0.03   -- least reduction of the expected error for which factors are used

-- Refuses, before anything is built, a path that cannot be written, and a file that is not a file of factors.
local function verify_writable(path)
  local mode = lfs.attributes(path, "mode")
  if mode and mode ~= "file" then
    faults.raise("io", ("cannot write %s: it is a %s, and a regular file is expected"):format(path, mode))
  end
  local begins = files.read_some(path, 64)
  if begins and begins ~= "" and not factors.begins(begins) then
    faults.raise("usage", ("%s: exists and is not a file of factors; it would be lost"):format(path))
  end
  local folder = path:match("^(.*)/[^/]*$") or "."
  if not uv.fs_access(folder == "" and "/" or folder, "W") then
    faults.raise("io", ("cannot write %s: the folder cannot be written; -o FILE names another file"):format(path))
  end
end

-- Returns the factor groups of all entries. Products that share weights must have the same factors in each entry.
local function groups_of(primary)
  local groups = smoothing.groups(primary.graph.entry)
  if #groups == 0 then
    faults.raise("usage", ("calibrate: no product is in %s, and others need no factors: add precision=%s"):format(
      precision.with_factors, precision.with_factors))
  end
  return groups
end

-- Adds the activations of a file, of the tensor x, to those of a group. Padding is left out, and so are rows of zeros,
-- which are the padding of texts. Faults: format, for NaN and infinity.
local function look_at(path, x_tensor, told, into)
  local array = arrays.open(path)
  local width = #into.largest
  local count, out = array.count // width, padding.parts(told, x_tensor, array.shape)
  local largest, squares = into.largest, into.squares
  local step = count // MOST_ROWS | 1 -- odd, so that it divides no even length and visits varying places of sequences
  local function look_at_row(row)
    local x, sum = array.numbers(row * width, width), 0.0
    for j = 1, width do
      local v = x[j]
      local square = v * v
      sum, squares[j] = sum + square, squares[j] + square
      if v < 0 then v = -v end
      if v > largest[j] then largest[j] = v end
    end
    if sum ~= sum or sum == math.huge then
      faults.raise("format", ("calibrate: %s has NaN or infinity, or numbers too large to square, in row %d"):format(
        x_tensor.name, row))
    end
    if sum > 0 then
      into.count = into.count + 1
      if row % step == 0 then into.rows[#into.rows + 1] = x end
    end
  end
  for row = 0, count - 1 do
    if not (out and out[row * width // out.inner]) then look_at_row(row) end
  end
end

local function activations_of(group, member_of, folder, entry, told)
  local of = { largest = {}, squares = {}, rows = {}, count = 0 }
  for j = 1, group.width do of.largest[j], of.squares[j] = 0.0, 0.0 end
  for _, input in ipairs(group.inputs) do
    look_at(("%s/%s.npy"):format(folder, member_of[input.x.name]), entry.graph.tensors[input.x.name], told, of)
  end
  for j = 1, group.width do of.squares[j] = of.squares[j] / math.max(1, of.count) end
  return of
end

-- Returns the products of a group in short: l0.attn.q k v.
local function short(products)
  local first, parts = products[1], { products[1] }
  local stem = first:match("^(.*%.)[^.]*$") or ""
  for i = 2, #products do
    local rest = products[i]
    if stem ~= "" and rest:sub(1, #stem) == stem then rest = rest:sub(#stem + 1) end
    parts[i] = rest
  end
  if #parts > 4 then parts = { parts[1], ("and %d more"):format(#parts - 1) } end
  return table.concat(parts, " ")
end

local function largest_power(powers)
  local most = 0
  for _, power in ipairs(powers) do most = math.max(most, power) end
  return most
end

local function table_of(state, results, path)
  local lines, count = {}, 0
  for _, each in ipairs(results) do if each.found.strength then count = count + 1 end end
  lines[1] = ("%s: factors for %d of %d inputs of %s, in %s"):format(state.spec.name, count, #results,
    precision.with_factors, terminal.safe(path))
  lines[2] = ""
  lines[3] = "| read by | channels | strength | largest factor | expected error, relative to none |"
  lines[4] = "|:--|--:|--:|--:|--:|"
  for _, each in ipairs(results) do
    local found = each.found
    lines[#lines + 1] = ("| %s | %d | %s | %s | %s |"):format(short(each.group.products), each.group.width,
      found.strength and ("%.1f"):format(found.strength) or "-",
      found.strength and ("%d"):format(1 << largest_power(found.powers)) or "-", ("%.2f"):format(found.error))
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Returns the primary entry, for the target that runs here.
local function entry_in_use(state)
  local name = targets.in_use(state.target_names, targets.runs_on(targets.machine(os.getenv)),
    os.getenv("ATTN2C_TARGET"))
  for _, build in ipairs(state.builds) do
    if build.spec.target == name then return build.primary end
  end
  return state.primary
end

--- Runs the variant, searches factors and writes them. Returns a table as text, or nil and a run's exit code other than
--- 0. arguments: overrides, input, text as in quality.measure, output, description; weights: a checkpoint; tools:
--- { graph() -> the entries after the pass graph, build(overrides, with_text, exposed) -> program, state;
--- run(program, words) -> code }.
function calibrate.run(arguments, weights, tools)
  local path = arguments.output or factors.beside(arguments.description)
  if #arguments.input + #arguments.text == 0 then
    faults.raise("usage", "calibrate: --input NAME=FILE.npy or --text is needed: factors come from activations")
  end
  if not weights then faults.raise("usage", "calibrate: --weights is needed") end
  if path == "" then faults.raise("usage", "-o: the name is empty; a file is needed") end
  verify_writable(path)
  local groups, names = groups_of(tools.graph()), {}
  for _, group in ipairs(groups) do
    for _, input in ipairs(group.inputs) do names[#names + 1] = input.x.name end
  end
  local with_text = #arguments.text > 0
  local program, state = tools.build(samples.in_f32(arguments.overrides), with_text, names)
  local folder <close> = scratch.make(program:match("^(.*)/[^/]*$"), "calibrate")
  local entry, member_of, outputs = entry_in_use(state), {}, {}
  for _, each in ipairs(entry.graph.exposed) do
    member_of[each.name] = each.member
    outputs[#outputs + 1] = { member = each.member, path = ("%s/%s.npy"):format(folder.path, each.member) }
  end
  local given = samples.words(arguments, entry.graph, folder.path, weights)
  local packed = folder.path .. "/packed.weights"
  for _, list in ipairs { { "pack", "--weights", weights, "-o", packed }, samples.with_outputs(given, outputs) } do
    local code = tools.run(program, list)
    if code ~= 0 then return nil, code end
  end
  local most_rows = 0
  local text, results, list, told = weights_of.read(packed), {}, {}, padding.of(given, state.spec)
  for i, group in ipairs(groups) do
    local readers, checksums = {}, {}
    for k, weight in ipairs(group.weights) do
      readers[k] = weights_of.reader(text, entry, weight.name)
      checksums[k] = weights_of.checksum(text, entry, weight.name)
    end
    local activations = activations_of(group, member_of, folder.path, entry, told)
    most_rows = math.max(most_rows, activations.count)
    local found = search.best(activations, readers)
    if found.error > 1 - LEAST_GAIN then found = { powers = found.powers, error = 1 } end
    results[i] = { group = group, found = found }
    if found.strength then
      list[#list + 1] = { products = group.products, checksums = checksums, powers = found.powers }
    end
  end
  files.write(path, factors.text(list))
  if most_rows < FEW_ROWS then
    io.stderr:write(("attn2c: calibrate: %d rows of activations are few, and the factors fit only these: give a few "
      .. "hundred\n"):format(most_rows))
  end
  return table_of(state, results, path)
end

return calibrate
