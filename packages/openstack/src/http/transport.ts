import { Readable } from "node:stream";
import { Agent } from "undici";
import { LimitExceeded, parseBoundedJson, readBeginning, readBounded } from "@causeway/foundation";
import type { CloudTls } from "../config/config.ts";
import { tlsOptions } from "./tls-options.ts";

/** What a request sends; a stream can be sent once only, so repeated calls make a new one (`Content`). */
export type BodyData = string | Uint8Array | AsyncIterable<Uint8Array>;

/** A request as it is sent, with the token among its headers. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyData | undefined;
  /** A successful response's body is returned as bytes. */
  readonly binary?: boolean;
  /** Maximum size of a successful response in bytes. Default 64 MiB. */
  readonly limit?: number | undefined;
  readonly signal: AbortSignal;
}

/** A response of any status; header names are in lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; the text otherwise, or the bytes that were requested. */
  readonly body: unknown;
  /** How many bytes the body had. */
  readonly size: number;
}

const LARGEST_ANSWER = 64 * 1024 * 1024;
/** Bytes that a token, its catalog, or a version document may have. */
export const SMALL_ANSWER = 1024 * 1024;
/** Of an error's body, the rest is not read: it is only shown. */
const LARGEST_ERROR = 256 * 1024;
/** No response of an OpenStack service comes near it. */
const DEEPEST = 1000;

/**
 * The connections to one cloud. A response that is too large or too deep throws LimitExceeded. Redirects are not
 * followed: a token is sent only to the addresses of the catalog.
 */
export interface Transport {
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Takes no more calls; resolves when those under way have ended. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens no connection before the first request. Throws CLOUD_CONFIG_INVALID for a certificate file that cannot be read.
 */
export function createTransport(tls: CloudTls = {}, connections = 16): Transport {
  const agent = new Agent({
    connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000, ...tlsOptions(tls) },
  });
  return {
    async send({ method, url, headers, body = null, signal, binary = false, limit = LARGEST_ANSWER }) {
      const data = body === null || typeof body === "string" || body instanceof Uint8Array ? body : Readable.from(body);
      const { origin, pathname, search } = new URL(url);
      const path = `${pathname}${search}`;
      const answer = await agent.request({ origin, path, method, headers: { ...headers }, signal, body: data });
      const head = { status: answer.statusCode, headers: flatten(answer.headers) };
      const isError = answer.statusCode >= 400;
      const bytes = isError ? await readBeginning(answer.body, LARGEST_ERROR) : await readBounded(answer.body, limit);
      const isBinary = binary && !isError;
      return { ...head, size: bytes.length, body: isBinary ? new Uint8Array(bytes) : parse(bytes.toString("utf8")) };
    },
    drain: () => agent.close(),
    close: () => agent.destroy(),
  };
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
    return parseBoundedJson(text, DEEPEST);
  } catch (error) {
    if (error instanceof LimitExceeded) throw error;
    return text;
  }
}
