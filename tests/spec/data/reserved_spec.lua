-- reserved_spec: names that C, C++ and their libraries have taken: a header with all of them as
-- outputs compiles everywhere, none of this machine's is missing, and no model stands before a
-- system header.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local reserved = require("data.reserved")
local words = require("common.words")

local function names_of(...)
  local list = {}
  for _, each in ipairs { ... } do for name in pairs(each) do list[#list + 1] = name end end
  table.sort(list)
  return list
end

-- The lines that a shell command prints.
local function lines_of(command)
  local list, handle = {}, assert(io.popen(command))
  for line in handle:lines() do list[#list + 1] = line end
  handle:close()
  return list
end

-- A state with outputs of these names, at most 60 a model, after the last pass.
local function models(names)
  local list = {}
  for first = 1, #names, 60 do
    local output = {}
    for i = first, math.min(first + 59, #names) do output[#output + 1] = { stage = "relu", name = names[i] } end
    list[#list + 1] = helper.tiny({ name = "reserved" .. #list, output = output, d_ff = 0 })
  end
  return list
end

local function write(folder, name, text)
  files.write_all(folder, { { name = name, text = text } })
  return folder .. "/" .. name
end

-- Headers that a caller may have before the model's: they define macros.
local before = [[
#include <assert.h>
#include <complex.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
]]

describe("reserved words", function()
  after_each(helper.clean)

  it("as names of outputs compile, in C and C++ of any age, by either compiler, after other headers", function()
    local names = names_of(reserved.keywords, reserved.macros)
    assert.is_true(#names > 200)
    local folder, includes, uses = helper.folder(), {}, {}
    for _, state in ipairs(models(names)) do
      local name = state.spec.name
      write(folder, name .. ".h", helper.emitted(state, name .. ".h"))
      includes[#includes + 1] = ('#include "%s.h"\n'):format(name)
      for _, stage in ipairs(state.spec.output) do
        uses[#uses + 1] = ("  { %s_forward_out out; out.%s = 0; (void)out.%s; }\n"):format(name,
          reserved.member(stage.name), reserved.member(stage.name))
      end
    end
    local text = table.concat(includes) .. "int main(void) {\n" .. table.concat(uses) .. "  return 0;\n}\n"
    local dialects = {
      { "gcc", "-x c", { "gnu99", "c99", "c11", "gnu17", "c2x" } },
      { "clang", "-x c", { "c99", "gnu11", "c11", "c2x" } },
      { "g++", "-x c++", { "c++11", "gnu++17", "c++20", "c++2b" } }, { "clang++", "-x c++", { "c++11", "gnu++20" } },
    }
    for _, head in ipairs { "", before } do
      local file = write(folder, "use.c", "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n" .. head .. text)
      for _, dialect in ipairs(dialects) do
        for _, standard in ipairs(dialect[3]) do
          local said = lines_of(("%s %s -std=%s -Wall -Werror -fsyntax-only -I%s %s 2>&1"):format(dialect[1],
            dialect[2], standard, helper.shell(folder), helper.shell(file)))
          assert.same({}, said, dialect[1] .. " " .. standard)
        end
      end
    end
  end)

  it("become members with an underscore, which no other output has", function()
    local state = helper.tiny({ output = { { stage = "relu", name = "linux" }, { stage = "relu", name = "linux_" },
      { stage = "relu", name = "linux__" }, { stage = "relu", name = "errno" },
      { stage = "hidden", name = "plain" } } })
    local header = helper.emitted(state, "tiny.h")
    for _, line in ipairs {
      'float *linux_; /* [1][8][16] of the array "linux" */', 'float *linux__; /* [1][8][16] of the array "linux_" */',
      'float *linux___; /* [1][8][16] of the array "linux__" */',
      'float *errno_; /* [1][8][16] of the array "errno" */',
      "float *plain; /* [1][8][16] */", "#define TINY_OUT_LINUX 128 ", "#define TINY_OUT_ERRNO 128 ",
    } do
      assert.is_truthy(header:find(line, 1, true), line)
    end
    local model = helper.emitted(state, "tiny_model.c")
    for _, name in ipairs { "linux", "linux_", "errno" } do
      assert.is_truthy(model:find('{ "' .. name .. '",', 1, true), name)
    end
  end)

  it("keep the output's own name in files and on the program's line", function()
    local path = helper.file('return { name = "odd", seq = 4, d_model = 16, heads = 2, layers = 1, '
      .. 'kernels = "c", output = { hidden { name = "errno" }, relu { name = "typeof" } } }', "odd.lua")
    local folder = helper.folder()
    local code, _, errors = helper.command({ "build", path, "-o", folder })
    assert.equal(0, code, errors)
    local info = table.concat(lines_of(helper.shell(folder .. "/odd") .. " info"), "\n")
    assert.matches("%f[%w_]errno%f[^%w_]", info)
    assert.matches("%f[%w_]typeof%f[^%w_]", info)
    assert.is_nil(info:find("errno_", 1, true))
    local last = table.concat(lines_of(helper.shell(folder .. "/odd") .. " check"), "\n")
    assert.matches(", 0 failed", last)
  end)

  it("are all that this machine's compilers and headers define", function()
    local headers = {}
    for header in ("aio assert complex ctype dirent dlfcn errno fcntl fenv float inttypes iso646 limits locale math "
      .. "netdb pthread sched semaphore setjmp signal stdalign stdatomic stdbool stddef stdint stdio stdlib "
      .. "stdnoreturn string strings sys/mman sys/socket sys/stat sys/time sys/types sys/wait tgmath threads time "
      .. "uchar unistd wchar wctype"):gmatch("%S+") do
      headers[#headers + 1] = ("#include <%s.h>"):format(header)
    end
    local file = helper.file(table.concat(headers, "\n") .. "\n", "all.c")
    local missing = {}
    for _, call in ipairs { "gcc -D_GNU_SOURCE", "clang -D_GNU_SOURCE", "gcc -std=c99", "gcc -m32 -undef" } do
      for _, line in ipairs(lines_of(("%s -dM -E %s 2>/dev/null"):format(call, helper.shell(file)))) do
        local name = line:match("^#define ([a-z][a-z0-9_]*) ")
        if name and reserved.member(name) == name then missing[#missing + 1] = name end
      end
    end
    assert.same({}, missing)
  end)
end)

describe("a model's name", function()
  after_each(helper.clean)

  -- Folders of headers that belong to the compilers and to the C library.
  local function system_headers()
    local list = {}
    local function add(name, any)
      local bare = name:match("^([a-z][a-z0-9_]*)%.h$") or (any and name:match("^[a-z][a-z0-9_]*$"))
      if bare then list[#list + 1] = bare end
    end
    for _, path in ipairs(lines_of("dpkg -L libc6-dev:$(dpkg --print-architecture)")) do
      add(path:match("^/usr/include/([^/]+)$") or path:match("^/usr/include/x86_64[^/]*/([^/]+)$") or "")
    end
    local version = lines_of("g++ -dumpversion")[1]
    local own = { lines_of("gcc -print-file-name=include")[1], lines_of("clang -print-resource-dir")[1] .. "/include" }
    for _, folder in ipairs(own) do for name in lfs.dir(folder) do add(name) end end
    local plus = "/usr/include/c++/" .. version
    for name in lfs.dir(plus) do add(name, lfs.attributes(plus .. "/" .. name, "mode") == "file") end
    return list
  end

  it("is no header of the system's", function()
    local list, free = system_headers(), {}
    assert.is_true(#list > 300)
    for _, name in ipairs(list) do
      if not reserved.of_model(name) and not reserved.keywords[name] then free[#free + 1] = name end
    end
    assert.same({}, free)
  end)

  it("begins no function of the C library's", function()
    local free = {}
    for _, line in ipairs(lines_of("nm -D --defined-only $(gcc -print-file-name=libc.so.6)")) do
      local symbol = line:match("%S+$"):gsub("@.*", "")
      for _, ending in ipairs { "open", "open_memory", "create", "destroy", "close", "strerror", "forward" } do
        local name = symbol:match("^([a-z][a-z0-9_]*)_" .. ending .. "$")
        if name and not reserved.of_model(name) then free[#free + 1] = symbol end
      end
    end
    assert.same({}, free)
  end)

  it("leaves all system headers to who includes them beside the model's", function()
    local taken = words.sorted_keys(reserved.headers)
    for _, name in ipairs(taken) do
      assert.equal(1, #helper.refusals(helper.description({ name = name })), name)
    end
    assert.same({}, helper.refusals(helper.description({ name = "linux" })))
    assert.same({}, helper.refusals(helper.description({ name = "ops" })))
  end)
end)
