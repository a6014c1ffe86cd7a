#!/usr/bin/env lua5.4
-- many.lua: many damaged files in few processes: GGUF, torch.save() and pictures through the runtime's readers
-- (tests/c/file_fuzz.c), GGUF's metadata and chat templates through the compiler's passes in this process, and the
-- compiled templates through the runtime (tests/c/chat_cases.c). Each is taken, or refused in plain lines, within a
-- bound of instructions and memory. A failure keeps its file and prints what repeats it. Exit 1 on a failure.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = here .. "/?.lua;" .. root .. "/gen/?.lua;" .. root .. "/?.lua;" .. package.path

local argparse = require("argparse")
local damage = require("tests.chat.damage")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local mutate = require("mutate")
local pipeline = require("pipeline")
local process = require("common.process")
local tables = require("tests.chat.tables")
local template = require("text.chat.template")
local uv = require("common.libuv")

root = uv.fs_realpath(root)

local STEP, MOST_STEPS = 1000000, 400 -- instructions
local MEMORY = 512 << 10              -- KiB
local BATCH = 200                     -- compiled templates of a process
local PAST_C = 8                      -- of ten files, those that the runtime's readers take

local parser = argparse("many.lua", "Gives many damaged files to the compiler and to the runtime.")
parser:argument("count", "How many files.", "1000"):convert(math.tointeger)
parser:argument("seed", "The same files for the same seed.", "1"):convert(math.tointeger)
parser:option("--first", "Number of the first file.", "1"):convert(math.tointeger):argname("K")
parser:option("--folder", "Where files are made.", "out/fuzz/many"):argname("DIR")
local asked = parser:parse()
files.make_folder(asked.folder)
local folder = uv.fs_realpath(asked.folder)

local failed, taken, refused = 0, {}, {}

local function fail(number, what, path)
  failed = failed + 1
  io.write(("case %d: %s\nthe file: %s\nrepeat it with: lua5.4 tests/fuzz/many.lua 1 %d --first %d\n"):format(number,
    what, path, asked.seed, number))
end

local function count(kind, is_taken)
  local counts = is_taken and taken or refused
  counts[kind] = (counts[kind] or 0) + 1
end

-- Calls work(watch) within the bounds. Returns what pcall does; watch() sets the bounds again.
local function bounded(work)
  local begin, steps = collectgarbage("count"), 0
  local function look()
    steps = steps + 1
    if steps > MOST_STEPS or collectgarbage("count") - begin > MEMORY then error("no end: " .. debug.traceback(), 0) end
  end
  local function watch() debug.sethook(look, "", STEP) end
  watch()
  local results = table.pack(pcall(work, watch))
  debug.sethook()
  return table.unpack(results, 1, results.n)
end

-- Returns what is wrong with lines for a user, or nil.
local function wrong(lines)
  for _, line in ipairs(lines) do
    if line:find("[%z\1-\31\127]") or not utf8.len(line) then return ("raw bytes on a terminal: %q"):format(line) end
    if #line > 4000 then return "a line of " .. #line .. " bytes" end
  end
  return #lines == 0 and "no line says what is wrong" or #lines > 40 and #lines .. " lines" or nil
end

local function names_of(place, pattern)
  local list = {}
  for _, name in ipairs(files.names(root .. "/" .. place)) do
    if name:find(pattern) then list[#list + 1] = ("%s/%s/%s"):format(root, place, name) end
  end
  return list
end

local ggufs = {}
for _, path in ipairs(names_of("tests/hf/goldens", "^gguf_")) do
  for _, name in ipairs(files.names(path)) do
    if name:find("%.gguf$") then ggufs[#ggufs + 1] = path .. "/" .. name end
  end
end

-- A file whose damage is in its front, where its metadata are, through the passes up to the graph.
local function try_metadata(number)
  local path = folder .. "/model.gguf"
  local text = files.read(ggufs[math.random(#ggufs)])
  local handle = assert(io.open(path, "wb"))
  handle:write((mutate.bytes(text, 6000)))
  handle:close()
  local ok, fault = bounded(function(watch)
    return pipeline.run(root, path, {}, "graph", { with_text = true, watch = watch })
  end)
  local problem
  if not ok and faults.is(fault) then problem = wrong(fault.lines) elseif not ok then problem = tostring(fault) end
  count("metadata", ok)
  if problem then
    os.rename(path, ("%s/%d.gguf"):format(folder, number))
    fail(number, problem, ("%s/%d.gguf"):format(folder, number))
  end
end

local templates, tokens, made = {}, {}, {}
local goldens = json.decode(files.read(root .. "/tests/chat/goldens.json"), json.null)
for name, text in pairs(goldens.tokens) do tokens[#tokens + 1] = { name = name, text = text } end
table.sort(tokens, function(a, b) return a.name < b.name end)
for _, path in ipairs(names_of("tests/chat/templates", "%.jinja$")) do templates[#templates + 1] = files.read(path) end
for _, row in ipairs(goldens.snippets) do templates[#templates + 1] = row.template end

-- Renders two chats with the templates that were compiled.
local function render()
  local words = { "env", "ASAN_OPTIONS=allocator_may_return_null=1", "timeout", "600",
    root .. "/out/test/bin/chat_cases", root .. "/tests/chat/chats.json", "2", goldens.date }
  for i, each in ipairs(made) do
    words[#words + 1] = ("%s/%d.tables"):format(folder, i)
    local handle = assert(io.open(words[#words], "wb"))
    handle:write(tables.pack(each.made, tokens))
    handle:close()
  end
  local child = process.run { words = words, gather = "all" }
  local _, lines = child.output:gsub("\n", "")
  if child.code ~= 0 or lines ~= 2 * #made then
    local each = made[lines // 2 + 1] or made[#made]
    files.write_all(folder, { { name = each.number .. ".jinja", text = each.text } })
    fail(each.number, child.errors:sub(1, 4000), ("%s/%d.jinja"):format(folder, each.number))
  end
  made = {}
end

local function try_template(number)
  local text = math.random(4) == 1
    and ("{%% for m in messages %%}{{ %s }}{%% endfor %%}"):format(damage.expression(math.random(1, 4)))
    or damage.apply(templates[math.random(#templates)], templates)
  local ok, compiled, problem = bounded(function() return template.compile(text, "t") end)
  problem = not ok and tostring(compiled) or not compiled and wrong { problem or "" }
  count("templates", ok and compiled)
  if problem then
    files.write_all(folder, { { name = number .. ".jinja", text = text } })
    fail(number, problem, ("%s/%d.jinja"):format(folder, number))
  elseif compiled then
    made[#made + 1] = { made = compiled, text = text, number = number }
    if #made == BATCH then render() end
  end
end

-- Gives the numbers from first to last to the runtime's readers, whose cases depend only on their numbers.
local function try_readers(first, past)
  local words = { "env", "ASAN_OPTIONS=allocator_may_return_null=1", root .. "/out/test/bin/file_fuzz",
    tostring(asked.seed), tostring(first), tostring(past - first) }
  for _, list in ipairs { names_of("tests/pictures/files", "%.png$"), names_of("tests/pictures/files", "%.jpg$"),
    ggufs } do table.move(list, 1, #list, #words + 1, words) end
  local opened = { "types", "wide", "few", "adapter" } -- these are few next to the other files, so each counts thrice
  for i = 0, 3 * #opened - 1 do
    words[#words + 1] = ("%s/tests/hf/torch/%s.bin"):format(root, opened[i % #opened + 1])
  end
  local child = process.run { words = words, gather = "all" }
  if child.code ~= 0 or child.signal ~= 0 then
    fail(tonumber(child.errors:match("case (%d+)") or first), child.errors:sub(1, 4000), "as above")
  end
  for kind, yes, no in child.output:gmatch("(%l+) (%d+) taken (%d+) refused") do
    taken[kind], refused[kind] = math.tointeger(yes), math.tointeger(no)
  end
end

local function main()
  local build = process.run { gather = "all", words = { "make", "-s", "-C", root, "-f", "tests/c/build.mk",
    "out/test/bin/file_fuzz", "out/test/bin/chat_cases" } }
  assert(build.code == 0, build.errors)
  local begin, past = os.time(), asked.first + asked.count
  -- Numbers that end in 8 are metadata, those that end in 9 templates; the readers have theirs of all numbers.
  try_readers(asked.first, asked.count > 1 and asked.first + asked.count * PAST_C // 10 or past)
  for number = asked.first, past - 1 do
    math.randomseed(asked.seed, number)
    if number % 10 == PAST_C then try_metadata(number) elseif number % 10 > PAST_C then try_template(number) end
  end
  if #made > 0 then render() end
  for _, kind in ipairs { "pictures", "gguf", "torch", "metadata", "templates" } do
    io.write(("%-10s %6d taken %6d refused\n"):format(kind, taken[kind] or 0, refused[kind] or 0))
  end
  io.write(("%d passed, %d failed, %d a second\n"):format(asked.count - failed, failed,
    asked.count // math.max(1, os.time() - begin)))
  return failed == 0 and 0 or 1
end

os.exit(main(), true)
