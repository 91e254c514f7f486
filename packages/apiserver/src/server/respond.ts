import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import { gzip } from "node:zlib";
import { stringify } from "yaml";
import type { Status } from "@causeway/kubernetes";

/** `bytesSent` is the length of the body, for metrics. */
export type Response = (ServerResponse | Http2ServerResponse) & { bytesSent?: number };

/** What the Accept headers of a request come down to. */
export interface Wanted {
  readonly yaml: boolean;
  readonly gzip: boolean;
  /** The client takes meta.k8s.io/v1 Tables. */
  readonly table: boolean;
  /** The client takes PartialObjectMetadata (lists). */
  readonly metadataOnly: boolean;
  readonly accept: string;
}

const GZIP_FROM = 128 * 1024;

/** Reads the Accept and Accept-Encoding headers; the first form this server has wins. */
export function wantedForm(accept: string, encoding: string): Wanted {
  const forms = accept.split(",").map((form) => form.trim().toLowerCase().replaceAll(" ", ""));
  const form = forms.find((f) => /^(application\/(json|yaml|\*)|\*\/\*)/.test(f)) ?? "";
  const as = /;as=([a-z]+)/.exec(form)?.[1];
  return {
    yaml: form.startsWith("application/yaml"),
    gzip: encoding.includes("gzip"),
    table: as === "table",
    metadataOnly: as === "partialobjectmetadata" || as === "partialobjectmetadatalist",
    accept,
  };
}

/** Whether any form that a client takes can be had: JSON or YAML, and JSON in the place of protobuf. */
export function isAcceptable(accept: string): boolean {
  return accept.trim() === "" || /(^|,)\s*(application|\*)\//i.test(accept);
}

/** Ends a response with a body as JSON (or YAML, compressed when large and asked for). */
export function send(response: Response, code: number, body: unknown, wanted?: Wanted): void {
  const encoded = typeof body === "string" ? body : wanted?.yaml ? stringify(body) : `${JSON.stringify(body)}\n`;
  const type = wanted?.yaml ? "application/yaml" : "application/json";
  sendText(response, code, { type, body: encoded, gzip: wanted?.gzip ?? false });
}

interface Sent {
  readonly type: string;
  readonly body: string | Buffer;
  readonly gzip?: boolean;
  /** Cache-Control. */
  readonly cache?: string;
}

export function sendText(
  response: Response,
  code: number,
  { type, body, gzip: compress = false, cache = "no-cache, private" }: Sent,
): void {
  if (response.headersSent || response.destroyed) return;
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
    if (response.destroyed) return;
    if (!error) response.setHeader("content-encoding", "gzip");
    response.setHeader("vary", "Accept-Encoding");
    response.end(error ? body : compressed);
  });
}

/** Ends a response with a Status; retry hints become a Retry-After header. */
export function sendStatus(response: Response, status: Status & { code: number }): void {
  const retry = status.details?.retryAfterSeconds;
  if (retry !== undefined && !response.headersSent) response.setHeader("retry-after", String(retry));
  send(response, status.code, { metadata: {}, ...status });
}

/** A Warning header as RFC 7234 and Kubernetes write it. */
export function warningHeader(message: string): string {
  return `299 - "${message
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]+/g, " ")}"`;
}
