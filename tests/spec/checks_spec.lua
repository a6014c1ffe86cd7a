-- checks_spec: each checker lets a sound state pass and stops at one that was broken on
-- purpose, with a message that names the place.
local helper = require("tests.spec.helper")
local checks = require("checks")

-- Breaks the state after a pass and gives the checker's message.
local function broken(pass, more, breaks)
  local state = helper.tiny(more, pass) -- the checker has run and found nothing
  breaks(state)
  return helper.defect(checks[pass], state)
end

local function op(state, name) return assert(helper.op(state, name)) end

-- The first step of a form, or of a row operation, in the shipped program.
local function step(state, what)
  for _, each in ipairs(helper.steps(state.programs[1])) do
    if each.form == what or each.fn == what then return each end
  end
end

describe("the checker after graph", function()
  it("finds a tensor that is read before it is written", function()
    assert.matches("after graph: l0.norm1 reads l0.attn.sum before it is written", broken("graph", {}, function(state)
      local list = state.graph.entries[1].ops
      list[8], list[9] = list[9], list[8]
    end))
  end)

  it("finds one that is written twice", function()
    assert.matches("l0.attn.q is written twice", broken("graph", {}, function(state)
      table.insert(state.graph.entries[1].ops, 2, state.graph.entries[1].ops[1])
    end))
  end)

  it("finds a wrong shape", function()
    assert.matches("the shape of l0.attn.context", broken("graph", {}, function(state)
      op(state, "l0.attn.context").result.shape = { 1, 8, 17 }
    end))
  end)

  it("finds a linear whose operands do not fit", function()
    assert.matches("l0.ff.up: x is %[1, 8, 16%], the weight %[64, 15%]", broken("graph", {}, function(state)
      op(state, "l0.ff.up").operands.weight.shape = { 64, 15 }
    end))
  end)

  it("finds an output that nobody writes", function()
    assert.matches("output nothing is never written", broken("graph", {}, function(state)
      state.graph.entries[1].outputs[1] = "nothing"
    end))
  end)
end)

describe("the checker after plan", function()
  local function groups(state)
    for _, region in ipairs(state.plan.entries[1].segments[1].sections[1].regions) do
      if region.kind == "rows" then return region.groups end
    end
  end

  it("finds an op that is not planned, or twice", function()
    assert.matches("l0.attn.q is not planned", broken("plan", {}, function(state) table.remove(groups(state), 1) end))
    assert.matches("l0.attn.q is planned twice", broken("plan", {}, function(state)
      table.insert(groups(state), groups(state)[1])
    end))
  end)

  it("finds panels and K blocks that do not cover", function()
    assert.matches("the panels of l0.attn.q", broken("plan", {},
      function(state) groups(state)[1].panels.widths[1] = 15 end))
    assert.matches("the K blocks of l0.attn.q", broken("plan", {},
      function(state) groups(state)[1].k_blocks.tail = 1 end))
  end)
end)

describe("the checker after schedule", function()
  it("finds a buffer that is read before it is written", function()
    assert.matches("layer 0 reads l0.ff.act before it is written", broken("schedule", {}, function(state)
      local steps = state.programs[1].segments[1].sections[1].steps
      for i = #steps, 1, -1 do
        local each = steps[i]
        if each.form == "product" and each.c.buffer == "l0.ff.act" then table.remove(steps, i) end
      end
    end))
  end)

  local large = { seq = 128, d_model = 256, heads = 4, d_ff = 512, threads = 2 }

  it("finds two workers that write to one place", function()
    assert.matches("two workers write to one place of ", broken("schedule", large, function(state)
      local lists = state.programs[1].segments[1].phases[1].lists
      for _, each in ipairs(lists[1]) do
        if each.form == "product" then
          table.insert(lists[2], each)
          break
        end
      end
    end))
  end)

  it("finds what one worker reads while another writes it", function()
    assert.matches("is read and written in one phase", broken("schedule", large, function(state)
      local lists = state.programs[1].segments[1].phases[1].lists
      for _, each in ipairs(lists[1]) do
        if each.form == "product" and each.c.class == "arena" then
          table.insert(lists[2], { form = "row", fn = "copy", constants = { rows = 1, cols = 1, ldx = 16, ldy = 16 },
            arguments = { x = each.c, y = { buffer = "elsewhere", class = "arena", offset = 0 } } })
          break
        end
      end
    end))
  end)
end)

describe("the checker after memory", function()
  it("finds buffers that overlap while they live", function()
    assert.matches("overlap", broken("memory", {}, function(state)
      local offsets = state.programs[1].offsets
      offsets["l0.attn.q"] = offsets["l0.attn.v"]
    end))
  end)

  it("finds one that leaves the arena or is not aligned", function()
    assert.matches("the place of ", broken("memory", {}, function(state)
      state.programs[1].offsets["l0.attn.q"] = state.programs[1].arena_floats
    end))
    assert.matches("the place of l0.attn.q", broken("memory", {}, function(state)
      state.programs[1].offsets["l0.attn.q"] = state.programs[1].offsets["l0.attn.q"] + 1
    end))
  end)

  it("finds a product that leaves its buffer", function()
    assert.matches("a product of layer 0 leaves l0.attn.q", broken("memory", {}, function(state)
      step(state, "product").c.offset = 1
    end))
    assert.matches("a product of layer 0 leaves l0.attn.q", broken("memory", {}, function(state)
      state.programs[1].buffers["l0.attn.q"].floats = 127
    end))
  end)
end)

describe("the checker after kernels", function()
  for field, value in pairs { m = 0, n = 0, k = 0, lda = 15, ldb = 15, ldc = 15, beta = 2 } do
    it("finds a wrong " .. field, function()
      assert.matches("the shape of kernel 0", broken("kernels", {},
        function(state) state.kernels[1][field] = value end))
    end)
  end

  it("finds a leading dimension beyond 31 bits", function()
    assert.matches("the leading dimensions of kernel 0", broken("kernels", {}, function(state)
      state.kernels[1].ldc = 1 << 31
    end))
  end)
end)

describe("the checker after emit", function()
  it("finds text that does not end with a line, or holds a NUL", function()
    assert.matches("tiny.c does not end with a line", broken("emit", {}, function(state)
      state.files[1].text = state.files[1].text:sub(1, -2)
    end))
    assert.matches("tiny.c does not end with a line", broken("emit", {}, function(state) state.files[1].text = "" end))
    assert.matches("tiny.c holds a NUL", broken("emit", {}, function(state)
      state.files[1].text = "a\0b\n"
    end))
  end)
end)
