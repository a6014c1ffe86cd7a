-- damage.lua: damages chat templates at random, and makes random expressions, for tests/spec/whole/chat_spec.lua.
local damage = {}

-- Parts of templates that are put where they may not belong.
local parts = { "{{", "}}", "{%", "%}", "{#", "#}", "-%}", "{%-", "{% if x %}", "{% endif %}", "{% else %}",
  "{% for m in messages %}", "{% endfor %}", "{% set x = 1 %}", "{% set ns.x = ns %}", "{% macro f(a, b=1) %}",
  "{% endmacro %}", "{{ f(f(1)) }}", "{% set x %}", "{% endset %}", "{% break %}", "{% continue %}", "{% raw %}",
  "{% generation %}", "{% endgeneration %}", "{% with a = 1 %}", "{% endwith %}", "{% filter upper %}",
  "{% endfilter %}", "(", ")", "[", "]", "{", "}", "|", ".", ",", "~", "+", "-", "*", "/", "//", "%", "**", "==", "<",
  "not", "in", "is", "and", "or", "if", "else", "none", "true", "'", '"', "\\", "\n", " ", "0", "1", "-1", "99999",
  "1.5", "1e300", "loop", "loop.previtem", "messages", "messages[0]", "message", "x", "namespace(a=1)", "range(100)",
  "range(9, 0, -2)", "dict(a=[1])", "[::-1]", "[1:]", "[:-1]", "|tojson", "|tojson(indent=2)", "|list", "|first",
  "|last", "|length", "|join(',')", "|map('upper')", "|map(attribute='role')", "|select('string')",
  "|selectattr('role', 'eq', 'user')", "|sort", "|dictsort", "|unique", "|sum", "|min", "|indent(3)", "|trim",
  "|title", "|round(2)", "|int", "|float", "|replace('a', 'bb')", "|reverse", "|items", "|string", "|safe",
  "|default('d', true)", ".items()", ".split('a')", ".strip()", ".upper()", ".get('role')", ".rsplit(none, 1)",
 "|batch(2)", "|map('x')", ".append(1)", ".pop()", "f(*x)",
  "99999999999", "{% call f() %}", "{% endcall %}", "{% include x %}", "{% block x %}", "{% endblock %}", "recursive",
  ".splitlines()", ".title()", " is defined", " is string", " is mapping", " is divisibleby 3", "é", "😀", "\u{a0}",
  "\0", "\r\n" }

--- Returns a damaged template. others: templates of which parts may be taken.
function damage.apply(text, others)
  for _ = 1, math.random(1, 4) do
    local at = math.random(0, #text)
    local past = math.min(#text, at + math.random(0, 12))
    local kind = math.random(1, 6)
    if kind == 1 then
      text = text:sub(1, at) .. text:sub(past + 1)
    elseif kind == 2 then
      text = text:sub(1, at) .. text:sub(at + 1, past):rep(2) .. text:sub(past + 1)
    elseif kind == 3 and #text > 0 then
      text = text:sub(1, at) .. string.char(math.random(32, 126)) .. text:sub(at + 2)
    elseif kind == 4 then
      local other = others[math.random(#others)]
      local from = math.random(0, #other)
      text = text:sub(1, at) .. other:sub(from, from + math.random(1, 60)) .. text:sub(past + 1)
    else
      text = text:sub(1, at) .. parts[math.random(#parts)] .. text:sub(kind == 5 and at + 1 or past + 1)
    end
  end
  return text
end

--- Returns an expression of random parts, most of which is well-formed.
function damage.expression(depth)
  local function inner() return damage.expression(depth - 1) end
  local values = { "messages", "messages[0]", "x", "'aé b'", "3", "-2", "1.5", "none", "true", "[]", "{}", "loop",
    "namespace(a=1)", "range(5)", "bos_token", "(1, 2)", "{'b': 1, 'a': [2]}", "['b', 'a', 'b']" }
  if depth <= 0 then return values[math.random(#values)] end
  local kind = math.random(1, 6)
  if kind == 1 then
    local operators = { "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">=", " in ", " not in ", " and ",
      " or " }
    return ("(%s%s%s)"):format(inner(), operators[math.random(#operators)], inner())
  elseif kind == 2 then
    return ("(%s if %s else %s)"):format(inner(), inner(), inner())
  elseif kind == 3 then
    return ("[%s, %s][%s]"):format(inner(), inner(), inner())
  elseif kind == 4 then
    return ("{'k': %s}"):format(inner())
  end
  local applied = {}
  for _, part in ipairs(parts) do
    if part:find("^[|%[.]%S") or part:find("^ is ") then applied[#applied + 1] = part end
  end
  return ("(%s)%s"):format(inner(), applied[math.random(#applied)])
end

return damage
