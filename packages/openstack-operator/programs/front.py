"""Serves an API in front of uWSGI, and reads a request before a worker gets it: workers are few, and a client that is slow in its handshake, its
headers or its body would occupy one.

    front.py PORT CERTIFICATE KEY COMMAND...      COMMAND is uWSGI, which listens at SOCKET by its own protocol
    front.py PORT - - COMMAND...                  without TLS

A request that is too slow is dropped. Where there are too many connections that no worker has, one that waits for its client is dropped: the
oldest of the address with the most of them. Where workers have too many, no other one is accepted until one has ended. Bodies beyond BODY bytes, and those without a length, go to the worker as they come; a client that sends them, or reads
a long response, below RATE is dropped, too. Where FRONT_METRICS is a port, its metrics can be read there.
Where FRONT_DATABASE is a service, it knows whether that service's database responds (database_watch.py): while it does not, a request with the
header X-Causeway-Question gets 503 where that is "ready", and 200 where it is "live", without a worker. Requested to stop, it takes no more connections, ends the requests that it has, and then stops uWSGI."""
import collections
import contextlib
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

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
# Its folder is for programs alone.
sys.dont_write_bytecode = True
import database_watch

SOCKET = os.environ.get("FRONT_SOCKET", "/tmp/api.sock")
# Connections whose request is not whole or whose response was sent; those that a worker has, or is to have.
CONNECTIONS = int(os.environ.get("FRONT_CONNECTIONS", "128"))
REQUESTS = int(os.environ.get("FRONT_REQUESTS", "128"))
FAIR_SECONDS = 1
HEADER_SECONDS = float(os.environ.get("FRONT_HEADER_SECONDS", "10"))
BODY_SECONDS = float(os.environ.get("FRONT_BODY_SECONDS", "30"))
# A client may be behind RATE bytes a second for so long while a worker waits for it, in either direction.
IDLE_SECONDS = float(os.environ.get("FRONT_IDLE_SECONDS", "60"))
RATE = float(os.environ.get("FRONT_RATE", str(16 << 10)))
# For the client's end of TLS, once it has its response.
CLOSE_SECONDS = 2
# For a client that reads the metrics, from its first byte to its last: the next one waits for it.
METRICS_SECONDS = float(os.environ.get("FRONT_METRICS_SECONDS", "5"))
# For a worker that takes no more of a body.
WORKER_SECONDS = 600
STOP_SECONDS = 75
HEADERS = 60 << 10
BODY = 256 << 10
BLOCK = 64 << 10
# Bounds of the buckets of response times, in seconds.
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60)
# Which probe of the kubelet a request is of.
QUESTION = "HTTP_X_CAUSEWAY_QUESTION"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

# Name, kind, labels other than the deployment, and meaning. docs/reference/metrics.md is made from this table.
METRICS = (
    ("causeway_openstack_api_request_duration_seconds", "histogram", "component, method, code", "Time from a whole request to the first byte of its response, with the wait for a worker. Code none: the worker ended without one."),
    ("causeway_openstack_api_connections", "gauge", "component", "Connections that an API has now."),
    ("causeway_openstack_api_dropped_total", "counter", "component", "Connections that were dropped: slow clients, and those in the place of others."),
    ("causeway_openstack_api_database_away", "gauge", "component", "1 while the database of an API does not respond to the program in front of it, and its pod is therefore not ready."),
)


class Meter:
    """What the metrics say."""

    def __init__(self, connections, database):
        self.connections, self.database, self.dropped = connections, database, 0
        self.lock, self.times = threading.Lock(), {}

    def observe(self, method, response, seconds):
        code = response[9:12].decode("latin-1") if response.startswith(b"HTTP/1.") else "none"
        key = (method if method in METHODS else "other", code if code.isdecimal() else "none")
        with self.lock:
            counts = self.times.setdefault(key, [0] * (len(BUCKETS) + 1) + [0.0])
            counts[next((at for at, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))] += 1
            counts[-1] += seconds

    def text(self):
        own = f'deployment="{os.environ.get("DEPLOYMENT", "")}",component="{os.environ.get("COMPONENT", "")}"'
        (name, *_), *others = METRICS
        with self.lock:
            times = {key: list(counts) for key, counts in self.times.items()}
        lines = head_of(METRICS[0])
        for (method, code), (*counts, total) in sorted(times.items()):
            labels, count = f'{own},method="{method}",code="{code}"', 0
            for bound, more in zip((*BUCKETS, "+Inf"), counts):
                count += more
                lines.append(f'{name}_bucket{{{labels},le="{bound}"}} {count}')
            lines += [f"{name}_sum{{{labels}}} {round(total, 6)}", f"{name}_count{{{labels}}} {count}"]
        for row, value in zip(others, (self.connections(), self.dropped, int(self.database.away()))):
            lines += [*head_of(row), f"{row[0]}{{{own}}} {value}"]
        return "\n".join(lines) + "\n"

    def serve(self, port):
        listener = listen(port)
        while True:
            try:
                client, _ = listener.accept()
                with client, limited(client, METRICS_SECONDS):
                    read_head(client)
                    body = self.text().encode()
                    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                    client.sendall(head.encode() + body)
            except (OSError, Bad, RuntimeError):
                # Without a pause a lack of descriptors or threads would keep it busy.
                time.sleep(0.1)


@contextlib.contextmanager
def limited(client, seconds):
    """Ends the connection after this time, however often its client sends a byte."""
    timer = threading.Timer(seconds, shut, [client])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def shut(client):
    try:
        # That of TLS would forget what its own thread reads with.
        socket.socket.shutdown(client, socket.SHUT_RDWR)
    except OSError:
        pass


def head_of(row):
    name, kind, _, meaning = row
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def listen(port):
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    return socket.create_server(("", port), family=family, backlog=100, dualstack_ipv6=family == socket.AF_INET6)


class Bad(Exception):
    """A request that is not one, with the status to respond with."""


READING, WORKING, WAITING, ENDING = range(4)


class Connection:
    def __init__(self, plain, address):
        self.socket, self.address = plain, address
        self.limit(HEADER_SECONDS)
        # READING and ENDING: no worker has it. WAITING: a worker has it and waits for the client. WORKING is not
        # dropped for others.
        self.state, self.dropped, self.behind = READING, False, 0.0
        # Its client is to read, and not to send.
        self.sends = False
        self.lock = threading.Lock()

    def waits(self):
        """For its client, not for this program: nothing came that was not read yet, or what is sent is not read."""
        ready = select.poll()
        try:
            ready.register(self.socket, select.POLLOUT if self.sends else select.POLLIN)
            return not ready.poll(0)
        except (OSError, ValueError):
            # It is being closed.
            return False

    def become(self, state):
        """Fails where it was dropped by now: no worker gets such a request."""
        with self.lock:
            if self.dropped:
                raise OSError("dropped")
            self.state = state

    @contextlib.contextmanager
    def waiting(self, sends=0):
        """A worker's wait for the client: it has what is left of IDLE_SECONDS, and the time that the bytes take at RATE. Gives the function to
        report bytes that came."""
        self.become(WAITING)
        self.sends = sends > 0
        moved, began = [sends], time.monotonic()
        self.limit(IDLE_SECONDS - self.behind + sends / RATE)
        try:
            yield moved.append
        finally:
            self.sends = False
            self.behind = max(0.0, self.behind + time.monotonic() - began - sum(moved) / RATE)
            self.limit(None)
        self.become(WORKING)

    def ends(self, seconds):
        self.become(ENDING)
        self.limit(seconds)

    def limit(self, seconds):
        self.deadline = None if seconds is None else time.monotonic() + seconds

    def drop(self, state=None):
        """Does nothing where it has another state than the given one by now. Was it dropped now?"""
        with self.lock:
            if state is not None and self.state != state:
                return False
            is_new, self.dropped = not self.dropped, True
        shut(self.socket)
        return is_new


class Front:
    def __init__(self, port, context, database=None):
        # Without a database nothing is away.
        self.context, self.port, self.database = context, port, database or database_watch.State()
        self.lock, self.open, self.stopping = threading.Lock(), {}, threading.Event()
        self.meter = Meter(lambda: len(self.open), self.database)
        self.listener = listen(port)
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
        """Drops a connection that waits for its client where there are too many, first of all one that no worker has, of the address with the most
        connections. Waits where no connection does: this program or the workers are behind. Those of other addresses are dropped only where
        that address has none for FAIR_SECONDS."""
        fair = time.monotonic() + FAIR_SECONDS
        while True:
            with self.lock:
                found = [(each, each.state) for each in self.open.values()]
            working = sum(state == WORKING for _, state in found)
            # While the database is away workers may have that many for long: the kubelet's questions are still read.
            if len(found) - working < CONNECTIONS and (working < REQUESTS or self.database.away()):
                return
            for states in ((READING, ENDING), (WAITING,)) if len(found) - working >= CONNECTIONS else ():
                count = collections.Counter(each.address[0] for each, state in found if state in states)
                most = max(count.values(), default=0)
                candidates = [(each, state) for each, state in found if state in states and each.waits()]
                of_most = [pair for pair in candidates if count[pair[0].address[0]] == most]
                if of_most or (candidates and time.monotonic() > fair):
                    # The first of those with the same number is the oldest.
                    each, state = max(of_most or candidates, key=lambda pair: count[pair[0].address[0]])
                    self.meter.dropped += each.drop(state)
                    break
            time.sleep(0.01)

    def watch(self):
        while True:
            time.sleep(0.25)
            now = time.monotonic()
            with self.lock:
                late = [each for each in self.open.values() if each.deadline is not None and each.deadline < now]
            for each in late:
                self.meter.dropped += each.drop()

    def handle(self, connection):
        try:
            connection.socket.settimeout(IDLE_SECONDS)
            # Otherwise the kernel holds the response for 40 ms, until the handshake's last message is acknowledged.
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # One of TLS takes the place of the plain one, which has no descriptor from then on.
            with secured(self.context, connection.socket) as client:
                connection.socket = client
                if self.context:
                    client.do_handshake()
                try:
                    self.answer(connection, client)
                except Bad as bad:
                    client.sendall(f"HTTP/1.1 {bad}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
                connection.ends(CLOSE_SECONDS)
                finish(client)
        except (OSError, ValueError):
            # The client is gone, was too slow, or speaks no TLS.
            pass
        finally:
            with self.lock:
                self.open.pop(id(connection), None)
            connection.socket.close()

    def ends_early(self, question, client):
        """While the database is away, workers wait for it: the kubelet is to send them no more requests, and not to blame them."""
        if not self.database.away():
            return False
        if question != "live":
            with self.lock:
                working = sum(each.state == WORKING for each in self.open.values())
            if question == "ready" or working >= REQUESTS:
                raise Bad("503 Service Unavailable")
            return False
        client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        return True

    def answer(self, connection, client):
        head, rest = read_head(client)
        variables, length, expects = parse(head, connection.address, self.port, "https" if self.context else "http")
        if self.ends_early(variables.pop(QUESTION, None), client):
            return
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
        left = Chunks() if length is None else Length(length)
        whole = [time.monotonic()]

        def received():
            whole[0] = time.monotonic()

        def responds(block):
            self.meter.observe(variables["REQUEST_METHOD"], block, time.monotonic() - whole[0])

        connection.become(WORKING)
        connection.limit(None)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as worker:
            # With a limit of time it would fail at once where many requests wait for a worker.
            worker.connect(SOCKET)
            worker.sendall(packet(variables) + left.take(rest))
            relay(connection, client, worker, left, received, responds)


def secured(context, plain):
    return context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) if context else plain


def finish(client):
    """Waits for the client's end: a connection that is closed before all that came was read is reset, and the response is lost."""
    if isinstance(client, ssl.SSLSocket):
        client.unwrap()
        return
    client.shutdown(socket.SHUT_WR)
    while client.recv(BLOCK):
        pass


def has_data(client):
    """What TLS has decrypted is no longer in the kernel, which select asks."""
    return isinstance(client, ssl.SSLSocket) and client.pending() > 0


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


def parse(head, address, port, scheme):
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
        "REMOTE_ADDR": address[0].removeprefix("::ffff:"), "REMOTE_PORT": str(address[1]), "REQUEST_SCHEME": scheme,
    }
    if scheme == "https":
        variables["HTTPS"] = "on"
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


class Length:
    """What is left of a body whose length is known."""

    def __init__(self, left):
        self.left = left

    @property
    def ended(self):
        return self.left <= 0

    def take(self, data):
        """What of it belongs to the body."""
        own = data[:self.left]
        self.left -= len(own)
        return own


class Chunks:
    """What is left of a chunked body: its end is known from its chunks alone."""

    def __init__(self):
        self.ended, self.last, self.skip, self.line = False, False, 0, b""

    def take(self, data):
        at = 0
        while at < len(data) and not self.ended:
            if self.skip:
                step = min(self.skip, len(data) - at)
                self.skip -= step
                at += step
                continue
            end = data.find(b"\n", at)
            self.line += data[at:len(data) if end < 0 else end]
            if len(self.line) > HEADERS:
                raise ValueError("a chunk without an end of its size")
            at = len(data) if end < 0 else end + 1
            if end >= 0:
                self.read(self.line.strip())
                self.line = b""
        return data[:at]

    def read(self, line):
        if self.last:
            # Trailers end with an empty line.
            self.ended = not line
            return
        size = int(line.split(b";")[0], 16)
        if size < 0:
            raise ValueError("a chunk below zero")
        self.last, self.skip = size == 0, size + 2 if size else 0


def relay(connection, client, worker, left, received, responds):
    """The response, with the rest of a body that was not read. A short response is read as a whole: its worker is free before a slow client
    has it."""
    kept, is_closed, is_first = b"", False, True
    while True:
        if left.ended or is_closed:
            ready = [worker]
        else:
            with connection.waiting() as came:
                ready = [client] if has_data(client) else select.select([worker, client], [], [])[0]
                block = b""
                if client in ready:
                    block = client.recv(BLOCK)
                    came(len(block))
            if client in ready:
                # Not the client's time: it may wait for a worker. One that takes nothing must not hold it for ever.
                connection.limit(WORKER_SECONDS)
                if block:
                    worker.sendall(left.take(block))
                else:
                    is_closed = True
                    worker.shutdown(socket.SHUT_WR)
                received()
                connection.limit(None)
        if worker in ready:
            block = worker.recv(BLOCK)
            if is_first:
                responds(block)
                is_first = False
            kept += block
            if not block:
                # The worker is free: the client may be dropped for another one.
                connection.ends(IDLE_SECONDS - connection.behind + len(kept) / RATE)
                connection.sends = True
                client.sendall(kept)
                connection.sends = False
                return
            if len(kept) > BODY:
                with connection.waiting(len(kept)):
                    client.sendall(kept)
                kept = b""


def main(port, certificate, key, *command):
    context = None
    if certificate != "-":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
    if os.path.exists(SOCKET):
        os.unlink(SOCKET)
    process = subprocess.Popen(command)
    # No Event: a signal may come while this thread holds the lock of one, and its handler would wait for that for ever.
    stops = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: stops.append(number))
    while not os.path.exists(SOCKET) and process.poll() is None and not stops:
        time.sleep(0.05)
    if process.poll() is None and not stops:
        front = Front(int(port), context, database_watch.start(os.environ.get("FRONT_DATABASE", "")))
        if os.environ.get("FRONT_METRICS"):
            threading.Thread(target=front.meter.serve, args=(int(os.environ["FRONT_METRICS"]),), daemon=True).start()
        serving = threading.Thread(target=front.serve)
        serving.start()
        while not stops and process.poll() is None:
            time.sleep(0.1)
        front.stopping.set()
        serving.join(None if process.poll() is None else 1)
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    sys.exit(process.wait() if stops else (process.wait() or 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
