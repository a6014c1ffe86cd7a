-- partition_spec: the axis that workers divide, and the barriers that the plan names.
local helper = require("tests.spec.helper")
local plan = require("passes.plan")

local function planned(more) return helper.tiny(more, "plan") end

-- The partitions of the regions of a state's first section, as the dump has them.
local function regions(state, threads)
  local list = {}
  for line in plan.dump(state):match("    section .-\n(.*)"):gmatch("[^\n]+") do
    if line:find("^    section") then break end
    local text = line:match(("^        %d workers: (.*)"):format(threads))
    if text then list[#list + 1] = text end
  end
  return list
end

describe("the partition of a segment", function()
  local function of(batch, threads)
    local state = planned { batch = batch, seq = 64, threads = threads, plan = { group_tokens = 128 } }
    local record = state.plan.segments[1].partition[threads]
    local text = ("    %d workers: %s, %s"):format(threads, record.axis, record.meeting)
    assert.matches(text, plan.dump(state), 1, true)
    return record.axis .. ", " .. record.meeting
  end

  it("divides micro-batches where no two workers share a sequence", function()
    assert.equal("sequences, none", of(4, 2))
    assert.equal("regions, barrier", of(3, 2)) -- sequences 0, 1 and 1, 2
    assert.equal("sequences, none", of(7, 2)) -- the last two micro-batches, 4, 5 and 5, 6, are one worker's
    assert.equal("regions, barrier", of(7, 4))
  end)
end)

describe("the partition of a region", function()
  it("has a barrier before each task that reads what others write", function()
    assert.same({ "panels x 3", "barrier, heads",
      "barrier, panels, barrier, rows, barrier, panels, barrier, panels, barrier, rows" }, regions(planned(), 2))
  end)

  it("divides tokens where there are blocks for all workers, without a barrier inside", function()
    local state = planned { threads = 3, plan = { token_block = 2 } } -- 4 blocks
    assert.same({ "tokens", "barrier, heads", "barrier, tokens" }, regions(state, 2))
    assert.same({ "panels x 3", "barrier, heads" },
      { regions(state, 3)[1]:match("%((.*)%)"), regions(state, 3)[2] })
  end)

  it("has a barrier before a tile of one block is filled again", function()
    -- l0.norm_cross is written over l0.attn.out, of which there is one block at a time.
    local state = planned { threads = 2, seq = 12, norm = "pre", residual = false, memory = { seq = 4 },
      plan = { token_block = 4 } }
    assert.same({ "l0.attn.out", "tile" },
      { state.plan.storage["l0.norm_cross"].over, state.plan.storage["l0.attn.out"].form })
    assert.equal("3 x (barrier, panels, barrier, rows, barrier, panels)", regions(state, 2)[3])
  end)

  it("packs stored keys before the heads that read them", function()
    local state = planned { threads = 2, input = { stage = "qkv" }, projections = false }
    assert.equal("keys, barrier, heads", regions(state, 2)[1])
  end)

  it("divides row operations and whole-sequence operations by rows", function()
    local state = planned { threads = 2, output = { { stage = "pool", over = "mean" } }, layers = 0 }
    assert.same({ "rows" }, regions(state, 2))
  end)

  it("lets workers go on with their rows from one row operation to the next, where a call divides rows", function()
    local words = { threads = 2, context = 32, sequences = 2, mask = "causal", positions = "rope", precision = "int8",
      norm = "pre", target = "avx2", input = { stage = "tokens", vocab = 9 } }
    local found = plan.dump(planned(words))
    -- Rotations of queries and keys.
    assert.truthy(found:find("2 workers: rows, barrier, panels x 3, barrier, rows, own, rows\n", 1, true))
    assert.is_nil(found:find("panels, own", 1, true))
    assert.is_nil(found:find("own, panels", 1, true))
    words.context, words.sequences = nil, nil
    assert.is_nil(plan.dump(planned(words)):find(", own", 1, true)) -- the compiler divides rows
  end)
end)
