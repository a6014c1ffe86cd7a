-- rooms_spec.lua: the folders of runtime/ and gen/ are rooms in an order: a file uses its own
-- room and those before it. The tables below are that order; emitted code has its own list.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local runtime = { "system", "base", "ranks", "text", "chat", "picture", "sound", "ops", "formats", "generate",
  "grammar", "packing", "reading", "weights", "model", "speech", "reference", "check", "measure", "program", "tools",
  "python" }
local gen = { "common", "text", "data", "kernels", "checkpoints", "passes", "pipeline", "report", "commands",
  "deploy" }
local emitted = { "system", "base", "ranks", "picture", "sound", "ops", "generate", "model", "speech", "measure" }

-- Calls visit(path from the folder, file) for each file below a folder.
local function each_file(folder, visit, below)
  for name in lfs.dir(folder .. (below or "")) do
    local path = (below or "") .. "/" .. name
    if name:sub(1, 1) ~= "." then
      if lfs.attributes(folder .. path, "mode") == "directory" then
        each_file(folder, visit, path)
      else
        visit(path:sub(2), helper.read(folder .. path))
      end
    end
  end
end

local function rank_of(list)
  local rank = {}
  for i, name in ipairs(list) do rank[name] = i end
  return rank
end

-- Returns the uses against the order in files of a folder, a line each. uses: a pattern that captures the room.
local function against_order(folder, order, uses)
  local rank, found = rank_of(order), {}
  each_file(folder, function(path, text)
    local room = path:match("^([^/]+)/")
    for used in text:gmatch(uses) do
      if room and rank[used] and rank[used] > (rank[room] or 0) then
        found[#found + 1] = path .. " uses " .. used
      end
    end
  end)
  table.sort(found)
  return found
end

-- True if a file stands beside others of which one is compiled.
local function is_one_of_many(path)
  return path:match("^ops/product/") or path:match("^base/processor_")
    or path:match("^system/") and path ~= "system/system.h"
end

-- Returns the circles of a graph, { name = { name of what it uses = true } }: a line for each, sorted.
local function circles_of(graph)
  local number, low, stack, on_stack, count, found = {}, {}, {}, {}, 0, {}
  local function visit(name)
    count = count + 1
    number[name], low[name], on_stack[name] = count, count, true
    stack[#stack + 1] = name
    for used in pairs(graph[name]) do
      if not number[used] then visit(used) end
      if on_stack[used] then low[name] = math.min(low[name], low[used]) end
    end
    if low[name] < number[name] then return end
    local circle = {}
    repeat
      circle[#circle + 1] = table.remove(stack)
      on_stack[circle[#circle]] = nil
    until circle[#circle] == name
    table.sort(circle)
    if #circle > 1 then found[#found + 1] = table.concat(circle, ", ") end
  end
  for name in pairs(graph) do if not number[name] then visit(name) end end
  table.sort(found)
  return found
end

-- Returns the code of a file without comments and texts.
local function code_of(text)
  return (text:gsub("/%*.-%*/", " "):gsub("\\.", ""):gsub('"[^"\n]*"', '""'))
end

-- Calls visit(name) for each function that a file of C defines and others can call.
local function each_function(code, visit)
  for head in ("\n" .. code):gmatch("\n([%a_][^;{}=#]-)%s*%b()%s*{") do
    local name = head:match("([%w_]+)$")
    if name and not head:find("^static") then visit(name) end
  end
end

-- Returns which sources of a folder call functions of which others of it.
local function calls_within(folder)
  local codes, home, graph = {}, {}, {}
  each_file(folder, function(path, text)
    if path:sub(-2) == ".c" then codes[path] = code_of(text) end
  end)
  for path, code in pairs(codes) do
    graph[path] = {}
    -- A name that several files define, such as the ways to make kernels, has no home.
    each_function(code, function(name) home[name] = home[name] == nil and path or false end)
  end
  for path, code in pairs(codes) do
    for name in code:gmatch("[%a_][%w_]*") do
      local other = home[name]
      if other and other ~= path and other:match("^[^/]+") == path:match("^[^/]+") then graph[path][other] = true end
    end
  end
  return graph, home
end

describe("rooms", function()
  it("of the runtime include only those before them", function()
    assert.same({}, against_order(helper.root .. "/runtime", runtime, '#include "([a-z]+)/'))
  end)

  it("of the compiler require only those before them", function()
    assert.same({}, against_order(helper.root .. "/gen", gen, 'require%("([a-z]+)'))
  end)

  it("of the runtime have no files that call each other in a circle", function()
    local graph, home = calls_within(helper.root .. "/runtime")
    assert.equal("check/check_judge.c", home.attn2c_check_op)
    assert.truthy(graph["check/check_calls.c"]["check/check_judge.c"])
    assert.same({}, circles_of(graph))
    assert.same({ "a, b" }, circles_of { a = { b = true }, b = { a = true }, c = { a = true } })
  end)

  it("of the compiler have no modules that require each other in a circle", function()
    local graph = {}
    each_file(helper.root .. "/gen", function(path, text)
      local module = path:match("^(.*)%.lua$")
      if module then graph[module:gsub("/", ".")] = text end
    end)
    for module, text in pairs(graph) do
      graph[module] = {}
      for used in text:gmatch('require%("([%w_.]+)"%)') do
        if graph[used] then graph[module][used] = true end
      end
    end
    assert.truthy(graph["passes.emit"]["passes.emit.module"])
    assert.same({}, circles_of(graph))
  end)

  it("of the passes require their own modules and those that all passes share", function()
    local found = {}
    each_file(helper.root .. "/gen/passes", function(path, text)
      local pass = path:match("^([a-z_]+)[/.]")
      for used in text:gmatch('require%("passes%.([a-z_]+)') do
        if used ~= pass and used ~= "common" then
          found[#found + 1] = path .. " uses " .. used
        end
      end
    end)
    table.sort(found)
    assert.same({}, found)
  end)

  it("hold every file, but for the compiler's two entrances and a README", function()
    local outside = {}
    local function look(folder, order)
      local rank = rank_of(order)
      each_file(helper.root .. "/" .. folder, function(path)
        if not rank[path:match("^([^/]+)/") or ""] then outside[#outside + 1] = folder .. "/" .. path end
      end)
    end
    look("gen", gen)
    look("runtime", runtime)
    table.sort(outside)
    assert.same({ "gen/README.md", "gen/attn2c", "gen/pipeline.lua", "runtime/README.md" }, outside)
  end)

  it("name every header by its room", function()
    local plain = {}
    each_file(helper.root .. "/runtime", function(path, text)
      for header in text:gmatch('#include "([^"/]+)"') do plain[#plain + 1] = path .. ": " .. header end
    end)
    assert.same({}, plain)
  end)

  it("give a type one meaning: no two of the runtime have the same name", function()
    local places, twice = {}, {}
    each_file(helper.root .. "/runtime", function(path, text)
      if is_one_of_many(path) then return end
      for name in text:gmatch("\n}? ?[^\n;()]-(attn2c_[%w_]+);") do
        local is_type = text:find("\n} " .. name .. ";", 1, true) or text:find("\ntypedef [^\n(]* " .. name .. ";")
        if is_type and places[name] and places[name] ~= path then
          twice[#twice + 1] = ("%s: %s and %s"):format(name, places[name], path)
        end
        if is_type then places[name] = path end
      end
    end)
    assert.truthy(places.attn2c_message and places.attn2c_lengths)
    assert.same({}, twice)
  end)

  it("give a function one meaning: no two headers of the runtime have the same name", function()
    local places, twice = {}, {}
    each_file(helper.root .. "/runtime", function(path, text)
      if not path:match("%.h$") or is_one_of_many(path) then return end
      local own = {} -- a header may declare a function and define it
      for line in text:gmatch("\n(%a[^\n]*)") do
        local name = not line:find("^typedef") and line:match("^[%w_ %*]-%f[%w_](attn2c_[%w_]+)%(")
        if name and not own[name] then
          if places[name] then twice[#twice + 1] = ("%s: %s and %s"):format(name, places[name], path) end
          places[name], own[name] = path, true
        end
      end
    end)
    assert.truthy(places.attn2c_sequence_load and places.attn2c_load)
    table.sort(twice)
    assert.same({}, twice)
  end)

  it("that emitted code includes are few", function()
    local allowed, others = rank_of(emitted), {}
    each_file(helper.root .. "/templates", function(path, text)
      for room in text:gmatch('#include "([a-z]+)/') do
        if not allowed[room] then others[#others + 1] = path .. ": " .. room end
      end
    end)
    assert.same({}, others)
  end)
end)
