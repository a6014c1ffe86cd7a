-- words.lua: finds words and openings that the project's prose avoids, in comments, messages and README files.
-- Usage: lua5.4 tests/words.lua [FILE ...]; prints FILE:LINE: TEXT, and exits with 1 if it found some. Without files
-- it reads gen/, runtime/, templates/, models/, the code of tests/ and the README files.

-- A pattern of Lua, and what to write instead. `opening`: it stands at the beginning of a sentence.
local rules = {
  { "Of %l", "begin with the subject", opening = true },
  { "What %l", "begin with the subject", opening = true },
  { "That of %l", "begin with the subject", opening = true },
  { "Those %l", "begin with the subject", opening = true },
  { "Whose %l", "begin with the subject", opening = true },
  { "is not done", "is not supported" },
  { "are not done", "are not supported" },
  { "%f[%a][Ss]o many %l+ as%f[%A]", "the same number of, N" },
  { "%f[%a]in falling order", "descending" },
  { "reaches no terminal", "is escaped before it is printed" },
  { "%f[%a]behind it%f[%A]", "after it" },
  { "%f[%a]behind them%f[%A]", "after them" },
  { "%f[%a]behind the%f[%A]", "after the" },
  { "%f[%a]behind which%f[%A]", "after which" },
  { "%f[%a]behind that%f[%A]", "after that" },
  { "%f[%a]behind each%f[%A]", "after each" },
  { "%f[%a]behind an?%f[%A]", "after a" },
  { "a second one pays", "2 threads help" },
  { "does not pay", "does not help" },
  { "joint function", "fused kernel" },
  { "what this machine can%f[%A]", "this machine's peak" },
  { "%f[%a][Tt]hose of%f[%A]", "say what they are", is_new = true },
  { "%s[Aa]lone%f[^%a:]", "only, by itself", is_new = true },
  { "%f[%a][AaSs][so] many%f[%A]", "the same number of, N", is_new = true },
}

-- Places whose lines have not been rewritten for the new rules yet.
local left = { "^tests/spec/", "^tests/bench/README" }

local function is_left(path)
  for _, pattern in ipairs(left) do if path:find(pattern) then return true end end
  return false
end

-- Appends the strings of a line that look like messages.
local function add_messages(line, parts)
  for text in line:gsub('\\"', "'"):gmatch('"([^"]*)"') do
    if text:find(" ", 1, true) then parts[#parts + 1] = text end
  end
end

-- Text of a line of Lua that is comment, and of strings in it that look like messages.
local function prose_of_lua(line)
  local parts = {}
  local comment = line:match("^%s*%-%-+%s?(.*)$") or line:match("%s%-%-%s(.*)$")
  if comment then parts[1] = comment end
  add_messages(line, parts)
  return parts
end

local function prose_of_c(line)
  local parts = {}
  local comment = line:match("/%*+%s?(.-)%s*%*/") or line:match("/%*+%s?(.*)$") or line:match("^%s*%*%s(.*)$")
  if comment then parts[1] = comment end
  add_messages(line, parts)
  return parts
end

local function prose_of_template(line)
  local parts = prose_of_c(line)
  local comment = line:match("^%s*#%s(.*)$")
  if comment then parts[#parts + 1] = comment end
  return parts
end

local function prose_of_shell(line)
  local comment = line:match("^%s*#%s(.*)$") or line:match("%s#%s(.*)$")
  return { comment }
end

local readers = { lua = prose_of_lua, c = prose_of_c, h = prose_of_c, ["in"] = prose_of_template, sh = prose_of_shell,
  mk = prose_of_shell, py = prose_of_shell }

-- True if a sentence that is no question begins at a place of a text: at its beginning, or after another's end.
local function begins_sentence(text, at, is_first)
  local before = text:sub(1, at - 1)
  if text:match("^[^.!]*%?", at) then return false end
  if before:match("^%s*$") then return is_first end
  return before:match("[.!?]%s+$") ~= nil
end

local found = 0

local function look(path, number, text, is_first)
  for _, rule in ipairs(rules) do
    local from = rule.is_new and is_left(path) and #text + 1 or 1
    while true do
      local at, last = text:find(rule[1], from)
      if not at then break end
      if not rule.opening or begins_sentence(text, at, is_first) then
        print(("%s:%d: %s (%s)"):format(path, number, text:sub(math.max(1, at - 20), last + 40), rule[2]))
        found = found + 1
      end
      from = last + 1
    end
  end
end

-- A README file: code between fences and in backquotes is none of its prose.
local function look_at_page(path, file)
  local number, is_code, is_open = 0, false, true
  for line in file:lines() do
    number = number + 1
    if line:match("^%s*```") then
      is_code = not is_code
    elseif not is_code then
      local text = line:gsub("`[^`]*`", "x")
      look(path, number, text:gsub("^[%s|*#>-]+", ""), is_open or line:match("^[|*#>-]") ~= nil)
      is_open = line:match("^%s*$") ~= nil or line:match("[.:!?]%s*$") ~= nil
    end
  end
end

local function look_at_code(path, file, reader)
  local number, is_open = 0, true
  for line in file:lines() do
    number = number + 1
    local parts = reader(line)
    for i, text in ipairs(parts) do look(path, number, text, i > 1 or is_open) end
    local comment = parts[1]
    is_open = not comment or comment:match("[.:!?]%s*$") ~= nil or comment:match("^%s*$") ~= nil
      or line:find("*/", 1, true) ~= nil
  end
end

-- Files that quote what is avoided.
local quotes = { ["tests/words.lua"] = true, ["tests/spec/whole/words_spec.lua"] = true }

local function paths()
  if #arg > 0 then return arg end
  local list = {}
  local handle = assert(io.popen("git ls-files gen runtime templates models README.md tests/README.md "
    .. "tests/bench/README.md .github 'tests/*.lua' 'tests/*.[ch]' 'tests/*.py' 'tests/*.sh' 'tests/*.mk'"))
  for path in handle:lines() do if not quotes[path] then list[#list + 1] = path end end
  handle:close()
  return list
end

for _, path in ipairs(paths()) do
  local ending = path:match("%.(%w+)$")
  local file = (ending == "md" or readers[ending]) and io.open(path)
  if file then
    if ending == "md" then look_at_page(path, file) else look_at_code(path, file, readers[ending]) end
    file:close()
  end
end
os.exit(found == 0)
