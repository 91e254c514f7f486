"""Makes the virtual host and the accounts of a service in RabbitMQ, and removes accounts that are no longer in use. Safe to repeat.

    broker-init.py SERVICE         the virtual host of its name, and its accounts
    broker-init.py SERVICE HOST    a further virtual host for its accounts, which exist
"""
import base64
import json
import os
import sys
import urllib.request

from first_request import first

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")


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


def remove_others(service, names):
    """Accounts of earlier generations."""
    for user in send("GET", "/users"):
        name = user["name"]
        is_generation = name == service or (name.startswith(service + "_") and name[len(service) + 1:].isdigit())
        if is_generation and name not in names:
            send("DELETE", f"/users/{name}")


def main(service, further=None):
    host = further or service
    first(lambda: send("PUT", f"/vhosts/{host}", {"default_queue_type": "quorum"}), "the broker")
    names = {service if g == "0" else f"{service}_{g}": g for g in secret("accounts").split()}
    everything = {"configure": ".*", "write": ".*", "read": ".*"}
    for name, generation in names.items():
        if further is None:
            send("PUT", f"/users/{name}", {"password": secret(f"{service}.broker.{generation}"), "tags": ""})
        send("PUT", f"/permissions/{host}/{name}", everything)
    if further is None:
        remove_others(service, names)
    print(json.dumps({"level": "INFO", "message": "broker is prepared", "service": service, "host": host}))


main(*sys.argv[1:])
