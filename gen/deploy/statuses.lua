-- statuses.lua: lists the exit codes of the command and of the programs that it builds, for their manual pages.
return {
  { "0", "Done." },
  { "1", "A comparison failed." },
  { "2", "Wrong usage, or an invalid description." },
  { "3", "A malformed input file." },
  { "4", "Input or output failed: a file is missing, unreadable, or the disk full." },
  { "5", "Out of memory." },
  { "6", "This machine cannot run it." },
  { "130, 143", "Interrupted, terminated." },
}
