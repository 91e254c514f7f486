import {
  isControlledBy,
  ownerReference,
  type ObjectMeta,
  type Plan,
  type PlannedEvent,
  type Pod,
} from "@causeway/kubernetes";
import type { PersistentVolumeClaim } from "../objects/storage.ts";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

interface EphemeralVolume {
  readonly name: string;
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: {
      readonly metadata?: Partial<ObjectMeta>;
      readonly spec: PersistentVolumeClaim["spec"];
    };
  };
}

/** A claim for each ephemeral volume of a pod; it is deleted with the pod. */
export function plan({ pod, claims }: Observed): Plan<Step, undefined> {
  if (pod.metadata.deletionTimestamp !== undefined) return { steps: [], status: undefined };
  const wanted = ephemeralVolumes(pod).flatMap((volume) => claimFor(pod, volume) ?? []);
  const steps = wanted
    .filter(({ metadata }) => !claims.get(metadata.name))
    .map((claim): Step => ({ type: "create-claim", claim }));
  const events = wanted.flatMap(({ metadata: { name } }): PlannedEvent[] => {
    const found = claims.get(name);
    if (!found || isControlledBy(found, pod)) return [];
    const [claimKey, podKey] = [found.metadata, pod.metadata].map((each) => `${each.namespace}/${each.name}`);
    const message = `PVC ${claimKey} was not created for pod ${podKey} (pod is not owner)`;
    return [{ type: "Warning", reason: "FailedBinding", message }];
  });
  return { steps, status: undefined, events };
}

/** The pod's volumes with the field `ephemeral`; `emptyDir` and the like are not among them. */
export function ephemeralVolumes({ spec }: Pod): readonly EphemeralVolume[] {
  return ((spec.volumes ?? []) as readonly EphemeralVolume[]).filter(({ ephemeral }) => ephemeral !== undefined);
}

function claimFor(pod: Pod, { name, ephemeral }: EphemeralVolume): PersistentVolumeClaim | undefined {
  const template = ephemeral?.volumeClaimTemplate;
  if (!template) return undefined;
  const { labels, annotations } = template.metadata ?? {};
  const { namespace } = pod.metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: `${pod.metadata.name}-${name}`,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ownerReferences: [ownerReference(pod, { controller: true })],
    },
    spec: template.spec,
  };
}
