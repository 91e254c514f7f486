import { gunzipSync } from "node:zlib";
import { isRecord, type Json } from "../json/json.ts";
import { readYaml } from "../server/parse-yaml.ts";
import type { Response } from "../contract/exchange.ts";

interface Outcome {
  readonly code: number;
  /** What a Status says, without its type. */
  readonly status: Json;
  /** JSON, when bodies are kept and this was one. */
  readonly body: string | undefined;
}

interface ResponseWatcher {
  readonly keepBody: boolean;
  /** The answer has begun. Called once, with what a Status says. */
  started(code: number, status: Json): void;
  /** All of it was handed over, or the client went. Called once, after `started`. */
  ended(outcome: Outcome): void;
}

/** Reports when a response begins and ends, and its content, whichever code sends it. */
export function watchResponse(response: Response, watching: ResponseWatcher): void {
  let begun = false;
  let over = false;
  const begin = (status: Json = {}): void => {
    if (begun) return;
    begun = true;
    watching.started(response.statusCode, status);
  };
  const finish = (last: unknown): void => {
    if (over) return;
    over = true;
    const code = response.statusCode;
    const content = code >= 400 || watching.keepBody || isStatus(last) ? bodyOf(response, last) : undefined;
    const status = statusIn(content);
    begin(status);
    watching.ended({ code, status, body: watching.keepBody ? content : undefined });
  };
  before(response, "write", () => begin());
  before(response, "end", finish);
  if ("flushHeaders" in response) before(response, "flushHeaders", () => begin());
  else before(response.stream, "respond", () => begin());
  response.once("close", () => {
    if (over) return;
    over = true;
    const status = begun ? {} : { status: "Success", message: "Connection closed early" };
    begin(status);
    watching.ended({ code: response.statusCode, status, body: undefined });
  });
}

/** Does something first whenever a method is called; it hears the first argument. */
function before(target: object, method: string, act: (first: unknown) => void): void {
  const original: unknown = Reflect.get(target, method);
  if (typeof original !== "function") return;
  Reflect.set(target, method, (...given: unknown[]): unknown => {
    act(given[0]);
    return Reflect.apply(original, target, given);
  });
}

/** The body as JSON text: all answers but watches are sent in one piece. */
function bodyOf(response: Response, last: unknown): string | undefined {
  const type = String(response.getHeader("content-type") ?? "");
  const isText = typeof last === "string" || last instanceof Uint8Array;
  // What was written as YAML is known, and need not be read again.
  if (isText && response.yamlOf !== undefined) return JSON.stringify(response.yamlOf);
  if (!isText || !/^application\/(json|yaml)/.test(type)) return undefined;
  const zipped = response.getHeader("content-encoding") === "gzip" && typeof last !== "string";
  const body = typeof last === "string" ? last : (zipped ? gunzipSync(last) : Buffer.from(last)).toString();
  return type.startsWith("application/yaml") ? jsonOf(body) : body.trimEnd();
}

/** A short list in YAML; one that is longer than a body in YAML may be is not kept. */
function jsonOf(body: string): string | undefined {
  try {
    return JSON.stringify(readYaml(body).value);
  } catch {
    return undefined;
  }
}

function isStatus(last: unknown): boolean {
  return typeof last === "string" && last.slice(0, 64).includes('"kind":"Status"');
}

function statusIn(body: string | undefined): Json {
  if (body === undefined || !body.slice(0, 64).includes('"kind":"Status"')) return {};
  const parsed: unknown = JSON.parse(body);
  if (!isRecord(parsed)) return {};
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...status } = parsed;
  return status;
}
