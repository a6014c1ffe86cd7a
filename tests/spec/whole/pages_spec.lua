-- pages_spec: models that read where words are on a page, some with the page's picture (tests/hf/pages): words, boxes
-- and pictures give what transformers makes of them, in the program, its server and Python; faults have one line and
-- their status.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")
local files = require("common.files")
local lfs = require("lfs")
local libuv = require("common.libuv")
local serving = require("tests.spec.serving")
local version = require("common.version")

local root = helper.absolute_root()
local folder = root .. "/out/spec/pages"
local goldens = root .. "/tests/hf/pages"
local NEAR = 2e-5 -- of probabilities

local say = require("tests.say").of(folder)
local lines_of = say.lines_of

-- "page" has words, boxes and a picture; it is the one that `make test` builds.
local names = helper.is_long and { "page", "form", "question", "asked" } or { "page" }

local servers = {}

local function of(name, file) return ("%s/%s/%s"):format(goldens, name, file) end

local function line(name, more)
  return ("%s/%s run --weights %s/%s %s"):format(name, name, helper.shell(goldens), name, more)
end

-- Returns the options that give all texts of a folder.
local function options_of(name)
  local pairs_file = helper.read(of(name, "texts.txt")):find("\t") ~= nil
  local list = { pairs_file and "--stride 5 --text-pair - --text -" or "--text " .. of(name, "texts.txt"), "--boxes",
    of(name, "boxes.txt") }
  for _, picture in ipairs(lfs.attributes(of(name, "pictures.txt")) and lines_of(helper.read(of(name, "pictures.txt")))
    or {}) do
    list[#list + 1] = ("--image %s/tests/pictures/files/%s"):format(root, picture)
  end
  if pairs_file then list[#list + 1] = "<" .. of(name, "texts.txt") end
  return table.concat(list, " ")
end

local function compare(want, got)
  if type(want) == "number" and want % 1 ~= 0 then
    assert.is_true(math.abs(want - got) <= NEAR, ("%g, not %g"):format(got, want))
  elseif type(want) ~= "table" then
    assert.equal(want, got)
  else
    for key, value in pairs(want) do compare(value, got[key]) end
    for key in pairs(got) do assert.is_not_nil(want[key], key) end
  end
end

setup(function()
  local list = {}
  files.make_folder(folder)
  for _, name in ipairs(names) do
    local library = ("lib%s.so.%d"):format(name, version.abi)
    list[#list + 1] = { name = name, path = goldens .. "/" .. name, words = { "--text", "--serve" } }
    list[#list + 1] = { name = "of_" .. name, path = goldens .. "/" .. name,
      words = { "--text", "name=" .. name, "--only=" .. library } }
  end
  dofile(root .. "/tests/cases.lua").programs(folder, list)
  files.make_folder(folder .. "/built")
  for _, name in ipairs(names) do
    local library = ("%s/of_%s/lib%s.so"):format(folder, name, name)
    libuv.fs_symlink(library:match("[^/]*$") .. "." .. version.abi, library)
    libuv.fs_symlink(folder .. "/of_" .. name, folder .. "/built/" .. name)
    servers[name] = serving.start(folder, line(name, ""):gsub(" run ", " serve "), "--port 0 --log none")
  end
  helper.write(folder .. "/boxes", "1 2 3 4\n")
  helper.write(folder .. "/nul", "1 2 3 4\0 5\n")
  helper.write(folder .. "/picture", helper.read(root .. "/tests/pictures/files/rgb420.jpg"))
end)

teardown(function()
  for _, server in pairs(servers) do server:stop() end
  files.remove_folder(folder)
end)

-- Returns the pages of a folder as a server takes them.
local function asked_of(name)
  local list = lines_of(helper.read(of(name, "texts.txt")))
  local boxes = lines_of(helper.read(of(name, "boxes.txt")))
  local pictures = lfs.attributes(of(name, "pictures.txt")) and lines_of(helper.read(of(name, "pictures.txt"))) or {}
  for i, text in ipairs(list) do
    local sides = setmetatable({}, { __jsontype = "array" })
    for side in boxes[i]:gmatch("%d+") do sides[#sides + 1] = tonumber(side) end
    local first, second = text:match("^(.*)\t(.*)$")
    local file = pictures[i] and ("%s/tests/pictures/files/%s"):format(root, pictures[i])
    list[i] = { text = first and { first, second } or text, boxes = sides,
      image = file and "data:image/png;base64," .. say.output_of("base64 -w0 " .. file) }
  end
  return list
end

describe("a model of words on a page", function()
  for _, name in ipairs(names) do
    it("gives transformers' answers, by words: " .. name, function()
      local got = lines_of(say.output_of(line(name, options_of(name) .. " --format jsonl")))
      local want = lines_of(helper.read(of(name, "answers.jsonl")))
      assert.equal(#want, #got)
      for i in ipairs(want) do compare(dkjson.decode(want[i]), dkjson.decode(got[i])) end
    end)
  end

  local PICTURE = ("--image %s/tests/pictures/files/rgb420.jpg"):format(root)

  it("prints a line for each word", function()
    local said = say.output_of(line("page",
      "--text 'Invoice No. 4711' --boxes '[[1,2,3,4], [5,6,7,8], [9,9,99,99]]' " .. PICTURE))
    assert.matches("^0\t7\tInvoice\t%S+\t0%.%d+\n8\t11\tNo%.\t%S+\t0%.%d+\n12\t16\t4711\t%S+\t0%.%d+\n\n$", said)
  end)

  it("has transformers' tokens of words that are special tokens", function()
    say.output_of(line("page", "--text 'a <s> b<unk> <mask>' --output input_ids=ids.npy --boxes '" .. ("1 "):rep(16)
      .. "' " .. PICTURE))
    assert.same({ 0, 224, 68, 0, 224, 69, 3, 800, 2 }, table.move((say.npy(folder .. "/ids.npy")), 1, 9, 1, {}))
  end)

  it("says that words without boxes are at one place", function()
    local code, output = say.run(line("page", "--text a " .. PICTURE .. " >none"))
    assert.same({ 0, "page: --boxes is not given: all words are at 0 0 0 0 of their page\n" }, { code, output })
  end)

  for _, case in ipairs {
    { "--text 'a b' --boxes '1 2 3 4 5 6 7' " .. PICTURE, 3,
      "--text: text 1: has 2 words and 7 numbers of boxes, but four numbers for each word are expected" },
    { "--text a --boxes '1 2 3 1001' " .. PICTURE, 3,
      "--text: text 1: number 4 of its boxes is 1001, but whole numbers from 0 to 1000 are allowed" },
    { "--text a --boxes '1 -2 3 4' " .. PICTURE, 3,
      "--text: text 1: number 2 of its boxes is -2, but whole numbers from 0 to 1000 are allowed" },
    { "--text '' --boxes '1 2 3 4' " .. PICTURE, 3,
      "--text: text 1: has 0 words and 4 numbers of boxes, but four numbers for each word are expected" },
    { "--text a --text b --boxes '1 2 3 4' " .. PICTURE, 2,
      "--boxes: there are 1 lines of boxes and 2 texts, but a line for each text is expected" },
    { "--text a --boxes '1 2 3 4'", 2,
      "run: the model reads the picture of each text's page, too; --image FILE gives it" },
    { PICTURE, 2, "run: --text TEXT, FILE or - is needed" },
    { "--text a --image " .. folder .. "/none.png", 4, "--image " .. folder .. "/none.png: No such file or directory" },
    { "--text a --boxes boxes --image " .. root .. "/tests/spec/whole/pages_spec.lua", 3,
      "pages_spec.lua: is no picture; PNG and JPEG files are supported" },
    { "--text a --boxes - < /dev/null " .. PICTURE, 2, "--text: text 1: has no boxes: --boxes gives fewer texts" },
    { "--text - --boxes - " .. PICTURE, 2, "--text -: the standard input can be read only once" },
    { "--text - --boxes boxes --image - < /dev/null", 2, "--text -: the standard input can be read only once" },
    { "--text a --boxes boxes --output logits=./boxes " .. PICTURE, 2, "--output logits=./boxes: this file is read" },
    { "--text a --boxes - " .. PICTURE .. " < nul", 3, "--text: text 1: its line of boxes has a NUL" },
    { "--text a --boxes boxes --image picture --output logits=picture", 2,
      "--output logits=picture: this file is read" },
  } do
    it("refuses " .. case[1]:gsub(root, ""), function()
      local code, output = say.run(line("page", case[1]))
      assert.equal(case[2], code, output)
      assert.is_truthy(output:find(case[3], 1, true), output)
      assert.equal(1, #lines_of(output), output)
    end)
  end

  for _, name in ipairs(names) do
    it("is served, with the bytes of run --format jsonl: " .. name, function()
      local pages = asked_of(name)
      local text, options = "", options_of(name):gsub("%-%-stride 5", "")
      for _, each in ipairs(lines_of(say.output_of(line(name, options .. " --format jsonl")))) do
        text = text .. "," .. each:gsub(',"truncated":true', "")
      end
      local status, _, said = servers[name]:ask("/predict", { inputs = pages, truncate = true })
      assert.same({ 200, text:sub(2) }, { status, said:sub(2, -2):gsub(',"truncated":true', "") .. "" })
      status, _, said = servers[name]:ask("/predict", { inputs = pages[2], truncate = true })
      assert.same({ 200, true }, { status, text:find(said, 1, true) ~= nil })
    end)
  end

  (helper.is_long and it or pending)("is tried on the server's page", function()
    helper.write(folder .. "/steps", table.concat({ "hidden\tpicture", "focus\tpredict-text", "type\tTotal: 12.50",
      "focus\tpredict-boxes", "type\t102 80 190 95  400 80 470 95", "file\tpredict-file\t" .. root
      .. "/tests/pictures/files/rgb420.jpg", "key\tTab", "key\tTab", "key\tEnter", "see\tpredict\t12.50", "" }, "\n"))
    say.sh(("timeout 120 python3 %s/tests/serve/page.py %s steps"):format(root, servers.page.address))
  end)

  local IMAGE = "data:image/png;base64,AAAA"

  for _, case in ipairs {
    { { { text = "a b", boxes = { { 1, 2, 3, 4 } } } }, 422,
      "inputs: has 2 words and 4 numbers of boxes, but four numbers for each word are expected" },
    { { { text = "a", boxes = { 1, 2, 3, 1001 } }, { "a", "b" } }, 422,
      "inputs[0]: number 4 of its boxes is 1001, but whole numbers from 0 to 1000 are allowed" },
    { { text = "a", boxes = { 1, -2, 3, 4 } }, 422,
      "inputs: number 2 of its boxes is -2, but whole numbers from 0 to 1000 are allowed" },
    { { text = "a", boxes = { 1, 2, 3, 4.5 } }, 400,
      "boxes: a list, but a list of four whole numbers for each word is allowed" },
    { { text = "a", boxes = { { 1, 2, { 3 }, 4 } } }, 400,
      "boxes: a list, but a list of four whole numbers for each word is allowed" },
    { { text = "a", boxes = "1 2 3 4" }, 400,
      'boxes: "1 2 3 4", but a list of four whole numbers for each word is allowed' },
    { { text = "a" }, 422, "inputs: has no image, which the model reads, too" },
    { "a", 422, "inputs: has no image, which the model reads, too" },
    { { text = "a", image = IMAGE }, 422, "inputs: its image is no picture; PNG and JPEG files are supported" },
    { { text = "a", image = "http://a/b.png" }, 400,
      "image: an address, but this server opens no connections; send the picture in a data URL" },
    { { text = "a b", boxes = { { 1, 2, 3 }, { 4, 5, 6, 7, 8 } } }, 400,
      "boxes: a list, but a list of four whole numbers for each word is allowed" },
    { { text = "a", image = { IMAGE } }, 400, "image: a list, but a picture as data:image/png;base64,... is allowed" },
    { { text = "a", bbox = { 1, 2, 3, 4 } }, 400,
      'inputs: a field "bbox", but only text, boxes and image are allowed' },
    { { boxes = { 1, 2, 3, 4 } }, 400, "inputs: an object, but a text, a pair of texts, an object with the "
      .. "fields text, boxes and image, or a list is allowed" },
  } do
    it("is not served: " .. dkjson.encode(case[1]), function()
      local status, said = servers.page:ask("/predict", { inputs = case[1] })
      assert.same({ case[2], case[3] }, { status, said.error })
    end)
  end

  it("is read in Python, with the bits of run", function()
    for _, name in ipairs(names) do
      say.sh(line(name, options_of(name) .. (" --output %s=built/%s.npy 2>none")
        :format((name == "asked" or name == "question") and "start_logits" or "logits", name)))
    end
    helper.succeeds(("PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/bindings /usr/bin/python3 -W error "
      .. "tests/bindings/pages.py %s/built %s tests/pictures/files %s")
      :format(folder, goldens, table.concat(names, " ")), root)
  end)

  it("answers the texts before one without a picture, and refuses a picture without a text", function()
    local code, output = say.run(line("page", "--text a --text b --boxes 1,2,3,4 --boxes 5,6,7,8 " .. PICTURE))
    assert.equal(2, code)
    assert.matches("^0\t1\ta\t[^\n]+\n\n[^\n]*%-%-text: text 2: has no picture: %-%-image gives fewer\n$", output)
    code, output = say.run(line("page", "--text a --boxes 1,2,3,4 " .. PICTURE:rep(2, " ")))
    assert.equal(2, code)
    assert.matches("rgb420%.jpg is a picture without a text\n$", output)
  end)
end)
