-- serve_fuzz_spec.lua: wrong requests to a program that serves, built with sanitizers (tests/serve/wrong.py).
-- SERVE_SEED=3 SERVE_COUNT=5000 sends others.
local helper = require("tests.spec.helper")
local files = require("common.files")
local serving = require("tests.spec.serving")

local root, shell = helper.absolute_root(), helper.shell
local folder = root .. "/out/spec/serve_fuzz"
local SEED = tonumber(os.getenv("SERVE_SEED") or 1)
local COUNT = tonumber(os.getenv("SERVE_COUNT") or helper.is_long and 100000 or 400)

describe("a program that serves", function()
  it("survives wrong requests, and gives others what they would get", function()
    files.make_folder(folder)
    local model = root .. "/tests/generate/llama"
    local code, said = helper.run(("%s %s build %s context=200 sequences=3 chunk=16 kernels=c --serve "
      .. "--chat-template %s -o %s"):format(helper.with_addresses, shell(root .. "/gen/attn2c"), shell(model),
      shell(root .. "/tests/chat/templates/qwen2_5.jinja"), shell(folder .. "/llama")))
    assert.equal(0, code, said)
    local server = serving.start(folder, "llama/llama serve --weights " .. shell(model), "--unix s --log none",
      60 + COUNT // 50)
    local failed, counts = helper.run(("python3 %s/tests/serve/wrong.py %s/s %d %d"):format(shell(root), shell(folder),
      SEED, COUNT))
    assert.equal("", server:said())
    assert.equal(0, failed, counts)
    for _, status in ipairs { 200, 400, 413 } do assert.matches("[{ ]" .. status .. ": %d", counts) end
    server:stop(function(text) assert.equal("", text) end) -- nothing has leaked
  end)
end)
