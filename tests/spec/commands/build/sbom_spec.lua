-- sbom_spec: the text of NAME.spdx.json, of facts about a build.
require("tests.spec.helper")
local json = require("common.json")
local sbom = require("commands.build.sbom")

local MACROS = [[
#define __VERSION__ "12.2.0"
#define __GNUC__ 12
#define __GLIBC__ 2
#define __GLIBC_MINOR__ 36
#define JANSSON_VERSION "2.14"
#define PCRE2_MAJOR 10
#define PCRE2_MINOR 42
]]

local function facts(more)
  local list = { name = "tiny", providers = { library = "c", program = "c" },
    line = "attn2c build tiny.lua", flags = { "-O1", "-O2 -DX" },
    versions = sbom.versions(MACROS), created = "2026-01-02T03:04:05Z",
    inputs = { { id = "description", name = "tiny.lua", sum = ("a"):rep(64) } },
    outputs = { { id = "program", name = "tiny", sum = ("b"):rep(64), kind = "program" } } }
  for key, value in pairs(more or {}) do list[key] = value end
  return list
end

describe("NAME.spdx.json", function()
  it("has versions from macros, and none where there is none", function()
    assert.same({ compiler = "12.2.0", compiler_name = "gcc", glibc = "2.36", jansson = "2.14", pcre2 = "10.42" },
      sbom.versions(MACROS))
    assert.same({ compiler_name = "cc" }, sbom.versions(""))
    assert.equal("clang", sbom.versions(MACROS .. "#define __clang__ 1\n").compiler_name)
  end)

  it("is the same text for the same facts, and names another document for others", function()
    assert.equal(sbom.text(facts()), sbom.text(facts()))
    local function namespace(more) return json.decode(sbom.text(facts(more))).documentNamespace end
    assert.matches("^https://attn2c%.invalid/spdx/tiny/%x+$", namespace())
    assert.are_not.equal(namespace(), namespace { line = "attn2c build other.lua" })
  end)

  it("has what SPDX 2.3 asks of a document and of each package", function()
    local document = json.decode(sbom.text(facts { has_text = true, is_static = true, has_serve = true,
      providers = { library = "libxsmm", program = "libxsmm" } }))
    assert.same({ "SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT", "2026-01-02T03:04:05Z" }, { document.spdxVersion,
      document.dataLicense, document.SPDXID, document.creationInfo.created })
    local ids = {}
    for _, part in ipairs(document.packages) do
      assert.matches("^SPDXRef%-[%w.-]+$", part.SPDXID)
      assert.is_nil(ids[part.SPDXID])
      ids[part.SPDXID] = true
      assert.is_string(part.name)
      assert.is_string(part.downloadLocation)
      assert.is_false(part.filesAnalyzed)
    end
    for _, name in ipairs { "libxsmm", "jansson", "utf8proc", "pcre2", "libevent", "glibc", "attn2c",
      "compiler" } do
      assert.truthy(ids["SPDXRef-" .. name], name)
    end
    for _, each in ipairs(document.relationships) do
      if each.relationshipType:match("_LINK$") then assert.equal("STATIC_LINK", each.relationshipType) end
    end
  end)

  it("shows names of strangers as they may be shown", function()
    local text = sbom.text(facts { inputs = { { id = "description", name = 'a"\27\xFF.lua', sum = ("a"):rep(64) } } })
    assert.is_nil(text:find("[\27\xFF]"))
    assert.equal('a"??.lua', json.decode(text).packages[2].name)
    assert.truthy(utf8.len(text))
  end)
end)
