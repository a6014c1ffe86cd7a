-- gguf_spec.lua: what is read of a GGUF file, and that a malformed one is refused in one line that names the place.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local gguf = require("common.gguf")
local gguf_file = require("tests.spec.gguf_file")

local function read(bytes) return gguf.read(helper.file(bytes, "m.gguf")) end

-- The line of a file's fault, after its name.
local function refusal(bytes, code)
  local fault = helper.fault(read, bytes)
  assert.same({ code or faults.code.format, 1 }, { fault.code, #fault.lines })
  return (fault.lines[1]:gsub("^.*/m%.gguf: ", ""))
end

local entries = { { "a", "STRING", "text" }, { "b", "BOOL", 1 }, { "c", "FLOAT32", 1e-5 }, { "d", "INT64", -7 },
  { "e", "INT8", -8 },
  { "words", "ARRAY STRING", { "x", "", "yz" } }, { "numbers", "ARRAY INT32", { 1, -2 } } }
local tensors = { { "t", "F32", { 2, 3 } }, { "u", "Q4_K", { 4, 512 } } }

describe("a GGUF file", function()
  teardown(helper.clean)

  it("has metadata, and tensors of row-major shapes", function()
    local file = read(gguf_file.bytes(entries, tensors))
    local of = file.metadata
    assert.same({ "text", true, 1e-5, -7, -8 }, { of.a, of.b, of.c, of.d, of.e })
    assert.same({ "x", "", "yz" }, gguf.array(file, "words", { "STRING" }))
    assert.same({ 1, -2 }, gguf.array(file, "numbers", { "INT32", "UINT32" }))
    assert.is_nil(gguf.array(file, "none", { "STRING" }))
    assert.same({ { 2, 3 }, { 4, 512 }, "Q4_K", 4 * 2 * 144 },
      { file.tensors.t.shape, file.tensors.u.shape, file.tensors.u.dtype, file.tensors.u.bytes })
    local fault = helper.fault(gguf.array, file, "numbers", { "STRING" })
    assert.matches('metadata "numbers": has type array of INT32, but an array of STRING is expected$', fault.lines[1])
  end)

  it("has the values of small tensors", function()
    local file = read(gguf_file.bytes({}, { { "f", "F32", { 3 }, string.pack("<fff", 1, 2.5, -3) } }))
    assert.same({ 1.0, 2.5, -3.0 }, gguf.floats(file, "f", 3))
    for dtype, bits in pairs { F16 = { 0x3c00, 0xc200 }, BF16 = { 0x3f80, 0xc040 } } do
      local bytes = string.pack("<I2I2", table.unpack(bits))
      assert.same({ 1.0, -3.0 }, gguf.floats(read(gguf_file.bytes({}, { { "f", dtype, { 2 }, bytes } })), "f", 2))
    end
    assert.matches("at most 2 values of type F32, F16 or BF16 are expected",
      helper.fault(gguf.floats, file, "f", 2).lines[1])
  end)

  it("that is cut anywhere is refused", function()
    local bytes = gguf_file.bytes(entries, tensors)
    for size = 0, #bytes - 1, 7 do refusal(bytes:sub(1, size)) end
    assert.matches("^is a Git LFS pointer", refusal("version https://git-lfs.github.com/spec/v1\n"))
    assert.equal("is not a GGUF file: it does not begin with GGUF", refusal(""))
  end)

  it("that contradicts itself is refused by the place", function()
    local function with(entry) return gguf_file.bytes({ entry }, tensors) end
    assert.matches('^metadata: the key at byte %d+ is at byte %d+, too$',
      refusal(gguf_file.bytes({ entries[1], entries[1] }, {})))
    assert.equal('metadata "general.alignment": has type STRING, but UINT32 is expected',
      refusal(with { "general.alignment", "STRING", "32" }))
    assert.equal('metadata "general.alignment": is 3, but a power of two is expected',
      refusal(with { "general.alignment", "UINT32", 3 }))
    assert.equal('metadata "b": is 2, but a boolean is 0 or 1', refusal(with { "b", "BOOL", 2 }))
    assert.equal('"t": occurs twice', refusal(gguf_file.bytes({}, { tensors[1], tensors[1] })))
    local good = gguf_file.bytes({ { "n", "UINT32", 5 } }, tensors)
    local function put(at, format, value)
      local piece = string.pack(format, value)
      return good:sub(1, at - 1) .. piece .. good:sub(at + #piece)
    end
    assert.matches("^version 4 of GGUF is not supported", refusal(put(5, "<I4", 4)))
    assert.matches("big%-endian", refusal(put(5, ">I4", 3)))
    assert.matches("^18446744073709551615 tensors, but", refusal(put(9, "<i8", -1)))
    assert.matches("^4611686018427387904 metadata entries, but", refusal(put(17, "<i8", 1 << 62)))
    assert.matches("^metadata entry 0: a key of 65536 bytes", refusal(put(25, "<i8", 65536)))
    assert.matches('^metadata "n": has a value of type 77', refusal(put(34, "<I4", 77)))
    local t = 42 -- where the list of tensors begins
    assert.matches('^tensor 0: a name of 64 bytes', refusal(put(t, "<i8", 64)))
    assert.matches('^"t": 9 dimensions, but 1 to 4', refusal(put(t + 9, "<I4", 9)))
    assert.matches('^"t": dimension 0 is 0', refusal(put(t + 13, "<i8", 0)))
    assert.matches('^"t": shape %[2, %d+%] is too large$', refusal(put(t + 13, "<i8", 1 << 62)))
    assert.matches('^"t": type 99 is not known; F32, F16, ', refusal(put(t + 29, "<I4", 99)))
    assert.matches('^"t": shape %[2, 3%], but the rows of type Q8_0 are a multiple of 32',
      refusal(put(t + 29, "<I4", 8)))
    assert.matches('^"t": offset 5 is not a multiple of the alignment, 32', refusal(put(t + 33, "<i8", 5)))
    assert.matches('"u": its bytes from 32 on overlap "t"', refusal(put(t + 33, "<i8", 32)))
    assert.matches('^"t": bytes 4096 to 4120 are beyond', refusal(put(t + 33, "<i8", 4096)))
  end)

  it("of several parts is read as one, and refused without them", function()
    local folder = helper.folder()
    local function part(number, name)
      helper.write(("%s/m-%05d-of-00002.gguf"):format(folder, number), gguf_file.bytes({
        { "split.no", "UINT16", number - 1 }, { "split.count", "UINT16", 2 },
        { "split.tensors.count", "INT32", 2 } }, { { name, "F32", { 3 } } }))
    end
    part(1, "a")
    local first = folder .. "/m-00001-of-00002.gguf"
    assert.matches("m%-00002%-of%-00002%.gguf: cannot be opened: No such file or directory",
      helper.fault(gguf.read, first).lines[1])
    part(2, "a")
    assert.matches('"a" is in two of its parts', helper.fault(gguf.read, first).lines[1])
    helper.write(folder .. "/m-00002-of-00002.gguf", helper.read(first))
    assert.matches("m%-00002%-of%-00002%.gguf: is not part 2 of 2 of ", helper.fault(gguf.read, first).lines[1])
    part(2, "b")
    local file = gguf.read(first)
    assert.same({ first, folder .. "/m-00002-of-00002.gguf" }, { file.tensors.a.path, file.tensors.b.path })
    assert.matches("is part 2 of 2 of a model: give the first part",
      helper.fault(gguf.read, folder .. "/m-00002-of-00002.gguf").lines[1])
  end)
end)
