"""Before nova-compute starts: writes the identity of its node, where the disk has none and Nova knows the node.

From 2023.1 on nova-compute keeps it in a file, and refuses to start without that on a host where it has served before:
after a restore on empty disks, or on a node that was installed again. Nova has it as the ID of the hypervisor.

    compute-id.py      ends with 0 when the file is there or nova-compute makes it, with 1 when Nova cannot be queried

With the account that nova-compute has. The standard library alone.
"""
import configparser
import http.client
import importlib.util
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import migrations

FILE = "/var/lib/nova/compute_id"
# At a first start Nova's API comes at the same time.
GIVE_UP_AFTER = 600
PAGE = 200
# The ID is that of the node. From 2.88 on Nova's API calls each nova-compute for its uptime: this one, which waits for
# it.
VERSION = "compute 2.87"


def keeps_identity():
    """Does this release of Nova have the file?"""
    spec = importlib.util.find_spec("nova")
    return any(os.path.exists(os.path.join(folder, "virt/node.py")) for folder in (spec.submodule_search_locations if spec else ()))


def identities(nova, host):
    """IDs of the nodes that Nova has of a host."""
    nova.login()
    headers = {"X-Auth-Token": nova.token, "OpenStack-API-Version": VERSION}
    found = []
    marker = ""
    while True:
        page, _ = nova.send(f"{nova.root}/os-hypervisors/detail?limit={PAGE}{marker}", headers=headers)
        nodes = page["hypervisors"]
        found += [node["id"] for node in nodes if node["service"]["host"] == host]
        if len(nodes) < PAGE:
            return found
        marker = f"&marker={nodes[-1]['id']}"


def ask(nova, host, now=time.monotonic, sleep=time.sleep):
    """The same as soon as Nova responds; None: it does not."""
    began = now()
    while True:
        try:
            return identities(nova, host)
        except (OSError, ValueError, LookupError, TypeError, StopIteration, http.client.HTTPException) as error:
            if now() - began >= GIVE_UP_AFTER:
                migrations.report(f"Nova has not responded for {GIVE_UP_AFTER} s, it is not known which node {host} is: {error!r}")
                return None
        sleep(migrations.INTERVAL)


def write(file, identity):
    """A file with half of it would be refused at each start after that."""
    half = f"{file}.new"
    with open(half, "w") as stream:
        stream.write(identity)
        stream.flush()
        os.fsync(stream.fileno())
    os.rename(half, file)


def main(file=FILE):
    if os.path.exists(file) or not keeps_identity():
        return 0
    host = os.environ["NODE_NAME"]
    found = ask(migrations.Nova(migrations.options()), host)
    if found is None:
        return 1
    # Of none Nova makes one, and of several it says that a person has to choose.
    if len(found) == 1:
        write(file, found[0])
        message = f"the disk has no identity of {host}, which Nova knows as {found[0]}: it is written"
        print(json.dumps({"level": "INFO", "service": "nova-compute", "message": message}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
