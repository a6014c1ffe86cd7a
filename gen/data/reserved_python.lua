-- reserved_python.lua: lists names that Python reserves, for the Python module of a model. An input keeps its name. If
-- that cannot be a parameter, the parameter has one underscore more, as a member of a C struct has (reserved.lua). The
-- module of a model has one underscore more if it, or what it imports, needs a module of that name.
local reserved = require("data.reserved")
local words = require("common.words")

local reserved_python = {}

local function set(text) return words.set(words.list(text)) end

--- Keywords up to Python 3.13. own: parameters that a method of a model has by itself.
reserved_python.keywords = set [[and as assert async await break class continue def del elif else except finally for
  from global if import in is lambda nonlocal not or pass raise return try while with yield]]
reserved_python.own = set "self out"

--- Modules of Python's own library, and NumPy.
reserved_python.modules = set [[abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64
  bdb binascii bisect builtins bz2 calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall
  concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal
  difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch
  fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http
  idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma
  mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath
  nturl2path numbers numpy opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform
  plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri
  random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site
  smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
  stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap
  this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types
  typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml
  xmlrpc zipapp zipfile zipimport zlib zoneinfo]]

--- Packages and commands of an environment, which a wheel of that name would replace; `test` is Python's own tests.
reserved_python.installed = set "activate pip pkg_resources python setuptools soundfile soxr test wheel"

--- True if a wheel may have a name: nothing that Python or an environment has is called so.
function reserved_python.is_free(name)
  return reserved_python.module(name) == name and not reserved_python.installed[name:match("^(.-)%d*$")]
end

--- Returns the parameter for an input: its member in C, or name_ if the name without trailing underscores is taken.
--- Two names never have the same parameter.
function reserved_python.parameter(name)
  local bare = name:match("^(.-)_*$")
  if reserved_python.keywords[bare] or reserved_python.own[bare] then return name .. "_" end
  return reserved.member(name)
end

--- Returns the module's name for a model. Names with a version belong to modules that models share.
function reserved_python.module(name)
  local is_taken = reserved_python.keywords[name] or reserved_python.modules[name] or name:match("^attn2c_%d")
  return is_taken and name .. "_" or name
end

return reserved_python
