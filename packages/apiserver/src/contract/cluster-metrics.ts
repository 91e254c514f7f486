import { createMetrics, type Metrics, type MetricLabels } from "@causeway/foundation";
import { accessFamilies, requestFamilies, workFamilies } from "./metric-families.ts";

/** What a request is counted under. */
export interface Route extends MetricLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
}

/** How a request ended. Seconds, bytes. */
export interface RequestEnd {
  readonly code: number;
  readonly dryRun: string;
  readonly seconds: number;
  /** Of `seconds`, what was spent in webhooks and queues. */
  readonly waited: number;
  readonly bytes: number;
}

/** A controller's queue, as it counts itself; `exported` is what the metrics' counters already contain. */
export interface WorkQueue {
  adds: number;
  retries: number;
  readonly depth: () => number;
  exported: { adds: number; retries: number };
}

/** One admission controller's check of one request. */
export interface Admitted {
  readonly name: string;
  /** CREATE, UPDATE, DELETE, CONNECT. */
  readonly operation: string;
  readonly type: "admit" | "validate";
  readonly rejected: boolean;
  readonly seconds: number;
}

const READS = new Set(["GET", "LIST"]);
const NAMED = new Set(["admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"]);

/**
 * What one logical cluster measures about itself: a registry of its own, so that the series of its /metrics have
 * kube-apiserver's labels and no others. Families are made when first needed: a cluster without requests costs nothing.
 */
export class ClusterMetrics {
  /** For parts that have metrics of their own. */
  readonly registry: Metrics = createMetrics();
  /** The queues of the server's own controllers, by name. */
  readonly queues = new Map<string, WorkQueue>();
  /** Of the process' CPU time, what process_cpu_seconds_total has been raised by. */
  cpuSecondsTold = 0;
  #requests: ReturnType<typeof requestFamilies> | undefined;
  #access: ReturnType<typeof accessFamilies> | undefined;
  #work: ReturnType<typeof workFamilies> | undefined;

  get requests(): ReturnType<typeof requestFamilies> {
    return (this.#requests ??= requestFamilies(this.registry));
  }

  get access(): ReturnType<typeof accessFamilies> {
    return (this.#access ??= accessFamilies(this.registry));
  }

  get work(): ReturnType<typeof workFamilies> {
    return (this.#work ??= workFamilies(this.registry));
  }

  requestEnded(route: Route, { code, dryRun, seconds, waited, bytes }: RequestEnd): void {
    const { requests } = this;
    const dry = { ...route, dry_run: dryRun };
    requests.duration.observe(seconds, dry);
    requests.requests.increment({ ...dry, code: String(code) });
    requests.sliDuration.observe(Math.max(0, seconds - waited), route);
    if (READS.has(route.verb)) requests.responseSizes.observe(bytes, route);
  }

  /** `kind` is the group, version and resource that is watched. */
  watchEvent(kind: { group: string; version: string; resource: string }, bytes: number): void {
    this.requests.watchEvents.increment(kind);
    this.requests.watchEventSizes.observe(bytes, kind);
  }

  authenticated(result: "success" | "failure" | "error", user: string, seconds: number): void {
    this.access.attempts.increment({ result });
    this.access.authentication.observe(seconds, { result });
    if (result === "success") this.access.users.increment({ username: shortened(user) });
  }

  authorized(isAllowed: boolean, seconds: number): void {
    const result = isAllowed ? "allowed" : "no-opinion";
    this.access.authorizations.increment({ result });
    this.access.authorization.observe(seconds, { result });
  }

  admitted({ name, operation, type, rejected, seconds }: Admitted): void {
    this.access.admission.observe(seconds, { name, operation, type, rejected: String(rejected) });
  }
}

/** Users are many and theirs to know: all but the few that kube-apiserver names count as others. */
function shortened(user: string): string {
  if (NAMED.has(user)) return user;
  return user.includes("@") ? "email_id" : "other";
}
