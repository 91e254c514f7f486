import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/ovn-exporter.py");
const has = (...command: string[]) => spawnSync(command[0] ?? "", command.slice(1)).status === 0;
const python = has("python3", "-c", "");
const databases = python && has("ovsdb-server", "--version") && has("ovs-appctl", "--version");
const schema = "/usr/share/ovn/ovn-nb.ovsschema";

/** Runs Python that has the exporter's names as `e`. */
function run(text: string, env: Record<string, string> = {}): string {
  const load = `import importlib.util, json, sys; sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("e", ${JSON.stringify(program)}); e = importlib.util.module_from_spec(spec); spec.loader.exec_module(e)
${text}`;
  return execFileSync("python3", ["-c", load], { encoding: "utf8", env: { ...process.env, ...env } });
}

const values = (text: string): string[] => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

describe.skipIf(!python)("the exporter of Open vSwitch and OVN", () => {
  test("reads counts of each datapath", () => {
    const shown = `system@ovs-system:
  lookups: hit:12 missed:3 lost:1
  flows: 7
  masks: hit:15 total:2 hit/pkt:1.00
  port 0: ovs-system (internal)
  port 1: br-int (internal)
netdev@ovs-netdev:
  lookups: hit:0 missed:0 lost:0
  flows: 0
  port 0: ovs-netdev (tap)
`;
    const found = JSON.parse(run(`print(json.dumps([list(each) for each in e.switch(${JSON.stringify(shown)})]))`));
    expect(found).toContainEqual([
      "causeway_ovs_datapath_lookups_total",
      { datapath: "system@ovs-system", result: "lost" },
      1,
    ]);
    expect(found).toContainEqual(["causeway_ovs_datapath_flows", { datapath: "system@ovs-system" }, 7]);
    expect(found).toContainEqual(["causeway_ovs_datapath_ports", { datapath: "system@ovs-system" }, 2]);
    expect(found).toContainEqual(["causeway_ovs_datapath_ports", { datapath: "netdev@ovs-netdev" }, 1]);
    expect(found).toHaveLength(10);
  });

  test("says of a process that does not respond that it is not up, and nothing else", () => {
    const text = run(`e.SOCKETS["northd"] = "/nonexistent/northd.ctl"; print(e.report("northd"), end="")`, {
      DEPLOYMENT: "openstack/cloud",
      COMPONENT: "ovn-northd",
    });
    expect(values(text)).toEqual(['causeway_ovn_up{deployment="openstack/cloud",component="ovn-northd"} 0']);
    expect(text).toContain("# TYPE causeway_ovn_up gauge");
  });
});

describe.skipIf(!databases || !existsSync(schema))("with a real ovsdb-server", () => {
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
    const report = () => values(run(`e.SOCKETS["nb"] = ${JSON.stringify(socket)}; print(e.report("nb"))`));
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
