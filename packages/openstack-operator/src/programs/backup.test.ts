/**
 * The programs of backups against real servers: MariaDB and OVN's database, where they are installed, and a small
 * object store that checks signatures.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hasMariaDb, startMariaDb, type MariaDb } from "../testing/mariadb.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const programs = join(import.meta.dirname, "../../programs");
const has = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
const python = has("python3");
const mariadb = python && hasMariaDb && has("mariadb-dump");
const ovsdb = python && ["ovsdb-server", "ovsdb-client", "ovsdb-tool"].every(has);
const cryptography = python && spawnSync("python3", ["-c", "import cryptography.fernet"]).status === 0;

let dir = "";
beforeAll(() => void (dir = mkdtempSync(join(tmpdir(), "backup-"))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly message: string;
  readonly stderr: string;
}

/** Runs a program without blocking this process, which may be the server that it calls. */
function run(program: string, args: readonly string[], environment: Record<string, string>): Promise<Ran> {
  const log = join(dir, "termination");
  writeFileSync(log, "");
  const env = { PATH: process.env["PATH"] ?? "", PYTHONDONTWRITEBYTECODE: "1", TERMINATION_LOG: log, ...environment };
  const child = spawn("python3", [join(programs, program), ...args], { env, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  return new Promise((done) =>
    child.on("close", (status) => done({ status, message: readFileSync(log, "utf8"), stderr })),
  );
}

function folder(name: string, files: Record<string, string>): string {
  const path = join(dir, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

const place = (more: Record<string, string> = {}) => ({
  BACKUP_TARGET: `file://${join(dir, "target")}`,
  BACKUP_OF: "cloud",
  BACKUP_RUN: "20260101t020000z",
  BACKUP_KEEP: "2",
  BACKUP_RELEASE: "2025.1",
  ...more,
});

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (check()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error("the server did not start");
}

function end(child: ChildProcess | undefined): Promise<unknown> {
  if (!child || child.exitCode !== null) return Promise.resolve();
  const ended = new Promise((done) => child.on("close", done));
  child.kill("SIGTERM");
  return ended;
}

describe.skipIf(!mariadb)("a backup of databases on a real MariaDB", () => {
  let server: MariaDb | undefined;
  let environment: Record<string, string> = {};
  let sql: MariaDb["sql"];

  beforeAll(async () => {
    server = await startMariaDb(dir);
    ({ sql } = server);
    environment = place({
      DATABASE_HOST: "127.0.0.1",
      DATABASE_PORT: String(server.port),
      CLIENT_FILE: join(dir, "client.cnf"),
      CREDENTIALS: folder("credentials", { "database.admin": "of-root" }),
    });
  });
  afterAll(() => server?.stop());

  const rows = () => sql("SELECT COUNT(*), MAX(note) FROM nova.instances; SELECT COUNT(*) FROM nova_api.flavors;");
  const fill = () =>
    sql(
      `CREATE DATABASE nova_api; CREATE DATABASE nova; CREATE DATABASE nova_cell0;
       CREATE TABLE nova.instances (id INT PRIMARY KEY AUTO_INCREMENT, note TEXT, raw BLOB) ENGINE=InnoDB;
       CREATE TABLE nova_api.flavors (id INT PRIMARY KEY) ENGINE=InnoDB;
       INSERT INTO nova.instances (note, raw) VALUES ('line\\nbreak ''quoted'' é', x'00ff27'), ('two', NULL);
       INSERT INTO nova_api.flavors VALUES (1), (2), (3);`,
    );

  test("brings back every row of all databases of a service, and refuses to replace others", async () => {
    fill();
    const before = rows();
    const backedUp = await run("backup.py", ["database", "nova"], environment);
    expect(backedUp, backedUp.stderr).toMatchObject({ status: 0 });
    expect(Number((JSON.parse(backedUp.message) as { bytes: number }).bytes)).toBeGreaterThan(500);
    const finished = await run("backup.py", ["finish"], { ...environment, BACKUP_PARTS: "nova.sql.gz" });
    expect(finished, finished.stderr).toMatchObject({ status: 0 });
    sql("DELETE FROM nova.instances WHERE id = 1; DROP DATABASE nova_cell0; DROP TABLE nova_api.flavors;");
    const changed = sql("SELECT COUNT(*) FROM nova.instances");
    const refused = await run("restore.py", ["database", "nova"], environment);
    expect(refused.status).toBe(3);
    expect(refused.message).toBe("the databases of nova hold 1 tables: set spec.restore.overwrite to replace them");
    expect(sql("SELECT COUNT(*) FROM nova.instances")).toBe(changed);
    const restored = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    expect(restored, restored.stderr).toMatchObject({ status: 0 });
    expect(rows()).toBe(before);
    expect(sql("SELECT HEX(raw) FROM nova.instances WHERE id = 1")).toBe("00FF27");
  });

  test("is restored once: what was written after it stays when the Job runs again", async () => {
    sql("INSERT INTO nova.instances (note) VALUES ('after the restore')");
    const again = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    expect(again, again.stderr).toMatchObject({ status: 0 });
    expect(sql("SELECT COUNT(*) FROM nova.instances WHERE note = 'after the restore'")).toBe("1");
  });

  test("that was cut off is begun again without spec.restore.overwrite", async () => {
    sql(
      `UPDATE openstack_restore.parts SET state = 'started' WHERE service = 'nova'; DROP TABLE nova_api.flavors;
       DELETE FROM nova.instances;`,
    );
    const resumed = await run("restore.py", ["database", "nova"], environment);
    expect(resumed, resumed.stderr).toMatchObject({ status: 0 });
    expect(rows()).toContain("\n3");
  });

  test("whose file was changed is refused before anything is dropped", async () => {
    const file = join(dir, "target/cloud/20260101t020000z/nova.sql.gz");
    const original = readFileSync(file);
    writeFileSync(file, Buffer.concat([original, Buffer.from("x")]));
    sql("DELETE FROM openstack_restore.parts");
    const before = rows();
    const refused = await run("restore.py", ["database", "nova"], { ...environment, RESTORE_OVERWRITE: "yes" });
    writeFileSync(file, original);
    expect(refused.status).toBe(1);
    expect(refused.message).toContain("its digest differs");
    expect(rows()).toBe(before);
  });

  test("of a database that does not exist leaves no file behind that counts", async () => {
    const failed = await run("backup.py", ["database", "heat"], environment);
    expect(failed.status).toBe(1);
    expect(failed.message).toContain("mariadb-dump ended with status");
    expect(readdirSync(join(dir, "target/cloud/20260101t020000z"))).not.toContain("heat.sql.gz");
  });
});

describe.skipIf(!ovsdb)("a backup of OVN's northbound database on a real server", () => {
  let server: ChildProcess | undefined;
  let control = "";
  const schema = {
    name: "OVN_Northbound",
    version: "1.0.0",
    tables: {
      NB_Global: {
        columns: { external_ids: { type: { key: "string", value: "string", min: 0, max: "unlimited" } } },
        maxRows: 1,
        isRoot: true,
      },
      Logical_Switch: { columns: { name: { type: "string" } }, isRoot: true },
      Logical_Router: { columns: { name: { type: "string" } }, isRoot: true },
    },
  };
  let remote = "";
  const transact = (...operations: object[]): string =>
    execFileSync("ovsdb-client", ["transact", remote, JSON.stringify(["OVN_Northbound", ...operations])], {
      encoding: "utf8",
    });
  const switches = (): string[] => {
    const [{ rows = [] } = {}] = JSON.parse(
      transact({ op: "select", table: "Logical_Switch", where: [], columns: ["name"] }),
    ) as { rows?: { name: string }[] }[];
    return rows.map(({ name }) => name).toSorted();
  };
  const start = async (name: string): Promise<void> => {
    const file = join(dir, `${name}.db`);
    control = join(dir, `${name}.ctl`);
    const text = join(dir, "nb.ovsschema");
    writeFileSync(text, JSON.stringify(schema));
    execFileSync("ovsdb-tool", ["create", file, text]);
    const log = join(dir, `${name}.log`);
    server = spawn(
      "ovsdb-server",
      [file, "--remote=ptcp:0:127.0.0.1", `--unixctl=${control}`, `--log-file=${log}`, "-vconsole:off"],
      { stdio: "ignore" },
    );
    const listening = /listening on port (\d+)/;
    await eventually(() => existsSync(log) && listening.test(readFileSync(log, "utf8")));
    remote = `tcp:127.0.0.1:${listening.exec(readFileSync(log, "utf8"))?.[1]}`;
  };
  afterAll(() => end(server));

  test("brings back networks with their mark in one transaction, once, and refuses to replace others", async () => {
    await start("first");
    const insert = (name: string) => ({ op: "insert", table: "Logical_Switch", row: { name } });
    transact({ op: "insert", table: "NB_Global", row: { external_ids: ["map", [["kept", "yes"]]] } }, insert("blue"));
    const environment = () => place({ BACKUP_RUN: "20260102t020000z", OVN_NB: remote });
    const backedUp = await run("backup.py", ["ovn", "nb"], environment());
    expect(backedUp, backedUp.stderr).toMatchObject({ status: 0 });
    const finished = await run("backup.py", ["finish"], { ...environment(), BACKUP_PARTS: "ovn-nb.db.gz" });
    expect(finished, finished.stderr).toMatchObject({ status: 0 });
    await end(server);
    await start("second");
    const restored = await run("restore.py", ["ovn", "nb"], environment());
    expect(restored, restored.stderr).toMatchObject({ status: 0 });
    expect(switches()).toEqual(["blue"]);
    transact(insert("made later"));
    const again = await run("restore.py", ["ovn", "nb"], environment());
    expect(again, again.stderr).toMatchObject({ status: 0 });
    expect(switches()).toEqual(["blue", "made later"]);
    transact({
      op: "mutate",
      table: "NB_Global",
      where: [],
      mutations: [["external_ids", "delete", ["set", ["causeway-restored"]]]],
    });
    const refused = await run("restore.py", ["ovn", "nb"], environment());
    expect(refused).toMatchObject({ status: 3 });
    expect(refused.message).toContain("holds networks");
    expect(switches()).toEqual(["blue", "made later"]);
  });
});

describe.skipIf(!cryptography)("a backup of keys", () => {
  test("is encrypted, and opens with its passphrase alone", async () => {
    const roles = folder("roles", {});
    folder("roles/credentials", { "keystone.admin": "very-secret" });
    folder("roles/token-keys", { "0": "a", "1": "b" });
    const passphrase = join(folder("passphrase", { passphrase: "correct horse" }), "passphrase");
    const environment = place({ BACKUP_RUN: "20260103t020000z", BACKUP_SECRETS: roles, PASSPHRASE: passphrase });
    const backedUp = await run("backup.py", ["keys"], environment);
    expect(backedUp, backedUp.stderr).toMatchObject({ status: 0 });
    const sealed = readFileSync(join(dir, "target/cloud/20260103t020000z/keys.sealed"), "utf8");
    expect(sealed).not.toContain("very-secret");
    const open = (text: string) =>
      spawnSync(
        "python3",
        [
          "-c",
          "import sys,base64,backup; salt, sealed = open(sys.argv[1],'rb').read().split(b'\\n',1); print(backup.cipher(sys.argv[2], base64.b64decode(salt)).decrypt(sealed).decode())",
          join(dir, "target/cloud/20260103t020000z/keys.sealed"),
          text,
        ],
        { cwd: programs, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" }, encoding: "utf8" },
      );
    expect(JSON.parse(open("correct horse").stdout)).toEqual({
      credentials: { "keystone.admin": "very-secret" },
      "token-keys": { "0": "a", "1": "b" },
    });
    expect(open("wrong").status).not.toBe(0);
  });
});

/** An object store with Signature Version 4: a request whose signature is another one than of the secret is refused. */
class ObjectStore {
  readonly objects = new Map<string, Buffer>();
  readonly parts = new Map<string, Map<number, Buffer>>();
  refused = 0;
  readonly #server: Server;
  readonly #secret: string;
  constructor(secret: string) {
    this.#secret = secret;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks);
        const { status, text = "", etag } = this.#answer(request, body);
        response.writeHead(status, etag === undefined ? {} : { etag }).end(request.method === "HEAD" ? "" : text);
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<unknown> {
    return new Promise((done) => this.#server.close(done));
  }

  #answer(request: IncomingMessage, body: Buffer): { status: number; text?: string | Buffer; etag?: string } {
    if (!this.#isSigned(request, body)) {
      this.refused++;
      return { status: 403 };
    }
    const url = new URL(request.url ?? "/", "http://store");
    const key = decodeURIComponent(url.pathname.split("/").slice(2).join("/"));
    const upload = url.searchParams.get("uploadId");
    const found = this.objects.get(key);
    switch (request.method) {
      case "POST":
        if (upload === null) {
          this.parts.set(key, new Map());
          return { status: 200, text: `<R xmlns="urn:s3"><UploadId>${encodeURIComponent(key)}</UploadId></R>` };
        }
        this.objects.set(
          key,
          Buffer.concat([...(this.parts.get(key) ?? [])].toSorted(([a], [b]) => a - b).map(([, part]) => part)),
        );
        return { status: 200, text: "<R/>" };
      case "PUT":
        if (upload !== null) this.parts.get(key)?.set(Number(url.searchParams.get("partNumber")), body);
        else this.objects.set(key, body);
        return { status: 200, etag: '"e"' };
      case "DELETE":
        this.objects.delete(key);
        return { status: 204 };
      case "HEAD":
        return { status: found ? 200 : 404 };
      default:
        return key === "" ? this.#list(url.searchParams) : { status: found ? 200 : 404, text: found ?? "" };
    }
  }

  /** Two names a page, so that a client has to go on. */
  #list(query: URLSearchParams): { status: number; text: string } {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(query.get("prefix") ?? "")).toSorted();
    const from = Number(query.get("continuation-token") ?? 0);
    const more = names.length > from + 2 ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
    const keys = names.slice(from, from + 2).map((name) => `<Contents><Key>${name}</Key></Contents>`);
    return { status: 200, text: `<L xmlns="urn:s3">${keys.join("")}${more}</L>` };
  }

  #isSigned({ headers, method, url = "" }: IncomingMessage, body: Buffer): boolean {
    const hash = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
    const [, scope = "", signed = "", signature] =
      /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(headers.authorization ?? "") ?? [];
    const [path = "", search = ""] = url.split("?");
    const lines = signed.split(";").map((name) => `${name}:${String(headers[name])}\n`);
    const canonical = [method, path, search, lines.join(""), signed, hash(body)].join("\n");
    const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical)].join("\n");
    const sign = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
    const key = scope.split("/").reduce<string | Buffer>((last, part) => sign(last, part), `AWS4${this.#secret}`);
    return headers["x-amz-content-sha256"] === hash(body) && sign(key, text).toString("hex") === signature;
  }
}

describe.skipIf(!python)("a bucket", () => {
  const store = new ObjectStore("of-the-bucket");
  let environment: Record<string, string> = {};
  beforeAll(async () => {
    const url = await store.listen();
    const keys = folder("bucket-keys", { accessKey: "me", secretKey: "of-the-bucket" });
    environment = place({ BACKUP_TARGET: `s3+${url}/backups/of clouds`, BACKUP_KEYS: keys });
  });
  afterAll(() => store.close());
  const script = (text: string, more: Record<string, string> = {}): Promise<number | null> => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...environment, ...more };
    const child = spawn("python3", ["-c", `import backup_target as b\nt = b.open_target()\n${text}`], {
      cwd: programs,
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    return new Promise((done) => child.on("close", done));
  };

  test("takes small objects in one call and large ones in parts, and lists over pages", async () => {
    const lines = [
      "for name in ('a/1', 'a/2', 'a/3', 'b'):",
      "    with t.writing(name) as p: open(p, 'w').write(name)",
      "with t.writing('a/large') as p: open(p, 'wb').write(b'x' * (2 * b.PART + 5))",
      "assert t.names('a/') == ['a/1', 'a/2', 'a/3', 'a/large'], t.names('a/')",
      "assert t.exists('b') and not t.exists('c')",
      "with t.reading('a/2') as p: assert open(p).read() == 'a/2'",
      "t.delete('b'); assert not t.exists('b')",
    ];
    expect(await script(lines.join("\n"))).toBe(0);
    expect(store.objects.get("of clouds/a/large")?.length).toBe(2 * (16 << 20) + 5);
    expect(store.refused).toBe(0);
  });

  test("keeps the newest complete backups and what is being written, and removes the others with their manifests first", async () => {
    store.objects.clear();
    const names = ["1/x", "1/manifest.json", "2/x", "2/manifest.json", "3/x", "4/x", "4/manifest.json", "5/x"];
    for (const name of names) store.objects.set(`of clouds/cloud/${name}`, Buffer.from("{}"));
    expect(await script("import backup; backup.prune(t, 'cloud', 2)")).toBe(0);
    expect([...store.objects.keys()].map((name) => name.replace("of clouds/cloud/", "")).toSorted()).toEqual([
      "2/manifest.json",
      "2/x",
      "3/x",
      "4/manifest.json",
      "4/x",
      "5/x",
    ]);
  });

  test("refuses another key", async () => {
    const keys = folder("wrong-keys", { accessKey: "me", secretKey: "another" });
    expect(await script("t.names('')", { BACKUP_KEYS: keys })).not.toBe(0);
    expect(store.refused).toBeGreaterThan(0);
  });
});
