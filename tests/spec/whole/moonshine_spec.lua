-- moonshine_spec.lua: a model that writes down samples of any length, without tokens for speech: the folder of
-- tests/hf/speech/moonshine writes what transformers' `generate` does, sounds longer than a call in pieces; then what
-- is refused.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local shell = helper.shell
local root = helper.absolute_root()
local cases = dofile(root .. "/tests/cases.lua")
local folder, golden = root .. "/out/spec/moonshine", root .. "/tests/hf/speech/moonshine"
local ROWS, RATE, LEAST, HOP = 140, 16000, 895, 384
local MOST = ROWS * HOP + LEAST - 1 -- samples of a call: those of one row more are one more
local FRAME = 480 -- samples of a frame that may be the quietest
local HEADER = 44 -- bytes of a WAV file before its samples

-- Returns a WAV file of samples as bytes. fields: { format, channels, rate, bits } that differ from 16 bits at RATE.
local function wave(samples, fields)
  local f = fields or {}
  local channels, rate, bits = f.channels or 1, f.rate or RATE, f.bits or 16
  local each = channels * bits // 8
  return ("<c4I4c4c4I4I2I2I4I4I2I2c4I4"):pack("RIFF", #samples + 36, "WAVE", "fmt ", 16, f.format or 1, channels, rate,
    rate * each, each, bits, "data", #samples) .. samples
end

local function samples_of(name) return helper.read(golden .. "/" .. name):sub(HEADER + 1) end

-- Returns the status of `generate` with options, and what it writes.
local function generate(options)
  return helper.run(("moonshine/moonshine generate --weights %s %s 2>&1"):format(shell(golden), options), folder)
end

-- Returns the objects of lines of JSON.
local function heard(options)
  local status, said = generate("--format jsonl " .. options)
  assert.equal(0, status, said)
  local list = {}
  for line in said:gmatch("[^\n]+") do list[#list + 1] = dkjson.decode(line) end
  return list
end

describe("a model that writes down samples", function()
  setup(function()
    files.make_folder(folder)
    local words = { "--text", ("memory.seq=any(%d)"):format(ROWS), "kernels=c" }
    local list = { { name = "moonshine", path = golden, words = words } }
    if helper.is_long then
      list[2] = { name = "silent", path = golden, words = { "sound=false", "name=silent", table.unpack(words) } }
    end
    cases.programs(folder, list)
  end)

  for line in helper.read(golden .. "/speech.jsonl"):gmatch("[^\n]+") do
    local case = dkjson.decode(line)
    local beams = case.options.num_beams
    it(("writes what transformers does: %s, %d beams"):format(case.file, beams or 1), function()
      local said = heard(("--audio %s/%s%s"):format(shell(golden), case.file, beams and " --beams " .. beams or ""))
      assert.equal(1, #said)
      assert.same(case.ids, said[1].ids)
      assert.equal(case.text, said[1].text)
      assert.equal(#samples_of(case.file) / 2 / RATE, said[1]["end"])
    end)
  end

  it("cuts a longer sound where it is quiet, and writes each piece as by itself", function()
    local samples = samples_of("long.wav"):rep(3)
    helper.write(folder .. "/longer.wav", wave(samples))
    local said, at = heard("--audio longer.wav"), 0
    assert.is_true(#said > 2)
    for i, each in ipairs(said) do
      -- The middle of a frame of the second half, of which `end` has milliseconds.
      local half = MOST // 2 + FRAME // 2
      local frames = math.floor((each["end"] * RATE - at - half) / FRAME + 0.5)
      local last = i < #said and at + half + frames * FRAME or #samples // 2
      assert.near(at / RATE, each.begin, 5.1e-4)
      assert.near(last / RATE, each["end"], 5.1e-4)
      helper.write(folder .. "/piece.wav", wave(samples:sub(2 * at + 1, 2 * last)))
      assert.same(each.ids, heard("--audio piece.wav")[1].ids)
      at = last
    end
    helper.write(folder .. "/whole.wav", wave(samples:sub(1, 2 * MOST)))
    assert.near(MOST / RATE, heard("--audio whole.wav")[1]["end"], 5.1e-4)
    -- Raw samples, and several sounds.
    local _, alone = generate("--audio longer.wav")
    helper.write(folder .. "/raw", samples)
    assert.equal(alone, select(2, generate("--audio - <raw")))
    local _, short = generate(("--audio %s/short.wav"):format(shell(golden)))
    local _, both = generate(("--audio longer.wav --audio %s/short.wav"):format(shell(golden)))
    assert.equal(alone .. short, (both:gsub("[^\n\t]*\t", "")))
  end)

  it("takes sounds of any kind, down to the samples of one row", function()
    local samples = samples_of("short.wav")
    helper.write(folder .. "/least.wav", wave(samples:sub(1, 2 * LEAST)))
    assert.equal(1, #heard("--audio least.wav"))
    local wide = samples:gsub("..", function(each) return each:rep(6) end)
    helper.write(folder .. "/wide.wav", wave(wide, { channels = 2, rate = 3 * RATE }))
    assert.equal(0.71, heard("--audio wide.wav")[1]["end"])
    helper.write(folder .. "/quiet.wav", wave(("\0"):rep(#samples)))
    assert.equal(1, #heard("--audio quiet.wav"))
  end)

  it("says when rows of features are heard", function()
    local header = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 24), }\n"):format(ROWS + 1)
    helper.write(folder .. "/rows.npy", ("<c8s2"):pack("\x93NUMPY\1\0", header) .. ("\0"):rep(4 * 24 * (ROWS + 1)))
    local said = heard("--features rows.npy")
    for i, times in ipairs { { 0, ROWS }, { ROWS, ROWS + 1 } } do
      assert.near(times[1] * HOP / RATE, said[i].begin, 5.1e-4)
      assert.near(times[2] * HOP / RATE, said[i]["end"], 5.1e-4)
    end
    if not helper.is_long then return end
    local silent = dkjson.decode(helper.succeeds("silent/silent generate --weights " .. shell(golden)
      .. " --features rows.npy --format jsonl | head -n 1", folder))
    assert.same({ said[1].ids }, { silent.ids, silent.begin, silent["end"] }) -- how long a row is, is unknown
  end)

  it("refuses sounds without a row and options that need tokens for speech", function()
    local samples = samples_of("short.wav")
    helper.write(folder .. "/tiny.wav", wave(samples:sub(1, 2 * LEAST - 2)))
    helper.write(folder .. "/raw_tiny", samples:sub(1, 2 * LEAST - 2))
    helper.write(folder .. "/empty.wav", wave(""))
    helper.write(folder .. "/nan.wav", wave(("<f"):pack(0 / 0):rep(1000), { format = 3, bits = 32 }))
    local least = "--audio least.wav "
    for options, expected in pairs {
      ["--audio tiny.wav"] = { 3, "tiny.wav: 0.0559 seconds are too short: the model takes 0.0559 and more" },
      ["--audio - --vad <raw_tiny"] = { 0, "" },
      ["--audio empty.wav"] = { 3, "empty.wav: has no samples" },
      ["--audio nan.wav"] = { 3, "nan.wav: sample 0 is not a finite number" },
      [least .. "--words"] = { 2, "--words: this model has no times of words" },
      [least .. "--prompt a"] = { 2, "--prompt: this model has no token for what was said before" },
      [least .. "--language en"] = { 2, "--language: this model knows one language, which has no token" },
    } do
      local status, said = generate(options)
      assert.equal(expected[1], status, said)
      assert.equal(expected[2] == "" and "" or "moonshine: " .. expected[2] .. "\n", said)
    end
  end)
end)
