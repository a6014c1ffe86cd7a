-- tasks_spec.lua: the functions of Python modules by what their models are for (runtime/python/tasks.py), against the
-- pipelines of transformers and sentence-transformers, as tests/bindings/tasks.py says.
local helper = require("tests.spec.helper")
local files = require("common.files")
local libuv = require("common.libuv")
local version = require("common.version")

local root = helper.absolute_root()
local folder = root .. "/out/spec/tasks"
local try = helper.runner(folder)

-- In `make test` each function has a model for each kind of its answers; the others differ in what only the C code of
-- texts sees. Modules of pictures, speech and translations are asked where their programs are built.
local models = {
  texts = { "sequence", "entailment", "many", "modules", "prompt", "reranker", "token", "masked", "windows" },
  captions = { "blip" },
}
if helper.is_long then
  models.texts = { "sequence", "entailment", "pairs", "ended", "many", "sentence", "modules", "prompt", "limited",
    "modern", "reranker", "token", "masked", "question", "windows" }
end

setup(function()
  local list = {}
  for kind, names in pairs(models) do
    for _, name in ipairs(names) do
      list[#list + 1] = { name = name, path = ("%s/tests/hf/%s/%s"):format(root, kind, name),
        words = { "--text", "kernels=c", ("--only=lib%s.so.%d"):format(name, version.abi) } }
    end
  end
  list[#list + 1] = { name = "digits", path = root .. "/models/digits", words = { "kernels=c",
    ("--only=libdigits.so.%d"):format(version.abi) } }
  files.make_folder(folder)
  dofile(root .. "/tests/cases.lua").programs(folder, list)
  for _, each in ipairs(list) do
    assert(files.read(("%s/%s/lib%s.so.%d"):format(folder, each.name, each.name, version.abi)),
      files.read(("%s/%s.log"):format(folder, each.name)))
    libuv.fs_symlink(("lib%s.so.%d"):format(each.name, version.abi), ("%s/%s/lib%s.so"):format(folder, each.name,
      each.name))
  end
end)

teardown(function() files.remove_folder(folder) end)

describe("the functions of a module", function()
  it("answer as the pipelines of transformers and sentence-transformers do", function()
    for kind, goldens in pairs { texts = "tests/hf/texts", captions = "tests/hf/captions", digits = "models/digits" } do
      assert.equal("", helper.asks_tasks(kind, folder, root .. "/" .. goldens))
    end
  end)

  it("have hints that a checker of types takes", function()
    helper.write(folder .. "/uses.py", "from typing import List\nimport sequence\nimport windows\n"
      .. "a: List[object] = sequence.classify(['a'], top_k=2)\nb: str = windows.answer('a', 'b')['answer']\n")
    local function mypy(file)
      return try { "env", ("MYPYPATH=%s/sequence:%s/windows"):format(folder, folder), "mypy", "--strict",
        "--cache-dir", helper.mypy_cache, file }
    end
    local code, output = mypy("uses.py")
    assert.equal("Success: no issues found in 1 source file\n", output)
    assert.equal(0, code)
    helper.write(folder .. "/misuses.py", "import sequence\nsequence.classify(['a'], top='2')\n")
    code, output = mypy("misuses.py")
    assert.truthy(output:find("misuses.py:2: error: Unexpected keyword argument \"top\"", 1, true), output)
    assert.equal(1, code)
  end)

  it("say what is missing if the package has no weights", function()
    local code, _, errors = try { "env", ("PYTHONPATH=%s/sequence"):format(folder), "/usr/bin/python3", "-c",
      "import sequence; sequence.classify(['a'])" }
    assert.equal(1, code)
    assert.truthy(errors:find("ValueError: sequence.weights: is not there", 1, true), errors)
  end)
end)
