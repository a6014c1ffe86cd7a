-- build.lua: emitted C -> libraries and program, by make and the C compiler.
local faults = require("faults")
local files = require("files")
local hash = require("hash")
local targets = require("targets")
local version = require("version")

local build = {}

--- Compiles the model of a finished pipeline in `folder`: all of it, or, with `only`, one file of it. The runtime's
--- objects are kept in `cache` (default: beside the model). The environment's CC, ATTN2C_CFLAGS and ATTN2C_LDFLAGS are
--- taken. Faults: io, with the compiler's own words before it.
function build.run(state, folder, root, only, cache)
  local spec = state.spec
  local compiler = os.getenv("CC") or "cc"
  local flags = (os.getenv("ATTN2C_CFLAGS") or "") .. " " .. (os.getenv("ATTN2C_LDFLAGS") or "")
  local teams = spec.threads ~= 1 and "teams" or ""
  local key = hash.text(table.concat({ compiler, flags, version.generator, teams }, "|"))
  local stamp = folder .. "/.flags"
  local now = table.concat({ compiler, flags, spec.target, spec.kernels, teams }, "|")
  if files.read(stamp) ~= now then -- other flags than last time: compile anew
    os.execute(("rm -f %s/*.o"):format(files.shell(folder)))
    files.write_all(folder, { { name = ".flags", text = now } })
  end
  local command = {
    "make", "-s", "-j2", "--no-print-directory", "-f", files.shell(root .. "/runtime/build.mk"),
    "NAME=" .. spec.name, "DIR=" .. files.shell(folder),
    "CACHE=" .. files.shell((cache or build.cache(folder)) .. "/" .. key),
    "KERNELS=" .. spec.kernels, "TARGET_CFLAGS=" .. files.shell(targets.by_name[spec.target].cflags),
    "CC=" .. files.shell(compiler), "THREADS=" .. spec.threads,
    "WORKERS=" .. files.shell(table.concat(spec.workers, " ", 2)),
    only and files.shell(folder .. "/" .. only) or "all",
  }
  if not build.execute(table.concat(command, " ") .. " >&2") then
    faults.raise("io", ("cannot compile %s: what the compiler said is above"):format(folder))
  end
end

--- Runs a shell command that prints nothing on its standard output; returns what os.execute does. An interrupt (of
--- either of us; os.execute would ignore our own) raises "interrupted!", as one outside of a command does.
function build.execute(command)
  local handle, message = io.popen(command)
  if not handle then faults.raise("memory", "cannot start a command: " .. message) end
  handle:read("a")
  local ok, how, code = handle:close()
  if (how == "signal" and code == 2) or (how == "exit" and code == 130) then error("interrupted!", 0) end
  return ok, how, code
end

--- Where the runtime's objects are kept: beside the models.
function build.cache(folder) return (folder:match("^(.*)/[^/]*$") or ".") .. "/.runtime" end

return build
