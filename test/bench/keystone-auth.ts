/**
 * 10,000 reviews of 100 tokens by `causeway run keystone-auth` and by the upstream k8s-keystone-auth, on the same
 * simulated Keystone: cold (no token was seen before) and warm (the same again). Calls are Keystone's; processor time
 * and memory are the webhook's process.
 */
import { once } from "node:events";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createAuthority } from "@causeway/foundation";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { upstreamProgram } from "../../scripts/kubernetes-programs.ts";
import { freePorts } from "../support/free-ports.ts";
import { servingOnLoopback } from "../support/serving.ts";

const MAIN = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");
const DAY = 86_400_000;
const REVIEWS = 10_000;
const TOKENS = 100;
/** Reviews under way at once. */
const WIDTH = 25;

interface Figures {
  readonly calls: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

interface Row {
  readonly name: string;
  readonly ours: Figures;
  readonly upstream?: Figures;
}

interface Webhook {
  readonly child: ChildProcess;
  readonly port: number;
  readonly agent: Agent;
}

const { values } = parseArgs({ options: { json: { type: "string" } } });
const dir = mkdtempSync(join(tmpdir(), "bench-keystone-auth-"));
const simulator = await startSimulator({ profile: "instant" });
try {
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  const tokens: string[] = [];
  for (let i = 0; i < TOKENS; i++) tokens.push((await issueToken(config)).token);
  const authority = await createAuthority({ commonName: "bench", lifetime: DAY });
  const pair = await servingOnLoopback(authority, "keystone-auth");
  const [certificate, key] = [join(dir, "tls.crt"), join(dir, "tls.key")];
  writeFileSync(certificate, pair.certificate);
  writeFileSync(key, pair.key);
  const flags = ["--keystone-url", simulator.authUrl, "--tls-cert-file", certificate, "--tls-private-key-file", key];
  const start = (command: readonly string[]): Promise<Webhook> =>
    startWebhook([...command, ...flags], authority.certificate);

  const upstream = await upstreamProgram("k8s-keystone-auth");
  if ("reason" in upstream) console.log(`upstream is not measured: ${upstream.reason}`);
  const ours = await measured(() => start([process.execPath, MAIN, "run", "keystone-auth", "-v", "0"]), tokens);
  const theirs =
    "dir" in upstream ? await measured(() => start([join(upstream.dir, "k8s-keystone-auth")]), tokens) : undefined;
  const rows: Row[] = ["cold", "warm"].map((name, i) => {
    const [mine, other] = [ours[i], theirs?.[i]];
    if (mine === undefined) throw new Error(`no figures of ${name}`);
    return { name: `${REVIEWS} reviews of ${TOKENS} tokens, ${name}`, ours: mine, ...(other && { upstream: other }) };
  });
  for (const { name, ...sides } of rows) {
    console.log(name);
    console.table(sides);
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, undefined, 2)}\n`);
} finally {
  await simulator.close();
  rmSync(dir, { recursive: true, force: true });
}

async function startWebhook([file = "", ...args]: readonly string[], ca: string): Promise<Webhook> {
  const [port = 0] = await freePorts(1);
  const child = spawn(file, [...args, "--listen", `127.0.0.1:${port}`], { stdio: ["ignore", "ignore", "inherit"] });
  const agent = new Agent({ ca, keepAlive: true, maxSockets: WIDTH });
  const webhook = { child, port, agent };
  for (let i = 0; i < 300; i++) {
    if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}`);
    const listens = await post(webhook, {}).then(
      () => true,
      () => false,
    );
    if (listens) return webhook;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`${file} does not listen`);
}

async function measured(start: () => Promise<Webhook>, tokens: readonly string[]): Promise<Figures[]> {
  const webhook = await start();
  try {
    const figures: Figures[] = [];
    for (let i = 0; i < 2; i++) figures.push(await reviewAll(webhook, tokens));
    return figures;
  } finally {
    webhook.agent.destroy();
    webhook.child.kill("SIGTERM");
    await once(webhook.child, "close");
  }
}

async function reviewAll(webhook: Webhook, tokens: readonly string[]): Promise<Figures> {
  const durations: number[] = [];
  const before = { calls: keystoneCalls(simulator), cpu: cpuSeconds(webhook.child), at: performance.now() };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < REVIEWS) {
      const token = tokens[next++ % tokens.length];
      const begun = performance.now();
      const review = { apiVersion: "authentication.k8s.io/v1beta1", kind: "TokenReview", spec: { token } };
      const { status } = await post(webhook, review);
      if (status?.authenticated !== true) throw new Error("a valid token was refused");
      durations.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
  const sorted = durations.toSorted((a, b) => a - b);
  return {
    calls: keystoneCalls(simulator) - before.calls,
    seconds: tenth((performance.now() - before.at) / 1000),
    cpuSeconds: tenth(cpuSeconds(webhook.child) - before.cpu),
    memoryMiB: Math.round(memory(webhook.child)),
    p50Milliseconds: tenth(sorted[Math.floor(sorted.length / 2)] ?? 0),
    p99Milliseconds: tenth(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
  };
}

function post({ port, agent }: Webhook, review: object): Promise<{ status?: { authenticated?: boolean } }> {
  const body = JSON.stringify({ apiVersion: "none", kind: "none", ...review });
  return new Promise((done, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request({ host: "127.0.0.1", port, path: "/webhook", method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        done(text.startsWith("{") ? (JSON.parse(text) as object) : {});
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function keystoneCalls({ calls }: Simulator): number {
  return calls.filter((call) => call.service === "identity").length;
}

/** User and system time, in the kernel's ticks of 10 ms (proc(5)). */
function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memory({ pid }: ChildProcess): number {
  const line = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
