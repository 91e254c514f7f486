import { pythonRepr } from "../../kernel/python.ts";
import { htmlPage } from "../../kernel/html-page.ts";
import { isObject, type JsonObject } from "../../kernel/json.ts";

/** One change of one attribute. */
export interface PatchStep {
  readonly op: "add" | "remove" | "replace";
  readonly name: string;
  /** Undefined for "remove". */
  readonly value: unknown;
}

const operations = ["add", "remove", "replace"] as const;
const isOperation = (value: unknown): value is PatchStep["op"] => (operations as readonly unknown[]).includes(value);
const refused = (explanation: string): Error => htmlPage(400, { explanation });

/**
 * The steps of a patch: `{"op": "add", "path": "/a", "value": "b"}` in media type v2.1 (RFC 6902), `{"add": "/a",
 * "value": "b"}` in v2.0 (its draft 4). Throws Glance's 400 and 415.
 * https://docs.openstack.org/api-ref/image/v2/#update-image
 */
export function changesOf(mediaType: string, body: unknown): readonly PatchStep[] {
  const minor = /^application\/openstack-images-v2\.([01])-json-patch$/.exec(mediaType)?.[1];
  if (minor === undefined) {
    const explanation = `The request media type ${mediaType} is not supported by this server. `;
    throw htmlPage(415, { explanation });
  }
  if (!Array.isArray(body)) throw refused("Request body must be a JSON array of operation objects.");
  return (body as readonly unknown[]).map((step) => {
    if (!isObject(step)) throw refused("Operations must be JSON objects.");
    const { op, path } = minor === "1" ? named(step) : keyed(step);
    if (op !== "remove" && !("value" in step)) throw refused(`Operation "${op}" requires a member named "value".`);
    return { op, name: nameOf(path), value: step["value"] };
  });
}

interface Place {
  readonly op: PatchStep["op"];
  readonly path: unknown;
}

function named(step: JsonObject): Place {
  const { op, path } = step;
  const known = `It must be one of the following: ${operations.join(", ")}.`;
  if (op === undefined || op === null) throw refused(`Unable to find \`op\` in JSON Schema change. ${known}`);
  if (!isOperation(op)) throw refused(`Invalid operation: \`${pythonRepr(op).replaceAll("'", "")}\`. ${known}`);
  if (path === undefined) throw refused("Unable to find 'path' in JSON Schema change");
  return { op, path };
}

function keyed(step: JsonObject): Place {
  const [op, other] = operations.filter((name) => name in step);
  const members = 'member named "add", "remove", or "replace".';
  if (op === undefined) throw refused(`Operation objects must contain exactly one ${members}`);
  if (other !== undefined) throw refused(`Operation objects must contain only one ${members}`);
  return { op, path: step[op] };
}

/** The attribute that a JSON pointer names; only those of one level are accepted. */
function nameOf(path: unknown): string {
  const pointer = typeof path === "string" ? path : "";
  if (!pointer.startsWith("/")) throw refused(`Pointer \`${pointer}\` does not start with "/".`);
  const parts = pointer.slice(1).split("/");
  if (parts.length !== 1) throw refused(`Invalid JSON pointer for this resource: '${pointer}'`);
  return pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~");
}
