"""Headless Chromium, spoken to over its DevTools pipe: no driver and no package is needed."""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import signal
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell", "chromium-headless-shell")


def browser():
    """The path of a browser on this machine, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """A tab of a browser."""

    def __init__(self, send):
        self.send = send

    def open(self, path, width=1200, height=900, dark=False):
        """Load a local page at a width in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send("Page.navigate", url=Path(path).resolve().as_uri())
        self.run("new Promise(r => document.readyState === 'complete' ? r() : addEventListener('load', () => r()))")

    def run(self, script):
        """The value of a JavaScript expression, awaited."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector, number=0):
        """Click on an element with the mouse, where it stands on the screen."""
        element = f"document.querySelectorAll({json.dumps(selector)})[{number}]"
        self.run(f"{element}.scrollIntoView({{block: 'center'}})")
        box = f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())"
        where = self.run(box)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)

    def press(self, key, code=0, text=""):
        """Press a key of the keyboard."""
        for kind in ("keyDown", "keyUp"):
            written = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **written)

    def type(self, text):
        """Write text where the focus is."""
        self.send("Input.insertText", text=text)

    def picture(self, path):
        """Write a picture of the whole page."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))


@contextlib.contextmanager
def tab(folder):
    """A tab of a fresh browser, whose profile lies in a folder."""
    ours, theirs = os.pipe(), os.pipe()  # commands to the browser, answers from it
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}"]

    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (ours[0], theirs[1])]  # not among the numbers given below
    silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pipes = [(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(high, (3, 4), strict=True)]
    process = os.posix_spawn(str(browser()), ["chromium", *options], os.environ, file_actions=[*silent, *pipes])
    for fd in (*high, ours[0], theirs[1]):
        os.close(fd)
    commands, answers, count, session = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb"), [0], [None]

    def message():
        return json.loads(b"".join(iter(lambda: answers.read(1), b"\0")) or "{}")

    def send(method, **parameters):
        count[0] += 1
        number = count[0]
        asked = {"id": number, "method": method, "params": parameters}
        commands.write(json.dumps(asked | ({"sessionId": session[0]} if session[0] else {})).encode() + b"\0")
        while True:
            found = message()
            if found.get("id") == number:
                assert "error" not in found, (method, found)
                return found["result"]

    try:
        target = send("Target.createTarget", url="about:blank")["targetId"]
        session[0] = send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        send("Page.enable")
        yield Tab(send)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        commands.close()
        answers.close()
