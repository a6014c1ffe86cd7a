-- pictures_spec.lua: pictures into models: each folder of tests/hf/pictures is built, given PNG and JPEG files, and
-- compared with what transformers' processor and model make of them; then how answers come, what is refused, the
-- functions of the library, and that other models have no trace of it.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")

local root = helper.absolute_root()
local folder = root .. "/out/spec/pictures"
local goldens = root .. "/tests/hf/pictures"
local pictures = root .. "/tests/pictures/files"
local shell = helper.shell

local names = { "cmyk.jpg", "exif6.jpg", "grey16.png", "one_pixel.png", "palette4.png", "progressive.jpg",
  "rgb420.jpg", "rgba8.png" }

local function sh(command) return helper.succeeds(command, folder) end

local function fails(command)
  local code, said = helper.run(command, folder)
  return code, said
end

-- Returns the float32 numbers of an .npy file.
local function floats(path)
  local text = helper.read(path)
  local at = 11 + string.unpack("<I2", text, 9)
  assert(text:sub(1, at):find("'<f4'", 1, true), path)
  local list = {}
  for i = at, #text - 3, 4 do list[#list + 1] = string.unpack("<f", text, i) end
  return list
end

local function apart(expected, got)
  local largest = #expected == #got and 0 or math.huge
  for i, want in ipairs(expected) do
    local difference = math.abs(want - (got[i] or 0)) / math.max(1, math.abs(want))
    if difference ~= difference then difference = math.huge end
    largest = math.max(largest, difference)
  end
  return largest
end

-- For `make test-long`: other folders here resize positions by the same rules, and take the same processors.
local is_long = require("common.words").set { "deit_smaller", "registers_larger", "siglip_image" }

local cases = {}
for name in lfs.dir(goldens) do
  if name:sub(1, 1) ~= "." and (helper.is_long or not is_long[name]) then cases[#cases + 1] = name end
end
table.sort(cases)
assert(#cases > 0, "no goldens in " .. goldens)

-- Returns what builds a case's program.
local function program(case)
  local has_module = case == "clip_image" or case == "vit_wider" -- which is asked, too, one picture at a time
  local words = { has_module and "--library" or "batch=3" }
  local more = files.read(("%s/%s/words.txt"):format(goldens, case)) or ""
  for word in more:gmatch("%S+") do words[#words + 1] = word end
  return { name = case, path = goldens .. "/" .. case, words = words }
end

-- The words that run a case's program on all pictures.
local function run_words(case)
  local words = { ("%s/%s run --weights %s"):format(case, case, shell(goldens .. "/" .. case)) }
  for _, name in ipairs(names) do words[#words + 1] = "--image " .. shell(pictures .. "/" .. name) end
  return table.concat(words, " ")
end

describe("a picture", function()
  local built

  setup(function()
    os.execute("rm -rf " .. shell(folder))
    files.make_folder(folder)
    local list = {}
    for i, case in ipairs(cases) do list[i] = program(case) end
    dofile(root .. "/tests/cases.lua").programs(folder, list)
    built = sh(("cp -r %s . && lua5.4 %s build vit_labels -o whole 2>&1"):format(
      shell(goldens .. "/vit_labels"), shell(root .. "/gen/attn2c")))
  end)

  for _, case in ipairs(cases) do
    it("becomes what transformers' processor makes of it: " .. case, function()
      local log = files.read(folder .. "/" .. case .. ".log") or ""
      assert.is_truthy(files.read(("%s/%s/%s"):format(folder, case, case)), log)
      local words, outputs = { run_words(case) }, {}
      for file in lfs.dir(goldens .. "/" .. case) do
        local output = file:match("^out_(.*)%.npy$")
        if output then
          outputs[#outputs + 1] = output
          words[#words + 1] = ("--output %s=%s/%s.npy"):format(output, case, output)
        end
      end
      assert.is_true(#outputs > 1)
      assert.equal("", sh(table.concat(words, " ")))
      for _, output in ipairs(outputs) do
        local expected = floats(("%s/%s/out_%s.npy"):format(goldens, case, output))
        local got = floats(("%s/%s/%s.npy"):format(folder, case, output))
        -- DINOv3's pixels keep their fractions, and torch sums them as floats.
        local pixels = case:find("^dinov3") and 1e-5 or 0
        local allowed = output == "pixel_values" and pixels or output == "logits" and 1e-4 or 1e-5
        local found = apart(expected, got)
        assert.is_true(found <= allowed, ("%s: %g apart"):format(output, found))
      end
    end)
  end

  it("is taken by the functions of Python modules", function()
    assert.equal("", helper.asks_tasks("pictures", folder, goldens))
  end)

  it("is in the line that `build` prints to try", function()
    local line = built:match("\ntry: ([^\n]*)\n$")
    assert.equal("whole/vit_labels run --weights vit_labels --image picture.jpg", line)
    sh(("cp %s picture.jpg"):format(shell(pictures .. "/rgb420.jpg")))
    assert.matches("^%S[^\t\n]*\t0%.%d%d%d%d\n$", sh(line))
  end)

  it("is answered with labels", function()
    local run = "whole/vit_labels run --weights vit_labels --image "
    local one = sh(run .. shell(pictures .. "/rgb420.jpg"))
    assert.matches("^%S[^\t\n]*\t0%.%d%d%d%d\n$", one)
    local all = sh(run .. shell(pictures) .. " --top 3")
    local count = 0
    for line in all:gmatch("[^\n]+") do
      count = count + 1
      local path, labels = line:match("^([^\t]+)\t(.*)$")
      assert.is_truthy(path:find(pictures, 1, true) and path:match("%.[pj][np]g$"), line)
      for _, label in ipairs { "cat", 'a "dog"', "bïrd\\n" } do assert.is_truthy(labels:find(label, 1, true), line) end
      if path:find("rgb420", 1, true) then assert.equal(one:sub(1, -2), labels:sub(1, #one - 1)) end
    end
    assert.is_true(count > 50)
    local json = sh(("cat %s | %s - --format jsonl"):format(shell(pictures .. "/rgb420.jpg"), run))
    assert.matches('^{"image":"standard input","label":"[^\n]*","score":0%.%d+}\n$', json)
    assert.equal(one:match("^[^\t]*"), (json:match('"label":"(.-)","'):gsub('\\"', '"')))
    assert.matches('"labels":%[{"label":', sh(run .. shell(pictures .. "/rgb420.jpg") .. " --format jsonl --top 2"))
  end)

  it("is the last that is answered after Ctrl-C, in a whole line", function()
    -- Long names fill the output's buffer soon.
    sh("rm -rf many && mkdir many")
    for i = 1000, 2500 do
      assert(lfs.link(pictures .. "/rgba8.png", ("%s/many/%s%d.png"):format(folder, ("n"):rep(200), i), true))
    end
    for signal, code in pairs { INT = 130, TERM = helper.is_long and 143 or nil } do
      local script = [[rm -f out; set -m
vit_labels/vit_labels run --weights %s --image many >out 2>notes &
for i in $(seq 600); do test -s out && break; sleep 0.05; done
kill -%s $!; wait $!; echo code=$?]]
      local said = sh("bash -c " .. shell(script:format(shell(goldens .. "/vit_labels"), signal)))
      assert.equal(code, tonumber(said:match("code=(%d+)\n")), said)
      assert.equal("vit_labels: interrupted\n", helper.read(folder .. "/notes"))
      assert.matches("\n[^\n]+%.png\t[^\n\t]+\t[%d.]+\n$", helper.read(folder .. "/out"))
    end
  end)

  it("is answered with labels that are true or false each", function()
    local said = sh("vit_plain/vit_plain run --weights " .. shell(goldens .. "/vit_plain") .. " --format jsonl --image "
      .. shell(pictures .. "/rgb420.jpg"))
    assert.matches('"labels":%[', said)
  end)

  it("is answered with an embedding, and compared", function()
    local run = "vit_old/vit_old run --weights " .. shell(goldens .. "/vit_old") .. " --image "
      .. shell(pictures .. "/rgb420.jpg") .. " --image " .. shell(pictures .. "/rgb444.jpg")
    local similar = sh(run .. " --similar")
    assert.matches("^ 1%.0000\t 0%.9%d%d%d\n 0%.9%d%d%d\t 1%.0000\n$", similar)
    sh(run .. " --format npy >embedding.npy && " .. run .. " --output pooler_output=pooled.npy")
    assert.equal(helper.read(folder .. "/embedding.npy"), helper.read(folder .. "/pooled.npy"))
    local _, tabs = sh(run):gsub("\t", "")
    assert.equal(2 * 24, tabs) -- a name and 24 numbers
  end)

  it("is compared with embeddings, as of texts by the other tower", function()
    local run = "clip_image/clip_image run --weights " .. shell(goldens .. "/clip_image") .. " --image "
    local place = shell(goldens .. "/clip_image/out_image_embeds.npy") -- of the pictures themselves, in their order
    local first = run .. shell(pictures .. "/" .. names[2])
    assert.matches("^2\t1%.0000\t%d\t[-0-9.]+\n$", sh(first .. " --against " .. place .. " --top 2"))
    local _, tabs = sh(first .. " --against " .. place):gsub("\t", "")
    assert.equal(2 * 5 - 1, tabs)
    assert.matches('"similar":%[{"number":2,"cosine":%S+},', sh(first .. " --format jsonl --against " .. place))
    sh(first .. " --image " .. shell(pictures .. "/" .. names[1]) .. " --format npy --against " .. place
      .. " >cosines.npy")
    local cosines = floats(folder .. "/cosines.npy")
    assert.equal(16, #cosines)
    assert.is_true(math.abs(cosines[2] - 1) < 1e-5 and math.abs(cosines[9] - 1) < 1e-5)
    local code, said = fails(first .. " --against " .. shell(goldens .. "/clip_image/out_pixel_values.npy"))
    assert.equal(3, code)
    assert.matches("float32 %[count%]%[24%] is expected\n$", said)
    assert.equal(2, (fails("whole/vit_labels run --weights vit_labels --image x.png --against x.npy")))
  end)

  it("that is damaged, missing or no picture is refused in one line", function()
    local run = "whole/vit_labels run --weights vit_labels --image "
    sh(("mkdir -p bad none && head -c 400 %s >bad/cut.jpg"):format(shell(pictures .. "/rgb420.jpg")))
    sh("echo text >bad/text.png && printf GIF89a >bad/x.gif")
    for _, each in ipairs {
      { "bad/cut.jpg", 3, "vit_labels: bad/cut.jpg: is damaged: the file ends too early\n" },
      { "bad/text.png", 3, "vit_labels: bad/text.png: is no picture; PNG and JPEG files are supported\n" },
      { "bad/x.gif", 3, "vit_labels: bad/x.gif: is a GIF file; PNG and JPEG files are supported\n" },
      { "- <bad/text.png", 3, "vit_labels: standard input: is no picture; PNG and JPEG files are supported\n" },
      { "none", 3, "vit_labels: --image none: no file of this folder ends in .png, .jpg or .jpeg\n" },
      { "nothing.png", 4, "vit_labels: --image nothing.png: No such file or directory\n" },
      { "/dev/null", 4, "vit_labels: /dev/null: is not a regular file\n" },
      { "- --image -", 2, "vit_labels: --image -: given twice, but the standard input has one picture\n" },
      { "x.png --text a", 2, "vit_labels: --text: this program has no model of texts beside the one of pictures\n" },
      { "x.png --similar", 2, "vit_labels: --similar: goes with models that give an embedding\n" },
      { "x.png --input pixel_values=x.npy", 2,
        "vit_labels: --input: does not go with --image, which fills the input\n" },
      { shell(pictures .. "/rgb420.jpg") .. " --output logits=" .. shell(pictures .. "/rgb420.jpg"), 2, "" },
      { "x.png --output pixels=x.npy", 4, "" },
    } do
      local code, said = fails(run .. each[1])
      assert.equal(each[2], code, each[1] .. ": " .. said)
      if each[3] ~= "" then assert.equal(each[3], said) end
    end
    -- The pictures before a wrong one are answered.
    local code, said = fails(run .. shell(pictures .. "/rgb420.jpg") .. " --image bad/cut.jpg")
    assert.equal(3, code)
    assert.matches("rgb420%.jpg\t[^\n]*\nvit_labels: bad/cut%.jpg: is damaged", said)
  end)

  it("is prepared by the library's function, in C and Python", function()
    helper.write(folder .. "/use.py", ([==[
import sys, numpy as np
sys.path.append("whole")
import vit_labels
def pixels(name):
    data = open(%q + "/" + name + ".ppm", "rb").read()
    head, rest = data.split(b"\n", 1)
    width, height = map(int, head.split()[1:3])
    return np.frombuffer(rest, np.uint8).reshape(height, width, 3)
made = vit_labels.Model.images([pixels(name) for name in sys.argv[1:]])
assert made.dtype == np.float32 and (made == np.load(%q)).all()
with vit_labels.Model("vit_labels") as model:
    print(model.forward(pixel_values=made[:1])["logits"].shape)
for wrong in (np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros((0, 4, 3), np.uint8)):
    try:
        vit_labels.Model.images([wrong])
    except ValueError as error:
        assert "picture 0: is" in str(error), error
    else:
        raise AssertionError(wrong.shape)
]==]):format(pictures, goldens .. "/vit_labels/out_pixel_values.npy"))
    assert.equal("(1, 3)\n", sh("/usr/bin/python3 use.py " .. table.concat(names, " ")))
    local libraries = sh("ldd whole/libvit_labels.so")
    assert.is_nil(libraries:find("libpng", 1, true) or libraries:find("libjpeg", 1, true))
    helper.write(folder .. "/use.c", [[
#include "vit_labels.h"
int main(void) {
  static const uint8_t pixel[3] = {255, 0, 255};
  static float image[3 * 16 * 16];
  if (vit_labels_picture(pixel, 0, 1, image) != 2 || vit_labels_picture(pixel, 1, 1, 0) != 2) return 1;
  return vit_labels_picture(pixel, 1, 1, image) || image[0] != 1 || image[256] != -1;
}
]])
    sh("gcc -std=c99 -Wall -Wextra -Werror use.c -Iwhole whole/libvit_labels.a -lpthread -lm -o use && ./use")
  end)

  it("has its libraries in the bill of materials, and in a static program, with their licences", function()
    local text = helper.read(folder .. "/whole/vit_labels.spdx.json")
    for _, name in ipairs { "libpng", "libjpeg-turbo", "zlib" } do
      assert.is_truthy(text:find('"name":"' .. name .. '"', 1, true) or text:find('"name": "' .. name .. '"', 1, true),
        name)
    end
    sh(("lua5.4 %s build vit_labels kernels=c --static --embed=f32 -o static 2>&1"):format(
      shell(root .. "/gen/attn2c")))
    assert.equal(sh("whole/vit_labels run --weights vit_labels --image " .. shell(pictures .. "/cmyk.jpg")),
      sh("static/vit_labels run --image " .. shell(pictures .. "/cmyk.jpg")))
    local code = helper.run("ldd static/vit_labels", folder)
    assert.is_true(code ~= 0)
    local licences = sh("static/vit_labels info --licenses")
    for _, word in ipairs { "PNG Reference Library", "Independent JPEG Group", "Mark Adler" } do
      assert.is_truthy(licences:find(word, 1, true), word)
    end
    assert.is_nil(sh("whole/vit_labels info --licenses"):find("PNG", 1, true))
  end)

  it("leaves no trace in a model without the key", function()
    sh(("lua5.4 %s %s plain pictures=false 2>&1"):format(shell(root .. "/tests/program.lua"),
      shell(goldens .. "/vit_labels")))
    local code, said = fails("plain/vit_labels run --weights vit_labels --image x.png")
    assert.equal(2, code)
    assert.equal("vit_labels: run: this model takes no pictures: its description has no key `pictures`\n", said)
    assert.is_nil(sh("ldd plain/vit_labels"):find("libpng", 1, true))
    assert.is_nil(sh("nm plain/vit_labels"):find("picture_prepare", 1, true))
    assert.is_nil(sh("plain/vit_labels run --help"):find("PNG or JPEG file;", 1, true))
  end)
end)
