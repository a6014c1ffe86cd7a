-- threads_spec.lua: code for several workers: the same bits for every number of them and on any team, no
-- races, nothing of OpenMP where there is one worker, the caller's world left as it was.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local scratch = lfs.currentdir() .. "/out/test/threads"
local golden = "tests/torch/goldens/torch_causal70"

local function sh(line)
  local pipe = assert(io.popen("(" .. line .. ") 2>&1; echo \"exit $?\""))
  local text = pipe:read("a")
  pipe:close()
  local before, code = text:match("^(.*)exit (%d+)\n$")
  return tonumber(code), before
end

local function succeeds(line)
  local code, text = sh(line)
  assert.are.equal(0, code, line .. "\n" .. text)
  return text
end

-- Small models would be left to one worker.
local force = "plan.least_phase=0 plan.least_team=0"

local function build(arguments, environment)
  succeeds(("%s gen/attn2c build %s/description.lua name=crew -o %s/crew %s %s"):format(environment or "", golden,
    scratch, force, arguments))
end

describe("threads", function()
  setup(function() succeeds("rm -rf " .. scratch .. " && mkdir -p " .. scratch) end)

  it("give the same bits for 1, 2, 3 and 8 workers, and for those chosen at the start", function()
    local first
    for _, threads in ipairs { 1, 2, 3, 8, 0 } do
      build("threads=" .. threads)
      local line = "%s/crew/crew run --weights %s/model.safetensors --input %s/hidden.npy --output %s/y%d.npy"
      succeeds(line:format(scratch, golden, golden, scratch, threads))
      local bits = helper.read(("%s/y%d.npy"):format(scratch, threads))
      first = first or bits
      assert.is_true(bits == first, threads .. " workers give other bits")
    end
  end)

  it("leave the environment alone, survive a fork, and serve several callers", function()
    local libraries = "-lxsmm -lxsmmnoblas -lgomp -lpthread -lrt -ldl -lm"
    local bits
    for _, threads in ipairs { 1, 2, 3 } do
      build("threads=" .. threads)
      local line = "cc -std=c11 -Wall -Wextra -Werror -I%s/crew -o %s/host tests/c/host_threads.c %s/crew/libcrew.a %s"
      succeeds(line:format(scratch, scratch, scratch, libraries))
      for _, limit in ipairs { "", "OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT=2", "OMP_DYNAMIC=true" } do
        succeeds(("%s timeout 60 %s/host %s/model.safetensors 2>%s/bits"):format(limit, scratch, golden, scratch))
        local now = helper.read(scratch .. "/bits")
        bits = bits or now
        assert.is_true(now == bits, threads .. " workers, " .. limit)
      end
    end
  end)

  it("link OpenMP only where there are several", function()
    build("threads=1")
    assert.is_nil(succeeds("ldd " .. scratch .. "/crew/libcrew.so " .. scratch .. "/crew/crew"):find("omp", 1, true))
    build("threads=2")
    assert.is_truthy(succeeds("ldd " .. scratch .. "/crew/libcrew.so"):find("libgomp", 1, true))
  end)

  it("have no races", function()
    local archer = succeeds("ls /usr/lib/llvm-*/lib/libarcher.so | tail -n 1"):gsub("%s+$", "")
    local pooled = "batch=6 seq=20 mask=padding 'output={hidden(),pool\"mean\",linear{to=5}}'"
    for _, arguments in ipairs { "threads=3", "threads=2 " .. pooled } do
      build("kernels=portable " .. arguments,
        "CC=clang ATTN2C_CFLAGS='-fsanitize=thread -O1' ATTN2C_LDFLAGS=-fsanitize=thread")
      local options = "TSAN_OPTIONS='ignore_noninstrumented_modules=1 halt_on_error=1'"
      local text = succeeds(("OMP_TOOL_LIBRARIES=%s %s %s/crew/crew check"):format(archer, options, scratch))
      assert.is_truthy(text:find(" 0 failed", 1, true), text)
      assert.is_nil(text:find("ThreadSanitizer", 1, true), text)
    end
  end)
end)
