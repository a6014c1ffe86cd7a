-- completions_spec: what a shell itself offers, of commands, options, keys and their values.
local helper = require("tests.spec.helper")
local completions = require("deploy.completions")
local pipeline = require("pipeline")
local parser = require("commands.grammar").parser()

-- A line without its last word -> what that word may become.
local cases = {
  { "attn2c", "bui", "build" },
  { "attn2c build", "--emb", "--embed" },
  { "attn2c show x.lua --stage", "sched", "schedule" },
  { "attn2c build x.lua", "d_mo", "d_model=" },
  { "attn2c bench x.lua --profile", "max_l", "max_lines=" },
  { "attn2c check x.lua", "kernels=li", "kernels=libxsmm" },
  { "attn2c gen x.lua", "final_norm=tr", "final_norm=true" },
  { "attn2c build x.lua", "precision=i", "precision=int8" },
  { "attn2c build x.lua", "mask=caus", "mask=causal" },
  { "attn2c build x.lua", "activation=quick", "activation=quick_gelu" },
  { "attn2c build x.lua", "names=distil", "names=distilbert" },
}

-- Words of a line as bash divides them: = is a word of its own.
local function bash_words(line)
  local list = {}
  for word in line:gmatch("%S+") do
    for part in word:gsub("=", " = "):gmatch("%S+") do list[#list + 1] = helper.shell(part) end
  end
  return list
end

local function has(shell) return os.execute("command -v " .. shell .. " >/dev/null") == true end

describe("completions", function()
  after_each(helper.clean)

  it("of bash are offered, and none where there is nothing to say, or where bash itself offers files", function()
    local path = helper.file(completions.bash(parser), "attn2c")
    local lines = { "source " .. helper.shell(path),
      "offered() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "
        .. "_attn2c_words attn2c \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[*]-}\"; }" }
    local wanted = {}
    for _, case in ipairs(cases) do
      lines[#lines + 1] = "offered " .. table.concat(bash_words(case[1] .. " " .. case[2]), " ")
      wanted[#wanted + 1] = (case[3]:gsub("^.*=(.)", "%1")) -- after =, the value alone
    end
    for words, said in pairs { ["build ''"] = "", ["build x.lua nonsense"] = "", ["keys se"] = "",
      ["build --tuning x se"] = "", ["import x se"] = "", ["build x.lua --tuning se"] = "",
      ["build --tuning ''"] = "", ["build x.lua norm '='"] = "post pre pre_ff sandwich res_post none",
      ["build x.lua precision '='"] = "f32 bf16 int8" } do
      lines[#lines + 1] = "offered attn2c " .. words
      wanted[#wanted + 1] = said
    end
    lines[#lines + 1] = "complete -p attn2c"
    wanted[#wanted + 1] = "complete -o bashdefault -o default -F _attn2c_words attn2c"
    local script = helper.file(table.concat(lines, "\n") .. "\n", "script")
    assert.equal(table.concat(wanted, "\n") .. "\n", helper.succeeds("bash --norc " .. helper.shell(script)))
  end)

  it("have the values of every key with a list of words, and all of them are values", function()
    local count = 0
    local description = helper.file('return { name = "tiny", seq = 8, d_model = 16, heads = 2, layers = 1 }', "d.lua")
    for _, row in ipairs(require("commands.reference").keys()) do
      for _, value in ipairs(row.words or {}) do
        count = count + 1
        local fault = helper.fault(pipeline.run, helper.root, description, { row.name .. "=" .. value }, "validate")
        for _, line in ipairs(fault and fault.lines or {}) do
          assert.is_nil(line:find(row.name .. ": [^,]*, but .* allowed"), line)
        end
      end
      -- Keys without words are numbers, names, paths and tables.
      local free = row.range:find("^[%d-]") or ({ name = 1, path = 1, text = 1, labels = 1, layers = 1, pictures = 1,
        ctc = 1, experts = 1, late_interaction = 1, spans = 1, sound = 1, speech = 1, streams = 1, layer_groups = 1,
        scale = 1, window = 1, rope_scaling = 1, generation = 1, prompts = 1, adapters = 1,
        memory = 1, input = 1, output = 1, inputs = 1, plan = 1 })[row.type]
      assert.is_truthy(free or row.words, row.name)
    end
    assert.is_true(count > 60)
  end)

  it("of fish are offered", function()
    if not has("fish") then return pending("needs fish") end
    local folder = helper.folder()
    helper.write(folder .. "/attn2c.fish", completions.fish(parser))
    local lines = { "source " .. helper.shell(folder .. "/attn2c.fish") }
    for _, case in ipairs(cases) do
      lines[#lines + 1] = ("complete -C %s"):format(helper.shell(case[1] .. " " .. case[2]))
    end
    helper.write(folder .. "/script", table.concat(lines, "\n") .. "\n")
    local said = helper.succeeds("HOME=$PWD XDG_CONFIG_HOME=$PWD fish --no-config script", folder)
    local offered = {}
    for line in said:gmatch("[^\n]+") do offered[#offered + 1] = line:match("^[^\t]+") end
    local wanted = {}
    for i, case in ipairs(cases) do wanted[i] = case[3] end
    assert.same(wanted, offered)
  end)

  it("of zsh complete a line", function()
    if not has("zsh") then return pending("needs zsh") end
    local folder = helper.folder()
    helper.write(folder .. "/_attn2c", completions.zsh(parser))
    -- A shell with a terminal of its own, which gets the line and a tab.
    local lines = { [[
zmodload zsh/zpty
zpty -b shell 'PS1= zsh -f -i'
zpty -w shell "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; bindkey -e; echo RE''ADY"
zpty -r shell said '*READY*']] }
    for _, case in ipairs(cases) do
      lines[#lines + 1] = ("zpty -w -n shell %s$'\\t'"):format(helper.shell(case[1] .. " " .. case[2]))
      lines[#lines + 1] = ("zpty -r shell said %s && print ok"):format(
        helper.shell("*" .. case[1] .. " " .. case[3] .. "*"))
      lines[#lines + 1] = "zpty -w -n shell $'\\025'" -- the line is emptied
    end
    lines[#lines + 1] = "zpty -d shell"
    helper.write(folder .. "/script", table.concat(lines, "\n") .. "\n")
    assert.equal(("ok\n"):rep(#cases), helper.succeeds("TERM=dumb HOME=$PWD timeout 300 zsh -f script", folder))
  end)
end)
