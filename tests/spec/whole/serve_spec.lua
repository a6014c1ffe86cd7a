-- serve_spec.lua: programs that are built with --serve, asked by curl: routes, keys, limits, and the end.
local generating = require("tests.spec.generating")
local helper = require("tests.spec.helper")
local serving = require("tests.spec.serving")

local own = generating.new("serve", { "llama" }, "--serve")
local shell = helper.shell

describe("a program that serves", function()
  local server
  setup(function()
    own.build()
    server = serving.start(own.folder, own.line("llama", "serve"))
  end)
  teardown(function() if server then server:stop() end end)

  it("says that it is there, and what it has", function()
    local status, said = server:ask("/health")
    assert.same({ 200, { status = "ok" } }, { status, said })
    status, said = server:ask("/v1/models")
    assert.same({ 200, "llama" }, { status, said.data[1].id })
    local _, _, text = server:ask("/metrics")
    assert.matches('attn2c_requests_total{route="/health",status="200"} 1\n', text, 1, true)
  end)

  it("refuses other routes and methods", function()
    local status, said = server:ask("/nothing")
    assert.same({ 404, "not_found_error" }, { status, said.error.type })
    status, said = server:ask("/health", "{}")
    assert.same({ 405, "the route takes GET, HEAD" }, { status, said.error.message })
    assert.matches("HTTP/1.1 200", (select(3, server:ask("/health", nil, "-I"))))
  end)

  it("asks for its key, except where it says that it lives", function()
    helper.write(own.folder .. "/key", "secret-1\n")
    local keyed = serving.start(own.folder, own.line("llama", "serve"), "--port 0 --api-key-file key")
    local function status_with(more) return (keyed:ask("/v1/models", nil, more)) end
    assert.equal(200, (keyed:ask("/health")))
    for _, wrong in ipairs { "", "-H 'Authorization: Bearer secret-2'", "-H 'Authorization: Bearer secret-'",
      "-H 'Authorization: Bearer secret-1secret-1'", "-H 'Authorization: Bearer '", "-H 'Authorization: secret-1'" } do
      assert.equal(401, status_with(wrong), wrong)
    end
    assert.equal(200, status_with("-H 'Authorization: Bearer secret-1'"))
    keyed:stop()
  end)

  it("refuses addresses that it cannot have", function()
    local port = server.address:match("%d+$")
    local line = own.line("llama", "serve")
    local function refused(options) return own.refusal(("timeout 20 %s %s"):format(line, options)) end
    assert.same({ 4, "127.0.0.1:" .. port .. ": another process listens there\n" }, { refused("--port " .. port) })
    assert.same({ 2, "--host: 'x', but a number such as 127.0.0.1 or ::1, or localhost is allowed\n" },
      { refused("--host x") })
    assert.same({ 2, "--unix: does not go with --host and --port\n" }, { refused("--unix s --port 1") })
    helper.write(own.folder .. "/file", "mine")
    assert.same({ 4, "--unix file: a file that is no socket is there\n" }, { refused("--unix file") })
    assert.equal("mine", helper.read(own.folder .. "/file"))
    assert.same({ 4, "none: cannot be opened: No such file or directory\n" },
      { refused("--api-key-file none --port 0") })
    assert.same({ 2, "--log: 'x', but none, text or jsonl is allowed\n" }, { refused("--log x") })
  end)

  it("takes a socket file that nobody listens on, and removes it at the end", function()
    os.execute("cd " .. shell(own.folder) .. " && rm -f s && python3 -c 'import socket; "
      .. "socket.socket(socket.AF_UNIX).bind(\"s\")' && test -S s")
    local first = serving.start(own.folder, own.line("llama", "serve"), "--unix s --log jsonl")
    first.address = "unix:" .. own.folder .. "/s"
    assert.equal(200, (first:ask("/health")))
    local status, said = own.refusal("timeout 20 " .. own.line("llama", "serve", "--unix s"))
    assert.same({ 4, "--unix s: another process listens there\n" }, { status, said })
    assert.matches('^{"time":"[^"]+","method":"GET","route":"/health","status":200,"ms":[%d.]+,"bytes":0', first:said())
    first:stop()
    assert.falsy(os.execute("test -e " .. shell(own.folder .. "/s")))
  end)

  it("is in no other program", function()
    local plain = generating.new("serve_plain", { "llama" })
    plain.build()
    assert.equal(1, (plain.run("ldd llama/llama | grep -i libevent")))
    assert.equal(1, (plain.run("strings llama/llama | grep -iE 'evhttp|libevent|api-key|/v1/|prometheus'")))
    assert.same({ 2, "no command 'serve'; allowed are info, run, check, bench, pack, generate, chat and perplexity "
      .. "(--help explains them)\n" }, { plain.refusal("llama/llama serve") })
  end)
end)
