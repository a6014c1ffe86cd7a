-- overrides_spec: keys once, lists of values, folders of variants.
local helper = require("tests.spec.helper")
local overrides = require("commands.overrides")

describe("overrides", function()
  it("split at commas that stand in no quotes and no brackets", function()
    for text, parts in pairs {
      ["32,128"] = { "32", "128" }, ["32"] = { "32" }, [""] = { "" }, ["a,,b"] = { "a", "", "b" }, ["a,"] = { "a", "" },
      ["{window={16,16}}"] = { "{window={16,16}}" }, ["{1,2},{3,4}"] = { "{1,2}", "{3,4}" },
      ['"a,b",c'] = { '"a,b"', "c" }, ["'a,\\',b',c"] = { "'a,\\',b'", "c" }, ['{"}",1},2'] = { '{"}",1}', "2" },
      ["pool('a',1),x[1,2]"] = { "pool('a',1)", "x[1,2]" }, ["{1,2"] = { "{1,2" }, ['"1,2'] = { '"1,2' },
    } do
      assert.same(parts, overrides.split(text), text)
    end
  end)

  it("give a key once", function()
    local fault = helper.fault(overrides.check, { "seq=1", "batch=2", "seq=1" }, true)
    assert.same({ '"seq": the key is given twice' }, fault.lines)
    assert.equal(2, fault.code)
    assert.is_nil(helper.fault(overrides.check, { "output.1.to=3", "output.2.to=3", "nonsense", "nonsense" }, true))
  end)

  it("give a value once", function()
    assert.same({ '"seq": the value "8" is given twice' },
      helper.fault(overrides.check, { "batch=8,9", "seq=8,16, 8" }, true).lines)
    assert.is_nil(helper.fault(overrides.check, { "batch=8,9", "seq=8,9", "mask={window={1,1}}" }, true))
  end)

  it("have a value beside each comma", function()
    for _, word in ipairs { "target=,", "target=avx2,", "target= ,avx2", "seq=4,,8" } do
      assert.same({ ('"%s": a value is missing next to a comma'):format(word) },
        helper.fault(overrides.check, { word }, true).lines)
    end
    assert.is_nil(helper.fault(overrides.check, { "seq=" }, true)) -- which the pass describe says better
  end)

  it("take lists only where they are asked for", function()
    assert.same({ '"seq=1,2": only bench and report take a list of values' },
      helper.fault(overrides.check, { "seq=1,2" }, false).lines)
    assert.is_nil(helper.fault(overrides.check, { "seq=1,2" }, true))
    assert.is_nil(helper.fault(overrides.check, { "mask={window={1,2}}" }, false))
  end)

  it("combine listed values, the last key fastest", function()
    local texts = {}
    for i, each in ipairs(overrides.combinations { "seq=1,2", "mask=causal", "threads=3,4" }) do
      texts[i] = table.concat(each.overrides, " ")
      assert.same({ { key = "seq", value = tostring((i + 1) // 2) }, { key = "threads", value = tostring(4 - i % 2) } },
        each.varied)
    end
    assert.same({ "seq=1 mask=causal threads=3", "seq=1 mask=causal threads=4", "seq=2 mask=causal threads=3",
      "seq=2 mask=causal threads=4" }, texts)
    assert.same({ { overrides = { "x" }, varied = {} } }, overrides.combinations { "x" })
    assert.same({ { overrides = {}, varied = {} } }, overrides.combinations {})
    assert.equal(2, helper.fault(overrides.combinations, { "a=1,2,3,4,5,6,7,8,9", "b=1,2,3,4,5,6,7,8" }).code)
  end)

  it("have a folder of their own, whatever their order, and never that of a build", function()
    local one = overrides.folder("first", { "seq=8", "batch=2" })
    assert.equal(one, overrides.folder("first", { "batch=2", "seq=8" }))
    assert.matches("^out/first%.variants/batch=2,seq=8%-%x+$", one)
    assert.matches("^out/first%.variants/as_described%-%x+$", overrides.folder("first", {}))
    local seen = { [overrides.folder("first", {}, { "factors=1" })] = true }
    assert.is_nil(seen[overrides.folder("first", {}, { "factors=2" })])
    for _, list in ipairs { {}, { "a=1" }, { "a=1 " }, { "a= 1" }, { "a=1", "b=1" }, { "a=/../.." }, { "a=\n'$(x)" },
      { "a=" .. ("x"):rep(500) }, { "a=" .. ("x"):rep(501) } } do
      local folder = overrides.folder("first", list)
      assert.is_nil(seen[folder])
      seen[folder] = true
      assert.matches("^out/first%.variants/[%w_.,=-]+$", folder)
      assert.is_true(#folder < 120)
    end
  end)
end)
