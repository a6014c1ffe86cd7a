-- counts_spec.lua: numbers in files of strangers, each replaced by numbers that no loop should follow: 2^31, 2^53,
-- 1e300, -1, 0, 1.5, a text. Every key of a family's table and every number of a folder's JSON files; every metadata
-- entry of GGUF files, with each type of the format. Each is taken, or refused in plain lines, in bounded time and
-- memory.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local families = require("checkpoints.families")
local faults = require("common.faults")
local files = require("common.files")
local gguf_file = require("tests.spec.gguf_file")
local lfs = require("lfs")
local pipeline = require("pipeline")

local root = helper.absolute_root()
local VALUES = { "2147483648", "9007199254740992", "1e300", "-1", "0", "1.5", '"12"' }
local STEP, MOST_STEPS = 1000000, 200 -- instructions: some 2 s
local MEMORY = 256 << 10              -- KiB
local MOST_LINES, LONGEST_LINE = 40, 2000
local ALLOWED = { [faults.code.usage] = true, [faults.code.format] = true }

local STRIDE = 241 -- of the cases of a folder in `make test`

local begin -- the memory before the first case: collecting all garbage takes longer than most cases

-- Returns what is wrong with how the passes up to the graph end, or nil; then the fault, if there is one.
local function wrong(path)
  if not begin then
    collectgarbage()
    begin = collectgarbage("count")
  end
  local steps, seconds, most = 0, os.clock(), 0
  local function look()
    steps, most = steps + 1, math.max(most, collectgarbage("count") - begin)
    if steps > MOST_STEPS or most > MEMORY then error("no end: " .. debug.traceback(), 0) end
  end
  local function watch() debug.sethook(look, "", STEP) end -- describe.lua takes the hook away
  local ok, fault = pcall(pipeline.run, root, path, {}, "graph", { with_text = true, watch = watch })
  debug.sethook()
  look()
  if os.clock() - seconds > 10 then return ("%g s"):format(os.clock() - seconds) end
  if ok then return nil end
  if not faults.is(fault) then return tostring(fault) end
  if not ALLOWED[fault.code] or #fault.lines > MOST_LINES then
    return ("code %d, %d lines"):format(fault.code, #fault.lines)
  end
  for _, line in ipairs(fault.lines) do
    if #line > LONGEST_LINE or line:find("%c") then return "a line that is no message: " .. line:sub(1, 200) end
  end
  return nil, fault
end

-- Calls visit(path) for the path of each number within a value, and of each list and object.
local function each_number(value, path, visit)
  for key, inner in pairs(value) do
    local inside = table.move(path, 1, #path, 1, {})
    inside[#inside + 1] = key
    if type(inner) == "number" or type(inner) == "table" then visit(inside) end
    if type(inner) == "table" then each_number(inner, inside, visit) end
  end
end

-- Returns the text of an object with another value at a path, written as it is.
local function changed(text, path, value)
  local object, mark = dkjson.decode(text), "the value"
  local at = object
  for i = 1, #path - 1 do at = at[path[i]] end
  at[path[#path]] = mark
  return (dkjson.encode(object):gsub('"' .. mark .. '"', function() return value end))
end

local function copy(from, to)
  for name in lfs.dir(from) do
    local path = from .. "/" .. name
    if name:sub(1, 1) ~= "." and lfs.attributes(path, "mode") == "directory" then
      copy(path, to .. "/" .. name)
    elseif name:sub(1, 1) ~= "." and not name:find("%.npy$") then
      files.write_all(to, { { name = name, text = helper.read(path) } })
    end
  end
end

-- Returns one folder for each family, and for each kind of folder: { path, model_type }.
local function folders()
  local list, seen = {}, {}
  for _, place in ipairs { "goldens", "texts", "pictures" } do
    for _, name in ipairs(helper.entries(root .. "/tests/hf/" .. place)) do
      local path = ("%s/tests/hf/%s/%s"):format(root, place, name)
      local config = files.read(path .. "/config.json")
      local object = config and dkjson.decode(config) or {}
      local kind = table.concat({ tostring(object.model_type), place, tostring(object.quantization_config ~= nil),
        tostring(name:find("sentence") ~= nil) }, " ")
      if config and not seen[kind] then list[#list + 1], seen[kind] = { path, object.model_type }, true end
    end
  end
  return list
end

-- Returns the cases of a folder: { file, path of keys, value }.
local function cases_of(folder, model_type)
  local list = {}
  for _, name in ipairs { "config.json", "generation_config.json", "sentence_bert_config.json", "modules.json",
    "config_sentence_transformers.json", "preprocessor_config.json", "1_Pooling/config.json", "2_Dense/config.json",
    "tokenizer_config.json" } do
    local text = files.read(folder .. "/" .. name)
    local paths = {}
    if text then each_number(dkjson.decode(text), {}, function(path) paths[#paths + 1] = path end) end
    for _, entry in ipairs(name == "config.json" and families.by_type[model_type].config or {}) do
      if entry.kind ~= "flag" and entry.kind ~= "word" then paths[#paths + 1] = { entry[1] } end
    end
    table.sort(paths, function(a, b) return table.concat(a, "\0") < table.concat(b, "\0") end)
    for _, path in ipairs(paths) do
      for _, value in ipairs(VALUES) do list[#list + 1] = { name, path, value } end
    end
  end
  return list
end

describe("numbers that no loop should follow", function()
  teardown(helper.clean)

  it("in the files of a folder", function()
    local count, refused = 0, 0
    for number, each in ipairs(folders()) do
      local source, model_type = table.unpack(each)
      local list = cases_of(source, model_type)
      table.move(list, 1, number % STRIDE, #list + 1) -- samples of other keys and values in each folder
      local folder = helper.folder()
      copy(source, folder)
      for i, case in ipairs(helper.sample(list, STRIDE)) do
        local name, path, value = table.unpack(case)
        local text = helper.read(source .. "/" .. name)
        helper.write(folder .. "/" .. name, changed(text, path, value))
        local problem, fault = wrong(folder)
        assert.is_nil(problem, ("%s/%s: %s = %s: case %d"):format(source, name, table.concat(path, "."), value, i))
        helper.write(folder .. "/" .. name, text)
        count, refused = count + 1, refused + (fault and 1 or 0)
      end
      files.remove_folder(folder)
    end
    assert.is_true(count > (helper.is_long and 8000 or 30) and refused > count // 3, count .. ", " .. refused)
  end)

  it("are named with what is allowed", function()
    local function said(name, key, value)
      local source, folder = root .. "/tests/hf/goldens/" .. name, helper.folder()
      copy(source, folder)
      helper.write(folder .. "/config.json", changed(helper.read(source .. "/config.json"), { key }, value))
      local problem, fault = wrong(folder)
      assert.is_nil(problem)
      return table.concat(fault.lines, "\n"), fault.code
    end
    for _, name in ipairs { "llama_logits", "albert_masked", "gptq_llama", "modernbert_model" } do
      local line, code = said(name, "num_hidden_layers", "2147483648")
      assert.matches("/config.json: num_hidden_layers: 2147483648 is not supported; at most 1000 is$", line)
      assert.equal(faults.code.usage, code)
    end
    local source, folder = root .. "/tests/hf/texts/sentence", helper.folder()
    copy(source, folder)
    local list = dkjson.decode(helper.read(source .. "/modules.json"))
    for i = #list + 1, 101 do list[i] = list[2] end
    helper.write(folder .. "/modules.json", dkjson.encode(list))
    assert.matches("/modules.json: 101 modules, but at most 100 are supported$", select(2, wrong(folder)).lines[1])
    assert.matches("config.json: vocab_size: 9007199254740992 is not supported; at most 2147483647 is$",
      (said("bert_model", "vocab_size", "9007199254740992")))
    assert.matches("input.registers: 65536, but an integer from 0 to ",
      (said("dinov2_gated", "num_register_tokens", "65536")))
    assert.matches("scale: ", (said("deberta_v2_c2p", "num_attention_heads", "100")))
  end)

  -- Every metadata entry with every type of the format, and with numbers as above.
  it("and values of other types in the metadata of a GGUF file", function()
    local others = { { "UINT8", 0 }, { "UINT8", 255 }, { "INT8", -1 }, { "UINT16", 65535 }, { "INT16", -1 },
      { "UINT32", 1 << 31 }, { "UINT32", 0 }, { "INT32", -1 }, { "FLOAT32", 1.5 }, { "FLOAT32", -math.huge },
      { "FLOAT32", 0 / 0 }, { "BOOL", 1 }, { "STRING", "" }, { "STRING", "12" }, { "ARRAY STRING", { "a" } },
      { "ARRAY INT32", {} }, { "ARRAY INT32", { -1, 1 << 30 } }, { "ARRAY UINT8", { 7 } }, { "UINT64", 1 << 53 },
      { "INT64", -1 }, { "INT64", 1 << 31 }, { "FLOAT64", 1e300 } }
    local list, refused = {}, 0
    for _, name in ipairs(helper.entries(root .. "/tests/hf/goldens")) do
      local folder = root .. "/tests/hf/goldens/" .. name
      local file = name:find("^gguf_") and table.concat(helper.entries(folder), "\n"):match("[^\n]*%.gguf")
      local text = file and not file:find("%-of%-") and helper.read(folder .. "/" .. file)
      for _, place in ipairs(text and gguf_file.places(text) or {}) do
        for _, other in ipairs(others) do list[#list + 1] = { name, text, place, other } end
      end
    end
    local whole = #list
    for _, case in ipairs(helper.sample(list, 59)) do
      local name, text, place, other = table.unpack(case)
      local path = helper.file(gguf_file.with(text, place, table.unpack(other)), "m.gguf")
      local problem, fault = wrong(path)
      assert.is_nil(problem, ("%s: %s = %s %s"):format(name, place.key, other[1], tostring(other[2])))
      os.remove(path)
      lfs.rmdir(path:match("^(.*)/"))
      refused = refused + (fault and 1 or 0)
    end
    assert.is_true(whole > 2463 and refused > (helper.is_long and 800 or 15), whole .. ", " .. refused)
  end)
end)
