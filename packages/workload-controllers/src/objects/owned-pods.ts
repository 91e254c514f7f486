import { CausewayError } from "@causeway/foundation";
import {
  Pod,
  type Informer,
  type KubeObject,
  type LabelSelector,
  type PlannedEvent,
  selectorText,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { by, podsOf } from "./caches.ts";
import type { Target } from "./claim.ts";
import { Deletions } from "./deletions.ts";
import { fieldManager } from "./pipeline.ts";

/** Writes under way at once, for one owner. */
const AT_ONCE = 32;

/**
 * The pods of one controller's owners, and the writes to them. It remembers two things that the cache may not show:
 * deletions that the server accepted, and owners for which the answer to a create was lost. Before the next plan of
 * such an owner its pods are listed from the server.
 */
export class OwnedPods {
  readonly pods: Informer<Pod>;
  /** Deletions that the server accepted. */
  readonly deletions: Deletions;
  readonly #context: Context;
  readonly #uncertain = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
    this.pods = podsOf(context);
    this.deletions = new Deletions(context);
  }

  /** The pods that `owner` controls, deletions included that the cache does not show yet. */
  controlledBy(owner: KubeObject): Pod[] {
    return this.pods.byIndex(by.controller, owner.metadata.uid ?? "").map((pod) => this.deletions.view(pod));
  }

  orphans(namespace: string): readonly Pod[] {
    return this.pods.byIndex(by.orphan, namespace);
  }

  /** Makes the cache complete where the answer to a create was lost. */
  async settle(owner: KubeObject, selector: LabelSelector | undefined, signal: AbortSignal): Promise<void> {
    const uid = owner.metadata.uid ?? "";
    if (!this.#uncertain.has(uid)) return;
    const { client } = this.#context.informers;
    const { namespace = "" } = owner.metadata;
    const labelSelector = selector ? selectorText(selector) : "";
    const { items } = await client.list(Pod, { namespace, ...(labelSelector ? { labelSelector } : {}), signal });
    for (const pod of items) this.pods.observe(pod);
    this.#uncertain.delete(uid);
  }

  /**
   * Creates a pod for each item: first one, then twice as many each time all of a batch succeeded (upstream's slow
   * start), so that a quota refuses one request and not a thousand. Throws the first error once the batch has ended.
   * Pods are made as they are sent: of a large template only those under way take memory.
   */
  async create<T>(
    owner: KubeObject,
    { items, podFor }: { readonly items: readonly T[]; readonly podFor: (item: T) => Pod },
    signal: AbortSignal,
  ): Promise<void> {
    let size = 1;
    for (let start = 0; start < items.length; start += size / 2) {
      const batch = items.slice(start, start + size);
      await this.#all(batch, (item) => this.#createOne(owner, podFor(item), signal));
      size *= 2;
    }
  }

  async delete(owner: KubeObject, targets: readonly Target[], signal: AbortSignal): Promise<void> {
    await this.#all(targets, (target) => this.#deleteOne(owner, target, signal));
  }

  async #createOne(owner: KubeObject, pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      const made = await this.#context.informers.client.create(Pod, pod, { fieldManager, signal });
      this.#event(owner, "SuccessfulCreate", `Created pod: ${made.metadata.name}`);
    } catch (error) {
      if (!isRefusal(error)) this.#uncertain.add(owner.metadata.uid ?? "");
      throw error;
    }
  }

  async #deleteOne(owner: KubeObject, target: Target, signal: AbortSignal): Promise<void> {
    await this.deletions.perform(Pod, target, signal);
    this.#event(owner, "SuccessfulDelete", `Deleted pod: ${target.name}`);
  }

  #event(owner: KubeObject, reason: PlannedEvent["reason"], message: string): void {
    this.#context.events.event(owner, { type: "Normal", reason, message });
  }

  /** What has begun is finished before an error is thrown, so that the next plan sees everything. */
  async #all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    for (let start = 0; start < items.length; start += AT_ONCE) {
      const results = await Promise.allSettled(items.slice(start, start + AT_ONCE).map(work));
      const failed = results.find((result) => result.status === "rejected");
      if (failed) throw failed.reason;
    }
  }
}

/** The server responded that it did not do it; any other failure may hide a success. */
export function isRefusal(error: unknown): boolean {
  const status = error instanceof CausewayError ? error.details?.["httpStatus"] : undefined;
  return typeof status === "number" && status >= 400 && status < 500 && status !== 408;
}
