-- adapter.lua: reads a LoRA adapter (Hu et al. 2021) as PEFT or llama.cpp write it, and finds the weights that it
-- changes. PEFT's folder has adapter_config.json and adapter_model.safetensors, or adapter_model.bin of torch.save().
-- The runtime merges them when it reads a checkpoint (runtime/reading/adapter.h), so this file only names tensors, and
-- checks their shapes.
local dkjson = require("dkjson")
local adapter_gguf = require("checkpoints.adapter_gguf")
local copies = require("checkpoints.adapter_copies")
local experts = require("checkpoints.adapter_experts")
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local hash = require("common.hash")
local headers = require("common.headers")
local json = require("common.json")
local known = require("common.known")
local python_regex = require("common.python_regex")
local lfs = require("lfs")
local reordered = require("checkpoints.reordered")
local words = require("common.words")

local adapter = {}

local CONFIG, TENSORS = "adapter_config.json", "adapter_model.safetensors"
local PICKLE = "adapter_model.bin" -- which torch.save() wrote
local LARGEST = 1 << 20 -- bytes of the configuration

local MOST_RANK = 4096
local MOST_RANK_BESIDE = 64 -- of an adapter that is kept next to the weights

local function refuse(kind, path, ...) faults.raise(kind, "%s: %s", path, faults.line(...)) end

-- Returns the configuration, its path, and its text.
local function read_config(folder, notes)
  local path = folder .. "/" .. CONFIG
  local text, message = files.read_some(path, LARGEST)
  if not text then refuse("io", path, message or "missing: an adapter's folder has it and " .. TENSORS) end
  local config, fault = json.decode(text, json.null)
  if fault or json.kind(config) ~= "object" then refuse("format", path, fault or "an object is expected") end
  if config.peft_type ~= "LORA" then
    refuse("usage", path, "peft_type: %s is not supported; LORA is", json.shown(config.peft_type))
  end
  known.check(config, path, { CONFIG }, notes)
  return config, path, text
end

local function number_of(config, path, key, default)
  local value = json.given(config, key, default)
  if type(value) ~= "number" or value ~= value or math.abs(value) > 1e6 then
    refuse("format", path, "%s: %s, but a number is expected", key, json.shown(value))
  end
  return value
end

-- Returns a set: the texts of a list that fit a regular expression of Python as a whole. before, after: what
-- PEFT puts around the expression.
local function fitting(path, key, pattern, texts, before, after)
  local set, why = python_regex.fitting((before or "") .. pattern .. (after or ""), texts)
  return set or refuse("usage", path, "%s: %s: %s; supported are regular expressions of Python's re", key,
    faults.quote(pattern), why)
end

-- Returns a function of a module's path: the number that the first pattern which fits has for it, or nil. text: the
-- file's, as tables do not keep the order of keys; modules: all paths.
local function of_pattern(config, path, key, text, modules)
  local list, given = {}, json.given(config, key, {})
  if type(given) ~= "table" then refuse("format", path, key .. ": an object is expected") end
  local first = text:find(dkjson.quotestring(key), 1, true) or 1
  for _, pattern in ipairs(words.sorted_keys(given)) do
    local name = tostring(pattern)
    list[#list + 1] = { set = fitting(path, key, name, modules, "(.*\\.)?(", ")$"),
      value = number_of(given, path, pattern), at = text:find(dkjson.quotestring(name), first, true) or #text }
  end
  table.sort(list, function(a, b) return a.at < b.at end)
  return function(module)
    for _, each in ipairs(list) do if each.set[module] then return each.value end end
    return nil
  end
end

-- Returns a set of the modules that a key has: an expression for whole paths, or a list of paths and their ends.
local function named_by(config, path, key, modules)
  local names = json.given(config, key)
  if type(names) == "string" then return names ~= "" and fitting(path, key, names, modules) or {} end
  return words.set(words.filter(json.is_texts(names) and modules or {}, function(module)
    return words.any(names, function(name) return ("." .. module):sub(-#name - 1) == "." .. name end)
  end))
end

-- Returns the number of a module's layer, as PEFT finds it, or nil: the first number after a name.
local function layer_of(config, path, module)
  local names = json.given(config, "layers_pattern", {})
  if type(names) == "string" then names = names ~= "" and { names } or {} end
  local places, befores = {}, {}
  for ending, layer in module:gmatch("()%.(%d+)%f[.]") do
    places[#places + 1] = { before = module:sub(1, ending - 1), layer = tonumber(layer) }
    befores[#befores + 1] = places[#places].before
  end
  local is_any = not json.is_texts(names) or not names[1]
  for _, name in ipairs(is_any and { "" } or names) do
    local set = not is_any and fitting(path, "layers_pattern", name, befores, "(?:^|.*?\\.)(?:", ")")
    for _, each in ipairs(places) do
      if is_any and each.before:find(".", 1, true) or set and set[each.before] then return each.layer end
    end
  end
  return nil
end

-- Returns a function of a module's path: the key by which PEFT would not load its factors, or nil. modules: all paths.
local function choice_of(config, path, modules)
  local targets, layers = json.given(config, "target_modules"), json.given(config, "layers_to_transform", {})
  local excluded = named_by(config, path, "exclude_modules", modules)
  -- PEFT writes the modules that "all-linear" stands for in its place when it loads the model
  local is_open = targets == "all-linear" or type(targets) ~= "string" and not (json.is_texts(targets) and targets[1])
  local chosen = is_open and {} or named_by(config, path, "target_modules", modules)
  if type(layers) ~= "table" then layers = { layers } end
  return function(module)
    if excluded[module] then return "exclude_modules" end
    if is_open then return nil end
    if not chosen[module] then return "target_modules" end
    if type(targets) == "string" or words.set(targets)[module] or not layers[1] then return nil end
    return not words.set(layers)[layer_of(config, path, module) or -1] and "layers_to_transform" or nil
  end
end

-- The ends of the names of a module's tensors, and what each is.
local parts = {
  { ".lora_A.weight", "inputs" }, { ".lora_B.weight", "outputs" }, { ".lora_B.bias", "outputs", parameter = "bias" },
  { ".lora_embedding_A", "inputs", true }, { ".lora_embedding_B", "outputs", true },
  { ".lora_magnitude_vector", "lengths" }, { ".lora_magnitude_vector.weight", "lengths" },
}

-- Returns the module of a tensor, what the tensor is ("base": it takes the place of the module's parameter), that
-- parameter, and true for a table of embeddings.
local function part_of(name)
  local path = name:gsub("^base_model%.model%.", "")
  for _, part in ipairs(parts) do
    if path:sub(-#part[1]) == part[1] then
      return path:sub(1, -#part[1] - 1), part[2], part.parameter or "weight", part[3]
    end
  end
  local module, parameter = path:gsub("%.base_layer%.", "."):gsub("%.modules_to_save%.", "."):match("^(.*)%.([^.]+)$")
  return module, "base", parameter
end

-- Returns the rank of a change, whose factors have shapes that fit together.
local function rank_of(path, change, tensors)
  local inputs, outputs = tensors[change.inputs], tensors[change.outputs]
  if not inputs or not outputs then
    refuse("format", path, "%s has one of two factors", faults.quote(change.inputs or change.outputs or change.lengths))
  end
  local rank = inputs.shape[1]
  if #inputs.shape < 2 or #inputs.shape ~= #outputs.shape or outputs.shape[2] ~= rank or rank < 1
    or rank > MOST_RANK then
    refuse("format", path, "%s: %s and %s do not fit together: [rank, inputs] and [outputs, rank] of rank 1 to %d are "
      .. "expected", faults.quote(change.inputs), words.shape(inputs.shape), words.shape(outputs.shape), MOST_RANK)
  end
  return rank
end

-- Returns the factor of a change: lora_alpha divided by the rank, or by its root with use_rslora.
local function scale_of(config, alpha, rank)
  return alpha / (json.given(config, "use_rslora", false) and math.sqrt(rank) or rank)
end

local function add_scale(change, config, path, tensors, patterns)
  local rank = rank_of(path, change, tensors)
  local stated = patterns.rank(change.module) or number_of(config, path, "r", 8)
  if rank ~= stated then
    refuse("format", path, "r: %s, but %s has the rank %d", json.shown(stated), faults.quote(change.inputs), rank)
  end
  local alpha = patterns.alpha(change.module) or number_of(config, path, "lora_alpha", 8)
  change.rank, change.scale = rank, scale_of(config, alpha, rank)
end

-- Returns the bytes of a safetensors file, so that models need one reader. Tensors have `data`, or are in `text`.
local function as_safetensors(tensors, text)
  local list, data, at = {}, {}, 0
  for i, name in ipairs(words.sorted_keys(tensors)) do
    local tensor = tensors[name]
    list[i] = ("%s:{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%d,%d]}"):format(dkjson.quotestring(name),
      tensor.dtype, table.concat(tensor.shape, ","), at, at + tensor.bytes)
    data[i] = tensor.data or text:sub(tensor.at + 1, tensor.at + tensor.bytes)
    at = at + tensor.bytes
  end
  return string.pack("<s8", "{" .. table.concat(list, ",") .. "}") .. table.concat(data)
end

--- Returns a file of tensors that is linked into a model: { tensors, text = the bytes of a safetensors file with them,
--- changes = {} }. Faults: io, format.
function adapter.linked(path)
  local tensors, text = headers.read(path).tensors, files.read(path)
  if path:find("%.bin$") then
    for _, tensor in pairs(tensors) do -- its place is of this file only
      tensor.data = text:sub(tensor.at + 1, tensor.at + tensor.bytes)
    end
    text = as_safetensors(tensors)
  end
  return { tensors = tensors, text = text, changes = {} }
end

-- The name of the number 1, which a bias of factors is multiplied by.
local ONE = "one"

-- Completes the changes of biases, which lora_bias adds: of rank 1, with the scale of the layer's factors.
local function add_biases(self, biases, by_target, config, path)
  local has_biases = json.given(config, "lora_bias", false)
  if has_biases ~= (biases[1] ~= nil) then
    refuse("format", path, "lora_bias: %s, but there %s lora_B.bias", has_biases, biases[1] and "is a" or "is no")
  end
  for _, change in ipairs(biases) do
    local of_layer = by_target[change.module .. ".weight"]
    if not (of_layer and of_layer.inputs) or #self.tensors[change.outputs].shape ~= 1 then
      refuse("format", path, "lora_bias: %s is no bias of factors", faults.quote(change.outputs))
    end
    change.inputs, change.rank, change.scale, change.is_bias = ONE, 1, of_layer.scale, true
    self.tensors[ONE] = { dtype = "F32", shape = { 1 }, bytes = 4, data = ("<f"):pack(1) }
  end
end

-- Divides the changes of all experts of a layer. Returns the others, and the experts'.
local function divide_experts(self, config, path)
  local targets = json.given(config, "target_parameters", {})
  if type(targets) == "table" and next(targets) == nil then return self.changes, {} end
  if not json.is_texts(targets) then refuse("format", path, "target_parameters: a list of texts is expected") end
  for _, key in ipairs { "rank_pattern", "alpha_pattern" } do
    if next(json.given(config, key, {})) then
      refuse("usage", path, "%s: not supported with target_parameters", key)
    end
  end
  local rank, rest, divided = number_of(config, path, "r", 8), {}, {}
  if math.type(rank) ~= "integer" or rank < 1 then refuse("format", path, "r: an integer from 1 on is expected") end
  local scale = scale_of(config, number_of(config, path, "lora_alpha", 8), rank)
  for _, change in ipairs(self.changes) do
    local own = experts.divided(self, change, targets, rank, scale)
    if own then words.append(divided, own) else rest[#rest + 1] = change end
  end
  if not divided[1] then
    refuse("usage", path, "target_parameters: %s: no factors of experts' gate_up_proj and down_proj, which are "
      .. "supported", table.concat(targets, ", "))
  end
  return rest, divided
end

-- Returns the changes of a folder of PEFT, with its configuration and the scales.
local function read_folder(folder, notes)
  if lfs.attributes(folder, "mode") ~= "directory" then refuse("io", folder, "adapter: no such folder or file") end
  local config, path, stated = read_config(folder, notes)
  local file = folder .. "/" .. TENSORS
  if not lfs.attributes(file, "mode") and lfs.attributes(folder .. "/" .. PICKLE, "mode") then
    file = folder .. "/" .. PICKLE
  end
  if not lfs.attributes(file, "mode") then refuse("io", file, "missing") end
  local result = words.merged(adapter.linked(file), { path = folder, file = file,
    ties = json.given(config, "ensure_weight_tying", false) })
  local by_target = {}
  for _, name in ipairs(words.sorted_keys(result.tensors)) do
    local module, part, parameter, is_table = part_of(name)
    if not module then refuse("format", file, faults.quote(name) .. " belongs to no module") end
    local target = module .. "." .. parameter
    if not by_target[target] then
      by_target[target] = { target = target, module = module }
      table.insert(result.changes, by_target[target])
    end
    by_target[target][part] = name
    by_target[target].is_table = by_target[target].is_table or is_table
  end
  local of_experts
  result.changes, of_experts = divide_experts(result, config, path)
  local modules = words.map(result.changes, function(change) return change.module end)
  local patterns = { rank = of_pattern(config, path, "rank_pattern", stated, modules),
    alpha = of_pattern(config, path, "alpha_pattern", stated, modules) }
  local key_against = choice_of(config, path, modules)
  local has_lengths = json.given(config, "use_dora", false)
  local tables = result.ties and words.filter(result.changes, function(change) return change.is_table end) or {}
  local biases = {}
  for _, change in ipairs(result.changes) do
    if change.outputs and change.target:find("%.bias$") then
      biases[#biases + 1] = change
    elseif change.inputs or change.outputs or change.lengths then
      add_scale(change, config, path, result.tensors, patterns)
      local name, against = faults.quote(change.module), key_against(change.module)
      if (change.lengths ~= nil) ~= has_lengths then
        refuse("format", path, "use_dora: %s, but %s has %s lora_magnitude_vector", has_lengths, name,
          has_lengths and "no" or "a")
      end
      change.is_tied = words.any(tables, function(each) return copies.are_tied(result, change, each) end) or nil
      if against and not change.is_tied then
        refuse("format", path, "%s: %s is not chosen, so PEFT would not load it", against, name)
      end
    end
  end
  add_biases(result, biases, by_target, config, path)
  words.append(result.changes, of_experts)
  return result
end

-- Returns the changes of a GGUF file, with the scales: 1 without an alpha.
local function read_gguf(path, notes)
  local result = adapter_gguf.read(path, notes)
  for _, change in ipairs(result.changes) do
    if change.inputs or change.outputs then
      change.rank = rank_of(path, change, result.tensors)
      change.scale = result.alpha and result.alpha / change.rank or 1.0
    end
  end
  result.text, result.file = as_safetensors(result.tensors), path
  return result
end

--- Returns an adapter, { path, text = the bytes of its tensors' file, changes = { { target = the name of a tensor
--- of the checkpoint, inputs, outputs, lengths, base = names of the adapter's tensors or nil, scale, rank, is_table =
--- true for embeddings } }, tensors, scheme = the naming scheme of its targets, nil: that of PEFT }. notes: lines for
--- the user. Faults: io, format, usage.
function adapter.read(path, notes)
  path = path:gsub("(.)/+$", "%1")
  local is_file = lfs.attributes(path, "mode") == "file"
  if is_file and not gguf.is(path) then
    refuse("usage", path, "adapter: a file, but a folder of PEFT or a GGUF file is expected")
  end
  local result = is_file and read_gguf(path, notes) or read_folder(path, notes)
  if #result.changes == 0 then refuse("format", result.file, "has no tensors") end
  return result
end

--- Returns a hash of all that an adapter does to a model: packed weights have it, and so has the C file that links the
--- adapter's file in. It is known once no tensor changes any more.
function adapter.identity(self)
  local facts = { self.task or hash.content(self.text) }
  for _, change in ipairs(self.changes) do
    facts[#facts + 1] = ("%s %.17g"):format(change.target, change.scale or 1)
  end
  return hash.text(table.concat(facts, "\0"))
end

-- The end of the names of jina-embeddings-v3's tensors before they are adapted, and of the factors of all tasks.
local ORIGINAL, FACTORS = ".parametrizations.weight.original", ".parametrizations.weight.0.lora_"

--- True if a checkpoint has adapters of its own, one for each task. tensors: as headers.read returns them.
function adapter.has_tasks(tensors)
  for name in pairs(tensors or {}) do if name:sub(-#ORIGINAL) == ORIGINAL then return true end end
  return false
end

--- Returns the adapter of a checkpoint for a task, as adapter.read does, without `text`. path: the folder's, for
--- messages; config: its config.json. Faults: usage, format.
function adapter.of_task(path, tensors, config, task)
  local tasks, number = config.lora_adaptations, nil
  if not json.is_texts(tasks) then refuse("format", path, "config.json: lora_adaptations: a list is expected") end
  for i, each in ipairs(tasks) do if each == task then number = i - 1 end end
  if not number then
    refuse("usage", path, "adapter: %s, but the folder has %s", faults.quote(task), table.concat(tasks, ", "))
  end
  local rank = config.lora_rank
  if math.type(rank) ~= "integer" or rank < 1 or rank > MOST_RANK then
    refuse("format", path, "config.json: lora_rank: %s, but an integer is expected", json.shown(rank))
  end
  local result = { path = path, tensors = tensors, changes = {}, is_of_task = true }
  for _, name in ipairs(words.sorted_keys(tensors)) do
    local module = name:sub(-#ORIGINAL) == ORIGINAL and name:sub(1, -#ORIGINAL - 1)
    local a, b = module and module .. FACTORS .. "A", module and module .. FACTORS .. "B"
    if module and tensors[a] and tensors[b] then
      -- a table of embeddings is stored [inputs][outputs], and so are its factors
      local is_table = module:find("embeddings$") ~= nil
      result.changes[#result.changes + 1] = { target = name, inputs = is_table and b or a,
        outputs = is_table and a or b, rank = rank, part = number,
        scale = number_of(config, path .. "/config.json", "lora_alpha", 1) / rank }
    end
  end
  result.task = task .. "\0" .. table.concat(tasks, "\0")
  return result
end

-- Returns why a change cannot be kept next to the weights, or nil.
local function reason_against(change)
  if change.lengths then return change.lengths, "use_dora: the length of the sum of both" end
  if change.is_bias then return change.outputs, "lora_bias: a change of a bias" end
  if change.inputs and change.rank > MOST_RANK_BESIDE then
    return change.inputs, ("of rank %d (1 to %d are allowed)"):format(change.rank, MOST_RANK_BESIDE)
  end
  return nil
end

-- Refuses an adapter that cannot be kept next to the weights.
local function refuse_beside(self, what, ...)
  refuse("usage", self.path, "adapters: %s; adapter=PATH merges one adapter into them", faults.line(what, ...))
end

--- Returns an adapter that is kept next to the weights: as adapter.read does, with `name`, and the changes by target,
--- by_target. Faults: also usage, for a change of another kind than a sum.
function adapter.beside(name, path, notes)
  local result = adapter.read(path, notes)
  result.name, result.by_target = name, {}
  for _, change in ipairs(result.changes) do
    local tensor, why = reason_against(change)
    if tensor then
      refuse_beside(result, "%s is %s, which cannot be kept next to the weights", faults.quote(tensor), why)
    end
    if change.inputs then result.by_target[change.target] = change end
  end
  return result
end

--- Returns where a weight is in the tensors that an adapter names: as its `from`, or nil. scheme: the adapter's.
function adapter.place_of(weight, scheme)
  return scheme and (weight.elsewhere or {})[scheme] or not scheme and weight.from or nil
end

-- Returns name of a tensor, as the adapter has it -> { stored, weights = all weights that are read from the tensor, if
-- the checkpoint has another name for it; table, other = a table of embeddings that is read from it, and another
-- weight, or nil }. entries: of a model, whose graphs are made.
local function stored_by_name(entries, scheme)
  local by_name = {}
  for _, entry in ipairs(entries) do
    local is_table = {}
    for _, op in ipairs(entry.graph.entry.ops) do if op.op == "embed" then is_table[op.operands.table] = true end end
    for _, path in ipairs(entry.graph.weights) do
      local weight = entry.graph.tensors[path]
      for _, stored in ipairs((adapter.place_of(weight, scheme) or {}).stored or {}) do
        for _, name in ipairs(stored.names) do
          by_name[name] = by_name[name] or { stored = stored, weights = {} }
          by_name[name][is_table[weight] and "table" or "other"] = weight
          if scheme then table.insert(by_name[name].weights, weight) end
        end
      end
    end
  end
  return by_name
end

-- Refuses factors for a tensor of another width. A shape with -1 has any number of rows.
local function check_shapes(self, change, stored)
  local expected, columns = stored.shape, 1
  for i = 2, #expected do columns = columns * expected[i] end
  local function compare(name, count, axis)
    if count < 0 or not name then return end
    local shape, rest = self.tensors[name].shape, 1
    for i = 2, #shape do rest = rest * shape[i] end
    if (axis == 1 and shape[1] or rest) ~= count then
      refuse("format", self.path, "adapter: %s is %s, but the model's %s is %s", faults.quote(name), words.shape(shape),
        change.target, words.shape(expected))
    end
  end
  local is_transposed = change.is_table or stored.is_transposed
  if change.inputs then
    compare(change.outputs, is_transposed and columns or expected[1], 1)
    compare(change.inputs, is_transposed and expected[1] or columns, 2)
    if #expected < 2 and not change.is_bias then
      refuse("format", self.path, "adapter: %s is no matrix", change.target)
    end
  end
  compare(change.lengths, is_transposed and columns or expected[1], 1)
  compare(change.base, expected[1], 1)
  compare(change.base, columns, 2)
  return is_transposed or false
end

-- True if two names are the same, or one of them with words before it.
local function have_one_end(a, b)
  a, b = "." .. a, "." .. b
  return a:sub(-#b) == b or b:sub(-#a) == a
end

--- Returns the change that an adapter makes to a tensor of a checkpoint, or nil. is_table: true for a table of
--- embeddings, the first of whose names is that of its own module. In PEFT, a change of another module does not reach
--- this one.
function adapter.change_of(self, stored, is_table)
  for _, name in ipairs(stored.names) do
    local change = self.by_target[name]
    if change and (change.is_table or false) == is_table and (not is_table or have_one_end(name, stored.names[1])) then
      check_shapes(self, change, stored)
      return change
    end
  end
  return nil
end

-- Refuses a change of a weight that the graph of calls with adapters also reads without what the adapter adds.
local function check_operands(self, graph)
  local function is_changed(weight, is_table)
    local place = weight.kind == "weight" and adapter.place_of(weight, self.scheme)
    for _, stored in ipairs(place and place.stored or {}) do
      local change = adapter.change_of(self, stored, is_table)
      if change then return change end
    end
    return nil
  end
  local function refuse_use(change, what)
    refuse_beside(self, "%s changes %s, %s adapters cannot be kept next to", faults.quote(change.inputs), change.target,
      what)
  end
  for _, op in ipairs(graph.entry.ops) do
    for _, weight in pairs(op.operands) do
      local change = not graph.adapted[op.result] and is_changed(weight, op.op == "embed")
      if change then refuse_use(change, ("which is read by %s, which"):format(op.op)) end
    end
  end
  for _, tensor in pairs(graph.tensors) do
    for name in (tensor.formula or ""):gsub("^scales .*", ""):gsub("^order .*", ""):gmatch("%S+") do
      local change = graph.tensors[name] and is_changed(graph.tensors[name], false)
      if change then refuse_use(change, "of which a table of distances is made, which") end
    end
  end
end

-- Refuses parameters that take the place of the model's, unless they are the model's own.
local function check_bases(self, entries, tensors)
  local by_name = stored_by_name(entries, self.scheme)
  for _, change in ipairs(self.changes) do
    local found = change.base and by_name[change.target]
    local weight = found and (found.other or found.table)
    if change.base and not (weight and copies.is_copy(self.tensors[change.base], weight.from, tensors)) then
      refuse_beside(self, "%s is a parameter in place of the model's, which cannot be kept next to the weights",
        faults.quote(change.base))
    end
    if change.base then self.tensors[change.base], self.has_copies = nil, true end
  end
  if self.has_copies then self.text = as_safetensors(self.tensors, self.text) end
end

--- Refuses a change of what adapters are not kept next to. entries: all of a model's, whose graphs are made; tensors:
--- the checkpoint's, or nil. A parameter may be the model's own, of which PEFT saves a copy with tables of embeddings.
function adapter.check_used(self, entries, tensors)
  check_bases(self, entries, tensors)
  for _, change in ipairs(self.changes) do
    if change.inputs and (change.is_refused or not change.is_used) then
      refuse("usage", self.path, "adapters: %s changes %s, which is no linear layer or table of tokens of the model, "
        .. "or one that adapters cannot be kept next to", faults.quote(change.inputs), change.target)
    end
  end
  for _, entry in ipairs(entries) do
    if entry.spec.is_adapted then check_operands(self, entry.graph) end
  end
end

-- True if two rows take the place of a tensor by the same numbers, as PEFT saves both of two tied biases.
local function are_one_base(self, a, b)
  local function data(row)
    local tensor = self.tensors[row.base]
    return tensor.data or self.text:sub(tensor.at + 1, tensor.at + tensor.bytes)
  end
  return a.base and b.base and not (a.inputs or b.inputs) and self.tensors[a.base].dtype == self.tensors[b.base].dtype
    and data(a) == data(b)
end

-- Returns the rows without those that say what others say. Refuses rows that change the same tensor in another way.
local function apart(self, made, others)
  return words.filter(made, function(row)
    local taken = words.set(row.names)
    for _, other in ipairs(others) do
      if words.any(other.names, function(name) return taken[name] end) then
        if are_one_base(self, row, other) then return false end
        refuse("usage", self.path, "adapter: %s and %s are one tensor of the model, which would get both changes; "
          .. "adapters.NAME=PATH keeps them apart", other.target, row.target)
      end
    end
    return true
  end)
end

--- Returns the rows of attn2c_merge of an adapter: its changes, the tensor's `names`, and is_transposed.
--- entries: all of a model's, whose graphs are made; notes: lines for the user; are_one(a, b): true if two weights are
--- the same tensor. Faults: usage, format.
function adapter.rows(self, entries, notes, are_one)
  local by_name, rows, left_out = stored_by_name(entries, self.scheme), {}, {}
  for _, change in ipairs(self.changes) do
    local found = by_name[change.target]
    local stored = found and found.stored
    if stored and self.is_of_task then
      rows[#rows + 1] = words.merged(change, { names = stored.names, is_transposed = false })
    elseif self.is_of_task then
      left_out[#left_out + 1] = change.target
    elseif stored then
      local is_transposed = check_shapes(self, change, stored)
      local tied = nil -- the table, which the other weight is read from as well if a checkpoint has a copy for it
      for _, name in ipairs(stored.names) do
        local of = by_name[name]
        if of.table and of.other and are_one(of.table, of.other) then tied = of.table.from.stored[1] end
      end
      if tied and not change.inputs and not self.ties then
        refuse("usage", self.path, "adapter: %s takes the place of one of two tied weights: not supported without "
          .. "ensure_weight_tying", faults.quote(change.base))
      elseif tied and not self.ties then
        notes[#notes + 1] = ("%s: the change of %s is also one of the weight that is tied to it, as in PEFT's "
          .. "merge_and_unload, but not in PEFT's model before that"):format(self.path, change.target)
      end
      local made = found.weights[1] and reordered.rows(self, change, found.weights)
        or { words.merged(change, { names = (tied or stored).names, is_transposed = is_transposed }) }
      if change.is_tied and tied then made = {} end -- the table's change is also the layer's
      words.append(rows, apart(self, made, rows))
    elseif change.inputs or not change.target:find("%.bias$") then
      refuse("usage", self.path, "adapter: %s changes %s, which the model does not have",
        faults.quote(change.is_bias and change.outputs or change.inputs or change.base), change.target)
    else
      left_out[#left_out + 1] = change.target
    end
  end
  for _, tensor in pairs(self.tensors) do self.has_new = self.has_new or tensor.data ~= nil end
  if self.has_new then self.text = as_safetensors(self.tensors, self.text) end
  if #left_out > 0 then
    notes[#notes + 1] = ("%s: the model has none of the adapter's %s"):format(self.path,
      table.concat(left_out, ", "))
  end
  return rows
end

return adapter
