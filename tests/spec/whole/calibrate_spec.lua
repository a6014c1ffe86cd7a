-- calibrate_spec: a model with channels of outliers, in int8 without and with factors: what quality says of both, the
-- check, info, packed weights, where factors go, and what calibrate refuses.
local helper = require("tests.spec.helper")
local files = require("common.files")
local outliers = dofile(helper.root .. "/tests/outliers.lua")

local folder = helper.absolute_root() .. "/out/spec/calibrate"
local attn2c = helper.shell(helper.absolute_root() .. "/gen/attn2c")
local given = "precision=int8 --weights weights.safetensors --input hidden=hidden.npy"

local function sh(format, ...) return helper.succeeds(format:format(...), folder) end

local function quality(more) return sh("%s quality outliers.lua --untimed %s %s", attn2c, given, more) end

local function cosine_of(said) return tonumber(said:match("| logits | 12x16x10 | ([%d.]+) |")) end

describe("factors against outliers", function()
  setup(function()
    files.make_folder(folder)
    os.remove(folder .. "/outliers.factors")
    local named = outliers.text('norm = "pre"'):gsub("norm%(%)", 'norm { name = "hidden" }')
    files.write_all(folder, { { name = "outliers.lua", text = outliers.text('norm = "pre"') },
      { name = "named.lua", text = named },
      { name = "weights.safetensors", text = outliers.checkpoint(40) },
      { name = "others.safetensors", text = outliers.checkpoint(30) },
      { name = "hidden.npy", text = outliers.input() },
      { name = "nan.npy", text = outliers.input(function(i) return i == 700 and 0 / 0 or 1 end) } })
  end)

  it("make int8 of a model with outliers as near to f32 as of others, and lie beside the description", function()
    local before = quality("")
    assert.is_true(cosine_of(before) < 0.99, before)
    assert.truthy(before:find(
      "\n| worst intermediate tensors | relative error |\n[|:-]+\n| l%d.ff.down | [%d.]+e%-01 |\n"), before)
    local said = sh("%s calibrate outliers.lua %s 2>calibrated", attn2c, given)
    assert.is_nil(helper.read(folder .. "/calibrated"):find(" are few", 1, true))
    assert.truthy(said:find("outliers: factors for 7 of 9 inputs of int8, in outliers.factors\n", 1, true), said)
    assert.truthy(said:find("| l0.attn.q k v | 32 | 0.%d | 32 | 0.0%d |\n"), said)
    assert.truthy(said:find("| l0.attn.out | 32 | - | - | 1.00 |\n", 1, true), said)
    local error, less, cosine, more = said:match("\n| logits | (%S+) | (%S+) | (%S+) | (%S+) |\n\nnext: ")
    assert.is_true(tonumber(less) < 0.2 * error and cosine_of(before) == tonumber(cosine), said)
    assert.equal(("next: %s build outliers.lua precision=int8 --factors=outliers.factors\n"):format(
      require("common.words").shell(helper.absolute_root() .. "/gen/attn2c")), said:match("next: .*"))
    local after, notes = quality("2>notes"), helper.read(folder .. "/notes")
    assert.equal(cosine_of(after), tonumber(more))
    assert.equal("attn2c: outliers.factors: is used, because it is next to the description; --factors=none goes "
      .. "without it\n", notes)
    assert.is_true(cosine_of(after) > 0.9995, after)
    assert.equal(before, quality("--factors=none"))
    assert.matches("\nverdict: [^\n]*`attn2c calibrate` finds factors or importance", before)
    -- Two of 192 rows with another largest score are "usable", one is "close": targets round differently.
    local verdict = after:match("\nverdict: ([%w ,]+): [^\n]*\n$")
    assert.is_true(verdict == "close to f32" or verdict == "usable, with some differences", after)
    if not helper.is_long then return end
    local timed = sh("%s quality outliers.lua %s", attn2c, given)
    assert.matches("\n| milliseconds[^\n]* | [%d.]+ | [%d.]+ |\n", timed)
    assert.matches("\nverdict: " .. verdict .. ": [^\n]* of the time[^\n]* of the weights' bytes[^\n]*\n$", timed)
  end)

  it("pass the check, are in info, and have the same bits in a norm as where rows are quantised", function()
    local said = sh("%s check outliers.lua precision=int8 --weights weights.safetensors", attn2c)
    assert.truthy(said:find("passed, 0 failed", 1, true), said)
    sh("%s build outliers.lua precision=int8 -o one", attn2c)
    sh("%s build named.lua precision=int8 --factors outliers.factors -o other", attn2c)
    assert.truthy(sh("./one/outliers info"):find(
      "factors +of 7 of 9 inputs of int8, 5 of them in the norm before; file %x+\n"))
    assert.truthy(sh("./other/outliers info --json"):find(
      '"factors": "of 7 of 9 inputs of int8, 4 of them in the norm before; file %x+"'))
    local run = "./%s/outliers run --weights %s --input hidden=hidden.npy --output logits=%s.npy"
    sh(run, "one", "weights.safetensors", "one")
    sh(run, "other", "weights.safetensors", "other")
    assert.equal(helper.read(folder .. "/one.npy"), helper.read(folder .. "/other.npy"))
    sh("./one/outliers pack --weights weights.safetensors -o packed.weights")
    sh(run, "one", "packed.weights", "packed")
    assert.equal(helper.read(folder .. "/one.npy"), helper.read(folder .. "/packed.npy"))
    local code, refused = helper.run(run:format("other", "packed.weights", "no"), folder)
    assert.equal(3, code)
    assert.truthy(refused:find("packed weights", 1, true), refused)
  end)

  it("are for the weights that they were found with, wherever a checkpoint of others is taken", function()
    local wanted = "l0.attn.q.weight: the model's factors against outliers were calibrated with other "
      .. "weights; calibrate with these weights, or build with --factors=none"
    local function refused(code_wanted, words)
      local code, said = helper.run(words, folder)
      assert.equal(code_wanted, code, said)
      assert.truthy(said:find(wanted, 1, true), said)
    end
    refused(3, "./one/outliers run --weights others.safetensors --input hidden=hidden.npy --output logits=no.npy")
    refused(3, "./one/outliers pack --weights others.safetensors -o no.weights")
    assert.is_nil(files.read(folder .. "/no.npy"))
    assert.is_nil(files.read(folder .. "/no.weights"))
    local others = " outliers.lua precision=int8 --weights others.safetensors"
    refused(3, attn2c .. " quality" .. others .. " --input hidden=hidden.npy")
    refused(3, attn2c .. " check" .. others)
    refused(3, attn2c .. " build outliers.lua precision=int8 --embed others.safetensors -o no")
    sh("%s quality %s --untimed --input hidden=hidden.npy --factors=none", attn2c, others)
    sh("./one/outliers check") -- with random weights
  end)

  it("are not written if the model is farther from f32 with them", function()
    local measured = 'package.path = "%s/gen/?.lua;" .. package.path require("commands.calibrate.gain").outputs = '
      .. 'function() return "TABLE", true end os.exit(require("commands.command").main("%s", arg))'
    local code, said = helper.run(("lua5.4 -e %s - calibrate outliers.lua %s -o worse.factors"):format(helper.shell(
      measured:gsub("%%s", helper.absolute_root())), given), folder)
    assert.equal(1, code, said)
    assert.matches("^outliers: factors for 7 of 9 inputs of int8, which no file has\n.*\nTABLE\n\nnot written: "
      .. "worse.factors, because the model is worse with it\n$", said)
    assert.is_nil(files.read(folder .. "/worse.factors"))
  end)

  it("make a variant of its own of each file", function()
    local text = helper.read(folder .. "/outliers.factors")
    files.write(folder .. "/fewer.factors", (text:gsub("^(attn2c factors 2) %d+(\n[^\n]*\n).*$", "%1 1%2")))
    local function variant_of(more)
      helper.succeeds("rm -rf out/outliers.variants", folder)
      sh("%s check outliers.lua precision=int8 --weights weights.safetensors %s", attn2c, more)
      return sh("ls out/outliers.variants")
    end
    local names = { variant_of(""), variant_of("--factors=fewer.factors"),
      helper.is_long and variant_of("--factors=none") or nil }
    assert.not_equal(names[1], names[2])
    assert.not_equal(names[1], names[3])
    assert.not_equal(names[2], names[3])
  end)

  -- It makes several builds more.
  local function in_long(...) if helper.is_long then it(...) end end

  in_long("of a model of any length are those of its longest sequence's model", function()
    local text = outliers.text('norm = "pre"'):gsub("batch = 4, ", "")
    files.write(folder .. "/open.lua", (text:gsub('"outliers", seq = 16', '"open", seq = any(16)')))
    sh("%s calibrate open.lua %s", attn2c, given)
    assert.equal(helper.read(folder .. "/outliers.factors"), helper.read(folder .. "/open.factors"))
    local said = sh("%s quality open.lua --untimed %s", attn2c, given)
    assert.is_true(cosine_of(said) > 0.9995, said)
    said = sh("%s check open.lua precision=int8 --weights weights.safetensors", attn2c)
    assert.truthy(said:find("passed, 0 failed", 1, true), said)
  end)

  it("are found for all rows of a model that computes some of them for one row alone", function()
    local names = 'names = { "attn2c", ["output.3.linear"] = "output.2.linear" }'
    local first = outliers.text('norm = "pre", ' .. names):gsub("norm%(%), ", 'norm(), pool "first", ')
    helper.write(folder .. "/first.lua", first)
    local said = sh("%s calibrate first.lua %s -o first.factors", attn2c, given)
    assert.truthy(said:find("outliers: factors for 7 of 9 inputs of int8, in first.factors\n", 1, true), said)
  end)

  it("are of few rows with a warning", function()
    local text = helper.read(folder .. "/hidden.npy")
    files.write(folder .. "/one.npy", require("commands.quality.arrays").first(text, 1))
    local said = sh("%s calibrate outliers.lua precision=int8 --weights weights.safetensors --input hidden=one.npy "
      .. "-o few.factors 2>&1", attn2c)
    assert.truthy(said:find("attn2c: calibrate: 16 rows of activations are few", 1, true), said)
  end)

  it("come of the rows that lengths count, and these alone are compared", function()
    local description = outliers.text('norm = "pre", mask = "padding"'):gsub('name = "outliers"', 'name = "padded"')
    local rows, width, kept = 16, 32, 10
    local all = outliers.input()
    local at = #all - 12 * rows * width * 4
    local short, long, labels = {}, {}, {}
    for sequence = 0, 11 do
      local whole = all:sub(at + 1 + sequence * rows * width * 4, at + (sequence + 1) * rows * width * 4)
      short[#short + 1] = whole:sub(1, kept * width * 4)
      long[#long + 1] = short[#short] .. ("<ff"):pack(0 / 0, 1e30):rep((rows - kept) * width // 2)
      for row = 1, rows do labels[#labels + 1] = row <= kept and (row + sequence) % 10 or 3 end
    end
    local function array(descr, shape, bytes)
      local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(descr, shape)
      header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
      return "\x93NUMPY\1\0" .. ("<I2"):pack(#header) .. header .. bytes
    end
    local function lines(list) return table.concat(list, "\n") .. "\n" end
    local fewer = {}
    for i, label in ipairs(labels) do if (i - 1) % rows < kept then fewer[#fewer + 1] = label end end
    files.write_all(folder, { { name = "padded.lua", text = description },
      { name = "short.npy", text = array("<f4", ("12, %d, %d"):format(kept, width), table.concat(short)) },
      { name = "long.npy", text = array("<f4", ("12, %d, %d"):format(rows, width), table.concat(long)) },
      { name = "short.txt", text = lines(fewer) }, { name = "long.txt", text = lines(labels) },
      { name = "lengths.npy", text = array("|i1", "12,", ("\x0a"):rep(12)) } })
    local said = {}
    for i, which in ipairs { "short", "long" } do
      local words = ("padded.lua precision=int8 --weights weights.safetensors --input hidden=%s.npy "
        .. "--input lengths=lengths.npy seq=%d"):format(which, which == "short" and kept or rows)
      sh("%s calibrate %s -o %s.factors", attn2c, words, which)
      if helper.is_long then
        said[i] = sh("%s quality %s --untimed --labels %s.txt", attn2c, words, which):gsub("12x%d+x10", "shape")
      end
    end
    assert.equal(helper.read(folder .. "/short.factors"), helper.read(folder .. "/long.factors"))
    assert.equal(said[1], said[2])
  end)

  it("are found, and compared, by several at once in one folder as by one", function()
    local alone = quality("--factors=none")
    local compared, found = attn2c .. " quality outliers.lua --untimed --factors=none " .. given,
      attn2c .. " calibrate outliers.lua " .. given
    local of_two = helper.is_long and "'target={\"avx512vnni\",\"avx2\"}'" or ""
    sh("(%s >a & %s >b & %s -o c.factors >c & %s -o d.factors %s >d & wait)", compared, compared, found, found, of_two)
    for _, name in ipairs { "a", "b" } do assert.equal(alone, helper.read(folder .. "/" .. name)) end
    for _, name in ipairs { "c.factors", "d.factors" } do
      assert.equal(helper.read(folder .. "/outliers.factors"), helper.read(folder .. "/" .. name))
    end
    assert.matches("^outliers: factors for 7 of 9", helper.read(folder .. "/d")) -- and nothing of what it ran
  end)

  it("are refused in one line where they do not fit, and so is what they cannot come from", function()
    local function refused(wanted, pattern, words)
      local code, said = helper.run(attn2c .. " " .. words, folder)
      assert.equal(wanted, code, said)
      assert.truthy(said:find(pattern, 1, true), said)
      assert.equal(1, select(2, said:gsub("\n", "")))
    end
    local calibrate = "calibrate outliers.lua --weights weights.safetensors "
    files.write(folder .. "/cut.factors", helper.read(folder .. "/outliers.factors"):match("^[^\n]*\n[^\n]*\n"))
    refused(2, "the model has no product l1.attn.k; calibrate again",
      "show outliers.lua precision=int8 layers=1 --stage graph")
    refused(2, "no product is of int8", "show outliers.lua --factors outliers.factors --stage graph")
    refused(4, "nothing: is not there", "show outliers.lua --factors nothing --stage graph")
    refused(3, "line 1:", "show outliers.lua precision=int8 --factors weights.safetensors --stage graph")
    refused(2, "no product is in int8", calibrate .. "--input hidden=hidden.npy")
    refused(2, "--input NAME=FILE.npy or --text is needed", calibrate .. "precision=int8")
    refused(2, "does not begin with \"attn2c factors \"; it would be lost", calibrate
      .. "precision=int8 --input hidden=hidden.npy -o hidden.npy")
    refused(4, "cannot write .: it is a directory", calibrate .. "precision=int8 --input hidden=hidden.npy -o .")
    refused(4, "cannot write hidden.npy/x: Not a directory; -o FILE names another file", calibrate
      .. "precision=int8 --input hidden=hidden.npy -o hidden.npy/x")
    refused(3, "cut.factors: line 2: is the last, but line 1 says that 7 follow it: the file was cut",
      "show outliers.lua precision=int8 --factors cut.factors --stage graph")
    refused(2, "--weights: the name is empty", "calibrate outliers.lua precision=int8 --weights '' --input x=x.npy")
    refused(2, "--factors: the name is empty", "show outliers.lua precision=int8 --factors= --stage graph")
    refused(3, "NaN or infinity", calibrate .. "precision=int8 --input hidden=nan.npy -o nan.factors")
    assert.is_nil(files.read(folder .. "/nan.factors"))
    refused(2, "--weights is needed", "calibrate outliers.lua precision=int8 --input hidden=hidden.npy")
  end)
end)
