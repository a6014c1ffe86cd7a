-- command_spec: the command line as a user meets it: what it prints where, exit codes, and
-- nothing half-written.
local helper = require("tests.spec.helper")
local files = require("common.files")

-- Runs the command and asserts that it fails with one line on standard error, which is returned.
local function failure(code, ...)
  local got, output, errors = helper.command({ ... })
  assert.equal(code, got, errors)
  assert.equal("", output)
  local line = errors:match("^attn2c: ([^\n]*)\n$")
  assert.is_string(line, errors)
  return line
end

describe("the command", function()
  after_each(helper.clean)

  it("prints its help and version, and exits 0", function()
    local code, output = helper.command { "-h" }
    assert.equal(0, code)
    for _, name in ipairs { "gen", "build", "check", "bench", "show", "keys" } do
      assert.matches("\n +" .. name .. " ", output)
      local each, text = helper.command { name, "-h" }
      assert.equal(0, each)
      assert.matches("Usage: attn2c " .. name, text, 1, true)
      for spaces, words in text:gmatch("\n( +)([^\n]*)") do -- usage, labels, meanings
        assert.is_truthy(#spaces == 7 or #spaces == 3 or (#spaces == 25 and #words <= 75), words)
        assert.is_truthy(#spaces ~= 3 or not words:find("  ", 1, true) or words:match("^" .. ("."):rep(21) .. " %S"),
          words)
      end
    end
    code, output = helper.command { "--version" }
    assert.same({ 0, "attn2c " .. require("common.version").generator .. "\n" }, { code, output })
  end)

  it("lists the commands where it is called alone, as a fault", function()
    local code, output, errors = helper.command {}
    assert.same({ 2, "" }, { code, output })
    assert.matches("\n +build +Emit C and compile it", errors)
  end)

  it("says what was meant by a word that it does not know", function()
    local small = "models/small.lua"
    for line, said in pairs {
      ["biuld"] = "unknown command 'biuld' (did you mean build?)",
      ["chat " .. small] = "unknown command 'chat' (`chat` is a command of the program that build makes: "
        .. "out/NAME/NAME chat)",
      ["build " .. small .. " --text x"] = "unknown option '--text' (an option of the program that build makes: "
        .. "out/NAME/NAME run --text)",
      ["run " .. small] = "unknown command 'run' (`run` is a command of the program that build makes: "
        .. "out/NAME/NAME run)",
      [small] = "unknown command 'models/small.lua' (did you mean attn2c build models/small.lua?)",
      ["gen " .. small .. " --precision int8"] = "unknown option '--precision' (precision is a key, not an option: "
        .. "precision=int8)",
      ["gen " .. small .. " --hidden-size=3"] = "unknown option '--hidden-size' (d_model is a key, not an option: "
        .. "d_model=3)",
      ["build " .. small .. " --embedd x"] = "unknown option '--embedd' (did you mean --embed?)",
      ["build " .. small .. " --out x"] = "unknown option '--out' (did you mean --output?)",
      ["gen " .. small .. " --layer 3"] = "unknown option '--layer' (did you mean layers=VALUE?)",
      ["tune " .. small .. " --budget -1"] = '--budget: "-1", but 1 to 1000000 seconds are allowed (attn2c tune -h '
        .. "tells more)",
      ["tune " .. small .. " --budget -0.5"] = '--budget: "-0.5", but 1 to 1000000 seconds are allowed (attn2c tune -h '
        .. "tells more)",
      ["tune " .. small .. " -12"] = "unknown option '-1' (attn2c tune -h lists its options)",
      ["gen " .. small .. " sequence=64"] = small .. ": sequence: no such key (did you mean seq?)",
      ["gen " .. small .. " dtype=int8"] = small .. ": dtype: no such key (did you mean precision?)",
      ["gen " .. small .. " seq 64"] = '"seq": an override is one word, KEY=VALUE: seq=64',
      ["gen " .. small .. " seq= 64"] = '"seq=": a value is missing after the =',
      ["gen " .. small .. " name=My-Model"] = small .. ': name: "My-Model", but a name is 1 to 40 of a-z, 0-9 and _, '
        .. "begins with a letter and is not a word of C or C++",
      ["gen " .. small .. " target=cuda"] = small .. ': target: "cuda", but host, amx, avx512bf16, avx512vnni, avx512, '
        .. "avxvnni, avx2, x86_64, aarch64 or generic is allowed (programs only run on processors)",
      ["gen " .. small .. " kernels=lib-xsmm"] = small .. ': kernels: "lib-xsmm", but auto, c or libxsmm is allowed '
        .. "(did you mean libxsmm?)",
      ["gen models/speaker.lua output.1.over=CLS"] = 'models/speaker.lua: output.1.over: "CLS", but all, deviation, '
        .. "first, last, max, mean, own, patches, root, second, tokens or weighted is allowed (did you mean first?)",
      ["gen " .. small .. " models/speaker.lua"] = '"models/speaker.lua": an override is KEY=VALUE, with dots between '
        .. "nested keys; one description is allowed",
      ["serve " .. small] = "unknown command 'serve' (`serve` is a command of the program that build --serve makes: "
        .. "out/NAME/NAME serve)",
      ["build"] = "missing argument 'description' (attn2c build FILE: a description such as models/small.lua, or a "
        .. "checkpoint's folder)",
    } do
      local list = {}
      for word in line:gmatch("%S+") do list[#list + 1] = word end
      assert.equal(said, failure(2, table.unpack(list)))
    end
    assert.matches("missing option '%-%-stage' %(%-%-stage describe|", failure(2, "show", small))
    assert.matches("has no config.json: .* %(did you mean models/speaker.lua%?%)$", failure(4, "gen", "models/speaker"))
    assert.matches("^cannot make the folder " .. small .. "/?: a file has that name$",
      failure(4, "gen", small, "-o", small))
    assert.matches("^" .. small .. ": is not a folder: give the checkpoint's folder", failure(4, "import", small))
    assert.matches("^models/smal.lua: no folder is there %(did you mean models/small.lua%?%)$",
      failure(4, "import", "models/smal.lua"))
    assert.matches("must be one of .*%(did you mean graph%?%)$", failure(2, "show", small, "--stage", "grph"))
  end)

  it("refuses wrong usage with 2 and one line", function()
    for _, words in ipairs { { "nonsense" }, { "gen" }, { "show", "models/small.lua" },
      { "show", "models/small.lua", "--stage", "nonsense" }, { "gen", "models/small.lua", "--nonsense" },
      { "keys", "more" } } do
      assert.is_truthy(failure(2, table.unpack(words)))
    end
    assert.matches('^"seq": an override is one word', failure(2, "gen", "models/small.lua", "seq"))
  end)

  it("refuses a wrong description with 2 and one line a fault", function()
    local path = helper.file("return { name = 'a', seq = 0, d_model = 8, heads = 3, layers = 1 }")
    local code, output, errors = helper.command { "gen", path }
    assert.same({ 2, "" }, { code, output })
    assert.equal(("attn2c: %s: seq: 0, but an integer from 1 to 32768 is allowed\n"
      .. "attn2c: %s: heads: d_model 8 is not divisible by heads 3, and head_dim is not given\n"):format(path, path),
        errors)
  end)

  it("exits 4 where a description cannot be read or a folder not be made", function()
    assert.matches("^cannot read .*No such file", failure(4, "gen", "no/such.lua"))
    local file = helper.file("x", "in_the_way")
    assert.matches("in_the_way", failure(4, "gen", "models/small.lua", "-o", file .. "/below"))
    assert.equal("x", files.read(file))
  end)

  it("exits 4 where standard output is full", function()
    local shell = helper.shell
    local _, _, code = os.execute(("lua5.4 %s show %s --stage lower >/dev/full 2>/dev/null"):format(
      shell(helper.root .. "/gen/attn2c"), shell(helper.root .. "/models/small.lua")))
    assert.equal(4, code)
  end)

  it("gen writes out/NAME under the working directory, or what -o says, and tells so", function()
    local folder = helper.folder()
    local description = helper.absolute_root() .. "/tests/golden/post.lua"
    local code, output = helper.command({ "gen", description }, folder)
    assert.equal(0, code)
    assert.matches("^out/post/post.c: 21 steps, arena [%d,]+ bytes, for avx512\n$", output)
    assert.is_string(files.read(folder .. "/out/post/post.c"))
    assert.equal(0, (helper.command({ "gen", description, "seq=5", "-o", "elsewhere///" }, folder)))
    assert.matches("#define POST_SEQ 5\n", files.read(folder .. "/elsewhere/post.h"))
    for name in require("lfs").dir(folder .. "/elsewhere") do assert.is_nil(name:match("%.new$")) end
  end)

  it("leaves nothing where it refuses", function()
    local folder = helper.folder()
    assert.equal(2, (helper.command({ "gen", helper.absolute_root() .. "/models/small.lua", "max_lines=1" }, folder)))
    assert.is_nil(require("lfs").attributes(folder .. "/out"))
  end)

  it("shows every stage, the same text twice", function()
    for _, stage in ipairs(require("pipeline").passes) do
      local code, output, errors = helper.command { "show", "tests/golden/window.lua", "--stage", stage }
      assert.same({ 0, "" }, { code, errors })
      assert.is_true(#output > 50)
      assert.equal(output, select(2, helper.command { "show", "tests/golden/window.lua", "--stage", stage }))
    end
  end)

  it("lists every key with type, default, range and meaning", function()
    local code, output = helper.command { "keys" }
    assert.equal(0, code)
    for _, field in ipairs(require("data.keys").list) do
      assert.matches("\n" .. field.key .. " +" .. field.type .. " +default ", "\n" .. output)
      assert.matches(field.meaning, output, 1, true)
    end
    assert.matches("\nd_model +integer +default required +1 to 8192\n", output)
    assert.matches("\nseq +integer +default for an image: its patches +1 to 32768\n", output)
    assert.matches("\nlayers +layers +default required +0 to 1000\n", output)
    assert.matches("\nmask_value +number +default exclusion +%-1e%+30 to 0\n", output)
  end)

  it("works through a link and from any folder", function()
    local folder = helper.folder()
    os.execute(("ln -s %s %s"):format(helper.shell(helper.absolute_root() .. "/gen/attn2c"),
      helper.shell(folder .. "/attn2c")))
    local handle = io.popen(("cd %s && ./attn2c --version"):format(helper.shell(folder)))
    assert.matches("^attn2c %d", handle:read("a"))
    handle:close()
  end)
end)
