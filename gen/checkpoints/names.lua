-- names.lua: finds the tensor of a checkpoint, and the part of it, that a weight of the graph comes from. A naming
-- scheme translates the graph's paths, such as l3.attn.q.weight. It is a list of rules; the first that fits counts.
--
-- A rule has a pattern of the graph's path, a source, and optionally `when`, a condition on the spec. A source is
-- { names } with fields that sources.lua explains: names are tried in order, and %1 .. in them are the pattern's
-- captures. Families of Hugging Face and descriptions write rules without patterns:
--   ["l*.attn.q"] = "encoder.layer.*.attention.self.query"       * is the layer; for .weight and .bias
--   ["l*.attn.q"] = { "h.*.attn.c_attn", part = 1, parts = 3, transpose = true }
-- In a family's rule, words in braces stand for a rule each; parts without a part are of one name:
--   { "l*.attn.{q,k,v}", "layers.*.{q,k,v}_proj" }   or   { "l*.attn.{q,k,v}", { "layers.*.qkv", parts = 3 } }
local faults = require("common.faults")
local torch = require("checkpoints.torch")
local words = require("common.words")

local names = {}

-- Returns a text escaped for use as a replacement of gsub.
local function literal(text) return (text:gsub("%%", "%%%%")) end

-- The last words of paths that name one weight. Other paths name modules.
local parameters = { weight = true, bias = true, class = true, bias_k = true, bias_v = true, factors = true,
  correction = true, sinks = true }

-- Returns the pattern of a path with *, the number of *, and true if it names a module. A module's pattern also
-- captures the parameter.
local function path_pattern(path)
  local last = path:match("[^.]*$")
  local whole = parameters[last]
  local pattern, stars = path:gsub("[%-%.%+%?%[%]%^%$%(%)%%]", "%%%0"):gsub("%*", "(%%d+)")
  if not whole then pattern = pattern .. "%.(%a+)" end
  return "^" .. pattern .. "$", stars, not whole
end

-- Returns a template's text with captures in place of its * and of the parameter.
local function name_template(text, stars, of_module)
  local name = literal(text)
  if stars > 0 then name = name:gsub("%*", "%%1") end
  return of_module and ("%s.%%%d"):format(name, stars + 1) or name
end

-- Fields of a source that are sources of other tensors.
local OTHERS = { "plus", "times", "tap_gain" }

-- Returns the source of a template, which is a text, a list of alternatives, or a list of pieces to join.
local function template_source(template, stars, of_module)
  if type(template) == "string" then return { names = { name_template(template, stars, of_module) } } end
  local source = {}
  for key, value in pairs(template) do if type(key) ~= "number" then source[key] = value end end
  for _, field in ipairs(OTHERS) do
    if template[field] then source[field] = template_source(template[field], stars, of_module and field == "plus") end
  end
  if template.join then
    source.pieces = {}
    for i, piece in ipairs(template) do source.pieces[i] = template_source(piece, stars, of_module) end
  else
    source.names = {}
    for i, text in ipairs(template) do source.names[i] = name_template(text, stars, of_module) end
  end
  return source
end

-- Returns the condition that `when` states, as a function of the spec: when = { "input.types", 0 }.
local function condition(when)
  return when and function(spec)
    local value = spec
    for key in when[1]:gmatch("[^.]+") do
      if type(value) ~= "table" then return false end
      value = value[key]
    end
    return value == when[2]
  end
end

local function compiled(path, template)
  local pattern, stars, of_module = path_pattern(path)
  local source = template_source(template, stars, of_module)
  local when = condition(source.when)
  source.when = nil
  return { pattern = pattern, source = source, when = when }
end

-- Returns a path or a template with the word of number i of all that are in braces.
local function chosen(of, i)
  if type(of) == "string" then
    return (of:gsub("{([^{}]+,[^{}]+)}", function(list) return words.list(list, "[^,]+")[i] end))
  elseif type(of) ~= "table" then
    return of
  end
  local copy = { part = of.parts and i }
  for key, value in pairs(of) do copy[key] = chosen(value, i) end
  return copy
end

--- Returns a family's rules without braces.
function names.rules(tensors)
  local list = {}
  for _, entry in ipairs(tensors) do
    for i in ipairs(words.list(entry[1], "[^,]+")) do
      list[#list + 1] = { chosen(entry[1], i), chosen(entry[2], i) }
    end
  end
  return list
end

local own_names = { { pattern = "^(.*)$", source = { names = { "%1" } } } }

-- name -> rules; further fields: adapt(found names, spec), prefixes.
local schemes = { attn2c = own_names, torch = torch.rules }

-- Returns the records of families and of architectures of GGUF files by the names of their schemes. The files of all
-- families are read only then: most descriptions need none.
local records
local function records_by_name()
  if records then return records end
  records = {}
  for name, family in pairs(require("checkpoints.families").schemes) do records[name] = family end
  for name, record in pairs(require("checkpoints.architectures")) do records["gguf-" .. name] = record end
  return records
end

--- Returns the rules of a scheme; nil if there is no scheme of this name.
function names.scheme(name)
  local record = not schemes[name] and records_by_name()[name]
  if record then
    local rules = { prefixes = record.prefixes }
    for _, rule in ipairs(names.rules(record.tensors)) do rules[#rules + 1] = compiled(rule[1], rule[2]) end
    rules[#rules + 1] = own_names[1] -- for weights that the family has no name for
    schemes[name] = rules
  end
  return schemes[name]
end

--- Returns the schemes' names, sorted, without the schemes of GGUF files, which only descriptions of such files have.
function names.list()
  local list = { "attn2c", "torch" }
  for name in pairs(records_by_name()) do
    if not name:find("^gguf%-") then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

-- Adds the names of old checkpoints, which call a LayerNorm's weight gamma and its bias beta.
local function with_old_names(list)
  local result = {}
  for _, name in ipairs(list) do
    result[#result + 1] = name
    local old = name:gsub("LayerNorm%.weight$", "LayerNorm.gamma"):gsub("LayerNorm%.bias$", "LayerNorm.beta")
    if old ~= name then result[#result + 1] = old end
  end
  return result
end

local function with_prefixes(list, prefixes)
  local result = {}
  for _, prefix in ipairs(prefixes) do
    for _, name in ipairs(list) do result[#result + 1] = prefix .. name end
  end
  return result
end

-- Replaces whole components of names by a map: with { encoder = "trunk" }, encoder.layers becomes trunk.layers.
local function with_modules(list, modules)
  return words.map(list, function(name)
    local dotted = "." .. name .. "."
    for _, from in ipairs(modules) do
      local pattern = ("." .. from.name .. "."):gsub("%W", "%%%0")
      dotted = dotted:gsub(pattern, (literal("." .. from.to .. ".")))
    end
    return dotted:sub(2, -2)
  end)
end

-- Returns the source of a path with its captures filled in, and `change` applied to its names.
local function filled(source, path, pattern, change)
  local result = words.merged(source)
  for _, field in ipairs(OTHERS) do
    if source[field] then result[field] = filled(source[field], path, pattern, change) end
  end
  if source.pieces then
    result.pieces = {}
    for i, piece in ipairs(source.pieces) do result.pieces[i] = filled(piece, path, pattern, change) end
    return result
  end
  result.names = {}
  for i, name in ipairs(source.names) do result.names[i] = path:gsub(pattern, name) end
  result.names = change(result.names)
  return result
end

local function first_fit(rules, path, spec)
  for _, rule in ipairs(rules) do
    if path:match(rule.pattern) and (not rule.when or rule.when(spec)) then return rule end
  end
  return nil
end

-- Returns the value of a description's key `names` as a table. It is a scheme's name, or the table that
-- validate/names.lua has made.
local function as_table(scheme)
  if type(scheme) == "table" then return scheme end
  return { scheme = scheme, rules = {}, modules = {} }
end

--- Returns the source that a description's own table gives for a path, or nil.
function names.own(scheme, path, spec)
  local rule = first_fit(as_table(scheme).rules, path, spec or {})
  if rule then rule.used = true end
  return rule and filled(rule.source, path, rule.pattern, with_old_names)
end

-- Returns the path of a weight, or of the module of one, that resembles a path which is no weight's; nil: none does.
local function similar(path, weights)
  local modules = {}
  for i, weight in ipairs(weights) do
    modules[i] = path:find("*", 1, true) and weight:gsub("%d+", "*", 1) or weight
    if not parameters[path:match("[^.]*$")] then modules[i] = modules[i]:gsub("%.[^.]*$", "") end
    if modules[i]:sub(1, #path + 1) == path .. "." then return modules[i] end
  end
  return words.nearest(path, modules)
end

--- Checks that each rule of a description's own table was used for a weight. weights: by path. Faults: usage.
function names.check_used(scheme, weights)
  local lines = {}
  for _, rule in ipairs(as_table(scheme).rules) do
    local near = not rule.used and similar(rule.path, weights)
    if not rule.used then
      lines[#lines + 1] = ("names: %s: the model has no such weight%s"):format(rule.path,
        near and ("; did you mean %s?"):format(near) or "")
    end
  end
  if #lines > 0 then faults.raise("usage", lines) end
end

-- Returns the record of a scheme of GGUF files, or nil.
local function of_files(scheme) return records_by_name()[scheme:match("^gguf%-.+") or ""] end

function names.scheme_of(value) return as_table(value).scheme end

--- Returns the scheme of the models that a scheme of GGUF files is for, whose names PEFT uses; nil for another scheme.
function names.of_model(scheme)
  local record = of_files(as_table(scheme).scheme)
  local family = record and require("checkpoints.families").by_type[record.model_type]
  return family and family.name
end

--- True if models of a scheme are written to files of a scheme of GGUF files.
function names.goes_to_files(scheme, files)
  local record = of_files(files)
  return record ~= nil and (names.of_model(files) == scheme or words.set(record.also or {})[scheme] == true)
end

-- Returns the names that tensors of task heads have in another scheme, if one of both is of GGUF files.
local function of_heads(list, from, to)
  local result = {}
  for in_model, in_file in pairs((of_files(from) or of_files(to) or {}).output or {}) do
    local old, new = in_model, in_file
    if of_files(from) then old, new = in_file, in_model end
    if not list or words.set(list)[old] then result[#result + 1] = new end
  end
  table.sort(result)
  return result
end

--- Compiles a rule of a description's own table, for names.own.
names.compile = compiled

--- Returns the source of a weight of the graph (sources.lua), with all names that are tried. spec: the model's.
function names.find(scheme, path, spec)
  local of = as_table(scheme)
  spec = spec or {}
  local rules = assert(names.scheme(of.scheme), of.scheme)
  local own = names.own(scheme, path, spec)
  if own then return own end
  local within = path:match("^encoder%.(.*)$")
  if within and of.scheme == "torch" then
    return torch.in_encoder(within, function(each) return names.find("torch", each) end)
  end
  local rule = assert(first_fit(rules, path, spec))
  return filled(rule.source, path, rule.pattern, function(list)
    if rules.adapt then list = rules.adapt(rule, path, list, spec) end
    -- A weight that a family has no name for has the graph's own path, without a prefix.
    local prefixes = of.prefixes or rules.prefixes
    if prefixes and not (rules.prefixes and rule == own_names[1]) then list = with_prefixes(list, prefixes) end
    if #of.modules > 0 then list = with_modules(list, of.modules) end
    return with_old_names(list)
  end)
end

--- Returns the source of a weight in tensors of another scheme than its model's, as names.find does. like: the path of
--- the weight that has the same tensor if the checkpoint has none for this one, or nil.
function names.elsewhere(scheme, of, path, spec, like)
  local source, own = names.find(scheme, like or path, spec), names.own(of, path, spec)
  local heads = (own or like) and of_heads(own and (own.names or {}), names.scheme_of(of), scheme) or {}
  if not heads[1] then return source end
  return words.merged(like and source or {}, { names = words.append(heads, like and source.names or {}) })
end

return names
