"""Makes the virtual host and the accounts of a service in RabbitMQ, and removes accounts that are no longer in use. Safe to repeat.

    broker-init.py SERVICE
"""
import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")
ATTEMPTS = 30
PAUSE = float(os.environ.get("PAUSE_SECONDS", "2"))


def secret(name, fallback=None):
    try:
        with open(os.path.join(CREDENTIALS, name), encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        if fallback is None:
            raise
        return fallback


def send(method, path, body=None):
    url = f"http://{os.environ['BROKER_HOST']}:{os.environ['BROKER_MANAGEMENT_PORT']}/api{path}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method)
    login = f"{secret('broker.user', 'admin')}:{secret('broker.admin')}".encode()
    request.add_header("Authorization", "Basic " + base64.b64encode(login).decode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read()
        return json.loads(text) if text else None


def first(method, path, body):
    """The first request. A node learns where a new pod is a moment after the pod is ready."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return send(method, path, body)
        except (OSError, urllib.error.URLError) as error:
            is_refusal = isinstance(error, urllib.error.HTTPError) and error.code < 500
            if is_refusal or attempt == ATTEMPTS:
                raise
            if attempt == 2:
                print(json.dumps({"level": "WARNING", "message": f"the broker does not respond yet: {error}"}), flush=True)
            time.sleep(PAUSE)


def main(service):
    first("PUT", f"/vhosts/{service}", {"default_queue_type": "quorum"})
    generations = secret("accounts").split()
    names = {service if g == "0" else f"{service}_{g}": g for g in generations}
    everything = {"configure": ".*", "write": ".*", "read": ".*"}
    for name, generation in names.items():
        send("PUT", f"/users/{name}", {"password": secret(f"{service}.broker.{generation}"), "tags": ""})
        send("PUT", f"/permissions/{service}/{name}", everything)
    for user in send("GET", "/users"):
        name = user["name"]
        is_generation = name == service or (name.startswith(service + "_") and name[len(service) + 1:].isdigit())
        if is_generation and name not in names:
            send("DELETE", f"/users/{name}")
    print(json.dumps({"level": "INFO", "message": "broker is prepared", "service": service}))


main(sys.argv[1])
