import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/broker-init.py");
const python = spawnSync("python3", ["-c", ""]).status === 0;

describe.skipIf(!python)("the account of a service in the broker", () => {
  let folder: string;
  let calls: string[];
  let users: string[];
  /** Statuses of the first responses, before the broker works. */
  let early: number[];
  let server: Server;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "causeway-broker-init-"));
    [calls, users, early] = [[], ["admin", "nova", "nova_1", "nova_2", "nova_x", "novas"], []];
    for (const [name, text] of Object.entries({ "broker.admin": "a", accounts: "1 2" }))
      writeFileSync(join(folder, name), text);
    for (const generation of [1, 2]) writeFileSync(join(folder, `nova.broker.${generation}`), "b");
    server = createServer(({ method, url }, response) => {
      calls.push(`${method} ${url?.replace("/api", "")}`);
      const list = method === "GET" ? JSON.stringify(users.map((name) => ({ name }))) : "";
      response.writeHead(early.shift() ?? 200).end(list);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });

  afterEach(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const prepare = async (): Promise<{ status: number; output: string }> => {
    const { port } = server.address() as AddressInfo;
    const where = { BROKER_HOST: "127.0.0.1", BROKER_MANAGEMENT_PORT: String(port), CREDENTIALS: folder };
    const env = { ...process.env, ...where, PAUSE_SECONDS: "0", PYTHONDONTWRITEBYTECODE: "1" };
    const child = spawn("python3", [program, "nova"], { env, stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout.on("data", (text) => (output += String(text)));
    const [status] = (await once(child, "close")) as [number];
    return { status, output };
  };

  test("is made for each generation, and those of others are removed", async () => {
    expect(await prepare()).toMatchObject({ status: 0 });
    expect(calls).toEqual([
      "PUT /vhosts/nova",
      "PUT /users/nova_1",
      "PUT /permissions/nova/nova_1",
      "PUT /users/nova_2",
      "PUT /permissions/nova/nova_2",
      "GET /users",
      "DELETE /users/nova",
    ]);
  });

  test("waits for a broker that does not respond yet, and says so once", async () => {
    early = [503, 500, 503, 503];
    const { status, output } = await prepare();
    expect(status).toBe(0);
    expect(output.match(/does not respond yet: HTTP Error 500/g)).toHaveLength(1);
    expect(calls.filter((call) => call === "PUT /vhosts/nova")).toHaveLength(5);
  });

  test("gives up after thirty attempts, and at once where its password is refused", async () => {
    early = Array<number>(31).fill(503);
    expect(await prepare()).toMatchObject({ status: 1 });
    expect(calls).toHaveLength(30);
    early = [401];
    expect(await prepare()).toMatchObject({ status: 1 });
    expect(calls).toHaveLength(31);
  });
});
