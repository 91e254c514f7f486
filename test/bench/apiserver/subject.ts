import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";
import { servingOnLoopback } from "../../support/serving.ts";

const DAY = 86_400_000;
const STARTUP = 90_000;

/** A server under measurement, with what a client of it needs. */
export interface Subject {
  readonly name: "ours" | "upstream";
  readonly url: string;
  /** PEM files: ca.pem, client.pem and client-key.pem of a system:masters. */
  readonly files: string;
  /** Every process of it. */
  readonly processes: readonly ChildProcess[];
  /** From the first process to the first served list, in seconds. */
  readonly started: number;
  /** From the same on until it says of itself that it is ready (/readyz). */
  readonly ready: number;
  close(): Promise<void>;
}

export interface Cost {
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

/**
 * Processor time so far (user and system, with that of children that ended) and resident memory, of all processes
 * together. Linux counts time in ticks of 10 ms.
 */
export function costOf({ processes }: { readonly processes: readonly { readonly pid?: number | undefined }[] }): Cost {
  const all = processes.map(({ pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    const ticks = stat.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return { cpuSeconds: ticks / 100, memoryMiB: Number(kilobytes) / 1024 };
  });
  const sum = (field: keyof Cost): number => all.reduce((total, one) => total + one[field], 0);
  return { cpuSeconds: sum("cpuSeconds"), memoryMiB: sum("memoryMiB") };
}

/** Resident memory of processes together, where a page that several share is counted once (PSS). */
export function proportionalMiB(processes: readonly { readonly pid?: number | undefined }[]): number {
  const kilobytes = processes.map(({ pid }) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0);
  });
  return kilobytes.reduce((total, one) => total + one, 0) / 1024;
}

/**
 * Writes what both servers find as an installer leaves it: the authority, the certificate that the server shows, and a
 * client that may do everything. (So does each find the key of its tokens.)
 */
export async function installed(files: string): Promise<{ readonly authority: KeyPair }> {
  const authority = await createAuthority({ commonName: "bench", lifetime: DAY });
  const client = await issueCertificate(authority, {
    commonName: "bench",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: DAY,
  });
  const serving = await servingOnLoopback(authority, "kube-apiserver");
  const write = (name: string, content: string): void => writeFileSync(join(files, name), content, { mode: 0o600 });
  write("ca.pem", authority.certificate);
  write("client.pem", client.certificate);
  write("client-key.pem", client.key);
  write("serving.pem", serving.certificate);
  write("serving-key.pem", serving.key);
  return { authority };
}

/** The code of an answer; 0 when there is none. */
export function ask({ url, files }: Pick<Subject, "url" | "files">, path: string, body?: object): Promise<number> {
  const read = (name: string): string => readFileSync(join(files, name), "utf8");
  const identity = { ca: read("ca.pem"), cert: read("client.pem"), key: read("client-key.pem"), agent: false as const };
  const headers = { "content-type": "application/json" };
  return new Promise((done) => {
    const sent = request(`${url}${path}`, { ...identity, headers, method: body ? "POST" : "GET" }, (response) => {
      response.resume();
      response.on("end", () => done(response.statusCode ?? 0));
    });
    sent.on("error", () => done(0));
    sent.end(body && JSON.stringify(body));
  });
}

/**
 * Starts a server and answers when it has first served a list of namespaces, and when it has first said that it is
 * ready: in seconds from before its first process. The request is repeated two milliseconds after each one that
 * fails. Its processes end with this one.
 */
export async function firstAnswers(
  subject: Pick<Subject, "url" | "files">,
  launch: () => readonly ChildProcess[],
): Promise<Pick<Subject, "started" | "ready" | "processes">> {
  // No server listens yet: the modules for requests are loaded before the measurement starts.
  await ask(subject, "/readyz");
  const begun = performance.now();
  const processes = launch();
  for (const one of processes) {
    const kill = (): boolean => one.kill("SIGKILL");
    process.once("exit", kill);
    one.once("exit", () => process.removeListener("exit", kill));
  }
  const served = async (path: string): Promise<number> => {
    for (const end = Date.now() + STARTUP; (await ask(subject, path)) !== 200;) {
      if (Date.now() > end) throw new Error(`${subject.url} does not serve ${path}`);
      await new Promise((done) => setTimeout(done, 2));
    }
    return (performance.now() - begun) / 1000;
  };
  return { processes, started: await served("/api/v1/namespaces"), ready: await served("/readyz") };
}

export async function makeNamespace(subject: Subject, name: string): Promise<void> {
  for (const end = Date.now() + STARTUP; ;) {
    const code = await ask(subject, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    if (code === 201 || code === 409) return;
    if (Date.now() > end) throw new Error(`${subject.url} makes no namespace: ${code}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}

/** SIGKILL; resolves when it is gone. */
export function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((done) => {
    child.once("exit", () => done());
    child.kill("SIGKILL");
  });
}
