-- routes.lua: turns a Router of sentence-transformers, whose queries and documents go through different modules, into
-- the modules of documents. Queries may have a weight for each of their tokens in place of a model's, from a table.
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local known = require("common.known")
local lfs = require("lfs")
local words = require("common.words")

local routes = {}

local FILE = "router_config.json"

local KINDS = { Router = true, Asym = true }

-- Paths of the model of documents, which the runtime opens (reading/checkpoint.c).
local PATHS = words.set { "", "document_0_Transformer", "document_0_MLMTransformer" }

local ADVICE = "supported are documents with SpladePooling, and queries with SparseStaticEmbedding"

local function refuse(...) faults.raise("usage", "%s: %s", FILE, faults.line(...)) end

-- Returns the modules of a route, { { kind, path, config, entry } }. own: the object of router_config.json.
local function modules_of(own, route, read)
  local list = json.given(json.given(own, "structure", {}), route)
  if type(list) ~= "table" or #list == 0 then refuse("structure: there is no route %s; %s", route, ADVICE) end
  local modules = {}
  for i, path in ipairs(list) do
    local class = json.given(own, "types", {})[path]
    if type(path) ~= "string" or path:find("[/\\%c]") or path:sub(1, 1) == "." or type(class) ~= "string" then
      faults.raise("format", "%s: structure: module %d of %s: a name in types, and a path in the folder, are expected",
        FILE, i, route)
    end
    modules[i] = { kind = class:match("([%w_]+)$"), path = path, entry = { type = class, path = path },
      config = path ~= "" and read(path .. "/config.json") or nil }
  end
  return modules
end

--- True for modules that begin with a Router.
function routes.has(modules) return modules ~= nil and modules[1] ~= nil and KINDS[modules[1].kind] == true end

-- Returns the most tokens that a file states, or nil.
local function stated(read, path, name, key)
  local value = json.given(read((path ~= "" and path .. "/" or "") .. name) or {}, key)
  return math.type(value) == "integer" and value or nil
end

-- Returns a line if queries have another limit of tokens than documents, or nil.
local function limit_note(read, documents, queries)
  local of_documents = stated(read, documents, "sentence_bert_config.json", "max_seq_length")
    or stated(read, documents, "tokenizer_config.json", "model_max_length")
  local of_queries = stated(read, queries, "tokenizer_config.json", "model_max_length")
  if of_documents == of_queries then return nil end
  return ("%s: queries are cut to the %s tokens of documents; in sentence-transformers to %s"):format(FILE,
    of_documents or "most", of_queries or "any number")
end

--- Returns the modules of a folder's documents, the inner folder of the weights of a query's tokens, and notes for the
--- user. read(path): the object of a file of the folder, or nil. Faults: usage, format.
function routes.of_documents(modules, read)
  local own = read(FILE)
  if #modules > 1 or modules[1].kind ~= "Router" or not own then
    faults.raise("usage", "modules.json: %s is not supported here: texts go through different modules by their kind; "
      .. "%s, in %s", modules[1].kind, ADVICE, FILE)
  end
  local parameters = json.given(own, "parameters", {})
  if next(json.given(parameters, "route_mappings", {})) ~= nil then
    refuse("route_mappings: is not supported; %s", ADVICE)
  end
  local documents, queries = modules_of(own, "document", read), modules_of(own, "query", read)
  local last = documents[#documents]
  local is_known = #documents == 2 and #queries == 1 and queries[1].kind == "SparseStaticEmbedding"
  if not is_known or last.kind ~= "SpladePooling" then
    refuse("structure: documents end with %s, and queries with %s; %s", last.kind, queries[#queries].kind, ADVICE)
  end
  local query, notes = queries[1], {}
  notes[1] = limit_note(read, documents[1].path, query.path)
  known.check(own, FILE, { FILE }, notes)
  if query.config then
    known.check(query.config, query.path .. "/config.json", { "config.json of module SparseStaticEmbedding" }, notes)
  end
  if json.given(query.config or {}, "path") then
    faults.raise("usage", "%s/config.json: path: weights in a file of their own are not supported; "
      .. "save_pretrained() writes model.safetensors", query.path)
  end
  if not PATHS[documents[1].path] then
    refuse("structure: path %s is not supported: document_0_Transformer is expected", faults.quote(documents[1].path))
  end
  known.check(parameters, FILE .. ": parameters", { "router_config.json: parameters" }, notes)
  local usual = json.given(parameters, "default_route", json.null)
  if usual ~= "document" then
    notes[#notes + 1] = ("%s: default_route: %s: encode() takes texts as queries if its caller does not say what "
      .. "they are; here they are documents"):format(FILE, json.shown(usual))
  end
  return documents, query.path, notes
end

local function have_same_tokenizer(one, other)
  local function text_of(path) return files.read(path .. "/tokenizer.json") end
  local text = text_of(one)
  if text and text == text_of(other) then return true end
  local tokenizer = require("text.tokenizer")
  return tokenizer.from_path(one) == tokenizer.from_path(other)
end

--- Returns the path of the weights of a query's tokens, or nil. place: the folder's path from that of the description,
--- or "". Faults: usage.
function routes.query_weights(folder, place)
  local inner = folder.queries
  if not inner or not folder.tokenizer then return nil end
  local path = folder.path .. "/" .. inner
  local documents = folder.path .. (folder.tokenizer ~= "" and "/" .. folder.tokenizer or "")
  if not have_same_tokenizer(documents, path) then
    refuse("structure: the tokenizer of queries, in %s, is another than that of documents, which is not supported",
      inner)
  end
  local is_torch = not lfs.attributes(path .. "/model.safetensors", "mode")
  return (place ~= "" and place .. "/" or "") .. inner .. (is_torch and "/pytorch_model.bin" or "/model.safetensors")
end

return routes
