-- repeated_spec: layers that are left out of checks are those that show nothing new: a defect of any layer is found.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local programs = require("passes.common.programs")
local repeated = require("passes.checks.repeated")
local words = require("common.words")

local LAYERS = helper.is_long and 12 or 8 -- enough for layers that are left out on both sides of the broken one

local kinds = {
  fixed = { seq = 24 },
  batches = { seq = 16, batch = 5 },
  any = { seq = { any = 40 } },
  context = { context = 64, sequences = 2, mask = "causal", input = { stage = "tokens", vocab = 50 },
    output = { { stage = "vocabulary" } } },
  alternating = { seq = { any = 40 }, layers = {} },
  overwritten = { seq = 32, d_ff = 160, output = { { stage = "log_softmax" }, { stage = "linear", to = 40 } } },
}
for i = 1, 24 do kinds.alternating.layers[i] = i % 3 == 0 and {} or { mask = "window", window = { 4, 4 } } end

-- Returns the state of a kind of model with layers that are alike.
local function made(kind, threads, last)
  local more = { layers = LAYERS, threads = threads }
  for key, value in pairs(kinds[kind]) do more[key] = value end
  return helper.tiny(more, last or "memory")
end

-- Returns how many layers a program has in all.
local function layers_of(program)
  local seen, count = {}, 0
  programs.each_list(program, function(_, section)
    if not seen[section] then seen[section], count = true, count + 1 end
  end)
  return count
end

-- Returns the calls of a section, with the list that has each.
local function calls_of(program, section_name)
  local found = {}
  programs.each_list(program, function(list, section)
    if section.name ~= section_name then return end
    for at, step in ipairs(list) do
      if programs.is_call(step) then found[#found + 1] = { list = list, at = at, step = step } end
    end
  end)
  return found
end

-- Ways to break one layer of a program. Each returns the checker that must find it.
local breaks = {
  ["an operand that moves out of its buffer"] = function(program, calls, pick)
    local call = calls[pick(#calls)]
    for _, name in ipairs(words.sorted_keys(call.step.arguments)) do
      local operand = call.step.arguments[name]
      if operand and operand.class == "arena" then
        operand.offset = operand.offset + program.buffers[operand.buffer].bytes
        return true
      end
    end
  end,
  ["a buffer with too few bytes"] = function(program, calls, pick)
    local call = calls[pick(#calls)]
    for _, name in ipairs(words.sorted_keys(call.step.arguments)) do
      local operand = call.step.arguments[name]
      if operand and operand.class == "arena" then
        program.buffers[operand.buffer].bytes = 4
        return true
      end
    end
  end,
  ["a norm that is lost"] = function(_, calls)
    for _, call in ipairs(calls) do
      if call.step.fn == "layer_norm" then
        table.remove(call.list, call.at)
        return true
      end
    end
  end,
  ["a value at another value's place"] = function(program, calls)
    local names = {}
    for _, call in ipairs(calls) do
      local operand = call.step.form == "product" and call.step.arguments.c
      if operand and operand.class == "arena" and not program.own[operand.buffer] then
        names[#names + 1] = operand.buffer
      end
    end
    if not names[2] or names[1] == names[2] then return false end
    program.offsets[names[2]] = program.offsets[names[1]]
    return true
  end,
}

describe("alike layers", function()
  for _, kind in ipairs(words.sorted_keys(kinds)) do
    for threads = 1, 2 do
      local what = ("%s, %d workers"):format(kind, threads)

      it("are left out: " .. what, function()
        local state = made(kind, threads)
        for _, program in ipairs(state.programs) do
          local is_beside = require("passes.checks.beside").any(program, words.sorted_keys(program.offsets))
          local all, some = layers_of(program), layers_of((repeated.left_out(state, program, is_beside)))
          assert.is_true(some < all, ("%s: %d of %d"):format(program.variant, some, all))
        end
        checks.memory(state)
      end)

      local is_sample = threads == ((kind == "any" or kind == "context") and 2 or 1)
      local test = (is_sample or helper.is_long) and it or function() end

      test("are checked, though: " .. what, function()
        local tried = 0
        for _, name in ipairs(words.sorted_keys(breaks)) do
          for layer = 4, LAYERS - 1, 5 do
            local state = made(kind, threads)
            local program = state.programs[1]
            local section
            programs.each_list(program, function(_, each)
              if each.name:match("%d+$") == tostring(layer) then section = each.name end
            end)
            if breaks[name](program, calls_of(program, section or ""), function(n) return (layer * 7) % n + 1 end) then
              tried = tried + 1
              local is_found = not pcall(checks.memory, state)
              assert.is_true(is_found, ("%s in %s"):format(name, section))
            end
          end
        end
        assert.is_true(tried >= (helper.is_long and 6 or 3), tried)
      end)
    end
  end
end)
