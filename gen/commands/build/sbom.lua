-- sbom.lua: writes the bill of materials of a build, as SPDX 2.3 in JSON.
-- It lists the results, the files that they are made from and the libraries that are linked in, with versions,
-- licences and hashes, and the command line that repeats the build. It contains no time and no path, so that the same
-- build gives the same bytes.
local dkjson = require("dkjson")
local hash = require("common.hash")
local terminal = require("common.terminal")
local version = require("common.version")
local words = require("common.words")

local sbom = {}

--- Returns the versions of the compiler and the libraries by name, from the macros that versions.h leaves ("#define
--- NAME VALUE"). A missing library has no version.
function sbom.versions(text)
  local macros = {}
  for name, value in text:gmatch("#define (%S+) ([^\n]*)") do macros[name] = (value:gsub('^"(.*)"$', "%1")) end
  local function joined(...)
    local parts = {}
    for i, name in ipairs { ... } do
      if not macros[name] then return nil end
      parts[i] = macros[name]
    end
    return table.concat(parts, ".")
  end
  local compiler_name = macros.__clang__ and "clang" or macros.__GNUC__ and "gcc" or "cc"
  return { compiler = macros.__VERSION__, compiler_name = compiler_name,
    glibc = joined("__GLIBC__", "__GLIBC_MINOR__"),
    ["mingw-w64"] = joined("__MINGW64_VERSION_MAJOR", "__MINGW64_VERSION_MINOR", "__MINGW64_VERSION_BUGFIX"),
    jansson = macros.JANSSON_VERSION,
    openmpi = joined("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION"), mpich = macros.MPICH_VERSION,
    libxsmm = macros.LIBXSMM_CONFIG_VERSION, pcre2 = joined("PCRE2_MAJOR", "PCRE2_MINOR"),
    libpng = macros.PNG_LIBPNG_VER_STRING, zlib = macros.ZLIB_VERSION, ["libjpeg-turbo"] = macros.LIBJPEG_TURBO_VERSION,
    libsoxr = macros.SOXR_THIS_VERSION_STR, libevent = macros.EVENT__VERSION,
    utf8proc = joined("UTF8PROC_VERSION_MAJOR", "UTF8PROC_VERSION_MINOR", "UTF8PROC_VERSION_PATCH") }
end

local licenses = {
  attn2c = "MIT", ["mingw-w64"] = "ZPL-2.1 AND MIT",
  openmpi = "BSD-3-Clause", mpich = "mpich2", libxsmm = "BSD-3-Clause", jansson = "MIT",
  utf8proc = "MIT AND Unicode-DFS-2015",
  libsndfile = "LGPL-2.1-or-later", libsoxr = "LGPL-2.1-or-later", libevent = "BSD-3-Clause",
  libogg = "BSD-3-Clause", libvorbis = "BSD-3-Clause", flac = "BSD-3-Clause", opus = "BSD-3-Clause",
  mpg123 = "LGPL-2.1-only", lame = "LGPL-2.0-or-later",
  libpng = "libpng-2.0", zlib = "Zlib", ["libjpeg-turbo"] = "IJG AND BSD-3-Clause",
  pcre2 = "BSD-3-Clause", glibc = "LGPL-2.1-or-later", gcc = "GPL-3.0-or-later WITH GCC-exception-3.1",
  clang = "Apache-2.0 WITH LLVM-exception",
}

local homes = {
  openmpi = "https://www.open-mpi.org/", mpich = "https://www.mpich.org/",
  libxsmm = "https://github.com/libxsmm/libxsmm", jansson = "https://github.com/akheron/jansson",
  utf8proc = "https://github.com/JuliaStrings/utf8proc", pcre2 = "https://github.com/PCRE2Project/pcre2",
  libpng = "http://www.libpng.org/pub/png/libpng.html", zlib = "https://zlib.net/",
  ["libjpeg-turbo"] = "https://libjpeg-turbo.org/", libsndfile = "https://libsndfile.github.io/libsndfile/",
  libsoxr = "https://sourceforge.net/projects/soxr/", libevent = "https://libevent.org/",
  libogg = "https://xiph.org/ogg/", libvorbis = "https://xiph.org/vorbis/", flac = "https://xiph.org/flac/",
  opus = "https://opus-codec.org/", mpg123 = "https://www.mpg123.de/", lame = "https://lame.sourceforge.io/",
  glibc = "https://www.gnu.org/software/libc/", ["mingw-w64"] = "https://www.mingw-w64.org/",
  gcc = "https://gcc.gnu.org/", clang = "https://clang.llvm.org/",
}

-- The order of the keys in the file.
local KEYS = { "spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "created",
  "creators", "comment", "versionInfo", "packageFileName", "primaryPackagePurpose", "downloadLocation", "homepage",
  "filesAnalyzed", "checksums", "sourceInfo", "licenseConcluded", "licenseDeclared", "copyrightText", "packages",
  "relationships", "spdxElementId", "relationshipType", "relatedSpdxElement", "algorithm", "checksumValue" }

local function package(id, name, more)
  return words.merged({ SPDXID = "SPDXRef-" .. id, name = terminal.safe(name), downloadLocation = "NOASSERTION",
    filesAnalyzed = false, licenseConcluded = "NOASSERTION", licenseDeclared = "NOASSERTION",
    copyrightText = "NOASSERTION" }, more)
end

local function sha256(sum) return { { algorithm = "SHA256", checksumValue = sum } } end

-- Returns the libraries that are linked into a result, and how. kind: "archive", "shared" or "program".
local function links_of(facts, kind)
  local list = { { "attn2c", "STATIC_LINK" } }
  local provider = facts.providers[kind == "program" and "program" or "library"]
  if provider == "libxsmm" then list[#list + 1] = { "libxsmm", "STATIC_LINK" } end
  if kind == "program" then list[#list + 1] = { "jansson", "STATIC_LINK" } end
  local how = "DYNAMIC_LINK"
  if kind == "archive" then how = "DEPENDS_ON" end
  if kind == "program" and facts.is_static then how = "STATIC_LINK" end
  local has_text = facts.has_text or facts.texts and kind == "program"
  local of_text = kind == "shared" and facts.is_portable and "STATIC_LINK" or how
  for _, name in ipairs(has_text and { "utf8proc", "pcre2" } or {}) do list[#list + 1] = { name, of_text } end
  local of_program = {}
  if facts.has_pictures then words.append(of_program, { "libpng", "libjpeg-turbo" }) end
  if facts.has_pictures or facts.has_speech then of_program[#of_program + 1] = "zlib" end
  if facts.has_sound then words.append(of_program, { "libsndfile", "libsoxr" }) end
  if facts.has_sound and facts.is_static then -- libsndfile's own libraries
    words.append(of_program, { "libogg", "libvorbis", "flac", "opus", "mpg123", "lame" })
  end
  if facts.has_serve then of_program[#of_program + 1] = "libevent" end
  for _, name in ipairs(kind == "program" and of_program or {}) do list[#list + 1] = { name, how } end
  -- no macro has the name of another MPI
  local mpi = facts.versions.openmpi and "openmpi" or facts.versions.mpich and "mpich" or "mpi"
  if facts.has_ranks then list[#list + 1] = { mpi, how } end
  -- no macro has the version of another C library
  local libc = facts.versions.glibc and "glibc" or facts.versions["mingw-w64"] and "mingw-w64" or "libc"
  list[#list + 1] = { libc, how }
  return list
end

--- Returns the text of N.spdx.json.
--- facts: { name, providers, has_text, has_pictures, has_sound, has_speech, has_serve, texts, is_static, is_portable =
--- the recipe's; line = the command line that repeats the build; flags = texts; versions = the result of sbom.versions;
--- inputs = a list of { id, name, sum = SHA-256, is_inside = true if results contain it }; outputs = a list of { id,
--- name, text, kind }; created = a time in SPDX's format }.
function sbom.text(facts)
  local packages, relationships, is_there = {}, {}, {}
  local function relate(from, how, to)
    relationships[#relationships + 1] = { spdxElementId = "SPDXRef-" .. from, relationshipType = how,
      relatedSpdxElement = "SPDXRef-" .. to }
  end
  local function add_part(name, number, more)
    if is_there[name] then return end
    is_there[name] = true
    local part = package(name, name, more or {})
    part.versionInfo, part.licenseDeclared, part.homepage = number, licenses[name] or "NOASSERTION", homes[name]
    packages[#packages + 1] = part
  end
  for _, output in ipairs(facts.outputs) do
    local links = links_of(facts, output.kind)
    packages[#packages + 1] = package(output.id, output.name, { packageFileName = output.name,
      primaryPackagePurpose = output.kind == "program" and "APPLICATION" or "LIBRARY",
      checksums = sha256(output.sum), sourceInfo = facts.line })
    relate("DOCUMENT", "DESCRIBES", output.id)
    for _, input in ipairs(facts.inputs) do
      relate(output.id, input.is_inside and "CONTAINS" or "GENERATED_FROM", input.id)
    end
    for _, link in ipairs(links) do relate(output.id, link[2], link[1]) end
    relate("compiler", "BUILD_TOOL_OF", output.id)
  end
  for _, input in ipairs(facts.inputs) do
    packages[#packages + 1] = package(input.id, input.name, { packageFileName = terminal.safe(input.name),
      primaryPackagePurpose = input.is_inside and "FILE" or "SOURCE", checksums = sha256(input.sum) })
  end
  add_part("attn2c", version.generator)
  for _, output in ipairs(facts.outputs) do
    for _, link in ipairs(links_of(facts, output.kind)) do add_part(link[1], facts.versions[link[1]]) end
  end
  add_part(facts.versions.compiler_name, facts.versions.compiler, { SPDXID = "SPDXRef-compiler",
    comment = "flags: " .. terminal.safe(table.concat(facts.flags, "; ")) })
  local document = { spdxVersion = "SPDX-2.3", dataLicense = "CC0-1.0", SPDXID = "SPDXRef-DOCUMENT", name = facts.name,
    creationInfo = { created = facts.created, creators = { "Tool: attn2c-" .. version.generator },
      comment = "created is SOURCE_DATE_EPOCH, or the day of this version of attn2c" },
    packages = packages, relationships = relationships }
  local function encoded() return dkjson.encode(document, { indent = true, keyorder = KEYS }) .. "\n" end
  document.documentNamespace = ("https://attn2c.invalid/spdx/%s/%s"):format(facts.name, hash.content(encoded()))
  return encoded()
end

return sbom
