"""Runs a command on a terminal of its own: terminal.py ROWS COLUMNS COMMAND ARG...

Standard output is what the terminal shows. Each line of standard input is an order: "size ROWS COLUMNS" gives the
terminal another size, so that the command gets SIGWINCH; "type TEXT" types the text and the return key. The exit code
is the command's.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


def main():
    rows, columns, *command = sys.argv[1:]
    started, start = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.close(start)
        # Until the terminal has its size.
        os.read(started, 1)
        os.execvp(command[0], command)
    resize(terminal, rows, columns)
    os.write(start, b"x")
    orders, pending = [terminal, 0], b""
    while terminal in orders:
        for ready in select.select(orders, [], [])[0]:
            try:
                data = os.read(ready, 65536)
            except OSError:
                # A terminal that its last process has closed.
                data = b""
            if data == b"":
                orders.remove(ready)
            elif ready == terminal:
                os.write(1, data)
            else:
                *lines, pending = (pending + data).split(b"\n")
                for order, _, rest in (line.partition(b" ") for line in lines):
                    if order == b"size":
                        resize(terminal, *rest.split())
                    else:
                        os.write(terminal, rest + b"\r")
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)


main()
