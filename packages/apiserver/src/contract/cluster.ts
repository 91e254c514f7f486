import type { KeyPair, Log } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { Admission } from "./admission.ts";
import type { WebhookClient } from "../webhooks/interface.ts";
import type { Conversions } from "../definitions/resource.ts";
import type { AccountKeys } from "../auth/account-keys.ts";
import type { Tokens } from "../auth/tokens.ts";
import type { ClientAuthorities } from "../auth/client-certificates.ts";
import type { ThreadTime } from "../flow/thread-time.ts";
import type { Catalog } from "./catalog.ts";
import type { ClusterMetrics } from "./cluster-metrics.ts";
import type { Lines } from "./lines.ts";
import type { ServerProblem } from "../interface.ts";
import type { Quota } from "../clusters/quota.ts";
import type { ClusterView, Resource } from "./resource.ts";

/** A write that has been committed. */
export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly previous?: KubeObject;
}

/** A logical cluster as the server's own parts see it. */
export interface Cluster extends ClusterView {
  readonly catalog: Catalog;
  readonly log: Log;
  /** Who may change or refuse writes. */
  readonly admission: Admission;
  /** Calls its admission and conversion webhooks. */
  readonly webhooks: WebhookClient;
  readonly metrics: ClusterMetrics;
  /** What it may hold; absent when there are no limits. */
  readonly quota?: Quota;
  /** How objects of custom kinds are converted, beside what their definitions say. */
  readonly conversions: Conversions;
  readonly authority: KeyPair;
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
  /** What its watches tell. */
  readonly lines: Lines;
}

/** Tells the server's own controllers what was committed, in the order of commits. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
