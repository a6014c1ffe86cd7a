-- equation.lua: writes the comment above the calls of a fusion: its equation.
local ops = require("data.ops")

-- How the result of an op is written, by its name: functions (operands, attributes, x); x: the text of its operand x or
-- a. Ops that have no entry are written as op(x).
local forms = {}

function forms.row_scale(_, _, x) return x end
function forms.round(_, _, x) return ("bf16(%s)"):format(x) end
function forms.activate(_, a, x) return ("%s(%s)"):format(a["function"], x) end
function forms.add(o, _, x) return ("%s + %s"):format(x, o.b.name) end
function forms.scale(_, a, x) return ("%s × %.9g"):format(x, a.factor) end
function forms.scale_columns(o, _, x) return ("%s %s"):format(x, o.factors.name) end
function forms.position_gates(o, _, x) return ("gates(%s · %s)"):format(x, o.weight.name) end
function forms.gate_rows(o, a, x)
  return ("%s × %s%s"):format(x, o.b.name, a.column and ("[%d]"):format(a.column) or "")
end

function forms.scale(_, a, x) return ("%.9g %s"):format(a.factor, x) end
function forms.row_length(_, _, x) return ("|%s|"):format(x) end
function forms.multiply(o, a, x) return (a.plus_one and "(%s + 1) × %s" or "%s × %s"):format(x, o.b.name) end
function forms.gather_columns(o, _, x) return ("%s[%s]"):format(x, o.order.name) end
function forms.own_ids(o) return ("own rows(%s)"):format(o.ids.name) end
function forms.own_columns(_, _, x) return ("own columns(%s)"):format(x) end
function forms.take_on() return "take_on" end
function forms.take_output() return "take_output" end

function forms.embed(o)
  local text = ("%s[%s]"):format(o.table.name, o.ids.name)
  return o.scale and ("%s %s[%s]"):format(text, o.scale.name, o.ids.name) or text
end

function forms.embed_boxes(o)
  local sizes = o.sizes and " and " .. o.sizes.name or ""
  return ("%s%s[boxes %s]"):format(o.table.name, sizes, o.boxes.name)
end

function forms.product(o, _, x)
  local text = ("%s · %s"):format(x, o.weight.name)
  return o.bias and ("%s + %s"):format(text, o.bias.name) or text
end

forms.linear, forms.linear_integers, forms.convolve = forms.product, forms.product, forms.product
forms.linear_experts, forms.linear_experts_integers = forms.product, forms.product
function forms.dequantise_experts(o, a, x) return forms.dequantise(o, a, x) end

function forms.pick(o, _, x) return ("%s[%s]"):format(x, o.chosen.name) end
function forms.group_rows(o) return ("choices of %s by expert"):format(o.chosen.name) end
function forms.spread(o, _, x) return ("%s, in the order of %s"):format(x, o.groups.name) end
function forms.combine(o, _, x) return ("%s %s, summed by row"):format(x, o.weights.name) end

function forms.dequantise(o, _, x)
  local text = ("(%s) %s %s"):format(x, o.row_scale.name, o.scale.name)
  return o.bias and ("%s + %s"):format(text, o.bias.name) or text
end

-- Returns an op of x as text. x: the text of its operand, or nil for that operand's name.
local function text_of(op, x)
  local operand = op.operands.x or op.operands.a
  local form = forms[op.op]
  x = x or operand and operand.name
  return form and form(op.operands, op.attributes, x) or ("%s(%s)"):format(op.op, x)
end

--- Returns a fusion's equation with the names of the graph. rows: its region's; nil: the rows of a call.
return function(fusion, block, rows)
  local text = text_of(fusion.leading)
  for _, op in ipairs(fusion.epilogue) do text = text_of(op, text) end
  if fusion.round then text = text_of(fusion.round, text) end
  if fusion.quantise then
    local factors = fusion.quantise.operands.factors
    text = ("int%d(%s%s)"):format(fusion.quantise.attributes.bits or 8, text, factors and " × " .. factors.name or "")
  end
  local range = rows and block.count < rows and ("[%d:%d]"):format(block.first, block.first + block.count) or ""
  text = ("%s%s = %s"):format((fusion.round or fusion.quantise or fusion).result.name, range, text)
  if not fusion.panels then return text end
  local inputs = fusion.leading.operands.weight.shape[2]
  return ("%s   %s%d x %s x %d"):format(text, fusion.experts and fusion.experts .. " experts of " or "",
    ops.outputs(fusion.leading), rows and block.count or "rows", inputs)
end
