import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
const has = (...command: string[]) => spawnSync(command[0] ?? "", command.slice(1)).status === 0;
const hasOvn =
  has("ovn-northd", "--version") &&
  has("ovsdb-server", "--version") &&
  has("ovn-controller", "--version") &&
  has("ovs-vswitchd", "--version") &&
  has("unshare", "--net", "ip", "link", "set", "lo", "up");
const NB = "tcp:127.0.0.1:6641";
const SB = "tcp:127.0.0.1:6642";
/** So many changes of the first database that the second one has fewer. */
const CHANGES = 8;

type Side = "nb" | "sb";

/** Both databases of OVN and northd, in a network of their own. */
class Ovn {
  readonly #folder = mkdtempSync(join(tmpdir(), "ovn-sb-sync-"));
  readonly #network: ChildProcess;
  readonly #inside: string[];
  readonly #served: ChildProcess[] = [];

  constructor() {
    const inside = ["--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"];
    this.#network = spawn("unshare", inside, { stdio: ["pipe", "pipe", "inherit"] });
    this.#inside = ["--net", "--target", String(this.#network.pid)];
  }

  whenReady(): Promise<unknown> {
    return new Promise((resolve) => this.#network.stdout?.once("data", resolve));
  }

  /** Prepares and starts a database; its identity. */
  async serve(side: Side): Promise<string> {
    const folder = this.#path(side);
    mkdirSync(join(folder, "run"), { recursive: true });
    const env = {
      ...process.env,
      POD_NAME: `cloud-ovn-${side}-0`,
      MEMBERS: "1",
      ADDRESSES: "127.0.0.1",
      LISTEN: "127.0.0.1",
      WAIT_SECONDS: "0",
      DATA: folder,
      KNOWN: folder,
      RUN: join(folder, "run"),
      SAYS: join(folder, "says"),
    };
    const program = [...this.#inside, "sh", join(programs, "ovn-db.sh"), side];
    execFileSync("nsenter", [...program, "prepare"], { env, stdio: "ignore" });
    this.#served.push(spawn("nsenter", program, { env, stdio: "ignore", detached: true }));
    const database = side === "nb" ? "OVN_Northbound" : "OVN_Southbound";
    const control = join(folder, "run", `ovn${side}_db.ctl`);
    while (!spawnSync("ovs-appctl", ["-t", control, "cluster/status", database]).stdout.includes("cluster member"))
      await sleep(50);
    return readFileSync(join(folder, "says"), "utf8");
  }

  /** Ends a database and removes its disk. */
  async lose(side: Side): Promise<void> {
    await this.#kill(join(this.#path(side), "run", `ovn${side}_db.pid`));
    rmSync(this.#path(side), { recursive: true });
  }

  async startNorthd(): Promise<void> {
    const own = [`--unixctl=${this.#path("northd.ctl")}`, `--pidfile=${this.#path("northd.pid")}`, "-vsyslog:off"];
    const args = [...this.#inside, "ovn-northd", `--ovnnb-db=${NB}`, `--ovnsb-db=${SB}`, ...own];
    this.#served.push(spawn("nsenter", args, { stdio: "ignore", detached: true }));
    while (!existsSync(this.#path("northd.pid"))) await sleep(50);
  }

  async endNorthd(): Promise<void> {
    await this.#kill(this.#path("northd.pid"));
    rmSync(this.#path("northd.pid"), { force: true });
  }

  ask(program: "ovn-nbctl" | "ovn-sbctl", ...command: string[]): string {
    const server = [`--db=${program === "ovn-nbctl" ? NB : SB}`, "--no-leader-only", "--timeout=10"];
    return execFileSync("nsenter", [...this.#inside, program, ...server, ...command], { encoding: "utf8" });
  }

  /** Ports that the southbound database has. */
  ports(): string[] {
    const found = this.ask("ovn-sbctl", "--bare", "--columns=logical_port", "list", "port_binding");
    return found.split("\n").filter((line) => line !== "");
  }

  /** The program of the Job; its status. */
  sync(timeout: number): number | null {
    const env = { ...process.env, OVN_NB: NB, SYNC_SECONDS: String(timeout) };
    const args = [...this.#inside, "sh", join(programs, "ovn-sb-sync.sh")];
    return spawnSync("nsenter", args, { env, stdio: "ignore" }).status;
  }

  /** Starts the switch and the controller of a node. */
  async startNode(): Promise<void> {
    mkdirSync(this.#path("switch"));
    const database = this.#path("switch/conf.db");
    execFileSync("ovsdb-tool", ["create", database, "/usr/share/openvswitch/vswitch.ovsschema"]);
    const socket = this.#path("switch/db.sock");
    const control = (name: string) => `--unixctl=${this.#path(`switch/${name}.ctl`)}`;
    this.#start("ovsdb-server", database, `--remote=punix:${socket}`, control("database"), "-vconsole:off");
    while (!existsSync(socket)) await sleep(50);
    this.vsctl("--no-wait", "init");
    // Packets go nowhere: their flows are what counts.
    const dummy = ["--enable-dummy=override", "--disable-system"];
    this.#start("ovs-vswitchd", `unix:${socket}`, ...dummy, control("switch"), "-vconsole:off");
    const own = { "system-id": "node", hostname: "node", "ovn-bridge": "br-int", "ovn-bridge-datapath-type": "dummy" };
    const tunnel = { "ovn-remote": SB, "ovn-encap-type": "geneve", "ovn-encap-ip": "127.0.0.1" };
    const all = Object.entries({ ...own, ...tunnel, "ovn-ofctrl-wait-before-clear": "1000" });
    this.vsctl("set", "Open_vSwitch", ".", ...all.map(([key, value]) => `external_ids:${key}=${value}`));
    await this.startController();
    while (spawnSync("sh", ["-c", `test -S ${this.#path("switch/br-int.mgmt")}`]).status !== 0) await sleep(50);
  }

  async startController(): Promise<void> {
    const file = this.#path("controller.pid");
    this.#start("ovn-controller", `unix:${this.#path("switch/db.sock")}`, `--pidfile=${file}`, "-vsyslog:off");
    while (!existsSync(file)) await sleep(50);
  }

  async endController(): Promise<void> {
    await this.#kill(this.#path("controller.pid"));
    rmSync(this.#path("controller.pid"), { force: true });
  }

  vsctl(...command: string[]): void {
    execFileSync("ovs-vsctl", [`--db=unix:${this.#path("switch/db.sock")}`, "--timeout=10", ...command]);
  }

  flows(): number {
    const bridge = `unix:${this.#path("switch/br-int.mgmt")}`;
    const { stdout } = spawnSync("ovs-ofctl", ["-O", "OpenFlow15", "dump-flows", bridge], { encoding: "utf8" });
    return stdout.split("\n").filter((line) => line.includes("actions=")).length;
  }

  /** Does the controller have the database? */
  isConnected(): boolean {
    const control = this.#path(
      `switch/ovn-controller.${readFileSync(this.#path("controller.pid"), "utf8").trim()}.ctl`,
    );
    const { stdout } = spawnSync("ovs-appctl", ["-t", control, "connection-status"], { encoding: "utf8" });
    return stdout.trim() === "connected";
  }

  #start(program: string, ...args: string[]): void {
    const folder = this.#path("switch");
    const env = { ...process.env, OVS_RUNDIR: folder, OVN_RUNDIR: folder };
    this.#served.push(spawn("nsenter", [...this.#inside, program, ...args], { env, stdio: "ignore", detached: true }));
  }

  async close(): Promise<void> {
    for (const { pid } of this.#served) if (pid !== undefined) spawnSync("kill", ["-s", "KILL", "--", `-${pid}`]);
    const ended = new Promise((resolve) => this.#network.once("close", resolve));
    this.#network.stdin?.end();
    await ended;
    rmSync(this.#folder, { recursive: true });
  }

  #path = (name: string): string => join(this.#folder, name);

  async #kill(file: string): Promise<void> {
    const pid = Number(readFileSync(file, "utf8"));
    process.kill(pid, "SIGKILL");
    while (existsSync(`/proc/${pid}/cwd`)) await sleep(20);
  }
}

describe.skipIf(!hasOvn)("a southbound database in place of a lost one, of real ovsdb-servers and northd", () => {
  let ovn: Ovn;
  beforeEach(async () => {
    ovn = new Ovn();
    await ovn.whenReady();
  });
  afterEach(() => ovn.close());

  test("is refused by a northd that runs, and written whole by one that starts when the Job ends", async () => {
    await ovn.serve("nb");
    const first = await ovn.serve("sb");
    await ovn.startNorthd();
    ovn.ask("ovn-nbctl", "ls-add", "network");
    for (let number = 0; number < CHANGES; number++) {
      ovn.ask("ovn-nbctl", "lsp-add", "network", `port-${number}`);
      expect(ovn.sync(20)).toBe(0);
      expect(ovn.ports()).toContain(`port-${number}`);
    }

    await ovn.lose("sb");
    const second = await ovn.serve("sb");
    expect(second).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
    expect(ovn.sync(2)).not.toBe(0);
    expect(ovn.ports()).toEqual([]);

    await ovn.endNorthd();
    await ovn.startNorthd();
    expect(ovn.sync(20)).toBe(0);
    expect(ovn.ports()).toHaveLength(CHANGES);
  });

  test("takes no flow from a node, whose controller reads it once that starts again", async () => {
    await ovn.serve("nb");
    await ovn.serve("sb");
    await ovn.startNorthd();
    await ovn.startNode();
    ovn.ask("ovn-nbctl", "ls-add", "network");
    for (let number = 0; number < CHANGES; number++) {
      ovn.ask("ovn-nbctl", "lsp-add", "network", `port-${number}`);
      expect(ovn.sync(20)).toBe(0);
    }
    ovn.ask("ovn-nbctl", "lsp-set-addresses", "port-0", "00:00:00:00:00:01 192.0.2.1");
    const plugged = ["add-port", "br-int", "port", "--", "set", "interface", "port", "type=dummy"];
    ovn.vsctl(...plugged, "external_ids:iface-id=port-0");
    const settled = async (): Promise<number> => {
      for (let [last, same] = [0, 0]; ; await sleep(100)) {
        const now = ovn.flows();
        same = now === last && now > 50 && ovn.isConnected() ? same + 1 : 0;
        if (same === 20) return now;
        last = now;
      }
    };
    const before = await settled();
    const all: number[] = [];
    const watch = setInterval(() => all.push(ovn.flows()), 200);
    await ovn.lose("sb");
    await ovn.serve("sb");
    await ovn.endNorthd();
    await ovn.startNorthd();
    expect(ovn.sync(20)).toBe(0);
    expect(ovn.isConnected()).toBe(false);
    await ovn.endController();
    await ovn.startController();
    const after = await settled();
    clearInterval(watch);
    expect([after, Math.min(...all)]).toEqual([before, before]);
    const claimed = ovn.ask("ovn-sbctl", "--bare", "--columns=chassis", "find", "port_binding", "logical_port=port-0");
    expect(claimed.trim()).toMatch(/^[0-9a-f-]{36}$/);
  });
});
