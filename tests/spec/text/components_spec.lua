-- components_spec.lua: the records of normalizers, pre-tokenizers and decoders, by the numbers of
-- text/numbers.lua, and the defaults of keys that are not there.
require("tests.spec.helper")
local components = require("text.components")
local json = require("common.json")
local look = require("text.look")

-- The records of one stage's component as "kind flags number a b", and the lines of what is wrong with it.
local function records(stage, text)
  local at, lines = look.new("t.json"), {}
  local root = assert(json.decode(('{"%s":%s}'):format(stage, text)))
  local number = ({ normalizer = 0, pre_tokenizer = 1, decoder = 3 })[stage]
  for _, record in ipairs(components.read(at, root)) do
    if record.stage == number then
      lines[#lines + 1] = ("%d %d %d"):format(record.kind, record.flags or 0, record.number or 0)
    end
  end
  return table.concat(lines, ", "), at.lines
end

local function expect(stage, cases)
  for text, expected in pairs(cases) do
    local found, lines = records(stage, text)
    assert.same({ expected, {} }, { found, lines }, text)
  end
end

describe("components", function()
  it("of normalizing have their flags", function()
    local bert = '{"type":"BertNormalizer","clean_text":%s,"handle_chinese_chars":%s,"strip_accents":%s,"lowercase":%s}'
    expect("normalizer", {
      [bert:format("true", "false", "false", "false")] = "0 1 0",
      [bert:format("false", "true", "false", "false")] = "0 2 0",
      [bert:format("false", "false", "true", "false")] = "0 4 0",
      [bert:format("false", "false", "false", "true")] = "0 8 0",
      -- Without a word on accents they go where letters are lowered.
      [bert:format("false", "false", "null", "true")] = "0 12 0",
      [bert:format("false", "false", "null", "false")] = "0 0 0",
      ['{"type":"Lowercase"}'] = "1 0 0", ['{"type":"StripAccents"}'] = "3 0 0", ['{"type":"Nmt"}'] = "6 0 0",
      ['{"type":"NFD"}'] = "8 0 0", ['{"type":"NFKD"}'] = "8 1 0", ['{"type":"NFC"}'] = "8 2 0",
      ['{"type":"NFKC"}'] = "8 3 0", ['{"type":"ByteLevel"}'] = "9 0 0",
      ['{"type":"Strip","strip_left":true,"strip_right":false}'] = "2 1 0",
      ['{"type":"Strip","strip_left":false,"strip_right":true}'] = "2 2 0",
      ['{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Prepend","prepend":"x"},{"type":"Lowercase"}]}']
        = "8 2 0, 4 0 0, 1 0 0",
    })
  end)

  it("that cut have their behaviour", function()
    local split = '{"type":"Split","pattern":{"String":"x"},"behavior":"%s","invert":%s}'
    expect("pre_tokenizer", {
      ['{"type":"BertPreTokenizer"}'] = "0 0 0, 0 1 1", ['{"type":"WhitespaceSplit"}'] = "0 0 0",
      ['{"type":"Whitespace"}'] = "1 8 0", ['{"type":"Punctuation"}'] = "0 1 1",
      ['{"type":"Punctuation","behavior":"MergedWithNext"}'] = "0 3 1",
      ['{"type":"Digits","individual_digits":true}'] = "0 1 2",
      ['{"type":"Digits","individual_digits":false}'] = "0 4 2",
      [split:format("Removed", "false")] = "1 0 0", [split:format("Isolated", "false")] = "1 1 0",
      [split:format("MergedWithPrevious", "false")] = "1 2 0", [split:format("MergedWithNext", "true")] = "1 11 0",
      [split:format("Contiguous", "true")] = "1 12 0",
      ['{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}'] = "2 1 0",
      ['{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true}'] = "2 0 0",
      ['{"type":"Metaspace","replacement":"_"}'] = "3 1 0", -- always puts one in front, and splits
      ['{"type":"Metaspace","replacement":"_","prepend_scheme":"first","split":false}'] = "3 0 1",
      ['{"type":"Metaspace","replacement":"_","prepend_scheme":"never","add_prefix_space":false}'] = "3 1 2",
    })
    assert.same({ 't.json: pre_tokenizer.add_prefix_space: false, but prepend_scheme is not never' }, (select(2,
      records("pre_tokenizer", '{"type":"Metaspace","replacement":"_","add_prefix_space":false}'))))
  end)

  it("that decode have their numbers", function()
    expect("decoder", {
      ['{"type":"WordPiece","prefix":"##","cleanup":true}'] = "0 1 0",
      ['{"type":"WordPiece","prefix":"##","cleanup":false}'] = "0 0 0", ['{"type":"ByteLevel"}'] = "1 0 0",
      ['{"type":"Metaspace","replacement":"_"}'] = "2 0 0",
      ['{"type":"Metaspace","replacement":"_","prepend_scheme":"never"}'] = "2 0 2",
      ['{"type":"ByteFallback"}'] = "3 0 0", ['{"type":"Fuse"}'] = "4 0 0",
      ['{"type":"Strip","content":" ","start":3,"stop":2}'] = "5 2 3", ['{"type":"BPEDecoder","suffix":"x"}'] = "7 0 0",
      ['null'] = "8 0 0", -- words with a space between
    })
  end)

  it("refuse an empty suffix, which the library puts between all characters", function()
    local at = look.new("t")
    components.read(at, json.decode('{"decoder":{"type":"BPEDecoder","suffix":""}}'))
    assert.matches("decoder.suffix: an empty text is not supported", at.lines[1], 1, true)
  end)

  it("have the texts that they need", function()
    local function first(stage, text)
      local record = components.read(look.new("t"), json.decode(('{"%s":%s}'):format(stage, text)))[1]
      return { record.a, record.b }
    end
    assert.same({ "x" }, first("normalizer", '{"type":"Prepend","prepend":"x"}'))
    assert.same({ "##" }, first("decoder", '{"type":"WordPiece","prefix":"##","cleanup":true}'))
    assert.equal("y", first("normalizer", '{"type":"Replace","pattern":{"String":"x"},"content":"y"}')[2])
    assert.equal("", first("pre_tokenizer",
      '{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":false}')[1])
    assert.is_true(#first("pre_tokenizer", '{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}')[1] > 40)
    -- The size of a double array, 4, the array, and a block of texts of one and of two bytes.
    for text, bytes in pairs { ["BAAAAGFiY2RN"] = "M", ["BAAAAGFiY2RNYQ=="] = "Ma" } do
      assert.same({ "\4\0\0\0abcd" .. bytes }, first("normalizer",
        ('{"type":"Precompiled","precompiled_charsmap":"%s"}'):format(text)))
    end
  end)
end)
