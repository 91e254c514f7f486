import { gzip } from "node:zlib";
import type { Status } from "@causeway/kubernetes";
import { chosenForm } from "./negotiate.ts";
import { writeYaml } from "./write-yaml.ts";
import { isOver } from "./pace.ts";
import { tooManyRequests } from "../errors/status.ts";
import type { Response } from "../contract/exchange.ts";

/** What the Accept headers of a request come down to. */
export interface Wanted {
  readonly yaml: boolean;
  readonly gzip: boolean;
  /** The client takes meta.k8s.io/v1 Tables. */
  readonly table: boolean;
  /** The client takes PartialObjectMetadata (lists). */
  readonly metadataOnly: boolean;
  /** Kubernetes' protobuf, which built-in kinds have. */
  readonly protobuf: boolean;
  /** For people: JSON on many lines. */
  readonly pretty: boolean;
  readonly accept: string;
}

const GZIP_FROM = 128 * 1024;
/** What is shorter goes into the socket's buffers, and is not counted. */
const COUNTED = 64 * 1024;
/** Milliseconds within which a client has to read it: kube-apiserver gives a request no longer either. */
const READ_WITHIN = 60_000;

/**
 * Reads the Accept and Accept-Encoding headers: the form that weighs most of those this server has, JSON when it has
 * none.
 */
export function wantedForm(accept: string, encoding: string, pretty = false): Wanted {
  const chosen = chosenForm(accept);
  const as = chosen?.as ?? "";
  return {
    yaml: chosen?.yaml ?? false,
    protobuf: chosen?.protobuf ?? false,
    gzip: encoding.includes("gzip"),
    table: as === "Table",
    metadataOnly: as.startsWith("PartialObjectMetadata"),
    pretty,
    accept,
  };
}

/** Ends a response with a body as JSON (or YAML, compressed when large and requested). */
export function send(response: Response, code: number, body: unknown, wanted?: Wanted): void {
  if (response.charge) return response.charge(() => sendEncoded(response, code, body, wanted));
  sendEncoded(response, code, body, wanted);
}

function sendEncoded(response: Response, code: number, body: unknown, wanted: Wanted | undefined): void {
  if (wanted?.yaml && typeof body !== "string") response.yamlOf = body;
  const encoded = typeof body === "string" ? body : wanted?.yaml ? writeYaml(body) : jsonText(body, wanted);
  const type = wanted?.yaml ? "application/yaml" : "application/json";
  sendText(response, code, { type, body: encoded, gzip: wanted?.gzip ?? false });
}

function jsonText(body: unknown, wanted: Wanted | undefined): string {
  return wanted?.pretty ? JSON.stringify(body, null, 2) : `${JSON.stringify(body)}\n`;
}

interface Sent {
  readonly type: string;
  readonly body: string | Buffer;
  readonly gzip?: boolean;
  /** Cache-Control. */
  readonly cache?: string;
}

/** Sends a complete response, unless one has begun. Throws 429 if too many bytes are in flight for slow readers. */
export function sendText(
  response: Response,
  code: number,
  { type, body, gzip: compress = false, cache = "no-cache, private" }: Sent,
): void {
  if (response.headersSent || isOver(response)) return;
  if (body.length >= COUNTED && response.inFlight) {
    const release = response.inFlight(body.length);
    if (!release) throw tooManyRequests();
    const timer = setTimeout(() => response.destroy(new Error("the client does not read")), READ_WITHIN).unref();
    response.once("close", () => {
      clearTimeout(timer);
      release();
    });
  }
  response.statusCode = code;
  response.bytesSent = body.length;
  response.setHeader("content-type", type);
  response.setHeader("cache-control", cache);
  if (!compress || body.length < GZIP_FROM) {
    // A long text is turned into bytes at once: written as text, it would be by the stream, piece by piece.
    response.end(body.length < GZIP_FROM ? body : Buffer.from(body));
    return;
  }
  gzip(body, { level: 1 }, (error, compressed) => {
    if (isOver(response)) return;
    if (!error) response.setHeader("content-encoding", "gzip");
    response.setHeader("vary", "Accept-Encoding");
    response.end(error ? body : compressed);
  });
}

/** Ends a response with a Status; retry hints become a Retry-After header. */
export function sendStatus(response: Response, status: Status & { code: number }): void {
  const retry = status.details?.retryAfterSeconds;
  if (retry !== undefined && !response.headersSent) response.setHeader("retry-after", String(retry));
  // What is left of a body that was too large is not read.
  if (status.code === 413 && !("stream" in response)) response.setHeader("connection", "close");
  send(response, status.code, { metadata: {}, ...status });
}
