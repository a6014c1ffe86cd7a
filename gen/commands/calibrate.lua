-- calibrate.lua: is the command `calibrate`, which writes factors that divide channels of outliers for int8, and the
-- importance of inputs for weights of 4 bits. It runs a variant of the model in f32, whose outputs are the inputs of
-- such products. For each input it searches factors, or takes the mean squares of the channels.
local arrays = require("commands.quality.arrays")
local common_words = require("common.words")
local companion = require("commands.companion")
local factors = require("passes.graph.factors")
local faults = require("common.faults")
local files = require("common.files")
local gain = require("commands.calibrate.gain")
local importance = require("passes.graph.importance")
local padding = require("commands.quality.padding")
local pieces = require("commands.calibrate.pieces")
local samples = require("commands.quality.samples")
local scratch = require("common.scratch")
local search = require("commands.calibrate.search")
local smoothing = require("passes.graph.smoothing")
local precision = require("data.precision")
local progress = require("common.progress")
local targets = require("data.targets")
local terminal = require("common.terminal")
local weights_of = require("commands.calibrate.weights")

local calibrate = {}

local MOST_ROWS = 256     -- rows whose largest numbers are compared for each strength
local FEW_ROWS = 100      -- fewer rows say little about others
local LEAST_GAIN = 0.03   -- least reduction of the expected error for which factors are used

-- Returns the groups of inputs that need factors, then the groups of weights of 4 bits, with `weighs`. Products that
-- share weights must have the same factors in each entry.
local function groups_of(primary)
  local groups = smoothing.groups(primary.graph.entry)
  for _, group in ipairs(importance.groups(primary.graph.entry)) do
    group.inputs, group.weighs = { { x = group.x } }, true
    groups[#groups + 1] = group
  end
  if #groups == 0 then
    faults.raise("usage", "calibrate: no product is in %s, and others need no factors: add precision=%s, or weights "
      .. "of 4 bits (weights=int4) without an order of inputs", precision.with_factors, precision.with_factors)
  end
  return groups
end

-- Adds the activations of a file, of the tensor x, to a group's. Padding is left out, and so are rows of zeros,
-- which are the padding of texts. Faults: format, for NaN and infinity.
local function look_at(path, x_tensor, told, into)
  local array = arrays.open(path)
  local width, needs_rows = #into.largest, not into.weighs
  local count, out = array.count // width, padding.parts(told, x_tensor, array.shape)
  local largest, squares = into.largest, into.squares
  local step = count // MOST_ROWS | 1 -- odd, so that it divides no even length and visits varying places of sequences
  local function look_at_row(row)
    local x, sum = array.numbers(row * width, width), 0.0
    for j = 1, width do
      local v = x[j]
      local square = v * v
      sum, squares[j] = sum + square, squares[j] + square
    end
    for j = 1, needs_rows and width or 0 do largest[j] = math.max(largest[j], math.abs(x[j])) end
    if sum ~= sum or sum == math.huge then
      faults.raise("format", "calibrate: %s has NaN or infinity, or numbers too large to square, in row %d",
        x_tensor.name, row)
    end
    if sum > 0 then
      into.count = into.count + 1
      if needs_rows and row % step == 0 then into.rows[#into.rows + 1] = x end
    end
  end
  for row = 0, count - 1 do
    if not (out and out[row * width // out.inner]) then look_at_row(row) end
  end
end

-- Adds the activations of a run, which has written them to a folder, to all groups'. watch(part): is called
-- with the part that is done.
local function add_run(groups, member_of, folder, entry, told, watch)
  for i, group in ipairs(groups) do
    watch((i - 1) / #groups)
    for _, input in ipairs(group.inputs) do
      look_at(("%s/%s.npy"):format(folder, member_of[input.x.name]), entry.graph.tensors[input.x.name], told,
        group.activations)
    end
  end
end

-- Gives each group its activations: { largest, squares = one per channel, rows = some of them, count }. squares are
-- sums until `finish`.
local function begin(groups)
  for _, group in ipairs(groups) do
    group.activations = { largest = {}, squares = {}, rows = {}, count = 0, weighs = group.weighs }
    for j = 1, group.width do group.activations.largest[j], group.activations.squares[j] = 0.0, 0.0 end
  end
end

local function finish(groups)
  local most_rows = 0
  for _, group in ipairs(groups) do
    local of = group.activations
    for j = 1, group.width do of.squares[j] = of.squares[j] / math.max(1, of.count) end
    most_rows = math.max(most_rows, of.count)
  end
  return most_rows
end

-- Returns mean squares as powers of two, relative to the median.
local function powers_of_squares(squares)
  local list, sorted = {}, {}
  for j, square in ipairs(squares) do
    list[j] = square > 0 and math.log(square, 2) or -math.huge
    sorted[j] = list[j]
  end
  table.sort(sorted)
  local median = sorted[(#sorted + 1) // 2]
  if median == -math.huge then median = 0 end
  for j, power in ipairs(list) do
    list[j] = math.floor(math.max(-factors.MOST, math.min(factors.MOST, power - median)) + 0.5)
  end
  return list
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

-- Adds the table of factors against outliers to lines. where: says which file has them.
local function add_factors(results, where, name, lines)
  local count = #common_words.filter(results, function(each) return each.found.strength end)
  common_words.append(lines, { ("%s: factors for %d of %d inputs of %s, %s"):format(name, count, #results,
    precision.with_factors, where), "",
    "| read by | channels | strength | largest factor | expected error, relative to none |", "|:--|--:|--:|--:|--:|" })
  for _, each in ipairs(results) do
    local found = each.found
    lines[#lines + 1] = ("| %s | %d | %s | %s | %s |"):format(short(each.group.products), each.group.width,
      found.strength and ("%.1f"):format(found.strength) or "-",
      found.strength and ("%d"):format(1 << common_words.most(found.powers)) or "-", ("%.2f"):format(found.error))
  end
end

local function add_importance(results, where, name, lines)
  local count = common_words.sum(results, function(each) return #each.group.products end)
  if #lines > 0 then lines[#lines + 1] = "" end
  common_words.append(lines, { ("%s: importance of the inputs of %d weights of 4 bits, %s"):format(name, count, where),
    "", "| read by | channels | rows | largest mean square, relative to the median |", "|:--|--:|--:|--:|" })
  for _, each in ipairs(results) do
    lines[#lines + 1] = ("| %s | %d | %d | 2^%d |"):format(short(each.group.products), each.group.width,
      each.group.activations.count, common_words.most(each.powers))
  end
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

-- Returns the command lines of the runs whose activations are taken, and, of a text that is read as a whole, the pieces
-- that measure the result.
local function runs_of(arguments, groups, state, folder, weights)
  if not arguments.text_file then return { samples.words(arguments, state.graph, folder, weights) } end
  local of_token = common_words.sum(groups, function(group) return group.width * #group.inputs end) -- activations
  local read, measured = pieces.cut(pieces.read(arguments.text_file), of_token, state.tokens)
  return common_words.map(read, function(piece) return { "run", "--weights", weights, "--text-string", piece } end),
    measured, measured == read
end

-- Finds the factors of a group, or the importance of its inputs. text: the packed weights.
local function result_of(group, text, entry)
  local readers, checksums = {}, {}
  for k, weight in ipairs(group.weights) do
    readers[k] = weights_of.reader(text, entry, weight.name)
    checksums[k] = weights_of.checksum(text, entry, weight.name)
  end
  if group.weighs then
    return { group = group, powers = powers_of_squares(group.activations.squares), checksums = checksums }
  end
  local found = search.best(group.activations, readers)
  if found.error > 1 - LEAST_GAIN then found = { powers = found.powers, error = 1 } end
  return { group = group, found = found, powers = found.strength and found.powers, checksums = checksums }
end

local function verify_arguments(arguments, weights)
  local count = #arguments.input + #arguments.text
  if arguments.text_file and count > 0 then
    faults.raise("usage", "--text-file: does not go with --input and --text")
  end
  if arguments.text_file and not arguments.writes then
    faults.raise("usage", "--text-file: is for models that write; --text takes a file of texts, one a line")
  end
  if count == 0 and not arguments.text_file then
    faults.raise("usage", "calibrate: --input NAME=FILE.npy or --text is needed: factors come from activations")
  end
  if not weights then faults.raise("usage", "calibrate: --weights is needed") end
  if arguments.output == "" then faults.raise("usage", "-o: the name is empty; a file is needed") end
  if arguments.text_file then pieces.read(arguments.text_file) end
end

-- Runs the variant on all inputs. Returns the packed weights, or nil and an exit code. add(told, i): takes the i-th
-- run's activations.
local function measure(groups, runs, outputs, told_of, program, weights, folder, add, run)
  local packed = folder .. "/packed.weights"
  local code = run(program, { "pack", "--weights", weights, "-o", packed })
  begin(groups)
  for i, words in ipairs(code == 0 and runs or {}) do
    if code == 0 then code = run(program, samples.with_outputs(words, outputs)) end
    if code == 0 then add(told_of(words), i) end
  end
  if code ~= 0 then return nil, code end
  return weights_of.open(packed)
end

-- Returns the results, in tables. where: says which file has them.
local function tables_of(results, where, name)
  local of_factors, of_importance, lines = {}, {}, {}
  for _, each in ipairs(results) do table.insert(each.group.weighs and of_importance or of_factors, each) end
  if #of_factors > 0 then add_factors(of_factors, where, name, lines) end
  if #of_importance > 0 then add_importance(of_importance, where, name, lines) end
  return lines
end

--- Runs the variant, searches factors, and writes them unless the model is farther from f32 with them. Returns a table
--- as text, or nil, and an exit code. arguments: overrides, input, text, text_file, writes as in quality.measure,
--- output, description; weights: a checkpoint; tools: { graph() -> the entries after the pass graph; build(overrides,
--- with_text, exposed, factors) -> program, state; run(program, words) -> code; gather(program, words) -> code,
--- output }.
function calibrate.run(arguments, weights, tools)
  verify_arguments(arguments, weights)
  local path = companion.place(arguments.output, arguments.description, arguments.name, "factors")
  local groups, names, known = groups_of(tools.graph()), {}, {}
  for _, group in ipairs(groups) do
    for _, input in ipairs(group.inputs) do
      if not known[input.x.name] then names[#names + 1] = input.x.name end
      known[input.x.name] = true
    end
  end
  local with_text = #arguments.text > 0 or arguments.text_file ~= nil
  local program, state = tools.build(samples.in_f32(arguments.overrides, true), with_text, names)
  local folder <close> = scratch.make(program:match("^(.*)/[^/]*$"), "calibrate")
  arguments = samples.from_file(arguments, folder.path)
  local bar <close> = progress.start()
  local entry, member_of, outputs = entry_in_use(state), {}, {}
  for _, each in ipairs(entry.graph.exposed) do
    member_of[each.name] = each.member
    outputs[#outputs + 1] = { member = each.member, path = ("%s/%s.npy"):format(folder.path, each.member) }
  end
  local runs, measured, is_own = runs_of(arguments, groups, { graph = entry.graph, tokens = state.spec.seq },
    folder.path, weights)
  local text, code = measure(groups, runs, outputs, function(words) return padding.of(words, state.spec) end, program,
    weights, folder.path, function(told, i)
      add_run(groups, member_of, folder.path, entry, told, function(part)
        bar:show((i - 1 + part) / #runs, ("reading activations: run %d of %d"):format(i, #runs))
      end)
      bar:hide() -- the next run has its own
    end, tools.run)
  if not text then return nil, code end
  bar:restart()
  local most_rows, results, list = finish(groups), {}, {}
  for i, group in ipairs(groups) do
    bar:show((i - 1) / #groups, "searching factors: " .. group.products[1])
    local each = result_of(group, text, entry)
    results[i] = each
    if each.powers then
      list[#list + 1] = { products = group.products, checksums = each.checksums, powers = each.powers,
        weighs = group.weighs }
    end
  end
  bar:hide()
  local draft = folder.path .. "/draft.factors"
  files.write(draft, factors.text(list))
  if most_rows < FEW_ROWS then
    io.stderr:write(("attn2c: calibrate: %d rows of activations are few, and the factors fit only these: give a few "
      .. "hundred\n"):format(most_rows))
  end
  local said, worse
  if measured then
    local programs = { without = tools.build(arguments.overrides, true, nil, "none"),
      with = tools.build(arguments.overrides, true, nil, draft) }
    said, worse = gain.line(measured, is_own, programs, weights, folder.path, tools.gather)
  else
    said, worse = gain.outputs(arguments, draft, weights, tools)
  end
  if not said then return nil, worse end
  if not worse then files.write(path, factors.text(list)) end
  local lines = tables_of(results, worse and "which no file has" or "in " .. terminal.safe(path), state.spec.name)
  common_words.append(lines, { "", said, "", worse and ("not written: %s, because the model is worse with it"):format(
    terminal.safe(path)) or companion.next(arguments, "factors", path) })
  return table.concat(lines, "\n") .. "\n", worse and faults.code.mismatch or 0
end

return calibrate
