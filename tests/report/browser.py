"""Drives headless Chromium through its DevTools pipe, using only the standard library."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One Chromium with one tab. `faults` returns the errors of a page, `fetched` its requests."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("chromium was not found; install the Debian package chromium "
                               "(scripts/install_dependencies test does)")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        reads, self.to_browser = os.pipe()
        self.from_browser, writes = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4; the shell puts our pipes there.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "sh", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--hide-scrollbars", f"--user-data-dir={self.folder.name}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(reads, writes), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads)
        os.close(writes)
        self.buffer = b""
        self.last = 0
        self.session = None
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        finally:
            self.process.wait(timeout=30)
            os.close(self.to_browser)
            os.close(self.from_browser)
            self.folder.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.from_browser], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("Chromium did not answer within a minute")
            part = os.read(self.from_browser, 1 << 20)
            if not part:
                raise RuntimeError("Chromium exited")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """Sends a command and waits for its answer; events that arrive first are kept."""
        self.last += 1
        command = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        deadline = time.monotonic() + 60
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive(deadline))

    def open(self, path, width=1400, height=1000, theme="light"):
        """Opens a file and waits until its scripts have run and a frame is painted."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.events.clear()
        self.call("Page.navigate", url="about:blank")
        self.wait_for("Page.loadEventFired")  # so that it is not mistaken for that of the page itself
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")
        self.settle()

    def settle(self):
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def run(self, script):
        """The value of a script; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def faults(self):
        """Exceptions, and errors and warnings in the console, since the page was opened."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ["error", "warning", "assert"]:
                found.append(str(parameters["args"]))
            elif event.get("method") == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
        return found

    def fetched(self):
        """The URLs requested since the page was opened."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def press(self, key, code):
        for kind in ["rawKeyDown", "char", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, text="\r" if kind == "char" else "")
        self.settle()

    def screenshot(self, whole=True):
        """The page as PNG in base64: all of it, or the visible part."""
        options = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        return self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **options)["data"]
