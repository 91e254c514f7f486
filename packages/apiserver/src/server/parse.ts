import { messageOf } from "@causeway/foundation";
import { yaml } from "../later.ts";
import { duplicateFields, rememberDuplicates } from "./duplicates.ts";
import { jsonProblem } from "./go-json.ts";
import { apiError, badRequest } from "./status.ts";

/** What a body is for, which is what a refusal of it tells. */
export interface Purpose {
  readonly method: string;
  /** The kind that is written, when it is known. */
  readonly kind: string | undefined;
}

/** Parses JSON. Throws 400, or what kube-apiserver answers where a body cannot be read. */
export function parsedJson(text: string, purpose: Purpose): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    rememberDuplicates(value, duplicateFields(text, value));
    return value;
  } catch (error) {
    throw unreadable(text, `json parse error: ${jsonProblem(text) ?? messageOf(error)}`, purpose);
  }
}

/** The refusal of a write without a body. */
export function noBody(purpose: Purpose): Error {
  return unreadable("", "json parse error: unexpected end of JSON input", purpose);
}

function unreadable(text: string, why: string, { method, kind }: Purpose): Error {
  if (method === "PATCH") return badRequest(`error decoding patch: ${why.replace("json parse error: ", "")}`);
  if (method === "DELETE") return apiError(500, "", `couldn't get version/kind; ${why}`);
  const told = `couldn't get version/kind; ${why}`;
  if (kind === undefined) return badRequest(told);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${told} (${summary(text)})`);
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

const YAML = { version: "1.1", merge: false } as const;

/** Parses YAML, of which JSON is a part; a key given twice is remembered, and the last one counts. */
export function parsedYaml(text: string, purpose: Purpose): unknown {
  if (text.trimStart().startsWith("{")) {
    try {
      const value = JSON.parse(text) as unknown;
      return duplicateFields(text, value).length > 0 ? withDuplicates(text) : value;
    } catch {
      // Flow-style YAML may start with a brace too.
    }
  }
  try {
    return yaml().parse(text, YAML) as unknown;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "DUPLICATE_KEY") return withDuplicates(text);
    const why = `error converting YAML to JSON: ${messageOf(error)}`;
    if (purpose.kind === undefined || purpose.method === "PATCH") throw badRequest(why);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${purpose.kind}): ${why} (${summary(text)})`,
    );
  }
}

function withDuplicates(text: string): unknown {
  const { isMap, isScalar, LineCounter, parseDocument, visit } = yaml();
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { ...YAML, uniqueKeys: false, lineCounter });
  const found: string[] = [];
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const { line } = lineCounter.linePos(key.range?.[0] ?? 0);
        if (seen.has(key.value)) found.push(`line ${line}: key ${JSON.stringify(key.value)} already set in map`);
        seen.add(key.value);
      }
    },
  });
  const value = document.toJS() as unknown;
  if (isMap(document.contents)) rememberDuplicates(value, found);
  return value;
}
