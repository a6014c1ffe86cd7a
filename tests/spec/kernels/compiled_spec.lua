-- compiled_spec: emitted products as compilers make them: the same bits for every optimisation level and both
-- compilers on one target, and sums that stay in registers over the loop of k.
local helper = require("tests.spec.helper")
local recipe = require("commands.build.recipe")
local targets = require("data.targets")

local root = helper.absolute_root()
local COMPILERS = { { "gcc", "-O3" }, { "gcc", "-O2" }, { "gcc", "-O1" }, { "clang", "-O3" } }

local X86 = { "x86_64", "avx2", "avx512" }

-- The targets that this machine can run.
local function runnable()
  local best = targets.host(targets.machine(os.getenv))
  for i, target in ipairs(X86) do
    if target == best then return table.move(X86, 1, i, 1, {}) end
  end
  return { best }
end

-- The words that compile a source with the flags of N_kernels.c and `more`.
local function compile_words(compiler, target, more, source, result)
  local build = { target = target, suffix = "", flags = targets.flags(target, compiler == "gcc") }
  for _, job in ipairs(recipe.jobs({ name = "tiny", workers = { 1 } }, { build }, {}, { "forward" })) do
    if job.name == "tiny_kernels.o" then
      return recipe.words(job.commands[1], setmetatable({ compiler = { compiler }, cflags = more,
        runtime = root .. "/runtime", inputs = { source }, result = result }, { __index = function() return {} end }))
    end
  end
  return nil
end

-- Compiles product_bits.c with the products of a target.
local function compile(folder, compiler, target, more, result)
  local header = ("%s/products_%s.h"):format(folder, target)
  if not io.open(header) then
    helper.write(header, helper.succeeds(("lua5.4 tests/c/products.lua %s few"):format(target), root))
  end
  local words = compile_words(compiler, target, { "-Werror", ("-DPRODUCTS=\"%s\""):format(header), table.unpack(more) },
    root .. "/tests/c/product_bits.c", result)
  local _, runs = helper.runner(root)
  runs(words)
end

describe("products in C", function()
  local folder
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for _, target in ipairs(runnable()) do
    it("make the same bits on " .. target .. ", however they are compiled", function()
      local expected
      local _, runs = helper.runner(folder)
      for _, each in ipairs(COMPILERS) do
        local compiler, level = table.unpack(each)
        compile(folder, compiler, target, { level }, folder .. "/bits.o")
        runs { compiler, "bits.o", "-o", "bits" }
        local bits = runs { "./bits" }
        assert.is_true(#bits > 50000)
        expected = expected or bits
        assert.is_true(bits == expected, ("%s %s differs"):format(compiler, level))
      end
    end)
  end

  -- The innermost loops of each function of assembly that multiply: calls visit(function's name, lines, uses of the
  -- stack's address).
  local function each_loop(text, visit)
    local name, lines, at = nil, {}, {}
    local function finish()
      local frame = table.concat(lines, "\n"):find("movq%s+%%rsp, %%rbp")
      local first
      for i, line in ipairs(lines) do
        local label = line:match("^(%.L%d+):")
        if label then at[label] = i end
        local target = line:match("^%s+j%l+%s+(%.L%d+)")
        if target and at[target] and (not first or at[target] > first) then -- none that ended inside
          first = i
          local body = table.concat(lines, "\n", at[target], i)
          if body:find("%svfmadd%d+ps%s") then
            visit(name, body, body:find("(%rsp", 1, true) or frame and body:find("(%rbp", 1, true))
          end
        end
      end
    end
    for line in text:gmatch("[^\n]+") do
      local label = line:match("^([%a_][%w_]*):")
      if label then
        finish()
        name, lines, at = label, {}, {}
      end
      lines[#lines + 1] = line
    end
    finish()
  end

  it("are looked at by a reader of assembly that knows loops and the stack", function()
    local found = {}
    each_loop("f:\n.L1:\n.L2:\n\tvfmadd231ps %zmm1, %zmm2, %zmm3\n\tjne .L2\n\tvmovaps %zmm1, 8(%rsp)\n\tjne .L1\n"
      .. "g:\n.L3:\n\tvfmadd231ps 8(%rsp), %zmm2, %zmm3\n\tjne\t.L3\n"
      .. "h:\n\tmovq %rsp, %rbp\n.L4:\n\tvfmadd231ps 8(%rbp), %zmm2, %zmm3\n\tjne\t.L4\n"
      .. "i:\n.L5:\n\tvfmadd231ps 8(%rbp), %zmm2, %zmm3\n\tjne\t.L5\n", function(name, _, stack)
      found[#found + 1] = name .. (stack and " stack" or "")
    end)
    assert.same({ "f", "g stack", "h stack", "i" }, found)
  end)

  for _, target in ipairs(runnable()[1] == "x86_64" and { "avx512", "avx2" } or {}) do
    it("for " .. target .. " keep all that a step needs in registers", function()
      local path, has_loop = folder .. "/bits.s", {}
      compile(folder, "gcc", target, { "-S" }, path)
      each_loop(helper.read(path), function(name, body, stack)
        assert.is_falsy(stack, ("%s:\n%s"):format(name, body))
        has_loop[name] = true
      end)
      local products = 0
      local header = helper.read(("%s/products_%s.h"):format(folder, target))
      for k, name in header:gmatch("{%d+, %d+, (%d+),[^}]* ([%w_]+)}") do
        products = products + 1
        assert.is_true(has_loop[name] or tonumber(k) < 16, name) -- few inputs need no loop
      end
      assert.is_true(products > 50)
    end)
  end
end)
