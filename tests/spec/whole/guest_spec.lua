-- guest_spec.lua: a model's shared library as the guest of a program: what it takes from its host and what it leaves
-- behind. Descriptors, maps and bytes, stack, files, floating-point environment; and what it does where a sandbox
-- denies it generated code, threads or files.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local scratch = "out/test/guest" -- from the top, whose own path may have spaces
local goldens = "tests/torch/goldens/"

local sh, succeeds = helper.run, helper.succeeds

local function weights(golden) return goldens .. golden .. "/model.safetensors" end

-- The words of a build whose program is used, and of those of which only the libraries are.
local PROGRAM, LIBRARIES = "threads=2 kernels=libxsmm", "threads=2 --libraries"

-- Flags of a library of which a test looks only at the system calls.
local QUICK = "ATTN2C_CFLAGS=" .. helper.shell(helper.quick)

-- For `make test-long`, as their masks are like those of others.
local is_long = { causal_key_additive = true, prefix_key_padding = true, window_padding = true }

local built = {}

-- The folder of a golden's model, built once. Small models would be left to one worker.
local function build(golden, arguments, environment)
  local key = golden .. " " .. (arguments or "") .. (environment or "")
  if not built[key] then
    local count = 0
    for _ in pairs(built) do count = count + 1 end
    built[key] = scratch .. "/model" .. count
    succeeds(("%s %s gen/attn2c build %s%s/description.lua name=guest -o %s plan.least_phase=0 plan.least_team=0 %s")
      :format(helper.optimised, environment or "", goldens, golden, built[key], arguments or ""))
  end
  return built[key]
end

local function host(mode, folder, golden, more)
  return ("timeout 300 %s/host %s %s/libguest.so %s %s"):format(scratch, mode, folder, weights(golden), more or "")
end

describe("a library as a guest", function()
  setup(function()
    succeeds(("rm -rf %s && mkdir -p %s"):format(scratch, scratch))
    local compile = "cc -std=c11 -Wall -Wextra -Werror -O1 -iquote runtime -o %s/%s tests/c/%s.c -ldl -lpthread -lm"
    succeeds(compile:format(scratch, "host", "host_guest"))
    succeeds(compile:format(scratch, "denied", "denied"))
  end)

  it("leaves no descriptor, map or byte in 1,000 loads, openings, calls and unloads", function()
    succeeds(host("rounds", build("torch_padding21", LIBRARIES), "torch_padding21", 1000))
  end)

  it("needs no more than 64 KB of stack", function()
    for golden, words in pairs { torch_causal70 = PROGRAM, torch_padding21 = LIBRARIES,
      bert_past_padding = LIBRARIES, vit_class = "kernels=c --libraries" } do
      succeeds(host("stack", build(golden, words), golden))
    end
  end)

  it("leaves the floating-point environment as it was, and meets no trap, for all masks and lengths", function()
    for golden, words in pairs { torch_causal70 = PROGRAM, torch_padding21 = LIBRARIES, empty_nan = LIBRARIES,
      causal_key_additive = LIBRARIES, prefix_key_padding = LIBRARIES, window_padding = LIBRARIES,
      bert_past_padding = LIBRARIES, vit_class = "kernels=c --libraries" } do
      if helper.is_long or not is_long[golden] then succeeds(host("flags", build(golden, words), golden)) end
    end
    -- What -ffast-math links in changes MXCSR when it is loaded, and the check above sees it.
    local folder = build("torch_padding21", LIBRARIES, "ATTN2C_LDFLAGS=-ffast-math")
    local code, text = sh(host("flags", folder, "torch_padding21"))
    assert.equal(1, code)
    assert.is_truthy(text:find("loading changes", 1, true), text)
  end)

  it("makes and opens no file but the one it reads", function()
    local folder = build("torch_causal70", PROGRAM)
    local denied = ("%s/denied writing "):format(scratch)
    succeeds(denied .. "/bin/true")
    local code = sh(("%s /bin/touch %s/never"):format(denied, scratch))
    assert.equal(159, code) -- SIGSYS
    succeeds(("%s %s/host bits %s/libguest.so %s"):format(denied, scratch, folder, weights("torch_causal70")))
    succeeds(("%s %s/guest check"):format(denied, folder))
  end)

  it("computes the same bits where no thread can be made", function()
    for _, words in ipairs { PROGRAM, helper.is_long and "threads=3" or nil } do
      local folder = build("torch_causal70", words)
      local line = ("bits %s/libguest.so %s"):format(folder, weights("torch_causal70"))
      local bits = succeeds(("%s/host %s"):format(scratch, line))
      assert.is_true(#bits > 1000)
      assert.is_true(succeeds(("%s/denied threads %s/host %s"):format(scratch, scratch, line)) == bits, words)
    end
    local program = ("%s/denied threads %s/guest "):format(scratch, build("torch_causal70", PROGRAM))
    assert.is_truthy(succeeds(program .. "check"):find(" 0 failed", 1, true))
    assert.is_truthy(succeeds(program .. "bench -r 1"):find("| guest |", 1, true))
    succeeds(("%s run --weights %s --input %storch_causal70/hidden.npy --output %s/y.npy"):format(program,
      weights("torch_causal70"), goldens, scratch))
  end)

  it("has a program that ends as it should with little stack, few threads and small files", function()
    local folder = build("torch_causal70", PROGRAM)
    local run = ("run --weights %s --input %storch_causal70/hidden.npy --output %s/"):format(weights("torch_causal70"),
      goldens, scratch)
    for _, words in ipairs { "info", "check", "bench -r 1", run .. "little.npy" } do
      succeeds(("ulimit -s 64; %s/guest %s"):format(folder, words))
    end
    local code, text = sh(("ulimit -f 0; %s/guest %snever.npy"):format(folder, run))
    assert.equal(4, code, text)
    assert.is_truthy(text:find("cannot be written", 1, true), text)
    assert.is_nil(lfs.attributes(scratch .. "/never.npy"))
    -- The limit on processes holds for others than root.
    local other = "setpriv --reuid=65534 --clear-groups "
    if sh(("%s test -x %s/guest"):format(other, folder)) == 0 then
      succeeds(("%s sh -c 'ulimit -u 1; exec %s/guest check'"):format(other, folder))
    end
  end)

  it("computes with kernels in C where code may not be made executable", function()
    for _, folder in ipairs { build("torch_causal70", PROGRAM) } do
      local line = "%s/guest run --weights %s --input %storch_causal70/hidden.npy --output %s/%s.npy"
      local function run(before, name)
        succeeds(before .. line:format(folder, weights("torch_causal70"), goldens, scratch, name))
        return helper.read(("%s/%s.npy"):format(scratch, name))
      end
      local denied = ("%s/denied code "):format(scratch)
      local with, without = run("", "with"), run(denied, "without")
      assert.equal(#with, #without)
      for at = 129, #with, 4 do
        local a, b = string.unpack("<f", with, at), string.unpack("<f", without, at)
        assert.is_true(math.abs(a - b) <= 1e-5 + 1e-4 * math.abs(a), ("%g and %g at byte %d"):format(a, b, at))
      end
      assert.is_truthy(succeeds(denied .. folder .. "/guest check"):find(" 0 failed", 1, true))
      assert.is_truthy(succeeds(denied .. folder .. "/guest bench -r 1"):find("(c)", 1, true))
      assert.is_truthy(succeeds(folder .. "/guest bench -r 1"):find("(libxsmm", 1, true)) -- and C, where that is faster
    end
  end)

  it("works where nearly no system call is allowed, and no memory becomes executable", function()
    local function sandboxed(more, path)
      local folder = build("torch_causal70", more ~= "" and PROGRAM or "--libraries", more == "" and QUICK or nil)
      succeeds(("cc -std=c11 -Wall -Wextra -Werror -O1 %s -iquote %s tests/c/host_sandbox.c %s/libguest.a -lpthread "
        .. "-lm -o %s/sandboxed"):format(more, folder, folder, scratch))
      return succeeds(("env -u GLIBC_TUNABLES %s/sandboxed %s"):format(scratch, path)) -- they make malloc ask for more
    end
    local sum = sandboxed("", weights("torch_causal70"))
    assert.matches("^%-?%d+%.%d+\n$", sum)
    assert.equal(sum, sandboxed("-DWITH_MORE", goldens .. "torch_causal70"))
    local readme = helper.read("runtime/README.md"):match("\n## System calls\n(.-)\n## ") or ""
    local allowed = helper.read("tests/c/host_sandbox.c"):match("#define ALLOWED.-#define ALLOW%(")
    for name in allowed:gmatch("each%(([%w_]+)%)") do
      assert.truthy(readme:find("`" .. name .. "`", 1, true), name)
    end
  end)

  it("has a static program that needs no other file, in an empty root that cannot be written", function()
    local folder = scratch .. "/jail"
    succeeds(("gen/attn2c build %storch_causal70/description.lua name=guest --static -o %s/static && mkdir -p %s && "
      .. "cp %s/static/guest %s/"):format(goldens, scratch, folder, scratch, folder))
    local inside = ("mount --bind %s %s && mount -o remount,ro,bind %s && cd %s && exec chroot . /guest check"):format(
      folder, folder, folder, folder)
    assert.is_truthy(succeeds(("unshare -rm sh -c '%s'"):format(inside)):find(" 0 failed", 1, true))
  end)
end)
