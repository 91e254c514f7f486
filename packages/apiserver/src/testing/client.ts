import { Agent, request } from "node:https";
import { parse } from "yaml";
import type { LogicalCluster } from "../interface.ts";
import { at, record, text, type Json } from "../json/json.ts";

export interface Answer {
  readonly code: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A bare HTTPS client of one logical cluster, for this package's tests: no retries, no interpretation. */
export interface Raw {
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** The first `count` watch events; rejects after five seconds, or `timeout` milliseconds. */
  events(path: string, count: number, timeout?: number): Promise<Json[]>;
  /** Opens a watch and leaves it open. */
  open(path: string): Promise<{ readonly ended: Promise<void> }>;
  close(): void;
}

export async function rawClient(
  cluster: LogicalCluster,
  identity: { commonName?: string; organizations?: readonly string[]; token?: string } = {},
): Promise<Raw> {
  const { token, ...subject } = identity;
  const kubeconfig: unknown = parse(await cluster.kubeconfig(subject));
  const pem = (value: unknown): string => Buffer.from(text(value), "base64").toString();
  const entry = record((at(kubeconfig, "clusters") as Json[])[0]);
  const user = record((at(kubeconfig, "users") as Json[])[0]);
  const server = text(at(entry, "cluster", "server"));
  const agent = new Agent({
    keepAlive: true,
    ca: pem(at(entry, "cluster", "certificate-authority-data")),
    ...(token === undefined
      ? { cert: pem(at(user, "user", "client-certificate-data")), key: pem(at(user, "user", "client-key-data")) }
      : {}),
  });
  const authorization: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const begin = (method: string, path: string, headers: Readonly<Record<string, string>>) =>
    request(`${server}${path}`, { method, agent, headers: { ...authorization, ...headers } });
  return {
    call: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const payload = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
        const length = { "content-length": String(Buffer.byteLength(payload)) };
        const sent = begin(method, path, { "content-type": "application/json", ...length, ...headers });
        sent.on("error", reject);
        sent.on("response", (response) => {
          let received = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (received += chunk));
          response.on("error", reject);
          response.on("end", () => {
            const isJson = response.headers["content-type"]?.includes("json") ?? false;
            const parsed = isJson ? record(JSON.parse(received)) : { text: received };
            resolve({ code: response.statusCode ?? 0, body: parsed, headers: response.headers });
          });
        });
        sent.end(payload);
      }),
    events: (path, count, timeout = 5000) =>
      new Promise((resolve, reject) => {
        const found: Json[] = [];
        let rest = "";
        const sent = begin("GET", path, {});
        const timer = setTimeout(() => {
          sent.destroy();
          reject(new Error(`only ${found.length} of ${count} events: ${JSON.stringify(found)}`));
        }, timeout);
        sent.on("error", reject);
        sent.on("response", (response) => {
          response.setEncoding("utf8");
          response.on("error", () => {});
          response.on("data", (chunk: string) => {
            const lines = (rest + chunk).split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines) found.push(record(JSON.parse(line)));
            if (found.length < count) return;
            clearTimeout(timer);
            sent.destroy();
            resolve(found.slice(0, count));
          });
        });
        sent.end();
      }),
    open: (path) =>
      new Promise((resolve, reject) => {
        const sent = begin("GET", path, {});
        sent.on("error", reject);
        sent.on("response", (response) => {
          const ended = new Promise<void>((done) => {
            response.on("close", done);
            response.on("error", () => done());
          });
          response.resume();
          resolve({ ended });
        });
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

/**
 * Repeats until `probe` gives something, for at most half a minute: as long as a busy machine may need, since a
 * green run never waits so long.
 */
export async function eventually<T>(probe: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error("it did not happen in half a minute");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
