import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { gunzipSync } from "node:zlib";
import { parse } from "yaml";
import { messageOf } from "@causeway/foundation";
import { readProtobuf } from "../wire/protobuf.ts";
import type { Tables } from "../wire/tables.ts";
import { apiError, badRequest } from "./status.ts";

const LIMIT = 3 * 1024 * 1024;

/** Reads a request body and parses it as its Content-Type says: JSON, YAML or, for built-in kinds, protobuf. undefined when there is none. Throws 400, 413, 415. */
export async function readBody(request: IncomingMessage | Http2ServerRequest, tables: Tables): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMIT) {
      throw apiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT}`);
    }
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  const raw = Buffer.concat(chunks);
  const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw, { maxOutputLength: LIMIT }) : raw;
  const type = mediaType(request.headers["content-type"]);
  if (type === "application/vnd.kubernetes.protobuf") return parsedProtobuf(bytes, tables);
  return parsed(bytes.toString("utf8"), type);
}

/** "application/json" of "Application/JSON; charset=utf-8". */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function parsed(body: string, type: string): unknown {
  if (type === "application/yaml" || type === "application/apply-patch+yaml") return parsedYaml(body);
  if (type === "" || type === "*/*" || type.endsWith("json")) return parsedJson(body);
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

function parsedJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${messageOf(error)}`);
  }
}

function parsedYaml(body: string): unknown {
  if (body.trimStart().startsWith("{")) {
    try {
      return JSON.parse(body) as unknown;
    } catch {
      // Flow-style YAML may start with a brace too.
    }
  }
  try {
    return parse(body, { version: "1.1", merge: false }) as unknown;
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${messageOf(error)}`);
  }
}
