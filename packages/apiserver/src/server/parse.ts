import { CausewayError, messageOf } from "@causeway/foundation";
import { excessOf } from "../bounds.ts";
import { duplicateFields, duplicateKeys, rememberDuplicates } from "../json/duplicates.ts";
import { jsonProblem } from "../json/go-json.ts";
import { readYaml } from "./parse-yaml.ts";
import { apiError, badRequest } from "../errors/status.ts";
import { mayHaveSurrogates, wellFormed } from "./surrogates.ts";

/** The purpose of a body, which the error about it names. */
export interface Purpose {
  readonly method: string;
  /** The kind that is written, when it is known. */
  readonly kind: string | undefined;
}

/** Parses JSON. Throws 400, or what kube-apiserver answers where a body cannot be read. */
export function parsedJson(text: string, purpose: Purpose): unknown {
  const excess = excessOf(text);
  if (excess !== "")
    throw unreadable(text, `json parse error: invalid character '${excess}' exceeded max depth`, purpose);
  try {
    const value = readJson(text);
    rememberDuplicates(value, duplicateFields(text, value));
    return value;
  } catch (error) {
    throw unreadable(text, `json parse error: ${jsonProblem(text) ?? messageOf(error)}`, purpose);
  }
}

/** The refusal of a write without a body. */
export function missingBody(purpose: Purpose): Error {
  return unreadable("", "json parse error: unexpected end of JSON input", purpose);
}

function unreadable(text: string, why: string, { method, kind }: Purpose): Error {
  if (method === "PATCH") return badRequest(`error decoding patch: ${why.replace("json parse error: ", "")}`);
  if (method === "DELETE") return apiError(500, "", `couldn't get version/kind; ${why}`);
  const reason = `couldn't get version/kind; ${why}`;
  if (kind === undefined) return badRequest(reason);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${reason} (${summary(text)})`);
}

const SHOWN = 30;

/** The beginning of a body: as text when it may be JSON, else in hexadecimal digits. */
function summary(text: string): string {
  if (text === "") return "<empty>";
  const bytes = Buffer.from(text);
  const more = bytes.length > SHOWN ? " ..." : "";
  const head = bytes.subarray(0, SHOWN);
  return `${text.startsWith("{") ? head.toString() : head.toString("hex")}${more}`;
}

/** Parses YAML, of which JSON is a part; a key given twice is remembered, and the last one counts. */
export function parsedYaml(text: string, purpose: Purpose): unknown {
  const json = text.trimStart().startsWith("{") ? jsonOf(text) : undefined;
  if (json !== undefined) {
    rememberDuplicates(json, duplicateKeys(text, json));
    return json;
  }
  try {
    const { value, duplicates } = readYaml(text);
    rememberDuplicates(value, duplicates);
    return value;
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    const why = messageOf(error);
    if (purpose.kind === undefined || purpose.method === "PATCH")
      throw badRequest(`error converting YAML to JSON: ${why}`);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${purpose.kind}): ${why} (${summary(text)})`,
    );
  }
}

/** The value of a text that is JSON; undefined for other texts. Flow-style YAML may start with a brace too. */
function jsonOf(text: string): unknown {
  if (excessOf(text) !== "") return undefined;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function readJson(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  return mayHaveSurrogates(text) ? wellFormed(value) : value;
}
