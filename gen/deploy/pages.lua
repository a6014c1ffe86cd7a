-- pages.lua: writes the manual and the completions into a folder, for install.sh.
-- It is called as lua5.4 gen/deploy/pages.lua FOLDER.
local gen = arg[0]:match("^(.*)/deploy/[^/]*$") or error("call it by its path, gen/deploy/pages.lua")
package.path = gen .. "/?.lua;" .. package.path
local completions = require("deploy.completions")
local files = require("common.files")
local manual = require("deploy.manual")
local program_manual = require("deploy.program_manual")

local parser = require("commands.grammar").parser()
files.write_all(assert(arg[1], "a folder is needed"), {
  { name = "attn2c.1", text = manual.command(parser) },
  { name = "attn2c-program.1", text = program_manual.page(gen .. "/..") },
  { name = "attn2c.5", text = manual.description() },
  { name = "attn2c.bash", text = completions.bash(parser) },
  { name = "_attn2c", text = completions.zsh(parser) },
  { name = "attn2c.fish", text = completions.fish(parser) },
})
