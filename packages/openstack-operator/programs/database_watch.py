"""Does the database of a service respond? One connection with the service's own account, and COM_PING on it every INTERVAL seconds: no statement, and
no new connection while it lives.

A server that refuses the account, or wants a login that is not known here, is pinged no more: attempts that fail could make it block the host."""
import configparser
import glob
import hashlib
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse

INTERVAL = float(os.environ.get("DATABASE_INTERVAL", "10"))
# Between attempts to connect.
RETRY = 2
# For a response. A connection that waits is kept so long: an outage makes few of them.
TIMEOUT = 30
# A question may wait so long before the database counts as away.
AWAY_AFTER = float(os.environ.get("DATABASE_AWAY_SECONDS", "15"))
# Where services have the URL of their database.
OPTIONS = (("placement_database", "connection"), ("api_database", "connection"), ("database", "connection"), ("DEFAULT", "sql_connection"))
LONG_PASSWORD, PROTOCOL_41, SECURE, PLUGIN = 0x1, 0x200, 0x8000, 0x80000
NATIVE = b"mysql_native_password"
# Errors that say that the server is there, and has no place now: too many connections, of all or of this account.
BUSY = (1040, 1203, 1226)
# Errors that say that it does not serve now: no member of its cluster, about to stop, broken connections.
NOT_NOW = (1047, 1053, 1077, 1079, 1158, 1159, 1160, 1161)


class Refused(Exception):
    """The server responds, and no login of ours is possible."""


class Busy(Exception):
    """The server is there, and takes no more connections."""


class State:
    """Since when a question has had no response."""

    def __init__(self, now=time.monotonic):
        self.now, self.since = now, None

    def asks(self):
        if self.since is None:
            self.since = self.now()

    def responded(self):
        self.since = None

    def away(self):
        since = self.since
        return since is not None and self.now() - since > AWAY_AFTER


class Connection:
    """The part of MariaDB's protocol that a login and a ping need."""

    def __init__(self, host, port, user, password):
        self.socket = socket.create_connection((host, port), TIMEOUT)
        self.socket.settimeout(TIMEOUT)
        try:
            self.login(user.encode(), password.encode())
        except BaseException:
            self.socket.close()
            raise

    def receive(self, size):
        data = b""
        while len(data) < size:
            block = self.socket.recv(size - len(data))
            if not block:
                raise EOFError("the database closed the connection")
            data += block
        return data

    def packet(self):
        head = self.receive(4)
        self.number = head[3] + 1
        payload = self.receive(int.from_bytes(head[:3], "little"))
        if not payload:
            raise EOFError("the database sent an empty packet")
        if payload[0] == 0xFF:
            (code,) = struct.unpack("<H", payload[1:3])
            if code in NOT_NOW:
                raise EOFError(f"the database does not serve: error {code}")
            if code not in BUSY:
                raise Refused(f"error {code}")
        return payload

    def send(self, payload):
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([self.number & 0xFF]) + payload)

    def login(self, user, password):
        greeting = self.packet()
        if greeting[0] == 0xFF:
            raise Busy
        end = greeting.index(b"\0", 1)
        rest = greeting[end + 5:]
        # Eight bytes of the salt, what the server can do, and twelve more of the salt with a zero.
        salt = rest[:8] + rest[27:39]
        head = struct.pack("<IIB23x", LONG_PASSWORD | PROTOCOL_41 | SECURE | PLUGIN, 1 << 24, 45)
        proof = native(password, salt)
        self.send(head + user + b"\0" + bytes([len(proof)]) + proof + NATIVE + b"\0")
        answer = self.packet()
        if answer[0] == 0xFE:
            plugin, _, salt = answer[1:].partition(b"\0")
            if plugin != NATIVE:
                raise Refused(f"a login by {plugin.decode('latin-1')[:64]}")
            self.send(native(password, salt[:20]))
            answer = self.packet()
        if answer[0] == 0xFF:
            raise Busy
        if answer[0] != 0:
            raise Refused("a login that is not known")

    def ping(self):
        self.number = 0
        self.send(b"\x0e")
        self.packet()

    def close(self):
        self.socket.close()


def native(password, salt):
    """The proof of mysql_native_password: it holds for this salt alone."""
    if not password:
        return b""
    first = hashlib.sha1(password).digest()
    mask = hashlib.sha1(salt + hashlib.sha1(first).digest()).digest()
    return bytes(a ^ b for a, b in zip(first, mask))


def target(service):
    """Host, port, user and password of the service's database; None: it has none that can be pinged here."""
    if not service:
        return None
    parser = configparser.RawConfigParser(strict=False)
    parser.read(sorted(glob.glob(os.path.join(os.environ.get("DATABASE_CONFIGURATION", "/etc"), service, "*.conf.d", "*.conf"))))
    for section, option in OPTIONS:
        url = urllib.parse.urlsplit(parser.get(section, option, fallback=""))
        if url.scheme.startswith("mysql") and url.hostname:
            return url.hostname, url.port or 3306, urllib.parse.unquote(url.username or ""), urllib.parse.unquote(url.password or "")
    return None


def watch(state, to):
    try:
        ask(state, to)
    except (Refused, ValueError, IndexError, struct.error) as error:
        why = str(error) if isinstance(error, Refused) else "it speaks another protocol"
        sys.stderr.write(f"the database is not pinged any more: {why}\n")
    finally:
        # Nothing is known of it from here on, as if there were none.
        state.responded()


def ask(state, to):
    connection = None
    while True:
        pause = INTERVAL
        state.asks()
        try:
            if connection is None:
                connection = Connection(*to)
            connection.ping()
            state.responded()
        except Busy:
            state.responded()
        except (OSError, EOFError):
            if connection is not None:
                connection.close()
            connection, pause = None, RETRY
        time.sleep(pause)


def start(service):
    """The state of a service's database, from a thread that asks it; None: there is nothing to ask."""
    try:
        to = target(service)
    except (configparser.Error, ValueError, UnicodeDecodeError) as error:
        sys.stderr.write(f"the database is not pinged: its URL cannot be read: {type(error).__name__}\n")
        return None
    if to is None:
        return None
    state = State()
    threading.Thread(target=watch, args=(state, to), daemon=True).start()
    return state
