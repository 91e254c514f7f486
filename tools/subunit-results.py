"""Reads a subunit stream, version 2 (as stestr prints it) or 1 (as stestr keeps it while it runs: a run that was broken
off), and prints one JSON object a line: id, status, reason (the last line of what went wrong)."""
import io
import json
import sys

import subunit
import testtools


def reason(test):
    texts = []
    for name, content in test["details"].items():
        if name.startswith(("traceback", "reason")):
            texts.append(content.as_text().strip())
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    # The last line of a traceback names the error; tempest wraps the services' answers below "Details:".
    for at, line in enumerate(lines):
        if not line.startswith((" ", "Traceback")) and ("Error" in line or ": " in line):
            return " ".join(lines[at:])[:600]
    return lines[-1][:600] if lines else ""


def main():
    def show(test):
        print(json.dumps({"id": test["id"], "status": test["status"], "reason": reason(test)}))

    content = sys.stdin.buffer.read()
    result = testtools.StreamToDict(show)
    if content.startswith(b"time: "):
        old = testtools.ExtendedToStreamDecorator(result)
        old.startTestRun()
        server = subunit.TestProtocolServer(old, io.BytesIO())
        for line in content.splitlines(keepends=True):
            server.lineReceived(line)
        old.stopTestRun()
        return
    stream = subunit.ByteStreamToStreamResult(io.BytesIO(content), non_subunit_name="stdout")
    result.startTestRun()
    stream.run(result)
    result.stopTestRun()


main()
