-- quality.lua: is the command `quality`, which compares a model's outputs with those in f32.
-- Both models are built and run on the same inputs, and the arrays that they write are compared. It also compares
-- intermediate tensors, and, with labels, the accuracy of both.
local arrays = require("commands.quality.arrays")
local common_words = require("common.words")
local companion = require("commands.companion")
local cost = require("commands.quality.cost")
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local importance = require("passes.graph.importance")
local language = require("commands.quality.language")
local neighbours = require("commands.quality.neighbours")
local padding = require("commands.quality.padding")
local precision = require("data.precision")
local progress = require("common.progress")
local samples = require("commands.quality.samples")
local scale_blocks = require("data.scale_blocks")
local scratch = require("common.scratch")
local sizes = require("passes.sizes")
local terminal = require("common.terminal")
local verdict = require("commands.quality.verdict")

local quality = {}

local WORST = 5               -- intermediate tensors that are listed
local MOST_NUMBERS = 1 << 22  -- numbers of all intermediate tensors: they are compared on the first sequences only

-- Returns the target of a list that a program uses here, or nil if it has one target. gather: of quality.run.
local function in_use(program, gather)
  local _, text = gather(program, { "info", "--json" })
  local value = dkjson.decode(text)
  return type(value) == "table" and value.in_use or nil
end

local function labels_of_lines(text, path, names)
  local number_of, list = {}, {}
  for i, name in ipairs(names or {}) do number_of[name] = i - 1 end
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
    local word = line:match("^%s*(.-)%s*$")
    local label = number_of[word] or word:match("^-?%d+$") and math.tointeger(tonumber(word))
    if not label then
      faults.raise("format", "--labels: %s: line %d: %s is not an integer%s", path, #list + 1, faults.quote(word),
        names and " nor a label of the model" or "")
    end
    list[#list + 1] = label
  end
  return list
end

--- Returns a file's labels: integers of an .npy file or one per line, or words of the description. Faults: io, format.
function quality.labels(path, names)
  local text = files.read_asked(path, "--labels: ")
  local list, wrong
  if text:sub(1, 6) == "\x93NUMPY" then
    local array
    array, wrong = arrays.integers(text)
    if not array then faults.raise("format", "--labels: %s: %s", path, wrong) end
    list = array.values
  else
    list = labels_of_lines(text, path, names)
  end
  for _, label in ipairs(list) do if label >= 0 then return list end end
  faults.raise("format", "--labels: %s: all labels are below 0, and rows with such labels do not count", path)
end

local function path_of(folder, which, member) return ("%s/%s_%s.npy"):format(folder, which, member) end

-- Runs both programs on the words. outputs_of(which): the outputs of "f32" or "other", as samples.with_outputs takes
-- them. Returns nil and the exit code if a run's is not 0.
local function run_both(programs, words, outputs_of, run)
  for _, which in ipairs { "f32", "other" } do
    local code = run(programs[which], samples.with_outputs(words, outputs_of(which)))
    if code ~= 0 then return nil, code end
  end
  return true
end

-- True if a tensor is an intermediate one that was made an output (passes/graph/exposed.lua).
local function is_exposed(tensor) return tensor.member:find("^exposed_") ~= nil end

-- Returns the intermediate tensors that both models have: the name, and each model's name for the output.
local function tensors_within(plain, asked)
  local member_of, list = {}, {}
  for _, each in ipairs(asked.exposed) do member_of[each.name] = each.member end
  for _, each in ipairs(plain.exposed) do
    local other = member_of[each.name]
    if other and is_exposed(plain.tensors[each.name]) then
      list[#list + 1] = { name = each.name, f32 = each.member, other = other }
    end
  end
  return list
end

-- Returns the intermediate tensors that are farthest from f32, the worst first: { { name, relative } }.
local function worst_within(programs, graphs, spec, arguments, weights, folder, run)
  local list, numbers = tensors_within(graphs.f32, graphs.other), 0
  for _, each in ipairs(list) do
    local shape = graphs.f32.tensors[each.name].shape
    numbers = numbers + common_words.elements(shape) // shape[1]
  end
  if #list == 0 then return {} end
  local given = arguments
  if #arguments.input + #arguments.text > 0 then
    given = samples.first(arguments, graphs.f32, folder, math.max(1, MOST_NUMBERS // numbers))
  end
  local words = samples.words(given, graphs.f32, folder, weights)
  local ok, code = run_both(programs, words, function(which)
    return common_words.map(list, function(each, i)
      return { member = each[which], path = path_of(folder, which, "within_" .. i) }
    end)
  end, run)
  if not ok then return nil, code end
  local told = padding.of(words, spec)
  local bar <close> = progress.start()
  for i, each in ipairs(list) do
    each.place = i
    bar:show((i - 1) / #list, "comparing tensors")
    each.relative = arrays.relative(path_of(folder, "f32", "within_" .. i), path_of(folder, "other", "within_" .. i),
      function(shape) return padding.parts(told, graphs.f32.tensors[each.name], shape) end)
  end
  table.sort(list, function(a, b)
    if a.relative ~= b.relative then return a.relative > b.relative end
    return a.place < b.place
  end)
  local worst = {}
  for i = 1, math.min(WORST, #list) do worst[i] = { name = list[i].name, relative = list[i].relative } end
  return worst
end

-- Removes `top` from all rows if an output in f32 has no finite number. Integers from NaN are equal in both.
local function without_numbers(rows)
  local is_empty = false
  for _, row in ipairs(rows) do is_empty = is_empty or row.is_empty end
  for _, row in ipairs(is_empty and rows or {}) do row.top = nil end
end

-- Operations whose results are scores, of which the largest is an answer.
local makes_scores = common_words.set { "linear", "linear_integers", "dequantise", "softmax_rows", "log_softmax",
  "topk_values" }

-- Returns the kind of an output: "scores"; "embedding", one vector per sequence; or "states", which are not an answer.
local function kind_of(graph, tensor)
  local made
  for _, op in ipairs(graph.entry.ops) do if op.result == tensor then made = op end end
  while made and (made.op == "copy" or made.op == "swap") do
    local source = made.operands.x
    made = nil
    for _, op in ipairs(graph.entry.ops) do if op.result == source then made = op end end
  end
  local is_vector = #tensor.shape == 2 and tensor.shape[2] > 1
  if is_vector and tensor.member:find("embed") then return "embedding" end
  if made and makes_scores[made.op] then return "scores" end
  if made and made.op == "activate" and made.attributes["function"] == "sigmoid" then return "scores" end
  return is_vector and "embedding" or "states"
end

-- Compares all outputs of both, without padding. Returns the rows of quality.measure.
local function compare(graph, plain, labels, folder, told)
  local rows, has_accuracy, beyond, fits = {}, false, nil, false
  for _, name in ipairs(graph.entry.outputs) do
    local member = graph.tensors[name].member
    if not is_exposed(graph.tensors[name]) then
      local f32, other = arrays.read(path_of(folder, "f32", member)), arrays.read(path_of(folder, "other", member))
      local out = padding.parts(told, graph.tensors[name], f32.shape)
      local row = arrays.compare(f32, other, out)
      row.name, row.shape = member, f32.shape
      row.is_empty = not f32.integers and #f32.values > 0 and row.largest == nil
      local kind = f32.integers and "integers" or kind_of(plain, plain.tensors[name])
      if kind == "embedding" or kind == "states" then row.top = nil end
      if kind == "embedding" then row.neighbours = neighbours.compare(f32, other) end
      if labels then
        local odd
        row.accuracy, odd = arrays.accuracy(other, labels, out)
        row.accuracy_f32 = arrays.accuracy(f32, labels, out)
        has_accuracy = has_accuracy or row.accuracy ~= nil
        fits = fits or row.accuracy ~= nil and not f32.integers
        beyond = beyond or odd and ("--labels: label %d, but %s has scores for 0 to %d"):format(odd, member,
          f32.shape[#f32.shape] - 1)
      end
      rows[#rows + 1] = row
    end
  end
  without_numbers(rows)
  if beyond and not fits then faults.raise("format", beyond) end
  if labels and not has_accuracy then
    faults.raise("format", "--labels: %d labels, but no output has the same number of rows of scores or of labels",
      #labels)
  end
  return rows
end

-- True if `calibrate` may bring a model without its results closer to f32.
local function can_calibrate(spec, graph)
  return graph.smoothing == nil and (precision.takes_factors(spec.precision) or #importance.groups(graph.entry) > 0)
end

-- Compares two variants of a model that writes on a text. Returns what quality.measure returns, and `language`, the
-- result of language.measure.
local function measure_language(arguments, weights, programs, state, has_text)
  if arguments.labels then faults.raise("usage", "--labels: a model that writes has no labels") end
  if #arguments.text > 0 then
    faults.raise("usage", "--text: a model that writes is compared on one text, as a whole: --text-file F")
  end
  local folder <close> = scratch.make(programs.other:match("^(.*)/[^/]*$"), "quality")
  local graph = state.primary.graph
  local made, found, code
  if state.spec.source then
    found, code = language.sources(programs, weights, arguments, state.spec.processes)
  else
    made, code = language.measure(programs, weights, arguments, folder.path, has_text, state.spec.processes)
  end
  if not (made or found) then return nil, code end
  local last = graph.tensors[graph.entry.outputs[#graph.entry.outputs]]
  local numbers = scale_blocks.text_of(state.spec.precision, state.spec.weights)
  local rows = made and made.predicted or found.sources
  return { name = state.spec.name, precision = numbers .. (state.spec.cache and "; cache " .. state.spec.cache or ""),
    target = state.spec.target, programs = programs, language = made, sources = found, rows = rows,
    can_calibrate = made and can_calibrate(state.spec, graph),
    outputs = { { name = last.member, shape = { rows, last.shape[#last.shape] }, cosine = made and made.cosine,
      relative = made and made.relative, top = made and made.equal_greedy or found and found.equal } } }
end

--- Returns the number of rows of the output that has the fewest: { shape, neighbours }. A number of an output with one
--- for each sequence, such as a label, is a row.
function quality.fewest_rows(outputs)
  local rows = math.huge
  for _, row in ipairs(outputs) do
    local width = #row.shape > 1 and row.shape[#row.shape] or 1
    rows = math.min(rows, row.neighbours and row.neighbours.rows or common_words.elements(row.shape) // width)
  end
  return rows
end

local function check_weights(weights)
  if weights then return end
  faults.raise("usage", "quality: --weights is needed: with random weights the numbers mean nothing")
end

-- Refuses a model that writes about something else than texts.
local function check_source(spec)
  local encoder = spec.source and spec.memory.encoder
  if encoder and encoder.input.stage ~= "tokens" then
    faults.raise("usage", "quality: a model that writes is compared on texts, and this one writes about %s",
      encoder.input.stage == "image" and "pictures" or "sounds")
  end
end

--- Builds and runs both models. Returns { name, precision, target, outputs = { { name, shape, cosine, relative, top,
--- largest, accuracy, accuracy_f32 } }, within = { { name, relative } } }, with numbers as arrays.compare returns them,
--- or nil and the exit code of a run whose code is not 0.
--- arguments: overrides; input, a list of "NAME=FILE.npy"; text, a list of texts; text_option, by which a program takes
--- a text (default: --text); labels, a file; within, true if intermediate tensors are compared. build(list, with_text,
--- exposed, plain) returns the program of a variant and the pipeline's state; plain is "f32" for the variant in f32,
--- which takes no factors; writes: true if the model writes.
--- run(path, words) returns the exit code.
function quality.measure(arguments, weights, build, run)
  check_weights(weights)
  local with_text, exposed = #arguments.text > 0, arguments.within or nil
  local writes = arguments.writes
  if writes then with_text, exposed = #arguments.input == 0, nil end
  local asked, state = build(arguments.overrides, with_text, exposed)
  if writes then check_source(state.spec) end
  local cache = state.spec.cache
  if precision.is_plain(state.spec.precision) and not state.spec.weights and not precision.cache_bits(cache) then
    faults.raise("usage",
      "quality: all is f32; name a type to compare with it: precision=bf16, or weights=" .. scale_blocks.words[1])
  end
  if arguments.text_file and not writes then
    faults.raise("usage", "--text-file: is for models that write; --text takes a file of texts, one a line")
  end
  local labels = arguments.labels and not writes and quality.labels(arguments.labels, state.spec.labels)
  local in_f32 = samples.in_f32(arguments.overrides, state.spec.weights ~= nil, cache ~= nil)
  local plain, plain_state = build(in_f32, with_text, exposed, "f32")
  if writes then
    return measure_language(arguments, weights, { f32 = plain, other = asked }, state, state.spec.tokenizer ~= nil)
  end
  local folder <close> = scratch.make(asked:match("^(.*)/[^/]*$"), "quality")
  arguments = samples.from_file(arguments, folder.path)
  local programs = { f32 = plain, other = asked }
  local graphs = { f32 = plain_state.primary.graph, other = state.primary.graph }
  local members = {}
  for _, name in ipairs(graphs.other.entry.outputs) do
    local tensor = graphs.other.tensors[name]
    if not is_exposed(tensor) then members[#members + 1] = tensor.member end
  end
  local words = samples.words(arguments, graphs.other, folder.path, weights)
  local ok, code = run_both(programs, words, function(which)
    return common_words.map(members, function(member)
      return { member = member, path = path_of(folder.path, which, member) }
    end)
  end, run)
  if not ok then return nil, code end
  local outputs, within = compare(graphs.other, graphs.f32, labels, folder.path, padding.of(words, state.spec)), nil
  if arguments.within then
    within, code = worst_within(programs, graphs, state.spec, arguments, weights, folder.path, run)
    if not within then return nil, code end
  end
  return { name = state.spec.name, precision = scale_blocks.text_of(state.spec.precision, state.spec.weights),
    target = state.spec.target, outputs = outputs, within = within, programs = programs,
    rows = quality.fewest_rows(outputs), can_calibrate = can_calibrate(state.spec, graphs.other) }
end

local function number(format, value) return value and format:format(value) or "-" end
local function percent(value) return number("%.1f%%", value and 100 * value) end

-- Adds the table of embeddings to the lines.
local function add_neighbours(measured, add)
  local has_head = false
  for _, row in ipairs(measured.outputs) do
    local n = row.neighbours
    if n and not has_head then
      add("")
      add("| embedding | rows | same nearest row | nearest rows that stay | correlation of similarities |")
      add("|:--|--:|--:|--:|--:|")
      has_head = true
    end
    if n then
      add("| %s | %d | %s | %s of %d | %s |", terminal.safe(row.name), n.rows, percent(n.nearest), percent(n.kept),
        n.near, number("%.6f", n.correlation))
    end
  end
end

-- Adds the table of a text's prediction to the lines.
local function add_language(measured, add)
  local of = measured.language
  if not of then return end
  add("")
  add("| %d tokens of %s | %s | f32 |", of.predicted, of.is_own_text and "the model's own" or "the text",
    measured.precision)
  add("|:--|--:|--:|")
  add("| perplexity | %.4f | %.4f |", of.perplexity, of.perplexity_f32)
  add("| more perplexity, and its standard error | %+.3f%%, %.3f%% | - |",
    100 * (of.perplexity / of.perplexity_f32 - 1), 100 * of.growth_error)
  add("| KL divergence from f32, mean | %.3e | 0 |", of.kl_mean)
  add("| KL divergence from f32, 99th percentile | %.3e | 0 |", of.kl_p99)
  add("| equal greedy tokens | %s | 100%% |", percent(of.equal_greedy))
end

-- Adds the table of answers to sources to the lines.
local function add_sources(measured, add)
  local of = measured.sources
  if not of then return end
  add("")
  add("| answers to %d sources | %s | f32 |", of.sources, measured.precision)
  add("|:--|--:|--:|")
  add("| equal answers | %s | 100%% |", percent(of.same))
  add("| equal tokens, up to the first other one | %s | 100%% |", percent(of.equal))
  add("| log-probability of an answer, mean | %.4f | %.4f |", of.log_probability, of.log_probability_f32)
  add("| difference of log-probabilities, mean | %.3e | 0 |", of.difference)
end

local function tables_of(measured)
  local lines, has_accuracy = {}, false
  for _, row in ipairs(measured.outputs) do has_accuracy = has_accuracy or row.accuracy ~= nil end
  local function add(format, ...) lines[#lines + 1] = format:format(...) end
  add("%s: precision %s against f32, for %s", measured.name, measured.precision, measured.target)
  add("")
  add("| output | shape | cosine | relative error | equal top-1 | largest difference |%s",
    has_accuracy and " accuracy | in f32 |" or "")
  add("|:--|:--|--:|--:|--:|--:|%s", has_accuracy and "--:|--:|" or "")
  for _, row in ipairs(measured.outputs) do
    add("| %s | %s | %s | %s | %s | %s |%s", terminal.safe(row.name), table.concat(row.shape, "x"),
      number("%.6f", row.cosine), number("%.2e", row.relative), percent(row.top), number("%.3g", row.largest),
      has_accuracy and (" %s | %s |"):format(percent(row.accuracy), percent(row.accuracy_f32)) or "")
  end
  add_neighbours(measured, add)
  add_language(measured, add)
  add_sources(measured, add)
  if measured.cost then
    local c = measured.cost
    add("")
    add("| a call of %s | %s | f32 |", terminal.safe(c.entry), measured.precision)
    add("|:--|--:|--:|")
    add("| milliseconds, least of several | %.3f | %.3f |", c.ms, c.ms_f32)
    add("| packed weights, MB | %.2f | %.2f |", c.weight_bytes / 1e6, c.weight_bytes_f32 / 1e6)
    add("| arena, MB | %.2f | %.2f |", c.arena_bytes / 1e6, c.arena_bytes_f32 / 1e6)
    if c.state_bytes then add("| state, MB | %.2f | %.2f |", c.state_bytes / 1e6, c.state_bytes_f32 / 1e6) end
    if c.disturbed then add("\n%s", c.disturbed) end
  end
  if #(measured.within or {}) > 0 then
    add("")
    add("| worst intermediate tensors | relative error |")
    add("|:--|--:|")
    for _, each in ipairs(measured.within) do
      add("| %s | %s |", terminal.safe(each.name), ("%.2e"):format(each.relative))
    end
  end
  add("")
  add("verdict: %s", terminal.safe(measured.verdict))
  return table.concat(lines, "\n") .. "\n"
end

local KEYS = { "name", "precision", "target", "outputs", "within", "shape", "cosine", "relative_error", "equal_top_1",
  "largest_difference", "neighbours", "rows", "same_nearest", "near", "kept", "correlation", "accuracy", "accuracy_f32",
  "sources", "same", "equal", "log_probability", "log_probability_f32", "difference", "language", "predicted",
  "perplexity", "perplexity_f32", "growth_error", "kl_mean", "kl_p99", "equal_greedy", "cost", "verdict" }

-- Returns the measured numbers as JSON, which has null for those that it cannot write.
local function json_of(measured)
  local null = dkjson.null
  local result = { name = measured.name, precision = measured.precision, target = measured.target, outputs = {},
    cost = measured.cost, verdict = measured.verdict,
    language = measured.language and { predicted = measured.language.predicted,
      perplexity = measured.language.perplexity, perplexity_f32 = measured.language.perplexity_f32,
      growth_error = measured.language.growth_error, kl_mean = measured.language.kl_mean,
      kl_p99 = measured.language.kl_p99, equal_greedy = measured.language.equal_greedy },
    sources = measured.sources, within = json.array {} }
  for i, row in ipairs(measured.outputs) do
    result.outputs[i] = { name = row.name, shape = row.shape, cosine = row.cosine or null,
      relative_error = row.relative or null, equal_top_1 = row.top or null, largest_difference = row.largest or null,
      neighbours = row.neighbours and { rows = row.neighbours.rows, same_nearest = row.neighbours.nearest,
        near = row.neighbours.near, kept = row.neighbours.kept, correlation = row.neighbours.correlation or null },
      accuracy = row.accuracy, accuracy_f32 = row.accuracy_f32 }
  end
  for i, each in ipairs(measured.within or {}) do
    result.within[i] = { name = each.name, relative_error = each.relative }
  end
  return dkjson.encode(result, { indent = true, keyorder = KEYS }) .. "\n"
end

--- Measures the divergence from f32 of a model with one part of its weights in a few bits, part by part, and writes the
--- file by which the pass `sizes` chooses types. Returns what to print, or nil and an exit code. arguments: as of
--- quality.measure, and output: the path to write.
function quality.by_part(arguments, weights, build)
  if not arguments.writes then faults.raise("usage", "--by-part: is for models that write") end
  check_weights(weights)
  local plain = samples.in_f32(arguments.overrides, true, false)
  local with_text = #arguments.input == 0
  local f32, state = build(plain, with_text, nil, "f32")
  local list = {}
  local folder <close> = scratch.make(f32:match("^(.*)/[^/]*$"), "quality")
  for i, name in ipairs(sizes.parts(state.spec)) do
    local of_part = ('weights={"none",["%s"]="%s"}'):format(name, sizes.MEASURED.weights)
    local overrides = common_words.map(plain, function(each) return each == "weights=none" and of_part or each end)
    local program = build(overrides, with_text)
    local own <close> = scratch.make(folder.path, tostring(i))
    local found, code = language.measure({ f32 = f32, other = program }, weights, arguments, own.path,
      state.spec.tokenizer ~= nil)
    if not found then return nil, code end
    list[i] = { name = name, divergence = found.kl_mean }
  end
  files.write(arguments.output, sizes.text(list))
  local sized = common_words.merged(arguments, { overrides = common_words.append({}, arguments.overrides,
    { 'weights={size="N MB"}' }) })
  return ("%s%s\n"):format(sizes.text(list), companion.next(sized, "parts", arguments.output))
end

--- Returns the result of quality.measure with the cost of both and a verdict, as tables, or as JSON if arguments.json.
--- Returns nil and the exit code if a run's is not 0. gather(program, words): the program's exit code and output.
function quality.run(arguments, weights, build, run, gather)
  if arguments.by_part then return quality.by_part(arguments, weights, build) end
  arguments.within = true
  local measured, code = quality.measure(arguments, weights, build, run)
  if not measured then return nil, code end
  measured.target = in_use(measured.programs.other, gather) or measured.target
  measured.cost = not arguments.untimed and cost.measure(measured.programs, weights, gather) or nil
  measured.verdict = verdict.line(measured)
  return (arguments.json and json_of or tables_of)(measured)
end

return quality
