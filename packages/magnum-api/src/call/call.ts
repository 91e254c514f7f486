import type { HostedControlPlaneSpec, MagnumCluster } from "@causeway/api";
import type { Clock, Log } from "@causeway/foundation";
import type { ApplicationCredentialClient } from "@causeway/openstack";
import { allows, type Rules, type Target } from "../access/policy.ts";
import type { AuditTrail } from "../audit-event.ts";
import type { Caller } from "../access/caller.ts";
import type { CloudChecker } from "../access/cloud-checks.ts";
import type { KeystoneAddress } from "../cluster/desired.ts";
import type { LabelSupport } from "../cluster/labels.ts";
import type { Trustees } from "../access/trustees.ts";
import type { Store } from "../state/store.ts";
import { MagnumError } from "../wire/error.ts";

/** What every resource works with. */
export interface Api {
  readonly store: Store;
  readonly rules: Rules;
  readonly credentials: ApplicationCredentialClient;
  /** Users of clusters. Undefined: a cluster has a credential of the member who creates it. */
  readonly trustees?: Trustees | undefined;
  /** Roles that the credential of a cluster has of its creator's, who has one of them at least. */
  readonly credentialRoles: readonly string[];
  readonly keystone: KeystoneAddress;
  readonly cloud: CloudChecker;
  readonly region: string | undefined;
  readonly support: LabelSupport;
  /** Runtime of new control planes; undefined: it is not known here. */
  readonly runtime: HostedControlPlaneSpec["runtime"];
  /** Clusters of a project that has no quota of its own. */
  readonly defaultQuota: number;
  /** Templates of a project; 0: as many as it likes. */
  readonly maxTemplates: number;
  /** Nodes of all of a project's clusters; 0: as many as it likes. */
  readonly maxNodes: number;
  /** Version of clusters whose template names none. */
  readonly defaultVersion: string;
  readonly newId: () => string;
  readonly clusterTexts: {
    of(cluster: MagnumCluster, call: Pick<Call, "origin" | "minor">, isDetail: boolean): string;
  };
  /** Does work on one key after other work on it. */
  readonly inTurn: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** When this process was started, and the name of its host. */
  readonly started: number;
  readonly host: string;
  /** Undefined: nothing is audited. */
  readonly audit?: AuditTrail | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** One request to a resource. */
export interface Call {
  readonly method: string;
  readonly caller: Caller;
  /** The minor version. */
  readonly minor: number;
  /** Segments of the path that the route names. */
  readonly names: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined: the request has no body. */
  readonly body: unknown;
  /** "http://HOST:PORT", for links. */
  readonly origin: string;
  readonly signal: AbortSignal;
}

/** The response of a resource, before it has the headers of every response. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  /** The body as JSON text, in place of `body`. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a route does. A MagnumError that it throws becomes the response; other errors become 413, 503 or 500. */
export type Handler = (api: Api, call: Call) => Promise<Answer>;

/** Whether rule context_is_admin of the policy accepts the caller, who then sees every project. */
export function isAdmin({ rules }: Api, { caller }: Call): boolean {
  return allows(rules, "context_is_admin", caller, {});
}

/** @throws MagnumError 403 */
export function enforce({ rules }: Api, { caller }: Call, action: string, target?: Target): void {
  const judged = target ?? { project_id: caller.projectId, user_id: caller.userId };
  if (!allows(rules, action, caller, judged)) {
    throw new MagnumError(403, `Policy doesn't allow ${action} to be performed.`);
  }
}

/** The project whose resources the caller sees; undefined: those of all. @throws MagnumError 403 */
export function scopeOf(api: Api, call: Call, allProjects: string): string | undefined {
  if (!isAdmin(api, call)) return call.caller.projectId;
  enforce(api, call, allProjects);
  return undefined;
}

/** Links of a resource: "self" with the version, "bookmark" without it. */
export function linksOf({ origin }: Pick<Call, "origin">, path: string): readonly { href: string; rel: string }[] {
  return [
    { href: `${origin}/v1/${path}`, rel: "self" },
    { href: `${origin}/${path}`, rel: "bookmark" },
  ];
}

/** As Magnum writes instants. */
export function instant(time: string | undefined): string | null {
  return time === undefined ? null : time.replace(/(\.\d+)?Z$/, "+00:00");
}
