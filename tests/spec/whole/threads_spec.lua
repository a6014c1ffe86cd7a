-- threads_spec.lua: code for several workers: the same bits for every number of them and on any team, no
-- races, nothing beside libc and libm, the caller's world left as it was.
local helper = require("tests.spec.helper")

local scratch = "out/test/threads" -- from the top, whose own path may have spaces
local golden = "tests/torch/goldens/torch_causal70"

local succeeds = helper.succeeds

-- Small models would be left to one worker.
local force = "plan.least_phase=0 plan.least_team=0"

local builds = {} -- their numbers, by arguments and environment

-- Makes `crew` a link to the folder of a build, which is made once.
local function build(arguments, environment)
  local start = environment or helper.optimised
  local key, count = start .. " " .. arguments, 1
  for _ in pairs(builds) do count = count + 1 end
  if not builds[key] then
    succeeds(("%s gen/attn2c build %s/description.lua name=crew -o %s/crew%d %s %s"):format(start, golden, scratch,
      count, force, arguments))
    builds[key] = count
  end
  succeeds(("ln -sfn crew%d %s/crew"):format(builds[key], scratch))
end

describe("threads", function()
  setup(function() succeeds("rm -rf " .. scratch .. " && mkdir -p " .. scratch) end)

  -- Code for 2 and 8 workers is also in the model that chooses (0); two tests below run it.
  it("give the same bits for any number of workers, and for those chosen at the start", function()
    local first
    for _, threads in ipairs(helper.is_long and { 1, 2, 3, 8, 0 } or { 1, 3, 0 }) do
      build("threads=" .. threads)
      local line = "%s/crew/crew run --weights %s/model.safetensors --input %s/hidden.npy --output %s/y%d.npy"
      succeeds(line:format(scratch, golden, golden, scratch, threads))
      local bits = helper.read(("%s/y%d.npy"):format(scratch, threads))
      first = first or bits
      assert.is_true(bits == first, threads .. " workers give other bits")
    end
  end)

  it("leave the environment alone, survive a fork, and serve several callers", function()
    local libraries = "-lpthread -lm"
    local bits
    for _, threads in ipairs(helper.is_long and { 1, 2, 3 } or { 1, 3 }) do
      build("threads=" .. threads)
      local line = "cc -std=c11 -Wall -Wextra -Werror -I%s/crew -o %s/host tests/c/host_threads.c %s/crew/libcrew.a %s"
      succeeds(line:format(scratch, scratch, scratch, libraries))
      for _, cores in ipairs { "", "taskset -c 0" } do
        succeeds(("%s timeout 600 %s/host %s/model.safetensors 2>%s/bits"):format(cores, scratch, golden, scratch))
        local now = helper.read(scratch .. "/bits")
        bits = bits or now
        assert.is_true(now == bits, threads .. " workers, " .. cores)
      end
    end
  end)

  it("are one, two, four or eight where the model chooses, by the processors that there are", function()
    build("threads=0")
    local compile = "cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -o %s/processors.so tests/c/host_processors.c -ldl"
    succeeds(compile:format(scratch))
    local bits
    for processors, workers in pairs { [1] = 1, [2] = 2, [3] = 2, [4] = 4, [7] = 4, [8] = 8, [16] = 8, [64] = 8 } do
      local line = "PROCESSORS=%d LD_PRELOAD=%s/processors.so %s/crew/crew run --weights %s/model.safetensors "
        .. "--input hidden=%s/hidden.npy --output hidden=%s/y.npy"
      local said = succeeds(line:format(processors, scratch, scratch, golden, golden, scratch))
      assert.equal(workers - 1, tonumber(said:match("(%d+) threads were made")), processors .. " processors: " .. said)
      local now = helper.read(scratch .. "/y.npy")
      bits = bits or now
      assert.is_true(now == bits, processors .. " processors")
    end
  end)

  it("are as many as a caller asks for, in the program, the library and Python", function()
    local compile = "cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -o %s/processors.so tests/c/host_processors.c -ldl"
    succeeds(compile:format(scratch))
    local bits
    for _, each in ipairs { helper.is_long and { 4, { 1, 2, 3, 4 } } or { 3, { 1, 2, 3 } }, { 0, { 1, 3, 8 } } } do
      build("threads=" .. each[1])
      local most = each[2][#each[2]]
      local line = "PROCESSORS=16 LD_PRELOAD=%s/processors.so %s/crew/crew run --threads %d --weights "
        .. "%s/model.safetensors --input hidden=%s/hidden.npy --output hidden=%s/y.npy"
      for _, threads in ipairs(each[2]) do
        local said = succeeds(line:format(scratch, scratch, threads, golden, golden, scratch))
        assert.equal(threads - 1, tonumber(said:match("(%d+) threads were made")), said)
        local now = helper.read(scratch .. "/y.npy")
        bits = bits or now
        assert.is_true(now == bits, threads .. " threads")
      end
      for _, wrong in ipairs { "0", most + 1, "two" } do
        local code, said = helper.run(("%s/crew/crew check --threads %s"):format(scratch, wrong))
        assert.same({ 2, ("crew: --threads: '%s', but 1 to %d is allowed\n"):format(wrong, most) }, { code, said })
      end
      for _, command in ipairs { "check", "bench -r 1" } do
        succeeds(("%s/crew/crew %s --threads 2"):format(scratch, command))
      end
      succeeds(("PROCESSORS=16 LD_PRELOAD=%s/processors.so PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s/crew:tests/bindings "
        .. "/usr/bin/python3 -W error tests/bindings/threads.py %s %d"):format(scratch, scratch, golden, most))
    end
    build("threads=1")
    local code, said = helper.run(scratch .. "/crew/crew check --threads 1")
    assert.equal(2, code)
    assert.matches("^crew: check: no option '%-%-threads': this model was built for one thread; [^\n]*\n$", said)
    assert.is_nil(succeeds(scratch .. "/crew/crew run --help"):find("--threads", 1, true))
    for _, name in ipairs { "crew.h", "crew_model.c" } do
      assert.is_nil(helper.read(scratch .. "/crew/" .. name):find("set_threads", 1, true), name)
    end
  end)

  it("need no library of threads but libc", function()
    build("threads=3")
    for line in succeeds("ldd " .. scratch .. "/crew/libcrew.so"):gmatch("[^\n]+") do
      assert.is_truthy(line:find("linux-vdso", 1, true) or line:find("/ld-linux", 1, true)
        or line:find("^%s*libc%.so") or line:find("^%s*libm%.so"), line)
    end
  end)

  it("have no races", function()
    local pooled = "batch=6 seq=20 mask=padding 'output={hidden(),pool\"mean\",linear{to=5}}'"
    -- Without norms a block of tokens overwrites what the last product of the block before it reads.
    local blocks = "layers=1 norm=none plan.token_block=24"
    for _, arguments in ipairs(helper.is_long and { "threads=3", "threads=2 " .. pooled, "threads=2 " .. blocks }
      or { "threads=3 " .. pooled, "threads=2 " .. blocks }) do
      build("kernels=c " .. arguments, helper.with_races)
      local text = succeeds(("TSAN_OPTIONS=halt_on_error=1 %s/crew/crew check"):format(scratch))
      assert.is_truthy(text:find(" 0 failed", 1, true), text)
      assert.is_nil(text:find("ThreadSanitizer", 1, true), text)
    end
  end)
end)
