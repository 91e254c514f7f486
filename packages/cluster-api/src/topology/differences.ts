import { annotations } from "@causeway/api";
import { keyOf, type KubeObject, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";
import { fingerprint } from "../objects/names.ts";
import { idOf, type Difference } from "./model.ts";
import type { MadeObject } from "./made-objects.ts";
import { topologyManager } from "./steps.ts";

const mostKept = 10_000;
const none: Difference = { spec: false, metadata: false };

/**
 * How objects differ from what topologies want: the API server applies what is wanted in a dry run, so that its
 * defaults and other managers' fields count for nothing. An outcome is kept until the object or what is wanted changes:
 * an idle topology costs no calls.
 */
export class Differences {
  readonly #kept = new Map<string, { readonly state: string; readonly difference: Difference }>();
  readonly #client: KubernetesClient;

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** `current`: as the cache has it. */
  async of(made: MadeObject, current: KubeObject, signal: AbortSignal): Promise<Difference> {
    const id = idOf(made.kind, made.object);
    const state = `${stateOf(current)}/${fingerprint(made.object)}`;
    const kept = this.#kept.get(id);
    if (kept?.state === state) return kept.difference;
    const type: ResourceType<KubeObject> = made.kind;
    const before = await this.#client.get(type, keyOf(made.object), { signal });
    const after = await this.#client.apply(type, dryRunOf(made.object), {
      fieldManager: topologyManager,
      dryRun: true,
      signal,
    });
    const difference = compare(before, after);
    // Only agreement is kept: what differs is about to be changed.
    this.#kept.delete(id);
    if (!difference.spec && !difference.metadata && stateOf(before) === stateOf(current)) {
      this.#kept.set(id, { state, difference: none });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    }
    return difference;
  }
}

/** All of an object but its status: the generation changes with the spec. */
function stateOf({ metadata }: KubeObject): string {
  const { uid, generation, labels, annotations: notes, ownerReferences } = metadata;
  return fingerprint({ uid, generation, labels, notes, ownerReferences });
}

/** Providers let the spec of a template be changed in a dry run that has this annotation (Cluster API contract). */
function dryRunOf(object: MadeObject["object"]): MadeObject["object"] {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [annotations.topologyDryRun]: "" } },
  };
}

function compare(before: KubeObject, after: KubeObject): Difference {
  const spec = (object: KubeObject & { readonly spec?: unknown }) => fingerprint(object.spec ?? null);
  return { spec: spec(before) !== spec(after), metadata: marksOf(before) !== marksOf(after) };
}

function marksOf({ metadata }: KubeObject): string {
  const { [annotations.topologyDryRun]: _, ...notes } = metadata.annotations ?? {};
  const owners = (metadata.ownerReferences ?? []).toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  return fingerprint({ labels: metadata.labels ?? {}, notes, owners });
}
