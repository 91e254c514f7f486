import { fork, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePorts } from "../../support/free-ports.ts";
import { costOf, firstAnswers, installed, proportionalMiB, stop, type Cost, type Subject } from "./subject.ts";

const LAUNCH = resolve(import.meta.dirname, "../../../packages/causeway/src/launch.sh");
const SERVER_CHILD = resolve(import.meta.dirname, "server-child.js");

/** What the process that makes clusters reports. */
export type Said =
  | { readonly is: "ready" }
  | {
      readonly is: "made";
      readonly milliseconds: readonly number[];
      /** Worker processes. */
      readonly workers: readonly (number | undefined)[];
    };

/**
 * `causeway apiserver`, as who installed it starts it, on a new state folder in `base`, with these options in addition.
 */
export async function startOurs(base: string, options: readonly string[] = []): Promise<Subject> {
  const files = mkdtempSync(join(base, "ours-"));
  const state = join(files, "state");
  const [port = 0] = await freePorts(1);
  const { authority } = await installed(files);
  const accounts = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const found = { "ca.crt": authority.certificate, "ca.key": authority.key, "sa.key": accounts.privateKey };
  mkdirSync(join(state, "management"), { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(found)) {
    writeFileSync(join(state, "management", name), content, { mode: 0o600 });
  }
  const url = `https://127.0.0.1:${port}`;
  const args = [
    "apiserver",
    "--no-kubeconfig",
    `--state=${state}`,
    `--port=${port}`,
    `--tls-cert-file=${join(files, "serving.pem")}`,
    `--tls-private-key-file=${join(files, "serving-key.pem")}`,
    `--tls-authority-file=${join(files, "ca.pem")}`,
    ...options,
  ];
  const log = openSync(join(files, "log"), "a", 0o600);
  const launch = () => [spawn(LAUNCH, args, { stdio: ["ignore", log, log], cwd: files })];
  const { processes, ...times } = await firstAnswers({ url, files }, launch);
  return {
    name: "ours",
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

/**
 * Makes so many logical clusters, one by one, on one server; answers how long each took, in milliseconds, and what the
 * server is then.
 */
export async function makeClusters(
  base: string,
  { count, settle }: { count: number; settle: number },
): Promise<Cost & { readonly milliseconds: readonly number[] }> {
  const state = mkdtempSync(join(base, "clusters-"));
  const child = fork(SERVER_CHILD, [state], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: ["--max-semi-space-size=4"],
  });
  const next = (): Promise<Said> =>
    new Promise((done, reject) => {
      child.once("message", (said) => done(said as Said));
      child.once("exit", () => reject(new Error("the server ended")));
    });
  try {
    await next();
    child.send(count);
    const made = await next();
    await new Promise((done) => setTimeout(done, settle));
    if (made.is !== "made") throw new Error("the server made no clusters");
    const { milliseconds, workers } = made;
    const processes = [child.pid, ...workers].map((pid) => ({ pid }));
    return { ...costOf({ processes }), memoryMiB: proportionalMiB(processes), milliseconds };
  } finally {
    await stop(child);
    rmSync(state, { recursive: true, force: true });
  }
}
