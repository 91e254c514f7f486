import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Clock } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";

export interface Seen {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

/**
 * A response; "cut" closes the connection without one, "hang" never responds. `text` is a body that is not JSON,
 * `endless` one that is repeated for ever.
 */
export type Reply =
  | { status?: number; body?: unknown; text?: string; endless?: string; headers?: Record<string, string> }
  | "cut"
  | "hang";

export interface ScriptedCloud {
  readonly url: string;
  readonly config: CloudConfig;
  readonly seen: Seen[];
  /** Requests of this method to paths that end so. */
  count(method: string, path: string): number;
  close(): Promise<void>;
}

export const PASSWORD = "correct horse";

/** The responses of a service for one test; undefined falls through to 404. */
export type Script = (seen: Seen, cloud: { url: string; tokens: number }) => Reply | undefined;

export interface ScriptedOptions {
  readonly lifetime?: number;
  readonly tls?: { key: string; cert: string; ca?: string; requestCert?: boolean; rejectUnauthorized?: boolean };
}

/** A Keystone with a catalog, and a script for all else, on loopback: for tests of what no real cloud does to order. */
export async function scriptedCloud(script: Script, options: ScriptedOptions = {}): Promise<ScriptedCloud> {
  const seen: Seen[] = [];
  let tokens = 0;
  let url = "";
  const handler: Parameters<typeof createServer>[1] = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const asked = read(request, Buffer.concat(chunks).toString());
      seen.push(asked);
      const keystone = asked.path === "/identity/v3/auth/tokens";
      if (keystone) tokens++;
      const reply = script(asked, { url, tokens }) ??
        (keystone ? token(asked, url, { tokens, lifetime: options.lifetime ?? 3600 }) : undefined) ?? { status: 404 };
      if (reply === "hang") return;
      if (reply === "cut") return void request.socket.destroy();
      response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
      if (reply.endless !== undefined) return stream(response, reply.endless);
      response.end(reply.text ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)));
    });
  };
  const server = options.tls ? createTlsServer(options.tls, handler) : createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `${options.tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    seen,
    config: {
      name: "scripted",
      authUrl: `${url}/identity`,
      auth: { type: "password", username: "demo", userDomain: { name: "Default" }, password: PASSWORD },
      scope: { projectName: "demo", projectDomain: { name: "Default" } },
    },
    count: (method, path) => seen.filter((s) => s.method === method && s.path.endsWith(path)).length,
    close: () => end(server),
  };
}

/** Writes the text again and again until the client goes. */
function stream(response: ServerResponse, text: string): void {
  const piece = Buffer.alloc(64 * 1024, text);
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

function end(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

function read(request: IncomingMessage, body: string): Seen {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  return {
    method: request.method ?? "",
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: body === "" ? undefined : JSON.parse(body),
  };
}

function token(asked: Seen, url: string, facts: { tokens: number; lifetime: number }): Reply {
  if (!JSON.stringify(asked.body).includes(PASSWORD)) {
    return {
      status: 401,
      body: { error: { code: 401, message: "The request you have made requires authentication." } },
    };
  }
  const issued = Date.UTC(2026, 0, 1);
  const endpoint = (type: string, path: string) => ({
    type,
    endpoints: [{ interface: "public", region: "R1", region_id: "R1", url: `${url}${path}` }],
  });
  return {
    status: 201,
    headers: { "x-subject-token": `token-${facts.tokens}` },
    body: {
      token: {
        issued_at: new Date(issued).toISOString(),
        expires_at: new Date(issued + facts.lifetime * 1000).toISOString(),
        project: { id: "p-1" },
        user: { id: "u-1" },
        catalog: [
          endpoint("network", "/network"),
          endpoint("compute", "/compute/v2.1"),
          endpoint("image", "/image"),
          endpoint("load-balancer", "/lb/v2.0"),
          endpoint("volumev3", "/volume/v3/p-1"),
        ],
      },
    },
  };
}

/** A clock without waiting: short sleeps pass at once and are recorded, deadlines (20 s and more) never expire. */
export class HastyClock implements Clock {
  readonly slept: number[] = [];
  #now = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#now;
  }
  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (milliseconds < 20_000) {
        this.slept.push(milliseconds);
        this.#now += milliseconds;
        return void setImmediate(resolve);
      }
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}
