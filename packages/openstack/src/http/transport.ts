import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { Agent, request as send } from "undici";
import { CausewayError, messageOf } from "@causeway/foundation";
import type { CloudTls } from "../config/config.ts";

export type BodyData = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyData | undefined;
  /** A good answer's body is given as its bytes. */
  readonly binary?: boolean;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; the text otherwise, or the bytes that were asked for. */
  readonly body: unknown;
}

/** The connections to one cloud. Redirects are not followed: a token goes nowhere but where the catalog says. */
export interface Transport {
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Takes no more calls; resolves when those under way have ended. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export function createTransport(tls: CloudTls = {}, connections = 16): Transport {
  const agent = new Agent({
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000, ...tlsOptions(tls) },
  });
  return {
    async send({ method, url, headers, body = null, signal, binary = false }) {
      const data = body === null || typeof body === "string" || body instanceof Uint8Array ? body : Readable.from(body);
      const answer = await send(url, { method, headers: { ...headers }, signal, dispatcher: agent, body: data });
      if (binary && answer.statusCode < 400) {
        const bytes = new Uint8Array(await answer.body.arrayBuffer());
        return { status: answer.statusCode, headers: flatten(answer.headers), body: bytes };
      }
      const text = await answer.body.text();
      return { status: answer.statusCode, headers: flatten(answer.headers), body: parse(text) };
    },
    drain: () => agent.close(),
    close: () => agent.destroy(),
  };
}

function tlsOptions(tls: CloudTls): { ca?: string; cert?: string; key?: string; rejectUnauthorized?: boolean } {
  const ca = tls.ca ?? read(tls.caFile, "cacert");
  const cert = tls.certificate ?? read(tls.certificateFile, "cert");
  const key = tls.key ?? read(tls.keyFile, "key");
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.verify === false && { rejectUnauthorized: false }),
  };
}

function read(path: string | undefined, setting: string): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new CausewayError("CLOUD_CONFIG_INVALID", `The ${setting} file ${path} cannot be read: ${messageOf(cause)}`, {
      cause,
    });
  }
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
