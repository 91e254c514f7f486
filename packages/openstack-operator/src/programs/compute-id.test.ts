/** The identity of a compute node that nova-compute starts with, with a played Keystone and Nova. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
const python = spawnSync("python3", ["-c", ""]).status === 0;
/** Nodes by ID, with their hosts. */
type Nodes = Readonly<Record<string, string>>;

describe.skipIf(!python)("a compute node whose disk has no identity", () => {
  let server: Server;
  let url = "";
  let dir = "";
  let nodes: Nodes = {};
  let refusals = 0;
  let asked: string[] = [];
  let said = "";
  const file = () => join(dir, "compute_id");

  beforeEach(async () => {
    [nodes, refusals, asked, said] = [{}, 0, [], ""];
    dir = mkdtempSync(join(tmpdir(), "compute-id-"));
    mkdirSync(join(dir, "modules/nova/virt"), { recursive: true });
    writeFileSync(join(dir, "modules/nova/__init__.py"), "raise SystemExit('it is not to be imported')");
    writeFileSync(join(dir, "modules/nova/virt/node.py"), "");
    server = createServer((request, response) => {
      const reply = (status: number, body: unknown, headers = {}) =>
        response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
      if (request.url === "/v3/auth/tokens") {
        const endpoints = [{ interface: "internal", region_id: "RegionOne", url: `${url}/v2.1/` }];
        return void reply(201, { token: { catalog: [{ type: "compute", endpoints }] } }, { "X-Subject-Token": "t" });
      }
      asked.push(`${request.url} ${String(request.headers["openstack-api-version"])}`);
      if (refusals-- > 0) return void reply(503, {});
      const query = new URL(request.url ?? "", url).searchParams;
      const all = Object.entries(nodes).map(([id, host]) => ({ id, service: { host } }));
      const from = all.findIndex(({ id }) => id === query.get("marker")) + 1;
      return void reply(200, { hypervisors: all.slice(from, from + Number(query.get("limit"))) });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await new Promise((done) => server.close(done));
    rmSync(dir, { recursive: true, force: true });
  });

  /** Its status, with a clock that sleeping alone moves. */
  const run = (): Promise<number | null> => {
    const account = {
      auth_url: url,
      username: "nova",
      password: "p",
      project_name: "service",
      user_domain_name: "Default",
      project_domain_name: "Default",
    };
    const text = `import importlib, json, sys
sys.dont_write_bytecode = True
sys.path[:0] = [${JSON.stringify(programs)}, ${JSON.stringify(join(dir, "modules"))}]
program = importlib.import_module("compute-id")
program.migrations.options = lambda: json.loads(sys.argv[1])
at = [0]
def sleep(seconds): at[0] += seconds
slow = program.ask
program.ask = lambda nova, host: slow(nova, host, lambda: at[0], sleep)
sys.exit(program.main(sys.argv[2]))`;
    const env = { PATH: process.env["PATH"] ?? "", NODE_NAME: "node-1" };
    const child = spawn("python3", ["-c", text, JSON.stringify(account), file()], { env });
    child.stderr.on("data", (chunk) => (said += String(chunk)));
    return new Promise((done) => child.once("close", done));
  };
  const written = () => (existsSync(file()) ? readFileSync(file(), "utf8") : undefined);

  test("gets the one that Nova has of its host, as soon as Nova responds", async () => {
    [nodes, refusals] = [{ "id-0": "node-0", "id-1": "node-1" }, 3];
    expect(await run()).toBe(0);
    expect(written()).toBe("id-1");
    expect(asked).toEqual(Array.from({ length: 4 }, () => "/v2.1/os-hypervisors/detail?limit=200 compute 2.87"));
    expect(readdirSync(dir).toSorted()).toEqual(["compute_id", "modules"]);
  });

  test("is found among more nodes than a page has", async () => {
    nodes = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`id-${index}`, `node-${450 - index}`]));
    expect(await run()).toBe(0);
    expect(written()).toBe("id-449");
    expect(asked).toHaveLength(3);
  });

  test.each([
    ["none, at its first start", { "id-0": "node-0" }],
    ["several", { "id-1": "node-1", "id-2": "node-1" }],
  ])("gets none of Nova's where that has %s", async (_, found: Nodes) => {
    nodes = found;
    expect(await run()).toBe(0);
    expect(written()).toBeUndefined();
  });

  test("ends with 1 when Nova has not responded for ten minutes", async () => {
    refusals = Number.POSITIVE_INFINITY;
    expect(await run()).toBe(1);
    expect(asked.length).toBeLessThanOrEqual(302);
    expect(JSON.parse(said)).toMatchObject({ message: expect.stringContaining("which node node-1 is") });
  });

  test("asks nothing where it has one, nor where the release of Nova keeps none", async () => {
    nodes = { "id-1": "node-1" };
    writeFileSync(file(), "mine");
    expect(await run()).toBe(0);
    expect(written()).toBe("mine");
    rmSync(file());
    rmSync(join(dir, "modules/nova/virt/node.py"));
    expect(await run()).toBe(0);
    expect([written(), asked]).toEqual([undefined, []]);
  });
});
