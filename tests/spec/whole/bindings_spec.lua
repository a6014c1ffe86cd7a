-- bindings_spec.lua: the use of a model from other programs: the examples of models/examples in C, C++, Python and Rust
-- against the program's own answers, the Python module (tests/bindings), the CMake package file.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local here = root .. "/out/spec/bindings"
local examples = root .. "/models/examples/"
local weights = root .. "/models/speaker/speaker.safetensors"
local BATCH = 32
local FEATURES = BATCH * 128 * 40 * 4 -- bytes
local ODD = [[return { name = "numpy", input = qkv(), inputs = { query = "lambda", key = "double", value = "out" },
  seq = 5, batch = 3, d_model = 3, heads = 1, layers = 1, projections = false, scale = false,
  residual = false, norm = "none", d_ff = 0, output = { hidden { name = "class" } } }]]

local try, runs = helper.runner(here)

local function build_with(environment, ...)
  return runs { "env", environment,
    "XDG_CACHE_HOME=" .. (os.getenv("XDG_CACHE_HOME") or root .. "/out/spec/cache"),
    "lua5.4", root .. "/gen/attn2c", "build", ... }
end

local function build(...) return build_with("ATTN2C_CFLAGS=" .. helper.quick, ...) end

-- Builds the model that examples call with many rows.
local function build_speaker(...) return build_with(helper.optimised, root .. "/models/speaker.lua", ...) end

-- A script with the modules of these folders; any warning fails.
local function python(folders, ...)
  return runs { "env", "PYTHONPATH=" .. root .. "/tests/bindings:" .. folders, "PYTHONDONTWRITEBYTECODE=1",
    "/usr/bin/python3", "-W", "error", ... }
end

local function values(name, form)
  local text, list = helper.read(here .. "/" .. name), {}
  for i = 11 + string.unpack("<I2", text, 9), #text - 3, 4 do list[#list + 1] = string.unpack(form, text, i) end
  return list
end

-- Returns the lines that each example prints, from the program's answers.
local function expected_lines()
  local speakers, logits, lines = values("speaker.npy", "<i4"), values("logits.npy", "<f"), {}
  local width = #logits // #speakers
  for i = 1, BATCH do
    lines[i] = ("%d %.6f\n"):format(speakers[i], math.max(table.unpack(logits, (i - 1) * width + 1, i * width)))
  end
  return table.concat(lines)
end

local expected, said_of_sequence

setup(function()
  if lfs.attributes(here, "mode") then files.remove_folder(here) end
  files.make_folder(here)
  build_speaker("-o", "speaker")
  runs { "speaker/speaker", "run", "--weights", weights, "--input",
    "features=" .. root .. "/models/speaker/segments.npy", "--output", "speaker=speaker.npy", "--output",
    "logits=logits.npy" }
  local text = helper.read(root .. "/models/speaker/segments.npy")
  local at = 11 + string.unpack("<I2", text, 9)
  helper.write(here .. "/segments", text:sub(at, at + FEATURES - 1))
  helper.write(here .. "/short", text:sub(at, at + FEATURES - 5))
  expected = expected_lines()
  said_of_sequence = build(root .. "/tests/hf/texts/sequence", "-o", "sequence")
  helper.write(here .. "/odd.lua", ODD)
  build("odd.lua", "-o", "odd")
end)

teardown(function() files.remove_folder(here) end)

local function compile(...)
  assert.equal("", runs { ... })
end

-- A built example answers as the program does, and refuses what is not there.
local function answers(...)
  local words = { ... }
  local function with(first, second)
    local list = { table.unpack(words) }
    list[#list + 1], list[#list + 2] = first, second
    return list
  end
  helper.same_text(expected, runs(with(weights, "segments")), words[#words])
  for _, wrong in ipairs { with("nowhere", "segments"), with(weights, "nowhere"), with(weights, "short") } do
    local code, output, errors = try(wrong)
    assert.is_true(code > 0, code)
    assert.equal("", output)
    assert.is_true(#errors > 0)
  end
end

local linked = { "-Ispeaker", "-Lspeaker", "-lspeaker", "-lm", "-Wl,-rpath," .. here .. "/speaker" }
local warnings = { "-Wall", "-Wextra", "-Wpedantic", "-Werror" }

describe("the example in", function()
  it("C", function()
    for _, compiler in ipairs { "gcc", "clang" } do
      compile(compiler, "-std=c11", warnings[1], warnings[2], warnings[3], warnings[4], examples .. "speaker.c", "-o",
        "from_c", table.unpack(linked))
      answers("./from_c")
    end
  end)

  it("C++", function()
    for _, compiler in ipairs { "g++", "clang++" } do
      compile(compiler, "-std=c++11", warnings[1], warnings[2], warnings[3], warnings[4], examples .. "speaker.cpp",
        "-o", "from_cpp", table.unpack(linked))
      answers("./from_cpp")
    end
  end)

  it("Rust", function()
    compile("/usr/bin/rustc", "--edition", "2021", "-D", "warnings", "-L", "speaker", "-C",
      "link-arg=-Wl,-rpath," .. here .. "/speaker", examples .. "speaker.rs", "-o", "from_rust")
    answers("./from_rust")
  end)

  it("Python", function()
    answers("env", "PYTHONPATH=" .. here .. "/speaker", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3", "-W", "error",
      examples .. "speaker_example.py")
  end)
end)

describe("the package file of CMake", function()
  it("gives the shared and the static library", function()
    runs { "cmake", "-S", examples, "-B", "made", "-DCMAKE_PREFIX_PATH=" .. here .. "/speaker" }
    runs { "cmake", "--build", "made" }
    for _, name in ipairs { "speaker_c", "speaker_static", "speaker_cpp" } do answers("made/" .. name) end
    assert.is_truthy(runs({ "ldd", "made/speaker_c" }):find("libspeaker.so", 1, true))
    assert.is_nil(runs({ "ldd", "made/speaker_static" }):find("libspeaker.so", 1, true))
  end)

  it("makes a program that answers texts as the model's own does", function()
    build(root .. "/models/language", "-o", "language")
    runs { "cmake", "-S", examples, "-B", "spoken", "-DCMAKE_PREFIX_PATH=" .. here .. "/language", "-DCMAKE_C_FLAGS="
      .. table.concat(warnings, " ") }
    runs { "cmake", "--build", "spoken" }
    local texts = { "Kde je n\u{E1}dra\u{17E}\u{ED}?", "Wo ist der Bahnhof?", "" }
    local folder, list = root .. "/models/language", { "language/language", "run", "--weights",
      root .. "/models/language" }
    for _, text in ipairs(texts) do list[#list + 1], list[#list + 2] = "--text-string", text end
    assert.equal(runs(list), runs { "spoken/language_c", folder, table.unpack(texts) })
    local code, output, errors = try { "spoken/language_c", "nowhere", "x" }
    assert.equal(4, code)
    assert.equal("nowhere: cannot be opened: No such file or directory\n", output .. errors)
    code, output, errors = try { "cmake", "-S", examples, "-B", "none", "-DCMAKE_PREFIX_PATH=" .. here .. "/none" }
    assert.equal(1, code, output)
    assert.is_truthy(errors:find("no model: -DCMAKE_PREFIX_PATH=FOLDER", 1, true), errors)
  end)

  it("knows its version", function()
    local version = require("common.version").generator
    local series = version:match("^%d+%.%d+")
    local fits = { [""] = true, [version] = true, [version .. " EXACT"] = true, [series] = true, ["0.1"] = false,
      ["0.0.9"] = false, ["99.0"] = false, [series .. ".999"] = false }
    local lines = { "cmake_minimum_required(VERSION 3.13)", "project(version C)" }
    for wanted in pairs(fits) do
      lines[#lines + 1] = ("unset(speaker_DIR CACHE)\nfind_package(speaker %s QUIET)\nif(speaker_FOUND)\n"
        .. 'message("takes (%s)")\nendif()'):format(wanted, wanted)
    end
    lines[#lines + 1] = "find_package(speaker REQUIRED)\n"
    files.make_folder(here .. "/version")
    helper.write(here .. "/version/CMakeLists.txt", table.concat(lines, "\n"))
    local code, _, errors = try { "cmake", "-S", "version", "-B", "version/made", "-DCMAKE_PREFIX_PATH=" .. here
      .. "/speaker" }
    assert.equal(0, code, errors)
    for wanted, does_fit in pairs(fits) do
      assert.equal(does_fit, errors:find(("takes (%s)\n"):format(wanted), 1, true) ~= nil, wanted .. "\n" .. errors)
    end
  end)

  it("names what text needs", function()
    files.make_folder(here .. "/text")
    helper.write(here .. "/text/CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(text C)\n"
      .. "find_package(sequence REQUIRED)\nadd_executable(a a.c)\ntarget_link_libraries(a sequence::sequence_static)\n")
    helper.write(here .. "/text/a.c", '#include <sequence.h>\nint main(void) { sequence_text *text;\n'
      .. "  int status = sequence_text_open(&text, NULL, 0);\n  sequence_text_close(text);\n  return status; }\n")
    runs { "cmake", "-S", "text", "-B", "text/made", "-DCMAKE_PREFIX_PATH=" .. here .. "/sequence" }
    runs { "cmake", "--build", "text/made" }
    runs { "text/made/a" }
  end)
end)

describe("the Python module", function()
  it("takes and gives arrays, and says what does not fit", function()
    python(here .. "/speaker", root .. "/tests/bindings/arrays.py", weights,
      root .. "/models/speaker/segments.npy", "logits.npy", "speaker.npy")
  end)

  it("takes arrays of its size alone, and names that are Python's own", function()
    python(here .. "/odd", root .. "/tests/bindings/sizes.py", here .. "/odd")
  end)

  it("takes text", function()
    local line = said_of_sequence:match("\ntry: (sequence/sequence run [^\n]*)\n$")
    assert.matches("^[^\n]*\t0%.%d+\n$", runs { "sh", "-c", line })
    python(here .. "/sequence", root .. "/tests/bindings/text.py", here .. "/sequence",
      root .. "/tests/hf/texts/sequence")
  end)

  it("opens weights that are linked in", function()
    build_speaker("-o", "whole", "--embed", weights)
    local text = python(here .. "/whole", "-c", "import numpy, speaker\n"
      .. "features = numpy.fromfile('segments', 'float32').reshape(32, 128, 40)\n"
      .. "for model in speaker.Model(), speaker.Model(None), speaker.Model('" .. weights .. "'):\n"
      .. "  with model: print(*model.forward(features=features)['speaker'])\n")
    local line = table.concat(values("speaker.npy", "<i4"), " ", 1, BATCH) .. "\n"
    assert.equal(line:rep(3), text)
  end)

  it("has a signature with types, and no trace of text where there is none", function()
    local text = python(here .. "/speaker", "-c", "import inspect, speaker\n"
      .. "print(inspect.signature(speaker.Model.forward).parameters.keys())\n"
      .. "print(speaker.Model.forward.__annotations__['features'] is not None)\n")
    assert.equal("odict_keys(['self', 'features', 'out'])\nTrue\n", text)
    assert.is_nil(helper.read(here .. "/speaker/speaker.py"):lower():find("text", 1, true))
  end)

  it("checks what goes to the library, and owns its memory once", function()
    python(here .. "/speaker", root .. "/tests/bindings/owners.py", "speaker", weights)
    python(here .. "/sequence", root .. "/tests/bindings/owners.py", "sequence", root .. "/tests/hf/texts/sequence")
  end)

  it("has hints that mean something, of each public function", function()
    local folders = table.concat({ here .. "/speaker", here .. "/odd", here .. "/sequence" }, ":")
    local model = "Model.__enter__ Model.__exit__ Model.__init__ Model.close %sModel.from_memory version\n"
    assert.equal(("speaker " .. model .. "numpy_ " .. model .. "sequence " .. model):format("Model.forward ",
      "Model.forward ", "Model.decode Model.encode Model.forward Model.forward_text ")
      :gsub("(Model.from_memory )(version\n)$", "%1Pipeline.__enter__ Pipeline.__exit__ Pipeline.__init__ "
        .. "Pipeline.classify Pipeline.close Tokenizer.__enter__ Tokenizer.__exit__ Tokenizer.__init__ "
        .. "Tokenizer.close Tokenizer.decode Tokenizer.encode classify %2"),
      python(folders, root .. "/tests/bindings/hints.py", "speaker", "numpy_", "sequence"))
  end)

  it("has hints that a checker of types takes, and by which it refuses", function()
    local function mypy(...)
      return try { "env", "MYPYPATH=" .. here .. "/speaker", "mypy", "--strict", "--cache-dir", helper.mypy_cache,
        ... }
    end
    local code, output = mypy("speaker/speaker.py", "odd/numpy_.py", "sequence/sequence.py",
      root .. "/tests/bindings/uses.py")
    assert.equal("Success: no issues found in 4 source files\n", output)
    assert.equal(0, code)
    code, output = mypy(root .. "/tests/bindings/misuses.py")
    local lines = {}
    for line in output:gmatch("misuses%.py:(%d+): error: ") do lines[#lines + 1] = line end
    assert.equal("6 7 8 9 10 11", table.concat(lines, " "), output)
    assert.equal(1, code)
  end)
end)
