-- embed_spec: what --embed and --weights ask for.
local helper = require("tests.spec.helper")
local embed = require("commands.build.embed")
local files = require("common.files")
local gguf_file = require("tests.spec.gguf_file")
local lfs = require("lfs")

-- A file of safetensors, with some bytes of data.
local function header(text, bytes) return string.pack("<I8", #text) .. text .. ("\0"):rep(bytes or 0) end

-- The one line and the exit code of a refusal.
local function refusal(...)
  local fault = helper.fault(embed.find, ...)
  assert.equal(1, #fault.lines)
  return fault.lines[1], fault.code
end

describe("embed", function()
  after_each(helper.clean)

  it("is nothing where it is not asked for, and a path is packed", function()
    assert.same({}, embed.find())
    assert.same({}, embed.find(nil, nil, "folder"))
    assert.same({ embed = "packed", weights = "/a b/c" }, embed.find("/a b/c"))
    assert.same({ embed = "packed", weights = lfs.currentdir() .. "/./f16" }, embed.find("./f16"))
  end)

  it("takes a folder's own weights, or those that are given", function()
    assert.same({ embed = "packed", weights = "/own" }, embed.find("f32", nil, "/own"))
    assert.same({ embed = "packed", weights = "/given" }, embed.find("f32", "/given", "/own"))
    local folder = helper.folder()
    local narrow = header('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
      .. '"b":{"dtype":"BF16","shape":[1],"data_offsets":[4,6]}}', 6)
    helper.write(folder .. "/model.safetensors", narrow)
    assert.same({ embed = "stored", weights = folder .. "/model.safetensors" }, embed.find("f16", nil, folder))
    files.make_folder(folder .. "/0_Transformer")
    helper.write(folder .. "/0_Transformer/model.safetensors", narrow)
    assert.same({ embed = "stored", weights = folder .. "/0_Transformer/model.safetensors" },
      embed.find("f16", folder, nil))
  end)

  it("keeps a GGUF file as it is, unless it is one of several parts or all wide", function()
    local function gguf(entries, kind)
      return helper.file(gguf_file.bytes(entries, { { "a", kind, { 32 } } }), "m.gguf")
    end
    local path = gguf({}, "Q4_0")
    assert.same({ embed = "stored", weights = path }, embed.find("f16", nil, path))
    assert.matches("m.gguf: has only tensors of type F32 or F64: use %-%-embed=f32$",
      refusal("f16", gguf({}, "F32")))
    local goldens = helper.root .. "/tests/hf/goldens/gguf_qwen2/gguf_qwen2-00001-of-00003.gguf"
    assert.matches("has several files: %-%-embed=f16 takes a checkpoint of one file", refusal("f16", goldens))
  end)

  it("is refused where the words do not fit together", function()
    for _, case in ipairs { { nil, "w" }, { "file", "w" }, { "" }, { "f16" }, { "f32", "" } } do
      local line, code = refusal(case[1], case[2])
      assert.matches("^%-%-", line)
      assert.equal(2, code)
    end
  end)

  it("keeps only narrow checkpoints as they are", function()
    local path = helper.file(header('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},'
      .. '"i":{"dtype":"I64","shape":[0],"data_offsets":[4,4]},"__metadata__":{"dtype":"F16"}}', 4), "wide")
    local line, code = refusal("f16", path)
    assert.same({ path .. ": has only tensors of type F32 or F64: use --embed=f32", 3 }, { line, code })
    assert.matches("is a packed file in f32", refusal("f16", helper.file("attn2c weights\n\0more", "packed")))
    -- What cannot be read is refused by the program that reads it.
    for _, text in ipairs { "", "1234567", header "[]", header "{", string.pack("<I8", 1 << 40), ("\255"):rep(99) } do
      local odd = helper.file(text, "odd")
      local ok, found = pcall(embed.find, "f16", odd)
      assert.is_true(not ok or found.weights == odd)
    end
  end)
end)
