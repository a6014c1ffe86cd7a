-- install_spec: attn2c as `make install` and `make deb` put it: used by another user, who may not write there, when the
-- checkout that it came from is gone.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")
local uv = require("common.libuv")
local version = require("common.version")

local shell = helper.shell
local root = helper.absolute_root()
local is_root = uv.getuid() == 0

-- Every file and folder below a folder, with mode, target of a link, and hash.
local function listing(folder)
  return helper.succeeds("find . -printf '%p %m %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 md5sum",
    folder)
end

-- The parts of the checkout that install reads, in a new folder that others may read, too. Its files are links to the
-- checkout's, which nothing here changes. is_anew: they are copies of another time.
local function copy_of_checkout(folder, is_anew)
  files.make_folder(folder .. "/tests")
  local copy = ("%s gen templates runtime models Makefile README.md LICENSE %s/ && %s tests/bench %s/tests/")
  local function by(command) return copy:format(command, shell(folder), command, shell(folder)) end
  helper.succeeds(is_anew and by("cp -R") or ("{ %s; } 2>/dev/null || { %s; }"):format(by("cp -Rl"), by("cp -R")), root)
  return folder
end

-- Runs a line as a user who may write in a folder of its own alone, with an environment of its own. Returns the exit
-- code and what was printed.
local function as_another(line, home)
  local user = is_root and "setpriv --reuid 65534 --regid 65534 --clear-groups " or ""
  return helper.run(("%senv -i PATH=/usr/bin:/bin HOME=%s ATTN2C_CFLAGS=%s sh -c %s"):format(user, shell(home),
    shell(helper.quick), shell(line)), home)
end

local function home_of_another(folder)
  files.make_folder(folder)
  helper.succeeds("chmod 777 " .. shell(folder))
  return folder
end

describe("make install", function()
  local folder, stage, before

  -- In a folder with a space, by a user with a tight umask; then the checkout is gone.
  setup(function()
    folder = helper.folder() .. "/a place"
    files.make_folder(folder)
    helper.succeeds("chmod 755 . ..", folder)
    stage = folder .. "/stage"
    copy_of_checkout(folder .. "/checkout")
    helper.write(folder .. "/checkout/models/mine.tune", "of this machine")
    helper.succeeds(("umask 077; mkdir -p %s; chmod 755 %s; make -s install DESTDIR=%s PREFIX=/opt/attn"):format(
      shell(stage), shell(stage), shell(stage)), folder .. "/checkout")
    files.remove_folder(folder .. "/checkout")
    before = listing(stage)
    helper.succeeds("chmod -R a-w " .. shell(stage))
  end)

  teardown(function()
    helper.succeeds("chmod -R u+w " .. shell(stage))
    helper.clean()
  end)

  it("puts command, manual and completions where they are looked for, readable by all", function()
    local wanted = { "bin/attn2c", "share/man/man1/attn2c.1", "share/man/man1/attn2c-program.1",
      "share/man/man5/attn2c.5", "share/doc/attn2c/README.md",
      "share/doc/attn2c/gen/checkpoints/README.md", "share/doc/attn2c/models/examples/pipeline.svg",
      "share/bash-completion/completions/attn2c", "share/zsh/site-functions/_attn2c",
      "share/fish/vendor_completions.d/attn2c.fish", "share/attn2c/models/language/model.safetensors",
      "share/attn2c/models/examples/speaker.c" }
    for page in helper.read(root .. "/README.md"):gmatch("%]%((%l[%l/]*/README%.md)[#)]") do
      if page ~= "tests/README.md" then wanted[#wanted + 1] = "share/doc/attn2c/" .. page end
    end
    assert.is_true(#wanted > 18)
    for _, name in ipairs(wanted) do
      assert.equal("file", lfs.attributes(stage .. "/opt/attn/" .. name, "mode"), name)
    end
    for _, test in ipairs { "! -perm -044", "-type d ! -perm -055", "-name '*.tune'",
      "-name '*.md' -path '*/share/attn2c/gen/*'",
      "-path '*/share/attn2c/gen/deploy*'", "-name '.?*'" } do
      assert.equal("", helper.succeeds("find opt " .. test, stage), test)
    end
    assert.equal("../share/attn2c/gen/attn2c", lfs.symlinkattributes(stage .. "/opt/attn/bin/attn2c", "target"))
    assert.equal("", helper.succeeds("groff -man -ww -z opt/attn/share/man/man1/attn2c.1", stage))
  end)

  it("makes a command that works for another user without the checkout, and writes nothing there", function()
    local home = home_of_another(folder .. "/home")
    helper.seed(home .. "/.cache", true, { "c" })
    if is_root then helper.succeeds("chown -R 65534:65534 .cache", home) end
    local attn2c, models = "\"../stage/opt/attn/bin/attn2c\"", "../stage/opt/attn/share/attn2c/models/"
    assert.same({ 0, "attn2c " .. version.generator .. "\n" }, { as_another(attn2c .. " --version", home) })
    local code, said = as_another(attn2c .. " check " .. models .. "worked_example.lua kernels=c", home)
    assert.equal(0, code, said)
    assert.truthy(said:find(" 0 failed\n", 1, true))
    assert.equal("directory", lfs.attributes(home .. "/.cache/attn2c/results", "mode"))
    assert.same({ "directory", nil }, { lfs.attributes(home .. "/out/worked_example.variants", "mode"),
      (lfs.attributes(home .. "/out/worked_example", "mode")) })
    code, said = as_another(attn2c .. " gen " .. models .. "speaker.lua -o elsewhere", home)
    assert.equal(0, code, said)
    assert.equal("file", lfs.attributes(home .. "/elsewhere/speaker.c", "mode"))
    code, said = as_another(attn2c .. " import " .. models .. "language", home)
    assert.equal(0, code, said)
    assert.truthy(said:find('name = "language"', 1, true))
    -- The file is not next to the installed description, unless that is named: then it is refused at once.
    code, said = as_another(attn2c .. " tune " .. models .. "small.lua seq=8 layers=1 d_model=16 d_ff=16 heads=1 "
      .. "kernels=c --budget 1", home)
    assert.equal(0, code, said)
    assert.truthy(said:find("\nsmall.tune: ", 1, true), said)
    code, said = as_another(attn2c .. " tune " .. models .. "small.lua -o " .. models .. "small.tune", home)
    assert.equal(4, code)
    assert.matches("^attn2c: cannot write [^\n]*/models/small.tune: Permission denied; %-o FILE[^\n]*\n$",
      said)
    helper.succeeds("chmod -R u+w " .. shell(stage))
    local after = listing(stage)
    helper.succeeds("chmod -R a-w " .. shell(stage))
    assert.equal(before, after)
  end)
end)

describe("installing", function()
  after_each(helper.clean)

  local function make(words, folder)
    return helper.run("make -s " .. words, folder or root)
  end

  it("anew leaves nothing of an older version, and uninstall nothing of this, but what is another's", function()
    local stage = helper.folder() .. "/stage"
    local words = (" DESTDIR=%s PREFIX=/usr"):format(shell(stage))
    assert.same({ 0, "" }, { make("install" .. words) })
    local first = listing(stage)
    helper.write(stage .. "/usr/share/attn2c/runtime/base/old.c", "of an older version")
    helper.write(stage .. "/usr/bin/other", "of another program")
    assert.same({ 0, "" }, { make("install" .. words) })
    os.remove(stage .. "/usr/bin/other")
    assert.equal(first, listing(stage))
    helper.write(stage .. "/usr/bin/other", "of another program")
    helper.write(stage .. "/usr/share/attn2c/note", "of the user")
    assert.same({ 0, "" }, { make("uninstall" .. words) })
    assert.equal("./usr/bin/other\n./usr/share/attn2c/note\n", helper.succeeds("find . ! -type d | sort", stage))
    os.remove(stage .. "/usr/share/attn2c/note")
    assert.same({ 0, "" }, { make("uninstall" .. words) })
    assert.is_nil(lfs.attributes(stage .. "/usr/share/attn2c"))
  end)

  it("takes a folder with a $ in its name, doubled for make as gen/commands/README.md says", function()
    assert.truthy(helper.read(root .. "/gen/commands/README.md"):find("`PREFIX='/opt/a$$b'`", 1, true))
    local stage = helper.folder() .. "/stage"
    local words = (" DESTDIR=%s PREFIX='/opt/a$$b'"):format(shell(stage))
    assert.same({ 0, "" }, { make("install" .. words) })
    assert.equal("file", lfs.attributes(stage .. "/opt/a$b/share/man/man1/attn2c.1", "mode"))
    assert.same({ 0, "" }, { make("uninstall" .. words) })
    assert.equal("", helper.succeeds("find . ! -type d", stage))
  end)

  it("refuses places that are none, and the checkout itself", function()
    local copy = copy_of_checkout(helper.folder() .. "/attn2c")
    local first = listing(copy)
    for words, wanted in pairs { ["PREFIX=here"] = "an absolute path is needed",
      ["PREFIX=$PWD datadir=" .. copy:match("^(.*)/")] = "over the repository itself" } do
      local code, said = make("install " .. words, copy)
      assert.equal(2, code)
      assert.truthy(said:find("make: cannot install ", 1, true) and said:find(wanted, 1, true), said)
    end
    assert.equal(first, listing(copy))
  end)
end)

describe("make packages", function()
  after_each(helper.clean)

  it("asks for libxsmm where Debian has it alone", function()
    local folder = helper.folder()
    for machine, is_there in pairs { amd64 = true, arm64 = false } do
      helper.write(folder .. "/dpkg", "#!/bin/sh\necho " .. machine .. "\n")
      helper.succeeds("chmod 755 dpkg", folder)
      local said = helper.succeeds(("PATH=%s:$PATH make -n packages"):format(shell(folder)), root)
      assert.truthy(said:find(" libjansson-dev ", 1, true), said)
      assert.equal(is_there, said:find(" libxsmm-dev ", 1, true) ~= nil, said)
    end
  end)
end)

describe("make deb", function()
  after_each(helper.clean)

  -- Makes the package of a folder; returns its path.
  local function make(folder, environment)
    local said = helper.succeeds(environment .. " make -s deb", folder)
    local name = ("out/deb/attn2c_%s_all.deb"):format(version.generator)
    assert.equal(name, said:match("^[^\n]*"))
    return folder .. "/" .. name
  end

  it("makes a package of the same bytes each time, which works once it is unpacked", function()
    local folder = helper.folder()
    helper.succeeds("chmod 755 .", folder)
    local first = make(copy_of_checkout(folder .. "/first"), "umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8")
    -- A copy of the copy, backwards: other times, another order of the folders' files, other rights.
    files.make_folder(folder .. "/second copy")
    helper.succeeds("find . -path ./out -prune -o -type f -print | sort -r | tar -c --mode=600 -T - | "
      .. "tar -xm -C '../second copy'", folder .. "/first")
    helper.succeeds("chmod 755 gen/attn2c; chmod 777 .", folder .. "/second copy")
    local second = make(folder .. "/second copy", "umask 002; TZ=America/Lima HOME=/nowhere")
    assert.is_true(files.read(first) == files.read(second), "two packages differ")

    local control = helper.succeeds("dpkg-deb -f " .. shell(first))
    assert.truthy(control:find("\nVersion: " .. version.generator .. "\n", 1, true))
    assert.truthy(control:find("\nRecommends: libxsmm-dev\n", 1, true)) -- there is none but for amd64
    local needed = helper.read(root .. "/Makefile"):match("\nneeded_packages :=(.-[^\\])\n")
    for name in needed:gmatch("[%w.-]+") do
      assert.truthy((control:match("\nDepends: ([^\n]*)") .. ","):find("[ :]?" .. name:gsub("%p", "%%%0") .. ","), name)
    end
    helper.succeeds(("dpkg-deb -x %s x; dpkg-deb -e %s c; cd x; md5sum --quiet -c ../c/md5sums"):format(shell(first),
      shell(first)), folder)
    assert.equal(helper.succeeds("find usr -type f | wc -l", folder .. "/x"),
      helper.succeeds("wc -l <md5sums", folder .. "/c"))
    local log = helper.succeeds("gzip -dc x/usr/share/doc/attn2c/changelog.gz", folder)
    assert.equal(1, log:find(("attn2c (%s) unstable; "):format(version.generator), 1, true))
    assert.matches("\n  %* %u.*\n %-%- .* <.*>  %a%a%a, ", log)
    assert.equal("", helper.succeeds("gzip -dc x/usr/share/man/man1/attn2c.1.gz | groff -man -ww -z", folder))

    files.remove_folder(folder .. "/first")
    local home = home_of_another(folder .. "/home")
    local code, said = as_another("../x/usr/bin/attn2c gen ../x/usr/share/attn2c/models/small.lua", home)
    assert.equal(0, code, said)
    assert.equal("file", lfs.attributes(home .. "/out/small/small.c", "mode"))
  end)
end)

describe("make wheel", function()
  after_each(helper.clean)

  it("makes a package of the same bytes each time, which works in any folder or names what is missing", function()
    local folder = helper.folder()
    helper.succeeds("chmod 755 .", folder)
    local name = ("out/wheel/attn2c-%s-py3-none-any.whl"):format(version.generator)
    for place, environment in pairs { first = "umask 077; TZ=Asia/Tokyo", ["second copy"] = "umask 002;" } do
      local copy = copy_of_checkout(folder .. "/" .. place, place ~= "first")
      assert.equal(name .. "\n", helper.succeeds(environment .. " make -s wheel", copy))
      assert.equal(name:match("[^/]*$") .. "\n", helper.succeeds("ls out/wheel", copy))
    end
    local first = folder .. "/first/" .. name
    assert.is_true(files.read(first) == files.read(folder .. "/second copy/" .. name), "two packages differ")
    helper.succeeds(("/usr/bin/python3 %s/tests/bindings/wheel.py %s attn2c %s"):format(shell(root), shell(first),
      version.generator))
    helper.succeeds("/usr/bin/python3 -m pip install -q --no-index --disable-pip-version-check "
      .. "--root-user-action=ignore --target site " .. shell(first), folder)
    helper.succeeds("chmod -R a+rX,a-w site; cp first/models/small.lua .; rm -rf first 'second copy'", folder)
    local home = home_of_another(folder .. "/home")
    local code, said = as_another("PYTHONPATH=../site ../site/bin/attn2c gen ../small.lua", home)
    assert.equal(0, code, said)
    assert.equal("file", lfs.attributes(home .. "/out/small/small.c", "mode"))
    local python = "PYTHONPATH=../site /usr/bin/python3 -m attn2c "
    code, said = as_another("mkdir -p empty; PATH=$PWD/empty " .. python .. "build x", home)
    assert.equal(6, code, said)
    assert.matches("^attn2c: missing: Lua 5%.4, [^\n]*, a C compiler%. Debian: apt install lua5%.4 [^\n]*; "
      .. "Fedora: dnf install [^\n]*; Alpine: apk add [^\n]*\n$", said)
    -- Debian's names stand in the Makefile.
    local needed = helper.read(root .. "/Makefile"):match("\nneeded_packages :=(.-[^\\])\n"):gsub("%s+", " ") .. " "
    for each in said:match("apt install ([^;]*);"):gmatch("%S+") do
      assert.truthy(needed:find(" " .. each .. " ", 1, true), each)
    end
    code, said = as_another("mkdir -p few; ln -sf /usr/bin/lua5.4 /usr/bin/cc few/; PATH=$PWD/few "
      .. "LUA_CPATH='/none/?.so' " .. python .. "keys", home)
    assert.equal(6, code, said)
    assert.matches("^attn2c: missing: lfs, lpeg, luv, openssl%.digest%. Debian: apt install lua%-filesystem lua%-lpeg "
      .. "lua%-luv lua%-luaossl; ", said)
  end)
end)
