-- names.lua: naming schemes: how checkpoints call the weights that the graph calls
-- l3.attn.q.weight and so on. A scheme is a list of rules, the first that fits is taken.
--
-- pattern   of the graph's path
-- names     what a checkpoint may call it, tried in order; %1 .. are the pattern's captures
-- part, parts   the weight is the part-th of `parts` equal row ranges of the checkpoint's tensor
local names = {}

local function layer(path, torch_path, part)
  return {
    pattern = "^l(%d+)%." .. path .. "%.(%a+)$",
    names = { "encoder.layers.%1." .. torch_path, "layers.%1." .. torch_path },
    part = part, parts = part and 3,
  }
end

names.schemes = {
  -- The graph's own paths.
  attn2c = { { pattern = "^(.*)$", names = { "%1" } } },

  -- torch.nn.TransformerEncoder as `encoder` of a module, or by itself; `input`, and `output` as an nn.Sequential
  -- whose members are the description's output stages, counted from 0.
  torch = {
    layer("attn%.q", "self_attn.in_proj_%2", 1),
    layer("attn%.k", "self_attn.in_proj_%2", 2),
    layer("attn%.v", "self_attn.in_proj_%2", 3),
    layer("attn%.out", "self_attn.out_proj.%2"),
    layer("ff%.up", "linear1.%2"),
    layer("ff%.down", "linear2.%2"),
    layer("norm1", "norm1.%2"),
    layer("norm2", "norm2.%2"),
    { pattern = "^final_norm%.(%a+)$", names = { "encoder.norm.%1", "norm.%1" } },
    { pattern = "^input%.tokens%.weight$", names = { "token_embedding.weight", "embedding.weight" } },
    { pattern = "^input%.positions%.weight$", names = { "position_embedding.weight" } },
    { pattern = "^input%.linear%.(%a+)$", names = { "input.%1" } },
    { pattern = "^output%.(%d+)%.%a+%.(%a+)$", names = { "output.%1.%2" }, counts_from = 0 },
  },
}

--- Where a weight of the graph is found: { names, part, parts }.
function names.find(scheme, path)
  for _, rule in ipairs(assert(names.schemes[scheme], scheme)) do
    if path:match(rule.pattern) then
      local found = { part = rule.part or 1, parts = rule.parts or 1 }
      for i, name in ipairs(rule.names) do
        local text = path:gsub(rule.pattern, name)
        if rule.counts_from then
          text = text:gsub("%.(%d+)%.", function(n)
            return (".%d."):format(math.tointeger(n) - 1 + rule.counts_from)
          end, 1)
        end
        found[i] = text
      end
      return found
    end
  end
  error("no name for " .. path .. " in scheme " .. scheme)
end

return names
