import { record, type Json } from "../json/json.ts";
import type { Call } from "../contract/call.ts";
import { dependentsProblems } from "../registry/delete.ts";
import type { Response } from "../contract/exchange.ts";
import { notSupported } from "../errors/problems.ts";
import { invalid, invalidOptions, type FieldProblem } from "../errors/status.ts";
import type { ResourceRequest } from "./resource-request.ts";
import { Warnings } from "./warnings.ts";

/** What a request on a resource asks for, with its options checked. Throws 400 and 422 for options that are none. */
export function callOf(request: ResourceRequest, response: Response): Call {
  const { cluster, info, served, user, query, holder } = request;
  const warnings = new Warnings();
  return {
    cluster,
    ...served,
    namespace: served.resource.namespaced ? info.namespace : "",
    name: info.name,
    subresource: info.subresource,
    user,
    holder,
    dryRun: dryRun(request),
    emptyMaps: new Set(),
    ...(served.resource.forms?.local === false ? { otherForms: { waits: false, known: new Map() } } : {}),
    fieldManager: checkedManager(request) || (request.userAgent.split("/")[0] ?? "") || "unknown",
    fieldValidation: fieldValidation(query.get("fieldValidation"), request),
    options: () => admissionOptions(request),
    warn: (message) => {
      if (warnings.add(message) && !response.headersSent) response.setHeader("warning", warnings.headers.slice());
    },
    annotate: request.annotate,
  };
}

/** What the options of a write say, as admission receives them. */
function admissionOptions({ info, body, query }: ResourceRequest): Json {
  const isDelete = info.verb.startsWith("delete");
  const named = isDelete ? ["propagationPolicy"] : ["fieldManager", "fieldValidation"];
  const given = named.flatMap((name): [string, string][] => (query.get(name) ? [[name, query.get(name) ?? ""]] : []));
  const dryRun = query.getAll("dryRun");
  return {
    ...(dryRun.length > 0 ? { dryRun } : {}),
    ...Object.fromEntries(given),
    ...(isDelete ? record(body) : {}),
  };
}

/** The options that a request of this verb carries, as messages name them. */
function optionsOf({ info }: ResourceRequest): string {
  const kinds: Readonly<Record<string, string>> = {
    create: "CreateOptions",
    update: "UpdateOptions",
    patch: "PatchOptions",
  };
  return kinds[info.verb] ?? "DeleteOptions";
}

function dryRun(request: ResourceRequest): boolean {
  const { query, body, info } = request;
  const asked = query.getAll("dryRun");
  // The body of a deletion is its options, whether it says so or not, as kubectl's does not.
  const inBody = info.verb.startsWith("delete") ? record(body)["dryRun"] : undefined;
  if (Array.isArray(inBody)) asked.push(...(inBody as string[]));
  if (asked.some((d) => d !== "All")) {
    const isDeletion = request.info.verb.startsWith("delete");
    const also = isDeletion ? undefined : validationProblem(query.get("fieldValidation"));
    const more = isDeletion ? dependentsProblems(body, query) : also ? [also] : [];
    const wrong = notSupported("dryRun", asked, ["All"]);
    const problems = isDeletion ? [...more, wrong] : [wrong, ...more];
    throw invalid({ group: "meta.k8s.io", kind: optionsOf(request) }, "", problems);
  }
  return asked.length > 0;
}

function fieldValidation(given: string | null, request: ResourceRequest): Call["fieldValidation"] {
  if (!given) return "Warn";
  const problem = validationProblem(given);
  if (problem) throw invalidOptions(optionsOf(request), problem);
  return given as Call["fieldValidation"];
}

function validationProblem(given: string | null): FieldProblem | undefined {
  const known = ["", "Ignore", "Strict", "Warn"];
  return known.includes(given ?? "") ? undefined : notSupported("fieldValidation", given, known);
}

const MANAGER_LIMIT = 128;

/** The manager's name for managedFields. Throws 422. */
function checkedManager(request: ResourceRequest): string {
  const name = request.query.get("fieldManager") ?? "";
  if (name.length > MANAGER_LIMIT) {
    const message = `Too long: may not be more than ${MANAGER_LIMIT} bytes`;
    throw invalidOptions(optionsOf(request), { field: "fieldManager", message, reason: "FieldValueTooLong" });
  }
  const at = name.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u);
  if (at < 0) return name;
  const code = name.codePointAt(at) ?? 0;
  const shown = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const why = `invalid character ${shown} (at position ${at})`;
  const value = JSON.stringify(name).replaceAll(/\\u00([0-9a-f]{2})/g, "\\x$1");
  const message = `Invalid value: ${value}: ${why}`;
  throw invalidOptions(optionsOf(request), { field: "fieldManager", message, reason: "FieldValueInvalid" });
}
