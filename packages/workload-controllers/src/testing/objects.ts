import type { KubeObject, Pod, PodTemplateSpec } from "@causeway/kubernetes";

/** Objects for the tables of planner tests. */

export const now = Date.UTC(2026, 0, 1, 12);
export const at = (secondsAgo: number): string => new Date(now - secondsAgo * 1_000).toISOString();

export const template = (image = "web:1", fields: Partial<PodTemplateSpec["metadata"]> = {}): PodTemplateSpec => ({
  metadata: { labels: { app: "web" }, ...fields },
  spec: { containers: [{ name: "web", image }] },
});

export interface PodFacts {
  readonly owner?: KubeObject;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  /** Seconds since it is Ready; undefined: it is not. */
  readonly ready?: number | undefined;
  readonly age?: number;
  readonly node?: string | undefined;
  readonly restarts?: number;
  readonly deleted?: boolean;
}

/** A pod; by default Running and Ready for 100 s. */
export function pod(name: string, facts: PodFacts = {}): Pod {
  const { owner, labels = { app: "web" }, annotations, phase = "Running", age = 200, node = "one", deleted } = facts;
  const ready = "ready" in facts ? facts.ready : phase === "Running" ? 100 : undefined;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      labels,
      ...(annotations ? { annotations } : {}),
      creationTimestamp: at(age),
      ...(deleted ? { deletionTimestamp: at(1) } : {}),
      ...(owner ? { ownerReferences: [controlledBy(owner)] } : {}),
    },
    spec: { containers: [{ name: "web" }], ...(node === "" ? {} : { nodeName: node }) },
    status: {
      phase,
      conditions:
        ready === undefined
          ? [{ type: "Ready", status: "False" }]
          : [{ type: "Ready", status: "True", lastTransitionTime: at(ready) }],
      containerStatuses: [{ name: "web", restartCount: facts.restarts ?? 0 }],
    },
  };
}

export function controlledBy({ apiVersion, kind, metadata }: KubeObject) {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true, blockOwnerDeletion: true };
}
