-- serve_fuzz_spec.lua: wrong requests to a program that serves, built with sanitizers (tests/serve/wrong.py,
-- tests/serve/refused.py), slow and many clients (tests/serve/slow.py), and fields with odd values
-- (tests/serve/fuzz.py).
-- SERVE_SEED=3 SERVE_COUNT=5000 sends others.
local dkjson = require("dkjson")
local helper = require("tests.spec.helper")
local files = require("common.files")
local serving = require("tests.spec.serving")

local tried = helper.is_long and it or pending
local root, shell = helper.absolute_root(), helper.shell
local folder = root .. "/out/spec/serve_fuzz"
local model = root .. "/tests/generate/llama"
local SEED = tonumber(os.getenv("SERVE_SEED") or 1)
local COUNT = tonumber(os.getenv("SERVE_COUNT") or helper.is_long and 100000 or 400)

describe("a program that serves", function()
  setup(function()
    files.make_folder(folder)
    local code, said = helper.run(("%s %s build %s context=200 sequences=3 chunk=16 kernels=c --serve "
      .. "--chat-template %s -o %s"):format(helper.with_addresses, shell(root .. "/gen/attn2c"), shell(model),
      shell(root .. "/tests/chat/templates/qwen2_5.jinja"), shell(folder .. "/llama")))
    assert.equal(0, code, said)
  end)

  it("survives wrong requests, and gives others what they would get", function()
    local server = serving.start(folder, "llama/llama serve --weights " .. shell(model), "--unix s --log none",
      60 + COUNT // 50)
    helper.succeeds(("python3 %s/tests/serve/refused.py %s/s"):format(shell(root), shell(folder)))
    local failed, counts = helper.run(("python3 %s/tests/serve/wrong.py %s/s %d %d"):format(shell(root), shell(folder),
      SEED, COUNT))
    assert.equal("", server:said())
    assert.equal(0, failed, counts)
    for _, status in ipairs { 200, 400, 413 } do assert.matches("[{ ]" .. status .. ": %d", counts) end
    server:stop(function(text) assert.equal("", text) end) -- nothing has leaked
  end)

  -- Asks a server by slow.py.
  local function behaves(what, options, more)
    local server = serving.start(folder, "llama/llama serve --weights " .. shell(model),
      "--port 0 --log none " .. options)
    local words = more and shell(more) or what == "end" and server.pid or ""
    local failed, said = helper.run(("python3 %s/tests/serve/slow.py %s %s %s"):format(shell(root), what,
      server.address, words))
    assert.equal(0, failed, said)
    server:stop(function(text) assert.equal("", text) end)
  end

  it("lets others pass streams that are not read, and goes on with these later, with the same bits", function()
    behaves("slow", "")
    behaves("slow", "--sequences 1 --guess prompt", '{"n": 2}')
  end)

  it("frees the sequence of a stream whose client goes away", function() behaves("cut", "") end)

  it("refuses requests beyond those that may wait with 503 and Retry-After", function()
    behaves("full", "--sequences 1 --max-waiting 2")
  end)

  it("writes streams to their end after SIGTERM", function() behaves("end", "") end)

  tried("takes or refuses an odd value of each field, and none is its fault", function()
    local json = "application/json"
    helper.write(folder .. "/requests", dkjson.encode {
      { path = "/v1/completions", type = json, body = '{"prompt":"Once upon","max_tokens":2,"temperature":0}' },
      { path = "/v1/chat/completions", type = json,
        body = '{"messages":[{"role":"user","content":"Hi"}],"max_tokens":2,"temperature":0}' },
      { path = "/tokenize", type = json, body = '{"inputs":"a b"}' },
      { path = "/decode", type = json, body = '{"ids":[5,6]}' } })
    local server = serving.start(folder, "llama/llama serve --weights " .. shell(model), "--port 0 --log none", 600)
    helper.succeeds(("timeout 600 python3 %s/tests/serve/fuzz.py %s 0 1 requests %s/runtime/program/serve"):format(
      shell(root), server.address, shell(root)), folder)
    server:stop(function(text) assert.equal("", text) end)
  end)
end)
