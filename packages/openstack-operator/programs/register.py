"""Registers the users, services and endpoints of one service in Keystone. Safe to repeat: it writes only what differs.

    register.py FILE        FILE names users, services and endpoints; passwords are in /run/credentials
"""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

from first_request import first

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")


def secret(name):
    with open(os.path.join(CREDENTIALS, name), encoding="utf-8") as file:
        return file.read().strip()


class Keystone:
    """The calls of Identity v3 that are needed."""

    def __init__(self, url, password):
        self.url = url.rstrip("/")
        self.writes = 0
        self.token = None
        scope = {"project": {"name": "admin", "domain": {"id": "default"}}}
        login = {"auth": {"identity": self.identity("admin", password), "scope": scope}}
        _, headers = first(lambda: self.send("POST", "/auth/tokens", login), "Keystone")
        self.token = headers["X-Subject-Token"]

    @staticmethod
    def identity(user, password, domain="default"):
        of = {"name": user, "domain": {"id": domain}, "password": password}
        return {"methods": ["password"], "password": {"user": of}}

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("X-Auth-Token", self.token)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read()
            return (json.loads(text) if text else {}), response.headers

    def write(self, method, path, body=None):
        self.writes += 1
        return self.send(method, path, body)[0]

    def find(self, kind, **query):
        plural = kind + "s"
        return self.send("GET", f"/{plural}?{urllib.parse.urlencode(query)}")[0][plural]

    def ensure(self, kind, fields, **query):
        found = self.find(kind, **query)
        if found:
            return found[0]
        try:
            return self.write("POST", f"/{kind}s", {kind: {**query, **fields}})[kind]
        except urllib.error.HTTPError as error:
            # The Jobs of all services run at once, and each of them needs the same project and roles.
            found = self.find(kind, **query) if error.code == 409 else []
            if not found:
                raise
            return found[0]

    def accepts(self, user, password, domain="default"):
        """Does the password work? Setting it again would end every token of the user."""
        try:
            self.send("POST", "/auth/tokens", {"auth": {"identity": self.identity(user, password, domain)}})
            return True
        except urllib.error.HTTPError as error:
            if error.code == 401:
                return False
            raise


def ensure_user(keystone, name, password, roles, on, domain="default"):
    """A user of the domain, with these roles on a project or on a domain: projects/ID or domains/ID."""
    user = keystone.ensure("user", {"password": password, "enabled": True}, name=name, domain_id=domain)
    if not keystone.accepts(name, password, domain):
        keystone.write("PATCH", f"/users/{user['id']}", {"user": {"password": password}})
    for role_name in roles:
        role = keystone.ensure("role", {}, name=role_name)
        granted = keystone.send("GET", f"/{on}/users/{user['id']}/roles")[0]["roles"]
        if all(each["id"] != role["id"] for each in granted):
            keystone.write("PUT", f"/{on}/users/{user['id']}/roles/{role['id']}")


def ensure_domain(keystone, wanted):
    """The domain of the users that the service makes, and who administers it."""
    domain = keystone.ensure("domain", {}, name=wanted["name"])
    password = secret(wanted["password"])
    ensure_user(keystone, wanted["administrator"], password, ["admin"], f"domains/{domain['id']}", domain["id"])


def ensure_endpoint(keystone, service, region, interface, url):
    found = keystone.find("endpoint", service_id=service["id"], interface=interface, region_id=region)
    if not found:
        fields = {"service_id": service["id"], "interface": interface, "region_id": region, "url": url}
        keystone.write("POST", "/endpoints", {"endpoint": fields})
    elif found[0]["url"] != url:
        keystone.write("PATCH", f"/endpoints/{found[0]['id']}", {"endpoint": {"url": url}})


def remove_old_users(keystone, prefix, keep):
    """Accounts of earlier generations: PREFIX_1, PREFIX_2."""
    for user in keystone.find("user", domain_id="default"):
        name = user["name"]
        is_generation = name == prefix or (name.startswith(prefix + "_") and name[len(prefix) + 1:].isdigit())
        if is_generation and name not in keep:
            keystone.write("DELETE", f"/users/{user['id']}")


def main(path):
    with open(path, encoding="utf-8") as file:
        wanted = json.load(file)
    keystone = Keystone(wanted["keystone"], secret("keystone.admin"))
    project = keystone.ensure("project", {}, name=wanted.get("project", "service"), domain_id="default")
    prefix = wanted["user"]
    generations = secret("accounts").split()
    names = {g: prefix if g == "0" else f"{prefix}_{g}" for g in generations}
    for generation, name in names.items():
        ensure_user(keystone, name, secret(f"{wanted['service']}.identity.{generation}"), wanted["roles"], f"projects/{project['id']}")
    remove_old_users(keystone, prefix, set(names.values()))
    for name in wanted.get("userRoles", []):
        keystone.ensure("role", {}, name=name)
    if "domain" in wanted:
        ensure_domain(keystone, wanted["domain"])
    for each in wanted["services"]:
        service = keystone.ensure("service", {"name": each["name"]}, type=each["type"])
        for interface, url in each["endpoints"].items():
            ensure_endpoint(keystone, service, wanted["region"], interface, url)
    print(json.dumps({"level": "INFO", "message": "registered", "service": prefix, "writes": keystone.writes}))


main(sys.argv[1])
