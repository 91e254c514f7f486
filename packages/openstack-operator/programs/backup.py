"""Writes one part of a backup: BACKUP_OF/BACKUP_RUN/FILE of the target. A part that exists is not written again.

    backup.py database SERVICE [DATABASE...]    a consistent dump of the databases of a service, and of those in addition
    backup.py ovn nb|sb           OVN's northbound or southbound database
    backup.py keys                passwords, keys and the authority of the deployment, encrypted by the passphrase
    backup.py finish              the list of the parts with their sizes and digests, without which a backup does not count; then removes old ones
"""
import base64
import gzip
import json
import os
import socket
import subprocess
import sys

import backup_target

CREDENTIALS = os.environ.get("CREDENTIALS", "/run/credentials")
SECRETS = os.environ.get("BACKUP_SECRETS", "/run/keys")
DATABASES = {"nova": ["nova_api", "nova", "nova_cell0"], "octavia": ["octavia", "octavia_persistence"]}
OVN = {"nb": "OVN_Northbound", "sb": "OVN_Southbound"}


def read(path, fallback=None):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        if fallback is None:
            raise
        return fallback


def client_options():
    """A file with the account of the database server: arguments of processes can be read by others."""
    path = "/tmp/client.cnf" if "CLIENT_FILE" not in os.environ else os.environ["CLIENT_FILE"]
    user = read(os.path.join(CREDENTIALS, "database.user"), "root")
    password = read(os.path.join(CREDENTIALS, "database.admin"))
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(f"[client]\nhost={os.environ['DATABASE_HOST']}\nport={os.environ['DATABASE_PORT']}\nuser={user}\npassword={password}\n")
    return f"--defaults-extra-file={path}"


def dump(command, path):
    """Compresses what a command prints, and returns its last bytes."""
    tail = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process, gzip.open(path, "wb", compresslevel=6) as file:
        for block in iter(lambda: process.stdout.read(1 << 20), b""):
            file.write(block)
            tail = (tail + block)[-200:]
    if process.returncode != 0:
        backup_target.fail(f"{os.path.basename(command[0])} ended with status {process.returncode}")
    return tail


def database(service, path, more=()):
    names = [*DATABASES.get(service, [service]), *more]
    command = ["mariadb-dump", client_options(), "--single-transaction", "--quick", "--routines", "--triggers", "--events"]
    tail = dump([*command, "--hex-blob", "--skip-dump-date", "--databases", *names], path)
    if b"-- Dump completed" not in tail:
        backup_target.fail("mariadb-dump ended before the end of the databases")


def addresses(text):
    """OVN's programs know no search domains: they get addresses."""
    found = []
    for member in text.split(","):
        _, host, port = member.split(":")
        try:
            address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
        except OSError:
            continue
        found.append(f"tcp:[{address}]:{port}" if ":" in address else f"tcp:{address}:{port}")
    return ",".join(found)


def ovn(side, path):
    dump(["ovsdb-client", "--timeout=600", "backup", addresses(os.environ[f"OVN_{side.upper()}"]), OVN[side]], path)


def cipher(passphrase, salt):
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Fernet(base64.urlsafe_b64encode(Scrypt(salt=salt, length=32, n=2**15, r=8, p=1).derive(passphrase.encode())))


def keys(path):
    values = {}
    for role in sorted(os.listdir(SECRETS)):
        folder = os.path.join(SECRETS, role)
        files = [each for each in sorted(os.listdir(folder)) if not each.startswith(".")]
        values[role] = {each: read(os.path.join(folder, each)) for each in files}
    if not values.get("credentials"):
        backup_target.fail("the Secret with the passwords of the deployment is empty")
    salt = os.urandom(16)
    sealed = cipher(read("/run/passphrase/passphrase" if "PASSPHRASE" not in os.environ else os.environ["PASSPHRASE"]), salt)
    with open(path, "wb") as file:
        file.write(base64.b64encode(salt) + b"\n" + sealed.encrypt(json.dumps(values).encode()))


def finish(target, folder):
    parts = {}
    for name in target.names(folder + "/"):
        short = name.rsplit("/", 1)[-1]
        if short in ("manifest.json",) or short.endswith(".part"):
            continue
        with target.reading(name) as path:
            parts[short] = {"bytes": os.path.getsize(path), "sha256": backup_target.digest_of(path)}
    wanted = os.environ["BACKUP_PARTS"].split()
    missing = [each for each in wanted if each not in parts]
    if missing:
        backup_target.fail(f"the backup has no {', '.join(missing)}")
    manifest = {"version": 1, "release": os.environ["BACKUP_RELEASE"], "parts": parts}
    with target.writing(f"{folder}/manifest.json") as path, open(path, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1, sort_keys=True)
    prune(target, os.environ["BACKUP_OF"], int(os.environ["BACKUP_KEEP"]))
    return sum(part["bytes"] for part in parts.values())


def prune(target, of, keep):
    """Removes what is older than the oldest complete backup that is kept, its manifest first: half of one never counts."""
    names = target.names(of + "/")
    complete = sorted({name.split("/")[-2] for name in names if name.endswith("/manifest.json")})
    if len(complete) <= keep:
        return
    oldest = complete[-keep]
    for name in sorted(names, key=lambda each: not each.endswith("/manifest.json")):
        if name.split("/")[-2] < oldest:
            target.delete(name)


def main(what, of="", *more):
    target = backup_target.open_target()
    folder = f"{os.environ['BACKUP_OF']}/{os.environ['BACKUP_RUN']}"
    if what == "finish":
        size = finish(target, folder)
    else:
        name = folder + "/" + {"database": f"{of}.sql.gz", "ovn": f"ovn-{of}.db.gz", "keys": "keys.sealed"}[what]
        if not target.exists(name):
            with target.writing(name) as path:
                {"database": lambda: database(of, path, more), "ovn": lambda: ovn(of, path), "keys": lambda: keys(path)}[what]()
        with target.reading(name) as path:
            size = os.path.getsize(path)
    backup_target.report(json.dumps({"bytes": size}))
    print(json.dumps({"level": "INFO", "message": "backed up", "part": f"{what} {of}".strip(), "bytes": size}))


if __name__ == "__main__":
    main(*sys.argv[1:])
