-- same_spec: one model with products of bf16 and int8, the same bits of every output on all targets with fused
-- multiply-adds (an emulator runs aarch64), for any number of workers, and by both compilers at any level. All code
-- that computes is compiled: emitted code, with the element loops that it includes.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local targets = require("data.targets")

local root = helper.absolute_root()
local folder = root .. "/out/spec/same"
local shell = helper.shell
local OUTPUTS = { "states", "logits" }

-- Norms of rows with all partial sums and a rest; numbers of all types.
local MODEL = [[
return { name = "same", target = %s, threads = %d, batch = 2, seq = 19, d_model = 272, heads = 2,
  layers = 1, d_ff = 48, mask = "padding", input = tokens { vocab = 19 }, activation = "gelu",
  precision = { "bf16", ff = "int8", attention = "bf16" },
  plan = { least_phase = 0, least_team = 0, group_tokens = 19 },
  output = { hidden { name = "states" }, pool "mean", linear { to = 24 }, softmax(),
    linear { to = 7, name = "logits" } },
}
]]

-- Returns the targets of a list that this machine runs, or an emulator.
local function runnable(names)
  local list, runs = {}, targets.runs_on(targets.machine(os.getenv))
  for _, name in ipairs(names) do if runs(name) then list[#list + 1] = name end end
  return list
end

local WIDE = runnable { "avx512bf16", "avx512", "avx2" }

-- The same model again: its name, the compiler of what is emitted, and a target.
local WAYS = { { "same_gcc", "cc", "-O3", "avx512vnni" }, { "same_clang", "clang", "-O3", "avx512bf16" } }

local function sh(command) return helper.succeeds(command, folder) end

-- A description in a file of its own.
local function describe_model(name, list, threads)
  local text = MODEL:format(list, threads)
  files.write_all(folder, { { name = name .. ".lua", text = (text:gsub('"same"', ('"%s"'):format(name))) } })
end

local function build(name, start)
  sh(("%s %s %s.lua %s --answers"):format(start, shell(root .. "/tests/program.lua"), name, name))
end

-- The outputs of a program, as the bytes of their files; start: words before it.
local function answers(start, name)
  local words, list = { start, ("%s/%s run --weights same.st"):format(name, name),
    "--input ids=ids.npy --input lengths=lengths.npy" }, {}
  for _, output in ipairs(OUTPUTS) do words[#words + 1] = ("--output %s=%s.npy"):format(output, output) end
  sh(table.concat(words, " "))
  for i, output in ipairs(OUTPUTS) do
    list[i] = files.read(("%s/%s.npy"):format(folder, output))
    assert.is_true(#list[i] > 128)
    os.remove(("%s/%s.npy"):format(folder, output))
  end
  return list
end

describe("a model of bf16 and int8", function()
  local expected
  local list = '"' .. table.concat(WIDE, ", ") .. '"'

  -- Whether outputs are the first's, and not only near.
  local function expect(what, list_of)
    expected = expected or list_of
    for i, output in ipairs(OUTPUTS) do
      assert.is_true(list_of[i] == expected[i], what .. ": other bits of " .. output)
    end
  end

  setup(function()
    files.make_folder(folder)
    if #WIDE == 0 then list = '"host"' end
    describe_model("same", list, 3)
    helper.write(folder .. "/same.st", checkpoints.text(folder .. "/same.lua", "F32"))
    local ids = {}
    for i = 1, 38 do ids[i] = i * i % 19 end
    helper.write(folder .. "/ids.npy", checkpoints.npy("2, 19", ids))
    helper.write(folder .. "/lengths.npy", checkpoints.npy("2,", { 19, 7 }))
    build("same", helper.guarded .. " lua5.4")
  end)

  it("has the same bits on " .. table.concat(WIDE, ", "), function()
    for _, target in ipairs(#WIDE > 0 and WIDE or { "" }) do
      expect(target, answers("ATTN2C_TARGET=" .. target, "same"))
    end
  end)

  -- Returns a compiler's path by which it notes its words in PATH.log.
  local function noting(compiler)
    local path = helper.folder() .. "/compiler"
    helper.write(path, ('#!/bin/sh\necho "$*" >>%s.log\nexec %s "$@"\n'):format(shell(path), compiler))
    helper.succeeds("chmod +x " .. shell(path))
    return path
  end

  teardown(helper.clean)

  it("has them with one worker, as gcc and clang optimise it", function()
    expect("as it was", answers("", "same"))
    for _, way in ipairs(WAYS) do
      local name, compiler, level, target = table.unpack(way)
      target = runnable({ target })[1] or WIDE[1] or "host"
      describe_model(name, ('"%s"'):format(target), 1)
      local noted = noting(compiler)
      build(name, helper.compiling(shell(noted), level))
      local count = 0
      for line in helper.read(noted .. ".log"):gmatch("[^\n]+") do
        assert.equal(level, line:match("%S+$")) -- of several levels the last one counts
        count = count + 1
      end
      assert.is_true(count > 3)
      expect(("%s %s, %s"):format(compiler, level, target), answers("", name))
    end
  end)

  it("has them on aarch64", function()
    if #WIDE == 0 then return end -- no machine to compare with
    describe_model("same_arm", '"aarch64"', 1)
    sh(("CROSS=aarch64-linux-gnu- lua5.4 %s build same_arm.lua --static -o same_arm"):format(
      shell(root .. "/gen/attn2c")))
    expect("aarch64", answers("qemu-aarch64", "same_arm"))
  end)
end)
