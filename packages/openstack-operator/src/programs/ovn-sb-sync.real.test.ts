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
});
