-- systems.lua: what the compiler and the linker of an operating system need.
--
--   triple      a pattern that finds the system in a compiler's triple; the first that fits counts
--   shared      form of the shared library's name, of the model's name and the interface's number
--   link        form of a symbolic link to it; nil: none
--   flags       of all compilations, after the compiler's name
--   object      the first bytes of an object
--   hides       options of objcopy that keep the runtime's names out of the model's one object; nil: the linker hides
--               names, and the static library has the objects one by one
--   sharing     the linker's options for a shared library; %s is its name
--   portable    more of them for a library that is used on other machines
--   unused      functions of the C library that no static program with a server calls. The server's library looks up
--               names with them, and the linker warns that this needs shared libraries. A call ends the program
--   libraries   that each link ends with
--   program     form of the program's name; nil: there are only libraries
--   is_static   true if the program has all libraries in itself
--   linking     the linker's options for a program
--   wheel       tags of Python's packages by processor; %d is the version of macOS that the library needs. Linux has
--               tags of its C library's version
--   has_libxsmm true if libxsmm is there; else attn2c makes all matrix kernels
--   place       what a package runs on, as its page says
local systems = {}

systems.windows = {
  triple = "mingw",
  shared = "%s.dll",
  -- C99's formats, files beyond 2 GiB, vectors on a stack that Windows aligns to 16 bytes only, libraries of texts that
  -- are linked in, and attributes that it does not have.
  flags = { "-D__USE_MINGW_ANSI_STDIO=1", "-D_FILE_OFFSET_BITS=64", "-Wa,-muse-unaligned-vector-move",
    "-DUTF8PROC_STATIC", "-DPCRE2_STATIC", "-D_POSIX_THREAD_SAFE_FUNCTIONS=200112L", "-Wno-attributes" },
  object = "\x64\x86",
  hides = {},
  sharing = { "-static-libgcc", "-s", "-Wl,--exclude-libs,ALL" },
  libraries = { "-l:libwinpthread.a", "-lws2_32", "-liphlpapi", "-lshlwapi", "-lm" },
  program = "%s.exe",
  is_static = true,
  linking = { "-Wl,--stack,8388608", "-l:program/windows.ld" }, -- bytes, as on Linux; of the runtime
  wheel = { x86_64 = "win_amd64", aarch64 = "win_arm64" },
  place = "Windows",
}

systems.macos = {
  triple = "macos",
  shared = "lib%s.dylib",
  flags = { "-fno-sanitize=undefined" }, -- which zig's compiler adds to code that it does not optimise
  object = "\xcf\xfa\xed\xfe",
  sharing = { "-Wl,-install_name,@rpath/%s" },
  libraries = { "-lpthread", "-lm" },
  linking = {},
  wheel = { x86_64 = "macosx_%d_0_x86_64", aarch64 = "macosx_%d_0_arm64" },
  place = "macOS",
}

systems.linux = {
  triple = "",
  has_libxsmm = true,
  shared = "lib%s.so.%d",
  link = "lib%s.so",
  flags = {},
  object = "\x7fELF",
  hides = { "--localize-hidden" },
  sharing = { "-Wl,-soname,%s", "-Wl,-z,noexecstack" },
  portable = { "-s", "-Wl,--gc-sections" },
  unused = { "getaddrinfo", "getservbyname", "getprotobynumber" },
  libraries = { "-lpthread", "-lm" },
  program = "%s",
  linking = {},
  wheel = {},
  place = "Linux with the C library that the name of this package has",
}

--- Returns the name of the system that a compiler with this triple makes code for.
function systems.of(triple)
  for _, name in ipairs { "windows", "macos" } do
    if triple:find(systems[name].triple, 1, true) or name == "macos" and triple:find("darwin", 1, true) then
      return name
    end
  end
  return "linux"
end

--- Returns the name of a model's program on a system (default: linux).
function systems.program_of(name, system) return (systems[system or "linux"].program or "%s"):format(name) end

return systems
