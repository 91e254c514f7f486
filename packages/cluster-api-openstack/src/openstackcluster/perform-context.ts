import type { OpenStackCluster } from "@causeway/api";
import type { EventRecorder, KubernetesClient } from "@causeway/kubernetes";
import type { Session } from "../identity/sessions.ts";
import type { ClusterStep } from "./steps.ts";

/** The field manager of an OpenStackCluster's status, annotations and bastion. */
export const fieldManager = "causeway-openstackcluster";

/** What the steps of a cluster are made. */
export interface ClusterPerformContext {
  readonly object: OpenStackCluster;
  readonly session: Session | undefined;
  readonly client: KubernetesClient;
  readonly events: EventRecorder;
}

/** A `ClusterPerformContext` whose credentials work: what every step in OpenStack needs. */
export type SessionPerformContext = ClusterPerformContext & { readonly session: Session };

/** The values of `type` of a cluster's steps, such as "create-network". */
export type StepName = ClusterStep["type"];
/** The step whose `type` is `Name`, with its fields. */
export type StepNamed<Name extends StepName> = Extract<ClusterStep, { type: Name }>;

/** How each of some kinds of steps is made true. */
export type Performers<Name extends StepName, Context> = {
  readonly [N in Name]: (step: StepNamed<N>, using: Context, signal: AbortSignal) => Promise<void>;
};

/** Emits a Normal event about the cluster. */
export function emit({ events, object }: ClusterPerformContext, reason: string, message: string): void {
  events.event(object, { type: "Normal", reason, message });
}

/** Options of a create that searches for the result of an attempt whose response was lost. */
export function searchFor<T extends { description: string | null }>(
  list: (signal: AbortSignal) => Promise<readonly T[]>,
  body: { readonly description?: string },
  signal: AbortSignal,
): { signal: AbortSignal; recover: () => Promise<T | undefined> } {
  return { signal, recover: async () => (await list(signal)).find((made) => made.description === body.description) };
}
