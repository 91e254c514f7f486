"""Makes the provider networks of the deployment, with their segments and subnets. Safe to repeat: what exists is not changed.

    provider-networks.py FILE        FILE names Keystone, Neutron and the networks; the password is in /run/credentials
"""
import json
import os
import sys
import urllib.parse
import urllib.request

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")
LONGEST = 8 << 20


def send(method, url, token=None, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"Content-Type": "application/json"})
    if token:
        request.add_header("X-Auth-Token", token)
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read(LONGEST)
        return (json.loads(text) if text else {}), response.headers


class Neutron:
    def __init__(self, wanted):
        with open(os.path.join(CREDENTIALS, "keystone.admin"), encoding="utf-8") as file:
            password = file.read().strip()
        user = {"name": "admin", "domain": {"id": "default"}, "password": password}
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        _, headers = send("POST", wanted["keystone"] + "/auth/tokens", body=body)
        self.token = headers["X-Subject-Token"]
        self.url = wanted["neutron"] + "/v2.0"
        self.writes = 0

    def find(self, kind, **query):
        text = urllib.parse.urlencode(query)
        return send("GET", f"{self.url}/{kind}s?{text}", self.token)[0][kind + "s"]

    def create(self, kind, **fields):
        self.writes += 1
        return send("POST", f"{self.url}/{kind}s", self.token, {kind: fields})[0][kind]


def provider(segment):
    return {
        "provider:network_type": "vlan",
        "provider:physical_network": segment["physicalNetwork"],
        "provider:segmentation_id": segment["vlan"],
    }


def ensure(neutron, wanted):
    """A network is made with its first segment. The others follow one by one, so that a repeat continues where it ended."""
    first = wanted["segments"][0]
    found = neutron.find("network", name=wanted["name"])
    network = found[0] if found else neutron.create("network", **{
        "name": wanted["name"], "shared": wanted["shared"], "router:external": wanted["external"], **provider(first)})
    segments = neutron.find("segment", network_id=network["id"])
    subnets = {each["cidr"]: each for each in neutron.find("subnet", network_id=network["id"])}
    for segment in wanted["segments"]:
        of = (segment["physicalNetwork"], segment["vlan"])
        own = [each for each in segments if (each["physical_network"], each["segmentation_id"]) == of]
        made = own[0] if own else neutron.create(
            "segment", network_id=network["id"], network_type="vlan", physical_network=of[0], segmentation_id=of[1])
        if segment["cidr"] in subnets:
            continue
        fields = {"network_id": network["id"], "segment_id": made["id"], "cidr": segment["cidr"]}
        fields["ip_version"] = 6 if ":" in segment["cidr"] else 4
        if "gateway" in segment:
            fields["gateway_ip"] = segment["gateway"]
        if "firstAddress" in segment:
            fields["allocation_pools"] = [{"start": segment["firstAddress"], "end": segment["lastAddress"]}]
        neutron.create("subnet", name=f"{wanted['name']}-{of[0]}", enable_dhcp=not wanted["external"], **fields)


def main(path):
    with open(path, encoding="utf-8") as file:
        wanted = json.load(file)
    neutron = Neutron(wanted)
    for network in wanted["networks"]:
        ensure(neutron, network)
    print(json.dumps({"level": "INFO", "service": "provider-networks", "message": "provider networks are there", "writes": neutron.writes}))


main(sys.argv[1])
