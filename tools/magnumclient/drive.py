"""Calls every method of python-magnumclient's v1 client on a Magnum API, and asserts what it returns.

python-magnumclient's own tests replace the server by fakes: they say nothing about one. This drives the unchanged
client instead. Usage: drive.py CLOUD [ADMINISTRATOR], entries of clouds.yaml; openstack.config reads it. It prints one
line for each method that was called, and fails when an assertion does or a method of the client was not called.
"""

import inspect
import subprocess
import sys
import tempfile
import time

from magnumclient import exceptions
from magnumclient.v1 import client as magnum
from openstack import config

TIMEOUT = 600
called = set()


def connect(cloud, version="latest"):
    """A client with the session of a cloud, whose managers record what is called of them."""
    region = config.OpenStackConfig().get_one(cloud)
    made = magnum.Client(session=region.get_session(), service_type="container-infra",
                         region_name=region.get_region_name(), api_version=version)
    for name, manager in managers(made):
        for method in methods(manager):
            setattr(manager, method, recording(name, method, getattr(manager, method)))
    return made


def managers(made):
    return sorted((name, one) for name, one in vars(made).items() if hasattr(one, "resource_class"))


def methods(manager):
    """Public methods that send requests: those of the client's own classes, and not helpers of its base."""
    own = ("list", "get", "create", "update", "delete", "resize", "upgrade", "rotate_ca")
    return [name for name, _ in inspect.getmembers(manager, inspect.ismethod) if name in own]


def recording(name, method, function):
    def call(*args, **kwargs):
        called.add(f"{name}.{method}")
        return function(*args, **kwargs)
    return call


def until(what, check):
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        value = check()
        if value:
            return value
        time.sleep(0.5)
    raise AssertionError(f"{what}: not in {TIMEOUT} s")


def refused(kind, function, *args, **kwargs):
    """Asserts that the call is refused with this class of error, as the client reads it; its text."""
    try:
        function(*args, **kwargs)
    except kind as error:
        return str(error)
    raise AssertionError(f"{function} was accepted")


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def templates(client):
    made = client.cluster_templates.create(
        name="drive", coe="kubernetes", image_id="cirros", flavor_id="m1.small", external_network_id="public",
        labels={"kube_tag": "v1.34.0"})
    assert made.uuid and made.labels == {"kube_tag": "v1.34.0"}
    same(client.cluster_templates.get("drive").uuid, made.uuid)
    same(client.cluster_templates.get(made.uuid).name, "drive")
    second = client.cluster_templates.create(
        name="drive-2", coe="kubernetes", image_id="cirros", flavor_id="m1.small", external_network_id="public",
        labels={"kube_tag": "v1.34.1"})
    names = [one.name for one in client.cluster_templates.list(sort_key="name", sort_dir="asc")]
    same([name for name in names if name.startswith("drive")], ["drive", "drive-2"])
    detail = client.cluster_templates.list(detail=True, limit=1)
    same(len(detail), 1)
    page = client.cluster_templates.list(limit=1, sort_key="name")
    rest = client.cluster_templates.list(marker=page[0].uuid, sort_key="name")
    assert page[0].uuid not in [one.uuid for one in rest]
    changed = client.cluster_templates.update(
        second.uuid, [{"op": "replace", "path": "/dns_nameserver", "value": "1.1.1.1"}])
    same(changed.dns_nameserver, "1.1.1.1")
    refused(exceptions.BadRequest, client.cluster_templates.update, second.uuid,
            [{"op": "replace", "path": "/no_such", "value": "1"}])
    refused(exceptions.NotFound, client.cluster_templates.get, "no-such")
    return made, second


def complete(client, uuid, status):
    def check():
        cluster = client.clusters.get(uuid)
        assert not cluster.status.endswith("FAILED"), cluster.status_reason
        return cluster if cluster.status == status else None
    return until(status, check)


def clusters(client, template, newer):
    made = client.clusters.create(name="drive", cluster_template_id=template.uuid, node_count=1, master_count=1)
    uuid = made.uuid
    same(client.clusters.get("drive").uuid, uuid)
    same([one.name for one in client.clusters.list(limit=5) if one.uuid == uuid], ["drive"])
    cluster = complete(client, uuid, "CREATE_COMPLETE")
    assert cluster.api_address.startswith("https://") and len(cluster.node_addresses) == 1
    text = refused(exceptions.BadRequest, client.cluster_templates.delete, template.uuid)
    assert "referenced by one or multiple clusters" in text, text
    certificates(client, uuid)
    nodegroups(client, uuid)
    client.clusters.resize(uuid, 2)
    complete(client, uuid, "UPDATE_COMPLETE")
    same(client.clusters.get(uuid).node_count, 2)
    client.clusters.resize(uuid, 1, nodes_to_remove=["0"])
    complete(client, uuid, "UPDATE_COMPLETE")
    client.clusters.update(uuid, [{"op": "replace", "path": "/node_count", "value": 2}])
    complete(client, uuid, "UPDATE_COMPLETE")
    refused(exceptions.BadRequest, client.clusters.update, uuid, [{"op": "replace", "path": "/name", "value": "x"}])
    client.clusters.upgrade(uuid, newer.uuid, max_batch_size=1)
    upgraded = complete(client, uuid, "UPDATE_COMPLETE")
    same((upgraded.coe_version, upgraded.cluster_template_id), ("v1.34.1", newer.uuid))
    client.certificates.rotate_ca(cluster_uuid=uuid)
    complete(client, uuid, "UPDATE_COMPLETE")
    health = until("HEALTHY", lambda: (lambda one: one.health_status == "HEALTHY" and one)(client.clusters.get(uuid)))
    same(health.health_status_reason["api"], "ok")
    assert len([key for key in health.health_status_reason if key.endswith(".Ready")]) == 2
    if hasattr(client, "credentials"):
        client.credentials.update(uuid)
    return uuid


def certificates(client, uuid):
    assert "BEGIN CERTIFICATE" in client.certificates.get(cluster_uuid=uuid).pem
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/key", "-out",
                        f"{folder}/csr", "-subj", "/CN=admin/O=system:masters"], check=True, capture_output=True)
        with open(f"{folder}/csr", encoding="ascii") as csr:
            signed = client.certificates.create(cluster_uuid=uuid, csr=csr.read())
    assert "BEGIN CERTIFICATE" in signed.pem
    refused(exceptions.BadRequest, client.certificates.create, cluster_uuid=uuid, csr="none")


def nodegroups(client, uuid):
    client.nodegroups.create(uuid, name="more", node_count=1, max_node_count=2, role="more")
    complete(client, uuid, "UPDATE_COMPLETE")
    same(sorted(one.name for one in client.nodegroups.list(uuid)), ["default-master", "default-worker", "more"])
    same([one.name for one in client.nodegroups.list(uuid, role="more")], ["more"])
    group = client.nodegroups.get(uuid, "more")
    same((group.node_count, group.role, group.is_default), (1, "more", False))
    client.nodegroups.update(uuid, group.uuid, [{"op": "replace", "path": "/max_node_count", "value": 3}])
    same(client.nodegroups.get(uuid, group.uuid).max_node_count, 3)
    refused(exceptions.BadRequest, client.nodegroups.delete, uuid, "default-worker")
    client.nodegroups.delete(uuid, "more")
    complete(client, uuid, "UPDATE_COMPLETE")
    refused(exceptions.NotFound, client.nodegroups.get, uuid, "more")


def quotas(client, admin, project):
    refused(exceptions.Forbidden, client.quotas.create, project_id=project, resource="Cluster", hard_limit=1)
    made = admin.quotas.create(project_id=project, resource="Cluster", hard_limit=3)
    same((made.resource, made.hard_limit), ("Cluster", 3))
    same([one.hard_limit for one in admin.quotas.list(all_tenants=True) if one.project_id == project], [3])
    admin.quotas.update(project, "Cluster", {"project_id": project, "resource": "Cluster", "hard_limit": 4})
    same(client.quotas.get(project, "Cluster").hard_limit, 4)
    admin.quotas.delete(project, "Cluster")
    same(client.quotas.get(project, "Cluster").hard_limit, 20)


def main(cloud, administrator):
    client, admin = connect(cloud), connect(administrator)
    template, newer = templates(client)
    project = template.project_id
    uuid = clusters(client, template, newer)
    counted = client.stats.list(project_id=project)
    same((counted.clusters, counted.nodes), (1, 3))
    quotas(client, admin, project)
    services = admin.mservices.list()
    assert services and all(one.state == "up" for one in services)
    refused(exceptions.Forbidden, client.mservices.list)
    client.clusters.delete(uuid)
    def gone():
        try:
            status = client.clusters.get(uuid).status
        except exceptions.NotFound:
            return True
        assert status == "DELETE_IN_PROGRESS", status
        return False
    until("the cluster's end", gone)
    for one in (template, newer):
        client.cluster_templates.delete(one.uuid)
    refused(exceptions.NotFound, client.cluster_templates.get, "drive")
    every = {f"{name}.{method}" for name, manager in managers(client) for method in methods(manager)}
    for name in sorted(called):
        print(name)
    assert not every - called, f"not called: {sorted(every - called)}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
