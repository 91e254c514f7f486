"""The stock openstack client, kept running: one command a line (a JSON list of words), one JSON answer a line."""

import io
import json
import sys

from cliff.display import DisplayCommandBase
from openstackclient.shell import OpenStackShell


class Stream:
    """Represents stdout or stderr; what is written goes to the buffer of the running command."""

    encoding = "utf-8"

    def __init__(self):
        self.buffer_of_command = io.StringIO()

    def write(self, text):
        return self.buffer_of_command.write(text)

    def flush(self):
        pass

    def isatty(self):
        return False

    def take(self):
        text = self.buffer_of_command.getvalue()
        self.buffer_of_command = io.StringIO()
        return text


class NobodyThere(io.StringIO):
    """Represents stdin, which is ours: a terminal, so that no command takes our lines for its file, without a user."""

    def isatty(self):
        return True


def shows(shell, words):
    """True if the command prints a table, which it can print as JSON, too."""
    try:
        command = shell.command_manager.find_command(list(words))[0]
    except ValueError:
        return False
    return isinstance(command, type) and issubclass(command, DisplayCommandBase)


def run(shell, words):
    extra = ["-f", "json"] if shows(shell, words) else []
    try:
        return shell.run_subcommand(list(words) + extra)
    except SystemExit as end:
        return end.code
    except Exception as error:  # cliff writes it to the log, and so to stderr, by itself
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1


class Client(OpenStackShell):
    """The shell, with its prompt replaced by our lines."""

    def __init__(self, lines, answers, out, err):
        super().__init__()
        self.lines, self.answers, self.out, self.err = lines, answers, out, err

    def interact(self):
        self.interactive_mode = False
        for line in self.lines:
            code = run(self, json.loads(line))
            answer = {"code": int(code or 0), "out": self.out.take(), "err": self.err.take()}
            self.answers.write(json.dumps(answer) + "\n")
            self.answers.flush()
        return 0


def main():
    lines, answers, errors = sys.stdin, sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err = Stream(), Stream()
    sys.stdin = NobodyThere()
    code = Client(lines, answers, out, err).run([])
    errors.write(err.take())
    return code


sys.exit(main())
