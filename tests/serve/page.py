"""page.py - tries the page of a server in headless Chromium, as a person without a mouse does.

  page.py ADDRESS SCRIPT [--dark] [--screenshot F.png]

A script has a line for each step, with tabs between its words:
  focus ID            moves there by the key Tab only, and fails if it cannot be reached
  type TEXT           writes with the keyboard
  key NAME            presses Enter, Ctrl+Enter, Space or Tab
  file ID PATH        chooses a file
  see SECTION REGEX   waits until the section's result fits
  idle SECTION        waits until the section has its whole answer
  hidden SECTION      the section is not shown
Every element with the focus must be seen, and have a label. The page may call only its own server, and write nothing
to the console.
"""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 30  # seconds of a step


class Browser:
    """Chromium, told what to do through two pipes."""

    def __init__(self, folder, dark):
        read, self.to = os.pipe()
        self.answers, write = os.pipe()
        words = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 "--user-data-dir=" + folder, "--remote-debugging-pipe", "--window-size=900,1400", "about:blank"]
        if dark:
            words.insert(1, "--force-dark-mode")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=lambda: self.give(read, write),
                                        close_fds=False)
        os.close(read)
        os.close(write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    @staticmethod
    def give(read, write):
        one, other = os.dup(read), os.dup(write)
        os.dup2(one, 3)
        os.dup2(other, 4)

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                sys.exit("page.py: Chromium has ended")
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"page.py: {method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit("page.py: " + result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def wait(self, script, what):
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if self.value(script):
                return
            time.sleep(0.05)
        sys.exit(f"page.py: {what}: not within {LIMIT} seconds: {self.value('document.body.innerText')}")

    def press(self, key, code, text="", modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text,
                      modifiers=modifiers)


# The element that has the focus, its name, and whether an outline shows it.
NAMED = """(() => {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  const name = (e.labels && e.labels.length && e.labels[0].textContent) || e.textContent || e.getAttribute("aria-label");
  return [e.id, !!name && name.trim() !== "", box.width > 0 && box.height > 0, parseFloat(style.outlineWidth) >= 2];
})()"""

# The least contrast of a text with its background (WCAG 2.2); 4.5 is needed.
CONTRAST = """(() => {
  const light = c => { const x = c / 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
  const all = t => { const [r, g, b] = t.match(/[\\d.]+/g).map(Number); return 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b); };
  let least = 21;
  for (const e of document.querySelectorAll("h1, h2, p, label, textarea, input, button, td, th")) {
    if (!e.getClientRects().length) continue;
    let behind = e;
    while (behind && /, 0\\)$|transparent/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
    const a = all(getComputedStyle(e).color), b = all(getComputedStyle(behind || document.body).backgroundColor);
    if (!e.disabled) least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
})()"""


def focus(browser, name):
    for _ in range(60):
        found, is_named, is_seen, is_outlined = browser.value(NAMED)
        if found:
            assert is_named and is_seen and is_outlined, f"{found}: label {is_named}, seen {is_seen}, outline {is_outlined}"
        if found == name:
            return
        browser.press("Tab", 9)
    sys.exit(f"page.py: {name}: the key Tab does not reach it")


def follow(browser, step):
    word, *rest = step
    if word == "focus":
        focus(browser, rest[0])
    elif word == "type":
        browser.call("Input.insertText", text=rest[0].replace("\\n", "\n"))
    elif word == "key":
        name = rest[0].split("+")[-1]
        code, text = {"Enter": (13, "\r"), "Space": (32, " "), "Tab": (9, "")}[name]
        browser.press(" " if name == "Space" else name, code, text, 2 if rest[0].startswith("Ctrl+") else 0)
    elif word == "file":
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        node = browser.call("DOM.querySelector", nodeId=root, selector="#" + rest[0])["nodeId"]
        browser.call("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(rest[1])])
    elif word == "see":
        script = f"new RegExp({json.dumps(rest[1])}, 's').test(document.getElementById({json.dumps(rest[0])}).innerText)"
        browser.wait(script, " ".join(step))
    elif word == "idle":
        browser.wait(f"!document.querySelector('#{rest[0]} [aria-busy]')", " ".join(step))
    elif word == "hidden":
        assert browser.value(f"document.getElementById({json.dumps(rest[0])}).hidden"), rest[0] + ": is shown"
    else:
        sys.exit(f"page.py: {word}: no such step")


def main():
    address, script = sys.argv[1:3]
    shot = sys.argv[sys.argv.index("--screenshot") + 1] if "--screenshot" in sys.argv else None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder, "--dark" in sys.argv)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
                browser.call(domain + ".enable")
            if "--dark" in sys.argv:
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
            browser.call("Page.navigate", url=address + "/")
            browser.wait("document.getElementById('state') && document.getElementById('state').hidden", "the page")
            with open(script, encoding="utf-8") as file:
                for line in file.read().splitlines():
                    follow(browser, line.split("\t"))
            least = browser.value(CONTRAST)
            assert least >= 4.5, f"a text has the contrast {least:.2f}"
            if shot:
                image = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                with open(shot, "wb") as file:
                    file.write(base64.b64decode(image))
            for event in browser.events:
                method, given = event.get("method"), event.get("params", {})
                if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                    text = json.dumps(given)
                    assert re.search(r"status of 4\d\d", text), text
                if method == "Network.requestWillBeSent":
                    url = given["request"]["url"]
                    assert url.startswith((address, "data:", "about:")), url
            print("contrast %.1f" % least)
        finally:
            browser.process.kill()
            browser.process.wait()


main()
