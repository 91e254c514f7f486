/** The exporter of Open vSwitch and OVN with a real ovsdb-server, where it is installed. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { succeeds } from "../testing/commands.ts";
import { hasPython, runExporter, values } from "../testing/ovn-exporter.ts";

const databases = hasPython && succeeds("ovsdb-server", "--version") && succeeds("ovs-appctl", "--version");
const schema = "/usr/share/ovn/ovn-nb.ovsschema";

describe.skipIf(!databases || !existsSync(schema))("the exporter with a real ovsdb-server", () => {
  let server: ChildProcess | undefined;
  let dir = "";
  afterEach(async () => {
    if (server && server.exitCode === null) {
      const ended = new Promise((done) => server?.once("close", done));
      server.kill("SIGKILL");
      await ended;
    }
    if (dir !== "") rmSync(dir, { recursive: true, force: true });
  });

  test("a cluster of one member leads itself; once it hangs, it is not up", async () => {
    dir = mkdtempSync(join(tmpdir(), "causeway-ovn-"));
    const [file, socket] = [join(dir, "nb.db"), join(dir, "nb.ctl")];
    execFileSync("ovsdb-tool", ["create-cluster", file, schema, `unix:${join(dir, "raft.sock")}`]);
    server = spawn("ovsdb-server", [`--unixctl=${socket}`, "-vconsole:off", "-vsyslog:off", "--no-chdir", file], {
      stdio: "ignore",
      env: { ...process.env, OVS_RUNDIR: dir },
    });
    const report = () => values(runExporter(`e.SOCKETS["nb"] = ${JSON.stringify(socket)}; print(e.report("nb"))`));
    const common = 'deployment="",component=""';
    while (!report().includes(`causeway_ovn_database_leader{${common},database="nb"} 1`)) await sleep(100);
    expect(report()).toEqual(
      expect.arrayContaining([
        `causeway_ovn_up{${common}} 1`,
        `causeway_ovn_database_member{${common},database="nb"} 1`,
        `causeway_ovn_database_servers{${common},database="nb"} 1`,
        `causeway_ovn_database_uncommitted{${common},database="nb"} 0`,
        expect.stringMatching(/^causeway_ovn_database_term\{.*\} [1-9]/),
      ]),
    );
    server.kill("SIGSTOP");
    expect(report()).toEqual([`causeway_ovn_up{${common}} 0`]);
  });
});
