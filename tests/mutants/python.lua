-- python.lua: the part of list.lua that concerns the Python module of a model.
-- of and spec: as in list.lua.
return function(of, spec)
  local suite = spec .. "passes/emit/python_spec.lua"
  of("gen/passes/emit/python.lua", suite) {
    { name = "python_join", old = 'is_own[module] and "" or nil', new = "nil", filter = "become one module",
      wrong = "the module imports files that are part of it" },
  }
  of("runtime/python/calls.py", suite) {
    { name = "python_least", old = "not self.least_seq <= seq <= self.seq", new = "not 1 <= seq <= self.seq",
      filter = "by themselves", wrong = "a call may be too short" },
    { name = "python_overlap", old = "for other in [*inputs, *made.values()]:", new = "for other in made.values():",
      filter = "by themselves", wrong = "an output may overlap an input" },
  }
  of("runtime/python/values.py", suite) {
    { name = "python_modulo", old = "(most is not None and number > most)", new = "False", filter = "by themselves",
      wrong = "C takes a large integer modulo a power of two" },
    { name = "python_cut_path", old = 'if b"\\0" in path:', new = "if not path:", filter = "by themselves",
      wrong = "C takes a path up to its NUL" },
    { name = "python_cut_name", old = '(not may_end and "\\0" in value)', new = "False", filter = "by themselves",
      wrong = "C takes a name up to its NUL" },
    { name = "python_flag", old = "isinstance(value, (bool, np.bool_))", new = "isinstance(value, (int, str))",
      filter = "by themselves", wrong = "any text is taken for True" },
    { name = "python_letters", old = "if isinstance(values, (str, bytes)):", new = "if values is None:",
      filter = "by themselves", wrong = "a text is taken for the list of its letters" },
  }
  of("runtime/python/masks.py", suite) {
    { name = "python_late", old = "np.diff(mask, axis=1) > 0", new = "np.diff(mask, axis=1) > 1",
      filter = "by themselves",
      wrong = "padding may be on the left" },
  }
  of("runtime/python/library.py", suite) {
    { name = "python_freed_once", old = 'self.__dict__.pop("_end", None)', new = "self._end", filter = "by themselves",
      wrong = "memory is freed at every close" },
    { name = "python_left", old = "    def __del__(self) -> None:\n        self.close()\n", new = "",
      filter = "by themselves", wrong = "an owner that nobody closes keeps its memory" },
    { name = "python_copied", old = "def __reduce_ex__(self", new = "def reduce_ex(self", filter = "by themselves",
      wrong = "two owners free the same memory" },
    { name = "python_running", old = "                self._running.remove(word)\n", new = "", filter = "by themselves",
      wrong = "a pool with a call that has ended cannot be closed" },
  }
end
