"""Reports what Open vSwitch and OVN say of themselves, by their control sockets: one small resident program next to the process, of the standard library.

    ovn-exporter.py PORT switch        Open vSwitch of a node
    ovn-exporter.py PORT controller    ovn-controller of a node
    ovn-exporter.py PORT northd        ovn-northd
    ovn-exporter.py PORT nb|sb         a member of OVN's northbound or southbound database

It queries when it is queried. A process that does not respond within a few seconds has causeway_ovn_up 0, and no other metric.
"""
import os
import re
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SOCKETS = {
    "switch": "/run/openvswitch/ovs-vswitchd.ctl", "controller": "/run/ovn/ovn-controller.ctl", "northd": "/run/ovn/ovn-northd.ctl",
    "nb": "/run/ovn/ovnnb_db.ctl", "sb": "/run/ovn/ovnsb_db.ctl",
}
DATABASES = {"nb": "OVN_Northbound", "sb": "OVN_Southbound"}
TIMEOUT = 3

# Name, kind, labels other than the deployment, and meaning. docs/reference/metrics.md is made from this table.
METRICS = (
    ("causeway_ovn_up", "gauge", "component", "1 while the process responds at its control socket."),
    ("causeway_ovs_datapath_flows", "gauge", "component, datapath", "Flows in a datapath of a node."),
    ("causeway_ovs_datapath_lookups_total", "counter", "component, datapath, result", "Packets that a datapath looked up: hit, missed, or lost before the switch saw them."),
    ("causeway_ovs_datapath_ports", "gauge", "component, datapath", "Ports of a datapath."),
    ("causeway_ovn_connected", "gauge", "component, database", "1 while the process is connected with that database of OVN."),
    ("causeway_ovn_northd_active", "gauge", "component", "1 for the ovn-northd that works, 0 for one that waits."),
    ("causeway_ovn_database_leader", "gauge", "component, database", "1 for the member of a database that leads it."),
    ("causeway_ovn_database_member", "gauge", "component, database", "1 while the process is a member of its database's cluster."),
    ("causeway_ovn_database_servers", "gauge", "component, database", "Members that the cluster of a database has."),
    ("causeway_ovn_database_uncommitted", "gauge", "component, database", "Entries of the log that a majority does not have yet."),
    ("causeway_ovn_database_term", "gauge", "component, database", "Elections that a database has had."),
)


class Silent(Exception):
    """The process does not respond."""


def ask(kind, *command):
    try:
        done = subprocess.run(
            ["ovs-appctl", f"--timeout={TIMEOUT}", "-t", SOCKETS[kind], *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT + 1, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Silent(str(error)) from error
    return done.stdout.decode("utf-8", "replace")


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    return None if found is None else int(found.group(1))


def switch(text):
    """Of `dpctl/show`: a section for each datapath."""
    for name, rest in re.findall(r"^(\S+):\n((?:[ \t]+.*\n?)*)", text, re.M):
        labels = {"datapath": name}
        for result in ("hit", "missed", "lost"):
            yield "causeway_ovs_datapath_lookups_total", {**labels, "result": result}, number(rf"^\s*lookups:.*\b{result}:(\d+)", rest)
        yield "causeway_ovs_datapath_flows", labels, number(r"^\s*flows: (\d+)", rest)
        yield "causeway_ovs_datapath_ports", labels, len(re.findall(r"^\s*port \d+:", rest, re.M))


def database(side, text):
    """Of `cluster/status`."""
    labels = {"database": side}
    yield "causeway_ovn_database_leader", labels, int(re.search(r"^Role: leader$", text, re.M) is not None)
    yield "causeway_ovn_database_member", labels, int(re.search(r"^Status: cluster member$", text, re.M) is not None)
    yield "causeway_ovn_database_term", labels, number(r"^Term: (\d+)", text)
    yield "causeway_ovn_database_uncommitted", labels, number(r"^Entries not yet committed: (\d+)", text)
    servers = re.search(r"^Servers:\n((?:[ \t]+.*\n?)*)", text, re.M)
    yield "causeway_ovn_database_servers", labels, 0 if servers is None else len(servers.group(1).splitlines())


def connected(kind, command, side):
    return "causeway_ovn_connected", {"database": side}, int(ask(kind, command).strip() == "connected")


def samples(kind):
    if kind == "switch":
        yield from switch(ask(kind, "dpctl/show"))
    elif kind == "controller":
        yield connected(kind, "connection-status", "sb")
    elif kind == "northd":
        yield "causeway_ovn_northd_active", {}, int("active" in ask(kind, "status"))
        for side in ("nb", "sb"):
            yield connected(kind, f"{side}-connection-status", side)
    else:
        yield from database(kind, ask(kind, "cluster/status", DATABASES[kind]))


def report(kind, found=samples):
    try:
        values = [("causeway_ovn_up", {}, 1), *found(kind)]
    except Silent:
        values = [("causeway_ovn_up", {}, 0)]
    common = {"deployment": os.environ.get("DEPLOYMENT", ""), "component": os.environ.get("COMPONENT", "")}
    lines = []
    for name, type_, _labels, meaning in METRICS:
        own = [(labels, value) for metric, labels, value in values if metric == name and value is not None]
        if own:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {type_}"]
        for labels, value in own:
            text = ",".join(f'{key}="{value_}"' for key, value_ in {**common, **labels}.items())
            lines.append(f"{name}{{{text}}} {value}")
    return "\n".join(lines) + "\n"


def serve(port, kind):
    # Process 1 of a container has no default for it: a pod would end only with its whole grace.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            is_metrics = self.path == "/metrics"
            body = (report(kind) if is_metrics else "").encode()
            self.send_response(200 if is_metrics else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Requests of Prometheus are not logged."""

    ThreadingHTTPServer(("", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
