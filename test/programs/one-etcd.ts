/** An etcd of one member with certificates, in front of which there is no API server. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate, systemClock, type KeyPair } from "@causeway/foundation";
import { freePort } from "../support/free-ports.ts";

const hour = 3_600_000;

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

export interface OneEtcd {
  readonly authority: KeyPair;
  /** Part of the keys, for what takes and restores backups. */
  keyspace(prefix: string): {
    readonly access: {
      readonly addresses: readonly string[];
      readonly port: number;
      readonly serverName: string;
      readonly authority: KeyPair;
      readonly password: string;
    };
    readonly prefix: string;
  };
  call(path: string, body: object): Promise<Record<string, unknown>>;
  put(key: string, value: string): Promise<unknown>;
  /** Names without the prefix, and values. */
  values(prefix: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

/** The same etcd behind a server that refuses watches; `stop` ends that server only. */
export async function withoutStreams(etcd: OneEtcd): Promise<Pick<OneEtcd, "keyspace" | "stop">> {
  const { authority } = etcd;
  const subject = { commonName: "etcd", dnsNames: ["localhost"], usages: ["server"] as const, lifetime: hour };
  const { certificate: cert, key } = await issueCertificate(authority, subject);
  const server = createTlsServer({ cert, key }, (request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const respond = async (): Promise<void> => {
      const path = (request.url ?? "").slice("/v3/".length);
      const refused = { code: 7, message: "watches are refused" };
      const answer = path === "watch" ? refused : await etcd.call(path, JSON.parse(text) as object);
      response.writeHead("code" in answer ? 400 : 200).end(JSON.stringify(answer));
    };
    request.on("end", () => void respond().catch((error: unknown) => response.destroy(error as Error)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    keyspace(prefix) {
      const { access } = etcd.keyspace(prefix);
      return { access: { ...access, port }, prefix };
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** `seed`: the file that it starts with. */
export async function startEtcd(program: string, seed?: Buffer): Promise<OneEtcd> {
  const dir = mkdtempSync(join(tmpdir(), "one-etcd-"));
  const authority = await createAuthority({ commonName: "etcd-ca", lifetime: hour });
  const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  const server = await issueCertificate(authority, {
    commonName: "etcd",
    ...names,
    usages: ["server", "client"],
    lifetime: hour,
  });
  const client = await issueCertificate(authority, {
    commonName: "",
    organizations: ["t"],
    usages: ["client"],
    lifetime: hour,
  });
  const files = { "ca.crt": authority.certificate, "server.crt": server.certificate, "server.key": server.key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  if (seed !== undefined) {
    mkdirSync(join(dir, "data/member/snap"), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, "data/member/snap/db"), seed, { mode: 0o600 });
  }
  const [peer, port] = [await freePort(), await freePort()];
  const url = `https://127.0.0.1:${port}`;
  const args = [
    `--data-dir=${join(dir, "data")}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    "--client-cert-auth=true",
    `--trusted-ca-file=${join(dir, "ca.crt")}`,
    `--cert-file=${join(dir, "server.crt")}`,
    `--key-file=${join(dir, "server.key")}`,
    "--log-level=error",
  ];
  const child = spawn(program, args, { stdio: "ignore" });
  const call = (path: string, body: object): Promise<Record<string, unknown>> =>
    new Promise((done, failed) => {
      const tls = { ca: authority.certificate, cert: client.certificate, key: client.key };
      const options = { ...tls, host: "127.0.0.1", port, path: `/v3/${path}`, method: "POST", agent: false as const };
      const sent = request(options, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => done(JSON.parse(text) as Record<string, unknown>));
      });
      sent.on("error", failed);
      sent.end(JSON.stringify(body));
    });
  const stop = async (): Promise<void> => {
    const ended = new Promise((done) => child.once("close", done));
    child.kill();
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  const answers = () =>
    call("maintenance/status", {}).then(
      (answer) => "header" in answer,
      () => false,
    );
  for (let i = 0; !(await answers()); i++) {
    if (i === 400) {
      await stop();
      throw new Error("etcd does not start");
    }
    await systemClock.sleep(50);
  }
  return {
    authority,
    keyspace: (prefix) => ({
      access: { addresses: ["127.0.0.1"], port, serverName: "localhost", authority, password: "" },
      prefix,
    }),
    call,
    put: (key, value) => call("kv/put", { key: base64(key), value: base64(value) }),
    async values(prefix) {
      const range = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) };
      const { kvs = [] } = (await call("kv/range", range)) as { kvs?: { key: string; value?: string }[] };
      const text = (encoded = "") => Buffer.from(encoded, "base64").toString();
      return Object.fromEntries(kvs.map(({ key, value }) => [text(key).slice(prefix.length), text(value)]));
    },
    stop,
  };
}
