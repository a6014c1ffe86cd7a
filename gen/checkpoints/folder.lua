-- folder.lua: reads a Hugging Face checkpoint folder: its configuration, its tensors' shapes, and its modules. A GGUF
-- file stands for a folder.
-- The files are config.json, model.safetensors or its index, and sentence-transformers' files. File names in these
-- files are not trusted: none may lead out of the folder.
local coded = require("checkpoints.coded")
local faults = require("common.faults")
local files = require("common.files")
local gguf = require("common.gguf")
local headers = require("common.headers")
local json = require("common.json")
local kinds = require("common.kinds")
local lfs = require("lfs")
local paths = require("checkpoints.paths")
local pieces = require("text.pieces")
local routes = require("checkpoints.routes")
local sentence = require("checkpoints.sentence")
local spans = require("checkpoints.spans")
local uv = require("common.libuv")
local words = require("common.words")

local folder = {}

local LARGEST = 4 << 20 -- bytes of a file of configuration

local MOST_MODULES = 100 -- of a folder of sentence-transformers, each with a file of its own

local function refuse(kind, path, ...) faults.raise(kind, "%s: %s", path, faults.line(...)) end

-- True if a file is in its folder when all links are followed, or in the store of Hugging Face's cache that the folder,
-- or the one above it, belongs to.
local function is_within(path)
  local file, above = uv.fs_realpath(path), path:match("^.*/")
  for _, place in ipairs { ".", "../../blobs", "../../../blobs" } do
    local root = uv.fs_realpath(above .. place)
    if root and file:sub(1, #root + 1) == root .. "/" then return true end
  end
  return false
end

-- Returns the value of a JSON file, or nil if there is no such file.
local function read_json(path)
  local mode = lfs.symlinkattributes(path, "mode")
  if not mode then return nil end
  if mode == "link" and not lfs.attributes(path, "mode") then refuse("io", path, "is a link to nothing") end
  if lfs.attributes(path, "mode") ~= "file" then refuse("io", path, "is not a regular file") end
  if not is_within(path) then refuse("format", path, "is a link that leads out of its folder") end
  local text, message = files.read_some(path, LARGEST + 1)
  if not text then refuse("io", path, "cannot be opened: " .. message) end
  if #text > LARGEST then
    refuse("format", path, "%d bytes, but at most %d are allowed", lfs.attributes(path, "size"), LARGEST)
  end
  local value, what = json.decode(text, json.null)
  if what then refuse("format", path, kinds.said_of_file(path, "json") or what) end
  return value
end

local function read_object(path)
  local value = read_json(path)
  if value ~= nil and (type(value) ~= "table" or value == json.null or #value > 0) then
    refuse("format", path, "an object is expected")
  end
  return value
end

-- Kinds of files (common/kinds.lua) that hold weights in another format.
local others = words.set { "adapter", "gguf", "hdf5", "onnx", "pickle" }

-- Returns what to do with a file of another format in a folder, or in its inner folder of graphs; "" without one.
local function said_of_others(path)
  for _, place in ipairs { path, path .. "/onnx" } do
    local listed, names = pcall(files.names, place) -- a folder may be read, but not listed
    for _, name in ipairs(listed and names or {}) do
      local said = others[(kinds.of(name, "", 0) or {}).name] and kinds.said(name, "", 0)
      if said then return ("; %s %s"):format((place:sub(#path + 2) .. "/" .. name):gsub("^/", ""), said) end
    end
  end
  return ""
end

-- Refuses a folder without tensors that are supported.
local function check_there(path)
  local function is_there(name) return lfs.symlinkattributes(path .. "/" .. name, "mode") ~= nil end
  for _, name in ipairs { "model.safetensors", "pytorch_model.bin" } do
    if is_there(name) or is_there(name .. ".index.json") then return end
  end
  refuse("io", path, "has neither model.safetensors nor pytorch_model.bin, nor the index of one"
    .. said_of_others(path))
end

-- Returns the modules of sentence-transformers, { { kind, path, config } }, or nil without modules.json.
local function read_modules(path)
  local list = read_json(path .. "/modules.json")
  if list == nil then return nil end
  local modules = {}
  if type(list) ~= "table" then refuse("format", path .. "/modules.json", "a list is expected") end
  if #list > MOST_MODULES then
    refuse("usage", path .. "/modules.json", "%d modules, but at most %d are supported", #list, MOST_MODULES)
  end
  for i, entry in ipairs(list) do
    local kind = type(entry) == "table" and type(entry.type) == "string" and entry.type:match("([%w_]+)$")
    local where = type(entry) == "table" and entry.path
    if not kind or type(where) ~= "string" or where:find("[/\\%c]") or where:sub(1, 1) == "." then
      refuse("format", path .. "/modules.json", "module %d: a type and a path in the folder are expected", i)
    end
    local config = where ~= "" and read_object(("%s/%s/config.json"):format(path, where)) or nil
    modules[i] = { kind = kind, path = where, config = config, entry = entry }
  end
  return modules
end

-- transformers' class of an old preprocessor_config.json, which names none, by the model_type.
local WAVES = "Wav2Vec2FeatureExtractor"
local CLASSES = { wav2vec2 = WAVES, hubert = WAVES, wavlm = WAVES, unispeech = WAVES,
  moonshine = WAVES, whisper = "WhisperFeatureExtractor", ["audio-spectrogram-transformer"] = "ASTFeatureExtractor",
  vit = "ViTImageProcessor", deit = "DeiTImageProcessor", clip = "CLIPImageProcessor" }

-- Returns what a folder says about pictures or sounds, { file, config }, or nil. As in transformers, the object in
-- processor_config.json comes first.
local function read_preprocessor(path, model_type)
  local whole = read_object(path .. "/processor_config.json") or {}
  for _, key in ipairs { "image_processor", "feature_extractor" } do
    if json.kind(whole[key]) == "object" and whole[key] ~= json.null then
      return { file = "processor_config.json", config = whole[key] }
    end
  end
  local config = read_object(path .. "/preprocessor_config.json")
  if config and not json.given(config, "image_processor_type") then
    config.feature_extractor_type = json.given(config, "feature_extractor_type", CLASSES[model_type])
  end
  return config and { file = "preprocessor_config.json", config = config }
end

-- Returns what sentence-transformers says about the model's calls, and the file's name; or nil. Old folders have other
-- names of models in the file's name. The first that says something counts.
local function read_limits(path)
  local list = { "sentence_bert_config.json" }
  for _, name in ipairs(files.names(path)) do
    if name:find("^sentence_[%a-]+_config%.json$") then list[#list + 1] = name end
  end
  for _, file in ipairs(list) do
    local limits = read_object(path .. "/" .. file)
    if limits and next(limits) ~= nil then return limits, file end
  end
  return nil
end

-- True if a folder has a tokenizer's files, also in the format of older folders. stated: its tokenizer_config.json, or
-- nil; config: its config.json.
local function has_tokenizer(path, stated, config)
  local function is_there(name) return lfs.attributes(path .. "/" .. name, "mode") == "file" end
  return is_there("tokenizer.json") or is_there("vocab.txt") or (is_there("vocab.json") and is_there("merges.txt"))
    or pieces.is_in(path, stated, config)
end

local CONVERT_TOKENIZER = "python3 -c 'import transformers as t; t.AutoTokenizer.from_pretrained(\".\")"
  .. ".save_pretrained(\".\")'"

-- Returns notes, or nil, with a line more if the only tokenizer is a SentencePiece model that is not supported.
local function with_tokenizer_notes(notes, path, has)
  for _, name in ipairs(has and {} or { "spm.model", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model" }) do
    if lfs.attributes(path .. "/" .. name, "mode") == "file" then
      notes = notes or {}
      notes[#notes + 1] = ("%s: a SentencePiece model of this class is not supported, so the model takes no text; "
        .. "to make tokenizer.json, run in the folder: %s"):format(name, CONVERT_TOKENIZER)
    end
  end
  return notes
end

-- Refuses a folder without config.json. The message names an inner folder that has it, or a file of another format.
local function refuse_folder(path)
  local places = { path, path .. "/snapshots" }
  for _, place in ipairs(lfs.attributes(places[2], "mode") == "directory" and places or { path }) do
    for _, name in ipairs(files.names(place)) do
      local inner = place .. "/" .. name
      if name == "config.json" then refuse("io", inner, "cannot be read: " .. select(2, files.open(inner))) end
      if not name:find("^%.") and lfs.attributes(inner .. "/config.json", "mode") == "file" then
        refuse("io", path, "has no config.json, but %s has one: give that folder", inner)
      end
      if name:find("%.gguf$") then refuse("io", path, "has no config.json, but %s: give that file", inner) end
    end
  end
  local described = lfs.attributes(path .. ".lua", "mode") and path .. ".lua"
  refuse("io", path, "has no config.json: it is no checkpoint as Hugging Face publishes them" .. (described
    and (" (did you mean %s?)"):format(described) or said_of_others(path)))
end

--- Returns a folder's contents: { path, title, config, tensors = name -> { dtype, shape }, modules, settings, limits,
--- limits_file, tokenizer, tokenizer_config, generation, preprocessor }. modules, settings and limits come from
--- sentence-transformers. tokenizer_config, generation: the objects of tokenizer_config.json and
--- generation_config.json, or nil. opens: "torch" with files of torch.save(), or nil. preprocessor: { file, config }
--- about pictures or sounds, or nil. quantised: how quantised tensors are stored (coded.lua), or nil; notes: for the
--- user. tokenizer: the inner folder of its files, "" for the folder itself, or nil. queries: the inner folder of the
--- weights of a query's tokens (routes.lua), or nil. spans: GLiNER's own configuration,
--- or nil; config is its encoder's then. read: returns the object of another file by its name, or nil. look: a function
--- of config.json that may refuse it before its tensors are looked for, or nil. Faults: io, format. A GGUF file's table
--- has more fields (gguf.lua).
function folder.read(path, look)
  if gguf.is(path) then return require("checkpoints.gguf").read(path) end -- loaded only then
  path = path:gsub("(.)/+$", "%1")
  local modules, queries, routed = read_modules(path), nil, {}
  if routes.has(modules) then
    modules, queries, routed = routes.of_documents(modules, function(name) return read_object(path .. "/" .. name) end)
  end
  if modules then sentence.check_first(modules) end
  local main = path
  if modules and modules[1] and modules[1].path ~= "" then main = path .. "/" .. modules[1].path end
  local of_spans = read_object(main .. "/gliner_config.json")
  local config = read_object(main .. "/config.json")
  if of_spans then config = spans.encoder(of_spans, config) end
  if not config then refuse_folder(path) end
  if look then look(config) end
  check_there(main)
  for _, module in ipairs(modules or {}) do
    if module.kind == "Dense" or module.kind == "LayerNorm" then
      if module.path:match("^[1-9]%d?_(%a+)$") ~= module.kind then
        refuse("usage", path .. "/modules.json", "path %s is not supported: NUMBER_%s is expected",
          faults.quote(module.path), module.kind)
      end
    end
  end
  local stated_kind, is_ordered, notes, is_symmetric = coded.kind(main, config, read_object)
  local tensors, kind = coded.tensors(stated_kind, is_symmetric, function(each)
    return headers.read(path, each).tensors
  end, notes)
  if of_spans then spans.set_rows(of_spans, config, tensors) end
  coded.check(main, kind, is_ordered, tensors, notes)
  if kind then config.quantization_config = nil end
  for _, line in ipairs(routed) do notes[#notes + 1] = line end
  if lfs.attributes(main .. "/adapter_config.json", "mode") == "file" then
    notes = notes or {}
    notes[#notes + 1] = "adapter_config.json: not read; with PEFT, transformers adds this adapter to the model, as "
      .. "adapter=FOLDER does here"
  end
  local stated = read_object(main .. "/tokenizer_config.json")
  local has = has_tokenizer(main, stated, config)
  local limits, limits_file = nil, nil
  if modules then limits, limits_file = read_limits(main) end
  return {
    path = path, title = paths.title(path), config = config, tensors = tensors, modules = modules, spans = of_spans,
    opens = words.any(words.sorted_keys(tensors), function(name)
      return not (tensors[name].path or ".safetensors"):find("%.safetensors$")
    end) and "torch" or nil,
    quantised = kind, notes = with_tokenizer_notes(notes, main, has),
    settings = modules and read_object(path .. "/config_sentence_transformers.json"),
    limits = limits, limits_file = limits_file, tokenizer_config = stated,
    generation = read_object(main .. "/generation_config.json"),
    preprocessor = read_preprocessor(main, config.model_type),
    tokenizer = has and main:sub(#path + 2) or nil, queries = queries,
    read = function(name) return read_object(main .. "/" .. name) end,
  }
end

--- Returns the path of the weights of a query's tokens, or nil (routes.lua).
folder.query_weights = routes.query_weights

return folder
