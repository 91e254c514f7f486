import { parseBoundedJson } from "@causeway/foundation";

const VERSION = 1;
/** Classes beyond this are left out: what they share is deleted by a process that saw their last Ingress leave. */
const MOST = 500;
/** A name of Kubernetes is not longer. */
const LONGEST = 253;

/** Text of the names of classes whose Ingresses share a load balancer. */
export function encodeClasses(cluster: string, names: Iterable<string>): string {
  return JSON.stringify({ version: VERSION, cluster, names: [...names].sort().slice(0, MOST) });
}

/** The names of a text of this cluster and this version; none of one that is damaged. */
export function decodeClasses(cluster: string, text: string): string[] {
  const read = parsed(text);
  if (typeof read !== "object" || read === null) return [];
  const { version, cluster: whose, names } = read as Readonly<Record<string, unknown>>;
  if (version !== VERSION || whose !== cluster || !Array.isArray(names)) return [];
  return (names as readonly unknown[]).filter(isName).slice(0, MOST);
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST;
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, 2);
  } catch {
    return undefined;
  }
}
