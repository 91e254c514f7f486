import { Cluster, conversionsOf, type ExtensionConfig } from "@causeway/api";
import { messageOf, type Clock } from "@causeway/foundation";
import { Namespace, type Informer, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { authorityOf } from "./authority.ts";
import type { ExtensionClient } from "./client.ts";
import { handlersOf, type HookHandler } from "./handlers.ts";
import { blockingHooks, hooksApi, readResponse, type LifecycleHook } from "./hooks.ts";

/** What the handlers of a hook say together. `until`: when they are called again (ms since the epoch). */
export type HookVerdict =
  | { readonly outcome: "passed" }
  | { readonly outcome: "blocked" | "failed"; readonly message: string; readonly until: number };

/** What handlers of a hook are called with. */
export interface HookQuestion {
  readonly hook: LifecycleHook;
  readonly cluster: Cluster;
  /** More fields of the request: versions. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Where extensions and their authorities are read, and how they are called. */
export interface HookCallsOptions {
  readonly configs: Informer<ExtensionConfig>;
  readonly kubernetes: KubernetesClient;
  readonly extensions: ExtensionClient;
  readonly clock: Clock;
}

/** Milliseconds until handlers that failed are called again. */
const retryAfterFailure = 10_000;
/** Milliseconds that a yes is kept. */
const recordedWithin = 30_000;
/** Answers that are kept. */
const mostKept = 10_000;

/**
 * Asks the handlers of lifecycle hooks. What holds a cluster back is kept until its time is over, so that reconciles in
 * between ask no extension.
 */
export class HookCalls {
  readonly #options: HookCallsOptions;
  readonly #kept = new Map<string, { readonly verdict: HookVerdict; readonly until: number }>();
  readonly #spoke = conversionsOf([Cluster])[0]?.spokes["v1beta1"];

  constructor(options: HookCallsOptions) {
    this.#options = options;
  }

  /** Whether any extension has a handler of one of these hooks, for whatever namespaces. */
  concerns(...hooks: readonly LifecycleHook[]): boolean {
    return this.#options.configs
      .list()
      .some(({ status }) =>
        status?.handlers?.some(({ requestHook }) => (hooks as readonly string[]).includes(requestHook.hook)),
      );
  }

  /** Asks all handlers of a hook at once. */
  async ask(question: HookQuestion, signal: AbortSignal): Promise<HookVerdict> {
    const { hook, cluster, more = {} } = question;
    if (!this.concerns(hook)) return { outcome: "passed" };
    const id = `${cluster.metadata.uid ?? ""}/${hook}/${JSON.stringify(more)}`;
    const kept = this.#kept.get(id);
    const now = this.#options.clock.now();
    if (kept && kept.until > now) return kept.verdict;
    this.#kept.delete(id);
    const handlers = await this.#handlersOf(question, signal);
    const answers = await Promise.all(handlers.map((handler) => this.#askOne(handler, question, signal)));
    const verdict = together(answers, { isBlocking: blockingHooks.has(hook), now: this.#options.clock.now() });
    // A yes is kept until it is recorded in the Cluster, which another write may delay.
    this.#kept.set(id, { verdict, until: verdict.outcome === "passed" ? now + recordedWithin : verdict.until });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return verdict;
  }

  async #handlersOf({ hook, cluster }: HookQuestion, signal: AbortSignal): Promise<HookHandler[]> {
    const { configs, kubernetes } = this.#options;
    const all = configs.list();
    const isSelected = all.some(({ spec }) => spec.namespaceSelector !== undefined);
    const name = cluster.metadata.namespace ?? "";
    const found = isSelected ? await kubernetes.find(Namespace, { namespace: "", name }, { signal }) : undefined;
    return handlersOf(all, { hook, namespaceLabels: found?.metadata.labels ?? {} });
  }

  async #askOne(
    { config, name, timeout, isIgnorable }: HookHandler,
    { hook, cluster, more }: HookQuestion,
    signal: AbortSignal,
  ): Promise<Answer> {
    const label = `${name}.${config.metadata.name}`;
    const body = {
      apiVersion: hooksApi,
      kind: `${hook}Request`,
      ...(config.spec.settings ? { settings: config.spec.settings } : {}),
      cluster: this.#older(cluster),
      ...more,
    };
    try {
      const ca = await authorityOf(this.#options.kubernetes, config, signal);
      const path = `${hook.toLowerCase()}/${name}`;
      const response = readResponse(await this.#options.extensions.call({ config, path, body, timeout, ca }, signal));
      if (response.status === "Failure") return { label, failure: response.message || "the handler says Failure" };
      return { label, retryAfter: response.retryAfterSeconds, message: response.message };
    } catch (error) {
      signal.throwIfAborted();
      return isIgnorable ? { label, retryAfter: 0, message: "" } : { label, failure: messageOf(error) };
    }
  }

  /** The hooks of v1alpha1 have Clusters of v1beta1. */
  #older(cluster: Cluster): KubeObject {
    const copy = structuredClone(cluster) as KubeObject;
    return { ...(this.#spoke?.fromHub(copy) ?? copy), apiVersion: "cluster.x-k8s.io/v1beta1" };
  }
}

interface Answer {
  readonly label: string;
  readonly failure?: string;
  readonly retryAfter?: number;
  readonly message?: string;
}

/** A failure counts most; of several times to wait the shortest is used, as upstream. */
function together(
  answers: readonly Answer[],
  { isBlocking, now }: { readonly isBlocking: boolean; readonly now: number },
): HookVerdict {
  const failed = answers.filter(({ failure }) => failure !== undefined);
  if (failed.length > 0) {
    const message = failed.map(({ label, failure }) => `${label}: ${failure}`).join("; ");
    return { outcome: "failed", message, until: now + retryAfterFailure };
  }
  const waiting = answers.filter(({ retryAfter = 0 }) => isBlocking && retryAfter > 0);
  if (waiting.length === 0) return { outcome: "passed" };
  const message = waiting.map(({ label, message: text }) => (text ? `${label}: ${text}` : label)).join("; ");
  const seconds = Math.min(...waiting.map(({ retryAfter = 0 }) => retryAfter));
  return { outcome: "blocked", message, until: now + Math.min(seconds, 3_600) * 1000 };
}
