-- process_spec.lua: post-processors as templates: which tokens are around one text and around a pair, and their types.
require("tests.spec.helper")
local json = require("common.json")
local look = require("text.look")
local process = require("text.process")

-- The templates of one text and of a pair as "kind:type" or "id:type"; the records of places; the faults.
local function read(text)
  local at, trims = look.new("t.json"), {}
  local root = assert(json.decode(('{"post_processor":%s}'):format(text)))
  local lines = { [0] = {}, {} }
  for _, piece in ipairs(process.read(at, root, trims)) do
    local what = ({ [0] = "A", "B" })[piece.kind] or piece.id
    table.insert(lines[piece.pair], ("%s:%d"):format(what, piece.type))
  end
  local flags = {}
  for i, record in ipairs(trims) do flags[i] = record.flags end
  return { table.concat(lines[0], " "), table.concat(lines[1], " "), table.concat(flags, " ") }, at.lines
end

local function expect(expected, text)
  local found, lines = read(text)
  assert.same({}, lines)
  assert.same(expected, found)
end

describe("a post-processor", function()
  it("may be none", function() expect({ "A:0", "A:0 B:1", "" }, "null") end)

  it("of BERT gives the pair the type 1", function()
    expect({ "2:0 A:0 3:0", "2:0 A:0 3:0 B:1 3:1", "" },
      '{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]}')
  end)

  it("of RoBERTa doubles the separator, and gives no types", function()
    local roberta = '{"type":"RobertaProcessing","sep":["</s>",3],"cls":["<s>",2],"trim_offsets":%s,'
      .. '"add_prefix_space":%s}'
    expect({ "2:0 A:0 3:0", "2:0 A:0 3:0 3:0 B:0 3:0", "0" }, roberta:format("true", "false"))
    expect({ "2:0 A:0 3:0", "2:0 A:0 3:0 3:0 B:0 3:0", "1" }, roberta:format("true", "true"))
    expect({ "2:0 A:0 3:0", "2:0 A:0 3:0 3:0 B:0 3:0", "" }, roberta:format("false", "true"))
  end)

  it("of bytes says where places end", function()
    local bytes = '{"type":"ByteLevel","trim_offsets":%s,"add_prefix_space":%s}'
    expect({ "A:0", "A:0 B:1", "1" }, bytes:format("true", "true"))
    expect({ "A:0", "A:0 B:1", "0" }, bytes:format("true", "false"))
    expect({ "A:0", "A:0 B:1", "" }, bytes:format("false", "true"))
  end)

  local template = [[{"type":"TemplateProcessing",
    "single":[{"SpecialToken":{"id":"<s>","type_id":2}},{"Sequence":{"id":"A","type_id":1}}],
    "pair":[{"Sequence":{"id":"B","type_id":4}},{"SpecialToken":{"id":"<s>","type_id":3}},
      {"Sequence":{"id":"A","type_id":0}}],
    "special_tokens":{"<s>":{"id":"<s>","ids":[7,8],"tokens":["x","y"]}}}]]

  it("of a template has its types, and all ids of a token", function()
    expect({ "7:2 8:2 A:1", "B:4 7:3 8:3 A:0", "" }, template)
  end)

  it("may be a sequence, of which one adds tokens", function()
    local bytes = '{"type":"ByteLevel","trim_offsets":true,"add_prefix_space":true}'
    expect({ "7:2 8:2 A:1", "B:4 7:3 8:3 A:0", "1" },
      ('{"type":"Sequence","processors":[%s,%s]}'):format(bytes, template))
    local _, lines = read(('{"type":"Sequence","processors":[%s,%s]}'):format(template, template))
    assert.equal(1, #lines)
    assert.matches("^t%.json: post_processor%.processors%[1%]: two processors that add tokens", lines[1])
  end)

  it("is refused where its template cannot be", function()
    for part, expected in pairs {
      ['"id":"A","type_id":1'] = { '"id":"B","type_id":1', "the template for one text has a second text" },
      ['"ids":[7,8]'] = { '"ids":[7,-8]', "ids are expected" },
      ['{"SpecialToken":{"id":"<s>","type_id":2}}'] = { '{"SpecialToken":{"id":"<t>","type_id":2}}',
        "a special token that special_tokens does not have" },
    } do
      local at = template:find(part, 1, true)
      local _, lines = read(template:sub(1, at - 1) .. expected[1] .. template:sub(at + #part))
      assert.is_truthy((lines[1] or ""):find(expected[2], 1, true), expected[2])
    end
  end)
end)
