/** TLS of the API: its certificate and key, what is refused, and a certificate that is renewed while it serves. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { createMetrics, issueCertificate, createAuthority, silentLog, VirtualClock } from "@causeway/foundation";
import type { KeyPair } from "@causeway/foundation";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Tokens } from "@causeway/openstack";
import type { Caller } from "../access/caller.ts";
import { ProjectRates } from "../access/rate.ts";
import type { Api } from "../call/call.ts";
import { serve, type MagnumServer } from "./server.ts";
import { UnderWay } from "./under-way.ts";

const LIFETIME = 86_400_000;
const authority = await createAuthority({ commonName: "test", lifetime: LIFETIME });
const issue = (commonName: string): Promise<KeyPair> =>
  issueCertificate(authority, { commonName, dnsNames: ["localhost"], usages: ["server"], lifetime: LIFETIME });
const [first, second] = [await issue("first"), await issue("second")];

const clock = new VirtualClock();
let dir: string;
let files: { readonly certificateFile: string; readonly keyFile: string };
let server: MagnumServer | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "magnum-tls-"));
  files = { certificateFile: join(dir, "tls.crt"), keyFile: join(dir, "tls.key") };
  write(first);
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(dir, { recursive: true });
});

function write({ certificate, key }: KeyPair): void {
  writeFileSync(files.certificateFile, certificate);
  writeFileSync(files.keyFile, key);
}

/** Serves documents that need no token, and so nothing behind it. */
async function start(): Promise<number> {
  const api = { store: { isSynced: () => true }, log: silentLog } as unknown as Api;
  const tokens = {} as Tokens<Omit<Caller, "token">>;
  const rates = new ProjectRates({ perSecond: 1, burst: 1 }, clock);
  const underWay = new UnderWay();
  const address = { host: "127.0.0.1", port: 0, certificateFiles: files };
  server = await serve({ api, tokens, rates, underWay, ...address, metrics: createMetrics(), clock, log: silentLog });
  return server.port;
}

/** The name in the certificate of the server, and the first link in its response. */
function get(port: number): Promise<{ readonly name: string; readonly link: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, servername: "localhost", ca: authority.certificate, agent: false };
    const sent = request(options, (response) => {
      const { subject } = (response.socket as TLSSocket).getPeerCertificate();
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => {
        const { versions } = JSON.parse(text) as { versions: readonly { links: readonly { href: string }[] }[] };
        resolve({ name: String(subject.CN), link: versions[0]?.links[0]?.href ?? "" });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

it("the Magnum API serves HTTPS with the certificate, and its links begin with https", async () => {
  const port = await start();
  expect(await get(port)).toEqual({ name: "first", link: `https://127.0.0.1:${port}/v1/` });
});

it("a certificate that was renewed is used within half a minute, without a restart", async () => {
  const port = await start();
  write(second);
  expect((await get(port)).name).toBe("first");
  await clock.advance(30_000);
  await expect.poll(async () => (await get(port)).name).toBe("second");
});

it("a certificate that is half written is not used, and neither is one without its key; the next good one is", async () => {
  const port = await start();
  for (const half of [
    { ...second, key: first.key },
    { certificate: second.certificate.slice(0, 200), key: second.key },
  ]) {
    write(half);
    await clock.advance(30_000);
    expect((await get(port)).name).toBe("first");
  }
  write(second);
  await clock.advance(30_000);
  await expect.poll(async () => (await get(port)).name).toBe("second");
});

describe("a client", () => {
  const versionOf = (port: number, maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3"): Promise<string> =>
    new Promise((resolve) => {
      const options = { minVersion: "TLSv1", maxVersion, ciphers: "DEFAULT@SECLEVEL=0" } as const;
      const socket = connect({
        host: "127.0.0.1",
        port,
        servername: "localhost",
        ca: authority.certificate,
        ...options,
      });
      socket.on("secureConnect", () => {
        resolve(socket.getProtocol() ?? "");
        socket.destroy();
      });
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });

  it.each([
    ["TLSv1.1", "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION"],
    ["TLSv1.2", "TLSv1.2"],
    ["TLSv1.3", "TLSv1.3"],
  ] as const)("that knows versions to %s gets %s", async (most, expected) => {
    expect(await versionOf(await start(), most)).toBe(expected);
  });
});

describe("a TLS setting of the Magnum API is refused at the start:", () => {
  it.each<[string, () => void, RegExp]>([
    ["a key of another certificate", () => writeFileSync(files.keyFile, second.key), /--tls-private-key-file cannot/],
    ["a key that is none", () => writeFileSync(files.keyFile, "no key"), /--tls-private-key-file cannot be used/],
    ["a certificate that is none", () => writeFileSync(files.certificateFile, "none"), /no block BEGIN CERTIFICATE/],
    ["a certificate that is not there", () => rmSync(files.certificateFile), /tls\.crt of --tls-cert-file cannot/],
  ])("%s", async (_, damage, says) => {
    damage();
    const error = await start().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "MAGNUM_CERTIFICATE", message: expect.stringMatching(says) as string });
    // A key never reaches a message.
    expect(String(error)).not.toContain("PRIVATE KEY-----");
  });
});
