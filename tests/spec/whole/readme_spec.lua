-- readme_spec.lua: the examples of README files work as they are printed: the C example, compiled against the shared
-- and the static library and run; the Python examples; the first own model; the commands.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local shell = helper.shell
local top = lfs.currentdir()
local scratch -- its path has no blank, which the flags that pkg-config prints cannot have
local attn2c = shell(top .. "/gen/attn2c")

local function succeeds(line)
  local pipe = assert(io.popen("(cd " .. shell(scratch) .. " && " .. line .. ") 2>&1; echo \"exit $?\""))
  local text = pipe:read("a")
  pipe:close()
  local output, code = text:match("^(.*)exit (%d+)\n$")
  assert.are.equal("0", code, line .. "\n" .. output)
  return output
end

local EXAMPLES, MODELS = "models/examples/README.md", "models/README.md"

-- The n-th block of a language ("": none) after a heading of a README.
local function block(file, heading, language, n)
  local readme = helper.read(file)
  local at = assert(readme:find("\n## " .. heading, 1, true), heading)
  local count = 0
  for of, text in readme:sub(at):gmatch("```(%w*)\n(.-)```") do
    if of == language then
      count = count + 1
      if count == (n or 1) then return text end
    end
  end
  error("no such block after " .. heading)
end

local function write(name, text)
  local handle = assert(io.open(scratch .. "/" .. name, "w"))
  handle:write(text)
  handle:close()
end

describe("README files", function()
  setup(function()
    scratch = helper.folder()
    succeeds(attn2c .. " build " .. shell(top .. "/models/speaker.lua"))
    write("example.c", block(EXAMPLES, "C\n", "c"))
  end)

  teardown(helper.clean)

  it("has a C example of some 30 lines", function()
    local lines = select(2, block(EXAMPLES, "C\n", "c"):gsub("\n", ""))
    assert.is_true(lines >= 25 and lines <= 40, lines .. " lines")
  end)

  it("compiles and runs it as it says, against the shared and the static library", function()
    local commands = block(EXAMPLES, "C\n", "")
    local count = 0
    for line in commands:gmatch("[^\n]+") do
      count = count + 1
      line = line:gsub("%s+# .*$", "")
      succeeds("rm -f example && " .. line:gsub("^cc ", "cc -std=c11 -Wall -Wextra -Werror "))
      local text = succeeds("./example " .. shell(top .. "/models/speaker/speaker.safetensors"))
      assert.is_truthy(text:match("^the first segment is of speaker %d+\n$"), text)
    end
    assert.are.equal(2, count)
  end)

  it("shows its use from Python, with what that prints", function()
    os.execute(("ln -sfn %s %s"):format(shell(top .. "/models"), shell(scratch .. "/models")))
    write("example.py", block(EXAMPLES, "Python\n", "python"))
    assert.are.equal(block(EXAMPLES, "Python\n", ""),
      succeeds("PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 example.py"))
  end)

  it("shows commands that build and run examples, with their numbers", function()
    os.execute(("ln -sfn %s %s"):format(shell(top .. "/models"), shell(scratch .. "/models")))
    local got, expected, count = nil, {}, 0
    local function compare()
      for i, line in ipairs(expected) do
        local speaker, logit = line:match("^(%d+) (%S+)$")
        assert.are.equal(speaker, got[i]:match("^(%d+) "))
        assert.is_true(math.abs(logit - got[i]:match(" (%S+)$")) < 1e-3, line)
        count = count + 1
      end
      expected = {}
    end
    for line in block(EXAMPLES, "CMake and Rust", ""):gmatch("[^\n]+") do
      local command = line:match("^%$ (.*)$")
      if command then
        compare()
        got = {}
        for said in succeeds((command:gsub("^rustc ", "/usr/bin/rustc "))):gmatch("[^\n]+") do got[#got + 1] = said end
      else
        expected[#expected + 1] = line
      end
    end
    compare()
    assert.are.equal(4, count)
  end)

  it("show texts in Python, with what that prints", function()
    succeeds(attn2c .. " build " .. shell(top .. "/models/language"))
    local heading, python = "A checkpoint folder in three commands", "PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "
    write("first.py", block("README.md", heading, "python"))
    assert.are.equal(block("README.md", heading, "", 2), succeeds(python .. "first.py"))
    write("texts.py", block(EXAMPLES, "Text in Python", "python"))
    assert.are.equal(block(EXAMPLES, "Text in Python", ""), succeeds(python .. "texts.py"))
    write("tasks.py", block(EXAMPLES, "Functions by what", "python"))
    assert.are.equal(block(EXAMPLES, "Functions by what", ""), succeeds(python .. "tasks.py"))
    write("sequences.py", block(EXAMPLES, "Sequences of different lengths", "python"))
    assert.are.equal(block(EXAMPLES, "Sequences of different lengths", ""), succeeds(python .. "sequences.py"))
    local command = block("README.md", heading, ""):match(
      "%$ (out/language/language run [^\n]*\n[^\n]*\n)")
    assert.are.equal(command:match("\n(.*)$"), succeeds(command:match("^[^\n]*")))
  end)

  it("shows a first model that builds and passes its check", function()
    write("first.lua", block(MODELS, "Your first model", "lua"))
    local text = succeeds(attn2c .. " check first.lua layers=1 d_model=64 seq=16 input.vocab=100")
    assert.is_truthy(text:find(" 0 failed", 1, true), text)
    succeeds(attn2c .. " show first.lua --stage plan")
    succeeds(attn2c .. " build first.lua")
    succeeds("out/first/first info")
  end)
end)
