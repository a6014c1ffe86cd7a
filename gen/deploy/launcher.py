"""Starts attn2c with the Lua 5.4 of this system. If it lacks something, one line names it and its packages."""
import os
import shutil
import subprocess
import sys
from typing import List, Optional

# The parts that are needed, and their packages on Debian, Fedora and Alpine. Words without a blank are modules of Lua.
_PARTS = (
    ("Lua 5.4", "lua5.4", "lua", "lua5.4"),
    ("argparse", "lua-argparse", "lua-argparse", "luarocks5.4 (then luarocks-5.4 install argparse)"),
    ("lfs", "lua-filesystem", "lua-filesystem", "lua5.4-filesystem"),
    ("dkjson", "lua-dkjson", "lua-dkjson", "luarocks5.4 (then luarocks-5.4 install dkjson)"),
    ("lpeg", "lua-lpeg", "lua-lpeg", "lua5.4-lpeg"),
    ("luv", "lua-luv", "lua-luv", "lua5.4-luv"),
    ("openssl.digest", "lua-luaossl", "lua-luaossl", "lua5.4-ossl"),
    ("a C compiler", "gcc libc6-dev binutils", "gcc glibc-devel binutils", "gcc musl-dev binutils"),
)
_INSTALLS = ("Debian: apt install", "Fedora: dnf install", "Alpine: apk add")
_WITHOUT_COMPILER = ("gen", "import", "show", "keys")  # commands
_MACHINE = 6  # the exit code if this machine lacks something


def _output(words: List[str]) -> str:
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


def _lua() -> Optional[str]:
    paths = [shutil.which(name) for name in ("lua5.4", "lua-5.4", "lua54", "lua")]
    return next((path for path in paths if path and _output([path, "-e", "print(_VERSION)"]) == "Lua 5.4\n"), None)


def _missing(lua: Optional[str], words: List[str]) -> List[str]:
    """What is needed for a command line and is not there."""
    modules = [part[0] for part in _PARTS if " " not in part[0]]
    script = "for name in ('%s'):gmatch('%%S+') do if not pcall(require, name) then print(name) end end" % " ".join(modules)
    found = ["Lua 5.4", *modules] if lua is None else _output([lua, "-e", script]).split()
    compiles = bool(words) and words[0][:1] != "-" and words[0] not in _WITHOUT_COMPILER
    if compiles and not (os.environ.get("CC") or os.environ.get("CROSS") or shutil.which("cc")):
        found.append("a C compiler")
    return found


def main() -> None:
    words, lua = sys.argv[1:], _lua()
    missing = _missing(lua, words)
    if lua is None or missing:
        parts = [part for part in _PARTS if part[0] in missing]
        lines = ["%s %s" % (install, " ".join(part[i + 1] for part in parts)) for i, install in enumerate(_INSTALLS)]
        print("attn2c: missing: %s. %s" % (", ".join(missing), "; ".join(lines)), file=sys.stderr)
        sys.exit(_MACHINE)
    sys.stdout.flush()
    os.execv(lua, [lua, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen", "attn2c"), *words])


if __name__ == "__main__":
    main()
