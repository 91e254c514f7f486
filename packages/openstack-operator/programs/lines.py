"""Process 1 of a container: runs a program, and makes every line that it and its children write one JSON object.

    lines.py SERVICE COMMAND [ARGUMENT ...]

Each has time, level, service, host and message, and request_id where it is of a request. Lines that are objects already keep all that
they have; a traceback, and lines of text that begin with a space, belong to the line before them. Signals are passed on, and the program's status is the
container's. The standard library alone.
"""
import json
import math
import os
import re
import selectors
import signal
import sys
import time

FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
# So long a line of text is kept back for lines that belong to it.
HELD_SECONDS = 0.2
# Longer lines are cut, and longer texts become several objects.
LONGEST = 1 << 18
# After the end of the program: what its children still hold open is not waited for.
DRAIN_SECONDS = 2
LEVELS = {
    "note": "INFO", "notice": "INFO", "system": "INFO", "dbg": "DEBUG", "warn": "WARNING", "err": "ERROR", "emer": "CRITICAL",
    "fatal": "CRITICAL",
}
# Open vSwitch and OVN; alembic; MariaDB and RabbitMQ.
LEVEL = re.compile(
    r"^\S+Z\|\d+\|[^|]*\|(EMER|ERR|WARN|INFO|DBG)\||^(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL) |\[(debug|info|note|notice|warning|error|critical)\]",
    re.IGNORECASE,
)
HOST = os.uname().nodename
CHAINED = ("During handling of the above exception", "The above exception was the direct cause")


def level_of(text):
    found = LEVEL.search(text)
    if found:
        word = next(group for group in found.groups() if group)
        return LEVELS.get(word.lower(), word.upper())
    return "ERROR" if "Traceback (most recent call last):" in text else "INFO"


def stamp(seconds):
    """Of a time that no clock has: now."""
    try:
        return stamped(seconds)
    except (OverflowError, OSError, ValueError):
        return stamped(time.time())


def stamped(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


def number(text):
    """A number too large for a float remains the text that it is: JSON has no infinity."""
    value = float(text)
    return text if math.isinf(value) else value


def completed(line, service):
    """An object with the fields that every line has, by the names that oslo.log and RabbitMQ have for them; None: the line is text."""
    try:
        found = json.loads(line, parse_constant=str, parse_float=number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    context = found.get("context")
    made, level = found.get("created"), str(found.get("level") or found.get("levelname") or "INFO")
    fields = {
        "time": str(found.get("time") or stamp(made if isinstance(made, (int, float)) else time.time())).replace(" ", "T", 1),
        "level": LEVELS.get(level.lower(), level.upper()),
        "service": found.get("service") or service,
        "host": found.get("host") or found.get("hostname") or HOST,
        "message": str(found.get("message", found.get("msg", ""))),
    }
    request = found.get("request_id") or (context.get("request_id") if isinstance(context, dict) else None)
    if request:
        fields["request_id"] = request
    return json.dumps({**fields, **{key: value for key, value in found.items() if key not in fields}}).encode()


class Stream:
    """One of the program's outputs."""

    def __init__(self, service, write):
        self.service = service
        self.write = write
        self.rest = b""
        self.held = []
        self.deadline = None
        # Of a traceback: "frames" until the line of the exception, then "end", where another one may follow.
        self.traceback = None

    def take(self, data):
        self.rest += data
        *lines, self.rest = self.rest.split(b"\n")
        for line in lines:
            self.line(line[:LONGEST])
        if len(self.rest) > LONGEST:
            self.line(self.rest[:LONGEST])
            self.rest = b""

    def line(self, line):
        whole = completed(line, self.service) if line.startswith(b"{") else None
        if whole:
            self.flush()
            self.write(whole + b"\n")
            return
        text = line.decode("utf-8", "replace").rstrip("\r")
        if not self.belongs(text):
            self.flush()
            if not text.strip():
                return
        if text.startswith("Traceback (most recent call last):"):
            self.traceback = "frames"
        self.held.append(text)
        self.deadline = self.deadline or time.monotonic() + HELD_SECONDS
        if sum(map(len, self.held)) > LONGEST:
            self.flush()

    def belongs(self, text):
        """Does it continue the text that is held?"""
        if not self.held:
            return False
        if text.startswith((" ", "\t")):
            return True
        if self.traceback == "frames":
            self.traceback = "end" if text else "frames"
            return True
        if self.traceback == "end":
            return not text or text.startswith(CHAINED) or text.startswith("Traceback (most recent call last):")
        # A message and its traceback are one.
        return text.startswith("Traceback (most recent call last):")

    def flush(self):
        text = "\n".join(self.held).strip("\n")
        self.held, self.deadline, self.traceback = [], None, None
        if not text:
            return
        fields = {"time": stamp(time.time()), "level": level_of(text), "service": self.service, "host": HOST, "message": text}
        self.write(json.dumps(fields).encode() + b"\n")

    def end(self):
        if self.rest:
            self.line(self.rest[:LONGEST])
            self.rest = b""
        self.flush()


def write_all(data):
    while data:
        data = data[os.write(1, data):]


class Program:
    """The program, and the outputs of all that it starts."""

    def __init__(self, service, command):
        self.status = None
        self.selector = selectors.DefaultSelector()
        wake, self.waker = os.pipe()
        for end in (wake, self.waker):
            os.set_blocking(end, False)
        self.selector.register(wake, selectors.EVENT_READ, None)
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        outputs = [os.pipe(), os.pipe()]
        self.child = os.fork()
        if self.child == 0:
            self.run(command, [writing for _, writing in outputs])
        for name in FORWARDED:
            signal.signal(getattr(signal, name), self.forward)
        for reading, writing in outputs:
            os.close(writing)
            os.set_blocking(reading, False)
            self.selector.register(reading, selectors.EVENT_READ, Stream(service, write_all))

    @staticmethod
    def run(command, outputs):
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # Python ignores these; the program decides for itself.
            for name in ("SIGPIPE", "SIGXFSZ"):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
            for number, output in enumerate(outputs, 1):
                os.dup2(output, number)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)

    def forward(self, number, _frame):
        if self.status is None:
            os.kill(self.child, number)

    def reap(self):
        """Process 1 is the parent of all that lost theirs."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.status = os.waitstatus_to_exitcode(status)

    def streams(self):
        return [key for key in self.selector.get_map().values() if key.data is not None]

    def pump(self, timeout):
        for key, _ in self.selector.select(timeout):
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            if key.data is None:
                continue
            if data:
                key.data.take(data)
            else:
                key.data.end()
                self.selector.unregister(key.fd)
        now = time.monotonic()
        for key in self.streams():
            if key.data.deadline is not None and key.data.deadline <= now:
                key.data.flush()

    def wait(self):
        ended = None
        while True:
            self.reap()
            now = time.monotonic()
            ended = ended or (now if self.status is not None else None)
            if ended is not None and (not self.streams() or now - ended >= DRAIN_SECONDS):
                break
            deadlines = [key.data.deadline for key in self.streams() if key.data.deadline is not None]
            if ended is not None:
                deadlines.append(ended + DRAIN_SECONDS)
            self.pump(max(0, min(deadlines) - now) if deadlines else None)
        for key in self.streams():
            key.data.end()
        return self.status if self.status >= 0 else 128 - self.status


if __name__ == "__main__":
    sys.exit(Program(sys.argv[1], sys.argv[2:]).wait())
