/** The programs of backups: what they encrypt, and how they use a small object store that checks signatures. */
import { spawn, spawnSync } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openBackupFolder, programs, type BackupFolder } from "../testing/backup-folder.ts";
import { isInstalled } from "../testing/commands.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const python = isInstalled("python3");
const cryptography = python && spawnSync("python3", ["-c", "import cryptography.fernet"]).status === 0;

let world: BackupFolder;
let dir = "";
beforeAll(() => {
  world = openBackupFolder();
  ({ dir } = world);
});
afterAll(() => world.remove());
const { run, folder, place }: Pick<BackupFolder, "run" | "folder" | "place"> = {
  run: (...given) => world.run(...given),
  folder: (...given) => world.folder(...given),
  place: (...given) => world.place(...given),
};

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

  /** Two names a page, so that a client has to continue. */
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
