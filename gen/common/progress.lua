-- progress.lua: draws a progress bar with an estimate on stderr, for work that takes more than two seconds.
-- It is shown only if stderr is a terminal, and erased at the end.
local safe = require("common.terminal").safe

local progress = {}

local SHOWN_AFTER = 2 -- seconds
local EVERY = 0.1     -- seconds between two drawings
local WIDTH = 30

local Bar = {}
Bar.__index = Bar

-- Returns seconds since an arbitrary moment.
local function clock() return require("common.libuv").hrtime() / 1e9 end

--- Returns a bar, which ends with its scope (`local bar <close>`). options (for tests): terminal, clock, write.
function progress.start(options)
  options = options or {}
  return setmetatable({ clock = options.clock, terminal = options.terminal, second = os.time(),
    write = options.write or function(text) io.stderr:write(text) end }, Bar):restart()
end

local function time_text(seconds)
  if seconds < 90 then return ("%.0f s"):format(seconds) end
  return ("%.0f min"):format(seconds / 60)
end

-- True if the bar has to be drawn now. Short work needs neither the clock nor the terminal, so libuv is not loaded.
local function is_due(self)
  if not self.clock then
    if os.time() - self.second < SHOWN_AFTER then return false end
    self.clock = clock
    self.begun = clock() - SHOWN_AFTER
  end
  if self.terminal == nil then self.terminal = require("common.libuv").guess_handle(2) == "tty" end
  local now = self.clock()
  return self.terminal and now - self.begun >= SHOWN_AFTER and now - (self.drawn or 0) >= EVERY
end

--- Draws the bar with `part` (0 to 1) of the work done. `text` names the work.
function Bar:show(part, text)
  if not is_due(self) then return end
  self.drawn = self.clock()
  part = math.max(0, math.min(1, part))
  local elapsed = self.drawn - self.begun
  local left = part > 0.02 and (", %s left"):format(time_text(elapsed / part * (1 - part))) or ""
  local filled = math.floor(part * WIDTH)
  self.write(("\r[%s%s] %s%s  %s\27[K"):format(("#"):rep(filled), ("."):rep(WIDTH - filled), time_text(elapsed), left,
    safe(text)))
  self.is_shown = true
end

--- Begins another piece of work with its own estimate. A bar that is shown stays.
function Bar:restart()
  self.begun = self.clock and self.clock() or nil
  return self
end

--- Erases the bar. The next show() draws it again.
function Bar:hide()
  if self.is_shown then self.write("\r\27[K") end
  self.is_shown, self.drawn = false, nil
end

Bar.__close = Bar.hide

return progress
