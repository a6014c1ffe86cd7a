-- emit: kernel table, ordered steps and offsets -> C text. It decides nothing: what earlier
-- passes made is put into templates and one-line snippets.
--
-- Before: everything.  After: state.files = { { name, text } }.
local c = require("c")
local emit_bound = require("emit_bound")
local emit_descriptor = require("emit_descriptor")
local emit_steps = require("emit_steps")
local hash = require("hash")
local steps = require("steps")
local template = require("template")
local version = require("version")
local words = require("words")

local emit = {}

local function c_shape(tensor)
  local text = ""
  for _, n in ipairs(tensor.shape) do text = text .. "[" .. n .. "]" end
  return tensor.shared and tensor.axes and text .. ", " .. tensor.axes .. ", for all sequences" or text
end

local c_types = { f32 = "float", i32 = "int32_t" }

local function members_of(state, names, program)
  local list = {}
  for _, name in ipairs(names) do
    local tensor = state.graph.tensors[name]
    local count = 1
    for _, n in ipairs(tensor.shape) do count = count * n end
    list[#list + 1] = { name = tensor.member, type = c_types[tensor.type], shape = c_shape(tensor), count = count,
      macro = tensor.member:upper(), integers = tensor.type == "i32", minimum = tensor.minimum, limit = tensor.limit,
      shadow = program.offsets[name] or -1 }
  end
  return list
end

-- The values that all templates may use.
local function values_of(state)
  local spec, entry = state.spec, state.graph.entries[1]
  local ship, arena_floats
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      ship = ship or program
      arena_floats = math.max(arena_floats or 0, program.arena_floats)
    end
  end
  local parameters_count = 0
  for _, name in ipairs(state.graph.weights) do
    local tensor = state.graph.tensors[name]
    if tensor.kind == "weight" then
      local n = 1
      for _, d in ipairs(tensor.shape) do n = n * d end
      parameters_count = parameters_count + n
    end
  end
  local values = {
    name = spec.name, upper = spec.name:upper(), entry = entry.name,
    generator = version.generator, runtime_version = version.runtime, target = spec.target,
    description = c.comment(state.file:match("[^/]*$")), description_literal = c.string(state.file:match("[^/]*$")),
    description_hash = hash.text(state.text .. "\n" .. table.concat(state.overrides, "\n")),
    parameters = parameters_count, flops = entry.flops, lines = ship.lines, arena_floats = arena_floats,
      arena_bytes = 4 * arena_floats,
    weight_floats = state.weights.floats, weight_bytes = 4 * state.weights.floats, kernel_count = #state.kernels,
    inputs = members_of(state, entry.inputs, ship), outputs = members_of(state, entry.outputs, ship),
    layers = spec.layers + (spec.memory and spec.memory.encoder and spec.memory.encoder.layers or 0),
    threads = spec.threads, batch = spec.batch, seq = spec.seq, d_model = spec.d_model,
    kernels = state.kernels, batches = state.batches, ship = ship,
  }
  values.thousands = words.thousands
  values.op_count = #entry.ops
  values.tuned = state.plan.tuning_hash and " with tuning " .. state.plan.tuning_hash or ""
  values.pcfiledir = "${pcfiledir}"
  values.private_libraries = (spec.kernels == "libxsmm" and "-lxsmm -lxsmmnoblas " or "")
    .. (spec.threads ~= 1 and "-lgomp " or "") .. "-lpthread -lrt -ldl -lm"
  values.batches = {}
  for i, batch in ipairs(state.batches) do
    local a, b = {}, {}
    for j = 0, batch.count - 1 do a[#a + 1], b[#b + 1] = j * batch.a, j * batch.b end
    values.batches[i] = { name = batch.name, symbol = batch.name:lower(), count = batch.count, a = batch.a, b = batch.b,
      a_list = table.concat(a, ", "), b_list = table.concat(b, ", ") }
  end
  return values
end

local function with(values, more) return setmetatable(more, { __index = values }) end

-- `pointer + floats`, short where floats is 0.
local function behind(pointer, floats) return floats == 0 and pointer or ("%s + %d"):format(pointer, floats) end

-- A tile as a C function: a line a kernel call, and one before it where it fetches weights.
local function tile_of(fn)
  local step, code = fn.step, {}
  for _, call in ipairs(step.calls) do
    if call.fetch then code[#code + 1] = ("attn2c_fetch(a + %d, %d);"):format(call.fetch.from, call.fetch.lines) end
    code[#code + 1] = ("k[%d](%s, %s, %s, %s);"):format(call.kernel_index, behind("a", call.a), behind("b", call.b),
      behind("c", call.c), call.batch_name)
  end
  local shape, first = step.kernel, step.calls[1]
  local equation = ("C[%d][%d] = B[%d][%d] A[%d][%d], %d rows and %d inputs a call"):format(shape.n, shape.m, shape.n,
    shape.k, shape.k, shape.m, first.kernel.n, first.kernel.k * first.batch.count)
  return { name = fn.name, formal = "const attn2c_kernel *k, const float *a, const float *b, float *c",
    equation = equation, simple = true, body = table.concat(code, "\n  ") }
end

-- A row operation as a C function: comment, signature, body.
local function function_of(fn)
  local step = fn.step
  if step.form == "product" then return tile_of(fn) end
  local form = step.form == "map" and nil or steps.rows[step.fn]
  if form then
    local formal, names = {}, {}
    for _, argument in ipairs(form.arguments) do
      local name, access, type_ = argument[1], argument[2], argument.type or "float"
      if step.arguments[name] then
        if access == "value" then
          formal[#formal + 1] = "int " .. name
        else
          formal[#formal + 1] = (access == "r" and "const " or "") .. type_ .. " *" .. name
        end
      else
        names[name] = true
      end
    end
    local body = steps.fill(form.body, step.constants)
    for name in pairs(names) do body = body:gsub("([%(, ])" .. name .. "([,%)])", "%1NULL%2") end
    return { name = fn.name, formal = table.concat(formal, ", "), equation = steps.fill(form.equation, step.constants),
      simple = true, body = body .. ";" }
  end
  local formal, equation, code = {}, "y[i][j]", {}
  for _, argument in ipairs(step.arguments) do
    formal[#formal + 1] = ("%s%s *restrict %s"):format(argument[3] == "r" and "const " or "", argument[4] or "float",
      argument[1])
  end
  local loads = step.parts[1].kind == "load"
  if not loads then code[1] = "float v = y[i * " .. step.constants.ld .. " + j];" end
  for _, part in ipairs(step.parts) do
    local declared = steps.parts[part.kind]
    local text, meaning = declared.code, declared.equation
    if declared.argument then text, meaning = text:format(part.argument), meaning:format(part.argument) end
    local constants = { ld = part.ld or 0, fn = part.fn or "", factor = part.factor, value = part.value }
    code[#code + 1] = steps.fill(text, constants)
    meaning = steps.fill(meaning, constants)
    equation = part.kind == "load" and part.argument .. "[i][j]"
      or meaning:gsub("%f[%w]v%f[%W]", function() return equation end, 1)
  end
  return { name = fn.name, formal = table.concat(formal, ", "), equation = "y[i][j] = " .. equation, simple = false,
    rows = step.constants.rows, cols = step.constants.cols, ld = step.constants.ld, code = code }
end

local function source_values(values, state, program, more)
  more.segments = emit_steps.segments(state, program, more.profile)
  more.outputs = members_of(state, state.graph.entries[1].outputs, program)
  more.shadowed = program.variant == "ship" and #more.outputs > 1
  more.workers = program.threads
  more.lines, more.arena_bytes, more.live_bytes = program.lines, 4 * program.arena_floats, 4 * program.live_floats
  more.shared_floats, more.own_floats = program.shared_floats, program.own_floats
  more.lap_formal = more.profile and ", attn2c_laps *lap" or ""
  more.worker_lap = more.profile and ", worker == 0 ? laps : NULL" or ""
  more.teamed = false
  for _, segment in ipairs(more.segments) do more.teamed = more.teamed or segment.mode ~= "serial" end
  return with(values, more)
end

-- Shipped code for each number of workers: the first, or only, one is N.c; N_2.c and so on are for more workers.
local function sources(values, state, add)
  local name = state.spec.name
  local ships = {}
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      local linkage = #ships == 0 and name or ("%s_%d"):format(name, program.threads)
      ships[#ships + 1] = { workers = program.threads, linkage = linkage }
      local workers_text = program.threads > 1 and (" for %d workers"):format(program.threads) or ""
      add(linkage .. ".c", "steps.c.in", source_values(values, state, program,
        { profile = false, linkage = linkage, purpose = "the model, layer by layer" .. workers_text }))
      add(linkage .. "_profile.c", "steps.c.in", source_values(values, state, program,
        { profile = true, linkage = linkage .. "_profile",
          purpose = "the same steps, with a lap of the clock after each op" .. workers_text }))
    else
      add(name .. "_trace.c", "steps.c.in", source_values(values, state, program,
        { profile = false, linkage = name .. "_trace",
          purpose = "the same steps, with every tensor of the graph written out" }))
    end
  end
  return ships
end

function emit.run(state)
  local values = values_of(state)
  local name = state.spec.name
  local trace
  for _, program in ipairs(state.programs) do if program.variant == "trace" then trace = program end end
  local functions = {}
  for i, fn in ipairs(state.functions) do functions[i] = function_of(fn) end
  state.files = {}
  local function add(file, skeleton, more)
    state.files[#state.files + 1] = { name = file, text = template.open(state.root, skeleton)(more) }
  end
  values.ships = sources(values, state, add)
  add(name .. ".h", "model.h.in", values)
  add(name .. "_ops.h", "ops.h.in", with(values, { functions = functions }))
  add(name .. "_ops.c", "ops.c.in", with(values, { functions = functions }))
  add(name .. "_kernels.c", "kernels.c.in", values)
  add(name .. "_model.c", "model.c.in", with(values, emit_descriptor.values(state, trace)))
  local parts = emit_bound.values(state)
  parts.trace_floats = trace.arena_floats
  add(name .. "_program.c", "program.c.in", with(values, parts))
  add(name .. ".pc", "model.pc.in", values)
end

--- The names and sizes of the files.
function emit.dump(state)
  local lines = {}
  for _, file in ipairs(state.files) do lines[#lines + 1] = ("%8d bytes %s"):format(#file.text, file.name) end
  return table.concat(lines, "\n") .. "\n"
end

return emit
