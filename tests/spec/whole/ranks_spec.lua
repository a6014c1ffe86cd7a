-- ranks_spec.lua: meetings of ranks (runtime/ranks): their results, and how ranks end together.
local helper = require("tests.spec.helper")
local mpirun = require("tests.spec.mpirun")

local bin = helper.root .. "/out/test/bin/ranks_meetings"

describe("the meetings of ranks", function()
  setup(function()
    assert(os.execute(("make -s -C %s -f tests/c/build.mk out/test/bin/ranks_meetings"):format(
      helper.shell(helper.root))))
  end)

  local function run(count, how, stages) return mpirun(count, { bin, how, stages }) end

  for count = 2, 4 do
    it(("of %d give the same bits by shared memory, by messages and by both"):format(count), function()
      local first = run(count, "windows")
      assert.same({ 0, "" }, { first.status, first.stderr })
      assert.truthy(first.stdout:find(("%d ranks, 0 failures, sums "):format(count), 1, true), first.stdout)
      local others = { [2] = { "messages" }, [3] = {}, [4] = { "2", helper.is_long and "messages" or nil } }
      for _, how in ipairs(others[count]) do
        assert.equal(first.stdout, run(count, how).stdout)
      end
    end)
  end

  it("are measured for predictions", function()
    local measure = require("commands.scale.meetings").measure
    local measured = measure(helper.root, 2, { seconds = 0.002, is_with_ways = true })
    for _, name in ipairs { "sums", "gathers", "messages", "sums_of_other_memory", "sums_by_messages",
      "sums_by_mpi" } do
      local last = 0
      for _, each in ipairs(measured[name]) do
        assert.is_true(each[1] > last and each[2] >= 0, name)
        last = each[1]
      end
      assert.is_true(last >= 1 << 20, name)
    end
    assert.is_true(measured.adds_per_us > 0 and measured.message_us >= 0)
  end)

  it("pass rows from stage to stage, and outputs back, by shared memory, by messages and by both", function()
    for _, each in ipairs { { 2, "windows", "2" }, { 3, "messages", "3" }, { 4, "2", "2" },
      helper.is_long and { 4, "windows", "2" } or nil } do
      local result = run(table.unpack(each))
      assert.same({ 0, "" }, { result.status, result.stderr }, table.concat(each, " "))
      assert.truthy(result.stdout:find(", 0 failures, sums ", 1, true), result.stdout)
    end
  end)

  it("are refused in one line for another build or another number of ranks", function()
    local other = run(2, "build")
    assert.same({ 3, "rank 1 has other code than rank 0\n" }, { other.status, other.stderr })
    other = run(2, "number")
    assert.same({ 2, "the model meetings is divided among 3 ranks, but 2 are started: mpirun -n 3\n" },
      { other.status, other.stderr })
    other = mpirun(1, { bin, "number" })
    assert.same({ 2, "the model meetings is divided among 2 ranks, but 1 is started: mpirun -n 2\n" },
      { other.status, other.stderr })
  end)

  it("end all ranks with one line if one adds values of other memory", function()
    local result = run(2, "other")
    assert.equal(2, result.status)
    local said = "^meetings: rank (%d): adds 4000 floats %(.-%) where rank (%d) adds 4000 floats %(.-%); all ranks"
    local first, second = result.stderr:match(said)
    assert.same({ "0", "1" }, first == "0" and { first, second } or { second, first }, result.stderr)
  end)

  it("end all ranks with one line when one is killed, even if nobody else ends them", function()
    local result = mpirun(2, { bin, "killed" }, { "--mca", "odls_base_sigkill_timeout", "10" })
    assert.equal(137, result.status)
    assert.equal("meetings: rank 0: rank 1 has ended; all ranks end\n", result.stderr)
  end)
end)
