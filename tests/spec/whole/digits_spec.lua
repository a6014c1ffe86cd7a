-- digits_spec.lua: the recogniser of models/digits: what is in its folder, and that it writes down the sounds as
-- transformers does.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local model = root .. "/models/digits"
local folder = root .. "/out/spec/digits"
local shell = helper.shell

local function sh(command) return helper.succeeds(command, folder) end

-- Returns the texts of the sounds: "spoken" or "heard", what transformers' greedy decoding gives.
local function texts(kind)
  local list = {}
  for name, spoken, heard in helper.read(model .. "/held.tsv"):gmatch("([^\t\n]+)\t([^\t\n]+)\t([^\t\n]+)\n") do
    list[#list + 1] = ("%s/%s\t%s\n"):format(model, name, kind == "heard" and heard or spoken)
  end
  return list
end

describe("models/digits", function()
  setup(function()
    os.execute("rm -rf " .. shell(folder))
    files.make_folder(folder)
    dofile(root .. "/tests/cases.lua").programs(folder, { { name = "built", path = model } })
  end)

  it("has weights of at most 3 MB", function()
    local bytes = lfs.attributes(model .. "/model.safetensors", "size")
    assert.is_true(bytes <= 3e6, ("%d bytes"):format(bytes))
  end)

  it("writes down sounds as transformers does", function()
    local heard = texts("heard")
    assert.equal(6, #heard)
    local run = ("built/digits run --weights %s --audio %s"):format(shell(model), shell(model))
    assert.equal(table.concat(heard), sh(run))
  end)

  it("hears what is said", function() assert.same(texts("spoken"), texts("heard")) end)
end)
