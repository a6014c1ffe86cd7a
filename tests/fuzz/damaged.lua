#!/usr/bin/env lua5.4
-- damaged.lua: the fuzzer of files from strangers: config.json, preprocessor_config.json, tokenizer.json, GGUF's
-- metadata and factors of `calibrate` through the compiler; checkpoints of all formats, packed weights, saved
-- sequences, kept embeddings and texts through programs with sanitizers. Each is taken, or refused in plain lines with
-- a documented status, within a time. A failure keeps its files and prints what repeats it. Exit 1 on a failure.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = here .. "/?.lua;" .. root .. "/gen/?.lua;" .. root .. "/?.lua;" .. package.path

local argparse = require("argparse")
local files = require("common.files")
local gguf_file = require("tests.spec.gguf_file")
local json = require("common.json")
local lfs = require("lfs")
local mutate = require("mutate")
local process = require("common.process")
local words = require("common.words")

local uv = require("common.libuv")
root = uv.fs_realpath(root)

local SECONDS = 60            -- many times what a case takes
local MEMORY = 8 << 30        -- of the compiler, in bytes
local MOST_LINES = 40         -- of a refusal
local DOCUMENTED = words.set { 0, 2, 3, 4, 5 }
-- As in helper.lua, so that a sanitized runtime is compiled once for all specs.
local SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"
-- The same as in specs (helper.with_addresses).
local CC, CFLAGS = "CC=clang", "ATTN2C_CFLAGS=-g1 -O0 -Werror " .. SANITIZE
local MODEL = root .. "/tests/hf/texts/sequence"
local SENTENCES = root .. "/tests/hf/texts/sentence"
local WRITER = root .. "/tests/hf/texts/next"

local DESCRIPTION = [[return { name = "made", input = tokens { vocab = 200000 }, d_model = 8, heads = 1, seq = 8,
  layers = 1, tokenizer = "tokenizer.json" }]]
local WEIGHED = [[return { name = "made", d_model = 8, heads = 1, seq = 4, layers = 1, precision = "int8",
  weights = { "none", out = "int4" } }]]
local INPUTS = { { "l0.attn.q", "l0.attn.k", "l0.attn.v" }, { "l0.ff.up" }, { "l0.ff.down", width = 32 },
  { "l0.attn.out", weighs = true } }

local function arguments()
  local parser = argparse("damaged.lua", "Gives damaged files to the compiler and to a program with sanitizers.")
  parser:argument("count", "How many cases.", "200"):convert(math.tointeger)
  parser:argument("seed", "The same cases for the same seed, on every machine.", "1"):convert(math.tointeger)
  parser:option("--first", "Number of the first case.", "1"):convert(math.tointeger):argname("K")
  parser:option("--folder", "Where cases are made.", "out/fuzz/damaged"):argname("DIR")
  return parser:parse()
end

-- All paths below a folder that match, in order.
local function found(folder, pattern)
  local list = {}
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    if name:sub(1, 1) ~= "." and lfs.attributes(path, "mode") == "directory" then
      for _, each in ipairs(found(path, pattern)) do list[#list + 1] = each end
    elseif path:match(pattern) then
      list[#list + 1] = path
    end
  end
  table.sort(list)
  return list
end

local function unpacked(path)
  local child = process.run { words = { "gzip", "-dc", path }, gather = "output" }
  assert(child.code == 0, path)
  return child.output
end

local function pick(list) return list[math.random(#list)] end

local function compiler(...)
  return { "prlimit", "--as=" .. MEMORY, "--", "lua5.4", root .. "/gen/attn2c", ... }
end

local subjects = {}

-- Each: make(folder) draws the damaged file, and gives the commands that take it, in order; one that fails ends them.
function subjects.config(folder)
  local seed = pick(found(root .. "/tests/hf", "/config%.json$"))
  files.write_all(folder, { { name = "config.json", text = mutate.json(files.read(seed)) } })
  for _, name in ipairs { "model.safetensors", "tokenizer.json", "tokenizer_config.json", "modules.json" } do
    local text = files.read(seed:match("^(.*)/") .. "/" .. name)
    if text then files.write_all(folder, { { name = name, text = text } }) end
  end
  return { compiler("import", folder, "-o", folder .. "/made.lua"), compiler("show", folder, "--stage", "graph") }
end

function subjects.tokenizer(folder, programs)
  local seed = pick(found(root .. "/tests/text/goldens", "%.json%.gz$"))
  files.write_all(folder, { { name = "tokenizer.json", text = mutate.json(unpacked(seed)) },
    { name = "made.lua", text = DESCRIPTION } })
  return { compiler("gen", folder .. "/made.lua", "-o", folder .. "/made"),
    { programs.text, folder .. "/made/made.tables", tostring(math.random(1000)), "6" } }
end

function subjects.checkpoint(folder, programs)
  local path = folder .. "/model.safetensors"
  files.write_all(folder, { { name = "model.safetensors", text = mutate.checkpoint(programs.checkpoint) } })
  return { { programs.model, "pack", "--weights", path, "-o", folder .. "/made.weights" } }
end

-- The tensors of a safetensors file as a GGUF file with their names.
local function as_gguf(text)
  local length, list = string.unpack("<I8", text), {}
  for name, tensor in pairs(json.decode(text:sub(9, 8 + length))) do
    if name ~= "__metadata__" then
      local from, to = table.unpack(tensor.data_offsets)
      list[#list + 1] = { name, tensor.dtype, tensor.shape, text:sub(9 + length + from, 8 + length + to) }
    end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return gguf_file.bytes({ { "general.architecture", "STRING", "bert" }, { "general.alignment", "UINT32", 32 },
    { "words", "ARRAY STRING", { "a", "bc" } } }, list)
end

-- A quantised folder: to the compiler, or the last's file to a program that was built from it whole. If only groups of
-- inputs are others, what the program takes must pass its check.
local quantised = { "gptq_llama", "awq_qwen2", "compressed_phi3", "gptq_order_llama" }
local ORDERED = quantised[#quantised]

function subjects.coded(folder, programs)
  local kind = math.random(4)
  local whole = root .. "/tests/hf/goldens/" .. (kind >= 3 and ORDERED or pick(quantised))
  local config, tensors = files.read(whole .. "/config.json"), files.read(whole .. "/model.safetensors")
  if kind == 1 then config = mutate.json(config) end
  if kind == 2 or kind == 3 then tensors = mutate.checkpoint(tensors) end
  if kind == 4 then tensors = mutate.groups(tensors, "g_idx") end
  files.write_all(folder, { { name = "config.json", text = config }, { name = "model.safetensors", text = tensors } })
  local import = compiler("import", folder, "-o", folder .. "/made.lua")
  local pack = { programs.coded, "pack", "--weights", folder, "-o", folder .. "/made.weights" }
  if kind == 3 then return { pack } end
  if kind == 4 then return { pack, { programs.coded, "check", "--weights", folder }, import } end
  return { import, compiler("show", folder, "--stage", "graph") }
end

function subjects.gguf(folder, programs)
  local path = folder .. "/model.gguf"
  files.write_all(folder, { { name = "model.gguf", text = mutate.bytes(programs.gguf, 3000) } })
  return { { programs.model, "pack", "--weights", path, "-o", folder .. "/made.weights" } }
end

function subjects.metadata(folder)
  local entries, tensors = gguf_file.llama { ["tokenizer.ggml.model"] = { "STRING", "gpt2" },
    ["tokenizer.ggml.pre"] = { "STRING", "llama-bpe" }, ["tokenizer.ggml.bos_token_id"] = { "UINT32", 2 },
    ["tokenizer.ggml.tokens"] = { "ARRAY STRING", { "a", "b", "<s>", "ab" } },
    ["tokenizer.ggml.token_type"] = { "ARRAY INT32", { 1, 1, 3, 1 } },
    ["tokenizer.ggml.merges"] = { "ARRAY STRING", { "a b" } } }
  table.sort(entries, function(a, b) return a[1] < b[1] end)
  local kind = math.random(3)
  if kind > 1 then entries = mutate.entries(entries) end
  local text = gguf_file.bytes(entries, tensors)
  files.write_all(folder, { { name = "model.gguf", text = kind < 3 and mutate.bytes(text, 2500) or text } })
  return { compiler("import", folder .. "/model.gguf", "-o", folder .. "/made.lua"),
    compiler("gen", folder .. "/model.gguf", "seq=4", "-o", folder .. "/made") }
end

function subjects.packed(folder, programs)
  local path = folder .. "/damaged.weights"
  files.write_all(folder, { { name = "damaged.weights", text = mutate.packed(programs.packed) } })
  return { { programs.model, "run", "--weights", path, "--text-string", "the dog" },
    { programs.model, "pack", "--verify", path } }
end

function subjects.preprocessor(folder)
  local seed = pick(found(root .. "/tests/hf/pictures", "/preprocessor_config%.json$"))
  local whole, list = seed:match("^(.*)/"), {}
  for _, name in ipairs { "config.json", "model.safetensors" } do
    list[#list + 1] = { name = name, text = files.read(whole .. "/" .. name) }
  end
  list[#list + 1] = { name = "preprocessor_config.json", text = mutate.json(files.read(seed)) }
  files.write_all(folder, list)
  return { compiler("import", folder, "-o", folder .. "/made.lua"), compiler("gen", folder, "-o", folder .. "/made") }
end

-- Factors and importance, some of wrong numbers, some with other bytes.
function subjects.factors(folder)
  local lines, kind = { "attn2c factors 2" }, math.random(3)
  for _, each in ipairs(INPUTS) do
    local products, powers = {}, {}
    for i, product in ipairs(each) do products[i] = ("%s=%016x"):format(product, math.random(0)) end
    for i = 1, (each.width or 8) + (kind == 2 and math.random(-1, 1) or 0) do powers[i] = math.random(-24, 24) end
    if kind == 2 and math.random(4) == 1 then powers[1] = pick { 25, -100, "1e3", "0x1", "--1", 99999 } end
    lines[#lines + 1] = ("%s%s: %s"):format(each.weighs and "weigh " or "", table.concat(products, " "),
      table.concat(powers, " "))
  end
  local text, path = table.concat(lines, "\n") .. "\n", folder .. "/made.factors"
  files.write_all(folder, { { name = "made.lua", text = WEIGHED },
    { name = "made.factors", text = kind == 3 and mutate.bytes(text, 600) or text } })
  return { compiler("show", folder .. "/made.lua", "--stage", "graph", "--factors", path),
    compiler("gen", folder .. "/made.lua", "--factors", path, "-o", folder .. "/made") }
end

function subjects.saved(folder, programs)
  local path = folder .. "/state"
  files.write_all(folder, { { name = "state", text = math.random(5) == 1 and programs.state
    or mutate.packed(programs.state) } })
  return { { programs.load_state, WRITER, path } }
end

-- The program makes a file again that is not of this run, and then takes it.
function subjects.kept(folder, programs)
  local path = folder .. "/kept.npy"
  files.write_all(folder, { { name = "kept.npy", text = mutate.kept(programs.kept) } })
  local command = { programs.sentences, "run", "--weights", SENTENCES, "--query", "the dog", "--text-file",
    SENTENCES .. "/texts.txt", "--cache", path, "--format", pick { "text", "jsonl" } }
  return { command, command }
end

function subjects.text(folder, programs)
  local text = files.read(MODEL .. "/texts.txt") .. files.read(root .. "/tests/hf/texts/windows/texts.txt")
  local pair = math.random(2) == 1 and folder .. "/text" or "-"
  files.write_all(folder, { { name = "text", text = mutate.bytes(mutate.bytes(text)) } })
  return { { programs.model, "run", "--weights", programs.weights, "--text-file", folder .. "/text",
    "--text-pair", pair, "--format", pick { "text", "jsonl" } } }
end

local order = words.sorted_keys(subjects)

-- The program with sanitizers, its packed weights, and the fuzzer of tables.
local function build(folder)
  local function run(list)
    local child = process.run { words = list, gather = "all" }
    if child.code ~= 0 then error(table.concat(list, " ") .. "\n" .. child.errors .. child.output) end
  end
  run { "make", "-s", "-C", root, "-f", "tests/c/build.mk", "out/test/bin/text_fuzz" }
  run { "env", CC, CFLAGS, root .. "/gen/attn2c", "build",
    MODEL, "seq=40", "kernels=c", "opens=any", "-o", folder .. "/built" }
  run { "env", CC, CFLAGS, "lua5.4", root .. "/tests/program.lua",
    root .. "/tests/hf/goldens/" .. ORDERED, folder .. "/coded", "seq=4", "batch=1", "kernels=c", "layers=1" }
  run { "env", CC, CFLAGS, root .. "/gen/attn2c", "build", SENTENCES, "seq=40", "kernels=c",
    "-o", folder .. "/sentences" }
  run { "env", CC, CFLAGS, "lua5.4", root .. "/tests/program.lua", WRITER,
    folder .. "/writer", "--only=libnext.a", "tokenizer=false", "kernels=c" }
  local load_state, state, kept = folder .. "/load_state", folder .. "/state", folder .. "/kept.npy"
  local compile = { "clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-g1", "-I", folder .. "/writer" }
  for word in SANITIZE:gmatch("%S+") do compile[#compile + 1] = word end
  for _, word in ipairs { root .. "/tests/fuzz/load_state.c", folder .. "/writer/libnext.a", "-lpthread", "-lm", "-o",
    load_state } do compile[#compile + 1] = word end
  run(compile)
  run { load_state, WRITER, state, "21" }
  local sentences = folder .. "/sentences/sentence"
  os.remove(kept)
  run { sentences, "run", "--weights", SENTENCES, "--query", "the dog", "--text-file", SENTENCES .. "/texts.txt",
    "--cache", kept }
  local model = folder .. "/built/sequence"
  run { model, "pack", "--weights", MODEL, "-o", folder .. "/whole.weights" }
  local gguf = as_gguf(files.read(MODEL .. "/model.safetensors"))
  files.write_all(folder, { { name = "whole.gguf", text = gguf } })
  run { model, "pack", "--weights", folder .. "/whole.gguf", "-o", folder .. "/whole.gguf.weights" }
  return { text = root .. "/out/test/bin/text_fuzz", model = model, coded = folder .. "/coded/" .. ORDERED,
    weights = folder .. "/whole.weights", load_state = load_state, state = files.read(state),
    sentences = sentences, kept = files.read(kept),
    packed = files.read(folder .. "/whole.weights"), checkpoint = files.read(MODEL .. "/model.safetensors"),
    gguf = gguf }
end

-- Returns the fault in how a command ended, or nil.
local function wrong(child)
  local said = child.errors
  if child.signal ~= 0 then return "ended by signal " .. child.signal end
  if child.code == 124 or child.code == 137 then return ("took more than %d seconds"):format(SECONDS) end
  if not DOCUMENTED[child.code] then return ("status %d"):format(child.code) end
  if said:find("[%z\1-\9\11-\31\127]") or not utf8.len(said) then return "raw bytes on a terminal" end
  local _, lines = said:gsub("\n", "")
  if child.code ~= 0 and lines == 0 then return "no line says what is wrong" end
  if lines > MOST_LINES then return ("%d lines"):format(lines) end
  for line in said:gmatch("[^\n]+") do
    if not line:match("^attn2c: ") and not line:match("^[%w_]+: ") then return "a line that is no message" end
    if line:find("defect", 1, true) then return "a defect" end
  end
  return nil
end

-- As wrong, of the fuzzer of tables: its own exit is 1 where it found something.
local function wrong_tables(child)
  if child.code ~= 0 or child.signal ~= 0 then
    local refused = child.code == 1 and child.output:find("good tables are refused: tokenizer tables: ", 1, true)
    return not refused and "tables cannot be used" or nil
  end
  return nil
end

-- Puts one case to the test: nil, or what is wrong, with what was run and said.
local function try(number, seed, folder, programs)
  math.randomseed(seed, number)
  local name = order[(number - 1) % #order + 1]
  files.make_folder(folder)
  local before = {}
  for _, command in ipairs(subjects[name](folder, programs)) do
    local list = { "env", "ASAN_OPTIONS=allocator_may_return_null=1", "timeout", "-s", "KILL", tostring(SECONDS) }
    local child = process.run { gather = "all", words = table.move(command, 1, #command, #list + 1, list) }
    local fault = command[1] == programs.text and wrong_tables(child) or command[1] ~= programs.text and wrong(child)
    before[#before + 1] = table.concat(command, " ")
    if fault then
      return ("case %d, %s: %s\n%s\nstatus %d\n%s\n%s"):format(number, name, fault, table.concat(before, "\n"),
        child.code, child.errors:sub(1, 4000), child.output:sub(1, 1000)), name
    end
    if child.code ~= 0 then
      if lfs.attributes(folder .. "/made.weights", "mode") then return name .. ": a half-written file is left", name end
      return nil, name, true
    end
  end
  return nil, name, false
end

local function main()
  local asked = arguments()
  files.make_folder(asked.folder)
  local folder = uv.fs_realpath(asked.folder)
  local programs = build(folder)
  local taken, refused, failed = {}, {}, 0
  for number = asked.first, asked.first + asked.count - 1 do
    local case = ("%s/case_%d"):format(folder, number)
    local fault, name, is_refused = try(number, asked.seed, case, programs)
    if fault then
      failed = failed + 1
      io.write("\n", fault, "\nrepeat it with: lua5.4 tests/fuzz/damaged.lua 1 ", asked.seed, " --first ", number, "\n")
    else
      local counts = is_refused and refused or taken
      counts[name] = (counts[name] or 0) + 1
      files.remove_folder(case)
      io.write(".")
    end
    io.flush()
  end
  io.write("\n")
  for _, name in ipairs(order) do
    io.write(("%-10s %4d taken %4d refused\n"):format(name, taken[name] or 0, refused[name] or 0))
  end
  io.write(("%d passed, %d failed\n"):format(asked.count - failed, failed))
  return failed == 0 and 0 or 1
end

os.exit(main(), true)
