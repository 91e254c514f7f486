import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { gunzipSync } from "node:zlib";
import { messageOf } from "@causeway/foundation";
import { MAXIMUM_BODY } from "../bounds.ts";
import { readProtobuf } from "../wire/protobuf.ts";
import type { Tables } from "../wire/tables.ts";
import { missingBody, parsedJson, parsedYaml, type Purpose } from "./parse.ts";
import { apiError, badRequest } from "../errors/status.ts";

/**
 * Reads a request body and parses it as its Content-Type says: JSON, YAML or, for built-in kinds, protobuf. undefined
 * when there is none. Throws 400, 413, 415.
 */
export async function readBody(
  request: IncomingMessage | Http2ServerRequest,
  { tables, kind, charge }: BodyContext,
): Promise<unknown> {
  const purpose = { method: request.method ?? "", kind };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAXIMUM_BODY) throw tooLarge();
    chunks.push(chunk);
  }
  if (size === 0) {
    if (kind === undefined || request.method === "DELETE") return undefined;
    throw missingBody(purpose);
  }
  return charge(() => {
    const raw = Buffer.concat(chunks);
    const bytes = request.headers["content-encoding"] === "gzip" ? unzipped(raw) : raw;
    const type = mediaType(request.headers["content-type"]);
    if (type === "application/vnd.kubernetes.protobuf") return parsedProtobuf(bytes, tables);
    return parsed(bytes.toString("utf8"), type, purpose);
  });
}

interface BodyContext {
  readonly tables: Tables;
  /** The kind that is written, when it is known. */
  readonly kind: string | undefined;
  /** Has the work done on the account of the request's cluster. */
  readonly charge: <T>(work: () => T) => T;
}

function tooLarge(): Error {
  return apiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAXIMUM_BODY}`);
}

function unzipped(raw: Buffer): Buffer {
  try {
    return gunzipSync(raw, { maxOutputLength: MAXIMUM_BODY });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw badRequest(`the gzip body cannot be read: ${messageOf(error)}`);
  }
}

/** "application/json" of "Application/JSON; charset=utf-8". */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function parsed(body: string, type: string, purpose: Purpose): unknown {
  if (type === "application/yaml" || type === "application/apply-patch+yaml") return parsedYaml(body, purpose);
  if (type === "" || type === "*/*" || type.endsWith("json")) return parsedJson(body, purpose);
  const accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  throw apiError(415, "UnsupportedMediaType", message);
}

function parsedProtobuf(bytes: Buffer, tables: Tables): unknown {
  try {
    return readProtobuf(tables, bytes);
  } catch (error) {
    throw badRequest(`the protobuf body cannot be read: ${messageOf(error)}`);
  }
}
