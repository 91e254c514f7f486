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

/**
 * Statuses of the host's migrations, one list for each question; a number: the status of the response instead; "cut":
 * a response that ends before its end, "noise": one that is none of HTTP.
 */
type Answer = readonly string[] | number | "cut" | "noise";
type Script = readonly Answer[];

describe.skipIf(!python)("a compute node that is to stop", () => {
  let server: Server;
  let url = "";
  let dir = "";
  let script: Answer[] = [];
  let said = "";
  let asked: string[] = [];
  let logins = 0;

  beforeEach(async () => {
    [script, asked, logins, said] = [[], [], 0, ""];
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
      if (next === "noise") return void request.socket.end("good morning\r\n\r\n");
      if (next === "cut") {
        const whole = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";
        return void request.socket.end(whole);
      }
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
    const child = spawn("python3", ["-c", text, JSON.stringify(account)], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stderr.on("data", (chunk) => (said += String(chunk)));
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    return new Promise((done) => child.once("close", () => done(JSON.parse(output))));
  };

  test("waits while a server moves, and not for what is over or waits for a person", async () => {
    expect(await waited([["running", "completed"], ["post-migrating"], ["completed", "finished", "error"]])).toBe(4);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe("/v2.1/os-migrations?host=node-1&limit=200 token-1 compute 2.59");
    expect(logins).toBe(1);
  });

  test.each(["confirming", "reverting"])("waits while a word that was given is under way: %s", async (status) => {
    expect(await waited([[status], [status], ["confirmed", "reverted"]])).toBe(4);
    expect(said).toBe("");
  });

  test.each(["cut", "noise"] as const)("asks again after a response that is none: %s", async (response) => {
    expect(await waited([["running"], response, ["running"], []])).toBe(6);
  });

  test("does not wait where nothing moves", async () => {
    expect(await waited([[]])).toBe(0);
  });

  test("logs in again when its token is no longer accepted, and continues", async () => {
    expect(await waited([["running"], 401, ["running"], []])).toBe(6);
    expect(asked.map((line) => line.split(" ")[1])).toEqual(["token-1", "token-1", "token-2", "token-2"]);
  });

  test("waits no longer than its time", async () => {
    expect(await waited([["running"]])).toBeNull();
    expect(asked).toHaveLength(50);
    expect(JSON.parse(said)).toMatchObject({ message: expect.stringContaining("node-1 after 100 s: server-0") });
  });

  test("gives up when Nova has not responded for half a minute", async () => {
    expect(await waited([503])).toBeNull();
    expect(asked.length).toBeLessThan(20);
    expect(JSON.parse(said)).toMatchObject({ message: expect.stringContaining("has not responded for 30 s") });
  });

  test.each([
    ["0 where nothing is left", "4.0", 0],
    ["1 where something may be left", "None", 1],
  ])("is stopped after status %s", (_, waitedFor, status) => {
    const text = `import sys; sys.path.insert(0, ${JSON.stringify(programs)}); sys.dont_write_bytecode = True
import migrations; migrations.options = lambda: {"cafile": None}; migrations.wait = lambda *_: ${waitedFor}
sys.argv = ["migrations.py", "100"]; sys.exit(migrations.main())`;
    const env = { PATH: process.env["PATH"] ?? "", NODE_NAME: "node-1" };
    expect(spawnSync("python3", ["-c", text], { env, stdio: "inherit" }).status).toBe(status);
  });
});
