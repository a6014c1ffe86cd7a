-- maps.lua: computes the attention maps of a model's heads, and writes them as PNG files.
-- It builds the variant whose outputs are the attention weights, runs it on the user's input, and reads its arrays.
local arrays = require("commands.quality.arrays")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local paths = require("checkpoints.paths")
local process = require("common.process")
local scratch = require("common.scratch")
local sounds = require("data.sounds")
local tokenizer = require("text.tokenizer")
local words = require("common.words")

local maps = {}

local MOST_WEIGHTS = 64 << 20 -- attention weights of all layers together
local LEAST_SIDE = 256        -- pixels of a picture's side

--- True if a command line asks for maps. Faults: usage, if it lacks something that they need.
function maps.wanted(arguments)
  local given = words.filter({ arguments.text and "--text" or false, arguments.audio and "--audio" or false,
    #(arguments.input or {}) > 0 and "--input" or false }, function(option) return option end)
  if arguments.attention == "" then faults.raise("usage", "--attention: an empty name, but a folder is needed") end
  if arguments.attention and #given == 0 then
    faults.raise("usage", "--attention: --text, --audio or --input is needed, too")
  end
  if #given > 1 then faults.raise("usage", table.concat(given, " and ") .. " exclude each other") end
  return #given > 0
end

-- True if a model has weights that are not constants.
local function has_weights(graph)
  return words.any(graph.weights, function(name) return graph.tensors[name].kind == "weight" end)
end

--- True if a variant can have the maps that a command line asks for. A run needs weights if the model has any. Inputs
--- may be for the check only, but a text or a folder for pictures needs maps. Faults: usage.
function maps.possible(arguments, variant, state)
  if arguments.weights or paths.is_checkpoint(variant.path) or not has_weights(state.primary.graph) then return true end
  if arguments.text or arguments.audio or arguments.attention then
    faults.raise("usage", (arguments.text and "--text" or arguments.audio and "--audio" or "--attention")
      .. ": --weights is needed, too: maps of random weights mean nothing")
  end
  return false
end

-- Returns the overrides with the attention weights of these layers as outputs.
local function with_weights(list, layers)
  local result = words.filter(list, function(word) return not word:match("^attention_output[.=]") end)
  result[#result + 1] = ("attention_output={ kind = \"heads\", layers = { %s } }"):format(table.concat(layers, ", "))
  return result
end

-- Returns the layers whose maps are made: from the first on, as long as they have at most MOST_WEIGHTS weights.
local function layers_of(entry)
  local layers, sum = {}, 0
  for _, op in ipairs(entry.graph.entry.ops) do
    local layer = op.result.name:match("^l(%d+)%.attn%.scores$")
    if layer then
      local shape = op.result.shape
      sum = sum + shape[1] * shape[2] * shape[3] * shape[4]
      if sum <= MOST_WEIGHTS then layers[#layers + 1] = layer end
    end
  end
  return layers
end

local function tokens_of(state, ids)
  local path = state.spec.tokenizer
  if path:sub(1, 1) ~= "/" then path = state.folder .. "/" .. path end
  local _, made = tokenizer.from_path((path:gsub("/%.$", "")))
  local list = {}
  for i = 1, ids.shape[#ids.shape] do
    list[i] = tostring(made.model.tokens[ids.values[i]] or ids.values[i]):gsub("Ġ", "␣"):gsub("▁", "␣")
  end
  return list
end

-- Returns the first sequence of an array [batch][heads][queries][keys] as a list of heads, { rows = { { weight } } }.
local function heads_of(array)
  local _, count, queries, keys = table.unpack(array.shape)
  local heads, at = {}, 0
  for h = 1, count do
    local rows = {}
    for q = 1, queries do
      rows[q] = table.move(array.values, at + 1, at + keys, 1, {})
      at = at + keys
    end
    heads[h] = { rows = rows }
  end
  return heads, queries, keys
end

-- Returns the name of the input that a text or a sound becomes, or nil: ids, or rows of features.
local function made_of(arguments, state)
  local width = arguments.audio and sounds.width(state.spec.sound)
  for _, name in ipairs(state.graph.entry.inputs) do
    local tensor = state.graph.tensors[name]
    local is_ids = tensor.type == "i32" and (tensor.limit or 0) > 2 and #tensor.shape == 2
    if arguments.text and is_ids or width and tensor.type == "f32" and tensor.shape[3] == width then
      return tensor.member
    end
  end
  return nil
end

-- Returns the words of the program's command line for the input, the text or the sound; the arrays go to `folder`, and
-- what a text or a sound becomes to a file called `made`.
local function words_of(arguments, variant, made, outputs, folder)
  local list = { "run" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #list + 1, list) end
  local weights = arguments.weights or paths.is_checkpoint(variant.path) and variant.path or nil
  if weights then add("--weights", weights) end
  if arguments.text then add("--text-string", arguments.text) end
  if arguments.audio then add("--audio", arguments.audio) end
  for _, each in ipairs(arguments.input or {}) do add("--input", each) end
  for _, name in ipairs(outputs) do add("--output", ("%s=%s/%s.npy"):format(name, folder, name)) end
  if made then add("--output", ("%s=%s/made.npy"):format(made, folder)) end
  return list
end

local function run(tools, program, list)
  local code = tools.run(program, list, "output")
  if code ~= 0 then faults.pass_on(program, code) end
end

-- Returns an array [rows][width], which may have one more axis, as rows.
local function rows_of(array)
  local width, rows = array.shape[#array.shape], {}
  for i = 1, #array.values // width do
    rows[i] = table.move(array.values, (i - 1) * width + 1, i * width, 1, {})
  end
  return rows
end

-- Returns overrides for the length that a sound has, in a model of any length: maps are of one.
local function with_length(arguments, tools, variant, state, program)
  if not (arguments.audio and state.primary.spec.symbols.tokens.is_open) then return variant.overrides end
  local folder <close> = scratch.make(program:match("^(.*)/[^/]*$"), "sound")
  run(tools, program, words_of(arguments, variant, made_of(arguments, state.primary), {}, folder.path))
  return words.append({}, variant.overrides, { "seq=" .. #rows_of(arrays.read(folder.path .. "/made.npy")) })
end

--- Returns the layers whose maps are made. Faults: usage, if the model has none, or takes no text or sound. state: the
--- one after the pass graph.
function maps.verify(arguments, state)
  if arguments.audio and not (state.spec.sound and made_of(arguments, state.primary)) then
    faults.raise("usage", "--audio: the model takes no sound; use --input for its arrays")
  end
  if arguments.text and not state.tokenizer then
    faults.raise("usage", "--text: the model takes no text; use --input for its arrays")
  end
  local layers = layers_of(state.primary)
  if #layers == 0 then
    faults.raise("usage", "no maps: a layer has more than %d attention weights, or there is no attention", MOST_WEIGHTS)
  end
  return layers
end

--- Returns the maps of a variant for the text or the inputs of a command line: { tokens (nil if unknown), queries,
--- keys, layers = { { layer, heads } }, text, sound = { rows, seconds (of a row), mels (true: of filters), is_query
--- (true: a row is a query) } }. tools: the report's; plain: the path of the program without maps.
function maps.make(root, arguments, tools, variant, state, plain)
  local given = setmetatable({ description = variant.path }, { __index = arguments })
  local list = with_length(arguments, tools, variant, state, plain)
  local layers = maps.verify(arguments, list == variant.overrides and state or tools.look(root, given, list))
  local program, made = tools.build(root, given, with_weights(list, layers), true)
  local folder <close> = scratch.make(program:match("^(.*)/[^/]*$"), "maps")
  local outputs = words.map(layers, function(layer) return "attention_" .. layer end)
  local member = made_of(arguments, made.primary)
  run(tools, program, words_of(arguments, variant, member, outputs, folder.path))
  local result = { layers = {}, text = arguments.text }
  for i, name in ipairs(outputs) do
    local array = arrays.read(("%s/%s.npy"):format(folder.path, name))
    local heads, queries, keys = heads_of(array)
    result.layers[i] = { layer = layers[i], heads = heads }
    result.queries, result.keys = queries, keys
  end
  local array = member and arrays.read(folder.path .. "/made.npy")
  if arguments.text and array then result.tokens = tokens_of(made, array) end
  if arguments.audio then
    local sound, rows = made.primary.spec.sound, rows_of(array)
    result.sound = { rows = rows, seconds = sound.hop / sound.rate, mels = sound.mels ~= nil, is_query =
      #rows == result.queries }
  end
  return result
end

-- Returns the grey values of a head, dark for a large weight. Each weight is a square of `side` pixels.
local function grey_of(head, side)
  local most = 0
  for _, row in ipairs(head.rows) do for _, weight in ipairs(row) do most = math.max(most, weight) end end
  local lines = words.map(head.rows, function(row)
    local bytes = {}
    for k, weight in ipairs(row) do
      local part = most > 0 and weight == weight and math.max(0, math.min(1, weight / most)) or 0
      bytes[k] = string.char(255 - math.floor(255 * part + 0.5)):rep(side)
    end
    return table.concat(bytes):rep(side)
  end)
  return ("%d %d\n"):format(#head.rows[1] * side, #head.rows * side) .. table.concat(lines)
end

-- Compiles runtime/tools/pictures.c into a folder, for this machine. Returns the program's path.
local function compile_tool(root, folder)
  local path = folder .. "/pictures"
  process.output({ process.compiler(), "-std=c11", "-O1", root .. "/runtime/tools/pictures.c", "-o", path, "-lpng" },
    "--attention: PNG files need libpng (libpng-dev), with which pictures.c did not compile")
  return path
end

-- The beginning of a picture that the command made: its size, and the name of the program (runtime/tools/pictures.c).
local PICTURE = "^\x89PNG\r\n\x1a\n\0\0\0\rIHDR" .. ("."):rep(17) .. "....tEXtSoftware\0attn2c report"

-- Refuses to write over files that the command has not made.
local function check_pictures(folder, names)
  for _, name in ipairs(names) do
    local path = folder .. "/" .. name
    local mode = lfs.attributes(path, "mode")
    local begins = mode == "file" and files.read_some(path, 80) or ""
    if mode and begins ~= "" and not begins:match(PICTURE) then
      faults.raise("usage", "--attention: %s exists and is not a picture of attn2c report; it would be lost", path)
    end
  end
end

--- Writes maps as NAME_layer_L_head_H.png into a folder, either all or none, and not over files that the command has
--- not made. Returns their number.
function maps.write(root, result, name, folder)
  local names, parts = {}, {}
  local side = math.max(1, LEAST_SIDE // math.max(result.queries, result.keys))
  for _, layer in ipairs(result.layers) do
    for h, head in ipairs(layer.heads) do
      names[#names + 1] = ("%s_layer_%s_head_%d.png"):format(name, layer.layer, h - 1)
      parts[#parts + 1] = grey_of(head, side)
    end
  end
  check_pictures(folder, names)
  local work <close> = scratch.make(("out/%s.variants"):format(name), "pictures")
  local from, to = work.path .. "/from", work.path .. "/to"
  local tool = compile_tool(root, work.path)
  files.write(from, table.concat(parts))
  process.output({ "./" .. tool, from, to }, "--attention: no pictures")
  local text, list, at = files.read(to), {}, 1
  for i, each in ipairs(names) do
    local bytes, first = text:match("^(%d+)\n()", at)
    bytes = assert(math.tointeger(tonumber(bytes)), "a picture is missing")
    list[i], at = { name = each, text = text:sub(first, first + bytes - 1) }, first + bytes
  end
  files.make_folder(folder)
  files.write_all(folder, list)
  return #list
end

return maps
