"""Serves an API over TLS in front of uWSGI, and reads a request before a worker gets it: workers are few, and a client that is slow in its
handshake, its headers or its body would occupy one.

    front.py PORT CERTIFICATE KEY COMMAND...      COMMAND is uWSGI, which listens at SOCKET by its own protocol

A request that is too slow is dropped; where too many wait, the oldest is. Bodies beyond BODY bytes, and those without a length, go to the
worker as they come. Requested to stop, it takes no more connections, ends the requests that it has, and then stops uWSGI."""
import os
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

SOCKET = os.environ.get("FRONT_SOCKET", "/tmp/api.sock")
CONNECTIONS = int(os.environ.get("FRONT_CONNECTIONS", "128"))
HEADER_SECONDS = float(os.environ.get("FRONT_HEADER_SECONDS", "10"))
BODY_SECONDS = float(os.environ.get("FRONT_BODY_SECONDS", "30"))
# Without progress of what is sent in either direction.
IDLE_SECONDS = 60
STOP_SECONDS = 75
HEADERS = 60 << 10
BODY = 256 << 10
BLOCK = 64 << 10


class Bad(Exception):
    """A request that is not one, with the status to respond with."""


class Connection:
    def __init__(self, plain, address):
        self.socket, self.address = plain, address
        self.limit(HEADER_SECONDS)
        self.reading = True

    def limit(self, seconds):
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def drop(self):
        try:
            # That of TLS would forget what its own thread reads with.
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)
        except OSError:
            pass


class Front:
    def __init__(self, port, context):
        self.context, self.port = context, port
        self.lock, self.open, self.stopping = threading.Lock(), {}, threading.Event()
        family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
        self.listener = socket.create_server(("", port), family=family, backlog=100, dualstack_ipv6=family == socket.AF_INET6)
        self.listener.settimeout(0.5)

    def serve(self):
        threading.Thread(target=self.watch, daemon=True).start()
        while not self.stopping.is_set():
            self.accept()
        # Those that the kernel has accepted by now would be reset.
        self.listener.settimeout(0)
        while self.accept():
            pass
        self.listener.close()
        end = time.monotonic() + STOP_SECONDS
        while self.open and time.monotonic() < end:
            time.sleep(0.1)

    def accept(self):
        try:
            raw, address = self.listener.accept()
        except (TimeoutError, BlockingIOError):
            return False
        except OSError:
            time.sleep(0.1)
            return False
        self.make_room()
        connection = Connection(raw, address)
        with self.lock:
            self.open[id(connection)] = connection
        threading.Thread(target=self.handle, args=(connection,), daemon=True).start()
        return True

    def make_room(self):
        """Waits where each connection is at work; drops the one that has been read for the longest time where one is read."""
        while True:
            with self.lock:
                if len(self.open) < CONNECTIONS:
                    return
                oldest = next((each for each in self.open.values() if each.reading), None)
            if oldest:
                oldest.drop()
            time.sleep(0.01)

    def watch(self):
        while True:
            time.sleep(0.25)
            now = time.monotonic()
            with self.lock:
                late = [each for each in self.open.values() if each.deadline is not None and each.deadline < now]
            for each in late:
                each.drop()

    def handle(self, connection):
        try:
            connection.socket.settimeout(IDLE_SECONDS)
            # Otherwise the kernel holds the response for 40 ms, until the handshake's last message is acknowledged.
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # It takes the place of the plain one, which has no descriptor from then on.
            with self.context.wrap_socket(connection.socket, server_side=True, do_handshake_on_connect=False) as client:
                connection.socket = client
                client.do_handshake()
                try:
                    self.answer(connection, client)
                except Bad as bad:
                    client.sendall(f"HTTP/1.1 {bad}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
                client.unwrap()
        except (OSError, ValueError):
            # The client is gone, was too slow, or speaks no TLS.
            pass
        finally:
            with self.lock:
                self.open.pop(id(connection), None)
            connection.socket.close()

    def answer(self, connection, client):
        head, rest = read_head(client)
        variables, length, expects = parse(head, connection.address, self.port)
        buffered = length is not None and length <= BODY
        if expects:
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if buffered:
            connection.limit(BODY_SECONDS)
            while len(rest) < length:
                block = client.recv(BLOCK)
                if not block:
                    return
                rest += block
            rest = rest[:length]
        # Counted among those that are at work, which are not dropped for others.
        connection.reading = False
        connection.limit(None)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as worker:
            # With a limit of time it would fail at once where many requests wait for a worker.
            worker.connect(SOCKET)
            worker.sendall(packet(variables) + rest)
            relay(connection, client, worker, isinstance(length, int) and buffered)


def read_head(client):
    data = b""
    while b"\r\n\r\n" not in data:
        if len(data) > HEADERS:
            raise Bad("431 Request Header Fields Too Large")
        block = client.recv(BLOCK)
        if not block:
            raise OSError("ended")
        data += block
    head, rest = data.split(b"\r\n\r\n", 1)
    if len(head) > HEADERS:
        raise Bad("431 Request Header Fields Too Large")
    return head.decode("latin-1"), rest


def parse(head, address, port):
    """The variables of the request, the length of its body (None: not known), and whether its client waits before it sends that."""
    first, *lines = head.split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Bad("400 Bad Request")
    method, target, protocol = words
    if not target.startswith("/"):
        target = urllib.parse.urlsplit(target)._replace(scheme="", netloc="").geturl() or "/"
    path, _, query = target.partition("?")
    variables = {
        "REQUEST_METHOD": method, "REQUEST_URI": target, "PATH_INFO": urllib.parse.unquote(path, "latin-1"), "QUERY_STRING": query,
        "SCRIPT_NAME": "", "SERVER_PROTOCOL": protocol, "SERVER_NAME": socket.gethostname(), "SERVER_PORT": str(port),
        "REMOTE_ADDR": address[0].removeprefix("::ffff:"), "REMOTE_PORT": str(address[1]), "HTTPS": "on", "REQUEST_SCHEME": "https",
    }
    length, chunked, expects = 0, False, False
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise Bad("400 Bad Request")
        value = value.strip()
        key = name.upper().replace("-", "_")
        # A name with an underscore would count as another one.
        if "_" in name or key == "PROXY":
            continue
        if key == "EXPECT":
            expects = value.lower() == "100-continue"
        elif key == "CONTENT_LENGTH":
            if not value.isdecimal() or "CONTENT_LENGTH" in variables:
                raise Bad("400 Bad Request")
            length = int(value)
            variables[key] = value
        elif key == "CONTENT_TYPE":
            variables[key] = value
        else:
            chunked = chunked or key == "TRANSFER_ENCODING"
            before = variables.get("HTTP_" + key)
            variables["HTTP_" + key] = value if before is None else f"{before}, {value}"
    if chunked and "CONTENT_LENGTH" in variables:
        raise Bad("400 Bad Request")
    return variables, None if chunked else length, expects


def packet(variables):
    body = b""
    for key, value in variables.items():
        for each in (key.encode("latin-1"), value.encode("latin-1")):
            body += struct.pack("<H", len(each)) + each
    if len(body) > 0xFFFF:
        raise Bad("431 Request Header Fields Too Large")
    return struct.pack("<BHB", 0, len(body), 0) + body


def relay(connection, client, worker, is_read):
    """The response, with the rest of a body that was not read. A short response is read as a whole: its worker is free before a slow client
    has it."""
    kept = b""
    while True:
        ready = [worker] if is_read else [client] if client.pending() else select.select([worker, client], [], [])[0]
        if client in ready:
            block = client.recv(BLOCK)
            connection.limit(IDLE_SECONDS)
            if not block:
                is_read = True
                worker.shutdown(socket.SHUT_WR)
            else:
                worker.sendall(block)
        if worker in ready:
            block = worker.recv(BLOCK)
            kept += block
            if not block or len(kept) > BODY:
                connection.limit(IDLE_SECONDS)
                client.sendall(kept)
                kept = b""
            if not block:
                return


def main(port, certificate, key, *command):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    if os.path.exists(SOCKET):
        os.unlink(SOCKET)
    process = subprocess.Popen(command)
    front = None
    stop = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    while not os.path.exists(SOCKET) and process.poll() is None and not stop.is_set():
        time.sleep(0.05)
    if process.poll() is None and not stop.is_set():
        front = Front(int(port), context)
        serving = threading.Thread(target=front.serve)
        serving.start()
        while not stop.wait(0.2) and process.poll() is None:
            pass
        front.stopping.set()
        serving.join(None if process.poll() is None else 1)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    sys.exit(process.wait() if stop.is_set() else (process.wait() or 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
