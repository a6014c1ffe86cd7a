-- builds.lua: the part of list.lua that concerns gen/commands/build, and stores of results and of bytecode.
return function(of, spec)
  of("gen/commands/build/recipe.lua", spec .. "commands/build/recipe_spec.lua") {
    { name = "recipe_fast_math", old = "{ CC, \"-shared\", ", new = "{ CC, \"-shared\", \"-ffast-math\", ",
      suite = spec .. "whole/guest_spec.lua", filter = "floating%-point environment",
      wrong = "the library changes MXCSR when it is loaded" },
    { name = "recipe_local", old = "OBJCOPY, system.hides, ", new = "OBJCOPY, ",
      wrong = "the runtime's names are the user's, too" },
    { name = "recipe_level", old = "if not (is_users and word:match(\"^%-O\")) then",
      new = "if not word:match(\"^%-O\") then", filter = "leaves out its levels",
      wrong = "nothing is optimised" },
    { name = "recipe_provider", old = "or provider == providers.library or provider == providers.program",
      new = "or true",
      wrong = "both providers of kernels are linked" },
  }

  of("gen/commands/build/early.lua", spec .. "commands/build/early_spec.lua") {
    { name = "early_warm", old = "if not is_missing then return nil end", new = "",
      wrong = "a build whose cache is full starts a process" },
  }

  of("gen/common/compiled.lua", spec .. "common/compiled_spec.lua") {
    { name = "compiled_source", old = "same == source and ", new = "", filter = "if that has changed",
      wrong = "bytecode of an older source is used" },
    { name = "compiled_damaged", old = " and code == copy and", new = " and", filter = "damaged",
      wrong = "damaged bytecode is used" },
    { name = "compiled_private", old = 'about.permissions == "rwx------" and', new = "true and",
      filter = "others may write", wrong = "bytecode is taken from where others may write" },
  }

  of("gen/common/scratch.lua", spec .. "common/scratch_spec.lua") {
    { name = "scratch_lock", old = 'if handle then lfs.lock(handle, "w") end', new = "",
      filter = "stay while", wrong = "the work of a running process is removed" },
  }

  of("gen/common/store.lua", spec .. "common/store_spec.lua") {
    { name = "store_claim", old = "if claimed and claim_handle == nil then", new = "if false then",
      filter = "one process at a time", wrong = "builds that run at once compile the same sources" },
    { name = "store_content", old = "if not text or hash.content(text) ~= sum then", new = "if not text then",
      wrong = "half a result is linked" },
    { name = "store_mode", old = "if found.mode & 63 ~= 0 then", new = "if found.mode & 7 ~= 0 then",
      wrong = "a cache that a group may write is used" },
    { name = "store_killed", old = 'scratch.make(self.path, "new")', new = 'scratch.make(self.path, "made")',
      filter = "killed builds", wrong = "folders of killed builds stay" },
    { name = "store_folder", old = "if found.type ~= \"directory\" then", new = "if found.type == \"file\" then",
      wrong = "a link to a folder is used" },
    { name = "store_in_use", old = "if total <= limits.bytes or now - entry.used < limits.in_use then break end",
      new = "if total <= limits.bytes then break end", wrong = "what another build uses is removed" },
  }

  of("gen/commands/build/included.lua", spec .. "commands/build/included_spec.lua") {
    { name = "included_through", old = "        visit(header)\n", new = "",
      wrong = "a changed header that another one includes compiles nothing" },
  }

  of("gen/commands/build/runner.lua", spec .. "commands/build/runner_spec.lua") {
    { name = "runner_headers", new = "",
      old = "    parts[#parts + 1] = self.headers(job.from, job.source)\n",
      wrong = "a changed header compiles nothing" },
    { name = "runner_tools", old = "{ FORMAT, self.toolchain.identity, job.name }", new = "{ FORMAT, \"\", job.name }",
      wrong = "another compiler's results are used" },
    { name = "runner_inputs", old = "self.results[name].path or name .. \" \" .. self.identities[name]",
      new = "self.results[name].path or name", wrong = "what is linked of changed objects is not linked anew" },
    { name = "runner_looks", old = "if job.is_output or job.is_read or not is_input[job.name] then", new = "do",
      filter = "does not look", wrong = "a build reads all objects of the runtime, though it links nothing" },
    { name = "runner_maps", old = "if folder and not is_plain and not work then", new = "if false then",
      filter = "keeps folders", wrong = "one folder's name is in another one's result" },
  }

  of("gen/commands/build/again.lua", spec .. "commands/build/again_spec.lua") {
    { name = "again_target", old = "  add(\"target=\" .. target)\n", new = "",
      wrong = "another machine repeats a build for itself" },
  }

  of("gen/commands/wheel/metadata.lua", spec .. "whole/wheel_spec.lua") {
    { name = "wheel_version", old = 'if not number or number:match("^0%d") then', new = "if not number then",
      filter = "not canonical", wrong = "a version that pip spells otherwise names a wheel" },
  }

  of("gen/commands/wheel/archive.lua", spec .. "whole/wheel_spec.lua") {
    { name = "wheel_times", old = "    uv.fs_utime(folder .. \"/\" .. each, time, time)\n", new = "",
      filter = "parts of a package", wrong = "a wheel has the times at which it was made" },
  }

  of("gen/passes/emit/tasks.lua", spec .. "whole/tasks_spec.lua") {
    { name = "tasks_score", old = 'shape[#tensor.shape] == 1 and "SCORE" or answer.kind', new = "shape and answer.kind",
      filter = "answer as", wrong = "a reranker classifies" },
  }
end
