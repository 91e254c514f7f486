"""One question of the kubelet to a process of its pod, where no resident prober asks. It imports little: it starts again for each question.

    probe.py listens-udp PORT    exits with 0 if a process of this pod listens
    probe.py runs NAME           exits with 0 if a process with this program runs
    probe.py greets PORT         exits with 0 if a broker of this pod responds to the name of the protocol
    probe.py answers SOCKET      exits with 0 if a server of HTTP behind a socket of the host responds
    probe.py resolves PORT       exits with 0 if a name server of this pod responds, whatever it says
"""
import os
import socket
import sys


def listens_udp(port):
    for path in ("/proc/net/udp", "/proc/net/udp6"):
        with open(path, encoding="ascii") as file:
            if any(line.split()[1].endswith(f":{port:04X}") for line in list(file)[1:]):
                return True
    return False


def greets(port, timeout=4):
    """The kernel accepts connections for a process that hangs; an answer is the process's own."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout) as connection:
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return len(connection.recv(1)) == 1
    except OSError:
        return False


def answers(path, timeout=4):
    """No version of HTTP has that number: the server itself says so, and no application is called, which would write of it into its log."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(path)
            connection.sendall(b"GET / HTTP/9.9\r\n\r\n")
            said = connection.recv(4096)
            # What closes before the end of a response leaves an error in the log of the other side.
            while said and connection.recv(4096):
                pass
            return len(said) > 0
    except OSError:
        return False


def resolves(port, timeout=4):
    """A query of the class CHAOS: a server of zones refuses it by itself, without its database."""
    identity = os.urandom(2)
    query = identity + b"\0\0" + b"\0\1" + b"\0" * 6 + b"\7version\4bind\0" + b"\0\x10" + b"\0\3"
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
            connection.settimeout(timeout)
            connection.connect(("127.0.0.1", port))
            connection.send(query)
            # The socket is new, and connected: only that server's response comes here.
            return connection.recv(4096)[:2] == identity
    except OSError:
        return False


def program_of(command):
    """The paths that a process was started with: its program's, and of an interpreter that of the script. Arguments are none: process 1
    and the question itself have the name that is requested among them."""
    words = command.replace(b"\0", b" ").decode("utf-8", "replace").split(" ")
    # A process may have a title of its own, with its command in parentheses or brackets.
    begin = max((at for at, word in enumerate(words) if word.startswith(("(", "["))), default=0)
    words = [word.strip("()[]") for word in words[begin:]]
    return words[:1] + [word for word in words[1:] if "/" in word and not word.startswith("-")][:1]


def runs(name):
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                programs = program_of(file.read())
        except OSError:
            continue
        # Neither this question nor another one at the same time.
        if os.path.abspath(__file__) not in programs and any(program.rsplit("/", 1)[-1] == name for program in programs):
            return True
    return False


if __name__ == "__main__":
    OF_PORTS = {"listens-udp": listens_udp, "greets": greets, "resolves": resolves}
    QUESTION, OF = sys.argv[1:]
    sys.exit(0 if (OF_PORTS[QUESTION](int(OF)) if QUESTION in OF_PORTS else {"answers": answers, "runs": runs}[QUESTION](OF)) else 1)
