-- run_spec.lua: the command `run` of an emitted program: arrays as text, and outputs that would be
-- written over what is read. The model is the worked example, which needs no weights.
local helper = require("tests.spec.helper")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/run"

local function sh(command)
  files.make_folder(folder)
  local handle = assert(io.popen(("cd %s && { %s; } 2>&1"):format(helper.shell(folder), command)))
  local said = handle:read("a")
  local _, how, code = handle:close()
  return how == "signal" and 128 + code or code, said
end

-- A float32 array [1][3][3] as .npy.
local function npy(values)
  local header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 3), }"
  header = header .. (" "):rep(64 - (10 + #header + 1) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. string.pack(("<" .. ("f"):rep(9)),
    table.unpack(values))
end

local run = "worked_example/worked_example run --input query=q.npy --input key=k.npy --input value=v.npy "

describe("run", function()
  setup(function()
    files.write_all(folder, {
      { name = "q.npy", text = npy { 1, 0, 2, 2, 2, 2, 2, 1, 3 } },
      { name = "k.npy", text = npy { 0, 1, 1, 4, 4, 0, 2, 3, 1 } },
      { name = "v.npy", text = npy { 1, 2, 3, 2, 8, 0, 2, 6, 3 } },
    })
    local code, said = sh(("%s build %s -o worked_example"):format(
      helper.shell(root .. "/gen/attn2c"), helper.shell(root .. "/models/worked_example.lua")))
    assert.equal(0, code, said)
  end)

  it("prints what goes to -, as models/README.md shows it", function()
    local code, said = sh(run .. "--output scores_0=- --output attention_0=- --output hidden=-")
    assert.equal(0, code, said)
    local readme = helper.read("models/README.md")
    assert.is_truthy(readme:find(said, 1, true), said)
  end)

  it("never writes over what it reads, nor one output over another", function()
    local before = files.read(folder .. "/q.npy")
    os.remove(folder .. "/h.npy")
    for _, case in ipairs {
      { "--output hidden=q.npy", "--output q.npy: query is read from it" },
      { "--output hidden=../run/k.npy", "--output ../run/k.npy: key is read from it" },
      { "--output hidden=h.npy --output scores_0=./h.npy", "--output ./h.npy: hidden is already written to it" },
    } do
      local code, said = sh(run .. case[1])
      assert.equal(2, code, said)
      assert.is_truthy(said:find(case[2], 1, true), said)
    end
    assert.equal(before, files.read(folder .. "/q.npy"))
    assert.is_nil(files.read(folder .. "/h.npy"))
  end)

  local function said_once(words, code, text)
    local got, said = sh(run .. words)
    assert.equal(code, got, said)
    assert.is_truthy(said:find(text, 1, true), said)
    assert.equal(1, select(2, said:gsub("\n", "")), said)
  end

  it("goes on where a stream stands: what was written there stays", function()
    local npy_file = "--output hidden=h.npy"
    assert.equal(0, (sh("rm -f log h.npy; " .. run .. npy_file)))
    for _, name in ipairs { "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1" } do
      local code, said = sh(("rm -f log; { echo before; %s --output hidden=%s; echo behind; } >log && "
        .. "{ echo before; cat h.npy; echo behind; } | cmp - log"):format(run, name))
      assert.equal(0, code, said)
    end
    assert.equal(0, (sh(run .. "--output hidden=/dev/stdout | cmp - h.npy")))
    assert.equal(0, (sh("rm -f pipe; mkfifo pipe; cat pipe >piped & " .. run .. "--output hidden=pipe && wait && "
      .. "cmp piped h.npy")))
    assert.equal(0, (sh(run .. "--output hidden=/dev/null --output scores_0=/dev/null")))
  end)

  it("says in one line why a place cannot be written", function()
    said_once("--output hidden=/dev/full", 4, "/dev/full: cannot be written: No space left on device")
    said_once("--output hidden=.", 4, ".: cannot be written: Is a directory")
    said_once("--output hidden=./", 4, "./: cannot be written: Is a directory")
    said_once("--output hidden=none/x.npy", 4, "none/x.npy: cannot be written: No such file or directory")
    said_once("--output hidden=/dev/stdout >&-", 4, "/dev/stdout: cannot be written: Bad file descriptor")
  end)

  it("refuses one place under two names", function()
    sh("rm -f later link h.npy; ln -s later link; ln -s link other")
    said_once("--output hidden=link --output scores_0=later", 2, "--output later: hidden is already written to it")
    said_once("--output hidden=link --output scores_0=other", 2, "--output other: hidden is already written to it")
    said_once("--output hidden=- --output scores_0=/dev/stdout", 2,
      "--output /dev/stdout: hidden is already written to it")
    said_once("--output hidden=h.npy --output scores_0=- 3>&1 >h.npy 2>&3", 2,
      "--output -: hidden is already written to it")
    assert.equal(0, (sh(run .. "--output hidden=other && test -f later && test -L link")))
  end)
end)
