import { generateKeyPairSync } from "node:crypto";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { AUDIT_POLICY } from "./audit-policy.ts";
import { startIssuer } from "./issuer.ts";
import type { Target } from "./interface.ts";
import { freePorts } from "../../support/free-ports.ts";
import { servingOnLoopback } from "../../support/serving.ts";

const DAY = 86_400_000;
const STARTUP = 300_000;
const AUDIT_LOG = "audit.log";

/** Where `npm run test:kubernetes` keeps the binaries it built: the folder with kube-apiserver and etcd. */
const BINARIES = "CAUSEWAY_KUBERNETES_BINARIES";

export interface Options {
  /** Admission plugins that are switched off. */
  readonly without?: readonly string[];
  /** Further flags. */
  readonly flags?: readonly string[];
}

/** What only a test of its own needs, and our server has no counterpart for. */
export interface KubeApiserver extends Target {
  /** The bytes of a key in etcd. */
  record(key: string): Promise<Buffer | undefined>;
  /** Kills it and starts it again on the same etcd. */
  restart(): Promise<void>;
}

/**
 * A real kube-apiserver on a real etcd: loopback, free ports, a folder and certificates of their own, all gone at
 * close.
 */
export async function startKubeApiserver(options: Options = {}): Promise<KubeApiserver> {
  const binaries = process.env[BINARIES];
  if (binaries === undefined) throw new Error(`${BINARIES} names no folder; use npm run test:kubernetes`);
  const dir = mkdtempSync(join(tmpdir(), "kube-apiserver-"));
  const issuer = await startIssuer();
  const children: ChildProcess[] = [];
  const kill = (): void => children.forEach((c) => c.kill("SIGKILL"));
  process.once("exit", kill);
  const close = async (): Promise<void> => {
    process.removeListener("exit", kill);
    await Promise.all(children.map(stop));
    await issuer.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3);
    children.push(launch(join(binaries, "etcd"), etcdArguments(dir, etcdPort, peerPort), dir));
    const authority = await createAuthority({ commonName: "contract", lifetime: DAY });
    const args = await apiserverArguments(dir, { authority, etcdPort, port, authentication: issuer.configuration });
    if (options.without) args.push(`--disable-admission-plugins=${options.without.join(",")}`);
    args.push(...(options.flags ?? []));
    const start = (): number => children.push(launch(join(binaries, "kube-apiserver"), args, dir));
    start();
    const url = `https://127.0.0.1:${port}`;
    await ready(url, authority.certificate, children);
    const auditLog = join(dir, AUDIT_LOG);
    return {
      name: "kube-apiserver",
      url,
      ca: authority.certificate,
      authority,
      auditLog,
      issuer,
      compact: () => compactEtcd(etcdPort),
      record: (key) => readEtcd(etcdPort, key),
      async restart() {
        const last = children.pop();
        if (last) await stop(last);
        start();
        await ready(url, authority.certificate, children);
      },
      close,
    };
  } catch (error) {
    const log = tail(join(dir, "kube-apiserver.log"));
    await close();
    throw new Error(`kube-apiserver did not start: ${String(error)}\n${log}`, { cause: error });
  }
}

/** Through etcd's JSON gateway. */
async function compactEtcd(port: number): Promise<void> {
  const ask = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v3/kv/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`etcd returned ${answer.status} to ${path}`);
    return (await answer.json()) as { header: { revision: string } };
  };
  const { header } = await ask("range", { key: Buffer.from("/").toString("base64") });
  await ask("compaction", { revision: header.revision, physical: true });
}

async function readEtcd(port: number, key: string): Promise<Buffer | undefined> {
  const body = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const answer = await fetch(`http://127.0.0.1:${port}/v3/kv/range`, { method: "POST", body });
  const { kvs } = (await answer.json()) as { kvs?: { value: string }[] };
  return kvs?.[0] && Buffer.from(kvs[0].value, "base64");
}

function etcdArguments(dir: string, port: number, peerPort: number): string[] {
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  return [
    `--data-dir=${join(dir, "etcd")}`,
    "--name=default",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync",
    "--log-level=error",
  ];
}

interface Settings {
  readonly authority: { certificate: string; key: string };
  readonly etcdPort: number;
  readonly port: number;
  readonly authentication: unknown;
}

async function apiserverArguments(dir: string, settings: Settings): Promise<string[]> {
  const { authority, etcdPort, port, authentication } = settings;
  const serving = await servingOnLoopback(authority, "kube-apiserver");
  const accounts = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content, { mode: 0o600 });
    return join(dir, name);
  };
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--tls-cert-file=${file("serving.crt", serving.certificate)}`,
    `--tls-private-key-file=${file("serving.key", serving.key)}`,
    `--client-ca-file=${file("ca.crt", authority.certificate)}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${file("sa.pub", accounts.publicKey)}`,
    `--service-account-signing-key-file=${file("sa.key", accounts.privateKey)}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    "--service-cluster-ip-range=10.96.0.0/12",
    "--endpoint-reconciler-type=none",
    "--allow-privileged=true",
    `--audit-policy-file=${file("audit-policy.json", JSON.stringify(AUDIT_POLICY))}`,
    `--audit-log-path=${join(dir, AUDIT_LOG)}`,
    `--authentication-config=${file("authentication.json", JSON.stringify(authentication))}`,
    "--v=1",
  ];
}

function launch(file: string, args: readonly string[], dir: string): ChildProcess {
  const log = openSync(join(dir, `${file.split("/").at(-1) ?? "server"}.log`), "a", 0o600);
  const child = spawn(file, args, { stdio: ["ignore", log, log], cwd: dir });
  // A program that cannot be started has no pid, which is where it is noticed.
  child.on("error", () => {});
  return child;
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((done) => {
    child.on("exit", () => done());
    child.kill("SIGKILL");
  });
}

async function ready(url: string, ca: string, children: readonly ChildProcess[]): Promise<void> {
  const end = Date.now() + STARTUP;
  while (Date.now() < end) {
    const gone = children.find((c) => c.exitCode !== null || c.pid === undefined);
    if (gone) throw new Error(`${gone.spawnfile} ended with ${gone.exitCode ?? "no start"}`);
    if ((await probe(`${url}/readyz`, ca)) === 200) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`not ready after ${STARTUP / 1000} s`);
}

function probe(url: string, ca: string): Promise<number> {
  return new Promise((done) => {
    const sent = get(url, { ca, agent: false }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    });
    sent.on("error", () => done(0));
  });
}

function tail(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(-2000);
  } catch {
    return "";
  }
}
