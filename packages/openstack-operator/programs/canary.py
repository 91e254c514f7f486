"""Uses the cloud as a user does, again and again: boots a server on a network of its own, pings it, deletes everything. Reports metrics.

One run at a time, at most one server, and a limit of time. A run begins by deleting what an earlier one left. The standard library alone.

    canary.py serve PORT      a run every EVERY_SECONDS; metrics on /metrics
    canary.py once            one run; exits with 0 if every phase succeeded
"""
import json
import os
import random
import socket
import struct
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = "causeway-canary"
CIDR = "198.18.255.0/28"
PHASES = ("token", "clean", "find", "network", "boot", "ping", "delete")
CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")
# Longer responses are no responses of a cloud that works.
LONGEST = 8 << 20


class Failed(Exception):
    """What the cloud did not do."""


def log(level, message, **more):
    print(json.dumps({"level": level, "service": "canary", "message": message, **more}), flush=True)


class Cloud:
    """The calls of a user of one project."""

    def __init__(self, settings):
        self.settings = settings
        self.token = None
        self.endpoints = {}
        self.deadline = 0

    def login(self):
        """With the newest account that works: while passwords are rotated there are two."""
        problem = None
        for generation in reversed(secret("accounts").split()):
            user = {"name": NAME if generation == "0" else f"{NAME}_{generation}", "domain": {"id": "default"}}
            user["password"] = secret(f"{NAME}.identity.{generation}")
            scope = {"project": {"name": NAME, "domain": {"id": "default"}}}
            body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
            try:
                found, headers = self.send("POST", self.settings["keystone"] + "/auth/tokens", body)
            except urllib.error.HTTPError as error:
                problem = error
                continue
            self.token = headers["X-Subject-Token"]
            self.endpoints = {
                service["type"]: endpoint["url"].rstrip("/")
                for service in found["token"]["catalog"]
                for endpoint in service["endpoints"]
                if endpoint["interface"] == self.settings["interface"] and endpoint["region_id"] == self.settings["region"]
            }
            self.endpoints = {**self.endpoints, **self.settings["endpoints"]}
            return
        raise problem

    def send(self, method, url, body=None):
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Failed("the time of the run is over")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("User-Agent", NAME)
        if self.token:
            request.add_header("X-Auth-Token", self.token)
        with urllib.request.urlopen(request, timeout=min(60, left)) as response:
            text = response.read(LONGEST)
            return (json.loads(text) if text else {}), response.headers

    def call(self, method, service, path, body=None):
        root = self.endpoints.get(service)
        if root is None:
            raise Failed(f"the catalog has no {service} with the interface {self.settings['interface']}")
        if service == "network" and not root.endswith("/v2.0"):
            root += "/v2.0"
        return self.send(method, root + path, body)[0]

    def network(self, method, path, body=None):
        return self.call(method, "network", path, body)

    def own(self, kind):
        """Objects of Neutron that a run made."""
        query = urllib.parse.urlencode({"name": NAME})
        return self.network("GET", f"/{kind}?{query}")[kind.replace("-", "_")]

    def servers(self):
        found = self.call("GET", "compute", f"/servers/detail?{urllib.parse.urlencode({'name': NAME})}")["servers"]
        return [each for each in found if each["name"] == NAME]

    def named(self, service, path, plural, wanted):
        """The ID of an object that the settings name, or have the ID of."""
        found = [each for each in self.call("GET", service, path)[plural] if wanted in (each["id"], each["name"])]
        if not found:
            raise Failed(f"there is no {plural[:-1]} {wanted}")
        return found[0]["id"]


def secret(name):
    with open(os.path.join(CREDENTIALS, name), encoding="utf-8") as file:
        return file.read().strip()


def gone(action):
    """Deletes; what is not there is deleted."""
    try:
        action()
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise


class Run:
    """One run: its phases in their order."""

    def __init__(self, cloud, ping):
        self.cloud = cloud
        self.send_ping = ping
        self.seconds = {}
        self.phase = None
        self.ids = {}

    def do(self):
        """The phase that failed and why; None where all succeeded. Everything is deleted in any case."""
        problem = None
        settings = self.cloud.settings
        self.cloud.deadline = time.monotonic() + settings["timeout"]
        for phase in PHASES[:-1]:
            problem = self.attempt(phase)
            if problem:
                break
        if self.cloud.token:
            # What is deleted has a time of its own, so that a boot that takes too long leaves nothing.
            self.cloud.deadline = time.monotonic() + settings["timeout"]
            left = self.attempt("delete")
            # The first failure is the cause.
            problem = problem or left
        return problem

    def attempt(self, phase):
        began = time.monotonic()
        try:
            getattr(self, phase)()
            return None
        except urllib.error.HTTPError as error:
            return phase, f"{error.code} of {error.url}: {error.read(500).decode('utf-8', 'replace')}"
        except (Failed, OSError, ValueError, KeyError) as error:
            return phase, f"{type(error).__name__}: {error}" if not isinstance(error, Failed) else str(error)
        finally:
            self.seconds[phase] = time.monotonic() - began

    def token(self):
        self.cloud.login()

    def clean(self):
        self.delete()

    def find(self):
        settings = self.cloud.settings
        self.ids["flavor"] = self.cloud.named("compute", "/flavors", "flavors", settings["flavor"])
        query = urllib.parse.urlencode({"name": settings["image"]})
        images = self.cloud.call("GET", "image", f"/v2/images?{query}")["images"]
        self.ids["image"] = images[0]["id"] if images else settings["image"]
        if settings["external"]:
            path = "/networks?router%3Aexternal=true"
            self.ids["external"] = self.cloud.named("network", path, "networks", settings["external"])

    def network(self):
        network, ids = self.cloud.network, self.ids
        ids["network"] = network("POST", "/networks", {"network": {"name": NAME}})["network"]["id"]
        subnet = {"name": NAME, "network_id": ids["network"], "ip_version": 4, "cidr": CIDR}
        ids["subnet"] = network("POST", "/subnets", {"subnet": subnet})["subnet"]["id"]
        group = {"security_group": {"name": NAME}}
        ids["group"] = network("POST", "/security-groups", group)["security_group"]["id"]
        rule = {"security_group_id": ids["group"], "direction": "ingress", "ethertype": "IPv4", "protocol": "icmp"}
        network("POST", "/security-group-rules", {"security_group_rule": rule})
        port = {"name": NAME, "network_id": ids["network"], "security_groups": [ids["group"]]}
        ids["port"] = network("POST", "/ports", {"port": port})["port"]["id"]
        if "external" not in ids:
            return
        router = {"name": NAME, "external_gateway_info": {"network_id": ids["external"]}}
        ids["router"] = network("POST", "/routers", {"router": router})["router"]["id"]
        network("PUT", f"/routers/{ids['router']}/add_router_interface", {"subnet_id": ids["subnet"]})
        floating = {"floating_network_id": ids["external"], "port_id": ids["port"], "description": NAME}
        made = network("POST", "/floatingips", {"floatingip": floating})["floatingip"]
        ids["address"] = made["floating_ip_address"]

    def boot(self):
        server = {
            "name": NAME, "imageRef": self.ids["image"], "flavorRef": self.ids["flavor"], "networks": [{"port": self.ids["port"]}],
        }
        made = self.cloud.call("POST", "compute", "/servers", {"server": server})["server"]
        while True:
            now = self.cloud.call("GET", "compute", f"/servers/{made['id']}")["server"]
            if now["status"] == "ACTIVE":
                return
            if now["status"] == "ERROR":
                raise Failed("the server is in ERROR: " + str(now.get("fault", {}).get("message", ""))[:300])
            self.pause()

    def ping(self):
        if "address" not in self.ids:
            return
        while not self.send_ping(self.ids["address"]):
            self.pause(f"{self.ids['address']} does not respond")

    def pause(self, otherwise="the server is still being built"):
        step = self.cloud.settings["step"]
        if time.monotonic() + step >= self.cloud.deadline:
            raise Failed(f"after {self.cloud.settings['timeout']} s {otherwise}")
        time.sleep(step)

    def delete(self):
        cloud, network = self.cloud, self.cloud.network
        for server in cloud.servers():
            gone(lambda server=server: cloud.call("DELETE", "compute", f"/servers/{server['id']}"))
        while cloud.servers():
            self.pause("the server is not deleted")
        for each in network("GET", f"/floatingips?{urllib.parse.urlencode({'description': NAME})}")["floatingips"]:
            gone(lambda each=each: network("DELETE", f"/floatingips/{each['id']}"))
        subnets = cloud.own("subnets")
        for router in cloud.own("routers"):
            for subnet in subnets:
                leave = {"subnet_id": subnet["id"]}
                gone(lambda router=router, leave=leave: network("PUT", f"/routers/{router['id']}/remove_router_interface", leave))
            gone(lambda router=router: network("DELETE", f"/routers/{router['id']}"))
        for kind in ("ports", "subnets", "networks", "security-groups"):
            for each in cloud.own(kind):
                gone(lambda kind=kind, each=each: network("DELETE", f"/{kind}/{each['id']}"))


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def ping(address, timeout=2):
    """True if it responds to one echo request. Needs no privilege where the group of the process may ping."""
    number = random.randrange(1, 1 << 16)
    payload = struct.pack("!Q", random.getrandbits(64))
    packet = struct.pack("!BBHHH", 8, 0, 0, 0, number) + payload
    packet = packet[:2] + struct.pack("!H", checksum(packet)) + packet[4:]
    try:
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    except PermissionError as error:
        raise Failed("this pod may not ping: net.ipv4.ping_group_range leaves its group out") from error
    with opened as connection:
        deadline = time.monotonic() + timeout
        try:
            connection.sendto(packet, (address, 0))
            while time.monotonic() < deadline:
                connection.settimeout(max(0.01, deadline - time.monotonic()))
                data, source = connection.recvfrom(1024)
                if source[0] == address and data[0] == 0 and data.endswith(payload):
                    return True
        except OSError:
            return False
    return False


# Name, kind, labels other than the deployment, and meaning. docs/reference/metrics.md is made from this table.
METRICS = (
    ("causeway_canary_failed", "gauge", "phase", "1 while the newest run of the canary failed in this phase, 0 otherwise."),
    ("causeway_canary_phase_seconds", "gauge", "phase", "Time that a phase of the newest run took."),
    ("causeway_canary_runs_total", "counter", "result", "Runs of the canary by success or failure."),
    ("causeway_canary_last_run_timestamp_seconds", "gauge", "", "When the newest run ended; before the first one, when the canary started."),
    ("causeway_canary_last_success_timestamp_seconds", "gauge", "", "When a run succeeded last; 0: none did."),
    ("causeway_canary_interval_seconds", "gauge", "", "Time between the starts of runs."),
)


class Report:
    """What the metrics say."""

    def __init__(self, deployment, interval):
        self.deployment = deployment
        self.interval = interval
        self.failed = None
        self.seconds = {}
        self.runs = {"success": 0, "failure": 0}
        self.last_run = time.time()
        self.last_success = 0

    def record(self, seconds, problem):
        self.failed = problem[0] if problem else None
        self.seconds = dict(seconds)
        self.runs["failure" if problem else "success"] += 1
        self.last_run = time.time()
        if not problem:
            self.last_success = self.last_run

    def values(self):
        return {
            "causeway_canary_failed": {phase: int(phase == self.failed) for phase in PHASES},
            "causeway_canary_phase_seconds": {phase: round(value, 3) for phase, value in self.seconds.items()},
            "causeway_canary_runs_total": self.runs,
            "causeway_canary_last_run_timestamp_seconds": {"": round(self.last_run, 3)},
            "causeway_canary_last_success_timestamp_seconds": {"": round(self.last_success, 3)},
            "causeway_canary_interval_seconds": {"": self.interval},
        }

    def text(self):
        lines = []
        values = self.values()
        for name, kind, label, meaning in METRICS:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
            for key, value in values[name].items():
                more = f',{label}="{key}"' if label else ""
                lines.append(f'{name}{{deployment="{self.deployment}"{more}}} {value}')
        return "\n".join(lines) + "\n"


def settings_of(env):
    return {
        "keystone": env["KEYSTONE_URL"].rstrip("/"),
        "region": env["REGION"],
        "interface": env.get("CANARY_INTERFACE", "internal"),
        "endpoints": json.loads(env.get("CANARY_ENDPOINTS", "{}")),
        "image": env["CANARY_IMAGE"],
        "flavor": env["CANARY_FLAVOR"],
        "external": env.get("CANARY_EXTERNAL", ""),
        "timeout": float(env.get("CANARY_TIMEOUT_SECONDS", "600")),
        "step": float(env.get("CANARY_STEP_SECONDS", "2")),
        "every": float(env.get("CANARY_EVERY_SECONDS", "900")),
    }


def run_once(settings, report, send_ping=ping):
    run = Run(Cloud(settings), send_ping)
    problem = run.do()
    report.record(run.seconds, problem)
    phases = {phase: round(seconds, 3) for phase, seconds in run.seconds.items()}
    if problem:
        log("ERROR", f"the canary failed in phase {problem[0]}: {problem[1]}", phase=problem[0], seconds=phases)
    else:
        log("INFO", "the canary booted a server and deleted it", seconds=phases)
    return problem


def serve(port, settings, report):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            is_metrics = self.path == "/metrics"
            text = report.text() if is_metrics else "ok\n"
            self.send_response(200 if is_metrics or self.path == "/healthz" else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        began = time.monotonic()
        run_once(settings, report)
        time.sleep(max(1, settings["every"] - (time.monotonic() - began)))


if __name__ == "__main__":
    chosen = settings_of(os.environ)
    results = Report(os.environ.get("DEPLOYMENT", ""), chosen["every"])
    if sys.argv[1] == "once":
        sys.exit(1 if run_once(chosen, results) else 0)
    serve(int(sys.argv[2]), chosen, results)
