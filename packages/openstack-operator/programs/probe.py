"""One question of the kubelet to a process of its pod, where no resident prober asks. It imports little: it starts again for each question.

    probe.py listens-udp PORT    exits with 0 if a process of this pod listens
    probe.py runs NAME           exits with 0 if a process with this program runs
    probe.py greets PORT         exits with 0 if a broker of this pod responds to the name of the protocol
    probe.py answers SOCKET      exits with 0 if a server of HTTP behind a socket of the host responds
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
    """No version of HTTP has that number: the server itself says so, and no application is asked, which would write of it into its log."""
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


def runs(name):
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode("utf-8", "replace").split(" ")
        except OSError:
            continue
        # A process may have a title of its own, with its command in parentheses.
        if any(word.rstrip(")").rsplit("/", 1)[-1] == name for word in words):
            return True
    return False


if __name__ == "__main__":
    QUESTIONS = {"listens-udp": lambda port: listens_udp(int(port)), "greets": lambda port: greets(int(port)), "answers": answers, "runs": runs}
    sys.exit(0 if QUESTIONS[sys.argv[1]](sys.argv[2]) else 1)
