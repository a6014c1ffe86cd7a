-- families_spec: the tables of families: whole, of known words, and with a golden each.
local helper = require("tests.spec.helper")
local facts_pass = require("checkpoints.facts")
local families = require("checkpoints.families")
local json = require("common.json")
local lfs = require("lfs")
local names = require("checkpoints.names")
local stages = require("data.stages")
local words = require("common.words")

local kinds = words.set { "count", "size", "number", "flag", "text", "object", "list", "sides", "activation",
  "word", "integer", "words", "counts" }

describe("experts that are one tensor", function()
  for path, name in pairs { feed_forward = "lfm2_moe", mlp = "mixtral", block_sparse_moe = "granitemoe" } do
    it("are found in " .. path .. " of " .. name, function()
      local facts, given = facts_pass.read { model_type = name, num_hidden_layers = 3 }, {}
      families.by_name[name].derive(facts, {}, given, function(tensor)
        return tensor == "layers.2." .. path .. ".experts.gate_up_proj"
      end)
      local rule = given["l*.ff.experts.up.weight"]
      assert.same({ "model.layers.*." .. path .. ".experts.gate_up_proj", 2 }, { rule[1], rule.part })
    end)
  end
end)

describe("a family", function()
  for name, family in pairs(families.by_name) do
    it(name .. " has a table of known words", function()
      local facts = {}
      for _, entry in ipairs(family.config or {}) do
        assert.is_string(entry[1])
        assert.is_true(kinds[entry.kind], entry[1])
        assert.is_not_nil(entry.default, entry[1])
        assert.is_nil(facts[entry.to], entry[1])
        facts[entry.to] = true
      end
      for head, list in pairs(family.heads or {}) do
        for i, stage in ipairs(list) do
          assert.is_truthy(stages.constructors[stage[1]], head)
          local has_names = stage.tensor or stage.tensors or stage[1] == "pool" or stage[1] == "hidden"
          assert.is_truthy(has_names, ("%s, stage %d"):format(head, i))
        end
        assert.is_string(list[#list].name)
      end
    end)

    it(name .. " says which models people know it by", function() assert.is_string(family.known) end)

    it(name .. " names the weights of a layer", function()
      local one_norm = family.fixed and family.fixed.parallel == "one_norm"
      for _, path in ipairs { "l3.attn.q.weight", "l3.attn.v.weight", "l3.attn.out.weight", "l3.norm1.weight",
        "l3.ff.down.weight", not one_norm and "l3.norm2.weight" or nil } do
        local found = names.find(name, path, { input = { types = 0 }, gated = false })
        assert.is_truthy(#found.names >= 1)
        for _, each in ipairs(found.names) do
          assert.is_truthy(each ~= path and each:find("3", 1, true) and not each:find("[%%*]"), each)
        end
      end
    end)
  end

  it("has a golden that transformers made", function()
    local seen = {}
    local goldens = helper.root .. "/tests/hf/goldens"
    for case in lfs.dir(goldens) do
      local config = lfs.attributes(goldens .. "/" .. case .. "/config.json", "mode")
        and helper.read(goldens .. "/" .. case .. "/config.json") or ""
      local values = json.decode(config)
      for _, tower in ipairs { "image", "text" } do
        if values then seen[select(2, facts_pass.family(values, tower))] = true end
      end
    end
    for model_type in pairs(families.by_type) do assert.is_true(seen[model_type], model_type) end
  end)
end)
