-- pipeline.lua: runs the compiler's passes in order, and a checker after each.
-- A pass is a file with run(state), which adds its result to the state, and dump(state), which returns it as stable
-- text. Any pass may be the last. The checkers (checks.lua) verify a pass's result. Some passes take the whole model;
-- others take the model for one target, or one entry of that. The longest entry comes first.
local adapters = require("passes.common.adapters")
local checks = require("passes.checks")
local factors = require("passes.graph.factors")
local libuv = require("common.libuv")
local sizes = require("passes.sizes")
local systems = require("data.systems")
local targets = require("data.targets")
local texts = require("passes.common.texts")
local tuning = require("passes.common.tuning")

local pipeline = {}

-- The passes in order: the name, what one takes ("model"; "build": the model for one target, of state.builds; "entry":
-- of state.entries, made by validate), its rough share of the time, and what it does.
local order = {
  { "describe",  "model", 0,    "file -> plain table" },
  { "validate",  "model", 0,    "table -> spec" },
  { "tokenizer", "model", 0,    "tokenizer files -> tables" },
  { "sizes",     "model", 0,    "bytes of weights -> their types" },
  { "graph",     "entry", 0.01, "spec -> named tensors and operations" },
  { "ranks",     "model", 0,    "graph -> a graph for each rank" },
  { "layout",    "build", 0,    "packed formats and places of weights" },
  { "plan",      "entry", 0.05, "fusion, tiles, strips, mask blocks, storage" },
  { "lower",     "entry", 0.22, "operations -> tile steps" },
  { "schedule",  "entry", 0.12, "steps -> ordered steps a worker" },
  { "memory",    "entry", 0.08, "lifetimes -> offsets in one arena" },
  { "kernels",   "build", 0.13, "distinct kernel shapes and row operations" },
  { "emit",      "model", 0.39, "-> C text" },
}

--- The names of the passes in order; what each takes, and its share of the time, by name.
pipeline.passes, pipeline.share = {}, {}
local takes = {}
for i, pass in ipairs(order) do
  local name = pass[1]
  pipeline.passes[i], takes[name], pipeline.share[name] = name, pass[2], pass[3]
end

-- Functions by the pass before which they run: they put into the state what it needs to know of the machine and of
-- files. Passes read only the state, with three exceptions: describe reads the description, tokenizer the tokenizer's
-- files, and emit templates.
local gather = {}

function gather.validate(state)
  local machine = targets.machine(os.getenv)
  local rates = machine == libuv.os_uname().machine and state.wanted.rates or nil -- they are this machine's
  state.host = function(precisions)
    local name = targets.host(machine, precisions, rates)
    local known = rates and targets.are_facts_read(name, precisions) and rates()
    state.measured = known and { [name] = known[name] }
    return name
  end
  state.system = systems.of((os.getenv("CROSS") or "") .. " " .. (os.getenv("CC") or ""))
end

function gather.sizes(state)
  state.parts = sizes.given(state.wanted.parts)
  state.make_graph = pipeline.run_graph
end

function gather.graph(state)
  state.factors = factors.given(state.wanted.factors)
  adapters.gather(state)
end

-- The weights that adapters change.
function gather.ranks(state) adapters.conclude(state) end

function gather.layout(state)
  factors.conclude(state)
  state.machine = tuning.machine()
  state.tuning = tuning.given(state.wanted.tuning)
end

-- The second model of a program: one that embeds texts for a model of pictures, or guesses for one that writes.
function gather.emit(state)
  if not (state.spec.texts or state.spec.draft) or not state.with_texts then return end
  local path, overrides = texts.of(state)
  state.texts = pipeline.run(state.root, path, overrides, nil,
    { embeds = state.embeds, with_text = true, rates = state.wanted.rates })
  texts.check(state, state.texts)
  table.move(state.texts.notes, 1, #state.texts.notes, #state.notes + 1, state.notes)
end

--- Returns the pass called `name`: a table with run and dump.
function pipeline.pass(name) return require("passes." .. name) end

--- Makes the graph of an entry before its pass, for the shapes of its weights.
function pipeline.run_graph(entry) pipeline.pass("graph").run(entry) end

-- Calls visit(state) for each unit that the pass called `name` takes: the model, each target, or each entry of each
-- target. The last target and the longest entry come first.
local function each(state, name, visit)
  if takes[name] == "model" then return visit(state) end
  for b = #state.builds, 1, -1 do
    local build = state.builds[b]
    if takes[name] == "build" then
      visit(build)
    else
      for i = #build.entries, 1, -1 do visit(build.entries[i]) end
    end
  end
end

--- Runs one pass and its checker. unchecked: without the checker.
function pipeline.step(state, name, unchecked)
  each(state, name, pipeline.pass(name).run)
  if checks[name] and not unchecked then each(state, name, checks[name]) end
end

-- Garbage is collected when memory has grown to some hundredths of what the last collection left, within these bounds
-- and up to ROOM_KB if they allow it. Passes keep their results, so that collecting often frees little.
local LEAST_PAUSE, MOST_PAUSE, ROOM_KB = 300, 1000, 384 * 1024

--- Runs the passes up to `last` (default: all) and returns the state; state.notes has lines for the user. Raises
--- faults (faults.lua) for mistakes that the user can correct.
--- root: the folder that holds gen/ and templates/; file: the description; overrides: KEY=VALUE strings
--- wanted, none of which must be given:
---   tuning         the source of measured tile parameters (tuning.given)
---   factors        the source of factors against outliers (factors.given)
---   parts          the source of the divergence of each part (passes/sizes.lua)
---   rates          a function that returns this machine's measured rates (targets.host)
---   mpi            a function that returns the words by which a build links MPI, or nil
---   embeds         true: weights will be linked in
---   with_text      true: a tokenizer's tables are made
---   with_texts     true: the second model of a program, if it has one, is made, too: state.texts
---   chat_template  a file in place of the folder's chat template, or "none"
---   exposed        true, or names of tensors that become outputs too (passes/graph/exposed.lua)
---   unchecked      true: no checker runs. For code that is timed and thrown away
---   watch          a function that is called before the i-th pass: watch(i, state)
function pipeline.run(root, file, overrides, last, wanted)
  wanted = wanted or {}
  local state = { root = root, file = file, overrides = overrides, wanted = wanted, notes = {}, mpi = wanted.mpi,
    embeds = wanted.embeds, with_text = wanted.with_text, with_texts = wanted.with_texts,
    chat_template = wanted.chat_template, exposed = wanted.exposed }
  for i, name in ipairs(pipeline.passes) do
    local pause = math.floor(ROOM_KB * 100 / collectgarbage("count"))
    collectgarbage("incremental", math.max(LEAST_PAUSE, math.min(pause, MOST_PAUSE)))
    if wanted.watch then wanted.watch(i, state) end
    if gather[name] then gather[name](state) end
    pipeline.step(state, name, wanted.unchecked)
    if name == last then break end
  end
  return state
end

--- Returns the result of the pass called `name` as stable text; texts of several targets and entries follow one
--- another. `validate` makes the entries, so its text has one part for each, as that of `graph`.
function pipeline.dump(state, name)
  local parts = {}
  each(state, name == "validate" and "graph" or name, function(of)
    table.insert(parts, 1, pipeline.pass(name).dump(of))
  end)
  return table.concat(parts, "\n")
end

return pipeline
