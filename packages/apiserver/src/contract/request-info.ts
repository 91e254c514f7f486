/** What a request is about, read from its method and path alone (as kube-apiserver's RequestInfo). */
export interface RequestInfo {
  readonly isResource: boolean;
  readonly path: string;
  /** Kubernetes' verb for resources; the lower-case method for other paths. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  readonly rest: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const NAMESPACE_PARTS = new Set(["status", "finalize"]);

/**
 * Reads a request. `path` is below the logical cluster, and decoded; a path that names no resource gives isResource
 * false.
 */
export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const none = { group: "", version: "", namespace: "", plural: "", name: "", subresource: "", rest: [] };
  const plain = { ...none, isResource: false, path, verb: method.toLowerCase() };
  const parts = path.split("/").filter(Boolean);
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return plain;
  const group = core ? "" : (parts[1] ?? "");
  const version = (core ? parts[1] : parts[2]) ?? "";
  const { isWatch, rest: named } = watched(method, parts.slice(core ? 2 : 3));
  let below = named;
  if (below.length === 0) return plain;
  let namespace = "";
  if (below[0] === "namespaces" && below[1] !== undefined) {
    namespace = below[1];
    if (below.length > 2 && !NAMESPACE_PARTS.has(below[2] ?? "")) below = below.slice(2);
  }
  const [plural = "", name = "", subresource = "", ...rest] = below;
  const verb = isWatch ? "watch" : verbOf(method, name, query);
  if (core && plural === "namespaces") namespace = name;
  return { isResource: true, path, verb, group, version, namespace, plural, name, subresource, rest };
}

/** The deprecated path of a watch: "watch" before what is watched. */
function watched(method: string, below: string[]): { isWatch: boolean; rest: string[] } {
  const isWatch = method === "GET" && below[0] === "watch" && below.length > 1;
  return { isWatch, rest: isWatch ? below.slice(1) : below };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  const verb = VERBS[method] ?? "";
  if (verb === "get" && name === "") return isTrue(query.get("watch")) ? "watch" : "list";
  if (verb === "get" && isTrue(query.get("watch"))) return "watch";
  return verb === "delete" && name === "" ? "deletecollection" : verb;
}

/** How query parameters say yes. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== "false" && value !== "0";
}
