/** What nova-compute waits for before it stops, with a played Keystone and Nova. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
const python = spawnSync("python3", ["-c", ""]).status === 0;

/** Statuses of the host's migrations, one list for each question; a number: the status of the response instead. */
type Script = readonly (readonly string[] | number)[];

describe.skipIf(!python)("a compute node that is to stop", () => {
  let server: Server;
  let url = "";
  let dir = "";
  let script: (readonly string[] | number)[] = [];
  let asked: string[] = [];
  let logins = 0;

  beforeEach(async () => {
    [script, asked, logins] = [[], [], 0];
    dir = mkdtempSync(join(tmpdir(), "migrations-"));
    server = createServer((request, response) => {
      const reply = (status: number, body: unknown, headers = {}) =>
        response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
      if (request.url === "/v3/auth/tokens") {
        logins += 1;
        const endpoints = [
          { interface: "public", region_id: "RegionOne", url: `${url}/outside` },
          { interface: "internal", region_id: "RegionTwo", url: `${url}/elsewhere` },
          { interface: "internal", region_id: "RegionOne", url: `${url}/v2.1/` },
        ];
        const token = {
          catalog: [
            { type: "image", endpoints: [] },
            { type: "compute", endpoints },
          ],
        };
        return void reply(201, { token }, { "X-Subject-Token": `token-${logins}` });
      }
      const { "x-auth-token": by, "openstack-api-version": version } = request.headers;
      asked.push(`${request.url} ${String(by)} ${String(version)}`);
      const next = script.length > 1 ? script.shift() : script[0];
      if (typeof next === "number") return void reply(next, {});
      return void reply(200, {
        migrations: (next ?? []).map((status, index) => ({ instance_uuid: `server-${index}`, status })),
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await new Promise((done) => server.close(done));
    rmSync(dir, { recursive: true, force: true });
  });

  /** Waits at most 100 s of a clock that sleeping alone moves; what it returned. */
  const waited = (answers: Script): Promise<unknown> => {
    script = [...answers];
    const account = {
      auth_url: url,
      username: "nova",
      password: "p",
      project_name: "service",
      user_domain_name: "Default",
      project_domain_name: "Default",
      region_name: "RegionOne",
    };
    const text = `import json, sys; sys.path.insert(0, ${JSON.stringify(programs)}); sys.dont_write_bytecode = True
from migrations import *
at = [0]
def sleep(seconds): at[0] += seconds
print(json.dumps(wait(Nova(json.loads(sys.argv[1])), "node-1", 100, lambda: at[0], sleep)))`;
    const child = spawn("python3", ["-c", text, JSON.stringify(account)], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    return new Promise((done) => child.once("close", () => done(JSON.parse(output))));
  };

  test("waits while a server moves, and not for what is over or waits for a person", async () => {
    expect(await waited([["running", "completed"], ["post-migrating"], ["completed", "finished", "error"]])).toBe(4);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe("/v2.1/os-migrations?host=node-1&limit=200 token-1 compute 2.59");
    expect(logins).toBe(1);
  });

  test("does not wait where nothing moves", async () => {
    expect(await waited([[]])).toBe(0);
  });

  test("logs in again when its token is no longer accepted, and goes on", async () => {
    expect(await waited([["running"], 401, ["running"], []])).toBe(6);
    expect(asked.map((line) => line.split(" ")[1])).toEqual(["token-1", "token-1", "token-2", "token-2"]);
  });

  test("waits no longer than its time", async () => {
    expect(await waited([["running"]])).toBeNull();
    expect(asked).toHaveLength(50);
  });

  test("gives up when Nova has not responded for half a minute", async () => {
    expect(await waited([503])).toBeNull();
    expect(asked.length).toBeLessThan(20);
  });
});
