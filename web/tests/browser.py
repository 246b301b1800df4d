"""A headless Chromium, driven through the pipe of its remote debugging: no library, no port, no network."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser")
PATIENCE = 120  # seconds until something that should come is given up; nothing is measured


def program():
    """The path of Chromium, or None."""
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


class Browser:
    def __init__(self):
        self._folder = tempfile.mkdtemp(prefix="treesample-browser-")
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def place():  # the numbers that Chromium expects
            os.dup2(to_read, 10)
            os.dup2(to_write, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self._process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--mute-audio", "--hide-scrollbars",
             f"--user-data-dir={self._folder}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._number = 0
        self.events = []
        targets = self._send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self._send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _receive(self):
        while b"\0" not in self._rest:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def _send(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self._to, text):]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)
        raise RuntimeError(f"{method}: no answer")

    def call(self, method, **parameters):
        return self._send(method, session=self._session, **parameters)

    def open(self, path):
        """A file of this machine; waits until it has been read."""
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("document.readyState === 'complete'")

    def run(self, expression):
        """The value of an expression of JavaScript, or of the promise that it is."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.run(f"Boolean({expression})"):
                return True
            time.sleep(0.05)
        raise RuntimeError(f"never true: {expression}")

    def settle(self):
        """Until what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def view(self, width, height=900, scheme="light", media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def key(self, name, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **({"text": text} if text and kind == "keyDown" else {}))
        self.settle()

    def picture(self, path, whole=True):
        """A screenshot as PNG, of the whole page or of what is seen."""
        options = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        data = self.call("Page.captureScreenshot", **options)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def requests(self):
        """Addresses that were asked for since open()."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """Exceptions, and errors in the browser's log, since open()."""
        return [event["params"] for event in self.events
                if event.get("method") == "Runtime.exceptionThrown"
                or (event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error")
                or (event.get("method") == "Runtime.consoleAPICalled"
                    and event["params"]["type"] in ("error", "assert"))]
