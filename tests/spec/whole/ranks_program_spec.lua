-- ranks_program_spec.lua: the program and the Python module of a model that is divided among ranks.
local helper = require("tests.spec.helper")
local json = require("common.json")
local mpirun = require("tests.spec.mpirun")

local root = helper.absolute_root()
local model = root .. "/tests/generate/llama"
local folder = root .. "/out/spec/ranks"
local program = folder .. "/two/lama"

-- Returns a file of weights like the model's, of which one byte of the last tensor or of the header differs.
local function damaged(name, at)
  local text = helper.read(model .. "/model.safetensors")
  local i = at < 0 and #text + at or at
  local path = folder .. "/" .. name
  helper.write(path, text:sub(1, i) .. string.char(text:byte(i + 1) ~ 64) .. text:sub(i + 2))
  return path
end

local function lines(text)
  local _, count = text:gsub("\n", "")
  return count
end

local function build(words, name)
  helper.succeeds(("cd %s && gen/attn2c build %s name=lama threads=1 %s -o %s/%s"):format(helper.shell(root),
    helper.shell(model), words, helper.shell(folder), name))
end

-- Runs the program of one process; returns what it prints.
local function alone(words)
  local list = { helper.shell(folder .. "/one/lama") }
  for i, word in ipairs(words) do list[i + 1] = helper.shell(word) end
  return helper.succeeds(table.concat(list, " "))
end

-- Runs a command on two ranks, of which rank 1 is killed after a second.
local function killed(words)
  return mpirun(2, { "sh", "-c", '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || { sleep 1; kill -9 $$; } & exec "$@"', "sh",
    table.unpack(words) })
end

-- A script of a build's Python module: what it refuses, and whether both ranks have the same logits.
local MODULE = [[
import sys; sys.path.append(%q)
from mpi4py import MPI
import lama, numpy
def failure(make):
    try: make()
    except Exception as error: return "%%s: %%s" %% (type(error).__name__, error)
said = [failure(lambda: lama.Model("/nowhere")), failure(lambda: lama.Model(%q, 7)),
        failure(lambda: lama.Model(%q, MPI.COMM_SELF))]
with lama.Model(%q, MPI.COMM_WORLD) as model:
    outputs, lengths = model.forward_text(["Hello there", "How are you"])
all = MPI.COMM_WORLD.gather(outputs["logits"].tobytes())
if MPI.COMM_WORLD.Get_rank() == 0:
    print("\n".join(said), outputs["logits"].shape, all[0] == all[1], sep="\n")
]]

local function is_a_module(name)
  local path = folder .. "/ranks.py"
  helper.write(path, MODULE:format(folder .. "/" .. name, model, model, model))
  local result = mpirun(2, { "/usr/bin/python3", path })
  assert.same({ 0, "" }, { result.status, result.stderr })
  assert.equal([[
OSError: /nowhere: cannot be opened: No such file or directory
TypeError: communicator: is int, but one of mpi4py is expected
ValueError: the model lama is divided among 2 ranks, but 1 is started: mpirun -n 2
(2, 64, 901)
True
]], (result.stdout:gsub("\r", "")))
end

setup(function()
  helper.succeeds("rm -rf " .. helper.shell(folder) .. " && mkdir -p " .. helper.shell(folder))
  helper.succeeds(("lua5.4 %s/tests/program.lua %s %s/one --text --answers name=lama threads=1"):format(
    helper.shell(root), helper.shell(model), helper.shell(folder)))
end)

describe("a program of two ranks", function()
  setup(function() build("ranks=2", "two") end)

  -- The command for one rank with some weights, as words.
  local function of(weights)
    return { program, "generate", "--weights", weights, "--prompt", "Hello", "--tokens", "12", "--greedy",
      "--format", "jsonl" }
  end

  -- Two ranks with weights of their own.
  local function apart(first, second)
    local list = of(first)
    for _, word in ipairs { ":", "-n", "1", table.unpack(of(second)) } do list[#list + 1] = word end
    return mpirun(1, list)
  end

  it("writes the tokens of a program of one process, once", function()
    local two = mpirun(2, of(model))
    assert.same({ 0, "" }, { two.status, two.stderr })
    local one = alone { table.unpack(of(model), 2) }
    local function tokens(text) return text:match('"ids": ?%b[]') or text:match('"text".*') end
    assert.truthy(tokens(one))
    assert.equal(tokens(one), tokens((two.stdout:gsub("\r", ""))))
    assert.equal(lines(one), lines(two.stdout))
  end)

  it("checks every tensor, gathered", function()
    local result = mpirun(2, { program, "check", "--weights", model })
    assert.same({ 0, "" }, { result.status, result.stderr })
    assert.truthy(result.stdout:find("end to end", 1, true))
  end)

  it("ends all ranks with one line", function()
    local one = helper.runner(folder)
    local code, output, errors = one({ program, "check" })
    assert.same({ 2, "", "lama: the model lama is divided among 2 ranks, but 1 is started: mpirun -n 2\n" },
      { code, output, errors })
    local result = apart(model, folder .. "/none.safetensors")
    local missing = "lama: rank 1: " .. folder .. "/none.safetensors: cannot be opened: No such file or directory\n"
    assert.same({ 4, "", missing }, { result.status, result.stdout, result.stderr })
    result = apart(damaged("header.safetensors", 0), model)
    assert.equal(3, result.status)
    assert.truthy(result.stderr:find("^lama: rank 0: ") and lines(result.stderr) == 1, result.stderr)
    result = apart(model .. "/model.safetensors", damaged("other.safetensors", -2))
    assert.same({ 3, "lama: rank 1 has other weights than rank 0\n" }, { result.status, result.stderr })
    result = mpirun(2, { program, "generate", "--weight", model })
    assert.equal(2, result.status)
    assert.equal(1, lines(result.stderr), result.stderr)
  end)

  it("ends when a rank is killed", function()
    local result = killed { program, "perplexity", "--weights", model, "--text-file", "/dev/zero" }
    assert.truthy(result.status ~= 0 and not result.hangs)
  end)

  it("leaves no part of a file when a rank is killed while rank 0 writes", function()
    local out = helper.folder()
    local line = "The meaning of these words is not much, but there are many of them, and each is read.\n"
    helper.write(folder .. "/long.txt", line:rep(40000))
    local result = killed { program, "perplexity", "--weights", model, "--text-file", folder .. "/long.txt", "--logits",
      out .. "/logits" }
    assert.truthy(result.status ~= 0 and not result.hangs)
    assert.equal("", helper.succeeds("ls -A " .. helper.shell(out)))
  end)

  it("times the part of one rank by itself, and counts the meetings that it leaves out", function()
    local words = { program, "bench", "--part", "1", "-o", "json", "-r", "1", "--length", "8" }
    local code, output = helper.runner(folder)(words)
    assert.equal(0, code)
    local row = json.decode(output:match("[^\n]+"))
    assert.same({ "prefill (8 tokens)", "1" }, { row.entry, row.part })
    local sums, gathers = 0, 0
    for _, each in ipairs(row.meetings) do
      if each.kind == "sum" then sums = sums + each.times else gathers = gathers + each.times end
    end
    local layers = json.decode(helper.succeeds(helper.shell(program) .. " info --json")).layers
    assert.same({ 2 * layers + 1, 1 }, { sums, gathers })
    local said = helper.succeeds(helper.shell(program) .. " info")
    assert.matches(("rank 1%%s+%d%%s+%d%%s+%d\n"):format(row.weight_bytes, row.arena_bytes, row.state_bytes), said)
    words[4] = "2"
    local errors
    code, output, errors = helper.runner(folder)(words)
    assert.same({ 2, "", "lama: --part: '2', but 0 to 1, or all, is allowed\n" }, { code, output, errors })
    words[1], words[4] = folder .. "/one/lama", "0"
    code, output, errors = helper.runner(folder)(words)
    assert.same({ 2, "", "lama: --part: goes with a model that is divided among ranks, without stages\n" },
      { code, output, errors })
  end)

  it("profiles the operations of rank 0, which are more than the whole model's", function()
    local result = mpirun(2, { program, "bench", "--profile", "-o", "json", "-r", "1", "--length", "8" })
    assert.same({ 0, "" }, { result.status, result.stderr })
    local row = json.decode(result.stdout:match("[^\n]+"))
    local info, names = json.decode(helper.succeeds(helper.shell(program) .. " info --json")), {}
    for _, each in ipairs(row.profile.ops) do names[each.name] = true end
    assert.truthy(names.sum_ranks)
    assert.equal(1, #info.entries)
    assert.truthy(#row.profile.results > info.entries[1].ops)
  end)

  it("is in a report, with the operations of rank 0", function()
    local said = helper.succeeds(("cd %s && gen/attn2c report models/small.lua layers=1 seq=8 d_model=32 heads=2 "
      .. "d_ff=32 ranks=2 -r 1 -o %s/page.html 2>&1"):format(helper.shell(root), helper.shell(folder)))
    assert.matches("checked: ", said, 1, true)
    assert.truthy(helper.read(folder .. "/page.html"):find("sum of all ranks", 1, true))
  end)

  it("is compared with itself in f32", function()
    helper.write(folder .. "/short.txt", ("Hello there, how are you? "):rep(4))
    local code, said = helper.runner(root) { "gen/attn2c", "quality", model, "name=lama", "threads=1", "ranks=2",
      "precision=bf16", "--untimed", "--text-file", folder .. "/short.txt" }
    assert.equal(0, code)
    assert.matches("\nverdict: ", said, 1, true)
    assert.matches("tokens of the text | bf16 | f32 |", said, 1, true)
  end)

  it("times all parts at once", function()
    local result = mpirun(2, { program, "bench", "--part", "all", "-o", "json", "-r", "1", "--length", "8" })
    assert.same({ 0, "" }, { result.status, result.stderr })
    assert.truthy(result.stdout:find('"part": "all", "meetings": [{"kind": "sum"', 1, true), result.stdout)
  end)

  it("is a Python module under mpi4py", function() is_a_module("two") end)
end)

describe("a program of two stages", function()
  local staged = folder .. "/staged/lama"

  -- Runs the program on two ranks; returns its status and what it printed.
  local function run(words)
    local result = mpirun(2, { staged, table.unpack(words) })
    return result.status, result.stderr, (result.stdout:gsub("\r", ""))
  end

  -- A long text is read in chunks of 8 tokens, of which both stages compute one at a time.
  setup(function()
    build("stages=2 chunk=8", "staged")
    helper.write(folder .. "/text", ("Hello there, how are you? "):rep(20))
  end)

  it("has the bits of one process, also where stages compute several chunks at a time", function()
    local perplexity = { "perplexity", "--weights", model, "--text-file", folder .. "/text" }
    local prompts = { "generate", "--weights", model, "--prompt", ("Hello, you? "):rep(3), "--tokens", "8", "--greedy",
      "--format", "jsonl" }
    for _, words in ipairs { perplexity, prompts } do
      local status, errors, said = run(words)
      assert.same({ 0, "" }, { status, errors })
      assert.equal(alone(words), said)
    end
  end)

  it("checks every tensor, gathered", function()
    local status, errors, said = run { "check", "--weights", model }
    assert.same({ 0, "" }, { status, errors })
    assert.matches("in several calls.* token by token.* from a copy.*, 0 failed", said)
  end)

  it("reads packed weights of its layers, and refuses those of another model", function()
    local other = damaged("staged.safetensors", -2)
    local words = { "generate", "--weights", folder .. "/packed", "--prompt", "Hello", "--tokens", "9", "--greedy",
      "--format", "jsonl" }
    for _, each in ipairs { { model, "packed" }, { other, "others" } } do
      helper.succeeds(("%s pack --weights %s -o %s/%s"):format(helper.shell(staged), helper.shell(each[1]),
        helper.shell(folder), each[2]))
    end
    local status, errors, said = run(words)
    assert.same({ 0, "" }, { status, errors })
    words[3] = model
    assert.equal(alone(words), said)
    words[3] = folder .. "/packed"
    helper.succeeds(("cd %s && cp others.rank1 packed.rank1"):format(helper.shell(folder)))
    assert.same({ 3, "lama: rank 1 has other weights than rank 0\n", "" }, { run(words) })
    words[3] = other
    local list = { staged, table.unpack(words) }
    for _, word in ipairs { ":", "-n", "1", staged, "generate", "--weights", model, table.unpack(words, 4) } do
      list[#list + 1] = word
    end
    local result = mpirun(1, list)
    assert.same({ 3, "lama: rank 1 has other weights than rank 0\n" }, { result.status, result.stderr })
  end)

  it("ends when the rank of a stage is killed", function()
    local result = killed { staged, "perplexity", "--weights", model, "--text-file", "/dev/zero" }
    assert.truthy(result.status ~= 0 and not result.hangs)
  end)

  it("is a Python module under mpi4py", function() is_a_module("staged") end)

  it("refuses another number of ranks", function()
    local code, output, errors = helper.runner(folder)({ staged, "check" })
    assert.same({ 2, "", "lama: the model lama is divided among 2 ranks, but 1 is started: mpirun -n 2\n" },
      { code, output, errors })
  end)
end)

describe("a rank without memory", function()
  local large = folder .. "/large/large"

  -- Keys and values of 1 GB on each rank, which nobody touches.
  setup(function()
    helper.write(folder .. "/large.lua", [[return { name = "large", input = tokens { vocab = 70 }, context = 65536,
      chunk = 16, sequences = 32, d_model = 16, heads = 2, head_dim = 64, layers = 1, d_ff = 16, mask = "causal",
      positions = "none", output = { vocabulary {} } }]])
    helper.succeeds(("lua5.4 %s/tests/program.lua %s %s/large ranks=2 threads=1 kernels=c"):format(helper.shell(root),
      helper.shell(folder .. "/large.lua"), helper.shell(folder)))
  end)

  -- Runs a bench of which one rank has at most `kilobytes` of addresses. Returns the status, what is printed, and the
  -- lines of the program.
  local function limited(rank, kilobytes)
    local result = mpirun(2, { "sh", "-c", ('[ "$OMPI_COMM_WORLD_RANK" != %d ] || ulimit -v %d; exec "$@"'):format(rank,
      kilobytes), "sh", large, "bench", "-r", "1", "--length", "8" })
    local own = {}
    for line in result.stderr:gmatch("[^\n]+") do if line:find("^large: ") then own[#own + 1] = line end end
    assert.falsy(result.hangs)
    return result.status, result.stdout, own
  end

  it("ends all with one line and the status of memory", function()
    local said = { [0] = "large: bench: no memory for the arena",
      "large: rank 1: no memory for a call; all ranks end" }
    for rank = 0, 1 do
      assert.same({ 5, "", { said[rank] } }, { limited(rank, 900000) })
    end
  end)

  -- Open MPI itself starts with 200 MB of addresses, and crashes with 50.
  it("ends all, wherever memory ends", function()
    for _, kilobytes in ipairs { 200000, 400000 } do
      local status, output, said_lines = limited(1, kilobytes)
      assert.is_true(status ~= 0 and output == "" and #said_lines <= 1,
        ("%d kB: status %d, %s"):format(kilobytes, status, table.concat(said_lines, "; ")))
    end
  end)
end)
