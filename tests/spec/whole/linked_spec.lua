-- linked_spec.lua: a library contains what its model uses, by the names of sources in its symbols: no readers of other
-- formats and weights, nothing that writes files, and with opens = "packed" no reader of checkpoints.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local scratch = lfs.currentdir() .. "/out/test/linked"
local here = helper.shell(scratch)

-- Writes a description and builds its archive, or all. Returns the folder of results.
local function built(name, text, is_whole)
  helper.write(("%s/%s.lua"):format(scratch, name), text)
  local words = is_whole and "gen/attn2c build %s/%s.lua target=avx2 -o %s/%s"
    or "lua5.4 tests/program.lua %s/%s.lua %s/%s target=avx2 --answers --only=lib" .. name .. ".a"
  helper.succeeds(words:format(here, name, here, name))
  return scratch .. "/" .. name
end

-- Returns the set of the runtime's sources that an archive contains, and their lines.
local function sources_of(archive)
  local places, found, lines = {}, {}, 0
  for path in helper.succeeds("ls runtime/*/*.c"):gmatch("[^\n]+") do
    -- Two sources are called machine.c; the other one is a tool.
    if not path:find("^runtime/tools/") then places[path:match("[^/]+$")] = path end
  end
  local symbols = helper.succeeds("readelf -sW " .. helper.shell(archive))
  for name in symbols:gmatch(" FILE +LOCAL +DEFAULT +ABS ([%w_]+%.c)") do
    local path = places[name]
    if path and not found[path:sub(9)] then
      found[path:sub(9)] = true
      lines = lines + select(2, helper.read(path):gsub("\n", ""))
    end
  end
  assert.is_true(found["model/model.c"], "no symbols of files")
  return found, lines
end

-- Readers that few models need, and writers, by the word of the table below that stands for them.
local optional = {
  gguf = { "formats/gguf.c", "formats/gguf_blocks.c", "formats/gguf_grids.c" },
  safetensors = { "formats/safetensors.c" },
  torch = { "formats/torch.c", "formats/pickle.c" },
  checkpoints = { "reading/checkpoint.c", "weights/weights.c", "formats/tensors.c", "model/load.c" },
  coded = { "reading/coded.c" },
  projected = { "weights/projected.c", "weights/projected_read.c" },
  taps = { "reading/taps.c" },
  resized = { "reading/resized.c" },
  orders = { "weights/orders.c", "packing/packed_orders.c" },
  blocks = { "weights/block_reader.c", "packing/scale_blocks.c", "packing/scale_search.c" },
  writes = { "formats/file_write.c", "formats/new_file.c", "packing/packed_write.c" },
  random = { "weights/random.c", "weights/random_source.c" },
}

-- Asserts that of the optional sources an archive has those of some words.
local function has_only(found, words)
  local wanted = {}
  for word in words:gmatch("%S+") do
    for _, source in ipairs(assert(optional[word], word)) do wanted[source] = true end
  end
  for word, sources in pairs(optional) do
    for _, source in ipairs(sources) do
      assert.are.equal(wanted[source] or false, found[source] or false, ("%s, of %s"):format(source, word))
    end
  end
end

local layers = 'd_model = 32, heads = 2, layers = 1, name = "%s"'

describe("a library", function()
  setup(function() helper.succeeds(("rm -rf %s && mkdir -p %s"):format(here, here)) end)

  it("of the speech model reads safetensors alone, and writes nothing", function()
    local folder = built("speaker", helper.read("models/speaker.lua"))
    has_only(sources_of(folder .. "/libspeaker.a"), "checkpoints safetensors")
  end)

  -- Each: the sources, and a description whose weights need them.
  for words, more in pairs {
    ["checkpoints gguf"] = 'seq = 8, opens = "gguf"',
    ["checkpoints gguf torch safetensors"] = 'seq = 8, opens = "any"',
    ["checkpoints torch safetensors"] = 'seq = 8, opens = "torch"',
    ["checkpoints safetensors blocks"] = 'seq = 8, weights = "int4"',
    ["checkpoints safetensors coded"] = 'seq = 8, names = { "llama", quantised = "gptq" }',
    ["checkpoints safetensors projected"] = 'seq = 8, positions = "disentangled"',
    ["checkpoints safetensors taps"] = 'seq = 8, positions = "convolution", names = "wav2vec2"',
  } do
    it("has the readers that its weights need: " .. words, function()
      local name = words:gsub(" ", "_")
      local folder = built(name, ("return { %s, %s }"):format(layers:format(name), more))
      has_only(sources_of(("%s/lib%s.a"):format(folder, name)), words)
    end)
  end

  describe("that only opens packed weights", function()
    local folder, found, lines
    local description = helper.read("models/speaker.lua"):gsub('name = "speaker"',
      'name = "sealed", opens = "packed"', 1)

    setup(function()
      folder = built("sealed", description, true)
      found, lines = sources_of(folder .. "/libsealed.a")
    end)

    it("has no reader of checkpoints, at most 2,500 lines and 45 KB of the runtime", function()
      has_only(found, "")
      assert.is_true(lines <= 2500, lines .. " lines")
      local bytes, objects = 0, {}
      for path in pairs(found) do
        objects[#objects + 1] = ("gcc -std=c11 -Og -g0 -fPIC -fopenmp-simd -ffunction-sections -iquote runtime "
          .. "-c runtime/%s -o %s/one.o && size %s/one.o | tail -n 1"):format(path, here, here)
      end
      for text, data in helper.succeeds(table.concat(objects, "\n")):gmatch("(%d+)%s+(%d+)[^\n]*\n") do
        bytes = bytes + tonumber(text) + tonumber(data)
      end
      assert.is_true(bytes > 10000 and bytes <= 45 * 1024, bytes .. " bytes")
    end)

    it("opens what its program packs, with the same results; it refuses a checkpoint in one line", function()
      local program = helper.shell(folder .. "/sealed")
      local input, weights = "models/speaker/segments.npy", "models/speaker/speaker.safetensors"
      helper.succeeds(("%s pack --weights %s -o %s/s.weights"):format(program, weights, here))
      helper.succeeds(("%s run --weights %s --input %s --output logits=%s/a.npy"):format(program, weights, input,
        here))
      local script = ([[
import sys, numpy; sys.path.append("%s/sealed"); import sealed
for path in sys.argv[1:]:
  try:
    with sealed.Model(path) as model:
      made = model.forward(features=numpy.load("models/speaker/segments.npy")[:32])
      print((made["logits"] == numpy.load("%s/a.npy")[:32]).all())
  except Exception as fault: print(type(fault).__name__, fault)]]):format(scratch, scratch)
      local words = ("/usr/bin/python3 -c %s %s/s.weights %s models /nowhere"):format(helper.shell(script), here,
        weights)
      local said = helper.succeeds(words)
      local refusal = ": is not weights that are packed for avx2, and this library opens no others: sealed pack "
        .. "--weights CHECKPOINT -o FILE makes them\n"
      assert.are.equal("True\nValueError " .. weights .. refusal .. "ValueError models" .. refusal
        .. "OSError /nowhere: cannot be opened: No such file or directory\n", said)
    end)
  end)
end)

describe("the key opens", function()
  it("refuses ranks with packed weights alone, and weights that are linked in as a checkpoint has them", function()
    local message = "opens: packed does not go with ranks and stages, whose weights are packed for each of them"
    local fault = helper.fault(function() helper.tiny { opens = "packed", ranks = 2 } end)
    assert.truthy(table.concat(fault.lines, "\n"):find(message, 1, true))
    local code, said = helper.run("gen/attn2c build models/tales opens=packed --embed=f16")
    assert.are.equal(2, code)
    assert.truthy(said:find('--embed=f16: does not go with opens = "packed"', 1, true), said)
  end)
end)
