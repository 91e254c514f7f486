import type { KeyPair, Log } from "@causeway/foundation";
import type { AdmissionRules } from "@causeway/kubernetes";

import type { Aggregation } from "./aggregation.ts";
import type { Admission } from "./admission.ts";
import type { WebhookClient } from "./webhooks.ts";
import type { Conversions } from "./converter.ts";
import type { AccountKeys } from "./identity.ts";
import type { Tokens } from "./identity.ts";
import type { ClientAuthorities } from "./identity.ts";
import type { ThreadTime } from "./thread-time.ts";
import type { Catalog } from "./catalog.ts";
import type { Kubelets } from "./kubelets.ts";
import type { ClusterMetrics } from "./cluster-metrics.ts";
import type { WatchLineCache } from "./watch-line-cache.ts";
import type { ServerProblem } from "./server-problem.ts";
import type { Quota } from "./quota.ts";
import type { ClusterView } from "./resource.ts";
import type { Changes } from "./changes.ts";

/** A logical cluster as the server's own parts see it. */
export interface Cluster extends ClusterView {
  readonly catalog: Catalog;
  readonly log: Log;
  /** Who may change or refuse writes. */
  readonly admission: Admission;
  /** Rules of this process for its custom kinds. */
  readonly rules: readonly AdmissionRules[];
  /** Calls its admission and conversion webhooks. */
  readonly webhooks: WebhookClient;
  /** Groups that other API servers serve. */
  readonly aggregation: Aggregation;
  readonly metrics: ClusterMetrics;
  /** Absent when no network of nodes may be dialled. */
  readonly kubelets?: Kubelets;
  /** What it may hold; absent when there are no limits. */
  readonly quota?: Quota;
  /** How objects of custom kinds are converted, next to what their CRDs say. */
  readonly conversions: Conversions;
  /** Signs certificates of clients. */
  readonly authority: KeyPair;
  /** Signs what others verify, such as the serving certificate. Differs from `authority` while roots are rotated. */
  readonly servingRoot: KeyPair;
  /** PEM: every authority that is trusted, `authority` first. */
  readonly trustedRoots: string;
  readonly clientAuthorities: ClientAuthorities;
  /** PEM private key that signs service-account tokens. */
  readonly serviceAccountKey: string;
  readonly accountKeys: AccountKeys;
  readonly tokens: Tokens;
  readonly issuer: string;
  readonly podCidr: string | undefined;
  readonly dnsDomain: string;
  /** "v1.34.0" */
  readonly version: string;
  /** https://host:port[/clusters/NAME]: what kubeconfigs made by the server point at. */
  url(): string;
  /** The certificate (PEM) of the authority behind the endpoint at `url`. */
  servingAuthority(): string;
  readonly changes: Changes;
  /** Measures what the cluster uses of the thread; shared by all clusters. */
  readonly thread: ThreadTime;
  /** What keeps the server from working that an operator has to see to. */
  readonly problems: { readonly all: readonly ServerProblem[] };
  /** The encoded lines that its watches send. */
  readonly lines: WatchLineCache;
}
