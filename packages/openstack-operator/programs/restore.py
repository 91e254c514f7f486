"""Restores one part of a backup. What was restored from the same backup before is left as it is; other data is replaced only with RESTORE_OVERWRITE=yes.

    restore.py database SERVICE [DATABASE...]
    restore.py ovn nb
    restore.py keys               writes them into the Secret RESTORED_SECRET of the namespace, which the operator takes them from
"""
import base64
import gzip
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.request

import backup
import backup_target

RUN = os.environ.get("BACKUP_RUN", "")
ID = f"{os.environ.get('BACKUP_OF', '')}/{RUN}"
OVERWRITE = os.environ.get("RESTORE_OVERWRITE") == "yes"
HOLDS_DATA = 3


def part(target, name):
    """The manifest's entry of a part; None: the backup has no such part."""
    folder = ID
    if not target.exists(f"{folder}/manifest.json"):
        backup_target.fail(f"there is no complete backup {folder}: it has no manifest.json")
    with target.reading(f"{folder}/manifest.json") as path, open(path, encoding="utf-8") as file:
        return json.load(file)["parts"].get(name)


def fetch(target, name, into):
    entry = part(target, name)
    if entry is None:
        return None
    path = os.path.join(into, name)
    with target.reading(f"{ID}/{name}") as source:
        shutil.copyfile(source, path)
    if backup_target.digest_of(path) != entry["sha256"]:
        backup_target.fail(f"{ID}/{name} is not what was backed up: its digest differs")
    return path


def sql(options, text):
    done = subprocess.run(["mariadb", options, "--batch", "--skip-column-names"], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split("\n")[:-1]


def database(target, service, *more):
    options = backup.client_options()
    names = [*backup.DATABASES.get(service, [service]), *more]
    sql(options, "CREATE DATABASE IF NOT EXISTS openstack_restore; CREATE TABLE IF NOT EXISTS openstack_restore.parts "
        "(service VARCHAR(64) PRIMARY KEY, backup VARCHAR(255) NOT NULL, state VARCHAR(16) NOT NULL) ENGINE=InnoDB;")
    rows = sql(options, f"SELECT CONCAT(backup, ' ', state) FROM openstack_restore.parts WHERE service = '{service}'")
    if rows == [f"{ID} done"]:
        return "was restored before"
    listed = ", ".join(f"'{each}'" for each in names)
    tables = int(sql(options, f"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema IN ({listed})")[0])
    if tables and rows != [f"{ID} started"] and not OVERWRITE:
        backup_target.fail(f"the databases of {service} hold {tables} tables: set spec.restore.overwrite to replace them", HOLDS_DATA)
    with tempfile.TemporaryDirectory() as folder:
        path = fetch(target, f"{service}.sql.gz", folder)
        if path is None:
            return "is not part of the backup"
        sql(options, f"REPLACE INTO openstack_restore.parts VALUES ('{service}', '{ID}', 'started')")
        for name in names:
            sql(options, f"DROP DATABASE IF EXISTS `{name}`; CREATE DATABASE `{name}` CHARACTER SET utf8 COLLATE utf8_general_ci")
        with gzip.open(path, "rb") as source, subprocess.Popen(["mariadb", options], stdin=subprocess.PIPE) as process:
            shutil.copyfileobj(source, process.stdin, 1 << 20)
            process.stdin.close()
        if process.returncode != 0:
            backup_target.fail(f"mariadb ended with status {process.returncode}")
    sql(options, f"REPLACE INTO openstack_restore.parts VALUES ('{service}', '{ID}', 'done')")
    return "restored"


MARK = "causeway-restored"


def ovn(target, side):
    remote, name = backup.addresses(os.environ[f"OVN_{side.upper()}"]), backup.OVN[side]
    selects = [{"op": "select", "table": table, "where": [], "columns": columns} for table, columns in
               (("NB_Global", ["external_ids"]), ("Logical_Switch", ["_uuid"]), ("Logical_Router", ["_uuid"]))]
    command = ["ovsdb-client", "--timeout=60", "transact", remote, json.dumps([name, *selects])]
    world, *others = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    marks = [value for row in world["rows"] for key, value in row["external_ids"][1] if key == MARK]
    if marks == [ID]:
        return "was restored before"
    if any(each["rows"] for each in others) and not OVERWRITE:
        backup_target.fail("OVN's northbound database holds networks: set spec.restore.overwrite to replace them", HOLDS_DATA)
    with tempfile.TemporaryDirectory() as folder:
        packed = fetch(target, f"ovn-{side}.db.gz", folder)
        if packed is None:
            return "is not part of the backup"
        path = packed[:-len(".gz")]
        with gzip.open(packed, "rb") as source, open(path, "wb") as file:
            shutil.copyfileobj(source, file)
        # The mark is in the file, so that it comes with the data, in one transaction.
        mark = {"op": "mutate", "table": "NB_Global", "where": [], "mutations": [["external_ids", "delete", ["set", [MARK]]],
                ["external_ids", "insert", ["map", [[MARK, ID]]]]]}
        subprocess.run(["ovsdb-tool", "transact", path, json.dumps([name, mark])], stdout=subprocess.DEVNULL, check=True)
        with open(path, "rb") as file:
            subprocess.run(["ovsdb-client", "--timeout=600", "--force", "restore", remote, name], stdin=file, check=True)
    return "restored"


def keys(target, _of):
    with tempfile.TemporaryDirectory() as folder:
        path = fetch(target, "keys.sealed", folder)
        if path is None:
            backup_target.fail("the backup has no keys")
        with open(path, "rb") as file:
            salt, sealed = file.read().split(b"\n", 1)
    from cryptography.fernet import InvalidToken

    passphrase = backup.read(os.environ.get("PASSPHRASE", "/run/passphrase/passphrase"))
    try:
        values = backup.cipher(passphrase, base64.b64decode(salt)).decrypt(sealed)
    except InvalidToken:
        backup_target.fail("the passphrase does not open the keys of the backup")
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    host = f"[{host}]" if ":" in host else host
    url = f"https://{host}:{port}/api/v1/namespaces/{backup.read(account + '/namespace')}/secrets/{os.environ['RESTORED_SECRET']}"
    body = {"data": {"keys": base64.b64encode(values).decode(), "backup": base64.b64encode(ID.encode()).decode()}}
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="PATCH")
    request.add_header("Content-Type", "application/merge-patch+json")
    request.add_header("Authorization", "Bearer " + backup.read(account + "/token"))
    context = ssl.create_default_context(cafile=account + "/ca.crt")
    urllib.request.urlopen(request, timeout=60, context=context).close()
    return "restored"


def main(what, of="", *more):
    result = {"database": database, "ovn": ovn, "keys": keys}[what](backup_target.open_target(), of, *more)
    print(json.dumps({"level": "INFO", "message": result, "part": f"{what} {of}".strip()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
