"""Records the requests that Horizon's Magnum panels send to Magnum.

usage: record.py MAGNUM_UI_CHECKOUT > requests.json

Runs magnum_ui/api/magnum.py of the checkout unchanged, with python-magnumclient (pip install python-magnumclient), on a
server that responds with fixed objects. Of Horizon it has only what that module imports. What the panels hand over is
below, as their forms build it: values that were not filled in are absent, empty or null, as each form has it. Ids in
the recording are {cluster}, {template}, {other} and {project}; a certificate request is {csr}.
"""
import http.server
import importlib.util
import json
import pathlib
import sys
import threading
import types

IDS = {
    "{cluster}": "11111111-1111-4111-8111-111111111111",
    "{template}": "22222222-2222-4222-8222-222222222222",
    "{other}": "33333333-3333-4333-8333-333333333333",
    "{project}": "44444444444444444444444444444444",
}
CLUSTER, TEMPLATE, OTHER, PROJECT = IDS.values()

LABELS = {"kube_tag": "v1.34.0"}
TEMPLATE_OBJECT = {
    "uuid": TEMPLATE, "name": "panel", "coe": "kubernetes", "server_type": "vm", "public": False, "hidden": False,
    "registry_enabled": False, "tls_disabled": False, "image_id": "cirros", "flavor_id": "m1.small",
    "master_flavor_id": "m1.small", "docker_volume_size": None, "docker_storage_driver": None, "keypair_id": None,
    "network_driver": "calico", "volume_driver": "cinder", "insecure_registry": None, "http_proxy": None,
    "https_proxy": None, "no_proxy": None, "external_network_id": "public", "fixed_network": None,
    "fixed_subnet": None, "dns_nameserver": None, "master_lb_enabled": False, "floating_ip_enabled": True,
    "labels": LABELS, "project_id": PROJECT, "user_id": PROJECT, "apiserver_port": None, "cluster_distro": None,
    "tags": None, "links": [], "created_at": "2026-01-01T00:00:00+00:00", "updated_at": None,
}
CLUSTER_OBJECT = {
    "uuid": CLUSTER, "name": "panel", "cluster_template_id": TEMPLATE, "keypair": None, "node_count": 1,
    "master_count": 1, "docker_volume_size": None, "labels": LABELS, "master_flavor_id": "m1.small",
    "flavor_id": "m1.small", "create_timeout": 60, "discovery_url": None, "fixed_network": None, "fixed_subnet": None,
    "floating_ip_enabled": True, "master_lb_enabled": False, "status": "CREATE_COMPLETE", "links": [],
    "api_address": "https://198.51.100.7:6443", "coe_version": "v1.34.0",
}
QUOTA = {"id": 1, "project_id": PROJECT, "resource": "Cluster", "hard_limit": 5, "created_at": None, "updated_at": None}
CERTIFICATE = {"cluster_uuid": CLUSTER, "pem": "-----BEGIN CERTIFICATE-----\n", "csr": None, "links": []}

RESPONSES = [
    ("/clusters/detail", {"clusters": [CLUSTER_OBJECT]}),
    ("/clustertemplates/detail", {"clustertemplates": [TEMPLATE_OBJECT]}),
    ("/nodegroups/", {"nodegroups": [{"uuid": OTHER, "name": "default-worker", "node_count": 1}]}),
    ("/clustertemplates", TEMPLATE_OBJECT),
    ("/clusters", CLUSTER_OBJECT),
    ("/certificates", CERTIFICATE),
    ("/credentials", {"uuid": CLUSTER}),
    ("/quotas?", {"quotas": [QUOTA]}),
    ("/quotas", QUOTA),
    ("/stats", {"clusters": 1, "nodes": 2}),
]

CLUSTER_FORM = {"discovery_url": None, "create_timeout": 60, "rollback": False, "cluster_template_id": TEMPLATE}
FORM_LABELS = {"availability_zone": "", "auto_scaling_enabled": False, "auto_healing_enabled": True,
               "master_lb_floating_ip_enabled": False}
TEMPLATE_FORM = {"name": "panel", "coe": "kubernetes", "server_type": "vm", "image_id": "cirros",
                 "flavor_id": "m1.small", "volume_driver": "cinder", "external_network_id": "public",
                 "floating_ip_enabled": True, "labels": "kube_tag=v1.34.0"}
UPDATE_FORM = {**TEMPLATE_FORM, "public": False, "hidden": False, "registry_enabled": False, "tls_disabled": False,
               "master_flavor_id": "m1.small", "network_driver": "calico", "master_lb_enabled": False}


def calls(api, request):
    """What a user does, and the call of magnum_ui/api/rest/magnum.py that does it."""
    return [
        ("template: create with what has to be filled in",
         lambda: api.cluster_template_create(request, **TEMPLATE_FORM)),
        ("template: create with all switches",
         lambda: api.cluster_template_create(request, **{
             **TEMPLATE_FORM, "name": "switches", "public": False, "hidden": False, "registry_enabled": False,
             "tls_disabled": False, "master_flavor_id": "m1.small", "docker_volume_size": 3,
             "docker_storage_driver": "overlay2", "network_driver": "calico", "dns_nameserver": "8.8.8.8",
             "master_lb_enabled": True, "http_proxy": "http://proxy.example.org:3128", "no_proxy": "10.0.0.0/8"})),
        ("template: list", lambda: api.cluster_template_list(request)),
        ("template: show", lambda: api.cluster_template_show(request, TEMPLATE)),
        ("template: update of the name and the name server",
         lambda: api.cluster_template_update(
             request, TEMPLATE, **{**UPDATE_FORM, "name": "panel-2", "dns_nameserver": "1.1.1.1"})),
        ("cluster: create with what has to be filled in",
         lambda: api.cluster_create(request, **{
             **CLUSTER_FORM, "name": "panel", "keypair": "", "labels": {**LABELS, **FORM_LABELS},
             "master_lb_enabled": False})),
        ("cluster: create with numbers, flavors and zone",
         lambda: api.cluster_create(request, **{
             **CLUSTER_FORM, "name": "numbers", "keypair": "", "master_lb_enabled": False, "master_count": 1,
             "master_flavor_id": "m1.small", "node_count": 2, "flavor_id": "m1.small",
             "labels": {**LABELS, **FORM_LABELS, "availability_zone": "nova", "auto_scaling_enabled": True,
                        "min_node_count": 1, "max_node_count": 3}})),
        ("cluster: list", lambda: api.cluster_list(request)),
        ("cluster: show", lambda: api.cluster_show(request, CLUSTER)),
        ("cluster: update of the number of nodes",
         lambda: api.cluster_update(request, CLUSTER, **{
             **CLUSTER_FORM, "name": "panel", "keypair": "", "node_count": 2, "labels": LABELS})),
        ("cluster: what the resize dialog reads",
         lambda: (api.cluster_show(request, CLUSTER), api.nodegroup_list(request, CLUSTER))),
        ("cluster: resize up",
         lambda: api.cluster_resize(request, CLUSTER, 3, nodes_to_remove=None, nodegroup="default-worker")),
        ("cluster: resize down with a node to remove",
         lambda: api.cluster_resize(request, CLUSTER, 2, nodes_to_remove=["0"], nodegroup="default-worker")),
        ("cluster: upgrade",
         lambda: api.cluster_upgrade(request, CLUSTER, OTHER, max_batch_size=1, nodegroup="default-worker")),
        ("cluster: configuration", lambda: api.cluster_config(request, CLUSTER)),
        ("certificate: show", lambda: api.certificate_show(request, CLUSTER)),
        ("certificate: sign", lambda: api.certificate_create(request, cluster_uuid=CLUSTER, csr="{csr}")),
        ("certificate: rotate", lambda: api.certificate_rotate(request, CLUSTER)),
        ("credential: rotate", lambda: api.credential_rotate(request, CLUSTER)),
        ("stats", lambda: api.stats_list(request)),
        ("quota: create",
         lambda: api.quotas_create(request, project_id=PROJECT, resource="Cluster", hard_limit=5)),
        ("quota: list", lambda: api.quotas_list(request)),
        ("quota: show", lambda: api.quotas_show(request, PROJECT, "Cluster")),
        ("quota: update",
         lambda: api.quotas_update(request, **{"project_id": PROJECT, "resource": "Cluster", "hard_limit": 6})),
        ("quota: delete", lambda: api.quotas_delete(request, PROJECT, "Cluster")),
        ("cluster: delete", lambda: api.cluster_delete(request, CLUSTER)),
        ("template: delete", lambda: api.cluster_template_delete(request, TEMPLATE)),
    ]


class Recorder(http.server.BaseHTTPRequestHandler):
    recorded = []

    def respond(self):
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        if isinstance(body, dict) and "BEGIN CERTIFICATE REQUEST" in str(body.get("csr")):
            body["csr"] = "{csr}"
        entry = {"method": self.command, "path": self.path, "version": self.headers.get("OpenStack-API-Version")}
        self.recorded.append({**entry, "body": body} if size else entry)
        found = next((json.dumps(value) for part, value in RESPONSES if part in self.path), "{}")
        status = {"DELETE": 204, "POST": 201, "PATCH": 202}.get(self.command, 200)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        text = b"" if status == 204 else found.encode()
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_DELETE = respond

    def log_message(self, *_):
        pass


def horizon(url):
    """What the module imports of Django and Horizon."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    module("django")
    module("django.conf", settings=types.SimpleNamespace())
    exceptions = types.SimpleNamespace(BadRequest=ValueError, ServiceCatalogException=KeyError)
    module("horizon", exceptions=exceptions)
    module("horizon.utils")
    module("horizon.utils.memoized", memoized=lambda function: function)
    module("openstack_dashboard")
    module("openstack_dashboard.api", base=types.SimpleNamespace(url_for=lambda request, kind: url))


def main(checkout):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    horizon(f"http://127.0.0.1:{server.server_port}/v1")
    file = pathlib.Path(checkout, "magnum_ui/api/magnum.py")
    spec = importlib.util.spec_from_file_location("magnum_ui_api", file)
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    token = types.SimpleNamespace(id="token")
    request = types.SimpleNamespace(user=types.SimpleNamespace(username="demo", tenant_id=PROJECT, token=token))
    table = []
    for name, call in calls(api, request):
        Recorder.recorded = []
        try:
            call()
        except AttributeError:
            # The client fails at the response to a PATCH without a body, which it has sent by then.
            pass
        table.append({"name": name, "requests": Recorder.recorded})
    text = json.dumps(table, indent=2)
    for name, value in IDS.items():
        text = text.replace(value, name)
    print(text)


main(sys.argv[1])
