-- emit.lua: writes the C text of a model from its kernels, ordered steps and offsets.
-- This pass decides nothing. It fills templates and one-line snippets with the results of earlier passes.
--
-- Before: the results of all passes; state.embeds if weights will be linked in. After: state.files = { { name, text,
-- is_data = not C nor text } }.
local arena = require("passes.emit.arena")
local c = require("common.c")
local c_tables = require("common.c_tables")
local emit_bound = require("passes.emit.bound")
local emit_chat = require("passes.emit.chat")
local emit_descriptor = require("passes.emit.descriptor")
local forms = require("kernels.forms")
local functions = require("passes.emit.functions")
local emit_lengths = require("passes.emit.lengths")
local emit_ranks = require("passes.emit.ranks")
local emit_readers = require("passes.emit.readers")
local emit_module = require("passes.emit.module")
local emit_python = require("passes.emit.python")
local emit_picture = require("passes.emit.picture")
local emit_sound_facts = require("passes.emit.sound_facts")
local emit_roof = require("passes.emit.roof")
local emit_panel_loops = require("passes.emit.panel_loops")
local emit_steps = require("passes.emit.steps")
local emit_sound = require("passes.emit.sound")
local emit_generation = require("passes.emit.generation")
local emit_text = require("passes.emit.text")
local hash = require("common.hash")
local linkage = require("data.linkage")
local paths = require("checkpoints.paths")
local precision = require("data.precision")
local scale_blocks = require("data.scale_blocks")
local product = require("kernels.product")
local reserved = require("data.reserved")
local reserved_python = require("data.reserved_python")
local targets = require("data.targets")
local template = require("common.template")
local terminal = require("common.terminal")
local types = require("data.types")
local version = require("common.version")
local words = require("common.words")

local emit = {}

local function c_shape(tensor, spec)
  local text = emit_lengths.shape(tensor, spec, false)
  return tensor.unbatched and tensor.axes and text .. ", " .. tensor.axes .. ", for all sequences" or text
end

-- Returns the place of an output in the arena, as an operand of a cast.
local function shadow_of(bytes)
  if not bytes then return "none" end
  local offset = types.elements(bytes, "f32")
  return offset == 0 and "a" or ("(%s)"):format(c.plus("a", offset))
end

-- Returns the comment of a struct's member: shape, allowed values, and what NULL means.
local function comment_of(tensor, shape, note)
  local text = shape
  if tensor.type == "i32" and tensor.limit then
    text = ("%s, from %d to %d"):format(text, tensor.minimum, tensor.limit - 1)
  end
  return (tensor.zeros and text .. "; NULL: all 0" or text) .. note
end

-- Returns the comment of the macro with the elements of an input or output: of a call, or of its parts if the call
-- decides how many it has.
local function macro_comment_of(tensor, spec)
  if emit_lengths.is_of_sources(spec) then return types.c(tensor.type) .. " a source" end
  if not spec.symbols.rows.is_open then return ("%s %s"):format(types.c(tensor.type), c_shape(tensor, spec)) end
  local _, what = emit_lengths.each(tensor, spec)
  return ("%s a %s"):format(types.c(tensor.type), what)
end

local function members_of(state, names, program)
  local list, is_open = {}, state.spec.symbols.rows.is_open
  for _, name in ipairs(names) do
    local tensor = state.graph.tensors[name]
    local member = reserved.member(tensor.member)
    local note = member ~= tensor.member and (" of the array \"%s\""):format(tensor.member) or ""
    local shape = is_open and emit_lengths.shape(tensor, state.spec, true) or c_shape(tensor, state.spec)
    local count = is_open and emit_lengths.each(tensor, state.spec) or words.elements(tensor.shape)
    list[#list + 1] = { name = member, type = types.c(tensor.type), shape = shape, count = count,
      comment = comment_of(tensor, shape, note),
      open_count = emit_lengths.count(tensor, state.spec), macro = tensor.member:upper(),
      macro_comment = macro_comment_of(tensor, state.spec),
      integers = tensor.type == "i32", are_shapes = tensor.are_shapes or false, minimum = tensor.minimum,
      limit = tensor.limit, zeros = tensor.zeros, shadow = shadow_of(program.offsets[name]) }
  end
  return list
end

-- Returns the number of elements of all distinct weights; the first rows of a table are not counted as another weight.
local function parameters_of(state)
  local count, seen = 0, {}
  for i = #state.entries, 1, -1 do
    local entry = state.entries[i]
    for _, name in ipairs(entry.graph.weights) do
      local tensor, offset = entry.graph.tensors[name], entry.weights.offsets[name]
      if tensor.kind == "weight" and not seen[offset] then
        seen[offset] = true
        count = count + words.elements(tensor.shape)
      end
    end
  end
  return count
end

-- Returns the bytes of the largest arena of an entry's programs.
local function arena_of(entry, variant)
  local most = 0
  for _, program in ipairs(entry.programs) do
    if program.variant == variant then most = math.max(most, program.arena_bytes) end
  end
  return most
end

-- Returns a hash of the description and its overrides. The target is left out, as it is printed next to the hash; so
-- `host` and the target that it means give the same hash.
local function description_hash(state)
  local parts = { state.text }
  for _, override in ipairs(state.overrides) do
    if not override:match("^target=") then parts[#parts + 1] = override end
  end
  if #parts == 1 then parts[2] = "" end
  return hash.text(table.concat(parts, "\n"))
end

-- Returns the products of functions, and how many of them are only in C.
local function products_of(state)
  local list, in_c = {}, 0
  for _, fn in ipairs(state.functions) do
    if fn.step.form == "product" then
      list[#list + 1] = fn.step.kernel
      in_c = in_c + (fn.calls and 0 or 1)
    end
  end
  return list, in_c
end

-- True if some product takes denormals for zero.
local function flushes(state)
  return words.any((products_of(state)), function(kernel) return types.all[kernel.types.a].flushes end)
end

-- Returns the function that ends a worker's part of a call: with tiles, it releases them.
local function leave(state)
  local function takes_tiles(form) return form and (forms.all[form].in_tiles or forms.all[form].takes_tiles) end
  return words.any((products_of(state)), function(kernel)
    return takes_tiles(kernel.strips.form) or takes_tiles(kernel.strips.many)
  end) and "attn2c_leave_tiles" or "attn2c_leave"
end

-- Returns the number types of libxsmm's kernels in C; false if all are f32.
local function kernel_types(kernels)
  local list, is_plain = {}, true
  for i, kernel in ipairs(kernels) do
    list[i], is_plain = "ATTN2C_" .. kernel.types.a:upper(), is_plain and kernel.types.a == "f32"
  end
  return not is_plain and table.concat(list, ", ")
end

-- Returns the note about factors against outliers and the importance of inputs: how many sets of products, or weights,
-- have them, and their file.
local function smoothing_text(state)
  local of, parts = state.primary.graph.smoothing, {}
  if not of then return nil end
  if of.inputs > 0 then
    parts[1] = ("of %d of %d inputs of %s, %d of them in the norm before"):format(of.inputs, of.all,
      precision.with_factors, of.folded)
  end
  if of.weighed > 0 then
    parts[#parts + 1] = ("importance of inputs for %d of %d weights of 4 bits"):format(of.weighed, of.in_blocks)
  end
  return ("%s; file %s"):format(table.concat(parts, "; "), state.factors.hash)
end

-- Returns the rows of the longest call of an entry of any length, as text.
local function of_rows(spec) return spec.symbols.tokens.is_open and (" of %d rows"):format(spec.seq) or "" end

-- Returns the values that all templates may use.
local function values_of(state)
  local spec = state.spec
  local file = terminal.safe(state.file:match("[^/]*$")) -- the program prints it
  local primary = state.primary
  local arena_bytes, lines, trace_bytes = 0, 0, 0
  local flops = {}
  for i, entry in ipairs(state.entries) do
    lines = lines + entry.plan.lines
    flops[i] = of_rows(entry.spec) .. " " .. words.thousands(entry.graph.entry.flops)
      .. (#state.entries > 1 and " (" .. entry.name .. ")" or "")
    arena_bytes = math.max(arena_bytes, arena_of(entry, "ship") + types.bytes(emit_sound.beside(entry.spec), "f32"))
    trace_bytes = math.max(trace_bytes, arena_of(entry, "trace"))
  end
  local own = spec.name .. state.build_suffix
  return {
    name = spec.name, upper = spec.name:upper(), generator = version.generator,
    own = own, own_upper = own:upper(), build_suffix = state.build_suffix, is_first = state == state.builds[1],
    program_suffix = state == state.builds[1] and "" or state.build_suffix,
    descriptor = (state == state.builds[1] and spec.name or own) .. "_descriptor",
    runtime_version = version.runtime, abi = version.abi, target = spec.target,
    description = c.comment(file), description_literal = c.string(file),
    description_hash = description_hash(state),
    checkpoint_literal = state.checkpoint and c.string(terminal.safe(paths.is_file(state.file)
      and state.file:match("[^/]*$") or paths.title(state.file))) or false,
    parameters = parameters_of(state), flops_text = table.concat(flops, ","), lines = lines,
    arena_floats = types.elements(arena_bytes, "f32"), arena_bytes = arena_bytes,
    trace_floats = types.elements(trace_bytes, "f32"),
    weight_floats = types.elements(primary.weights.bytes, "f32"),
    weight_bytes = primary.weights.bytes,
    own_kernel_count = select(2, products_of(state)), kernel_count = #state.kernels, kernels = state.kernels,
    kernel_types = kernel_types(state.kernels),
    layers = spec.layers + (spec.memory and spec.memory.encoder and spec.memory.encoder.layers or 0),
    any = spec.symbols.rows.is_open, continues = spec.symbols.past.is_open, batch = spec.batch,
    threads = spec.threads, most_threads = spec.workers[#spec.workers], seq = spec.seq, d_model = spec.d_model,
    saved_by_two = ("%.3f"):format(primary.saved_by_two),
    tuned = (state.parameters.hash and " with tuning " .. state.parameters.hash or "")
      .. (primary.graph.smoothing and " with factors " .. state.factors.hash or ""),
    smoothing = smoothing_text(state),
    precision = scale_blocks.text_of(spec.precision, spec.weights), flushes = flushes(state), leave = leave(state),
    meets = spec.processes ~= nil, embeds = state.embeds or false, thousands = words.thousands,
    pcfiledir = "${pcfiledir}",
    series = version.generator:match("^%d+%.%d+"), here = "${CMAKE_CURRENT_LIST_DIR}",
    module = reserved_python.module(spec.name),
    instead = state.instead or false, has_tiles = targets.by_name[spec.target].has_tiles or false,
    pairs = state.instead and forms.of(types.product("bf16"), targets.by_name[spec.target]) or false,
  }
end

local function with(values, more) return setmetatable(more, { __index = values }) end

local function source_values(values, state, program, more)
  more.outputs = members_of(state, state.graph.entry.outputs, program)
  more.shadowed = program.variant == "ship" and #more.outputs > 1
  more.workers, more.divided = program.threads, program.divided or false
  more.common_floats = types.elements(program.common_bytes, "f32")
  more.own_floats = types.elements(program.own_bytes, "f32")
  more.lines, more.arena_bytes, more.live_bytes = program.lines, program.arena_bytes, program.live_bytes
  more.map = arena.map(program)
  more.profiled = program.variant == "ship"
  local integers = false
  for _, input in ipairs(values.inputs) do integers = integers or input.integers end
  for key, value in pairs(emit_steps.values(state, program, integers, more.shadowed)) do more[key] = value end
  return with(values, more)
end

-- Returns the values of one entry, over the model's.
local function entry_values(values, state)
  local entry, suffix = state.graph.entry, state.suffix
  return with(with(values, emit_lengths.values(state)), { entry = entry.name, batch = state.spec.batch,
    seq = state.spec.seq, suffix = suffix, role = state.spec.role, is_adapted = state.spec.is_adapted or false,
    flops = entry.flops, of_rows = of_rows(state.spec), op_count = #entry.ops,
    arena_floats = types.elements(arena_of(state, "ship"), "f32"),
    prefix = suffix == "" and values.upper or values.upper .. "_" .. entry.name:upper(),
    inputs = members_of(state, entry.inputs, state.programs[1]),
    outputs = members_of(state, entry.outputs, state.programs[1]) })
end

-- Adds an entry's sources: shipped code for each number of workers, each with its profile, and the trace.
local function sources(values, state, add)
  local name = values.own
  local ships = {}
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      local own = linkage.ship(name, state, program.threads, #ships == 0)
      ships[#ships + 1] = { workers = program.threads, linkage = own }
      local workers_text = program.threads > 1 and (" for %d workers"):format(program.threads) or ""
      add(own .. ".c", "steps.c.in", source_values(values, state, program,
        { linkage = own, purpose = "the model, layer by layer" .. workers_text }))
    else
      local own = linkage.entry(name, state) .. "_trace"
      add(own .. ".c", "steps.c.in", source_values(values, state, program,
        { linkage = own, purpose = "the same steps, with every tensor of the graph written out" }))
    end
  end
  return ships
end

-- Adds the steps of one target, and returns the values of its other files: entries; functions, rows, products and
-- strips of its operations and kernels; described: the values of its descriptor.
local function build_of(build, add)
  local values = with(values_of(build), emit_lengths.values(build.primary))
  local described = emit_descriptor.values(build, build.members and build.build_suffix)
  values.described, values.functions, values.rows, values.products = described, {}, {}, {}
  local lanes = targets.by_name[build.spec.target].vector
  for i, fn in ipairs(build.functions) do
    values.functions[i] = functions.values(fn, lanes)
    table.insert(values.functions[i].is_product and values.products or values.rows, values.functions[i])
  end
  for _, each in ipairs(build.panel_loops) do
    local fn = emit_panel_loops.values(each)
    table.insert(values.functions, fn)
    table.insert(values.rows, fn)
  end
  values.has_products, values.has_panel_loops = #values.products > 0, #build.panel_loops > 0
  local all = products_of(build)
  values.strips, values.includes = product.strips(all), product.includes(all)
  if #build.kernels > 0 then table.insert(values.includes, 1, "ops/fetch.h") end
  values.has_fused_kernels = false
  for _, fn in ipairs(build.functions) do
    if fn.fused_kernel then values.has_fused_kernels = true end
  end
  values.entries = {}
  for i, entry in ipairs(build.entries) do
    local of_entry = entry_values(values, entry)
    of_entry.ships = sources(of_entry, entry, add)
    of_entry.linkage = of_entry.ships[1].linkage
    values.entries[i] = with(with(of_entry, emit_bound.values(entry)), described.of_entries[i])
    if entry == build.primary then values.primary = values.entries[i] end
  end
  values.other_entries = words.filter(values.entries, function(entry) -- those that callers name
    return entry ~= values.primary and not entry.is_adapted
  end)
  values.is_teamed = #build.spec.workers > 1
  local function one_an_entry(text) return table.concat(words.map(values.entries, text), ", ") end
  values.traces = one_an_entry(function(entry) return entry.linkage .. "_trace_run" end)
  values.profiles = one_an_entry(function(entry)
    return #entry.ships > 1 and "profile" .. entry.suffix or entry.linkage .. "_profile_run"
  end)
  values.parts = one_an_entry(function(entry)
    return ("{ part_products%s, part_rows%s }"):format(entry.suffix, entry.suffix)
  end)
  return values
end

-- Returns the suffix of the first target whose list called `name` equals this one's; equal lists are emitted once.
local function first_with(builds, name, values)
  local text = table.concat(values.described[name], "\n")
  for _, build in ipairs(builds) do
    if table.concat(build.described[name], "\n") == text then return build.build_suffix end
  end
end

-- Finds the lists that several targets share; operations, checkpoints and the order of weights do not depend on the
-- target. Returns the values of the first, and the most bytes of an arena and of weights.
local function join_targets(builds)
  local first, most = builds[1], { arena_bytes = 0, weight_bytes = 0 }
  for i, build in ipairs(builds) do
    for name, bytes in pairs(most) do most[name] = math.max(bytes, build[name]) end
    build.has_tables, build.tables, build.is_whole = i == 1, "", false
    build.views_of = first.build_suffix
    build.tensors_of = first_with(builds, "tensor_rows", build)
    build.weights_of = first_with(builds, "weight_rows", build)
    build.packings_of = first_with(builds, "packing_rows", build)
    build.orders_of = first_with(builds, "order_rows", build)
    for number, entry in ipairs(build.entries) do
      assert(table.concat(entry.op_rows) == table.concat(first.entries[number].op_rows), "operations differ by target")
    end
    for _, each in ipairs(builds) do
      if each.target == build.instead then build.instead_descriptor = each.descriptor end
    end
    for _, name in ipairs { "attribute_lists", "stored_names", "stored_rows", "view_rows", "factor_rows" } do
      assert(first_with(builds, name, build) == first.build_suffix, name .. " differ by target")
    end
  end
  return first, most
end

-- Returns the names of MPI's libraries: those that a build links, or Open MPI's if they are not known.
local function mpi_names(state)
  local names = words.map(state.mpi and state.mpi() or {}, function(word) return word:match("^%-l(.+)") end)
  return #names > 0 and names or { "mpi" }
end

-- Returns the values of the files that all targets, or all ranks, share, over the first's.
local function model_values(state, builds)
  local first, most, of_ranks
  if state.whole then
    first, most, of_ranks = emit_ranks.join(state, builds, { with = with, parameters = parameters_of })
  else
    first, most = join_targets(builds)
    of_ranks = { targets = builds, divided = false, rank_runs = false }
  end
  local logits = first.continues and first.described.continued.output
  local state_floats = 0
  for _, build in ipairs(first.continues and of_ranks.targets or {}) do
    state_floats = math.max(state_floats, build.described.continued.state_floats)
  end
  local windows = first.continues and #first.described.continued.windows > 0
  local reader = state.entries[1] -- of pictures, or of what the encoder reads
  local image, image_member = emit_picture.image(state)
  return with(first, { targets = of_ranks.targets, coded = builds, divided = of_ranks.divided,
    rank_runs = of_ranks.rank_runs, has_variants = not of_ranks.divided and #builds > 1, windows = windows,
    call_rows = state.spec.call_rows or false,
    vocab = state.spec.input.vocab, sequences = state.spec.sequences or false,
    generation = emit_generation.values(state.spec),
    readers = emit_readers.values(state.builds, first.described.coding and first.described.coding.reader),
    merges = emit_readers.merges(state.adapter), kept = state.adapters or false,
    linked = state.linked or false, adapter_hash = (state.adapter or state.linked or {}).hash or false,
    adapter_file = state.adapter and state.adapter.text and state.spec.name .. "_adapter" or false,
    state_bytes = types.bytes(state_floats, "f32"),
    logits_name = logits and reserved.member(logits.member) or false,
    logits_width = logits and logits.shape[#logits.shape] or false, target = table.concat(state.target_names, ", "),
    arena_bytes = most.arena_bytes, weight_bytes = most.weight_bytes, has_text = state.tokenizer ~= nil,
    sound = emit_sound.values(state.entries),
    has_speech = emit_sound_facts.has_speech(state),
    has_pictures = state.spec.pictures and true or false, texts = emit_picture.texts(state),
    draft = state.spec.draft and state.texts and state.texts.spec.name or false,
    picture_input = image_member, picture_height = image.height or false,
    picture_width = image.width or false, picture_patch = emit_picture.patch(image), picture_rows = reader.spec.seq,
    encodes = reader.spec.role == "encode",
    reads_ids = reader.graph.tensors[reader.graph.entry.inputs[1]].type == "i32",
    has_languages = emit_text.has_languages(state), has_chat = state.chat ~= nil,
    has_sound = state.spec.sound and true or false,
    members = function(header, struct) -- of a structure of the library that is one of the runtime's
      return words.map(c_tables.members(header, struct), function(line)
        return (line:gsub("attn2c_%l[%l_]+", { attn2c_said_word = state.spec.name .. "_spoken_word",
          attn2c_chat_value = state.spec.name .. "_chat_value" }))
      end)
    end,
    has_ctc = emit_sound_facts.ctc(state.spec),
    prompt = state.spec.prompt and c.comment(('"%s"'):format(state.spec.prompt)) or false,
    finds_spans = state.tokenizer ~= nil and state.spec.spans ~= nil,
    most_side = emit_text.most_side(state), has_page_image = emit_text.has_page_image(state),
    entails = emit_text.entails(state), prompt_names = emit_text.prompt_names(state.spec),
    embedding = emit_text.embedding(state),
    cmake_libraries = (state.tokenizer and "pthread;m;utf8proc;pcre2-8" or "pthread;m")
      .. (emit_sound_facts.has_speech(state) and ";z" or "")
      .. (of_ranks.divided and ";" .. table.concat(mpi_names(state), ";") or ""),
    more_libraries = (state.tokenizer and " -lutf8proc -lpcre2-8" or "")
      .. (emit_sound_facts.has_speech(state) and " -lz" or "")
      .. (of_ranks.divided and " -l" .. table.concat(mpi_names(state), " -l") or "") })
end

local function add_operations(add, values)
  add(values.own .. "_ops.h", "ops.h.in", values)
  add(values.own .. "_ops.c", "ops.c.in", with(values, { functions = values.rows }))
  add(values.own .. "_kernels.c", "kernels.c.in", values)
end

local function add_program(add, build, values, shared)
  local programs, traces = {}, {}
  for i, of in ipairs(shared.divided and values.ranks or { values }) do
    programs[i] = { descriptor = of.descriptor, suffix = shared.divided and of.build_suffix or values.program_suffix }
  end
  for i, entry in ipairs(values.entries) do traces[i] = "whole_trace" .. entry.suffix end
  add(values.own .. "_program.c", "program.c.in", with(values, { own_programs = programs, divided = shared.divided,
    has_variants = shared.has_variants, whole_traces = table.concat(traces, ", "),
    has_text = shared.has_text and values.is_first,
    has_pictures = shared.has_pictures and values.is_first, has_sound = shared.has_sound and values.is_first,
    texts = shared.texts and values.is_first and shared.texts,
    draft = values.is_first and shared.draft,
    has_generation = values.continues and values.is_first,
    has_speech = shared.has_speech and values.is_first,
    targets = shared.targets }))
  add(linkage.roof(values.build_suffix) .. ".c", "roof.c.in", with(values, emit_roof.values(build)))
end

function emit.run(state)
  state.files = {}
  local function add(file, skeleton, more)
    state.files[#state.files + 1] = { name = file, text = template.open(state.root, skeleton)(more) }
  end
  local builds = words.map(state.builds, function(build) return build_of(build, add) end)
  local values, name = model_values(state, builds), state.spec.name
  -- Adds what pictures and sounds have in common to their values, of which scores without a sound need nothing.
  local function with_media(of)
    local all = with(values.primary, of)
    of.media = of.rate ~= false and template.open(state.root, "media_facts.c.in")(all) or ""
    return all
  end
  add(name .. ".h", "model.h.in", values)
  for _, build in ipairs(builds) do add_operations(add, build) end
  add(name .. "_model.c", "model.c.in", with(values, values.targets[1].described))
  if values.continues then add(name .. "_sequences.c", "sequences.c.in", values) end
  for i, build in ipairs(state.builds) do add_program(add, build, builds[i], values) end
  if state.embeds then add(name .. "_weights.c", "weights.c.in", values) end
  add(name .. ".pc", "model.pc.in", values)
  add(name .. "-config.cmake", "model-config.cmake.in", values)
  add(name .. "-config-version.cmake", "model-config-version.cmake.in", values)
  add(values.module .. ".py", "module.py.in", with(values, emit_module.values(state)))
  table.insert(state.files, { name = emit_python.name .. ".py", text = emit_python.join(state.root) })
  if values.has_pictures then
    add(name .. "_picture.c", "picture.c.in", with_media(emit_picture.values(state)))
  end
  if values.has_sound or values.has_ctc then
    add(name .. "_sound_facts.c", "sound_facts.c.in", with_media(emit_sound_facts.values(state)))
  end
  if values.adapter_file then
    table.insert(state.files, { name = name .. ".adapter", text = state.adapter.text, is_data = true })
  end
  for i, each in ipairs(state.linked or {}) do
    table.insert(state.files, { name = ("%s.adapter%d"):format(name, i), text = each.text, is_data = true })
  end
  if values.has_text then
    add(name .. "_text.c", "text.c.in", with(values.primary, emit_text.values(state)))
    if values.has_chat then add(name .. "_chat.c", "chat.c.in", with(values, emit_chat.values(state.chat))) end
    table.insert(state.files, { name = name .. ".tables", text = state.tokenizer.tables, is_data = true })
    if values.primary and state.tokenizer.query_weights then
      local weights = state.tokenizer.query_weights
      table.insert(state.files, { name = name .. ".query.weights", text = weights, is_data = true })
    end
    if values.primary and state.tokenizer.written then
      table.insert(state.files, { name = name .. ".written.tables", text = state.tokenizer.written, is_data = true })
    end
  end
end

--- Returns the names and sizes of the files.
function emit.dump(state)
  local lines = words.map(state.files, function(file) return ("%8d bytes %s"):format(#file.text, file.name) end)
  return table.concat(lines, "\n") .. "\n"
end

return emit
