"""Before nova-compute is requested to stop: waits until no server moves to or from this host. Nova itself waits for none of them.

    migrations.py SECONDS      ends with 0 when none is left; with 1 and a line when SECONDS are over, or when Nova cannot be queried

Status 1 makes an event FailedPreStopHook of the pod; the kubelet stops the container as after 0.

With the account that nova-compute has. The standard library alone.
"""
import configparser
import glob
import http.client
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

INTERVAL = 2
# So long Nova may not respond before nothing more is known.
GIVE_UP_AFTER = 30
LONGEST = 8 << 20
# Those that may wait for a person's word, or are over, hold nothing. A word that was given is under way: Nova's API
# writes "confirming" and "reverting" as it asks the computes.
MOVING = {"accepted", "queued", "preparing", "pre-migrating", "running", "migrating", "post-migrating", "confirming", "reverting"}
# Newest first, and lists by pages, begin with this version.
VERSION = "compute 2.59"


def options(folder="/etc/nova/nova.conf.d"):
    parser = configparser.RawConfigParser(strict=False)
    parser.read(sorted(glob.glob(f"{folder}/*.conf")))
    return dict(parser["placement"])


class Nova:
    """Nova's API, as nova-compute reaches it."""

    def __init__(self, account):
        self.account = account
        self.context = ssl.create_default_context(cafile=account.get("cafile"))
        self.token = self.root = None

    def send(self, url, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json", **(headers or {})})
        with urllib.request.urlopen(request, timeout=10, context=self.context) as response:
            return json.loads(response.read(LONGEST)), response.headers

    def login(self):
        account = self.account
        user = {"name": account["username"], "domain": {"name": account["user_domain_name"]}, "password": account["password"]}
        scope = {"project": {"name": account["project_name"], "domain": {"name": account["project_domain_name"]}}}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": user}}, "scope": scope}}
        url = account["auth_url"].rstrip("/").removesuffix("/v3") + "/v3/auth/tokens"
        found, headers = self.send(url, body)
        self.token = headers["X-Subject-Token"]
        self.root = next(
            endpoint["url"].rstrip("/")
            for service in found["token"]["catalog"] if service["type"] == "compute"
            for endpoint in service["endpoints"]
            if endpoint["interface"] == "internal" and endpoint["region_id"] == account.get("region_name", endpoint["region_id"])
        )

    def moving(self, host):
        """Servers that move to or from a host."""
        if self.token is None:
            self.login()
        query = urllib.parse.urlencode({"host": host, "limit": 200})
        headers = {"X-Auth-Token": self.token, "OpenStack-API-Version": VERSION}
        found, _ = self.send(f"{self.root}/os-migrations?{query}", headers=headers)
        return [each["instance_uuid"] for each in found["migrations"] if each["status"] in MOVING]


def report(message):
    print(json.dumps({"level": "WARNING", "service": "nova-compute", "message": message}), file=sys.stderr, flush=True)


def wait(nova, host, seconds, now=time.monotonic, sleep=time.sleep):
    """How long it took until nothing moved; None: it is not known."""
    began = now()
    unknown_since = None
    moving = ()
    while now() - began < seconds:
        try:
            moving = nova.moving(host)
            if not moving:
                return now() - began
            unknown_since = None
        except (OSError, ValueError, LookupError, TypeError, StopIteration, http.client.HTTPException) as error:
            # A token that is no longer accepted, or an API that is replaced.
            nova.token = None
            unknown_since = now() if unknown_since is None else unknown_since
            if now() - unknown_since >= GIVE_UP_AFTER:
                report(f"Nova has not responded for {GIVE_UP_AFTER} s, it is not known what moves to or from {host}: {error!r}")
                return None
        sleep(INTERVAL)
    report(f"servers still move to or from {host} after {seconds} s: {', '.join(moving[:10]) or 'not known'}")
    return None


def main():
    try:
        waited = wait(Nova(options()), os.environ["NODE_NAME"], float(sys.argv[1]))
    except (OSError, KeyError, configparser.Error) as error:
        report(f"Nova cannot be queried: {error!r}")
        return 1
    return 1 if waited is None else 0


if __name__ == "__main__":
    sys.exit(main())
