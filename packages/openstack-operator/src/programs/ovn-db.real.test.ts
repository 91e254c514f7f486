import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { succeeds } from "../testing/commands.ts";

const program = join(import.meta.dirname, "../../programs/ovn-db.sh");
const schema = "/usr/share/ovn/ovn-nb.ovsschema";
const databases =
  existsSync(schema) &&
  succeeds("ovsdb-server", "--version") &&
  succeeds("unshare", "--net", "ip", "link", "set", "lo", "up");
const HOSTS = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
const NAME = "OVN_Northbound";
const WAIT = 30_000;

async function eventually(milliseconds: number, check: () => boolean): Promise<void> {
  for (const end = Date.now() + milliseconds; !check(); await sleep(50))
    if (Date.now() > end) throw new Error(`never came: ${check.toString()}`);
}

/** Members of one database, each with an address of its own in a network of their own. */
class Members {
  readonly folder = mkdtempSync(join(tmpdir(), "ovn-db-"));
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

  /** The termination message of the preparation. */
  prepare(number: number): string {
    const folder = this.#folderOf(number);
    mkdirSync(join(folder, "run"), { recursive: true });
    execFileSync("nsenter", [...this.#inside, "sh", program, "nb", "prepare"], this.#options(number));
    return readFileSync(join(folder, "says"), "utf8");
  }

  /** What the preparation says that refuses to make a database. */
  refuses(number: number, known: string): string {
    const folder = this.#folderOf(number);
    mkdirSync(join(folder, "run"), { recursive: true });
    writeFileSync(join(folder, "nb"), known);
    expect(() => this.prepare(number)).toThrow(/Command failed/);
    return readFileSync(join(folder, "says"), "utf8");
  }

  /** Serves; the process is the database itself. */
  serve(number: number): void {
    const options = { ...this.#options(number), detached: true };
    this.#served.push(spawn("nsenter", [...this.#inside, "sh", program, "nb"], options));
  }

  status(number: number): string {
    const { stdout } = spawnSync("ovs-appctl", ["-t", this.#control(number), "cluster/status", NAME], {
      encoding: "utf8",
    });
    return stdout;
  }

  isMember(number: number): boolean {
    return this.status(number).includes("Status: cluster member");
  }

  ask(number: number, ...command: string[]): string {
    const server = ["ovn-nbctl", `--db=tcp:${HOSTS[number]}:6641`, "--no-leader-only", "--timeout=10", ...command];
    return execFileSync("nsenter", [...this.#inside, ...server], { encoding: "utf8" });
  }

  async lose(number: number): Promise<void> {
    const pid = Number(readFileSync(join(this.#folderOf(number), "run/ovnnb_db.pid"), "utf8"));
    process.kill(pid, "SIGKILL");
    await eventually(WAIT, () => !existsSync(`/proc/${pid}/cwd`));
    rmSync(this.#folderOf(number), { recursive: true });
  }

  async close(): Promise<void> {
    for (const number of HOSTS.keys()) spawnSync("ovs-appctl", ["-t", this.#control(number), "exit"]);
    // With all that each program started in the background: in a pod they end with its first process.
    for (const { pid } of this.#served) if (pid !== undefined) spawnSync("kill", ["-s", "KILL", "--", `-${pid}`]);
    const ended = new Promise((resolve) => this.#network.once("close", resolve));
    this.#network.stdin?.end();
    await ended;
    rmSync(this.folder, { recursive: true });
  }

  #folderOf = (number: number): string => join(this.folder, String(number));
  #control = (number: number): string => join(this.#folderOf(number), "run/ovnnb_db.ctl");

  #options(number: number) {
    const folder = this.#folderOf(number);
    const env = {
      ...process.env,
      POD_NAME: `cloud-ovn-nb-${number}`,
      MEMBERS: String(HOSTS.length),
      ADDRESSES: HOSTS.join(" "),
      LISTEN: HOSTS[number] ?? "",
      WAIT_SECONDS: "0",
      DATA: folder,
      KNOWN: folder,
      RUN: join(folder, "run"),
      SAYS: join(folder, "says"),
    };
    return { env, stdio: "ignore" as const };
  }
}

let members: Members | undefined;
afterEach(async () => {
  await members?.close();
  members = undefined;
});

describe.skipIf(!databases)("a member of OVN's northbound database, of a real ovsdb-server", () => {
  test("joins the others when it has lost its disk, is counted once, and says which database it is of", async () => {
    const m = (members = new Members());
    await m.whenReady();
    const first = m.prepare(0);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([m.prepare(1), m.prepare(2)]).toEqual(["", ""]);
    for (const number of HOSTS.keys()) m.serve(number);
    await eventually(WAIT, () => [...HOSTS.keys()].every((number) => m.isMember(number)));
    m.ask(0, "ls-add", "kept");
    expect(m.prepare(2)).toBe(first);

    // The first member is the one that would make a database of its own.
    await m.lose(0);
    expect(m.prepare(0)).toBe("");
    m.serve(0);
    await eventually(WAIT, () => m.isMember(0));
    expect(m.ask(0, "--bare", "--columns=name", "list", "logical_switch").trim()).toBe("kept");
    expect(m.prepare(0)).toBe(first);
    const entries = () => m.status(1).match(/ at tcp:127\.0\.0\.\d:6643\)/g) ?? [];
    await eventually(WAIT, () => entries().length === HOSTS.length && new Set(entries()).size === HOSTS.length);
  });

  test("makes another database where no member has data", async () => {
    const m = (members = new Members());
    await m.whenReady();
    const first = m.prepare(0);
    m.serve(0);
    await eventually(WAIT, () => m.isMember(0));
    await m.lose(0);
    const second = m.prepare(0);
    expect(second).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
  });

  test("waits for silent members where a database was known, and makes another one once none of them has data", async () => {
    const m = (members = new Members());
    await m.whenReady();
    const known = "11111111-1111-4111-8111-111111111111";
    expect(m.refuses(0, known)).toMatch(
      /waits for members cloud-ovn-nb-1 cloud-ovn-nb-2, which do not respond: one may have database 11111111-/,
    );
    m.prepare(1);
    m.serve(1);
    await eventually(WAIT, () => m.status(1).includes("Status: joining cluster"));
    expect(m.refuses(0, known)).toContain("waits for members cloud-ovn-nb-2,");
    m.prepare(2);
    m.serve(2);
    await eventually(WAIT, () => m.status(2).includes("Status: joining cluster"));
    expect(m.prepare(0)).toMatch(/^[0-9a-f-]{36}$/);
    m.serve(0);
    await eventually(WAIT, () => [...HOSTS.keys()].every((number) => m.isMember(number)));
  });

  test("does not serve an empty database in place of a file that is gone", async () => {
    const m = (members = new Members());
    await m.whenReady();
    m.prepare(0);
    rmSync(join(m.folder, "0/ovnnb_db.db"));
    m.serve(0);
    await eventually(WAIT, () => readFileSync(join(m.folder, "0/says"), "utf8").includes("delete this pod"));
    expect(existsSync(join(m.folder, "0/ovnnb_db.db"))).toBe(false);
  });
});
