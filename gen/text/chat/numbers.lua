-- numbers.lua: lists the steps, filters, tests and methods of chat templates, which the runtime knows by number.
-- gen/data/headers.lua writes them as runtime/chat/chat_numbers.h. The names of filters, tests and methods are Jinja's
-- and Python's, and their parameters have Jinja's and Python's order.
local numbers = {}

--- Steps, with the meaning of their numbers a and b. "word": an index in the list of texts. "slot": a variable's place.
numbers.steps = {
  { "text", "writes word a" },
  { "print", "writes the value" },
  { "word", "pushes word a" },
  { "integer", "pushes a" },
  { "real", "pushes real number a" },
  { "constant", "pushes none, false, true, an argument that is not given, or undefined: 0 to 4" },
  { "load", "pushes slot a" },
  { "load_root", "pushes slot a of the template, in a macro" },
  { "store", "pops slot a" },
  { "clear", "makes slot a undefined, of the name word b" },
  { "resolve", "fills slot a with the input of the name word b" },
  { "given", "goes to step a if slot b has an argument" },
  { "jump", "goes to step a" },
  { "jump_false", "pops; goes to step a if it is false" },
  { "and", "goes to step a if the value is false, else pops" },
  { "or", "goes to step a if the value is true, else pops" },
  { "pop", "pops a value" },
  { "under", "removes the value under the last one" },
  { "not" }, { "negative" }, { "positive" },
  { "add" }, { "subtract" }, { "multiply" }, { "divide" }, { "floor_divide" }, { "remainder" }, { "power" },
  { "join", "joins a values as text" },
  { "compare", "comparison a; b: keeps the right value under the result" },
  { "list", "makes a list of a values" },
  { "tuple", "makes a tuple of a values" },
  { "dict", "makes a dictionary of a pairs" },
  { "item", "object[key]" },
  { "attribute", "object.word a" },
  { "slice", "object[start:stop:step]" },
  { "filter", "filter a; b: the number of its inner filter or test" },
  { "test", "test a" },
  { "method", "method a" },
  { "call", "calls a value with a arguments and b named ones" },
  { "macro", "pushes macro a" },
  { "return", "ends a macro" },
  { "capture", "begins a text that becomes a value" },
  { "captured", "pushes the text" },
  { "loop", "pops what a loop iterates over" },
  { "next", "pushes the next item, or goes to step a" },
  { "itself", "fills slot a with the loop" },
  { "round", "an iteration has reached its end" },
  { "end_loop", "ends the loop" },
  { "end_else", "ends the loop; goes to step a if an iteration reached its end" },
  { "unpack", "pops a values out of one" },
  { "set", "sets attribute word a of a namespace to the value under it" },
  { "append", "adds the value to the list under it; both stay" },
  { "keep", "pops; if it is false, removes the last value of the list" },
  { "refuse", "refuses the chat for the reason word a" },
  { "stop", "ends the template" },
}

--- Comparisons, in the order of their numbers.
numbers.comparisons = { "eq", "ne", "lt", "le", "gt", "ge", "in", "not_in" }

--- Filters with their parameters. `!`: it must be given.
numbers.filters = {
  { "abs" }, { "attr", "!name" }, { "capitalize" }, { "default", "default_value", "boolean" },
  { "dictsort", "case_sensitive", "by", "reverse" }, { "first" }, { "float", "default" },
  { "indent", "width", "first", "blank" }, { "int", "default", "base" }, { "items" },
  { "join", "d", "attribute" }, { "last" }, { "length" }, { "list" }, { "lower" }, { "max" }, { "min" },
  { "replace", "!old", "!new", "count" }, { "reverse" }, { "round", "precision", "method" }, { "safe" },
  { "sort", "reverse", "case_sensitive", "attribute" }, { "string" }, { "sum" }, { "title" },
  { "tojson", "ensure_ascii", "indent", "separators", "sort_keys" }, { "trim", "chars" }, { "unique" }, { "upper" },
  -- These take the name of a filter or a test; the compiler knows it.
  { "map" }, { "map_attribute", "!attribute", "default" },
  { "select" }, { "reject" }, { "selectattr", "!attribute" }, { "rejectattr", "!attribute" },
}

--- Other names of filters, and of tests.
numbers.filter_names = { count = "length", d = "default" }
numbers.test_names = { ["=="] = "eq", equalto = "eq", ["!="] = "ne", [">"] = "gt", greaterthan = "gt", [">="] = "ge",
  ["<"] = "lt", lessthan = "lt", ["<="] = "le" }

numbers.tests = {
  { "truth" }, -- select without a test
  { "boolean" }, { "callable" }, { "defined" }, { "divisibleby", "!num" }, { "eq", "!other" }, { "even" }, { "false" },
  { "float" }, { "ge", "!other" }, { "gt", "!other" }, { "in", "!seq" }, { "integer" }, { "iterable" },
  { "le", "!other" }, { "lower" }, { "lt", "!other" }, { "mapping" }, { "ne", "!other" }, { "none" }, { "number" },
  { "odd" }, { "sameas", "!other" }, { "sequence" }, { "string" }, { "true" }, { "undefined" }, { "upper" },
}

--- Methods of texts, dictionaries, lists and `loop`. transformers allows none that changes a list or dictionary.
numbers.methods = {
  { "capitalize" }, { "count", "!sub" }, { "cycle", "!values" }, { "endswith", "!suffix" }, { "find", "!sub" },
  { "get", "!key", "default" }, { "index", "!value" }, { "isdigit" }, { "isspace" }, { "items" },
  { "join", "!iterable" }, { "keys" }, { "lower" }, { "lstrip", "chars" }, { "removeprefix", "!prefix" },
  { "removesuffix", "!suffix" },
  { "replace", "!old", "!new", "count" }, { "rfind", "!sub" }, { "rsplit", "sep", "maxsplit" }, { "rstrip", "chars" },
  { "split", "sep", "maxsplit" }, { "splitlines", "keepends" }, { "startswith", "!prefix" }, { "strip", "chars" },
  { "title" }, { "upper" }, { "values" },
}

--- The conversions of strftime_now.
numbers.dates = "YymdeHIMSjpBbhAawuFTRD%nt"

-- Returns name -> { number = from 0, parameters = { { name, is_required } } }.
local function by_name(list)
  local found = {}
  for i, row in ipairs(list) do
    local parameters = {}
    for k = 2, #row do
      local mark, name = row[k]:match("^(!?)(.*)$")
      parameters[k - 1] = { name = name, is_required = mark == "!" }
    end
    found[row[1]] = { number = i - 1, name = row[1], parameters = parameters }
  end
  return found
end

numbers.filter, numbers.test, numbers.method = by_name(numbers.filters), by_name(numbers.tests),
  by_name(numbers.methods)

numbers.step, numbers.comparison = {}, {}
for i, row in ipairs(numbers.steps) do numbers.step[row[1]] = i - 1 end
for i, name in ipairs(numbers.comparisons) do numbers.comparison[name] = i - 1 end

return numbers
