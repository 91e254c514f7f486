import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { firstAnswers, installed, stop, type Subject } from "./subject.ts";
import { freePorts } from "../../support/free-ports.ts";

/** Whether `folder` has what npm run test:kubernetes builds. */
export function hasUpstream(folder: string): boolean {
  return ["etcd", "kube-apiserver"].every((program) => existsSync(join(folder, program)));
}

/** A real kube-apiserver on a real etcd, which syncs every write, on a new folder in `base`. */
export async function startUpstream(base: string, binaries: string): Promise<Subject> {
  const files = mkdtempSync(join(base, "upstream-"));
  const ports = await freePorts(3);
  await installed(files);
  const accounts = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  writeFileSync(join(files, "accounts.pem"), accounts.privateKey, { mode: 0o600 });
  const url = `https://127.0.0.1:${ports[2]}`;
  const { processes, ...times } = await firstAnswers({ url, files }, () => [
    launch(join(binaries, "etcd"), etcdArguments(files, ports), files),
    launch(join(binaries, "kube-apiserver"), apiserverArguments(files, ports), files),
  ]);
  return {
    name: "upstream",
    url,
    files,
    processes,
    ...times,
    async close() {
      await Promise.all(processes.map(stop));
      rmSync(files, { recursive: true, force: true });
    },
  };
}

function etcdArguments(files: string, [client, peer]: readonly number[]): string[] {
  const [here, there] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  return [
    `--data-dir=${join(files, "etcd")}`,
    "--name=default",
    `--listen-client-urls=${here}`,
    `--advertise-client-urls=${here}`,
    `--listen-peer-urls=${there}`,
    `--initial-advertise-peer-urls=${there}`,
    `--initial-cluster=default=${there}`,
    "--log-level=error",
  ];
}

function apiserverArguments(files: string, [etcd, , port]: readonly number[]): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    `--tls-cert-file=${join(files, "serving.pem")}`,
    `--tls-private-key-file=${join(files, "serving-key.pem")}`,
    `--client-ca-file=${join(files, "ca.pem")}`,
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${join(files, "accounts.pem")}`,
    `--service-account-signing-key-file=${join(files, "accounts.pem")}`,
    "--authorization-mode=Node,RBAC",
    "--service-cluster-ip-range=10.96.0.0/12",
    "--endpoint-reconciler-type=none",
  ];
}

function launch(file: string, args: readonly string[], files: string): ChildProcess {
  const log = openSync(join(files, "log"), "a", 0o600);
  return spawn(file, args, { stdio: ["ignore", log, log], cwd: files });
}
