-- names.lua: names functions by what they do, and those that do the same by what differs among them.
-- The facts of a function are { label, value, text }. Functions with equal facts are one function. After a base name of
-- several functions come the texts of those facts that are not the same in all of them.
local kernel_text = require("passes.common.kernel_text")
local operands = require("data.operands")
local steps = require("data.steps")
local words = require("common.words")

local names = {}

-- Returns a fact as part of a name; a minus becomes m.
local function text_of(fact) return ((fact[3] or fact[1] .. fact[2]):gsub("-", "m"):gsub("[^%w_]", "_")) end

-- Returns what a product prefetches as the text of a fact.
local function ahead_text(fetch)
  if not fetch then return "" end
  if fetch.near then return "near" .. fetch.near end
  local first = fetch.from and fetch or fetch.few or fetch.by_strips[1] or {}
  return "ahead" .. (first.from or "")
end

-- Returns what tells products of one base name apart.
local function facts_of_product(kernel)
  local of, strips, fetch = kernel.types, kernel.strips, kernel.fetch
  return {
    { "types", ("%s %s %s %s"):format(of.a, of.b, of.sum, of.c), of.b }, { "lda", kernel.lda }, { "ldb", kernel.ldb },
    { "ldc", kernel.ldc }, { "beta", kernel.beta, kernel.beta == 0 and "" or "added" },
    { "rows", kernel_text.strips(strips), "rows" .. strips.strips[1].size },
    { "held", tostring(strips.rows_held), strips.rows_held and "held" or "" },
    { "room", tostring(kernel.a_room), kernel.a_room and "" or "cut" },
    { "ahead", fetch and kernel_text.ahead(fetch) or "", ahead_text(fetch) },
    { "by", tostring(kernel.by_libxsmm), kernel.by_libxsmm and "libxsmm" or "" },
  }
end

--- Returns what tells functions of one base name apart. pair: of schedule/fused_kernels.lua, or nil.
function names.facts(step, pair)
  if pair then
    local list = names.facts(step)
    for _, fact in ipairs(names.facts(pair.map)) do
      list[#list + 1] = { "map " .. fact[1], fact[2], fact[3] or fact[1] .. fact[2] }
    end
    list[#list + 1] = { "sums", tostring(pair.is_local), pair.is_local and "" or "in_place" }
    return list
  end
  if step.form == "product" then return facts_of_product(step.kernel) end
  local list, named = {}, operands.named(step.constants)
  for _, name in ipairs(words.sorted_keys(step.constants)) do
    list[#list + 1] = { name, steps.constant(named[name]) }
  end
  for i, operation in ipairs(step.elementwise or {}) do
    local value = ("%s %s %s"):format(operation.factor or operation.value, operation.least, operation.shift)
    list[#list + 1] = { "operation " .. i, ("%s %s %s"):format(operation.kind, operation.fn or "", operation.argument
      or ""), operation.argument or "" }
    list[#list + 1] = { "value " .. i, value, "" }
    list[#list + 1] = { "ld " .. i, operation.ld or "", operation.ld and "ld" .. operation.ld or "" }
  end
  for _, declared in ipairs(step.form == "row" and steps.rows[step.fn].operands or {}) do
    local name = declared[1]
    list[#list + 1] = { "operand " .. name, step.arguments[name] and 1 or 0, step.arguments[name] and name or "" }
  end
  return list
end

local Namer = {}
Namer.__index = Namer

--- Returns a namer. suffix: the end of each name.
function names.namer(suffix) return setmetatable({ by_key = {}, groups = {}, taken = {}, suffix = suffix }, Namer) end

--- Returns the function that has a base name and facts; make() returns it if it is new. It gets its name later.
function Namer:find(base, facts, make)
  local parts = { base }
  for i, fact in ipairs(facts) do parts[i + 1] = fact[1] .. "=" .. fact[2] end
  local key = table.concat(parts, ",")
  if not self.by_key[key] then
    self.by_key[key], self.groups[base] = make(), self.groups[base] or {}
    table.insert(self.groups[base], { fn = self.by_key[key], facts = facts })
  end
  return self.by_key[key]
end

-- Returns the labels of facts that are not the same in all functions of a group, as a set.
local function different(group)
  local values, counts, set = {}, {}, {}
  for _, each in ipairs(group) do
    for _, fact in ipairs(each.facts) do
      local label = fact[1]
      counts[label] = (counts[label] or 0) + 1
      if values[label] == nil then values[label] = fact[2] end
      set[label] = set[label] or values[label] ~= fact[2]
    end
  end
  for label, count in pairs(counts) do set[label] = set[label] or count < #group end
  return set
end

--- Names the functions that were found. Where texts do not tell two of them apart, a number does.
function Namer:name_all()
  for _, base in ipairs(words.sorted_keys(self.groups)) do
    local differs = different(self.groups[base])
    for _, each in ipairs(self.groups[base]) do
      local name = base
      for _, fact in ipairs(each.facts) do
        local text = text_of(fact)
        if differs[fact[1]] and text ~= "" then name = name .. "_" .. text end
      end
      local number = (self.taken[name] or 0) + 1
      self.taken[name] = number
      each.fn.ending = name:sub(#base + 1) .. (number > 1 and "_" .. number or "")
      each.fn.name = base .. each.fn.ending .. self.suffix
    end
  end
  self.groups = {}
end

return names
