import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/register.py");
const python = spawnSync("python3", ["-c", ""]).status === 0;

/** Keystone's lists and creations, with unique names. Other calls are accepted without effect. */
class PlayedKeystone {
  readonly made: Record<string, Record<string, unknown>[]> = {};
  /** Runs before a creation is checked: what another Job writes in between. */
  meanwhile: (kind: string) => void = () => {};
  /** Statuses of the first responses, before it works. */
  readonly early: number[] = [];
  readonly server: Server = createServer((incoming, response) => {
    const early = this.early.shift();
    if (early !== undefined) {
      response.writeHead(early).end();
      return;
    }
    void this.#respond(incoming).then(([status, body]) => {
      response.writeHead(status, { "X-Subject-Token": "token" }).end(JSON.stringify(body));
    });
  });

  create(kind: string, fields: Record<string, unknown>): boolean {
    const all = (this.made[kind] ??= []);
    const isTaken = fields["name"] !== undefined && all.some(({ name }) => name === fields["name"]);
    if (!isTaken) all.push({ id: `${kind}-${all.length}`, ...fields });
    return !isTaken;
  }

  async #respond(incoming: IncomingMessage): Promise<[number, unknown]> {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://keystone");
    const text = (await incoming.toArray()).join("");
    const [kind = "", ...rest] = pathname.replace("/v3/", "").split("/");
    if (kind === "auth") return [201, {}];
    if (rest.length > 0) return [200, { roles: [] }];
    const singular = kind.slice(0, -1);
    if (incoming.method === "GET") {
      const isMeant = (each: Record<string, unknown>) => [...searchParams].every(([key, value]) => each[key] === value);
      return [200, { [kind]: (this.made[kind] ?? []).filter(isMeant) }];
    }
    this.meanwhile(kind);
    const fields = (JSON.parse(text) as Record<string, Record<string, unknown>>)[singular] ?? {};
    return this.create(kind, fields) ? [201, { [singular]: this.made[kind]?.at(-1) }] : [409, { error: {} }];
  }
}

describe.skipIf(!python)("the registration of a service", () => {
  let folder: string;
  let keystone: PlayedKeystone;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "causeway-register-"));
    keystone = new PlayedKeystone();
    keystone.server.listen(0, "127.0.0.1");
    await once(keystone.server, "listening");
    const { port } = keystone.server.address() as AddressInfo;
    const wanted = {
      keystone: `http://127.0.0.1:${port}/v3`,
      user: "glance",
      service: "glance",
      region: "RegionOne",
      roles: ["admin", "service"],
      services: [{ name: "glance", type: "image", endpoints: { internal: "http://glance", public: "https://image" } }],
    };
    const files = {
      "wanted.json": JSON.stringify(wanted),
      "keystone.admin": "a",
      accounts: "0",
      "glance.identity.0": "b",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  });

  afterEach(() => {
    keystone.server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const register = async (more: Record<string, unknown> = {}) => {
    const file = join(folder, "wanted.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...more }));
    const child = spawn("python3", [program, join(folder, "wanted.json")], {
      env: { ...process.env, CREDENTIALS: folder, PAUSE_SECONDS: "0", PYTHONDONTWRITEBYTECODE: "1" },
      stdio: "ignore",
    });
    const [status] = (await once(child, "close")) as [number];
    return status;
  };
  const namesOf = (kind: string) => keystone.made[kind]?.map(({ name }) => name);

  test("takes the project and the roles that the Job of another service created at the same moment", async () => {
    keystone.meanwhile = (kind) => {
      if (kind === "projects") keystone.create(kind, { name: "service", domain_id: "default" });
      if (kind === "roles") for (const name of ["admin", "service"]) keystone.create(kind, { name });
    };
    expect(await register()).toBe(0);
    expect(namesOf("projects")).toEqual(["service"]);
    expect(namesOf("roles")).toEqual(["admin", "service"]);
    expect(namesOf("users")).toEqual(["glance"]);
    expect(keystone.made["endpoints"]?.map(({ url }) => url)).toEqual(["http://glance", "https://image"]);
  });

  test("waits for a Keystone that does not respond yet, and not for one that knows another password", async () => {
    keystone.early.push(503, 502, 500);
    expect(await register()).toBe(0);
    expect(namesOf("users")).toEqual(["glance"]);
    keystone.early.push(401);
    expect(await register()).toBe(1);
    keystone.early.push(...Array<number>(31).fill(503));
    expect(await register()).toBe(1);
    expect(keystone.early).toHaveLength(1);
  });

  test("makes the roles that policies ask of users, and the domain of the service's own users with its administrator", async () => {
    writeFileSync(join(folder, "heat.domainAdmin"), "c");
    const domain = { name: "heat", administrator: "heat_domain_admin", password: "heat.domainAdmin" };
    expect(await register({ domain, userRoles: ["heat_stack_owner"] })).toBe(0);
    expect(namesOf("roles")).toEqual(["admin", "service", "heat_stack_owner"]);
    expect(namesOf("domains")).toEqual(["heat"]);
    expect(keystone.made["users"]?.at(-1)).toMatchObject({
      name: "heat_domain_admin",
      domain_id: "domains-0",
      password: "c",
    });
    expect(await register({ domain })).toBe(0);
    expect(keystone.made["users"]).toHaveLength(2);
  });

  test("fails where a name is in use by an object that no list shows", async () => {
    keystone.meanwhile = (kind) => {
      if (kind === "projects") keystone.create(kind, { name: "service", domain_id: "another" });
    };
    expect(await register()).toBe(1);
    expect(keystone.made["users"]).toBeUndefined();
  });
});
