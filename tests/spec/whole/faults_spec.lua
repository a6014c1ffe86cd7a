-- faults_spec.lua: what an emitted program and its C interface do with bad weights, bad
-- arrays, NaN, full disks, little memory and where memory may not become executable: the
-- right exit code, one line a fault, and every value that should not change unchanged.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local root = helper.absolute_root()
local targets = require("data.targets")

local scratch

local quote, get = helper.shell, helper.read

local function put(name, text)
  local path = name:sub(1, 1) == "/" and name or scratch .. "/" .. name
  helper.write(path, text)
  return path
end

-- Runs lines of shell in the scratch folder.
local function shell(lines, seconds)
  return helper.script(("cd %s\n%s"):format(quote(scratch), lines), scratch, seconds)
end

local command = "lua5.4 " .. quote(root .. "/gen/attn2c") .. " "

-- Exits with `code`, and stderr is exactly these faults: one line each that holds the fragment.
local function fails(line, code, fragments)
  local got, stderr = shell(line)
  local lines, about = {}, line .. "\nstderr:\n" .. stderr:sub(1, 2000)
  for text in stderr:gmatch("[^\n]+") do lines[#lines + 1] = text end
  assert.are.equal(code, got, about)
  assert.are.equal(#fragments, #lines, about)
  for i, fragment in ipairs(fragments) do
    assert.is_truthy(lines[i]:find(fragment, 1, true), "no '" .. fragment .. "' in\n" .. about)
  end
  assert.is_nil(stderr:find("[%z\1-\9\11-\31\127]"), about)
end

local function succeeds(line)
  local code, stderr, stdout = shell(line)
  assert.are.equal("", stderr, line)
  assert.are.equal(0, code, line .. "\n" .. stdout:sub(1, 2000))
  return stdout
end

-- An array file. header: replaces the dictionary.
local function npy(descr, shape, data, header)
  local list = table.concat(shape, ", ") .. (#shape == 1 and "," or "")
  header = header or ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(descr, list)
  header = header .. (" "):rep((64 - (10 + #header + 1) % 64) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. data
end

local function pack(format, values)
  local list = {}
  for i, value in ipairs(values) do list[i] = string.pack(format, value) end
  return table.concat(list)
end

-- n numbers between -1 and 1, the same every time.
local function numbers(n)
  local list, state = {}, 12345
  for i = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    list[i] = state / 1073741824 - 1
  end
  return list
end

-- A checkpoint: list of { name, dtype, dimensions, data }.
local function safetensors(list)
  local header, data, offset = {}, {}, 0
  for i, tensor in ipairs(list) do
    header[i] = ('"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(tensor[1], tensor[2], tensor[3],
      offset,
      offset + #tensor[4])
    data[i], offset = tensor[4], offset + #tensor[4]
  end
  local text = "{" .. table.concat(header, ",") .. "}"
  return string.pack("<I8", #text) .. text .. table.concat(data)
end

-- The tensors that a model's checkpoint must have, with values.
local function tensors_of(description)
  local list = {}
  local _, _, graph = shell(command .. "show " .. description .. " --stage graph")
  for dimensions, name in graph:gmatch("weight %S+ %[([%d, ]+)%] from (%S+)") do
    local n = 1
    for d in dimensions:gmatch("%d+") do n = n * math.tointeger(d) end
    list[#list + 1] = { name, "F32", dimensions, pack("<f", numbers(n)) }
  end
  assert.is_true(#list > 4, graph)
  return list
end

-- name -> the words of its description; built by `build`, with weights in <name>.st.
local models = {
  small = quote(root .. "/models/small.lua") .. " kernels=libxsmm d_model=32 heads=2 seq=8 layers=1",
  tok = quote(root .. "/models/small.lua") ..
    " name=tok 'input=tokens{vocab=11}' mask=padding batch=2 d_model=32 heads=2 seq=8 layers=1",
  padded = quote(root .. "/models/small.lua") .. " name=padded mask=padding batch=2 d_model=32 heads=2 seq=20 layers=2",
  causal = quote(root .. "/models/small.lua") .. " name=causal mask=causal d_model=32 heads=2 seq=40 layers=2",
  window = quote(root .. "/models/small.lua") ..
    " name=window mask=window 'window={3,2}' plan.window_block=8 d_model=32 heads=2 seq=40 layers=2",
}
local interface = "plain.lua"

local function build(folder, name, words, environment)
  local code, stderr = shell(("%s %s build %s -o %s/%s"):format(environment or "", quote(root .. "/gen/attn2c"), words,
    folder, name), 300)
  assert.are.equal(0, code, stderr)
end

setup(function()
  local pipe = assert(io.popen("mktemp -d"))
  scratch = pipe:read("l")
  pipe:close()
  for name, words in pairs(models) do -- only the programs are used
    local description = quote(root .. "/models/small.lua")
    local code, stderr = shell(("lua5.4 %s %s out/%s %s"):format(quote(root .. "/tests/program.lua"), description, name,
      words:sub(#description + 1)), 300)
    assert.are.equal(0, code, stderr)
    put(name .. ".st", safetensors(tensors_of(words)))
  end
  put(interface, [[return { name = "plain", input = tokens { vocab = 11 }, mask = { "causal", "padding" }, batch = 2,
    d_model = 16, heads = 2, seq = 4, layers = 1 }]])
  put("x.npy", npy("<f4", { 1, 8, 32 }, pack("<f", numbers(256))))
  put("ids.npy", npy("<i4", { 2, 8 }, pack("<i4", { 1, 2, 3, 4, 5, 6, 7, 8, 0, 10, 0, 10, 9, 9, 9, 9 })))
  put("lengths.npy", npy("<i4", { 2 }, pack("<i4", { 8, 3 })))
end)

teardown(function() os.execute("rm -rf " .. quote(scratch)) end)

local small = "out/small/small "
local good_run = small .. "run --weights small.st --input x.npy --output y.npy"

describe("the program's options:", function()
  it("what is missing, unknown or wrong is told in one line", function()
    for words, fragment in pairs {
      [""] = "a command is needed: info, run, check, bench or pack", ["foo"] = "no command 'foo'",
        ["info --foo"] = "no option '--foo'",
      ["info x"] = "'x' is not an option", ["bench -r 0"] = "-r: '0', but 1 to 1000000 is allowed",
      ["bench -r -1"] = "-r: '-1', but 1", ["bench -r abc"] = "-r: 'abc', but 1", ["bench -r 1e3"] = "-r: '1e3', but 1",
      ["bench -r ''"] = "-r: '', but 1", ["bench -r"] = "needs a value",
        ["bench -r 99999999999999999999"] = "but 1 to 1000000",
      ["bench -o xml"] = "-o: 'xml', but md, json or csv is allowed",
        ["check --seed abc"] = "--seed: 'abc', but 0 to 18446744",
      ["check --seed -1"] = "--seed: '-1'", ["check --seed 18446744073709551616"] = "--seed: '18446744073709551616'",
      ["check --json=1"] = "has a value, but none is allowed", ["check --weights"] = "needs a value",
      ["check --weights a --weights b"] = "given twice", ["run --weights small.st --input x.npy"] = "nothing to write",
      ["run --weights small.st --output y.npy"] = "--input hidden=X.npy is needed: float32 [1, 8, 32]",
      ["run --input x.npy --output y.npy"] = "--weights F.safetensors is needed",
      ["run --weights small.st --input hiden=x.npy --output y.npy"] = "no such name; known: hidden",
      ["run --weights small.st --input x.npy --input hidden=x.npy --output y.npy"] = "given twice",
      ["run --weights small.st --input x.npy --output nope=y.npy"] = "no such name; known: hidden",
      ["run --weights small.st --input x.npy --output hidden="] = "a path is needed",
      ["check --input nope=x.npy"] = "no such name; known: hidden",
        ["run --seed=3 --output y.npy"] = "no option '--seed=3'",
    } do
      fails(small .. words, 2, { fragment })
    end
    fails("out/tok/tok run --weights tok.st --input ids.npy --output y.npy", 2,
      { "a name is needed, NAME=PATH; known: ids, lengths" })
    fails("out/tok/tok run --weights tok.st --output y.npy", 2, { "--input ids=X.npy is needed: int32 [2, 8], 0 to 10",
      "--input lengths=X.npy is needed: int32 [2], 1 to 8" })
  end)

  it("help is there everywhere", function()
    for _, words in ipairs { "", "info ", "run ", "check ", "bench ", "pack " } do
      assert.is_truthy(succeeds(small .. words .. "-h"):find("Usage: small", 1, true))
    end
  end)

  it("an output that nobody can take is a failure", function()
    for _, words in ipairs { "-h", "info", "info --json", "info --licenses", "check", "check --json", "bench -r 1",
      "bench -r 1 -o json" } do
      for _, closed in ipairs { " >&-", " >/dev/full" } do
        fails(small .. words .. closed, 4, { words:find("^check")
          and "report could not be written" or "standard output" })
      end
    end
    -- A reader that went away: a message, not a signal's death.
    shell("rm -f gone && mkfifo gone && (read -r _ <gone; " .. small
      .. "check 2>said; echo $? >code) | (exec <&-; echo >gone)")
    assert.are.equal("4\n", get(scratch .. "/code"))
    assert.is_truthy(get(scratch .. "/said"):find("^small: [^\n]+\n$"))
    assert.are.equal(0, (shell(small .. "check 2>&-")))
  end)
end)

describe("weights", function()
  it("that are missing or unreadable are an input failure", function()
    for _, verb in ipairs { "run --input x.npy --output never.npy", "check", "bench -r 1" } do
      fails(small .. verb .. " --weights none.st", 4, { "none.st: cannot be opened: No such file" })
      fails(small .. verb .. " --weights .", 4,
        { ".: the folder has none of model.safetensors, model.safetensors.index.json and pytorch_model.bin" })
      fails(small .. verb .. " --weights /dev/zero", 4, { "/dev/zero: is not a regular file" })
      fails(small .. verb .. " --weights small.st/x", 4, { "Not a directory" })
      fails(small .. verb .. " --weights ''", 4, { "the path of a file to read is empty" })
    end
    assert.is_nil(lfs.attributes(scratch .. "/never.npy", "mode"))
  end)

  it("that nobody may read are an input failure", function()
    if os.execute("setpriv --reuid=65534 --clear-groups true 2>/dev/null") ~= true then
      return pending("needs root and setpriv, to become a user who may not read it")
    end
    os.execute("chmod 755 " .. quote(scratch) .. "; chmod 600 " .. quote(scratch .. "/small.st"))
    fails("setpriv --reuid=65534 --clear-groups " .. small .. "check --weights small.st", 4,
      { "small.st: cannot be opened: Permission denied" })
    os.execute("mkdir -m 700 " .. quote(scratch .. "/secret"))
    fails("setpriv --reuid=65534 --clear-groups " .. small .. "check --weights secret", 4,
      { "secret: cannot be opened: Permission denied" })
  end)

  it("cut off anywhere are malformed", function()
    local whole = get(scratch .. "/small.st")
    local header = string.unpack("<I8", whole)
    for _, kept in ipairs { 0, 1, 7, 8, 9, header // 2, header + 7, header + 8, header + 9, #whole // 2, #whole - 4,
      #whole - 1 } do
      put("cut.st", whole:sub(1, kept))
      fails(small .. "run --weights cut.st --input x.npy --output never.npy", 3, { "cut.st: " })
    end
    put("cut.st", whole .. "\0")
    fails(small .. "check --weights cut.st", 3, { "1 bytes of data follow the last tensor" })
    assert.is_nil(lfs.attributes(scratch .. "/never.npy", "mode"))
  end)

  it("with a hostile header are malformed", function()
    for text, fragment in pairs {
      [string.pack("<I8", 0)] = "header length 0", [string.pack("<I8", 100000001) .. "{}"] = "header length 100000001",
      [string.pack("<I8", 1 << 62)] = "header length 4611686018427387904", [("\255"):rep(8) ..
        "{}"] = "18446744073709551615",
      [string.pack("<I8", 2) .. "[]"] = "does not start with '{'", [string.pack("<I8", 4) .. "{{{{"] = "byte",
      [string.pack("<I8", 200000) .. ('{"a":'):rep(40000)] = "dtype, shape and data_offsets",
      [safetensors { { "a\\nb", "F32", "4294967296,4294967296", "" } }] = "is too large",
      [safetensors { { "a", "F99", "1", "abcd" } }] = 'dtype "F99" is not known',
      [safetensors { { "a", "F32", "-1", "abcd" } }] = "a", [safetensors { { "a", "F32", "3",
        "abcd" } }] = "is 12 bytes",
    } do
      put("bad.st", text)
      fails(small .. "check --weights bad.st", 3, { fragment })
    end
  end)

  it("that do not fit are listed, in eleven lines at most", function()
    local list = tensors_of(models.small)
    local by_name = {}
    for i, tensor in ipairs(list) do by_name[tensor[1]] = i end
    list[by_name["l0.attn.q.bias"]][2] = "I32"
    list[by_name["l0.attn.out.weight"]][3] = "16, 64"
    list[by_name["l0.norm1.weight"]][1] = "other"
    table.remove(list, by_name["l0.ff.up.weight"])
    put("misfit.st", safetensors(list))
    local faults = { "l0.attn.q.bias: type I32, but F32, F64, F16 or BF16 is expected",
      "l0.attn.out.weight: shape [16, 64], but [32, 32] is expected",
      "l0.norm1.weight: missing; the file has an unused tensor of its shape, other",
        "l0.ff.up.weight: missing", "the file's unused tensor: other [32]" }
    for _, verb in ipairs { "run --input x.npy --output never.npy", "check", "bench -r 1" } do
      fails(small .. verb .. " --weights misfit.st", 3, faults)
    end
    put("none.st", safetensors {})
    fails(small .. "check --weights none.st", 3, (function()
      local all = {}
      for i = 1, 8 do all[i] = ": missing" end
      all[9] = "and 8 more of 16 tensors do not fit"
      return all
    end)())
  end)
end)

describe("an array", function()
  local function refused(bytes, fragment)
    put("bad.npy", bytes)
    fails(small .. "run --weights small.st --input bad.npy --output never.npy", 3, { fragment })
    fails(small .. "check --input bad.npy", 3, { fragment })
  end

  it("cut off at every byte of its header, and in its data, is malformed", function()
    local whole = get(scratch .. "/x.npy")
    local script = {}
    for kept = 0, 128 do script[#script + 1] = kept end
    for _, kept in ipairs { 129, 131, 500, #whole - 4, #whole - 1 } do script[#script + 1] = kept end
    -- In one shell: each must exit 3 with one line and write nothing.
    local code, _, stdout = shell("for n in " .. table.concat(script, " ") .. [[; do
      head -c $n x.npy >cut.npy
      ]] .. small .. [[run --weights small.st --input cut.npy --output never.npy >/dev/null 2>said; rc=$?
      [ $rc = 3 ] && [ $(wc -l <said) = 1 ] && grep -q '^small: cut.npy: ' said || echo "$n: $rc $(cat said)"
    done]], 60)
    assert.are.equal("", stdout)
    assert.are.equal(0, code)
    refused(whole .. "\0", "1024 bytes of data, but the file holds 1025")
    assert.is_nil(lfs.attributes(scratch .. "/never.npy", "mode"))
  end)

  it("with a hostile header is malformed", function()
    local data = pack("<f", numbers(256))
    for header, fragment in pairs {
      ["{'descr': '>f4', 'fortran_order': False, 'shape': (1, 8, 32), }"] = "is big-endian; little-endian",
      ["{'descr': '|O', 'fortran_order': False, 'shape': (1, 8, 32), }"] = "type '|O', but a float",
      ["{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 8, 32), }"] = "structured types",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8, 32), }"] = "is too large",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"] = "a dimension beyond 2^63",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 8, 32), }"] = "a negative dimension",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (" .. ("1, "):rep(40) .. "), }"] = "more than 32 dimensions",
      ["{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8, 32), 'x': 1}"] = "another key",
      ["__import__('os').system('touch escaped')"] = "not a dictionary", [""] = "not a dictionary",
      ["{'descr': '<f4'}"] = "has no fortran_order", ["{'descr': '<f4\\n', }"] = "an escape in a string",
    } do
      refused(npy(nil, {}, data, header), fragment)
    end
    refused("\x93NUMPY\9\0" .. ("x"):rep(100), "version 9.0 of the format")
    refused("\x93NUMPY\2\0\255\255\255\255" .. ("x"):rep(100), "a header of 4294967295 bytes")
    refused("\x93NUMPY\1\0\255\255", "a header of 65535 bytes")
    refused(("\0"):rep(1000), "is not an .npy file")
  end)

  it("of a wrong rank, shape or type names input, what came and what is expected", function()
    local data = pack("<f", numbers(256))
    refused(npy("<f4", { 8, 32 }, data), "hidden: float32 [1, 8, 32] expected, but bad.npy holds float32 [8, 32], "
      .. "without an axis of sequences: one sequence is [1, 8, 32]")
    refused(npy("<f4", { 1, 32, 8 }, data), "hidden: float32 [1, 8, 32] expected, but bad.npy holds float32 [1, 32, 8]")
    refused(npy("<i4", { 1, 8, 32 }, data), "hidden: float32 [1, 8, 32] expected, but bad.npy holds int32 [1, 8, 32]")
    refused(npy("<f4", { 0, 8, 32 }, ""), "hidden: float32 [1, 8, 32] expected, but bad.npy holds float32 [0, 8, 32]")
    refused(npy("<f4", {}, "abcd"), "hidden: float32 [1, 8, 32] expected, but bad.npy holds float32 []")
    put("bad.npy", npy("<f4", { 2, 8 }, pack("<f", numbers(16))))
    fails("out/tok/tok run --weights tok.st --input ids=bad.npy --input lengths=lengths.npy --output never.npy", 3,
      { "ids: int32 [2, 8] expected, but bad.npy holds float32 [2, 8]" })
  end)

  it("that is missing is an input failure; all of them are told", function()
    fails(small .. "run --weights small.st --input none.npy --output y.npy", 4, { "none.npy: cannot be opened" })
    fails("out/tok/tok run --weights tok.st --input ids=no.npy --input lengths=none.npy --output y.npy", 4,
      { "no.npy: cannot be opened", "none.npy: cannot be opened" })
  end)

  it("of token ids or lengths out of range is refused with the index", function()
    local function run(ids, lengths, fragments)
      put("i.npy", npy("<i8", { 2, 8 }, pack("<i8", ids)))
      put("l.npy", npy("<i8", { 2 }, pack("<i8", lengths)))
      for _, verb in ipairs { "run --weights tok.st --output never.npy ", "check " } do
        fails("out/tok/tok " .. verb .. "--input ids=i.npy --input lengths=l.npy", 3, fragments)
      end
    end
    local ids = {}
    for i = 1, 16 do ids[i] = i % 11 end
    ids[13] = -1
    run(ids, { 8, 8 }, { "ids[1][4]: -1, but 0 to 10 is allowed" })
    ids[13] = 11
    run(ids, { 8, 8 }, { "ids[1][4]: 11, but 0 to 10 is allowed" })
    ids[13] = 1 << 40
    run(ids, { 8, 8 }, { "ids: int32 expected, but i.npy holds 1099511627776 at [1, 4]" })
    ids[13] = 10
    run(ids, { 8, 0 }, { "lengths[1]: 0, but 1 to 8 is allowed" })
    run(ids, { 9, 8 }, { "lengths[0]: 9, but 1 to 8 is allowed" })
    run(ids, { -1, 8 }, { "lengths[0]: -1, but 1 to 8 is allowed" })
    ids[1] = -5
    run(ids, { 8, 99 }, { "ids[0][0]: -5", "lengths[1]: 99" })
    assert.is_nil(lfs.attributes(scratch .. "/never.npy", "mode"))
  end)
end)

describe("an output file", function()
  it("that cannot be written is an output failure", function()
    local run = small .. "run --weights small.st --input x.npy --output "
    for path, fragment in pairs { ["none/y.npy"] = "No such file or directory",
      ["/dev/full"] = "No space left on device",
      ["."] = "cannot be written", ["x.npy/y.npy"] = "Not a directory", ["/proc/y.npy"] = "cannot be written" } do
      fails(run .. path, 4, { fragment })
    end
  end)

  it("keeps its old bytes where the disk is full, and no other file is left", function()
    os.execute("mkdir -p " .. quote(scratch .. "/disk"))
    if os.execute("mount -t tmpfs -o size=4k tmpfs " .. quote(scratch .. "/disk") .. " 2>/dev/null") ~= true then
      return pending("needs the right to mount a small disk")
    end
    finally(function() os.execute("umount -l " .. quote(scratch .. "/disk")) end)
    put("disk/y.npy", "old")
    put("long.npy", npy("<f4", { 9, 8, 32 }, pack("<f", numbers(9 * 256))))
    fails(small .. "run --weights small.st --input long.npy --output disk/y.npy", 4,
      { "disk/y.npy: cannot be written: No space left on device" })
    assert.are.equal("old", get(scratch .. "/disk/y.npy"))
    local _, _, files = shell("ls -A disk")
    assert.are.equal("y.npy\n", files)
  end)
end)

-- The rows of an output file of float32 [.., rows, width], as strings of bytes.
local function rows_of(path, width)
  local text, list = get(path):sub(129), {}
  for at = 1, #text, 4 * width do list[#list + 1] = text:sub(at, at + 4 * width - 1) end
  return list
end

local nan, infinite = 0 / 0, math.huge

-- Runs a model of width 32 twice: on plain numbers, and with `poison` in the given rows (counted from 1). Returns both
-- outputs' rows.
local function poisoned(name, batch, seq, rows, poison, more)
  local values = numbers(batch * seq * 32)
  put("clean.npy", npy("<f4", { batch, seq, 32 }, pack("<f", values)))
  for _, row in ipairs(rows) do
    for j = 1, 32 do values[(row - 1) * 32 + j] = poison end
  end
  put("poison.npy", npy("<f4", { batch, seq, 32 }, pack("<f", values)))
  local program = ("out/%s/%s "):format(name, name)
  for _, which in ipairs { "clean", "poison" } do
    succeeds(("%s run --weights %s.st --input hidden=%s.npy %s --output %s_y.npy"):format(program, name, which,
      more or "", which))
  end
  local out = succeeds(("%s check --weights %s.st --input hidden=poison.npy %s"):format(program, name, more or ""))
  assert.is_truthy(out:find(" 0 failed", 1, true), out)
  return rows_of(scratch .. "/clean_y.npy", 32), rows_of(scratch .. "/poison_y.npy", 32)
end

local function same_rows(clean, poison, first, last, about)
  for row = first, last do assert.is_true(clean[row] == poison[row], ("%s: row %d differs"):format(about, row)) end
end

-- Every value is finite, and near what it is without the poison.
local function near_rows(clean, poison, first, last, about)
  for row = first, last do
    for at = 1, #clean[row], 4 do
      local a, b = string.unpack("<f", clean[row], at), string.unpack("<f", poison[row], at)
      assert.is_true(math.abs(a - b) <= 1e-5 + 1e-4 * math.abs(a), ("%s: row %d: %g and %g"):format(about, row, a, b))
    end
  end
end

local function is_nan(bytes)
  for at = 1, #bytes, 4 do
    local value = string.unpack("<f", bytes, at)
    if value == value then return false end
  end
  return true
end

describe("NaN and infinity", function()
  it("go through a model, at the positions of the reference", function()
    for _, value in ipairs { nan, infinite, -infinite } do
      local clean, poison = poisoned("small", 1, 8, { 3 }, value)
      near_rows(clean, poison, 1, 2, "small with " .. value)
    end
    -- In one element only, and in the weights.
    local list = tensors_of(models.small)
    for _, value in ipairs { nan, infinite } do
      for _, tensor in ipairs(list) do
        if tensor[1] == "l0.ff.up.bias" then tensor[4] = string.pack("<f", value) .. tensor[4]:sub(5) end
      end
      put("nan.st", safetensors(list))
      succeeds(small .. "check --weights nan.st")
    end
  end)

  it("in padded tokens do not reach the valid rows", function()
    put("len.npy", npy("<i4", { 2 }, pack("<i4", { 13, 20 })))
    for _, value in ipairs { nan, infinite, -infinite } do
      local clean, poison = poisoned("padded", 2, 20, { 14, 15, 20 }, value, "--input lengths=len.npy")
      same_rows(clean, poison, 1, 13, "padded")
      same_rows(clean, poison, 21, 40, "the other sequence")
    end
  end)

  it("at a later token leave the earlier rows of a causal model as they were", function()
    for _, row in ipairs { 2, 17, 33, 40 } do
      for _, value in ipairs { nan, infinite } do
        local clean, poison = poisoned("causal", 1, 40, { row }, value)
        -- Rows of the token's own block of queries are computed again, without it; kernels may sum in another order.
        local block = targets.by_name.avx512.rule.query_block
        local own = (row - 1) // block * block
        same_rows(clean, poison, 1, own, "causal, token " .. row)
        near_rows(clean, poison, own + 1, row - 1, "causal, token " .. row)
        for later = row, 40 do assert.is_true(is_nan(poison[later]), "row " .. later) end
      end
    end
  end)

  it("reach no further than a window does", function()
    -- { left = 3, right = 2 }, two layers: row i sees tokens i - 6 to i + 4.
    for _, token in ipairs { 1, 9, 16, 24, 40 } do
      local clean, poison = poisoned("window", 1, 40, { token }, nan)
      near_rows(clean, poison, 1, token - 5, "before, token " .. token)
      near_rows(clean, poison, token + 7, 40, "after, token " .. token)
      for row = math.max(1, token - 4), math.min(40, token + 6) do assert.is_true(is_nan(poison[row]), "row " ..
        row) end
    end
  end)
end)

describe("without memory", function()
  it("every command ends with code 5 and one line, or does its work", function()
    succeeds(good_run)
    for _, verb in ipairs { good_run, small .. "check", small .. "bench -r 1" } do
      local seen = { [0] = 0, [5] = 0 }
      for kilobytes = 4800, 20000, 400 do
        local code, stderr = shell("ulimit -v " .. kilobytes .. "; exec " .. verb)
        if code ~= 127 then -- the loader could not even map the C library
          local about = ("%s with %d KiB: %d %s"):format(verb, kilobytes, code, stderr)
          assert.is_truthy(seen[code], about)
          seen[code] = seen[code] + 1
          if code == 5 then assert.is_truthy(stderr:match("^small: [^\n]*memory[^\n]*\n$"), about) else
            assert.are.equal("", stderr, about) end
        end
      end
      assert.is_true(seen[0] > 0, verb)
    end
    -- A number of sequences that no memory holds.
    os.execute("truncate -s 3000000128 " .. quote(scratch .. "/huge.npy"))
    local header = npy("<f4", { 3000000000 // 1024, 8, 32 }, "")
    put("header", header)
    shell("dd if=header of=huge.npy conv=notrunc; truncate -s " .. #header + 3000000000 // 1024 * 1024 .. " huge.npy")
    fails("ulimit -v 500000; " .. small .. "run --weights small.st --input huge.npy --output never.npy", 5,
      { "memory" })
    os.remove(scratch .. "/huge.npy")
  end)
end)

-- A C program of tests/c against the static library in `folder`.
local function compile(output, sources, folder, compiler, flags)
  local list = {}
  for i, source in ipairs(sources) do list[i] = quote(root .. "/tests/c/" .. source) end
  local libraries = folder and get(scratch .. "/" .. folder .. "/plain.pc"):match("Libs.private: ([^\n]*)") or ""
  local code, stderr = shell(("%s -std=c11 -Wall -Wextra -Werror -O1 -g %s %s -o %s %s %s %s"):format(compiler,
    flags or "",
    folder and ("-I%s -I%s/tests/c"):format(folder, quote(root)) or "", output, table.concat(list, " "),
    folder and folder .. "/libplain.a" or "", libraries), 120)
  assert.are.equal("", stderr)
  assert.are.equal(0, code)
end

describe("where memory may not become executable", function()
  it("kernels in C serve: nothing crashes, all passes, bench says so", function()
    compile("no_jit", { "faults_no_jit.c" }, nil, "gcc")
    if shell("./no_jit /bin/true") == 77 then return pending("needs PR_SET_MDWE, Linux 6.3") end
    succeeds(good_run)
    local with = get(scratch .. "/y.npy")
    succeeds("./no_jit " .. good_run)
    local without = get(scratch .. "/y.npy")
    assert.are.equal(#with, #without)
    for at = 129, #with, 4 do
      local a, b = string.unpack("<f", with, at), string.unpack("<f", without, at)
      assert.is_true(math.abs(a - b) <= 1e-5 + 1e-4 * math.abs(a), ("%g and %g at byte %d"):format(a, b, at))
    end
    for name in pairs(models) do succeeds(("./no_jit out/%s/%s check"):format(name, name)) end
    assert.is_truthy(succeeds("./no_jit " .. small .. "bench -r 1"):find("(c)", 1, true))
    assert.is_truthy(succeeds(small .. "bench -r 1"):find("(libxsmm", 1, true))
    assert.is_truthy(succeeds("out/padded/padded bench -r 1"):find("(c)", 1, true)) -- has none of libxsmm's
  end)
end)

describe("the C interface", function()
  local tests = { "null", "message", "truncated", "range", "threads", "open_threads", "fork", "control" }

  local function run_all(program)
    for _, test in ipairs(tests) do
      local code, stderr, stdout = shell(("./%s %s plain.st"):format(program, test), 120)
      local about = ("%s %s: %d\n%s%s"):format(program, test, code, stdout, stderr):sub(1, 3000)
      assert.is_true(code == 0 and stdout == "" and stderr == "", about)
    end
  end

  setup(function() put("plain.st", safetensors(tensors_of(interface))) end)

  it("withstands wrong use with generated kernels", function()
    build("out", "plain", interface)
    compile("interface", { "bad_interface.c" }, "out/plain", "gcc")
    run_all("interface")
  end)

  it("withstands wrong use, failing allocations and failing reads without an invalid access or a leak", function()
    local flags = helper.addresses
    build("checked", "plain", interface .. " kernels=c", helper.with_addresses)
    compile("interface_checked", { "bad_interface.c" }, "checked/plain", "clang", flags)
    run_all("interface_checked")
    local wraps = {}
    for name in ("malloc calloc realloc aligned_alloc free pread write fsync close rename mmap munmap "
      .. "clock_gettime"):gmatch("%S+") do
      wraps[#wraps + 1] = "-Wl,--wrap=" .. name
    end
    compile("faults_checked", { "faults_interface.c", "faults.c" }, "checked/plain", "clang", flags .. " " ..
      table.concat(wraps, " "))
    assert.are.equal("", succeeds("./faults_checked plain.st"))
  end)

  it("has no race", function()
    build("raced", "plain", interface .. " kernels=c", helper.with_races)
    compile("interface_raced", { "bad_interface.c" }, "raced/plain", "gcc", helper.races)
    run_all("interface_raced")
  end)
end)
