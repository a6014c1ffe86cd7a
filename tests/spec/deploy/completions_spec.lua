-- completions_spec: what a shell itself offers, of commands, options, keys and their values.
local helper = require("tests.spec.helper")
local completions = require("deploy.completions")
local parser = require("commands.command").grammar()

-- A line without its last word -> what that word may become.
local cases = {
  { "attn2c", "bui", "build" },
  { "attn2c build", "--emb", "--embed" },
  { "attn2c show x.lua --stage", "sched", "schedule" },
  { "attn2c build x.lua", "d_mo", "d_model=" },
  { "attn2c bench x.lua --profile", "seq", "seq=" },
  { "attn2c check x.lua", "kernels=li", "kernels=libxsmm" },
  { "attn2c gen x.lua", "final_norm=tr", "final_norm=true" },
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
      wanted[#wanted + 1] = (case[3]:gsub("^.*=(.)", "%1")) -- behind =, the value alone
    end
    for words, said in pairs { ["build ''"] = "", ["build x.lua nonsense"] = "", ["keys se"] = "",
      ["build --tuning x se"] = "", ["import x se"] = "", ["build x.lua --tuning se"] = "",
      ["build --tuning ''"] = "", ["build x.lua norm '='"] = "post pre none" } do
      lines[#lines + 1] = "offered attn2c " .. words
      wanted[#wanted + 1] = said
    end
    lines[#lines + 1] = "complete -p attn2c"
    wanted[#wanted + 1] = "complete -o bashdefault -o default -F _attn2c_words attn2c"
    local script = helper.file(table.concat(lines, "\n") .. "\n", "script")
    assert.equal(table.concat(wanted, "\n") .. "\n", helper.succeeds("bash --norc " .. helper.shell(script)))
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
    assert.equal(("ok\n"):rep(#cases), helper.succeeds("TERM=dumb HOME=$PWD timeout 60 zsh -f script", folder))
  end)
end)
