import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  createAuthority,
  issueCertificate,
  silentLog,
  VirtualClock,
  type KeyPair,
  type Log,
} from "@causeway/foundation";
import type { ApiServer, ApiServerOptions } from "../interface.ts";
import { at, records } from "../json/json.ts";
import { startApiServer } from "../start.ts";

const DAY = 86_400_000;
const SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

let dir: string;
const opened: { close(): unknown }[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "serving-"));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((o) => o.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function start(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = await startApiServer(options);
  opened.push(server);
  return server;
}

function portOf(server: ApiServer): number {
  return Number(new URL(server.management.url).port);
}

/** The serial number of the certificate that a new connection is shown. */
function shown(server: ApiServer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: portOf(server), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? "");
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

interface Client {
  /** Who the server takes this client for, or the code of its refusal. */
  who(): Promise<unknown>;
  /** How many connections it has needed. */
  readonly connections: number;
}

function client(server: ApiServer, identity: { cert?: string; key?: string; ca?: string } = {}): Client {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 1,
    ...identity,
    rejectUnauthorized: identity.ca !== undefined,
  });
  opened.push({ close: () => agent.destroy() });
  const local = new Set<number | undefined>();
  return {
    get connections() {
      return local.size;
    },
    who: () =>
      new Promise((resolve, reject) => {
        const sent = request(`${server.management.url}${SELF}`, { agent, method: "POST" }, (response) => {
          local.add(response.socket.localPort);
          let body = "";
          response.on("data", (chunk: Buffer) => (body += chunk.toString()));
          response.on("end", () => {
            const name = at(JSON.parse(body) as unknown, "status", "userInfo", "username");
            resolve(name ?? response.statusCode);
          });
        });
        sent.on("error", reject);
        sent.setHeader("content-type", "application/json");
        sent.end(JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }));
      }),
  };
}

async function certificateOf(authority: KeyPair, commonName = "jane"): Promise<{ cert: string; key: string }> {
  const usages = ["client"] as const;
  const { certificate, key } = await issueCertificate(authority, { commonName, usages, lifetime: DAY });
  return { cert: certificate, key };
}

function root(commonName: string): Promise<KeyPair> {
  return createAuthority({ commonName, lifetime: DAY });
}

describe("a serving certificate", () => {
  it("is replaced before it ends, and open connections remain", async () => {
    const clock = new VirtualClock(Date.now());
    const server = await start({ clock });
    const first = await shown(server);
    const anonymous = client(server);
    expect(await anonymous.who()).toBe(403);
    await clock.advance(330 * DAY);
    expect(await shown(server)).toBe(first);
    await clock.advance(10 * DAY);
    await expect.poll(() => shown(server)).not.toBe(first);
    expect(await anonymous.who()).toBe(403);
    expect(anonymous.connections).toBe(1);
  });

  it("from files is read again while connections remain, and kubeconfigs trust its authority", async () => {
    const authority = await root("serving root");
    const files = {
      certificateFile: join(dir, "serving.crt"),
      keyFile: join(dir, "serving.key"),
      authorityFile: join(dir, "root.crt"),
    };
    const put = async (): Promise<string> => {
      const made = await issueCertificate(authority, {
        commonName: "front",
        ipAddresses: ["127.0.0.1"],
        usages: ["server"],
        lifetime: DAY,
      });
      writeFileSync(files.certificateFile, made.certificate);
      writeFileSync(files.keyFile, made.key);
      return new X509Certificate(made.certificate).serialNumber;
    };
    writeFileSync(files.authorityFile, authority.certificate);
    const first = await put();
    const clock = new VirtualClock(Date.now());
    const server = await start({ serving: files, clock });
    expect(await shown(server)).toBe(first);
    const kubeconfig: unknown = parse(await server.management.kubeconfig());
    const trusted = at(records(at(kubeconfig, "clusters"))[0], "cluster", "certificate-authority-data");
    expect(Buffer.from(String(trusted), "base64").toString()).toBe(authority.certificate);
    const user = client(server, { ca: authority.certificate });
    expect(await user.who()).toBe(403);
    const second = await put();
    await clock.advance(61_000);
    expect(await shown(server)).toBe(second);
    expect(await user.who()).toBe(403);
    expect(user.connections).toBe(1);
    writeFileSync(files.keyFile, (await root("other")).key);
    await expect(server.reload()).rejects.toMatchObject({ code: "SERVING_CERTIFICATE_INVALID" });
    expect(await shown(server)).toBe(second);
  });

  it.each([
    ["has expired", -2 * DAY, "the serving certificate has expired; clients refuse it"],
    ["is not valid yet", 2 * DAY, "the serving certificate is not valid yet; clients refuse it"],
    ["is valid", 0, undefined],
  ])("from a file that %s is served, with a warning where clients will refuse it", async (_what, when, warning) => {
    const now = Date.now();
    const authority = await createAuthority({ commonName: "front root", lifetime: 9 * DAY, now: now - 3 * DAY });
    const subject = { commonName: "front", ipAddresses: ["127.0.0.1"], usages: ["server"], lifetime: DAY } as const;
    const issued = await issueCertificate(authority, { ...subject, now: now + when });
    const files = { certificateFile: "crt", keyFile: "key", authorityFile: "ca" };
    for (const [name, content] of [
      ["crt", issued.certificate],
      ["key", issued.key],
      ["ca", authority.certificate],
    ] as const)
      writeFileSync(join(dir, name), content);
    const said: string[] = [];
    const log: Log = { ...silentLog, warn: (message: string) => void said.push(message), with: () => log };
    const at = (name: string): string => join(dir, name);
    const { certificateFile, keyFile, authorityFile } = files;
    await start({
      log,
      serving: { certificateFile: at(certificateFile), keyFile: at(keyFile), authorityFile: at(authorityFile) },
    });
    expect(said).toEqual(warning === undefined ? [] : [warning]);
  });

  it.each(["crt", "key", "ca"])(
    "whose file %s is empty does not start, and the message names the file",
    async (empty) => {
      const one = await root("one");
      for (const [name, content] of [
        ["crt", one.certificate],
        ["key", one.key],
        ["ca", one.certificate],
      ] as const)
        writeFileSync(join(dir, name), name === empty ? "\n" : content);
      const [certificateFile, keyFile, authorityFile] = [join(dir, "crt"), join(dir, "key"), join(dir, "ca")];
      await expect(startApiServer({ serving: { certificateFile, keyFile, authorityFile } })).rejects.toMatchObject({
        code: "SERVING_CERTIFICATE_INVALID",
        message: expect.stringContaining(`${join(dir, empty)} is empty`) as string,
      });
    },
  );

  it("whose key is another's does not start", async () => {
    const [one, two] = [await root("one"), await root("two")];
    for (const [name, content] of [
      ["crt", one.certificate],
      ["key", two.key],
    ] as const)
      writeFileSync(join(dir, name), content);
    const [certificateFile, keyFile] = [join(dir, "crt"), join(dir, "key")];
    const serving = { certificateFile, keyFile, authorityFile: certificateFile };
    await expect(startApiServer({ serving })).rejects.toMatchObject({ code: "SERVING_CERTIFICATE_INVALID" });
  });
});

describe("client authorities", () => {
  it("of a bundle are accepted next to the cluster's own, until they are removed, even on open connections", async () => {
    const [old, other] = [await root("old root"), await root("other root")];
    const clientAuthorityFile = join(dir, "clients.crt");
    writeFileSync(clientAuthorityFile, other.certificate + old.certificate);
    const server = await start({ management: { clientAuthorityFile } });
    const byOld = client(server, await certificateOf(old));
    const byOwn = client(server, await certificateOf(server.management.authority, "joe"));
    const byOtherRoot = client(server, await certificateOf(await root("other")));
    expect(await byOld.who()).toBe("jane");
    expect(await byOwn.who()).toBe("joe");
    expect(await byOtherRoot.who()).toBe(401);
    writeFileSync(clientAuthorityFile, other.certificate);
    await server.reload();
    expect(await byOld.who()).toBe(401);
    expect(byOld.connections).toBe(1);
    expect(await byOwn.who()).toBe("joe");
  });

  it("remain as they are when a changed bundle cannot be used", async () => {
    const old = await root("old root");
    const clientAuthorityFile = join(dir, "clients.crt");
    writeFileSync(clientAuthorityFile, old.certificate);
    const server = await start({ management: { clientAuthorityFile } });
    writeFileSync(clientAuthorityFile, (await certificateOf(old)).cert);
    await expect(server.reload()).rejects.toMatchObject({ code: "CLIENT_AUTHORITY_INVALID" });
    expect(await client(server, await certificateOf(old)).who()).toBe("jane");
  });

  it("take a certificate no longer than it is valid, on whatever connection", async () => {
    const clock = new VirtualClock(Date.now());
    const server = await start({ clock });
    const user = client(server, await certificateOf(server.management.authority));
    expect(await user.who()).toBe("jane");
    await clock.advance(2 * DAY);
    expect(await user.who()).toBe(401);
    expect(user.connections).toBe(1);
  });
});

describe("a state folder", () => {
  it.each(["ca.key", "ca.crt", "sa.key"])(
    "with an empty %s is refused, and the message names the file",
    async (name) => {
      await (await startApiServer({ dir })).close();
      writeFileSync(join(dir, "management", name), "");
      await expect(startApiServer({ dir })).rejects.toMatchObject({
        code: "STATE_FILE_EMPTY",
        message: `management/${name} in the state folder is empty`,
      });
    },
  );
});

describe("a kubeconfig", () => {
  it("has its key in the form that every client reads", async () => {
    const server = await start();
    const kubeconfig: unknown = parse(await server.management.kubeconfig());
    const key = at(records(at(kubeconfig, "users"))[0], "user", "client-key-data");
    const pem = Buffer.from(String(key), "base64").toString();
    expect(pem).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+-----END EC PRIVATE KEY-----\n$/);
    const certificate = at(records(at(kubeconfig, "users"))[0], "user", "client-certificate-data");
    const read = new X509Certificate(Buffer.from(String(certificate), "base64"));
    expect(read.checkPrivateKey(createPrivateKey(pem))).toBe(true);
  });
});
