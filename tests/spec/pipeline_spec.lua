-- pipeline_spec: the passes in order, and that only the first and the last of them look at
-- anything but the state: the machine and its files come in with it.
local helper = require("tests.spec.helper")
local files = require("common.files")
local pipeline = require("pipeline")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")

local TUNED = "attn2c tuning 5 avx2 %s\n64x16 n 8 +bias_gelu: kernels c panel 32 token_block 4 "
  .. "call_rows 3 fetch 1 stream 0; 2.0 GFLOP/s, rule 1.0\n"

-- Calls a function while nothing can be opened, started or asked of the environment.
local function shut_off(fn, ...)
  local kept = { io = { "open", "popen", "lines", "input", "read" }, os = { "getenv", "execute", "tmpname", "time" } }
  local before = {}
  local function each(visit)
    for library, names in pairs(kept) do for _, name in ipairs(names) do visit(_G[library], name) end end
  end
  each(function(library, name)
    before[name] = library[name]
    library[name] = function() error(name .. " was called", 2) end
  end)
  local result = table.pack(pcall(fn, ...))
  each(function(library, name) library[name] = before[name] end)
  assert(result[1], tostring(result[2]))
  return table.unpack(result, 2, result.n)
end

describe("the passes between describe and emit", function()
  it("look at the state alone", function()
    local set = tuning.parse(TUNED:format("Another-CPU"), "x.tune")
    set.hash = "0123"
    local state = { root = helper.root, file = "tiny.lua", overrides = {}, text = "", notes = {},
      host = function() return "avx2" end, machine = "A-CPU", description = helper.description({ target = "host" }),
      tuning = { set = set, file = "x\27.tune" } }
    for _, name in ipairs(pipeline.passes) do
      if name ~= "describe" and name ~= "emit" then shut_off(pipeline.step, state, name) end
    end
    assert.equal("avx2", state.spec.target)
    assert.same({ "x?.tune: measured on Another-CPU, but this is A-CPU: used nevertheless" }, state.notes)
    assert.equal(4, state.parameters.of("64x16 n 8 +bias_gelu", { shape = { 64, 16 }, type = "f32" }).token_block)
  end)
end)

describe("a run", function()
  after_each(helper.clean)
  local TEXT = 'return { name = "tiny", seq = 8, d_model = 16, heads = 2, layers = 1, target = "%s" }'

  it("brings the machine's target and processor, and the tuning file", function()
    local path = helper.file(TEXT:format("host"))
    assert.equal(targets.host(targets.machine(os.getenv)), pipeline.run(helper.root, path, {}, "validate").spec.target)
    files.write_all(path:match("^(.*)/"), { { name = "tiny.tune", text = TUNED:format(tuning.machine()) } })
    local tune = path:match("^(.*)%.lua") .. ".tune"
    local state = pipeline.run(helper.root, path, { "target=avx2" }, "plan", { tuning = { file = tune } })
    assert.equal(tuning.machine(), state.machine)
    assert.equal(1, #state.notes)
    assert.matches("tiny.tune: is used, because it is next to the description", state.notes[1], 1, true)
    assert.equal(4, state.parameters.of("64x16 n 8 +bias_gelu", { shape = { 64, 16 }, type = "f32" }).token_block)
  end)

  it("opens the tuning file for a description that is valid only", function()
    local path = helper.file((TEXT:format("avx2"):gsub("heads = 2", "heads = 0")))
    local fault = helper.fault(pipeline.run, helper.root, path, {}, nil,
      { tuning = { file = "/nowhere/x.tune", asked = true } })
    assert.matches("heads: 0, but", fault.lines[1])
  end)
end)
