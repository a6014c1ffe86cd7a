-- bad_input_spec.lua: what the command does with a bad description, bad options and a bad
-- disk: one line a fault that names the place and what is allowed, the right exit code,
-- nothing left half-written, no traceback.
local helper = require("tests.spec.helper")
local lfs = require("lfs")
local pipeline = require("pipeline")

local root = helper.absolute_root()

local scratch

local quote, get = helper.shell, helper.read

local function put(path, text)
  helper.write(path, text)
  return path
end

local function shell(lines, seconds) return helper.script(lines, scratch, seconds) end

local command = "lua5.4 " .. quote(root .. "/gen/attn2c") .. " "

local function lines_of(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
  return list
end

-- stderr is exactly these faults: one line each, which begins with attn2c: and holds the fragment.
local function assert_faults(stderr, fragments, about)
  local lines = lines_of(stderr)
  about = about .. "\nstderr:\n" .. stderr:sub(1, 2000)
  assert.are.equal(#fragments, #lines, about)
  for i, fragment in ipairs(fragments) do
    assert.are.equal("attn2c: ", lines[i]:sub(1, 8), about)
    assert.is_truthy(lines[i]:find(fragment, 1, true), "no '" .. fragment .. "' in line " .. i .. "\n" .. about)
  end
  assert.is_nil(stderr:find("traceback", 1, true), about)
  assert.is_nil(stderr:find("defect", 1, true), about)
  assert.is_nil(stderr:find("[%z\1-\9\11-\31\127]"), about)
end

-- The description `text`, with overrides: refused with these faults and code 2, and nothing written. Returns standard
-- error.
local function refused(text, fragments, overrides, code)
  local out = scratch .. "/never"
  local words = { "gen", put(scratch .. "/d.lua", text), table.unpack(overrides or {}) }
  table.move({ "-o", out }, 1, 2, #words + 1, words)
  local got, stdout, stderr, seconds = helper.asked(words)
  assert.is_true(seconds < 10, seconds)
  local about = text:sub(1, 300) .. " " .. table.concat(overrides or {}, " ")
  assert_faults(stderr, fragments, about)
  assert.are.equal(code or 2, got, about)
  assert.are.equal("", stdout, about)
  assert.is_nil(lfs.attributes(out, "mode"), about)
  return stderr
end

local base = 'name = "tiny", d_model = 16, heads = 2, seq = 4, layers = 1, target = "x86_64"'

local function refused_keys(keys, fragments, overrides)
  refused("return { " .. base .. ", " .. keys .. " }", fragments, overrides)
end

local function accepted(keys)
  put(scratch .. "/d.lua", "return { " .. base .. ", " .. keys .. " }")
  local code, stderr = shell(command .. "gen " .. quote(scratch .. "/d.lua") .. " -o " .. quote(scratch .. "/accepted"))
  assert.are.equal("", stderr, keys)
  assert.are.equal(0, code, keys)
end

setup(function()
  local pipe = assert(io.popen("mktemp -d"))
  scratch = pipe:read("l")
  pipe:close()
end)

teardown(function() os.execute("rm -rf " .. quote(scratch)) end)

describe("a description's keys:", function()
  it("an unknown key is named with the nearest known one", function()
    refused_keys("laers = 3", { "d.lua: laers: no such key (did you mean layers?)" })
    refused_keys("Heads = 3", { "Heads: no such key (did you mean heads?)" })
    refused_keys("[1] = 3", { "1: no such key" })
    refused_keys("[true] = 3", { "true: no such key" })
    refused_keys("[{}] = 3", { "a table: no such key" })
    refused_keys("[linear] = 3", { "a function: no such key" })
    refused_keys("['a\\nb\\27[31m\\0c'] = 1", { "a?b?[31m?c: no such key" })
  end)

  -- Key -> what its message must say is allowed, for a value of a wrong type.
  local allowed = {
    name = "a name is 1 to 40 of", batch = "an integer from 1 to 256", seq = "an integer from 1 to 32768",
    d_model = "an integer from 1 to 8192", heads = "an integer from 1 to 128", head_dim = "an integer from 1 to 512",
    layers = "an integer from 0 to 1000", d_ff = "an integer from 0 to 65536",
    activation = "gelu, gelu_tanh, log_relu, quick_gelu",
    norm = "post, pre, pre_ff, sandwich, res_post or none", eps = "a number from 1e-30 to 1",
    final_norm = "true or false",
    bias = "true, false or { qkv =", scale = "false or a number from 1e-30 to 1e6",
    mask = "none, causal, window, prefix, padding, key_padding, attention_mask, key_bias, additive, additive_heads,",
    window = "{ left, right }", input = "a stage such as linear",
    positions = "none, learned, sinusoidal, rope, alibi, relative_key, relative_key_query, t5, "
      .. "disentangled or convolution",
    conv_kernel = "an integer from 1 to 63", conv_activation = "gelu, gelu_tanh, log_relu, quick_gelu",
    position_kernel = "an integer from 1 to 1024", position_groups = "an integer from 1 to 1024",
    position_activation = "gelu, gelu_tanh, log_relu, quick_gelu",
    position_terms = "both, content_to_position or position_to_content",
    position_buckets = "an integer from 0 to 4096", position_distance = "an integer from 2 to 65536",
    position_norm = "true or false", position_projections = "shared, own or half_biased",
    kv_heads = "an integer from 1 to 128", gated = "true or false", norm_kind = "layer or rms",
    short_conv = "an integer from 0 to 64", values = "projected, normed or keys",
    keys_of = "an integer from 0 to 999", layer_scale = "true or false", layer_inputs = "an integer from 1 to 4096",
    second_ff = "an integer from 1 to 4096",
    residual_rank = "an integer from 1 to 4096", streams = "false or a table such as { count",
    gate_sparsity = "a number from 0 to 0.9999",
    residual = "true or false", dropout = "a number from 0 to 1", drop_path = "a number from 0 to 1",
    projections = "true, false or { q =", scoring = "dot or additive", weighting = "softmax, relu or none",
    fully_masked = "zero or nan", bias_kv = "true or false", zero_attn = "true or false",
    attention_output = "none, heads or mean", head_mask = "none, input or a list of a list of factors a layer",
    context = "an integer from 2 to 131072", sequences = "an integer from 1 to 128", cache = "f32, bf16, int8 or int4",
    chunk = "an integer from 1 to 4096", generation = "a table such as { temperature",
    past = "an integer from 0 to 32768", prefix = "an integer from 1 to 32768",
    mask_value = "a number from -1e+30 to 0",
    max_position = "an integer from 1 to 1048576", rope_theta = "a number from 1 to 1e+12",
    rope_style = "halves or pairs", rope_dim = "an integer from 0 to 512", t5_buckets = "an integer from 2 to 4096",
    t5_distance = "an integer from 2 to 1048576", t5_by_layer = "true or false",
    box_buckets = "an integer from 4 to 2048", box_distance = "an integer from 2 to 1000",
    position_gate = "true or false",
    memory = "{ seq =, width =, mask = } or encoder { ... }",
    key_seq = "an integer from 1 to 32768", kdim = "an integer from 1 to 8192", vdim = "an integer from 1 to 8192",
    layout = "batch_first or seq_first", opens = "safetensors, torch, gguf, any or packed",
    kv_layout = "rows_first or heads_first",
    ranks = "an integer from 1 to 64", stages = "an integer from 1 to 64",
    gate_limit = "a number from 0.001 to 1e+06", sinks = "true or false",
    qkv_limit = "a number from 0.001 to 1e+06", alibi_max = "a number from 0.1 to 64",
    alibi_factor = "a number from 1e-06 to 1e+06", softcap = "a number from 0.001 to 1e+06",
    residual_scale = "a number from 1e-06 to 1e+06",
    parallel = "none, two_norms or one_norm", qk_norm = "none, heads, each or all",
    output = "a list of stages", names = "attn2c, torch or a family (albert, bert, ",
    layer_groups = "a list with a group for each layer", first_position = "an integer from 0 to 65536",
    rope_scaling = "false or a table such as { type", inputs = "a table such as { ids",
    target = "host, amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, x86_64, aarch64 or generic",
    kernels = "auto, c or libxsmm", precision = "f32, bf16 or int8",
    weights = "int8, int4, int4m, int4f, int8f, int8h, mxfp4, int2, int3, int4k, ", input_order = "none, file or own",
    threads = "an integer from 0 to 64", reuse = "true or false",
    tokenizer = "a path or false", prompt = "a text of at most 10000 bytes without NUL",
    pictures = "false or a table such as { height", texts = "a path or false is allowed",
    prompts = "a table of 1 to 64 texts such as {", dimensions = "an integer from 1 to 65536",
    sound = "false or a table with mels", ctc = "false or a table such as { blank",
    speech = "false or a table such as { no_timestamps",
    labels = "a list of texts", label_function = "softmax, sigmoid or none",
    similarity = "cosine, dot, euclidean or manhattan",
    sinusoids = "pairs, halves or fairseq", rope_patches = "true or false",
    experts = "false or a table such as { count", late_interaction = "a table such as { query_marker",
    spans = "a table such as { label", query_weights = "a path",
    adapter = "a path", adapters = "a list of paths, or a table such as { sql", draft = "a path",
    unroll = "alike or all", max_lines = "an integer from 1 to 10000000", plan = "a table of tile parameters",
  }

  -- The keys that a key goes with, and the base of a description that it goes with.
  local without_seq = { context = base:gsub("seq = %d+, ?", "") }
  local company = { window = ", mask = 'window'", prefix = ", mask = 'prefix'", mask_value = ", mask = 'padding'",
    key_seq = ", input = qkv()", kdim = ", input = qkv()", vdim = ", input = qkv()" }

  it("a wrong type is refused for every key there is", function()
    local _, _, listed = shell(command .. "keys")
    local count = 0
    for key in ("\n" .. listed):gmatch("\n(%l[%w_]*) ") do
      assert.is_truthy(allowed[key], "this spec knows nothing of the key " .. key)
      count = count + 1
      for _, wrong in ipairs { "hidden", "0/0" } do -- a function; a NaN
        local more = company[key] or ""
        put(scratch .. "/d.lua", ("return { %s%s, %s = %s }"):format(without_seq[key] or base, more, key, wrong))
        local fault = helper.fault(pipeline.run, root, scratch .. "/d.lua", {}, "validate")
        assert.are.equal(2, fault and fault.code, key .. " = " .. wrong)
        assert.are.equal(1, #fault.lines, table.concat(fault.lines, "\n"))
        assert.is_truthy(fault.lines[1]:find("d.lua: " .. key, 1, true), fault.lines[1])
        assert.is_truthy(fault.lines[1]:find(allowed[key], 1, true), key .. ": " .. fault.lines[1])
      end
    end
    for _ in pairs(allowed) do count = count - 1 end
    assert.equal(0, count, "this spec knows keys that attn2c keys does not list")
  end)

  it("a number out of range is refused with the range", function()
    local whole = "but an integer from 1 to 32768 is allowed"
    for value, shown in pairs { ["0"] = "0", ["-1"] = "-1", ["32769"] = "32769", ["8.5"] = "8.5", ["huge"] = "inf",
      ["-huge"] = "-inf", ["1e308"] = "1e+308", ["1e308 * 10"] = "inf", ["1 << 62"] = "4611686018427387904",
      ["0x7fffffffffffffff + 1"] = "-9223372036854775808", ["99999999999999999999"] = "1e+20", ["'8'"] = '"8"' } do
      refused_keys("seq = " .. value, { ("seq: %s, %s"):format(shown, whole) })
    end
    accepted("seq = 8.0")
    refused_keys("seq = '" .. ("s"):rep(200000) .. "'", { 'sss...", ' .. whole })
    for _, value in ipairs { "0/0", "huge", "1e308", "0", "-1e-5" } do
      refused_keys("eps = " .. value, { "but a number from 1e-30 to 1 is allowed" })
    end
    for _, value in ipairs { "0/0", "huge", "1e308", "0", "-1", "'x'", "true" } do
      refused_keys("scale = " .. value, { "scale: " })
    end
    refused_keys("layers = 10 ^ 9", { "layers: 1000000000.0, but an integer from 0 to 1000 or a list of tables" })
    refused_keys("input = tokens { vocab = -1 }", { "input.vocab: -1, but an integer from 1 to 16777216 is allowed" })
    refused_keys("input = tokens { vocab = 2 ^ 40 }", { "input.vocab: " })
    refused_keys("plan = { panel = 17 }", { "plan.panel: 17, but a multiple of 16 is allowed" })
    refused_keys("plan = { panel = huge }", { "plan.panel: inf, but an integer from 16 to 256 is allowed" })
    refused_keys("plan = { kernels = 'x' }", { 'plan.kernels: "x", but c or libxsmm is allowed' })
    refused_keys("plan = { panl = 32 }", { "did you mean panel?" })
  end)

  it("what a nested table says is refused by its whole name", function()
    refused_keys("memory = encoder { seq = 3, memory = encoder { seq = 3 } }",
      { 'memory: an encoder has no key "memory"' })
    refused_keys("memory = encoder { seq = 3, input = qkv() }", { "memory.input: qkv does not go with an encoder" })
    refused_keys("memory = encoder { seq = 3, input = tokens {} }", { "memory.input.vocab: missing" })
    refused_keys("memory = encoder", { "memory: a function, but { seq =, width =, mask = } or encoder { ... }" })
    refused_keys("memory = encoder 'x'", { "memory: an encoder has no key 1", "memory.seq: missing" })
    refused_keys("input = encoder { seq = 3 }", { "input: encoder is allowed only in the memory" })
    refused_keys("head_mask = { { 1, nil, 1 } }", { "head_mask.1: the list of factors has holes" })
    refused_keys("head_mask = { { 1, 0/0 } }", { "head_mask.1.2: " })
    refused_keys("attention_output = { layers = { 1 << 62 } }", { "output.layers.1: 4611686018427387904, but" })
    refused_keys("input = image { height = 8, width = 8, patch = 9 }", { "input.patch: 9, but the image is 8 x 8" })
    refused_keys("input = image { height = huge, width = 8, patch = 4096, channels = 9 }", { "input.height: inf, but" })
    refused_keys("mask = { prefix = 2, window = { 1, 1 } }", { "mask: prefix does not go with window" })
    refused_keys("", { "memory.seq: 0, but an integer from 1 to 32768 is allowed" }, { "memory.seq=0" })
    refused_keys("memory = encoder { seq = 3 }", { 'memory: an encoder has no key "width"' }, { "memory.width=3" })
    refused_keys("head_mask = { { 1, 0 } }", { "head_mask: 1 lists, but one for each of 2 layers" }, { "layers=2" })
    refused_keys("input = tokens { vocab = 9 }", { 'input: tokens has no field "height"' }, { "input.height=32" })
    accepted("memory = encoder { seq = 3, input = tokens { vocab = 9 } }")
  end)

  it("a name cannot carry anything into C or out of the folder", function()
    for value, shown in pairs { ["'a*/b'"] = '"a*/b"', ["'a\"b'"] = '"a"b"', ["'a\\nb'"] = '"a?b"',
      ["'../x'"] = '"../x"',
      ["'/tmp/x'"] = '"/tmp/x"', ["''"] = '""', ["'int'"] = '"int"', ["'A'"] = '"A"', ["'a\\0'"] = '"a?"',
        ["'a b'"] = '"a b"',
      ["'9a'"] = '"9a"', ["'x" .. ("y"):rep(40) .. "'"] = '"xyyy', ["'-o'"] = '"-o"', ["'caf\\xc3\\xa9'"] = '"caf' } do
      refused_keys("name = " .. value, { ("name: %s"):format(shown) })
      if value ~= "'int'" then -- which is a name of an array, and int_ that of the member
        refused_keys("output = { hidden { name = " .. value .. " } }", { ("output.1.name: %s"):format(shown) })
      end
    end
    -- Files of these names would stand where the compiler looks for others.
    for _, name in ipairs { "attn2c", "stdint", "stddef", "features", "immintrin", "vector" } do
      refused_keys("name = '" .. name .. "'", { ('name: "%s"'):format(name) })
    end
  end)

  it("contradictions are named", function()
    refused_keys("d_model = 33", { "heads: d_model 33 is not divisible by heads 2, and head_dim is not given" })
    refused_keys("d_model = 1024, heads = 1",
      { "head_dim: d_model 1024 / heads 1 gives 1024, but 1 to 512 is allowed" })
    refused_keys("mask = 'window'", { "mask: window without bounds; give window = { left, right }" })
    refused_keys("window = { 1, 2 }", { "window: given, but mask does not say window" })
    refused_keys("mask = { window = { 1 } }", { "mask.window: { 1, nothing }, but { left, right }, integers from 0" })
    refused_keys("mask = { window = { 1, 2, 3 } }", { "mask.window: 3 is not part of { left, right }" })
    refused_keys("mask = 'window', window = { -1, 2 }", { "window: { -1, 2 }, but { left, right }" })
    refused_keys("mask = 'window', window = { 0/0, huge }", { "window: " })
    refused_keys("mask = { window = { 1, 1 } }, window = { 1, 1 }", { "window: given twice: here and in mask" })
    refused_keys("mask = { 'none', 'causal' }", { "mask: none goes with no other mask" })
    refused_keys("mask = { 'causl' }", { "did you mean causal?" })
    refused_keys("parallel = 'two_norms'", { 'parallel: does not go with norm = "post"' })
    refused_keys("parallel = 'one_norm', norm = 'res_post'",
      { 'parallel: one_norm goes with norm = "pre" or "sandwich"' })
    refused_keys("parallel = 'two_norms', norm = 'pre', memory = { seq = 4 }",
      { "parallel: does not go with memory" })
    refused_keys("parallel = 'two_norms', norm = 'none', input = qkv()",
      { "parallel: does not go with input = qkv()" })
    refused_keys("residual_scale = 0.5, projections = { out = false }",
      { "residual_scale: goes with projections.out" })
    refused_keys("residual_scale = 0.5, layer_groups = { 0 }, layers = { {} }",
      { "residual_scale: does not go with both layer_groups and a list of layers" })
    refused_keys("norm = 'sandwich', input = qkv()", { "norm: sandwich does not go with input = qkv()" })
    refused_keys("layers = { { rope_dim = 3 } }, positions = 'rope'",
      { "layers.1.rope_dim: 3, but an even number up to head_dim" })
    refused_keys("layers = { { rope_scaling = { type = 'linear', factor = 2 } } }",
      { 'layers.1.rope_scaling: goes with positions = "rope"' })
    refused_keys("norm = 'none', final_norm = true", { 'final_norm: does not go with norm = "none"' })
  end)

  it("stages stand where they can", function()
    refused_keys("output = { [1] = hidden(), [3] = hidden() }", { "output: the list of stages has holes" })
    refused_keys("output = { [2] = hidden() }", { "output: the list of stages has holes" })
    refused_keys("output = { [0] = hidden() }", { "output: the list of stages has holes" })
    refused_keys("output = { [1.5] = hidden() }", { "output: a list of stages has no key 1.5" })
    refused_keys("output = { hidden { name = 'h' }, hidden { name = 'h' } }",
      { 'output.2.name: "h" is the name of another' })
    refused_keys("output = { argmax(), linear { to = 4 } }", { "output.2: nothing can follow argmax" })
    refused_keys("output = { pool 'mean', pool 'max' }", { "output.2: the rows were pooled before" })
    refused_keys("output = { pool 'nope' }",
      { 'output.1.over: "nope", but all, deviation, first, last, max, mean, own, patches, root, second, tokens or '
        .. "weighted is allowed" })
    refused_keys("output = { linear {} }", { "output.1.to: missing" })
    refused_keys("output = { linear { to = 0 } }", { "output.1.to: 0, but an integer from 1 to 1048576 is allowed" })
    refused_keys("output = { linear { too = 4, to = 4 } }",
      { "output.1: linear has no field \"too\" (did you mean to?)" })
    refused_keys("output = { tokens { vocab = 3 } }", { "output.1: tokens is allowed only in the input" })
    refused_keys("input = pool 'mean'", { "input: pool is allowed only in the output" })
    refused_keys("output = { 5, { stage = {} }, { stage = 'x\\n' } }",
      { "output.1: 5", "output.2: a table", 'output.3: no stage "x?"' })
  end)

  it("all faults are listed at once", function()
    local all_wrong = "nme = 'x', heads = 0, d_model = -1, seq = 1e9, layers = 10 ^ 9, mask = 'foo', eps = -1, norm = 3"
    refused("return { " .. all_wrong .. " }", {
      "nme: no such key (did you mean name?)", "name: missing", "seq: 1000000000.0", "d_model: -1", "heads: 0",
      "layers: 1000000000.0", "norm: 3", "eps: -1", 'mask: "foo"',
    })
  end)
end)

describe("a description's code", function()
  it("has nothing but literals, arithmetic and constructors", function()
    local mark = scratch .. "/escaped"
    for code, fragment in pairs {
      ["os.execute('touch " .. mark .. "')"] = 'is called "os"', ["io.open('" .. mark .. "', 'w')"] = 'is called "io"',
      ["require 'os'"] = 'is called "require"', ["debug.sethook()"] = 'is called "debug"',
        ["load('return 1')()"] = 'is called "load"',
      ["dofile '/etc/passwd'"] = 'is called "dofile"', ["coroutine.yield()"] = 'is called "coroutine"',
      ["pcall(function() while true do end end)"] = 'is called "pcall"',
        ["setmetatable({}, {})"] = 'is called "setmetatable"',
      ["error { limit = 5 }"] = 'is called "error"', ["return string.rep('x', 1e9)"] = 'is called "string"',
      ["return ('x'):rep(1e9)"] = "a text has no methods", ["return ('x').rep"] = "a text has no methods",
      ["collectgarbage 'stop'"] = 'is called "collectgarbage"', ["local x <close> = {}"] = "non-closable",
      ["return -{}"] = "arithmetic on a table", ["return {} < {}"] = "compare two table values",
      ["return 1 // 0"] = "divide by zero", ["return nil + 1"] = "arithmetic on a nil",
      ["goto b"] = "no visible label 'b'", ["return {"] = "expected", ["\27Lua"] = "compiled Lua",
        ["\0\0"] = "unexpected symbol",
      ["return {} .. 'x'"] = "'..' is not allowed", ["--[[ a .. b ]] return 'x' .. 'y'"] = "'..' is not allowed",
      ["local s = 'x' while true do s = s .. s end"] = "'..' is not allowed",
    } do
      assert.is_truthy(refused(code, { fragment }):find("d.lua:", 1, true), code)
    end
    assert.is_nil(lfs.attributes(mark, "mode"))
  end)

  it("ends within its limits of instructions and memory", function()
    local endless, memory = "does not end within 1,000,000 instructions", "takes more than 16 MiB of memory"
    for code, fragment in pairs {
      ["while true do end"] = endless, ["repeat until false"] = endless, ["::a:: goto a"] = endless,
      ["for i = 1, huge do end"] = endless, ["local function f() return f() end f()"] = endless,
      ["local function f() return 1 + f() end f()"] = memory, ["local t = {} for i = 1, 1e9 do t[i] = i end"] = endless,
      ["local t = {} for i = 1, 1e9 do t = { t } end return t"] = endless,
      ["local t = { " .. base .. " } for i = 1, 1e6 do t[i] = i end return t"] = endless,
      ["local t = {} for i = 1, 1e6 do t[i] = { " .. ("nil, "):rep(40) .. " } end"] = memory,
      ["local t = {} while true do t[#t + 1] = linear(t) end"] = endless,
    } do
      refused(code, { fragment })
    end
  end)

  it("may nest and repeat as it likes", function()
    refused("return { " .. base .. ", output = " .. ("{"):rep(100000) .. ("}"):rep(100000) .. " }",
      { "nests deeper than" })
    refused("return " .. ("("):rep(100000) .. "1" .. (")"):rep(100000), { "nests deeper than" })
    refused_keys("output = " .. ("{"):rep(150) .. ("}"):rep(150), { "output.1: a table, but a stage" })
    refused("local t = { " .. base .. " } local o = {} t.output = o for i = 1, 1e5 do o[1] = {} o = o[1] end return t",
      { "output.1: a table, but a stage" })
    for _, key in ipairs { "output", "plan", "mask", "bias", "window", "input", "memory", "head_mask",
      "attention_output", "t" } do
      put(scratch .. "/d.lua", ("local t = { %s } t.%s = t return t"):format(base, key))
      local code, _, stderr = helper.asked { "gen", scratch .. "/d.lua", "-o", scratch .. "/never" }
      assert.are.equal(2, code, key .. stderr)
      assert.is_nil(stderr:find("defect", 1, true), stderr)
      -- `show` prints the table as it came, which holds itself.
      code, _, stderr = helper.asked { "show", scratch .. "/d.lua", "--stage", "describe" }
      assert.are.equal("", stderr)
      assert.are.equal(0, code)
    end
  end)

  it("may hold a thousand keys, no more: the first hundred faults are told, at once", function()
    local many = {}
    for i = 1, 100 do many[i] = "no such key" end
    many[101] = "d.lua: and 800 more"
    refused("local t = { " .. base .. " } for i = 1, 900 do t[i] = i end return t", many)
    local keys = { "return { " .. base }
    for i = 1, 900 do keys[i + 1] = ("lay%05d=1"):format(i) end
    refused(table.concat(keys, ",") .. "}", many)
    refused("local t = { " .. base .. ", output = {} } for i = 1, 1000 do t.output[i] = 1 end return t",
      { "output: 1000 stages, but at most 64 are allowed" })
    refused("local t = { " .. base .. ", output = {} } for i = 1, 1001 do t.output[i] = 1 end return t",
      { "d.lua: a table with more than 1000 keys, the limit of a description" })
  end)

  it("returns a table", function()
    for code, what in pairs { [""] = "nothing", ["return"] = "nothing", ["return nil"] = "nothing",
      ["return ..."] = "nothing",
      ["return 5"] = "a number", ["return 'x'"] = "a string", ["return linear"] = "a function",
        ["return true"] = "a boolean",
      ["return function() end"] = "a function" } do
      refused(code, { "a description returns a table, this one returned " .. what })
    end
  end)
end)

describe("a description's file", function()
  local function cannot_read(word, fragment)
    local code, stderr, stdout = shell(command .. "gen " .. quote(word) .. " -o " .. quote(scratch .. "/never"))
    assert_faults(stderr, { fragment }, word)
    assert.are.equal(4, code)
    assert.are.equal("", stdout)
  end

  it("must be there and be a file", function()
    cannot_read(scratch .. "/none.lua", "none.lua: No such file or directory")
    cannot_read(scratch .. "/none\n.lua", "none?.lua: No such file or directory")
    cannot_read(scratch, "has no config.json: it is no checkpoint as Hugging Face publishes them")
    cannot_read("", "the description's name is empty")
    cannot_read(put(scratch .. "/file", "") .. "/x", "Not a directory")
    refused("--" .. ("x"):rep(1 << 20), { "larger than 256 KiB" })
    os.execute("mkfifo " .. quote(scratch .. "/pipe"))
    cannot_read(scratch .. "/pipe", "pipe: is a named pipe, and a regular file is expected")
    cannot_read("/dev/zero", "/dev/zero: is a char device, and a regular file is expected")
  end)

  it("must be readable", function()
    if os.execute("setpriv --reuid=65534 --clear-groups true 2>/dev/null") ~= true then
      return pending("needs root and setpriv, to become a user who may not read it")
    end
    put(scratch .. "/secret.lua", "return {}")
    os.execute("chmod 711 " .. quote(scratch) .. " && chmod 600 " .. quote(scratch .. "/secret.lua"))
    local function other_user(words) return shell("setpriv --reuid=65534 --clear-groups " .. command .. words) end
    local code, stderr = other_user("gen " .. quote(scratch .. "/secret.lua"))
    if stderr:find("cannot open", 1, true) then return pending("that user may not read the compiler itself") end
    assert_faults(stderr, { "secret.lua: Permission denied" }, "no permission")
    assert.are.equal(4, code)
    -- A checkpoint's folder that may not be listed, or whose files may not be read; a folder to write to.
    local folder, file = quote(scratch .. "/secret"), quote(put(scratch .. "/open.lua", "return { " .. base .. " }"))
    os.execute("mkdir " .. folder)
    put(scratch .. "/secret/config.json", "{}")
    for mode, case in pairs { [600] = { "gen " .. folder, "secret/config.json: cannot be read: Permission denied" },
      [0] = { "gen " .. folder, "cannot read the folder " .. scratch .. "/secret: Permission denied" },
      [333] = { "gen " .. file .. " -o " .. folder, "cannot read the folder " .. scratch .. "/secret: Permission" } } do
      os.execute(("chown 65534 %s; chmod %d %s"):format(folder, mode, folder))
      code, stderr = other_user(case[1])
      assert_faults(stderr, { case[2] }, mode)
      assert.are.equal(4, code)
    end
  end)
end)

describe("an override", function()
  local whole = "return { " .. base .. " }"

  it("is KEY=VALUE", function()
    for _, word in ipairs { "x", "=3", "..=3", "a..b=3", "seq.=3", ".seq=3", "se q=3", "seq\n=3" } do
      refused(whole, { "an override is KEY=VALUE, with dots between nested keys" }, { word })
    end
    refused(whole, { '"seq=": a value is missing after the =' }, { "seq=" })
    refused(whole, { 'seq: "1e", but an integer from 1 to 32768 is allowed' }, { "seq=1e" })
    for _, word in ipairs { "seq=}", "seq=8)--", "seq=8;seq=9", 'seq="8',
      "seq=8\nheads=3",
      "name=a\nb", "seq=os.exit()", "seq=1..2", 'name="x".."y"',
        "seq=('8'):rep(9)" } do
      refused(whole, { "the value is neither a Lua literal nor a bare word" }, { word })
    end
  end)

  it("gives a key once, and several values only to bench", function()
    refused(whole, { '"seq": the key is given twice' }, { "seq=8", "seq=8" })
    refused(whole, { '"seq=8,9": only bench and report take a list of values' }, { "seq=8,9" })
  end)

  it("ends within the limits of a description", function()
    refused(whole, { "the value does not end within 1,000,000 instructions" },
      { "seq=(function() while true do end end)()" })
  end)

  it("must lead to a key", function()
    refused(whole, { '"seq.x=3": seq is a number and has no keys' }, { "seq.x=3" })
    refused(whole, { "output.1: a table, but a stage" }, { "output.1.to=3" })
    refused(whole, { "output: the list of stages has holes" }, { "output.99.to=3" })
    refused(whole, { "output: a list of stages has no key" }, { "output.9223372036854775808.to=1" })
    refused(whole, { "laers: no such key (did you mean layers?)" }, { "laers=3" })
    refused(whole, { "seq: missing" }, { "seq=nil" })
    refused(whole, { "mask: \"causl\"" }, { "mask=causl" })
    refused(whole, { 'name: "*/"' }, { 'name="*/"' })
    refused(whole, { "seq: -1", "layers: 1e+20" }, { "seq=-1", "layers=99999999999999999999" })
  end)
end)

describe("a model over its budget", function()
  it("is refused with its counted size, quickly and in little memory", function()
    put(scratch .. "/d.lua", "return { " .. base .. " }")
    local code, stderr = shell("ulimit -v 200000; ulimit -t 5; " .. command .. "gen " .. quote(scratch .. "/d.lua") ..
      " layers=1000 seq=512 d_model=8192 heads=128 target=avx512 -o " .. quote(scratch .. "/never"))
    assert_faults(stderr, { "and the budget is 400,000; raise max_lines" }, "huge")
    local counted = stderr:match("d.lua: max_lines: the model unrolls to some ([%d,]+) steps"):gsub(",", "")
    assert.is_true(tonumber(counted) > 1000000, counted)
    assert.are.equal(2, code)
    refused("return { " .. base .. " }", { "max_lines: the model unrolls to " },
      { "seq=4096", "batch=256", "heads=128", "d_model=8192", "layers=1000" })
    refused("return { " .. base .. " }", { "max_lines: the model unrolls to " }, { "max_lines=1" })
  end)

  it("without memory ends with code 5 and one line", function()
    put(scratch .. "/d.lua", "return { " .. base .. " }")
    local met = 0
    for _, kilobytes in ipairs { 12000, 16000, 24000, 40000 } do
      local code, stderr = shell("ulimit -v " .. kilobytes .. "; " .. command .. "gen " .. quote(scratch .. "/d.lua") ..
        " layers=64 d_model=1024 heads=16 target=avx512 -o " .. quote(scratch .. "/never"))
      assert.is_nil(stderr:find("defect", 1, true), stderr)
      assert.is_nil(stderr:find("traceback", 1, true), stderr)
      if code == 5 then
        assert_faults(stderr, { "out of memory" }, kilobytes .. " KiB")
        met = met + 1
      end
    end
    assert.is_true(met > 0, "no limit was tight enough")
    assert.is_nil(lfs.attributes(scratch .. "/never", "mode"))
  end)
end)

describe("a limit", function()
  it("of the size of files or of open files ends with code 4 and one line, and no file", function()
    put(scratch .. "/d.lua", "return { " .. base .. " }")
    local line = command .. "gen " .. quote(scratch .. "/d.lua") .. " -o " .. quote(scratch .. "/few")
    for limit, fragment in pairs { ["-f 4"] = "tiny.c: File too large", ["-n 6"] = "too many open files",
      ["-n 10"] = "too many open files", ["-n 13"] = "too many open files" } do
      local code, stderr = shell("ulimit " .. limit .. "; " .. line)
      assert_faults(stderr, { fragment }, limit)
      assert.are.equal(4, code, limit)
    end
    assert.same({ ".lock" }, helper.entries(scratch .. "/few"))
  end)
end)

describe("the command's options:", function()
  it("what is missing, unknown or wrong is told in one line", function()
    local file = put(scratch .. "/d.lua", "return { " .. base .. " }")
    for words, fragment in pairs {
      ["gen"] = "missing argument 'description'", ["foo"] = "unknown command 'foo'",
      ["--foo"] = "unknown option '--foo'", ["keys x"] = "too many arguments",
        ["show FILE"] = "missing option '--stage'",
      ["show FILE --stage"] = "requires an argument",
        ["show FILE --stage foo"] = "must be one of 'describe', 'validate'",
      ["gen FILE -o"] = "requires an argument", ["gen FILE -x"] = "unknown option '-x'",
        ["gen FILE --weights f"] = "unknown option",
      ["gen FILE -o ''"] = "-o: the name is empty; a folder is needed",
        ["bench FILE -o xml"] = "must be one of 'md', 'json', 'csv'",
      ["check FILE --weights"] = "requires an argument", ["check FILE --seed"] = "requires an argument",
    } do
      local code, stderr, stdout = shell(command .. words:gsub("FILE", (quote(file):gsub("%%", "%%%%"))))
      assert_faults(stderr, { fragment }, words)
      assert.are.equal(2, code, words)
      assert.are.equal("", stdout, words)
    end
  end)

  it("help is there everywhere", function()
    for _, words in ipairs { "", "gen", "build", "check", "bench", "show", "keys" } do
      local code, stderr, stdout = shell(command .. words .. " -h")
      assert.are.equal(0, code)
      assert.are.equal("", stderr)
      assert.is_truthy(stdout:find("Usage: attn2c", 1, true))
    end
  end)

  it("an output that nobody can take is a failure", function()
    local file = quote(put(scratch .. "/d.lua", "return { " .. base .. " }"))
    for _, words in ipairs { "-h", "gen -h", "--version", "keys", "show " .. file .. " --stage emit", "show " .. file ..
      " --stage graph", "gen " .. file .. " -o " .. quote(scratch .. "/closed") } do
      for _, closed in ipairs { " >&-", " >/dev/full" } do
        local code, stderr = shell(command .. words .. closed)
        assert_faults(stderr, { "cannot write to the standard output" }, words)
        assert.are.equal(4, code, words .. closed)
      end
      assert.are.equal(0, (shell(command .. words .. " 2>&-")), words)
    end
  end)
end)

-- Returns the temporary files of any writer, which must not be left.
local function leftovers(folder)
  local pipe = assert(io.popen("find " .. quote(folder) ..
    " \\( -name '*.new' -o -name 'all.o' -o -name 'new-*' \\) 2>/dev/null"))
  local text = pipe:read("a")
  pipe:close()
  return text
end

describe("the folder that is written to", function()
  it("must be one, or possible to make", function()
    local file = quote(put(scratch .. "/d.lua", "return { " .. base .. " }"))
    put(scratch .. "/plain", "kept")
    for folder, fragment in pairs { ["/proc/none"] = "cannot make the folder /proc/none", ["/dev/null"] = "/dev/null",
      [scratch .. "/plain"] = "/plain", [scratch .. "/plain/x"] = "/plain" } do
      for _, verb in ipairs { "gen ", "build " } do
        local code, stderr = shell(command .. verb .. file .. " -o " .. quote(folder))
        assert_faults(stderr, { fragment }, verb .. folder)
        assert.are.equal(4, code)
      end
    end
    assert.are.equal("kept", get(scratch .. "/plain"))
    -- A word that begins with a dash is an option, but not where it cannot be one.
    local inside = "cd " .. quote(scratch) .. " && " .. command .. "gen " .. file .. " "
    for _, words in ipairs { "-o ./-dash", "-o-dash", "--output=-dash" } do
      os.execute("rm -rf " .. quote(scratch .. "/-dash"))
      assert.are.equal(0, (shell(inside .. words)), words)
      assert.is_truthy(get(scratch .. "/-dash/tiny.h"), words)
    end
    local dash, said = shell(inside .. "-o -dash")
    assert_faults(said, { "unknown option '-d'" }, "-o -dash")
    assert.are.equal(2, dash)
    -- The default folder is out/<name>: here out is a file.
    os.execute("mkdir -p " .. quote(scratch .. "/elsewhere"))
    put(scratch .. "/elsewhere/out", "kept")
    local code, stderr = shell("cd " .. quote(scratch .. "/elsewhere") .. " && " .. command .. "gen " .. file)
    assert_faults(stderr, { "cannot make the folder out" }, "out is a file")
    assert.are.equal(4, code)
    assert.are.equal("kept", get(scratch .. "/elsewhere/out"))
  end)

  it("a file that is in the way of one is named, and no other is left half-written", function()
    local folder = scratch .. "/way"
    os.execute("mkdir -p " .. quote(folder .. "/tiny_ops.c/full"))
    local code, stderr = shell(command .. "gen " .. quote(put(scratch .. "/d.lua", "return { " .. base .. " }")) ..
      " -o " ..
      quote(folder))
    assert_faults(stderr, { "tiny_ops.c" }, "a folder in the way")
    assert.are.equal(4, code)
    assert.are.equal("", leftovers(folder))
  end)

  it("full: nothing is left half-written, and with room again the same command succeeds", function()
    local disk = scratch .. "/disk"
    os.execute("mkdir -p " .. quote(disk))
    if os.execute("mount -t tmpfs -o size=24k tmpfs " .. quote(disk) .. " 2>/dev/null") ~= true then
      return pending("needs the right to mount a small disk")
    end
    finally(function() os.execute("umount -l " .. quote(disk)) end)
    local file, folder = quote(put(scratch .. "/d.lua", "return { " .. base .. " }")), disk .. "/tiny"
    local code, stderr = shell(command .. "gen " .. file .. " -o " .. quote(folder))
    assert_faults(stderr, { "No space left on device" }, "gen")
    assert.are.equal(4, code)
    assert.are.equal("", leftovers(disk))
    assert.is_nil(lfs.attributes(folder .. "/tiny.c", "mode"))

    -- The cache is elsewhere, so that what is delivered meets the end of the disk, one after the other.
    assert.are.equal(0, (shell(command .. "build " .. file .. " -o " .. quote(scratch .. "/built/tiny"), 120)))
    local failed = 0
    for _, kilobytes in ipairs { 64, 96, 160, 256, 400, 900, 1600 } do
      os.execute(("mount -o remount,size=%dk %s"):format(kilobytes, quote(disk)))
      code, stderr = shell("TMPDIR=" .. quote(scratch) .. " " .. command .. "build " .. file .. " -o " .. quote(folder),
        60)
      assert.are.equal("", leftovers(disk), kilobytes .. " KiB")
      assert.is_nil(stderr:find("traceback", 1, true), stderr)
      if code ~= 0 then
        failed = failed + 1
        assert.are.equal(4, code, stderr)
        assert.is_truthy(stderr:find("attn2c: cannot", 1, true), stderr)
        -- A program that is there, for there was room for it and not for the library, is a whole one.
        if lfs.attributes(folder .. "/tiny", "mode") then
          assert.are.equal(0, (shell(quote(folder .. "/tiny") .. " info")), "a program at " .. kilobytes .. " KiB")
        end
      end
    end
    assert.is_true(failed >= 3, failed .. " builds failed")
    os.execute("mount -o remount,size=16m " .. quote(disk))
    code, stderr = shell(command .. "build " .. file .. " -o " .. quote(folder), 60)
    assert.are.equal("", stderr)
    assert.are.equal(0, code)
    assert.are.equal(0, (shell(quote(folder .. "/tiny") .. " check")))
  end)
end)

describe("the C compiler", function()
  it("that is missing or refuses is a failure, after which a better one builds", function()
    local file, folder = quote(put(scratch .. "/d.lua", "return { " .. base .. " }")), scratch .. "/cc/tiny"
    for _, environment in ipairs { "CC=/nonexistent/cc", "CC=false", "ATTN2C_CFLAGS=--no-such-option" } do
      local code, stderr = shell(environment .. " " .. command .. "build " .. file .. " -o " .. quote(folder), 120)
      assert.are.equal(4, code, environment)
      local lines = lines_of(stderr)
      assert.is_truthy(lines[#lines]:find("attn2c: cannot compile", 1, true), stderr)
      assert.is_nil(lfs.attributes(folder .. "/tiny", "mode"))
      assert.is_nil(lfs.attributes(folder .. "/libtiny.a", "mode"))
      assert.is_nil(lfs.attributes(folder .. "/libtiny.so", "mode"))
      assert.is_nil(lfs.attributes(folder .. "/tiny.c", "mode"))
      assert.are.equal("", leftovers(scratch .. "/cc"))
    end
  end)
end)
