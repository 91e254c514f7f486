import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/ovn-sync.py");
const python = spawnSync("python3", ["-c", ""]).status === 0;

/** Neutron's modules as far as the program reads them. */
const MODULES = {
  "neutron/cmd/ovn/neutron_ovn_db_sync_util.py": `
import sys
from neutron.plugins.ml2.drivers.ovn.mech_driver.ovsdb import ovn_db_sync
def main():
    if "--ovn-neutron_sync_mode" not in sys.argv:
        return
    ovn_db_sync.OvnNbSynchronizer().do_sync()
`,
  "neutron/plugins/ml2/drivers/ovn/mech_driver/ovsdb/ovn_db_sync.py": `
import sys
class OvnNbSynchronizer:
    def do_sync(self):
        if "lost" in sys.argv:
            raise RuntimeError("the database does not respond")
        print("written")
`,
};

describe.skipIf(!python)("the program that writes Neutron's networks into OVN", () => {
  let dir = "";
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "ovn-sync-"));
    for (const [path, text] of Object.entries(MODULES)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test.each([
    ["with 0 once it has written all", ["--ovn-neutron_sync_mode", "repair"], 0, "written\n"],
    ["with 1 where Neutron's program refuses to begin", [], 1, ""],
    ["with 1 where it breaks off", ["--ovn-neutron_sync_mode", "lost"], 1, ""],
  ] as const)("ends %s", (_, args, status, said) => {
    const env = { ...process.env, PYTHONPATH: dir, PYTHONDONTWRITEBYTECODE: "1" };
    const ended = spawnSync("python3", [program, ...args], { env, encoding: "utf8" });
    expect({ status: ended.status, said: ended.stdout }).toEqual({ status, said });
  });
});
