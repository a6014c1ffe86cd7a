-- describe_spec: reading a description: what its language has and lacks, the limits on
-- instructions and memory, files that cannot be read, and overrides from the command line.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local describe_pass = require("passes.describe")
local faults = require("common.faults")
local limits = require("passes.describe.limits")

local function run(file, overrides)
  local state = { file = file, overrides = overrides or {} }
  describe_pass.run(state)
  return state
end

-- The table that a description's text gives.
local function read(text, ...) return run(helper.file(text), { ... }).description end

-- The one line with which a text is refused, from the file's name on.
local function refusal(text, ...)
  local fault = helper.fault(read, text, ...)
  assert(fault, "not refused: " .. text:sub(1, 80))
  assert.equal(faults.code.usage, fault.code)
  assert.equal(1, #fault.lines)
  assert.is_nil(fault.lines[1]:find("%c"))
  return (fault.lines[1]:gsub("^.*/tiny%.lua", "tiny.lua"))
end

describe("a description", function()
  after_each(helper.clean)

  it("is the table that its text returns", function()
    assert.same({ name = "a", seq = 128, mask = { "causal", window = { 2, 3 } } },
      read('return { name = "a", seq = 2 * 64, mask = { "causal", window = { 2, 3 } } }'))
  end)

  it("has arithmetic, locals, loops, functions, huge and pi", function()
    local d = read([[
      local n = 0
      for i = 1, 10 do n = n + i end
      local function half(x) return x // 2 end
      return { n = half(n), big = huge, pi = pi, bits = 1 << 4, long = #"abc" }]])
    assert.same({ n = 27, big = math.huge, pi = math.pi, bits = 16, long = 3 }, d)
  end)

  it("has the constructors, which give plain tables", function()
    local d = read('return { linear { from = 40 }, ' ..
      'tokens { vocab = 9 }, hidden(), norm(), pool "mean", sigmoid(), argmax() }')
    assert.same({ { stage = "linear", from = 40 }, { stage = "tokens", vocab = 9 }, { stage = "hidden" },
      { stage = "norm" },
      { stage = "pool", over = "mean" }, { stage = "sigmoid" }, { stage = "argmax" } }, d)
  end)

  it("cannot rename a stage from within", function()
    assert.equal("linear", read('return { linear { from = 4, stage = "tokens" } }')[1].stage)
  end)

  it("has nothing else: no library, no way to load or to catch", function()
    for _, name in ipairs { "io", "os", "require", "load", "loadstring", "dofile", "loadfile", "pcall", "xpcall",
      "error",
      "assert", "coroutine", "debug", "string", "table", "math", "setmetatable", "getmetatable", "rawset", "rawget",
      "collectgarbage", "print", "tostring", "tonumber", "select", "next", "pairs", "ipairs", "utf8", "package", "arg",
      "_G", "warn", "type" } do
      assert.matches('^tiny.lua:1: ', refusal(("return { yes = %s ~= nil }"):format(name)), name)
    end
    assert.matches('^tiny.lua:1: no stage and no function is called "os"; stages: argmax, ',
      refusal('os.execute("true") return {}'))
    assert.matches('^tiny.lua:2: no stage and no function is called "require"; ', refusal('\nrequire "io" return {}'))
  end)

  it("has sqrt, min, max and floor, and says so where math is asked", function()
    assert.same({ 3.0, 2, 7, 4 }, read("return { sqrt(9), min(5, 2), max(7, -1), floor(4.5) }"))
    local there = "; there are floor, huge, max, min, pi and sqrt"
    assert.equal("tiny.lua:2: math.sqrt is sqrt here" .. there, refusal("return {\n scale = 1 / math.sqrt(64) }"))
    assert.equal("tiny.lua:1: math.pi is pi here" .. there, refusal("return { scale = math.pi }"))
    assert.equal("tiny.lua:1: there is no math.sin here, only floor, huge, max, min, pi and sqrt",
      refusal("return { scale = math . sin(1) }"))
    assert.equal("tiny.lua:1: there is no math here, only floor, huge, max, min, pi and sqrt",
      refusal("local m = math return {}"))
    assert.matches("^tiny.lua:1: bad argument #1 to 'sqrt'", refusal("return { sqrt(nil) }"))
  end)

  it("names the stages where one is asked that is none, and the nearest or the one of the same meaning", function()
    local list = "; stages: argmax, attend, encoder, .*, vocabulary; "
      .. "functions and numbers: floor, huge, max, min, pi, sqrt$"
    for name, hint in pairs {
      dropout = " %(dropout is for training only%)", swish = " %(did you mean silu%?%)",
      gelu_new = " %(did you mean gelu_tanh%?%)", linaer = " %(did you mean linear%?%)",
      layer_norm = " %(did you mean norm%(%)%?%)", hardtanh = " %(hardtanh is not supported%)", xyzzyplugh = "",
    } do
      assert.matches(('^tiny.lua:2: no stage and no function is called "%s"%s%s'):format(name, hint, list),
        refusal(("return { output = {\n %s() } }"):format(name)))
    end
  end)

  it("asks for quotes around a word without them, which would be nothing otherwise", function()
    for _, word in ipairs { "causal", "pre", "rope", "window", "avx2", "last" } do
      assert.equal(('tiny.lua:1: %s is a word, which must be quoted: "%s"'):format(word, word),
        refusal(("return { mask = %s }"):format(word)))
    end
    assert.equal("tiny.lua:1: window is no stage; its numbers are written as mask = { window = { LEFT, RIGHT } }",
      refusal("return { mask = window { 16, 0 } }"))
  end)

  it("may begin with a byte order mark, as editors on Windows write it", function()
    assert.equal("a", read('\xef\xbb\xbfreturn { name = "a" }').name)
  end)

  it("may be its own globals, which have no nature of their own then", function()
    local d = read('name = "a" return _ENV')
    assert.equal("a", d.name)
    assert.is_nil(getmetatable(d))
    assert.is_nil(d.nothing)
  end)

  it("sees no globals of the compiler and leaves none behind", function()
    read("leaked = 5 return { a = leaked }")
    assert.is_nil(rawget(_G, "leaked"))
  end)

  it("has no methods on strings, and the compiler has them back afterwards", function()
    assert.equal("tiny.lua:1: a text has no methods or fields here", refusal('return { a = ("x"):rep(1000000000) }'))
    assert.equal("tiny.lua:1: a text has no methods or fields here", refusal('local t = "x"; t:rep(9)'))
    assert.equal("xx", ("x"):rep(2))
    assert.matches("tiny.lua:1: a text has no methods or fields", refusal('local s = "x" return { a = s.gsub }'))
    assert.equal("y", (("x"):gsub("x", "y")))
  end)

  it("has no arithmetic on strings, and the compiler has it back afterwards", function()
    assert.equal("tiny.lua:1: a text is no number: attempt to perform arithmetic on it (constant '1')",
      refusal('return { a = "1" + 1 }'))
    assert.matches("^tiny.lua:1: a text is no number", refusal('return { a = -"1" }'))
    assert.equal(2, "1" + 1)
    assert.is_table(read("return {}"))
    assert.equal(2, "1" + 1)
  end)
end)

describe("a description's limits", function()
  local real_clock = os.clock
  after_each(helper.clean)
  after_each(function() rawset(os, "clock", real_clock) end)

  -- From now on the processor's clock goes on by `seconds` whenever it is read, however fast this machine is.
  local function clock_by(seconds)
    local now = 0
    rawset(os, "clock", function()
      now = now + seconds
      return now
    end)
  end

  -- Returns the processor seconds that a text may take: the limit, and on a machine on which ten million rounds of a
  -- loop take 0.1 s three seconds for everything else.
  local function most_seconds()
    local started, sum = os.clock(), 0
    for i = 1, 10000000 do sum = sum ~ i end
    assert(sum == 10000000)
    return limits.SECONDS + 3 * math.max(1, (os.clock() - started) / 0.1)
  end

  it("end a loop", function()
    clock_by(0)
    assert.equal("tiny.lua: does not end within 1,000,000 instructions", refusal("while true do end"))
    assert.equal("tiny.lua: does not end within 1,000,000 instructions", refusal("::again:: goto again"))
  end)

  it("end recursion", function()
    clock_by(0)
    assert.equal("tiny.lua: takes more than 16 MiB of memory",
      refusal("local function f() return 1 + f() end return f()"))
    assert.equal("tiny.lua: does not end within 1,000,000 instructions",
      refusal("local function f() return f() end return f()"))
  end)

  it("end what takes long", function()
    clock_by(1 / 300)
    assert.equal("tiny.lua: takes more than 1 s", refusal("while true do end"))
  end)

  it("bound memory, and give it back", function()
    assert.equal("tiny.lua: takes more than 16 MiB of memory",
      refusal(("local t = {} local function f(...) for i = 1, 20000 do t[i] = { ... } end end f(0%s) return t"):format(
        (", 0"):rep(199))))
    collectgarbage()
    assert.is_true(collectgarbage("count") < 64 << 10)
  end)

  it("forbid concatenation, one instruction of which can take any memory", function()
    assert.equal("tiny.lua:2: '..' is not allowed in a description: literals, arithmetic and constructors only",
      refusal('local a = "x"\nreturn { name = a .. a }'))
    for _, text in ipairs {
      'return { name = "a".."b" }',
      'local a = "x" a = a..a..a return { a }',
      'return { name = "a\\"" .. "b" }',
      "return { name = 'a\\\\' .. 'b' }",
      'return { name = [[a]] .. [==[b]]]==] }',
      '--[[ a ]] return { name = "a" .. "b" }',
      '--[==[ ]] ]==] return { name = "a" .. "b" }',
      '-- a comment ends at a carriage return\rreturn { name = "a" .. "b" }',
      '-- and at a newline\nreturn { name = "a" .. "b" }',
      'return { name = "a\\z\n --" .. "b" }',
      'return { name = "a\\\n--" .. "b" }',
      'return { name = "a\\\r\n--" .. "b" }',
      'return { name = "a\\\n\r--" .. "b" }',
      'local function f(...) return ..... "x" end return { f("a") }',
      'local a = { { 1 } } return { a[a[1][1]] .. "x" }',
    } do
      assert.matches("'..' is not allowed", refusal(text), 1, true)
    end
  end)

  it("let two dots stand in strings, comments and varargs", function()
    for _, text in ipairs {
      'return { name = "a..b" }',
      "return { name = 'a..\\'..' }",
      'return { name = [[..]], other = [==[ ]].. ]==] }',
      "-- .. \nreturn {}",
      "--[[ ..\n.. ]] return {}",
      "--[==[ .. ]==] return {}",
      "local function f(...) return { ... } end return f(1, 2)",
      'return { name = "a\\z\n  .." }',
      'return { "a\\\r\n.." }',
    } do
      assert.is_table(read(text))
    end
  end)

  it("refuse compiled Lua", function()
    assert.equal("tiny.lua: compiled Lua is not accepted, only text",
      refusal(string.dump(assert(load("return { name = 'a' }")))))
  end)

  it("refuse more than 256 KiB, and take just as much", function()
    local text = "return { name = 'a' }"
    assert.equal("a", read(text .. (" "):rep((256 << 10) - #text)).name)
    assert.equal("tiny.lua: larger than 256 KiB, the limit of a description",
      refusal(text .. (" "):rep((256 << 10) - #text + 1)))
  end)

  -- A text of 256 KiB: before, as many `each` as there is room for, after.
  local function filled(each, before, after)
    before, after = before or "", after or ""
    local room = (256 << 10) - #before - #after
    return before .. each:rep(room // #each) .. after
  end

  -- Functions in functions, each with many locals, all of which every name in the innermost is compared with.
  local function scopes(depth)
    local names = {}
    for i = 1, 150 do names[i] = "a" end
    return ("function f() local %s "):format(table.concat(names, ",")):rep(depth)
  end

  local digits = ("1"):rep(250000)
  local hostile = {
    filled("x=x "), filled("x=x ", scopes(190)), filled("do end "), filled("goto a "), filled("::a:: "), filled("a."),
    filled("[=["), filled("["), filled("-"), filled("- "), filled("."), filled(". "), filled("\\", "'"), filled("'"),
    filled("]=", "--[==["), filled("("), filled("{"), filled("{},", "return {", "}"), filled("f{"), filled("x"),
    filled("\255"), filled("0"), filled("1,", "return {", "} + 1"), filled("a=1,", "return {", "} + 1"),
    "local s = '" .. digits .. "' local n = 0 while true do n = n + s end",
    "local s = '" .. digits .. "' local n = 0 while true do n = n | s end",
    "local s = '0x" .. digits .. "' local n = 0 while true do n = sqrt(s) end",
    "local s, t = '" .. digits .. "', {} while true do t[s] = s < s end",
    "local s = '" .. ("\0"):rep(250000) .. "' while true do local b = s < s end",
    "local t = {} for i = 1, 60000 do t[i] = {} end while true do local u = { {}, {}, {}, {} } end",
    "local function f(...) return f(0, ...) end return f()",
    "local function f(...) return max(f(0, ...)) end return f()",
    "local t = {} for i = 1, 100000 do t[i] = 'x' end return { mask = t, heads = t, output = t, head_mask = t }",
    "local t = {} for i = 1, 100000 do t[i .. ''] = 'x' end",
    "local t = {} for i = 1, 100000 do t[i + 0.5] = {} end return { bias = t, memory = t, plan = t, input = t }",
    "while true do local f = function() return f end end",
  }

  it("end every text after about a second of CPU, with one line", function()
    local most = most_seconds()
    for i, text in ipairs(helper.sample(hostile, 2)) do
      local started = os.clock()
      local fault = helper.fault(read, text)
      local took = os.clock() - started
      assert.is_true(took < most, ("hostile text %d: %.1f s"):format(i, took))
      if fault then
        assert.equal(faults.code.usage, fault.code)
        assert.equal(1, #fault.lines)
        assert.is_true(#fault.lines[1] < 600)
      end
    end
  end)

  it("end the whole command as soon, with exit code 2", function()
    local most = most_seconds()
    for _, i in ipairs { 2, 25, 26, 33, 35 } do
      local path = helper.file(hostile[i])
      local started = helper.cpu_of_children()
      local code, output, errors = helper.command({ "gen", path })
      assert.is_true(helper.cpu_of_children() - started < most, "hostile text " .. i)
      assert.equal(2, code, errors)
      assert.equal("", output)
      assert.is_true(#errors < 20000)
    end
  end)

  it("hold for all overrides together", function()
    clock_by(0)
    local overrides = {}
    for i = 1, 100 do overrides[i] = "seq=(function() local n = 0 for i = 1, 50000 do n = n + i end return n end)()" end
    assert.matches("the value does not end within 1,000,000 instructions$",
      refusal("return {}", table.unpack(overrides)))
    -- A text that is looked at 235 times.
    local long = "seq=(function() if false then " .. ("x=x "):rep(60000) .. "end return 8 end)()"
    clock_by(1 / 300)
    assert.equal(8, read("return {}", long).seq)
    assert.matches("the value takes more than 1 s$", refusal("return {}", long, long))
  end)

  it("hold nesting that would overflow a stack", function()
    for _, bracket in ipairs { "{", "(", "function() return ", "- ", "not " } do
      assert.equal("tiny.lua: nests deeper than 200 levels, the limit of a description",
        refusal("return " .. bracket:rep(10000)))
    end
  end)

  it("hold a description that holds itself, in the dump too", function()
    local state = run(helper.file("local t = { name = 'a' } t.self = t return t"))
    assert.equal(state.description, state.description.self)
    local text = describe_pass.dump(state)
    assert.is_true(#text < 10000)
    assert.matches('^name = "a"\n', text)
    assert.matches(" = ...\n$", text)
  end)

  it("bound how many values there are, so that no later pass is long at them", function()
    local many = "tiny.lua: a table with more than 1000 keys, the limit of a description"
    assert.equal(many, refusal("local t = {} for i = 1, 1001 do t[i] = i end return t"))
    assert.equal(many, refusal("local t = {} for i = 1, 1001 do t[{}] = i end return { mask = t }"))
    assert.equal(1000, #read("local t = {} for i = 1, 1000 do t[i] = i end return t"))
    assert.equal("tiny.lua: more than 200000 values, the limit of a description",
      refusal("local t = {} for i = 1, 100 do t[i] = t end return t"))
    assert.equal(128, #read([[local t = {}
      for l = 1, 1000 do t[l] = {} for h = 1, 128 do t[l][h] = h end end
      return t]])[1000])
  end)
end)

describe("a description that is none", function()
  after_each(helper.clean)

  it("has a syntax error: the file, the line, Lua's words", function()
    assert.matches("^tiny.lua:2: ", refusal("return {\n name = }"))
    assert.matches("^tiny.lua:1: ", refusal("return { 'unfinished }"))
    assert.matches("^tiny.lua:1: ", refusal("return { \0 }"))
  end)

  it("returns no table", function()
    local said = "tiny.lua: a description returns a table, this one returned "
    assert.equal(said .. "nothing (write return in front of its first {)", refusal(""))
    assert.equal(said .. "a number", refusal("return 5"))
    assert.equal(said .. "a function", refusal("return linear"))
  end)

  it("fails as it runs", function()
    assert.matches("^tiny.lua:1: attempt to perform arithmetic on a nil value",
      refusal("local nothing return { a = 1 + nothing }"))
    assert.matches("^tiny.lua:1: attempt to ", refusal("return { a = 1 // 0 }"))
  end)

  it("takes names and paths without quotes from a command line", function()
    local d = read("return {}", "tokenizer=../a-folder/tokenizer.json", "name=My-Model", "prompt=query: ")
    assert.same({ tokenizer = "../a-folder/tokenizer.json", name = "My-Model", prompt = "query: " }, d)
    d = read("return {}", "tokenizer=false", "name=5", "prompt='query: '")
    assert.same({ tokenizer = false, name = 5, prompt = "query: " }, d)
  end)

  it("is written as other languages would", function()
    for text, said in pairs {
      ["return { a = 1 b = 2 }"] = "'}' expected near 'b': is a comma missing before it?",
      ['return { a = "x" "y" }'] = "'}' expected near '\"y\"': is a comma missing before it?",
      ["return { a = linear(1)(2) }"] = "a table cannot be called: is a comma missing before it?",
      ["return { layers: 3 }"] = "a name is expected near '3': a key is written as KEY = VALUE",
      ['{ name = "x" }'] = "unexpected symbol near '{': a description begins with return {",
      ["local t = {} t:rep(9)"] = "there is no method 'rep' here",
    } do
      assert.equal("tiny.lua:1: " .. said, refusal(text))
    end
    assert.equal("tiny.lua:2: '}' expected (to close '{' at line 1) near <eof>", refusal("return { a = 1\n"))
  end)

  it("is a file of another kind, which the line names with what to give instead", function()
    local function said(name, text)
      local fault = helper.fault(run, helper.file(text, name))
      assert.same({ faults.code.usage, 1 }, { fault.code, #fault.lines })
      return (fault.lines[1]:gsub("^.*/([^/]*: )", "%1", 1))
    end
    for name, text in pairs { ["m.onnx"] = "\8\7\18\7pytorch",
      ["onnx"] = "\8\7\18\7pytorch", ["m.bin"] = "PK\3\4", ["config.json"] = '{ "model_type": "bert" }',
      ["m.safetensors"] = "\2\0\0\0\0\0\0\0{}", ["weights"] = "\2\0\0\0\0\0\0\0{}" } do
      assert.matches("^" .. name:gsub("%p", "%%%0") .. ": is .*: give the checkpoint's folder", said(name, text))
    end
    assert.matches("^m.txt: is a text, not a description in Lua: ", said("m.txt", "hello world\n"))
    assert.matches("^m.lua: is a Git LFS pointer", said("m.lua", "version https://git-lfs.github.com/spec/v1\n"))
    assert.matches("^big.onnx: is an ONNX model", said("big.onnx", "\8\7\18\7" .. ("x"):rep(300000)))
    assert.matches("^m.txt:1: '}' expected", said("m.txt", "return { a = 1 b = 2 }"))
    assert.equal(5, run(helper.file("return { a = 5 }", "m.txt")).description.a)
  end)

  it("is missing, or a folder: a fault of input, not of usage", function()
    local folder = helper.folder()
    local missing = helper.fault(run, folder .. "/none.lua")
    assert.equal(faults.code.io, missing.code)
    assert.equal(("cannot read %s/none.lua: No such file or directory"):format(folder), missing.lines[1])
    helper.write(folder .. "/encoder.lua", "return {}")
    for _, name in ipairs { "encodr.lua", "encoder" } do
      assert.equal(("cannot read %s/%s: No such file or directory (did you mean %s/encoder.lua?)"):format(folder, name,
        folder), helper.fault(run, folder .. "/" .. name).lines[1])
    end
    for _, id in ipairs { "no-one/a-model", "https://huggingface.co/no-one/a-model/tree/main" } do
      assert.equal(("cannot read %s: No such file or directory (a model of the Hugging Face hub is downloaded first: "
        .. "hf download no-one/a-model --local-dir a-model)"):format(id), helper.fault(run, id).lines[1])
    end
    for _, id in ipairs { "gpt2", "Qwen3-0.6B", "https://huggingface.co/gpt2" } do
      assert.equal(("cannot read %s: No such file or directory (a model of the Hugging Face hub is downloaded first: "
        .. "hf download %s --local-dir %s)"):format(id, id:match("[^/]*$"), id:match("[^/]*$")),
        helper.fault(run, id).lines[1])
    end
    for _, name in ipairs { "nothing.lua", "nothing.gguf", "model.safetensors" } do
      assert.equal(("cannot read %s: No such file or directory"):format(name), helper.fault(run, name).lines[1])
    end
    assert.equal("the description's name is empty", helper.fault(run, "").lines[1])
    local directory = helper.fault(run, folder)
    assert.equal(faults.code.io, directory.code)
    assert.equal(folder .. ": has no config.json: it is no checkpoint as Hugging Face publishes them",
      directory.lines[1])
  end)

  it("is a named pipe, which nobody may ever write to, or a device", function()
    local folder = helper.folder()
    assert(os.execute(("mkfifo %s"):format(helper.shell(folder .. "/pipe"))))
    assert(lfs.link("pipe", folder .. "/link.lua", true))
    for file, what in pairs { [folder .. "/pipe"] = "named pipe", [folder .. "/link.lua"] = "named pipe",
      ["/dev/zero"] = "char device" } do
      local fault = helper.fault(run, file)
      assert.equal(faults.code.io, fault.code)
      assert.equal(("cannot read %s: is a %s, and a regular file is expected"):format(file, what), fault.lines[1])
    end
  end)

  it("says of its own names only what is safe on a terminal", function()
    assert.matches("^tiny.lua:1: attempt to .*'a%?%[31m'", refusal('local t = {} return t["a\27[31m"].x'))
    assert.matches("^tiny.lua:1: attempt to .*'a%?b'", refusal('local t = {} return t["a\u{202E}b"].x'))
    assert.is_true(#refusal(("local t = {} return t.%s.x"):format(("a"):rep(100000))) < 600)
  end)

  it("has a name with control characters, which no message repeats", function()
    for _, name in ipairs { "a\nb.lua", "a\27[31m.lua" } do
      local missing = helper.fault(run, helper.folder() .. "/" .. name)
      assert.is_nil(missing.lines[1]:find("%c"))
      local wrong = helper.fault(run, helper.file("return 5", name))
      assert.is_nil(wrong.lines[1]:find("%c"))
    end
  end)
end)

describe("overrides", function()
  after_each(helper.clean)
  local base = [[return { name = "a", seq = 8, mask = "none",
    output = { hidden(), linear { to = 600, name = "logits" } } }]]

  it("replace and add keys", function()
    assert.equal(64, read(base, "seq=64").seq)
    assert.equal(1e-6, read(base, "eps=1e-6").eps)
    assert.equal(32, read(base, "d_model=2*16").d_model)
  end)

  it("take literals: numbers, strings, booleans, tables, constructors", function()
    local d = read(base, "scale=false", 'name="b"', "mask={ 'causal', 'padding' }", "input=linear { from = 4 }",
      "window={ left = 1, right = 0x10 }", "bias={qkv=false}")
    assert.is_false(d.scale)
    assert.equal("b", d.name)
    assert.same({ "causal", "padding" }, d.mask)
    assert.same({ stage = "linear", from = 4 }, d.input)
    assert.same({ left = 1, right = 16 }, d.window)
    assert.same({ qkv = false }, d.bias)
  end)

  it("take bare words as strings, but true, false and nil as what they are", function()
    local d = read(base, "mask=causal", "norm=pre", "reuse=true", "seq=nil")
    assert.equal("causal", d.mask)
    assert.equal("pre", d.norm)
    assert.is_true(d.reuse)
    assert.is_nil(d.seq)
  end)

  it("reach into tables, and make those that are missing", function()
    local d = read(base, "output.2.to=10", "plan.panel=32", "plan.call_rows=16")
    assert.same({ { stage = "hidden" }, { stage = "linear", to = 10, name = "logits" } }, d.output)
    assert.same({ panel = 32, call_rows = 16 }, d.plan)
  end)

  it("are applied in order", function()
    assert.equal(3, read(base, "seq=1", "seq=2", "seq=3").seq)
  end)

  it("keep the value's own equals signs", function()
    assert.same({ over = "mean", stage = "pool" }, read(base, "output=pool { over = 'mean' }").output)
  end)

  it("are refused where they are none", function()
    for _, wrong in ipairs { "seq", "", "=5", "se q=5", ".seq=5", "seq.=5", "a..b=5", "seq-len=5" } do
      assert.equal(('"%s": an override is KEY=VALUE, with dots between nested keys'):format(wrong),
        refusal(base, wrong))
    end
  end)

  it("are refused where the value is neither a literal nor a word", function()
    for _, wrong in ipairs { "seq=", "seq= ", "seq=1,2", "seq=1 2", "seq=}", "seq='a", "seq=8 8",
      "seq=('a')..('b')", "seq=;", "seq=1;" } do
      assert.equal(('"%s": the value is neither a Lua literal nor a bare word'):format(wrong), refusal(base, wrong))
    end
    assert.equal('"seq=(function() while true do end end)()": the value does not end within 1,000,000 instructions',
      refusal(base, "seq=(function() while true do end end)()"))
    assert.equal('"seq=math.sqrt(64)": the value is neither a Lua literal nor a bare word: '
      .. "math.sqrt is sqrt here; there are floor, huge, max, min, pi and sqrt", refusal(base, "seq=math.sqrt(64)"))
    assert.matches('^"output=dropout%(%)": the value is neither .* word: no stage and no function is called "dropout"',
      refusal(base, "output=dropout()"))
  end)

  it("are refused where a key has no keys", function()
    assert.equal('"seq.a=1": seq is a number and has no keys', refusal(base, "seq.a=1"))
    assert.equal('"output.2.name.x=1": output.2.name is a string and has no keys', refusal(base, "output.2.name.x=1"))
  end)

  it("are quoted with control characters and length tamed", function()
    assert.equal(('"seq=%s...": the value is neither a Lua literal nor a bare word'):format(("}"):rep(53)),
      refusal(base, "seq=" .. ("}"):rep(1000)))
    assert.matches('^"seq=%?%?x', refusal(base, "seq=\n\27x y"))
  end)

  it("keep the text of the description as it was", function()
    assert.equal(base, run(helper.file(base), { "seq=64" }).text)
  end)
end)
