#!/usr/bin/env python3
"""The page of `clique run --http` in a browser, by the protocol of its developers' tools.

usage: page.py BROWSER URL [DIRECTORY]     DIRECTORY: pictures are written there
"""
import base64, json, os, subprocess, sys, tempfile, time

PATIENCE = 60  # seconds


class Browser:
    """A browser that is told by a pipe what to do: JSON, each message with a zero byte behind it."""

    def __init__(self, program, directory):
        (orders, self.write), (self.read, answers) = os.pipe(), os.pipe()
        def place():  # the browser reads from descriptor 3, and writes to 4
            spare = [os.dup(orders), os.dup(answers)]
            for number, descriptor in zip((3, 4), spare):
                os.dup2(descriptor, number)
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={directory}"]
        self.process = subprocess.Popen(words, preexec_fn=place, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(orders), os.close(answers)
        self.rest, self.number, self.session, self.faults = b"", 0, None, []
        target = self.tell("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.tell("Runtime.enable")
        self.tell("Page.enable")

    def tell(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = os.read(self.read, 1 << 20)
                if not part:
                    sys.exit("the browser has ended")
                self.rest += part
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("method") == "Runtime.exceptionThrown":
                self.faults.append(answer["params"]["exceptionDetails"].get("exception", {}).get("description", "a fault"))
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def ask(self, expression):
        """The value of an expression of the page."""
        answer = self.tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, what):
        """Waits until an expression is true, and returns its value."""
        until = time.monotonic() + PATIENCE
        while not (value := self.ask(expression)):
            if time.monotonic() > until:
                sys.exit(f"{what}: not within {PATIENCE} seconds; faults of the page: {self.faults}")
            time.sleep(0.1)
        return value

    def open(self, url, width=1300, scheme="light"):
        self.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.tell("Page.navigate", url="about:blank")
        self.tell("Page.navigate", url=url)
        self.wait("document.querySelectorAll('.node').length", "the graph is not drawn")

    def picture(self, directory, name):
        if directory:
            data = self.tell("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            with open(os.path.join(directory, name + ".png"), "wb") as file:
                file.write(base64.b64decode(data))

    def key(self, key):
        text = "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            self.tell("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode={"Tab": 9, "Enter": 13}[key], text=text if kind == "keyDown" else "")


def check(is_so, what):
    if not is_so:
        sys.exit(what)


NODE = "[...document.querySelectorAll('.node')].find(node => node.getAttribute('aria-label').startsWith('%s,'))"
FLOWS = "[...document.querySelectorAll('.flow')].map(text => text.textContent).filter(Boolean)"


def main(program, url, directory):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            run(browser, url, directory)
        finally:
            browser.process.terminate()
            browser.process.wait()
    check(not browser.faults, f"the page has faults: {browser.faults}")
    print("the page does as it should")


def run(browser, url, directory):
    browser.open(url)
    names = browser.ask("[...document.querySelectorAll('.node')].map(node => node.getAttribute('aria-label').split(',')[0])")
    check({"src", "c", "box", "no", "routes", "q"} <= set(names), f"elements are missing: {names}")
    check(browser.ask(f"{NODE % 'box'}.classList.contains('compound')"), "a compound element is no box of its own")
    check(browser.ask("document.querySelectorAll('.edge.pull').length") == 1, "the connection that is pulled is not marked")

    # What Counter counts is known on both its sides, and behind what passes everything on.
    browser.wait(f"{FLOWS}.filter(text => /^\\d/.test(text)).length >= 5", "there are no rates on the lines")
    # The source sends 500 a second, and less where the machine is short of time; what comes late comes then.
    rate = browser.ask(f"{FLOWS}[0]")
    check(float(rate.removesuffix("/s")) < 700, f"a wrong rate: {rate}")
    browser.wait(f"{NODE % 'f'}.classList.contains('drops')", "the element that drops is not marked")

    # A click: handlers, arguments and the manual. The address keeps it.
    browser.ask(f"{NODE % 'no'}.dispatchEvent(new MouseEvent('click'))")
    browser.wait("document.querySelectorAll('#element .manual h4').length >= 2", "no manual is shown")
    arguments = browser.ask("[...document.querySelectorAll('.arguments li')].map(item => item.textContent)")
    check(arguments == ["allow dst port 53", "deny all"], f"wrong arguments: {arguments}")
    check("element=no" in browser.ask("location.hash"), "the address does not keep the element")
    browser.picture(directory, "element")

    # Costs are colours and words.
    browser.ask("document.getElementById('cost').click()")
    browser.wait("[...document.querySelectorAll('.cost')].filter(text => / (ns|µs)$/.test(text.textContent)).length >= 3", "no costs are shown")
    check(browser.ask("document.querySelectorAll('.heat5').length") >= 1, "the dearest element has no colour")
    browser.picture(directory, "costs")

    # Flows, and a filter that finds none.
    browser.wait("!document.getElementById('flows-section').hidden && document.querySelector('#flows tbody').textContent.includes('198.51.100.2')", "no flow is listed")
    browser.ask("(() => { const find = document.querySelector('#flows input'); find.value = 'tcp'; find.dispatchEvent(new Event('change')); })()")
    browser.wait("document.querySelectorAll('#flows tbody tr').length === 0", "the filter of flows does nothing")

    # A trace, and one that is wrong.
    start = "document.querySelector('#trace button').click()"
    browser.ask(f"document.querySelector('#trace input[type=number]').value = 2; {start}")
    browser.wait("document.querySelectorAll('.ways > li').length === 2 && document.querySelector('#trace .bar span').textContent === '2 packets'", "no packet is traced")
    browser.ask(f"document.querySelector('#trace input').value = 'weather and'; {start}")
    browser.wait("!/packets|waiting|^$/.test(document.querySelector('#trace .bar span').textContent)", "a wrong filter is not told")

    # By keyboard: the first element, and Enter opens it.
    browser.open(url)
    browser.ask("document.getElementById('graph').focus()")
    browser.key("Tab")
    browser.wait("document.activeElement.classList.contains('node')", "Tab does not lead into the graph")
    browser.key("Enter")
    browser.wait("!document.getElementById('element').hidden || location.hash.includes('in=')", "Enter opens nothing")

    # Dark, by an address that says what is shown.
    browser.open(url + "#cost=1&element=box%2Fct", scheme="dark")
    browser.wait("document.querySelector('#element h2')?.textContent === 'box/ct :: ConnTrack'", "the address does not open an element")
    dark = browser.ask("getComputedStyle(document.body).backgroundColor")
    check(dark == "rgb(20, 23, 27)", f"dark is not dark: {dark}")
    browser.open(url + "#cost=1", scheme="dark")
    browser.wait(f"{FLOWS}.length >= 5", "no rates")
    browser.picture(directory, "dark")

    # A phone: nothing is wider than the screen, and the graph begins where packets come in.
    browser.open(url, width=390)
    check(browser.ask("document.documentElement.scrollWidth") <= 390, "the page is wider than a phone")
    place = browser.ask(f"(() => {{ const [box, view] = [{NODE % 'src'}, document.getElementById('graph')].map(e => e.getBoundingClientRect()); return [box.left - view.left, view.right - box.right, box.top - view.top]; }})()")
    check(min(place) >= -1, f"the graph does not begin with its entry: {place}")
    browser.wait(f"{FLOWS}.length >= 5", "no rates")
    browser.picture(directory, "phone")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
