import { CausewayError } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import type { ServerProblem } from "../contract/server-problem.ts";
import { sendText } from "./respond.ts";
import type { Response } from "../contract/exchange.ts";
import { noSuchPath } from "../errors/status.ts";

/** What a health check reads. */
export interface HealthView {
  readonly cluster: Cluster;
  /** Aborts when the cluster is served no longer. */
  readonly closing: AbortSignal;
}

interface Check {
  readonly name: string;
  /** Throws when it is not well. */
  readonly probe: (view: HealthView) => void;
  /**
   * Its failure is reported, and the whole is well all the same: what one tenant does must not take the management
   * cluster out of service.
   */
  readonly isNote?: boolean;
  /** It is about the host: the operator gets the reason, and users of a tenant's cluster the code alone. */
  readonly isOfHost?: boolean;
}

const PLAIN = "text/plain; charset=utf-8";
const ENDPOINTS = ["healthz", "livez", "readyz"] as const;
type Endpoint = (typeof ENDPOINTS)[number];

const started = (name: string): Check => ({ name: `poststarthook/${name}`, probe: () => {} });

/** The store answers: a read that no cache can give. */
function checkStore({ cluster }: HealthView): void {
  cluster.store.list({ cluster: cluster.name, resource: "/namespaces", limit: 1 });
}

const FIRST: readonly Check[] = [
  { name: "ping", probe: () => {} },
  { name: "log", probe: () => {} },
  { name: "etcd", probe: checkStore, isOfHost: true },
];

/**
 * Parts of kube-apiserver that this server has as well. They start before its endpoint, so to be requested is to
 * have begun.
 */
const BEGUN: readonly Check[] = [
  started("priority-and-fairness-config-consumer"),
  started("priority-and-fairness-filter"),
  started("start-apiextensions-controllers"),
  started("crd-informer-synced"),
  started("start-system-namespaces-controller"),
  started("start-service-ip-repair-controllers"),
  started("rbac/bootstrap-roles"),
  started("priority-and-fairness-config-producer"),
  started("bootstrap-controller"),
  started("start-kubernetes-service-cidr-controller"),
];

/** What an operator has to see to. */
function problem(name: ServerProblem["check"], isNote = false): Check {
  const probe = ({ cluster }: HealthView): void => {
    const found = cluster.problems.all.find(({ check }) => check === name);
    if (found) throw new CausewayError(found.code, `${found.message} (${found.code})`);
  };
  return { name, probe, isNote, isOfHost: true };
}

const READY: readonly Check[] = [
  problem("disk"),
  problem("descriptors"),
  problem("workers", true),
  { name: "etcd-readiness", probe: checkStore, isOfHost: true },
  { name: "informer-sync", probe: () => {} },
];

const SHUTDOWN: Check = {
  name: "shutdown",
  probe({ closing }) {
    if (closing.aborted) throw new Error("process is shutting down");
  },
};

const CHECKS: Readonly<Record<Endpoint, readonly Check[]>> = {
  healthz: [...FIRST, ...BEGUN],
  livez: [...FIRST, ...BEGUN],
  readyz: [...FIRST, ...READY, ...BEGUN, SHUTDOWN],
};

/** All paths about health, for the list of paths at "/". */
export function healthPaths(): string[] {
  return ENDPOINTS.flatMap((e) => [`/${e}`, ...CHECKS[e].map((c) => `/${e}/${c.name}`)]);
}

/** /healthz, /livez, /readyz and each of their checks; undefined for other paths. */
export function healthEndpoint(path: string): Endpoint | undefined {
  const first = path.split("/")[1];
  return ENDPOINTS.find((e) => e === first);
}

/** Whether a path is a health endpoint itself ("/readyz") and not one of its checks ("/readyz/ping"). */
export function isHealthRoot(path: string): boolean {
  const endpoint = healthEndpoint(path);
  return endpoint !== undefined && path.length === endpoint.length + 1;
}

/**
 * Answers a health path: "ok" or 500. `?verbose` lists every check, `?exclude=NAME` leaves one out.
 * Throws 404 in plain text for a check that there is not.
 */
export function serveHealth(
  endpoint: Endpoint,
  { path, query, ...view }: HealthView & { path: string; query: URLSearchParams },
  response: Response,
): void {
  const checks = CHECKS[endpoint];
  const rest = path.slice(endpoint.length + 1);
  if (rest !== "") return serveOne(checks, rest.slice(1), { view, response });
  const { lines, failed } = evaluate(checks, view, new Set(query.getAll("exclude")));
  response.setHeader("x-content-type-options", "nosniff");
  if (failed) return sendText(response, 500, { type: PLAIN, body: `${lines}${endpoint} check failed\n` });
  const body = query.has("verbose") ? `${lines}${endpoint} check passed\n` : "ok";
  sendText(response, 200, { type: PLAIN, body });
}

function serveOne(
  checks: readonly Check[],
  name: string,
  { view, response }: { view: HealthView; response: Response },
): void {
  const check = checks.find((c) => c.name === name);
  if (!check) throw noSuchPath();
  const why = failureOf(check, view);
  if (why === undefined) return sendText(response, 200, { type: PLAIN, body: "ok" });
  sendText(response, 500, { type: PLAIN, body: `internal server error: ${why}\n` });
}

function evaluate(
  checks: readonly Check[],
  view: HealthView,
  excluded: Set<string>,
): { lines: string; failed: boolean } {
  let lines = "";
  let failed = false;
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines += `[+]${check.name} excluded: ok\n`;
      continue;
    }
    const isWell = failureOf(check, view) === undefined;
    lines += isWell ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`;
    failed ||= !isWell && !check.isNote;
  }
  const unknown = [...excluded].toSorted().map((name) => JSON.stringify(name));
  if (unknown.length > 0) {
    lines += `warn: some health checks cannot be excluded: no matches for ${unknown.join(",")}\n`;
  }
  return { lines, failed };
}

function failureOf({ probe, isOfHost = false }: Check, view: HealthView): string | undefined {
  try {
    probe(view);
    return undefined;
  } catch (error) {
    if (isOfHost && view.cluster.name !== "")
      return error instanceof CausewayError ? `reason withheld (${error.code})` : "reason withheld";
    return error instanceof Error ? error.message : String(error);
  }
}
