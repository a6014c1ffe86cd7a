-- repeat_spec: a build gives the same bytes wherever, whenever and by whomever it is made, and its own NAME.spdx.json
-- has the line that makes it again.
local helper = require("tests.spec.helper")
local files = require("common.files")
local hash = require("common.hash")
local json = require("common.json")
local lfs = require("lfs")
local version = require("common.version")

local shell = helper.shell
local root = helper.absolute_root()
local here = root .. "/out/spec/repeat"
local attn2c = "lua5.4 " .. shell(root .. "/gen/attn2c") .. " "

-- The files of a folder: name -> bytes, or a link's target.
local function contents(folder)
  local list = {}
  for name in lfs.dir(folder) do
    local about = lfs.symlinkattributes(folder .. "/" .. name)
    if about.mode == "link" then list[name] = about.target end
    if about.mode == "file" then list[name] = files.read(folder .. "/" .. name) end
  end
  return list
end

-- Fails with the names of the files that are not the same in both.
local function assert_same_files(first, second)
  local other = {}
  for name, bytes in pairs(first) do if second[name] ~= bytes then other[#other + 1] = name end end
  for name in pairs(second) do if not first[name] then other[#other + 1] = name end end
  table.sort(other)
  assert.same({}, other)
end

-- A fresh folder with copies of files or folders.
local function fresh(name, ...)
  local folder = here .. "/" .. name
  if lfs.attributes(folder, "mode") then files.remove_folder(folder) end
  files.make_folder(folder)
  for _, source in ipairs { ... } do helper.succeeds(("cp -R %s ."):format(shell(root .. "/" .. source)), folder) end
  return folder
end

describe("a build", function()
  after_each(helper.clean)

  it("gives the same bytes in another place, by another copy of the compiler, of another user's", function()
    -- Folders are in what -g makes, unless they are kept out. Without it the first build shares the specs' objects.
    local flags = "env -u CC -u ATTN2C_LDFLAGS ATTN2C_CFLAGS=" .. shell(helper.is_long and "-O0 -g" or helper.quick)
    local own = helper.is_long and "XDG_CACHE_HOME=" .. shell(here .. "/one/cache") or ""
    -- Objects are kept by the locale, too: with another one the whole runtime would be compiled.
    local locale, other_locale = "LC_ALL=C", "LC_ALL=C.UTF-8"
    if not helper.is_long then locale, other_locale = "", "" end
    local model = " ./speaker.lua batch=1 kernels=c"
    local words = model .. " --embed=given/speaker.safetensors"
    local one = fresh("one", "models/speaker.lua", "models/speaker")
    local other = fresh("another place/real", "models/speaker.lua", "models/speaker")
    for _, folder in ipairs { one, other } do helper.succeeds("mv speaker given", folder) end
    helper.succeeds(("%s %s %s TZ=UTC %s build %s"):format(flags, own, locale, attn2c, words), one)
    -- The compiler's files in another order in their folders; a folder through a link; nothing in the cache, or, in
    -- `make test`, most of the runtime's objects, so that some of each folder are made anew.
    helper.succeeds("ln -sfn real link; rm -rf copy; mkdir copy", here .. "/another place")
    helper.succeeds(("find gen templates runtime -type f | sort -r | tar -c --mode=600 -T - | tar -x -C %s"):format(
      shell(here .. "/another place/copy")), root)
    if not helper.is_long then helper.seed(here .. "/another place/real/.cache", true, { "c" }) end
    -- One processor, and another host where that may be said.
    local alone = "taskset -c " .. helper.succeeds("taskset -pc $$"):match("(%d+)%D*$")
    if os.execute("unshare -u true 2>/dev/null") == true then
      alone = "unshare -u sh -c 'hostname elsewhere; exec \"$@\"' sh " .. alone
    end
    local link = shell(here .. "/another place/link")
    helper.succeeds(("cd %s; umask 077; %s HOME=%s XDG_CACHE_HOME= TZ=Asia/Tokyo %s USER=other %s "
      .. "lua5.4 ../copy/gen/attn2c build %s -o ."):format(link, flags, link, other_locale, alone, words))
    local first, second = contents(one .. "/out/speaker"), contents(other)
    local emitted = {}
    for i, name in ipairs { "C", "C.UTF-8" } do
      helper.succeeds(("LC_ALL=%s %s gen %s -o emitted%d"):format(name, attn2c, model, i), one)
      emitted[i] = contents(one .. "/emitted" .. i)
    end
    assert.truthy(emitted[1]["speaker.c"])
    assert_same_files(table.unpack(emitted))
    second["speaker.lua"] = nil
    assert_same_files(first, second)
    assert.truthy(first.speaker and first["libspeaker.a"] and first["libspeaker.so.3"] and first["speaker.c"])
    for name, bytes in pairs(first) do assert.is_nil(bytes:find(here, 1, true), name .. " names its folder") end
  end)
end)

describe("NAME.spdx.json", function()
  local built, document

  setup(function()
    local folder = fresh("classify", "tests/hf/texts/sequence")
    helper.succeeds("mv sequence classify; " .. attn2c .. "build classify seq=8 --embed=f32", folder)
    built = contents(folder .. "/out/classify")
    document = json.decode(built["classify.spdx.json"])
  end)

  after_each(helper.clean)

  it("has the line that repeats the build", function()
    local line = document.packages[1].sourceInfo
    assert.matches("attn2c build classify seq=8 target=[%w_]+ %-%-embed=f32$", line)
    local folder = fresh("again", "tests/hf/texts/sequence")
    helper.succeeds(("mv sequence classify; mkdir bin; ln -s %s bin/attn2c; PATH=$PWD/bin:$PATH; %s"):format(
      shell(root .. "/gen/attn2c"), line), folder)
    assert_same_files(built, contents(folder .. "/out/classify"))
  end)

  it("says what the build is made of: hashes, versions, licences, and how each part is linked", function()
    local by_id, links = {}, {}
    for _, part in ipairs(document.packages) do by_id[part.SPDXID:match("^SPDXRef%-(.*)$")] = part end
    for _, each in ipairs(document.relationships) do
      local from, to = each.spdxElementId:match("%-(.*)$"), each.relatedSpdxElement:match("%-(.*)$")
      assert.truthy(from == "DOCUMENT" or by_id[from])
      assert.truthy(by_id[to], to)
      links[("%s %s %s"):format(from, each.relationshipType, to)] = true
    end
    for id, name in pairs { program = "classify", archive = "libclassify.a", shared = "libclassify.so.3" } do
      assert.equal(hash.content(built[name]), by_id[id].checksums[1].checksumValue)
      assert.equal(name, by_id[id].packageFileName)
      for _, link in ipairs { "GENERATED_FROM description", "GENERATED_FROM checkpoint", "CONTAINS weights",
        "CONTAINS tokenizer", "STATIC_LINK attn2c" } do
        assert.truthy(links[id .. " " .. link], id .. " " .. link)
      end
      assert.equal(id == "program", links[id .. " STATIC_LINK jansson"] or false)
      assert.equal(id == "program", links[id .. " STATIC_LINK libxsmm"] or false) -- for the roof
      assert.truthy(links["compiler BUILD_TOOL_OF " .. id])
    end
    for _, link in ipairs { "program DYNAMIC_LINK glibc", "shared DYNAMIC_LINK pcre2",
      "archive DEPENDS_ON utf8proc" } do
      assert.truthy(links[link], link)
    end
    local folder = here .. "/classify/classify/"
    assert.equal(hash.content(files.read(folder .. "config.json")), by_id.description.checksums[1].checksumValue)
    assert.equal(hash.content(files.read(folder .. "model.safetensors")), by_id.checkpoint.checksums[1].checksumValue)
    assert.equal(version.generator, by_id.attn2c.versionInfo)
    assert.equal(helper.succeeds("${CC:-cc} -dumpfullversion"):match("%S+"), by_id.compiler.versionInfo)
    local flags = by_id.compiler.comment -- with the user's level in place of the build's
    assert.truthy(flags:find("; %-std=c11 %-g0 [^;]* %-fopenmp%-simd %-O0 ") and not flags:find(" %-O[^0]"), flags)
    for id, package in pairs { libxsmm = "libxsmm-dev", jansson = "libjansson-dev", utf8proc = "libutf8proc-dev",
      pcre2 = "libpcre2-dev" } do
      local number = helper.succeeds("dpkg-query -W -f '${Version}' " .. package)
      assert.equal(1, number:find(by_id[id].versionInfo, 1, true), package .. " " .. number)
      assert.matches("%u", by_id[id].licenseDeclared)
    end
  end)

  it("names no weights, tokenizer or libraries that are not in it, and what --static puts in", function()
    local folder = helper.folder()
    helper.write(folder .. "/tiny.lua", 'return { name = "tiny", d_model = 16, heads = 2, seq = 4, layers = 0 }')
    local function names(words)
      helper.succeeds("SOURCE_DATE_EPOCH=86400 " .. attn2c .. "build tiny.lua kernels=c " .. words, folder)
      local text = files.read(folder .. "/out/tiny/tiny.spdx.json")
      local list = {}
      for _, part in ipairs(json.decode(text).packages) do list[#list + 1] = part.SPDXID:match("%-(.*)$") end
      return table.concat(list, " "), text
    end
    local list, text = names("")
    assert.equal("program archive shared description attn2c jansson glibc compiler", list)
    assert.truthy(text:find('"created":"1970-01-02T00:00:00Z"', 1, true))
    assert.is_nil(text:find("STATIC_LINK\",\n      \"relatedSpdxElement\":\"SPDXRef-glibc", 1, true))
    list, text = names("--static")
    assert.equal("program archive shared description attn2c jansson glibc compiler", list)
    assert.truthy(text:find("STATIC_LINK\",\n      \"relatedSpdxElement\":\"SPDXRef-glibc", 1, true))
  end)
end)
