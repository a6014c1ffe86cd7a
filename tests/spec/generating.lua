-- generating.lua: for specs of models that write: builds two of them in a folder, runs their programs there, and reads
-- and writes what these take.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")

local generating = {}

local root = helper.absolute_root()
local shell = helper.shell
local places = { next = root .. "/tests/hf/texts/next", llama = root .. "/tests/generate/llama" }

-- The llama's context is long enough for an answer that Ctrl-C can end.
local builds = { next = "--chat-template=" .. shell(places.llama .. "/chat_template.jinja"), llama = "context=20000" }

--- Returns the functions of a spec that works in a folder of out/spec. build() builds the `wanted` names of `places`
--- there. more: words of the command line. It builds only programs; for names in the set `whole` also the libraries.
function generating.new(own, wanted, more, whole)
  local folder = root .. "/out/spec/" .. own

  local function run(command)
    files.make_folder(folder)
    files.write_all(folder, { { name = "command.sh", text = command .. "\n" } })
    local handle = assert(io.popen(("cd %s && bash command.sh 2>notes.txt"):format(shell(folder))))
    local said = handle:read("a")
    local _, how, code = handle:close()
    return how == "signal" and 128 + code or code, said, helper.read(folder .. "/notes.txt")
  end

  local function sh(command)
    local code, said, notes = run(command)
    if code ~= 0 then error(("%s\nexit %d:\n%s%s"):format(command, code, said:sub(-2000), notes:sub(-2000)), 2) end
    return said
  end

  -- The command line of a model's program.
  local function line(name, command, options)
    return ("%s/%s %s --weights %s %s"):format(name, name, command, shell(places[name]), options or "")
  end

  -- Compiles the clock by which every call takes as long as any other, so that guesses always pay. Returns the words
  -- before a command in the folder, whose own path may have spaces.
  local function even_clock()
    files.make_folder(folder)
    sh(("cc -std=c11 -Wall -Wextra -Werror -shared -fPIC -o clock.so %s/tests/c/host_clock.c"):format(shell(root)))
    return "env LD_PRELOAD=./clock.so "
  end

  -- Returns the status and the lines with which a command is refused, without the program's name.
  local function refusal(command)
    local code, said, notes = run(command)
    if said ~= "" then error(said) end
    return code, (notes:gsub("%f[%g]%l+: ", "", 1))
  end

  local function lines_of(text)
    local list = {}
    for each in text:gmatch("([^\n]*)\n") do list[#list + 1] = each end
    return list
  end

  local function goldens(name)
    local list = {}
    for i, each in ipairs(lines_of(helper.read(root .. "/tests/generate/" .. name))) do
      list[i] = assert(dkjson.decode(each))
    end
    return list
  end

  -- Writes an .npy file of int32 of a shape.
  local function write_ids(name, shape, ids)
    local head = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%s), }"):format(shape)
    head = head .. (" "):rep(-(10 + #head + 1) % 64) .. "\n"
    local text = "\x93NUMPY\1\0" .. string.pack("<I2", #head) .. head
    for _, id in ipairs(ids) do text = text .. string.pack("<i4", id) end
    files.write_all(folder, { { name = name, text = text } })
  end

  -- The numbers of an .npy file of int64, and its shape as text.
  local function read_int64(name)
    local text = helper.read(folder .. "/" .. name)
    local at = 11 + string.unpack("<I2", text, 9)
    assert(text:sub(1, at):find("<i8", 1, true))
    local list = {}
    for i = at, #text - 7, 8 do list[#list + 1] = string.unpack("<i8", text, i) end
    return list, text:match("'shape': %(([^)]*)%)")
  end

  -- Builds only the program of a model into a folder: one that neither checks nor times itself.
  local function build_program(path, name, words)
    local said = sh(("rm -rf %s; lua5.4 %s %s %s --text --answers %s >log 2>&1 || cat log"):format(name,
      shell(root .. "/tests/program.lua"), shell(path), name, (words:gsub("%-%-chat%-template=", "--chat="))))
    if said ~= "" then error(said) end
  end

  local function build()
    files.make_folder(folder)
    for _, each in ipairs(wanted) do
      local words = ("sequences=3 chunk=16 kernels=c %s %s"):format(builds[each], more or "")
      if whole and whole[each] then
        local said = sh(("%s build %s %s -o %s >log 2>&1 || cat log"):format(shell(root .. "/gen/attn2c"),
          shell(places[each]), words, each))
        if said ~= "" then error(said) end
      else
        build_program(places[each], each, words)
      end
    end
  end

  return { root = root, folder = folder, places = places, run = run, sh = sh, line = line, refusal = refusal,
    lines_of = lines_of, goldens = goldens, write_ids = write_ids, read_int64 = read_int64, build = build,
    build_program = build_program, even_clock = even_clock }
end

return generating
