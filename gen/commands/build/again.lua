-- again.lua: writes the command line that repeats a build, when run next to the files that it names.
local words = require("common.words")

local again = {}

-- The environment variables that the build reads.
local VARIABLES = { "CC", "CROSS", "ATTN2C_CFLAGS", "ATTN2C_LDFLAGS", "ATTN2C_MPI" }

local forms = words.set { "f32", "f16" }

-- Returns a path's last part. A path that ends without a name stays as it is.
local function name_of(path)
  local name = path:gsub("(.)/+$", "%1"):match("[^/]*$")
  return (name == "" or name == "." or name == "..") and path or name
end

-- Returns a name that the command takes neither for an option nor for a form of --embed.
local function operand(path)
  local name = name_of(path)
  return (name:sub(1, 1) == "-" or forms[name]) and "./" .. name or name
end

--- Returns the tuning file that a finished pipeline has used, or nil if no line of a tuning file was used.
function again.tuning_of(state)
  for _, build in ipairs(state.builds) do
    if build.parameters.hash and state.tuning then return state.tuning.file end
  end
  return nil
end

--- Returns the file of factors that a finished pipeline has used, or nil.
function again.factors_of(state)
  local graph = state.primary.graph
  return graph.smoothing and state.factors.file or nil
end

--- Returns the file with the divergence of each part that a finished pipeline has used, or nil.
function again.parts_of(state) return state.sized and state.parts.file or nil end

--- Returns `attn2c build`, or `wheel`, with the words of a parsed command line. used: { tuning, factors, parts }, the
--- files that were used; target: the model's target, on any machine; environment: replaces os.getenv in tests.
function again.line(arguments, used, target, environment)
  environment = environment or os.getenv
  local list = {}
  local function add(word) list[#list + 1] = words.shell(word) end
  for _, variable in ipairs(VARIABLES) do
    local value = environment(variable)
    if value and value ~= "" then list[#list + 1] = variable .. "=" .. words.shell(value) end
  end
  add("attn2c")
  add(arguments.command or "build")
  add(operand(arguments.description))
  for _, word in ipairs(arguments.overrides) do if not word:match("^target=") then add(word) end end
  add("target=" .. target)
  for _, name in ipairs { "tuning", "factors", "parts" } do
    if used[name] then
      add(("--%s=%s"):format(name, name_of(used[name])))
    elseif arguments[name] then
      add(("--%s=none"):format(name))
    end
  end
  if arguments.chat_template then
    add("--chat-template=" .. (arguments.chat_template == "none" and "none" or name_of(arguments.chat_template)))
  end
  if arguments.embed == true then
    add("--embed")
  elseif arguments.embed then
    add("--embed=" .. (forms[arguments.embed] and arguments.embed or operand(arguments.embed)))
  end
  if arguments.weights then add("--weights=" .. name_of(arguments.weights)) end
  if arguments.version then add("--version=" .. arguments.version) end
  if arguments.static then add("--static") end
  if arguments.libraries then add("--libraries") end
  if arguments.serve then add("--serve") end
  return table.concat(list, " ")
end

return again
