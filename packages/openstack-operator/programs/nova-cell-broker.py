"""Makes the virtual host of a further cell of Nova in RabbitMQ, for all of Nova's accounts, which exist. Safe to repeat.

    nova-cell-broker.py VIRTUAL_HOST
"""
import base64
import json
import os
import sys
import urllib.request

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")


def secret(name, fallback=None):
    try:
        with open(os.path.join(CREDENTIALS, name), encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        if fallback is None:
            raise
        return fallback


def put(path, body):
    url = f"http://{os.environ['BROKER_HOST']}:{os.environ['BROKER_MANAGEMENT_PORT']}/api{path}"
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="PUT")
    login = f"{secret('broker.user', 'admin')}:{secret('broker.admin')}".encode()
    request.add_header("Authorization", "Basic " + base64.b64encode(login).decode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60):
        pass


def main(host):
    put(f"/vhosts/{host}", {"default_queue_type": "quorum"})
    for generation in secret("accounts").split():
        user = "nova" if generation == "0" else f"nova_{generation}"
        put(f"/permissions/{host}/{user}", {"configure": ".*", "write": ".*", "read": ".*"})
    print(json.dumps({"level": "INFO", "message": "the virtual host is prepared", "service": "nova", "host": host}))


main(sys.argv[1])
