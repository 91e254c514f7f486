"""Asks a worker the decisive question and answers the kubelet. One small resident program for each pod, of the standard library alone.

    prober.py serve PORT SERVICE TOPIC    serves /startup, /ready, /live and /metrics; asks by a ping of oslo.messaging over AMQP

A ping goes to the queue TOPIC.SERVER, where no other process but the one in this pod reads. If the broker itself does not respond, the process is not
to blame: /live remains true, /ready becomes false.
"""
import configparser
import glob
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

INTERVAL = 15
TIMEOUT = 10
# So long a process may leave pings unanswered while its broker responds, before it counts as stuck. The kubelet
# restarts it when it has heard that six times in a row, half a minute apart.
STUCK_AFTER = 30


class BrokerAway(Exception):
    """The broker, not the process, does not respond."""


def short(text):
    data = text.encode()
    return struct.pack("!B", len(data)) + data


def long(data):
    return struct.pack("!I", len(data)) + data


class Amqp:
    """The part of AMQP 0-9-1 that a ping needs."""

    def __init__(self, host, port, user, password, vhost):
        try:
            self.socket = socket.create_connection((host, port), TIMEOUT)
            self.buffer = b""
            self.socket.sendall(b"AMQP\x00\x00\x09\x01")
            self.expect(10, 10)
            login = long(f"\0{user}\0{password}".encode())
            self.method(0, 10, 11, long(b"") + short("PLAIN") + login + short("en_US"))
            self.expect(10, 30)
            self.method(0, 10, 31, struct.pack("!HIH", 16, 131072, 0))
            self.method(0, 10, 40, short(vhost) + short("") + b"\0")
            self.expect(10, 41)
            self.method(1, 20, 10, short(""))
            self.expect(20, 11)
            self.method(1, 50, 10, struct.pack("!H", 0) + short("") + struct.pack("!B", 0b00001100) + long(b""))
            body = self.expect(50, 11)
            self.queue = body[1:1 + body[0]].decode()
            self.method(1, 60, 20, struct.pack("!H", 0) + short(self.queue) + short("") + struct.pack("!B", 2) + long(b""))
            self.expect(60, 21)
        except (OSError, EOFError, struct.error) as error:
            raise BrokerAway(str(error)) from error

    def frame(self, kind, channel, payload):
        self.socket.sendall(struct.pack("!BHI", kind, channel, len(payload)) + payload + b"\xce")

    def method(self, channel, of, number, arguments):
        self.frame(1, channel, struct.pack("!HH", of, number) + arguments)

    def read(self, size):
        while len(self.buffer) < size:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError("the broker closed the connection")
            self.buffer += data
        result, self.buffer = self.buffer[:size], self.buffer[size:]
        return result

    def next_frame(self):
        kind, channel, size = struct.unpack("!BHI", self.read(7))
        if size > 1 << 20:
            raise EOFError("a frame of the broker is too large")
        payload = self.read(size)
        self.read(1)
        return kind, channel, payload

    def expect(self, of, number):
        while True:
            kind, _, payload = self.next_frame()
            if kind != 1:
                continue
            found = struct.unpack("!HH", payload[:4])
            if found == (of, number):
                return payload[4:]
            if found in ((10, 50), (20, 40)):
                raise EOFError("the broker refused: " + payload[6:].decode("utf-8", "replace")[:200])

    def publish(self, queue, body):
        self.method(1, 60, 40, struct.pack("!H", 0) + short("") + short(queue) + b"\0")
        properties = short("application/json") + short("utf-8")
        self.frame(2, 1, struct.pack("!HHQH", 60, 0, len(body), 0xC000) + properties)
        self.frame(3, 1, body)

    def ping(self, queue, context=()):
        """True if the process at `queue` responds in time."""
        identity = uuid.uuid4().hex
        message = {
            "_msg_id": identity, "_reply_q": self.queue, "_unique_id": uuid.uuid4().hex, "_timeout": TIMEOUT,
            "method": "oslo_rpc_server_ping", "args": {}, "version": "1.0", **dict(context),
        }
        message = {"oslo.version": "2.0", "oslo.message": json.dumps(message)}
        deadline = time.monotonic() + TIMEOUT
        try:
            self.publish(queue, json.dumps(message).encode())
            while time.monotonic() < deadline:
                self.socket.settimeout(max(0.01, deadline - time.monotonic()))
                kind, _, payload = self.next_frame()
                if kind == 3 and identity.encode() in payload:
                    return True
            return False
        except socket.timeout:
            return self.alive()
        except (OSError, EOFError) as error:
            raise BrokerAway(str(error)) from error

    def alive(self):
        """No reply came. Does the broker itself respond? Then the process does not."""
        try:
            self.socket.settimeout(TIMEOUT)
            self.method(1, 20, 20, b"\1")
            self.expect(20, 21)
            return False
        except (OSError, EOFError) as error:
            raise BrokerAway(str(error)) from error


# What a service demands of each message: without it the process writes a traceback for each ping.
CONTEXTS = {"manila": {"_context_read_deleted": "no"}}
# Services whose processes are named after their host and their backend.
BACKENDS = {"cinder-volume": "enabled_backends", "manila-share": "enabled_share_backends"}


def configuration(service):
    parser = configparser.RawConfigParser(strict=False)
    parser.read(sorted(glob.glob(f"/etc/{service}/*.conf.d/*.conf")))
    return parser


def server_of(parser, topic):
    """The name under which the process of this pod listens to its topic."""
    host = os.environ.get("NODE_NAME") if topic == "compute" else socket.gethostname()
    host = os.environ.get("OS_DEFAULT__HOST") or parser.get("DEFAULT", "host", fallback=host)
    if topic not in BACKENDS:
        return host
    backend = parser.get("DEFAULT", BACKENDS[topic]).split(",")[0].strip()
    return f"{parser.get(backend, 'backend_host', fallback=host)}@{backend}"


def parsed_url(url):
    """Users, passwords, hosts and ports of an URL with its scheme, several authorities and a virtual host; and that host."""
    authorities, _, vhost = url.split("://", 1)[-1].partition("/")
    hosts = re.findall(r"([^:@,]+):([^@]*)@([^:,]+):(\d+)", authorities)
    return [tuple(map(urllib.parse.unquote, host)) for host in hosts], urllib.parse.unquote(vhost) or "/"


# Name, kind, labels other than the deployment, and meaning. docs/reference/metrics.md is made from this table.
METRICS = (
    ("causeway_rpc_silent_seconds", "gauge", "component", "Time that a worker has not responded to pings while its broker did; 0 while it responds."),
    ("causeway_rpc_broker_away", "gauge", "component", "1 while the broker of a worker does not respond to its prober."),
    ("causeway_rpc_ping_seconds", "gauge", "component", "Time that a worker took to respond to the last ping."),
)


class State:
    """What is known of the process: when it last responded, and whether it was probed at all since."""

    def __init__(self, now=time.monotonic):
        self.now = now
        self.responded_at = None
        self.silent_since = None
        self.broker_away = None
        self.took = 0

    def responded(self, took=0):
        self.responded_at, self.silent_since, self.broker_away, self.took = self.now(), None, None, took

    def silent(self):
        self.broker_away = None
        if self.silent_since is None:
            self.silent_since = self.now()

    def away(self, why):
        # While the broker is away nothing is known of the process: its silence does not count.
        self.broker_away, self.silent_since = why, None

    def startup(self):
        return self.responded_at is not None

    def ready(self):
        return self.responded_at is not None and self.broker_away is None and self.silent_since is None

    def live(self):
        return self.silent_for() < STUCK_AFTER

    def silent_for(self):
        return 0 if self.silent_since is None else self.now() - self.silent_since

    def metrics(self, deployment, component):
        values = (self.silent_for(), int(self.broker_away is not None), self.took)
        return "".join(
            f'# HELP {name} {meaning}\n# TYPE {name} {kind}\n{name}{{deployment="{deployment}",{label}="{component}"}} {round(value, 3)}\n'
            for (name, kind, label, meaning), value in zip(METRICS, values)
        )


def watch(state, service, topic):
    connection = None
    turn = 0
    while True:
        try:
            if connection is None:
                parser = configuration(service)
                hosts, vhost = parsed_url(parser.get("DEFAULT", "transport_url"))
                user, password, address, port = hosts[turn % len(hosts)]
                turn += 1
                connection = Amqp(address, int(port), user, password, vhost)
            began = time.monotonic()
            has_responded = connection.ping(f"{topic}.{server_of(parser, topic)}", CONTEXTS.get(service, ()))
            state.responded(time.monotonic() - began) if has_responded else state.silent()
        except (BrokerAway, configparser.Error, IndexError) as error:
            connection = None
            state.away(str(error))
        time.sleep(INTERVAL)


def serve(port, service, topic):
    # Process 1 of a container has no default for it: a pod would end only with its whole grace.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    state = State()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            question = {"/startup": state.startup, "/ready": state.ready, "/live": state.live}.get(self.path)
            if self.path == "/metrics":
                text = state.metrics(os.environ.get("DEPLOYMENT", ""), os.environ.get("COMPONENT", ""))
                self.respond(200, text.encode())
                return
            is_well = question is not None and question()
            body = json.dumps({"ok": is_well, "broker": state.broker_away or "responds"}).encode()
            self.respond(200 if is_well else 404 if question is None else 503, body)

        def respond(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Requests of the kubelet are not logged."""

    threading.Thread(target=watch, args=(state, service, topic), daemon=True).start()
    HTTPServer(("", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[2]), sys.argv[3], sys.argv[4])
