import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Fault, type CallRecord, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
const python = spawnSync("python3", ["-c", ""]).status === 0;
const isRoot = process.getuid?.() === 0;
const NAME = "causeway-canary";

interface Outcome {
  readonly status: number;
  /** The phase that failed. */
  readonly phase?: string;
  readonly message: string;
  readonly seconds: Readonly<Record<string, number>>;
}

describe.skipIf(!python)("the canary", () => {
  let simulator: Simulator;
  let folder: string;
  let restore: () => void;

  /** A project with a user of its own, as the registration's Job makes them. */
  beforeAll(async () => {
    simulator = await startSimulator({ profile: "instant" });
    folder = mkdtempSync(join(tmpdir(), "causeway-canary-"));
    for (const [name, text] of Object.entries({
      accounts: "0 1",
      [`${NAME}.identity.0`]: "old",
      [`${NAME}.identity.1`]: "new",
    }))
      writeFileSync(join(folder, name), text);
    const admin = await tokenOf({ user: { name: "admin", domain: { id: "default" }, password: passwordOf("admin") } });
    const made = async (kind: string, fields: object) => {
      const answer = await fetch(`${simulator.authUrl}/${kind}s`, {
        method: "POST",
        headers: { "X-Auth-Token": admin, "Content-Type": "application/json" },
        body: JSON.stringify({ [kind]: fields }),
      });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as Record<string, { id: string }>)[kind]!.id;
    };
    const project = await made("project", { name: NAME, domain_id: "default" });
    const user = await made("user", { name: `${NAME}_1`, domain_id: "default", password: "new" });
    const roles = (await (
      await fetch(`${simulator.authUrl}/roles?name=member`, { headers: { "X-Auth-Token": admin } })
    ).json()) as { roles: { id: string }[] };
    const grant = `${simulator.authUrl}/projects/${project}/users/${user}/roles/${roles.roles[0]!.id}`;
    expect((await fetch(grant, { method: "PUT", headers: { "X-Auth-Token": admin } })).status).toBe(204);
    restore = simulator.snapshot("with the canary's account");
  });

  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await simulator?.close();
  });

  beforeEach(() => {
    restore();
    simulator.setFaults(undefined);
    simulator.setOutcomes([]);
  });

  const passwordOf = (user: string) =>
    new RegExp(`username: ['"]?${user}['"]?[\\s\\S]*?password: ['"]?([^\\s'"]+)`).exec(simulator.cloudsYaml)?.[1] ?? "";
  const tokenOf = async (password: object) => {
    const scope = { project: { name: "admin", domain: { id: "default" } } };
    const answer = await fetch(`${simulator.authUrl}/auth/tokens`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ auth: { identity: { methods: ["password"], password }, scope } }),
    });
    expect(answer.status).toBe(201);
    return answer.headers.get("x-subject-token") ?? "";
  };

  const environment = (more: Record<string, string> = {}) => ({
    PATH: process.env["PATH"],
    CREDENTIALS: folder,
    KEYSTONE_URL: simulator.authUrl,
    REGION: "RegionOne",
    CANARY_INTERFACE: "public",
    CANARY_IMAGE: "cirros",
    CANARY_FLAVOR: "m1.tiny",
    CANARY_STEP_SECONDS: "0.05",
    CANARY_TIMEOUT_SECONDS: "20",
    ...more,
  });
  const run = async (more?: Record<string, string>): Promise<Outcome> => {
    const child = spawn("python3", ["-B", join(programs, "canary.py"), "once"], {
      env: environment(more),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (data: Buffer) => (text += data.toString()));
    const [status] = (await once(child, "close")) as [number];
    return { status, ...(JSON.parse(text) as Omit<Outcome, "status">) };
  };
  /** What the project has, but for what every project has. */
  const left = () => simulator.inventory(NAME).filter((each) => each.includes(NAME));
  const failing = (matches: (call: CallRecord) => boolean, fault: Fault) =>
    simulator.setFaults((call) => (call.userAgent === NAME && matches(call) ? fault : undefined));

  test("boots a server as the newest account, and leaves nothing", async () => {
    const { status, seconds } = await run();
    expect(status).toBe(0);
    expect(Object.keys(seconds)).toEqual(["token", "clean", "find", "network", "boot", "ping", "delete"]);
    expect(simulator.calls.filter(({ method, path }) => method === "POST" && path.includes("/servers"))).toHaveLength(
      1,
    );
    expect(left()).toEqual([]);
  });

  test.each<[string, string, (call: CallRecord) => boolean]>([
    ["token", "identity", ({ path }) => path.includes("/auth/tokens")],
    ["find", "compute", ({ path }) => path.includes("/flavors")],
    ["network", "network", ({ method, path }) => method === "POST" && path.includes("/subnets")],
    ["boot", "compute", ({ method, path }) => method === "POST" && path.includes("/servers")],
  ])("names the phase that fails: %s, where %s responds with 503", async (phase, _service, matches) => {
    failing(matches, { when: "before", status: 503 });
    expect(await run()).toMatchObject({ status: 1, phase, message: expect.stringContaining("503") });
    expect(left()).toEqual([]);
  });

  test("names the phase that fails where a server ends in ERROR, and deletes it", async () => {
    simulator.setOutcomes([{ operation: "server.create", name: NAME, outcome: "error" }]);
    expect(await run()).toMatchObject({ status: 1, phase: "boot", message: expect.stringContaining("ERROR") });
    expect(left()).toEqual([]);
  });

  test("ends by its own limit of time where a server is never built, and deletes it", async () => {
    simulator.setOutcomes([{ operation: "server.create", name: NAME, outcome: "stuck" }]);
    const began = Date.now();
    expect(await run({ CANARY_TIMEOUT_SECONDS: "2" })).toMatchObject({ status: 1, phase: "boot" });
    expect(Date.now() - began).toBeLessThan(30_000);
    expect(left()).toEqual([]);
  });

  test("deletes what an earlier run left that could not delete it", async () => {
    failing(({ method }) => method === "DELETE", { when: "before", status: 500 });
    expect(await run()).toMatchObject({ status: 1, phase: "delete" });
    expect(left().length).toBeGreaterThan(3);
    simulator.setFaults(undefined);
    expect((await run()).status).toBe(0);
    expect(left()).toEqual([]);
  });

  test("pings the floating IP of its server, names that phase without an echo, and deletes router and address", async () => {
    // The simulated cloud's addresses carry no packets, and this process may not be allowed to ping.
    const outcome = await run({ CANARY_EXTERNAL: "public", CANARY_TIMEOUT_SECONDS: "4" });
    expect(outcome).toMatchObject({ status: 1, phase: "ping" });
    expect(outcome.message).toMatch(/172\.24\.4\.\d+ does not respond|may not ping/);
    expect(left()).toEqual([]);
  }, 60_000);

  test.skipIf(!isRoot)("gets echoes by a socket that needs no privilege", () => {
    const script = (address: string) =>
      `import sys; sys.path.insert(0, ${JSON.stringify(programs)}); sys.dont_write_bytecode = True\nfrom canary import ping\nprint(ping("${address}", 1))`;
    const inNetwork = (address: string) =>
      execFileSync(
        "unshare",
        [
          "-n",
          "sh",
          "-c",
          `echo "0 0" > /proc/sys/net/ipv4/ping_group_range; ip link set lo up; exec setpriv --bounding-set=-all --inh-caps=-all python3 -c "$1"`,
          "sh",
          script(address),
        ],
        { encoding: "utf8" },
      ).trim();
    expect(inNetwork("127.0.0.1")).toBe("True");
    expect(inNetwork("192.0.2.1")).toBe("False");
  });

  test("reports metrics of the newest run", async () => {
    const port = 20_000 + (process.pid % 10_000);
    failing(({ path }) => path.includes("/flavors"), { when: "before", status: 503 });
    const child = spawn("python3", ["-B", join(programs, "canary.py"), "serve", String(port)], {
      env: environment({ DEPLOYMENT: "openstack/cloud", CANARY_EVERY_SECONDS: "1" }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const metrics = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      await once(child.stdout, "data");
      const failed = await metrics();
      expect(failed).toContain(`causeway_canary_failed{deployment="openstack/cloud",phase="find"} 1`);
      expect(failed).toContain(`causeway_canary_last_success_timestamp_seconds{deployment="openstack/cloud"} 0`);
      simulator.setFaults(undefined);
      await once(child.stdout, "data");
      const succeeded = await metrics();
      expect(succeeded).toContain(`causeway_canary_failed{deployment="openstack/cloud",phase="find"} 0`);
      expect(succeeded).toMatch(/causeway_canary_runs_total\{deployment="openstack\/cloud",result="success"\} [1-9]/);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
