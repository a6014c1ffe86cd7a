-- report.lua: is the command `report`, which builds, checks and times models, and writes a page about them.
-- The folder report/ draws the page. This file runs the programs and reads their output.
local batches = require("commands.report.batch")
local comparison = require("report.comparison")
local document = require("report.document")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local lfs = require("lfs")
local maps = require("commands.report.maps")
local overrides = require("commands.overrides")
local page = require("report.page")
local paths = require("checkpoints.paths")
local precision = require("data.precision")
local quality = require("commands.quality")
local ranks = require("report.ranks")
local terminal = require("common.terminal")
local toolchain = require("commands.build.toolchain")
local tuning = require("passes.common.tuning")
local version = require("common.version")
local words = require("common.words")
local work = require("report.work")

local report = {}

local MOST_SUBJECTS = 8 -- programs on one page
local MOST_ROWS = 64    -- objects of files of bench on one page

--- Takes further descriptions out of the words after the first. They are the words that are not KEY=VALUE, and paths
--- that begin with a dot or a slash.
function report.sort_words(arguments)
  local more, list = {}, {}
  for _, word in ipairs(arguments.overrides) do
    if word:find("=", 1, true) and not word:match("^%.*/") then
      list[#list + 1] = word
    else
      more[#more + 1] = (word:gsub("(.)/+$", "%1"))
    end
  end
  arguments.overrides, arguments.others = list, more
end

-- Returns the value of a program's output. Null members are left out, as pictures test if there is a number.
local function decoded(text, what)
  local value, wrong = json.decode(text)
  return value or faults.raise("machine", "%s printed text that is not JSON: %s", what, wrong)
end

-- Returns the objects of a program's output, one per line, by entry.
local function by_entry(text, what)
  local of = {}
  for line in text:gmatch("[^\n]+") do
    local object = decoded(line, what)
    of[object.entry] = object
  end
  return of
end

-- Returns the label of a subject: the values that vary, or the description's file.
local function label_of(path, varied, several)
  local parts = {}
  if several then parts[1] = path:match("([^/]*)$"):gsub("%.lua$", "") end
  for _, each in ipairs(varied) do parts[#parts + 1] = each.key .. "=" .. each.value end
  return table.concat(parts, " ")
end

local function family_of(state)
  local spec = state.spec
  local names = state.description.names
  if type(names) == "table" then names = names[1] end
  local parts = { state.checkpoint and type(names) == "string" and names .. ", from a checkpoint folder" or nil }
  parts[#parts + 1] = spec.norm == "none" and "no norm" or spec.norm .. "-norm"
  parts[#parts + 1] = spec.activation
  parts[#parts + 1] = "positions " .. tostring(spec.positions)
  local kinds = {}
  for key, value in pairs(type(spec.mask) == "table" and spec.mask or {}) do
    if value == true then kinds[#kinds + 1] = key end
    if type(key) == "number" then kinds[#kinds + 1] = tostring(value) end
  end
  table.sort(kinds)
  parts[#parts + 1] = #kinds > 0 and "mask " .. table.concat(kinds, ", ") or "no mask"
  return table.concat(parts, ", ")
end

-- Returns the files of a variant's folder with their sizes, { name, bytes }, and the bytes of emitted C.
local function files_of(folder, state)
  local list, emitted = {}, 0
  for _, file in ipairs(state.files) do
    list[#list + 1] = { name = file.name, bytes = #file.text }
    if file.name:match("%.[ch]$") then emitted = emitted + #file.text end
  end
  local program = lfs.attributes(folder .. "/" .. state.spec.name, "size")
  list[#list + 1] = { name = state.spec.name, bytes = program }
  table.sort(list, function(a, b) return a.name < b.name end)
  return list, emitted, program
end

-- The options of each command that repeats a part of a page. `report` repeats the whole.
local options_of = {
  report = { "tuning", "factors", "weights", "seed", "input", "text", "audio", "attention", "scale", "repetitions",
    "output" },
  check = { "tuning", "factors", "weights", "seed", "input", "entry" },
  bench = { "tuning", "factors", "weights", "repetitions" },
  quality = { "tuning", "factors", "weights", "input", "text" },
}

-- Environment variables that a build and a run depend on (README.md of this folder, "Environment and cache").
local environment = { "CC", "CROSS", "ATTN2C_CFLAGS", "ATTN2C_LDFLAGS", "ATTN2C_MPI", "ATTN2C_MPIRUN", "ATTN2C_TARGET" }

-- Returns a command line as a list of quoted words. It has the words of `list` and this command's options.
local function line_of(name, list, arguments, more)
  local parts = {}
  local function add(word) parts[#parts + 1] = words.shell(word) end
  for _, variable in ipairs(environment) do
    local text = os.getenv(variable) or ""
    if text ~= "" then parts[#parts + 1] = variable .. "=" .. words.shell(text) end
  end
  add("attn2c")
  add(name)
  for _, word in ipairs(list) do add(word) end
  for _, option in ipairs(options_of[name]) do
    local given = arguments[option]
    for _, text in ipairs(type(given) == "table" and given or { given }) do add(("--%s=%s"):format(option, text)) end
  end
  for _, word in ipairs(more or {}) do add(word) end
  return parts
end

local function page_command(arguments)
  local list = { arguments.description, table.unpack(arguments.others) }
  return line_of("report", words.append(list, arguments.overrides), arguments)
end

-- Returns the options with which a page's bench runs. A page about a model of any length is about its longest sequence;
-- its products have no bound.
local function bench_options(state)
  local spec = state.spec
  local tokens = spec.symbols.tokens
  return tokens.is_open and { "--profile", "--length", ("%d"):format(tokens.most) } or { "--profile", "--bound" }
end

-- Returns the name of an entry in bench's output, where a prompt is the longest call of one that continues.
local function bench_name(entry)
  local symbols = entry.spec.symbols
  if not symbols.rows.is_open then return entry.name end
  return ("%s (%d tokens)"):format(symbols.past.is_open and "prefill" or entry.name, entry.spec.seq)
end

-- Returns the commands that print the numbers of a variant. checked: the inputs of its check (batches.of).
local function variant_commands(arguments, variant, state, checked, has_quality)
  local list = { variant.path, table.unpack(variant.overrides) }
  local lines = { line_of("check", list, words.merged(arguments, checked)),
    line_of("bench", list, arguments, bench_options(state)) }
  if has_quality then lines[3] = line_of("quality", list, arguments) end
  return lines
end

local function versions()
  return { { name = "attn2c", version = version.generator }, { name = "compiler", version = toolchain.new().version },
    { name = "Lua", version = _VERSION:match("%S+$") }, { name = "processor", version = tuning.machine() } }
end

-- Returns the weights of a variant: the given ones, or its own if it is a checkpoint; nil: random ones.
local function weights_of(arguments, path) return arguments.weights or paths.is_checkpoint(path) and path or nil end

-- Runs a program. Returns its output and its exit code, which must be one of the expected codes. Faults: the program's.
local function output_of(tools, path, list, expected)
  local code, output = tools.run(path, list, "output")
  if code ~= 0 and code ~= expected then faults.pass_on(path, code) end
  return output, code
end

-- Writes the programs' output next to them, as info.json, check.json and bench.json.
local function keep(folder, printed)
  local list = {}
  for _, name in ipairs { "info", "check", "bench" } do
    if printed[name] ~= "" then list[#list + 1] = { name = name .. ".json", text = printed[name] } end
  end
  files.write_all(folder, list)
end

-- Runs info, check and bench of a built program. Returns { info, checks, benches }, the last two by entry. A program
-- that differs from the reference is not timed and has no benches. checked: the inputs of the check (batches.of).
local function measure(arguments, tools, program, path, state, checked)
  local weights, printed = weights_of(arguments, path), {}
  local own = weights and { "--weights", weights } or {}
  printed.info = output_of(tools, program, { "info", "--json" })
  local check_words = words.append({ "check", "--json" }, own)
  for _, each in ipairs(checked.input) do words.append(check_words, { "--input", each }) end
  if arguments.seed then words.append(check_words, { "--seed", arguments.seed }) end
  printed.check = output_of(tools, program, check_words, faults.code.mismatch)
  local bench_words = words.append({ "bench", "-o", "json" }, bench_options(state), own)
  if arguments.repetitions then words.append(bench_words, { "-r", arguments.repetitions }) end
  local timed, code = output_of(tools, program, bench_words, faults.code.mismatch)
  printed.bench = timed
  keep(program:match("^(.*)/[^/]*$"), printed)
  return { info = decoded(printed.info, program), checks = by_entry(printed.check, program),
    benches = code == 0 and by_entry(timed, program) or {} }
end

local function entry_of(list, name)
  for _, each in ipairs(list) do if each.name == name then return each end end
  return nil
end

-- Compares the outputs of a variant with those in f32. Returns nil in f32, or if its weights are random.
local function quality_of(root, arguments, tools, variant, state)
  local weights = weights_of(arguments, variant.path)
  if not weights or precision.is_plain(state.spec.precision) then return nil end
  local asked = { overrides = variant.overrides, input = arguments.input or {}, text = { arguments.text },
    text_option = "--text-string" }
  local program
  local measured, code = quality.measure(asked, weights, function(list, with_text, _, plain)
    return tools.build(root, words.merged(arguments, { description = variant.path,
      factors = plain and "none" or arguments.factors }), list, with_text)
  end, function(path, list)
    program = path
    return (tools.run(path, list, "output"))
  end)
  if not measured then faults.pass_on(program, code) end
  return measured
end

-- Refuses, before anything is built, options that a variant cannot follow.
local function verify(root, arguments, tools, variant)
  if not maps.wanted(arguments) then return end
  local state = tools.look(root, words.merged(arguments, { description = variant.path }), variant.overrides)
  if maps.possible(arguments, variant, state) then maps.verify(arguments, state) end
end

-- Builds, checks and times one variant, and adds a subject for each of its entries. The middle one is shown first.
local function add_subjects(all, root, arguments, tools, variant)
  local given = words.merged(arguments, { description = variant.path })
  local program, state = tools.build(root, given, variant.overrides, true)
  local looked = maps.wanted(arguments) and maps.possible(arguments, variant, state)
    and maps.make(root, arguments, tools, variant, state, program) or nil
  local checked = batches.of(arguments.input or {}, state, program:match("^(.*)/[^/]*$"))
  if checked.note then io.stderr:write("attn2c: ", checked.note, "\n") end
  local result = measure(arguments, tools, program, variant.path, state, checked)
  local against_f32 = quality_of(root, arguments, tools, variant, state)
  if looked then looked.number, looked.variants = variant.number, variant.count end
  if looked and arguments.attention then
    local name = result.info.name .. (variant.has_others and "_" .. variant.number or "")
    maps.write(root, looked, name, arguments.attention)
  end
  local common = { name = result.info.name, info = result.info, folder = program:match("^(.*)/[^/]*$"),
    family = family_of(state), notes = words.append({}, state.notes, { checked.note }), versions = variant.versions,
    is_timed = next(result.benches) ~= nil,
    commands = variant_commands(arguments, variant, state, checked, against_f32 ~= nil) }
  common.files, common.emitted_bytes, common.program_bytes = files_of(common.folder, state)
  local entries = state.spec.processes and state.builds[1].entries or state.entries -- of rank 0, as in a profile
  for i = #entries, 1, -1 do
    local entry = entries[i]
    local name, label = entry.name, variant.label
    local tokens = entry.spec.symbols.tokens
    local title = tokens.is_open and ("any length, %d tokens"):format(tokens.most)
    if title and #entries > 1 then title = ("%s, %s"):format(name, title) end
    if title then label = (label ~= "" and label .. " " or "") .. title end
    local check = result.checks[name]
    all[#all + 1] = words.merged(common, { label = label ~= "" and label or common.name, is_main = i == #entries,
      group = variant.number, choice = i,
      spec = entry.spec, state = entry, work = work.of(entry), entry_info = entry_of(result.info.entries, name),
      bench = result.benches[bench_name(entry)], check = check, worst = check and document.worst(check),
      maps = state.entries[i] == state.primary and looked or nil, quality = against_f32 })
  end
end

-- Adds subjects that have only the numbers of a file of bench -o json.
local function add_benches(all, path)
  local text = files.read_asked(path)
  local whole = json.decode(text, json.null)
  local list = whole and (json.kind(whole) == "array" and whole or { whole }) or nil
  if not list then
    list = {}
    for line in text:gmatch("[^\n]+") do
      local value, wrong = json.decode(line, json.null)
      if not value then faults.raise("format", "%s: %s", path, wrong) end
      list[#list + 1] = value
    end
  end
  if #list == 0 then faults.raise("format", "%s: has no object; a file of bench -o json is expected", path) end
  if #all + #list > MOST_ROWS then
    faults.raise("format", "%s: %d objects, but at most %d in all fit on a report", path, #list, MOST_ROWS)
  end
  for i, each in ipairs(list) do
    local bench = comparison.bench(each)
    if not bench then
      faults.raise("format", "%s: object %d is not from bench -o json: ms_median, flops, gflops and roof_gflops are "
        .. "expected", path, i)
    end
    local name = path:match("([^/]*)$"):gsub("%.json$", "")
    all[#all + 1] = { label = #list > 1 and ("%s %s"):format(name, bench.entry or i) or name, is_main = true,
      bench = bench }
  end
end

-- Returns the predictions of a file of bench --scale -o json.
local function predictions_of(path)
  return ranks.read(json.decode(files.read_asked(path))) or faults.raise("format",
    "%s: is not from bench --scale -o json: scale and predictions are expected", path)
end

local function variants_of(arguments)
  local given = { arguments.description, table.unpack(arguments.others) }
  local list, made_with = {}, nil
  for _, path in ipairs(given) do
    if not path:find("%.json$") then
      made_with = made_with or versions()
      for _, each in ipairs(overrides.combinations(arguments.overrides)) do
        list[#list + 1] = { path = path, overrides = each.overrides, versions = made_with,
          label = label_of(path, each.varied, #given > 1) }
      end
    else
      list[#list + 1] = { path = path, is_bench = true }
    end
  end
  for i, variant in ipairs(list) do variant.number, variant.has_others, variant.count = i, #list > 1, #list end
  if #list > MOST_SUBJECTS then
    faults.raise("usage", "%d variants, but at most %d fit on a report", #list, MOST_SUBJECTS)
  end
  return list
end

-- Adds a number to the second and later of equal labels.
local function tell_apart(all)
  local count = {}
  for _, subject in ipairs(all) do
    local label = subject.label
    count[label] = (count[label] or 0) + 1
    if count[label] > 1 then subject.label = ("%s (%d)"):format(label, count[label]) end
  end
end

-- Refuses a path to which no file can be written, or at which no folder can be made. what: the message's beginning.
local function check_place(path, what)
  local folder = path:match("^(.*)/[^/]*$") or "."
  while folder ~= "" and not lfs.attributes(folder, "mode") do folder = folder:match("^(.*)/[^/]*$") or "." end
  folder = folder == "" and "/" or folder
  if lfs.attributes(folder, "mode") ~= "directory" or not require("common.libuv").fs_access(folder, "W") then
    faults.raise("io", "%scannot write %s: %s is not a folder that you can write to", what, path, folder)
  end
end

-- Refuses a folder for pictures that is not a folder or cannot be made.
local function check_pictures(path)
  path = path:gsub("(.)/+$", "%1")
  local mode = lfs.attributes(path, "mode")
  if mode and mode ~= "directory" then
    faults.raise("io", "--attention: cannot write %s: it is a %s, and a folder is expected", path, mode)
  end
  check_place(mode and path .. "/" or path, "--attention: ")
end

-- Refuses a name for the page if it is a folder's, or that of a file that is not such a page and would be lost, such as
-- a description, weights or another HTML file.
local function check_output(path)
  local mode = lfs.attributes(path, "mode")
  if mode and mode ~= "file" or path:sub(-1) == "/" then
    faults.raise("io", "cannot write %s: it is a %s, and a regular file is expected", path, mode or "folder")
  end
  local begins = mode and files.read_some(path, #page.BEGINS) or ""
  if begins ~= "" and begins ~= page.BEGINS then
    faults.raise("usage", "-o: %s exists and is not a page of attn2c report; it would be lost", path)
  end
  check_place(path, "")
end

--- Makes a report. Returns the exit code and the text to print.
--- tools: { build(root, arguments, overrides, with_text) -> the program's path and the state; look(root, arguments,
--- overrides) -> the state after the pass graph; run(path, words, "output") -> code, output }.
function report.run(root, arguments, tools)
  local all = {}
  maps.wanted(arguments)
  if arguments.output == "" then faults.raise("usage", "-o: the name is empty; a file is needed") end
  if arguments.output then check_output(arguments.output) end
  if arguments.attention then check_pictures(arguments.attention) end
  if arguments.weights and not lfs.attributes(arguments.weights, "mode") then
    faults.raise("io", "--weights: %s cannot be read", arguments.weights)
  end
  local predictions = arguments.scale and predictions_of(arguments.scale)
  local list = variants_of(arguments)
  for _, variant in ipairs(list) do
    if not variant.is_bench then verify(root, arguments, tools, variant) end
  end
  for _, variant in ipairs(list) do
    if variant.is_bench then add_benches(all, variant.path) else add_subjects(all, root, arguments, tools, variant) end
  end
  tell_apart(all)
  local first = all[1]
  local title = first.name or "Comparison"
  if #list > 1 then title = title .. ": " .. #list .. " variants" end
  local path = arguments.output
  if not path then
    files.make_folder("out")
    path = ("out/%s.html"):format(first.name or "comparison")
    check_output(path)
  end
  files.write(path, document.html(all, title, page_command(arguments), predictions))
  local failed, said = false, {}
  for _, subject in ipairs(all) do
    failed = failed or subject.check and subject.check.failed > 0 or subject.info and not subject.is_timed
    if subject.is_main then
      local label = #all > 1 and subject.label .. " " or ""
      said[#said + 1] = ("%s: %s%s\n"):format(terminal.safe(path), terminal.safe(label), document.verdict(subject))
    end
  end
  return failed and faults.code.mismatch or 0, table.concat(said)
end

return report
