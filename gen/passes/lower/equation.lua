-- equation.lua: writes the comment above the calls of a fusion: its equation.
local types = require("data.types")

--- Returns a fusion's equation with the names of the graph. rows: those of its region; nil: as many as a call has.
return function(fusion, block, rows)
  local op = fusion.leading
  local o = op.operands
  local text
  if fusion.panels then
    text = ("%s · %s"):format(o.x.name, o.weight.name)
    if o.bias then text = text .. " + " .. o.bias.name end
  elseif op.op == "row_scale" then text = o.x.name
  elseif op.op == "gather_columns" then text = ("%s[%s]"):format(o.x.name, o.order.name)
  elseif op.op == "own_ids" then text = ("own rows(%s)"):format(o.ids.name)
  elseif op.op:match("^take_") then text = op.op
  elseif op.op == "round" then text = ("bf16(%s)"):format(o.x.name)
  elseif op.op == "embed" then
    text = ("%s[%s]"):format(o.table.name, o.ids.name)
    if o.scale then text = ("%s %s[%s]"):format(text, o.scale.name, o.ids.name) end
  elseif op.op == "add" or op.op == "multiply" then
    text = ("%s %s %s"):format(o.a.name, op.op == "add" and "+" or "×", o.b.name)
  elseif op.op == "activate" then text = ("%s(%s)"):format(op.attributes["function"], o.x.name)
  else text = ("%s(%s)"):format(op.op, o.x.name) end
  for _, each in ipairs(fusion.epilogue) do
    if each.op == "dequantise" then
      text = ("(%s) %s %s"):format(text, each.operands.row_scale.name, each.operands.scale.name)
      if each.operands.bias then text = text .. " + " .. each.operands.bias.name end
    elseif each.op == "round" then
      text = ("bf16(%s)"):format(text)
    elseif each.op == "activate" then
      text = ("%s(%s)"):format(each.attributes["function"], text)
    elseif each.operands.x then
      text = ("%s(%s)"):format(each.op, text)
    else
      text = ("%s %s %s"):format(text, each.op == "add" and "+" or "×", each.operands.b.name)
    end
  end
  if fusion.round then text = ("bf16(%s)"):format(text) end
  if fusion.quantise then
    local factors = fusion.quantise.operands.factors
    text = ("%s(%s%s)"):format(types.all[fusion.quantise.result.type].word, text,
      factors and " × " .. factors.name or "")
  end
  local range = rows and block.count < rows and ("[%d:%d]"):format(block.first, block.first + block.count) or ""
  text = ("%s%s = %s"):format((fusion.round or fusion.quantise or fusion).result.name, range, text)
  if fusion.panels then
    text = ("%s   %d x %s x %d"):format(text, o.weight.shape[1], rows and block.count or "rows", o.weight.shape[2])
  end
  return text
end
