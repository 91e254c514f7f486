/** The program of the switch with a real Open vSwitch in namespaces of its own, where it is installed. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isInstalled, succeeds } from "../testing/commands.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const program = join(import.meta.dirname, "../../programs/openvswitch.sh");
const programs = ["ovs-vswitchd", "ovsdb-server", "ovs-ofctl", "ovs-vsctl", "ovsdb-tool", "unshare", "nsenter"];
/** Namespaces, and a switch in user space, can be had. */
const canRun = process.getuid?.() === 0 && programs.every(isInstalled) && succeeds("unshare", "-m", "-n", "true");

/** What OVN writes: an option of its tunnels, a group of a load balancer, and a flow with a meter. */
const FLOWS = [
  "table=0,priority=100,tun_metadata0=0x5 actions=load:0x1->NXM_NX_REG0[],resubmit(,1)",
  "table=1,priority=50,ip actions=group:7",
  "table=1,priority=10 actions=drop",
];
const OPTION = "{class=0x102,type=0x80,len=4}->tun_metadata0";

describe.skipIf(!canRun)("a switch of a node", () => {
  let dir = "";
  let child: ChildProcess | undefined;
  let said = "";

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "openvswitch-"));
    for (const name of ["run", "etc"]) mkdirSync(join(dir, name));
  });
  afterAll(async () => {
    await end("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  });

  const start = async () => {
    said = "";
    const own = `mount --bind "$0/run" /run && mount --bind "$0/etc" /etc/openvswitch && exec sh "$1"`;
    const inside = ["-m", "-n", "-p", "--fork", "--kill-child", "--mount-proc", "sh", "-c", own, dir, program];
    child = spawn("unshare", inside, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout?.on("data", (chunk) => (said += String(chunk)));
    child.stderr?.on("data", (chunk) => (said += String(chunk)));
    // It is set to wait for its flows before the switch starts.
    const forwards = () =>
      ask("ls", "/run/openvswitch").includes("ovs-vswitchd.ctl") &&
      vsctl("get", "Open_vSwitch", ".", "other_config").trim() === "{}";
    await until(forwards);
  };
  /** Process 1 of its namespaces, as this one numbers it. */
  const init = () => spawnSync("pgrep", ["-P", String(child?.pid)], { encoding: "utf8" }).stdout.trim();
  const ask = (...command: readonly string[]) => {
    const found = init();
    if (found === "") return "";
    return spawnSync("nsenter", ["-t", found, "-m", "-n", "-p", ...command], { encoding: "utf8" }).stdout;
  };
  const vsctl = (...args: readonly string[]) => ask("ovs-vsctl", "--timeout=2", ...args);
  const ofctl = (...args: readonly string[]) => ask("ovs-ofctl", "-O", "OpenFlow15", "--timeout=5", ...args);
  const flows = () =>
    ofctl("dump-flows", "--no-names", "--no-stats", "br-int")
      .split("\n")
      .filter((line) => line.includes("actions="))
      .toSorted();
  const ended = () => child === undefined || child.exitCode !== null || child.signalCode !== null;
  const until = async (check: () => boolean) => {
    for (let tries = 0; tries < 600; tries++) {
      if (check()) return;
      if (ended()) throw new Error(`it ended: ${said}`);
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`it did not become so: ${said}`);
  };
  const end = async (name: "TERM" | "SIGKILL") => {
    if (!child || ended()) return;
    const closed = new Promise((done) => child?.once("close", done));
    if (name === "SIGKILL") child.kill("SIGKILL");
    else execFileSync("kill", ["-s", "TERM", init()]);
    await closed;
  };

  test("that is replaced has its flows with all that they refer to before it forwards", async () => {
    await start();
    vsctl("--no-wait", "add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=netdev");
    await until(() => ofctl("show", "br-int") !== "");
    ofctl("del-flows", "br-int");
    ofctl("add-tlv-map", "br-int", OPTION);
    ofctl("add-group", "br-int", "group_id=7,type=select,bucket=actions=drop");
    writeFileSync(join(dir, "run/flows"), FLOWS.join("\n"));
    ofctl("add-flows", "br-int", "/run/flows");
    const before = flows();
    expect(before).toHaveLength(FLOWS.length);
    ofctl("add-meter", "br-int", "meter=1 kbps band=type=drop rate=1000");
    ofctl("add-flow", "br-int", "table=2,actions=meter:1,resubmit(,3)");
    expect(flows()).toHaveLength(FLOWS.length + 1);
    await end("TERM");
    await start();
    expect(flows()).toEqual(before);
    expect(ofctl("dump-groups", "br-int")).toContain("group_id=7");
    expect(said).not.toContain("not restored");
  });

  test.each(["ovs-vswitchd", "ovsdb-server"])(
    "whose %s ends by itself ends, and has no old flows after",
    async (name) => {
      if (ended()) await start();
      ofctl("del-flows", "br-int");
      const pid = ask("cat", `/run/openvswitch/${name}.pid`).trim();
      ask("kill", "-KILL", pid);
      for (let tries = 0; tries < 600 && !ended(); tries++) await new Promise((done) => setTimeout(done, 100));
      expect(ended()).toBe(true);
      expect(said).toContain("ended by itself");
      await start();
      expect(flows().filter((line) => line.includes("group:7"))).toEqual([]);
    },
  );
});
