-- emit: kernel table, ordered steps and offsets -> C text. It decides nothing: what earlier
-- passes made is put into templates and one-line snippets.
--
-- Before: everything.  After: state.files = { { name, text } }.
local c = require("c")
local emit_descriptor = require("emit_descriptor")
local hash = require("hash")
local operands = require("operands")
local schedule = require("schedule")
local steps = require("steps")
local template = require("template")
local version = require("version")
local words = require("words")

local emit = {}

local function place_of(state, program)
  local members = {}
  for name, tensor in pairs(state.graph.tensors) do members[name] = tensor.member end
  return { offsets = program.offsets, weights = state.weights.offsets, members = members }
end

local writers = {}

function writers.note(step) return "/* " .. c.comment(step.text) .. " */" end
function writers.begin(step)
  return ("for (size_t %s = 0; %s < %d; %s++) {"):format(step.symbol, step.symbol, step.count, step.symbol)
end
function writers.finish() return "}" end

function writers.product(step, place)
  return ("k[%d](%s, %s, %s, %s);"):format(step.kernel_index, c.pointer(step.a, place), c.pointer(step.b, place),
    c.pointer(step.c, place), step.batch_name)
end

function writers.map(step, place)
  local list = {}
  for i, argument in ipairs(step.arguments) do list[i] = c.pointer(argument[2], place) end
  return ("%s(%s);"):format(step.function_name, table.concat(list, ", "))
end

function writers.row(step, place)
  local list = {}
  for _, argument in ipairs(steps.rows[step.fn].arguments) do
    local operand = step.arguments[argument[1]]
    if operand then
      list[#list + 1] = argument[2] == "value" and c.value(operand, place) or c.pointer(operand, place)
    end
  end
  return ("%s(%s);"):format(step.function_name, table.concat(list, ", "))
end

-- What a section's steps use, as its parameters: kernels, weights, arena, inputs, outputs, the first sequence.
local parameter_order = { "k", "w", "a", "in", "out", "s" }

local function parameters(state, section)
  local used = {}
  for _, step in ipairs(section.steps) do
    if step.form == "product" then used.k = true end
    operands.each(step, function(operand)
      if operand.class == "weight" then used.w = true end
      if operand.class == "arena" then used.a = true end
      if operand.class == "in" then used["in"] = true end
      if operand.class == "out" then used.out = true end
      if operand.terms and operand.terms.s then used.s = true end
    end)
  end
  local name = state.spec.name
  local entry = state.graph.entries[1].name
  local declared = {
    k = "const attn2c_kernel *k", w = "const float *w", a = "float *a",
    ["in"] = ("const %s_%s_in *in"):format(name, entry), out = ("const %s_%s_out *out"):format(name, entry),
    s = "size_t s",
  }
  local formal, actual = {}, {}
  for _, parameter in ipairs(parameter_order) do
    if used[parameter] then
      formal[#formal + 1], actual[#actual + 1] = declared[parameter], parameter
    end
  end
  return formal, actual
end

local titles = {
  input = "input", output = "output", pooled = "pooled",
}

local function section_function(name)
  local number = name:match("^layer (%d+)$")
  return number and "layer_" .. number or titles[name]
end

-- A program's sections as { name, title, formal, call, lines }.
local function sections_of(state, program, profile)
  local place = place_of(state, program)
  local list = {}
  for _, segment in ipairs(program.workers[1].segments) do
    local of_segment = { repeats = segment.repeats, group = segment.group, last_first = state.spec.batch - segment.group,
      sections = {}, name = segment.name }
    for _, section in ipairs(segment.sections) do
      local formal, actual = parameters(state, section)
      local lines = {}
      local indent = "  "
      local lap
      local function add(text) lines[#lines + 1] = indent .. text end
      local function end_lap()
        if profile and lap then add(("attn2c_lap(lap, %d);"):format(lap - 1)) end
        lap = nil
      end
      for _, step in ipairs(section.steps) do
        if schedule.is_call(step) and lap ~= step.op then
          end_lap()
          lap = step.op
        end
        if step.form == "finish" then
          end_lap()
          indent = indent:sub(3)
        end
        add(writers[step.form](step, place))
        if step.form == "begin" then
          indent = indent .. "  "
        end
      end
      end_lap()
      if profile then
        table.insert(formal, "attn2c_laps *lap")
        table.insert(actual, "lap")
      end
      local name = section_function(section.name)
      of_segment.sections[#of_segment.sections + 1] = {
        name = name, title = section.name, formal = table.concat(formal, ", "),
        call = ("%s(%s);"):format(name, table.concat(actual, ", ")), lines = table.concat(lines, "\n"),
      }
    end
    list[#list + 1] = of_segment
  end
  return list
end

local function c_shape(tensor)
  local text = ""
  for _, n in ipairs(tensor.shape) do text = text .. "[" .. n .. "]" end
  return text
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
  local ship
  for _, program in ipairs(state.programs) do if program.variant == "ship" then ship = program end end
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
    parameters = parameters_count, flops = entry.flops, lines = ship.lines, live_floats = ship.live_floats,
    arena_floats = ship.arena_floats, arena_bytes = 4 * ship.arena_floats,
    weight_floats = state.weights.floats, weight_bytes = 4 * state.weights.floats, kernel_count = #state.kernels,
    inputs = members_of(state, entry.inputs, ship), outputs = members_of(state, entry.outputs, ship),
    layers = spec.layers, threads = spec.threads, batch = spec.batch, seq = spec.seq, d_model = spec.d_model,
    kernels = state.kernels, batches = state.batches, ship = ship,
  }
  values.thousands = words.thousands
  values.op_count = #entry.ops
  values.pcfiledir = "${pcfiledir}"
  values.private_libraries = (spec.kernels == "libxsmm" and "-lxsmm -lxsmmnoblas " or "") .. "-lpthread -lrt -ldl -lm"
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

-- A row operation as a C function: comment, signature, body.
local function function_of(fn)
  local step = fn.step
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
    formal[#formal + 1] = (argument[3] == "r" and "const float *restrict " or "float *restrict ") .. argument[1]
  end
  local loads = step.parts[1].kind == "load"
  if not loads then code[1] = "float v = y[i * " .. step.constants.ld .. " + j];" end
  for _, part in ipairs(step.parts) do
    local declared = steps.parts[part.kind]
    local text, meaning = declared.code, declared.equation
    if declared.argument then text, meaning = text:format(part.argument), meaning:format(part.argument) end
    code[#code + 1] = steps.fill(text, { ld = part.ld or 0, fn = part.fn or "" })
    meaning = steps.fill(meaning, { fn = part.fn or "", ld = 0 })
    equation = part.kind == "load" and part.argument .. "[i][j]" or meaning:gsub("v", function() return equation end, 1)
  end
  return { name = fn.name, formal = table.concat(formal, ", "), equation = "y[i][j] = " .. equation, simple = false,
    rows = step.constants.rows, cols = step.constants.cols, ld = step.constants.ld, code = code }
end

local function source_values(values, state, program, more)
  local offsets = program.offsets
  more.segments = sections_of(state, program, more.profile)
  more.uses_loop = false
  for _, segment in ipairs(more.segments) do more.uses_loop = more.uses_loop or segment.repeats > 1 end
  local outputs = members_of(state, state.graph.entries[1].outputs, { offsets = offsets })
  more.outputs = outputs
  more.shadowed = program.variant == "ship" and #outputs > 1
  return with(values, more)
end

function emit.run(state)
  local values = values_of(state)
  local name = state.spec.name
  local ship, trace
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then ship = program else trace = program end
  end
  local functions = {}
  for i, fn in ipairs(state.functions) do functions[i] = function_of(fn) end
  local descriptor = emit_descriptor.values(state, trace)
  local plan = {
    { name .. ".h", "model.h.in", values },
    { name .. ".c", "steps.c.in", source_values(values, state, ship,
      { profile = false, linkage = name, purpose = "the model, layer by layer" }) },
    { name .. "_ops.h", "ops.h.in", with(values, { functions = functions }) },
    { name .. "_ops.c", "ops.c.in", with(values, { functions = functions }) },
    { name .. "_kernels.c", "kernels.c.in", values },
    { name .. "_model.c", "model.c.in", with(values, descriptor) },
    { name .. "_trace.c", "steps.c.in", source_values(values, state, trace,
      { profile = false, linkage = name .. "_trace", purpose = "the same steps, with every tensor of the graph written out" }) },
    { name .. "_profile.c", "steps.c.in", source_values(values, state, ship,
      { profile = true, linkage = name .. "_profile", purpose = "the same steps, with a lap of the clock after each op" }) },
    { name .. "_program.c", "program.c.in", with(values, { trace_floats = trace.arena_floats }) },
    { name .. ".pc", "model.pc.in", values },
  }
  state.files = {}
  for _, file in ipairs(plan) do
    state.files[#state.files + 1] = { name = file[1], text = template.open(state.root, file[2])(file[3]) }
  end
end

--- The names and sizes of the files.
function emit.dump(state)
  local lines = {}
  for _, file in ipairs(state.files) do lines[#lines + 1] = ("%8d bytes %s"):format(#file.text, file.name) end
  return table.concat(lines, "\n") .. "\n"
end

return emit
