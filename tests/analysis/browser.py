"""A headless Chromium, controlled over a pair of pipes (DevTools protocol), with the standard library alone."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"]


class Browser:
    """`with Browser() as b: b.open(path); b.run("1 + 1")`. Errors of a page are kept in `problems`."""

    @staticmethod
    def command():
        return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="browser-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{back_write}', "sh", self.command(), *FLAGS,
             f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read)
        os.close(back_write)
        self.held, self.number, self.session, self.events, self.problems, self.requests = b"", 0, None, [], [], []
        try:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.ask(domain + ".enable")
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- protocol: JSON messages that end with a NUL

    def receive(self, deadline):
        while b"\0" not in self.held:
            if not select.select([self.back], [], [], max(0, deadline - time.time()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.back, 1 << 20)
            if not part:
                raise EOFError("the browser left")
            self.held += part
        message, self.held = self.held.split(b"\0", 1)
        return json.loads(message)

    def take(self, event):
        self.events.append(event["method"])
        about = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif event["method"] == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append(str(about["args"]))
        elif event["method"] == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(about["entry"]["text"] + " " + about["entry"].get("url", ""))
        elif event["method"] == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.time() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.take(answer)

    # ---- pages

    def open(self, path, width=1280, height=900, dark=False):
        """Open a file; clears problems and requests."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events, self.problems, self.requests = [], [], []
        self.ask("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.time() + 60
        while "Page.loadEventFired" not in self.events:
            answer = self.receive(deadline)
            if "method" in answer:
                self.take(answer)

    def run(self, expression):
        """The value of a JavaScript expression in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise AssertionError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def press(self, key, text=None, code=0):
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)

    def write(self, text):
        self.ask("Input.insertText", text=text)

    def picture(self, path, whole=False):
        import base64
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
