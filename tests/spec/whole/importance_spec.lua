-- importance_spec: weights of 4 bits that packing rounds by the importance of their inputs: a model with outliers, and
-- the commands `calibrate` and `quality` of a model that writes.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local outliers = dofile(helper.root .. "/tests/outliers.lua")

local folder = helper.absolute_root() .. "/out/spec/importance"
local attn2c = helper.shell(helper.absolute_root() .. "/gen/attn2c")
local tales = helper.shell(helper.absolute_root() .. "/models/tales") .. " layers=2 context=64 "

local tale = [[
Once upon a time, in a hollow tree near the mill, there lived a sparrow called Clara. She could read the weather from
the clouds. One windy day in autumn the sparrow found a bottle with a letter in it. The writing was old and brown.
They set out before breakfast. They went to the orchard. It was a long way. Soon they found the crooked pine.
]]

local function sh(format, ...) return helper.succeeds(format:format(...), folder) end

local function refused(wanted, pattern, words)
  local code, said = helper.run(attn2c .. " " .. words, folder)
  assert.equal(wanted, code, said)
  assert.truthy(said:find(pattern, 1, true), said)
  assert.equal(1, select(2, said:gsub("\n", "")), said)
end

describe("the importance of inputs", function()
  local given = "outliers.lua weights=int4m --weights weights.safetensors --input hidden=hidden.npy"

  setup(function()
    files.make_folder(folder)
    files.write_all(folder, { { name = "outliers.lua", text = outliers.text('norm = "pre"') },
      { name = "weights.safetensors", text = outliers.checkpoint(40) },
      { name = "others.safetensors", text = outliers.checkpoint(30) },
      { name = "hidden.npy", text = outliers.input() },
      { name = "nan.npy", text = outliers.input(function(i) return i == 700 and 0 / 0 or 1 end) } })
  end)
  teardown(function() os.execute("rm -rf " .. helper.shell(folder)) end)

  it("lessens the error of a model with outliers, and the reference rounds like packing", function()
    local function cosine_of(more)
      return tonumber(sh("%s quality %s --untimed %s", attn2c, given, more):match("| logits | 12x16x10 | ([%d.]+) |"))
    end
    local said = sh("%s calibrate %s", attn2c, given)
    local first = "outliers: importance of the inputs of 13 weights of 4 bits, in outliers.factors\n"
    assert.truthy(said:find(first, 1, true), said)
    assert.matches("\n| l0.attn.q k v | 32 | 192 | 2^%d+ |\n", said)
    assert.is_true(1 - cosine_of("") < 0.2 * (1 - cosine_of("--factors=none")))
    for _, word in ipairs { "int4m", helper.is_long and "int4" or nil } do
      said = sh("%s check outliers.lua weights=%s --weights weights.safetensors", attn2c, word)
      assert.truthy(said:find(" 0 failed", 1, true), said)
    end
    sh("%s build outliers.lua weights=int4m -o one", attn2c)
    assert.truthy(sh("./one/outliers info"):find(
      "factors +importance of inputs for 13 of 13 weights of 4 bits; file %x+\n"))
  end)

  it("is for the weights that it was measured with, and comes of finite numbers", function()
    refused(3, "calibrated with other weights", "check outliers.lua weights=int4 --weights others.safetensors "
      .. "--factors outliers.factors")
    refused(3, "NaN or infinity", "calibrate outliers.lua weights=int4 --weights weights.safetensors "
      .. "--input hidden=nan.npy -o nan.factors")
    assert.is_nil(files.read(folder .. "/nan.factors"))
    local text = helper.read(folder .. "/outliers.factors")
    files.write(folder .. "/cut.factors", text:sub(1, #text // 2):gsub(" [^ ]*$", " 1e"))
    refused(3, "cut.factors: line", "show outliers.lua weights=int4 --factors cut.factors --stage graph")
    refused(2, "l0.attn.q has 64 inputs, but the importance of 32", "show outliers.lua weights=int4 d_model=64 "
      .. "--factors outliers.factors --stage graph")
    refused(2, "is for models that write", "calibrate outliers.lua weights=int4 --weights weights.safetensors "
      .. "--text-file outliers.lua")
  end)

  local function measured()
    files.write(folder .. "/text.txt", tale:rep(4))
    local said = sh("%s calibrate %s weights=int4 --text-file text.txt -o tales.factors", attn2c, tales)
    assert.matches("\n| output.1.vocabulary | 192 | %d+ | 2^%d+ |\n", said)
    assert.matches("\nperplexity of %d+ tokens that were not read: [%d.]+, without the file [%d.]+ "
      .. "%([+-][%d.]+%%%)\n\nnext: %S+/gen/attn2c build %S+/models/tales layers=2 context=64 weights=int4 "
      .. "%-%-factors=tales.factors\n$", said)
    local with, without = said:match("read: ([%d.]+), without the file ([%d.]+)")
    assert.not_equal(with, without)
    local compared = sh("%s quality %s weights=int4 --text-file text.txt --factors tales.factors --untimed", attn2c,
      tales)
    local ours, plain = compared:match("\n| perplexity | ([%d.]+) | ([%d.]+) |\n")
    assert.is_true(tonumber(ours) > 1 and tonumber(plain) > 1, compared)
    local more, error = compared:match("\n| more perplexity, and its standard error | ([+-][%d.]+)%%, ([%d.]+)%% |")
    assert.is_true(math.abs(more - 100 * (ours / plain - 1)) < 0.02 and tonumber(error) > 0, compared)
    assert.matches("\n| KL divergence from f32, mean | [%d.e+-]+ | 0 |\n| KL divergence from f32, 99th percentile | ",
      compared)
    assert.matches("\n| equal greedy tokens | [%d.]+%% | 100%% |\n", compared)
    assert.matches("\nverdict: %a[^\n]*: perplexity [%d.]+, in f32 [%d.]+ %([+-][%d.]+%%%); [%d.]+%% of the greedy "
      .. "tokens are the same[^\n]*\n$", compared)
    local growth = tonumber(compared:match("verdict: .-%(([+-][%d.]+)%%%)"))
    assert.is_true(math.abs(growth - 100 * (ours / plain - 1)) < 0.02, compared)
    local json = dkjson.decode(sh("%s quality %s weights=int4 --text-file text.txt --factors tales.factors --untimed "
      .. "--json", attn2c, tales)).language
    assert.is_true(math.abs(json.perplexity - ours) < 1e-4 and math.abs(json.perplexity_f32 - plain) < 1e-4)
    assert.is_true(json.growth_error > 0 and json.kl_mean > 0 and json.kl_p99 >= json.kl_mean
      and json.equal_greedy <= 1)
    local own = sh("%s quality %s weights=int8 --untimed", attn2c, tales)
    assert.matches("tokens of the model's own | f32; weights int8 | f32 |", own)
    refused(2, "--labels: a model that writes has no labels", "quality " .. tales .. "weights=int4 --labels text.txt "
      .. "--text-file text.txt")
    refused(4, "--text-file: none.txt: cannot be read", "quality " .. tales .. "weights=int4 --text-file none.txt")
    refused(2, "--text-file: does not go with --input and --text", "calibrate " .. tales
      .. "weights=int4 --text-file text.txt --text a")
    refused(4, "--text-file: none.txt: cannot be read", "calibrate " .. tales .. "weights=int4 --text-file none.txt")
  end
  if helper.is_long then
    it("is measured by the perplexity of a model that writes, which quality compares with f32", measured)
  end
end)
