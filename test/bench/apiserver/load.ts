import { spawn, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { costOf, type Cost, type Subject } from "./subject.ts";

const SOURCE = resolve(import.meta.dirname, "../../../tools/kubernetes/load");

/** What the load generator prints; latencies in milliseconds. */
export interface Loaded {
  readonly calls: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

/** What a load came to, and what it cost the server. */
export type Measured = Loaded & Cost;

export type Flags = Readonly<Record<string, string | number>>;

/** Builds the load generator into a folder; answers the program. */
export function buildLoad(folder: string): string {
  const program = join(folder, "load");
  const built = spawnSync("go", ["build", "-o", program, "."], {
    cwd: SOURCE,
    encoding: "utf8",
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  if (built.status !== 0) throw new Error(`the load generator needs Go: ${built.error?.message ?? built.stderr}`);
  return program;
}

/** Runs one load on one server. Memory is read when the program says that all is open, or at its end. */
export async function load(program: string, subject: Subject, mode: string, flags: Flags): Promise<Measured> {
  const { url, files } = subject;
  const identity = {
    url,
    ca: join(files, "ca.pem"),
    cert: join(files, "client.pem"),
    key: join(files, "client-key.pem"),
  };
  const args = Object.entries({ ...identity, ...flags }).map(([name, value]) => `-${name}=${value}`);
  const before = costOf(subject);
  const child = spawn(program, [...args, mode], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  let during: Cost | undefined;
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
    during = costOf(subject);
  });
  const code = await new Promise<number | null>((done) => child.on("close", done));
  if (code !== 0) throw new Error(`load ${mode} on ${subject.name}: ${errors}`);
  const after = costOf(subject);
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds;
  return { ...(JSON.parse(output) as Loaded), cpuSeconds, memoryMiB: (during ?? after).memoryMiB };
}
