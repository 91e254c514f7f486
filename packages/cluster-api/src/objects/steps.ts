import type { KubeObject, KubernetesClient, ObjectKey, ResourceType } from "@causeway/kubernetes";

/** A write of one object in the management cluster, as data. */
export type ObjectStep =
  | {
      readonly do: "patch";
      readonly type: ResourceType<KubeObject>;
      readonly key: ObjectKey;
      /** A merge patch. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | { readonly do: "delete"; readonly type: ResourceType<KubeObject>; readonly key: ObjectKey; readonly uid: string }
  | { readonly do: "create"; readonly type: ResourceType<KubeObject>; readonly object: KubeObject };

/** What every controller of ours calls itself in managedFields. */
export const fieldManager = "causeway-cluster-api";

/** No step without a patch: callers pass what a comparison returned. */
export function patchStep(
  type: ResourceType<KubeObject>,
  object: KubeObject,
  body: Readonly<Record<string, unknown>> | undefined,
): ObjectStep[] {
  return body ? [{ do: "patch", type, key: keyFrom(object), body }] : [];
}

/** Nothing when the object is being deleted already. */
export function deleteStep(type: ResourceType<KubeObject>, object: KubeObject): ObjectStep[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return [{ do: "delete", type, key: keyFrom(object), uid: object.metadata.uid ?? "" }];
}

/** A patch is a merge patch; a deletion has the uid as precondition, and dependents are deleted later. */
export async function performObjectStep(
  client: KubernetesClient,
  step: ObjectStep,
  signal: AbortSignal,
): Promise<void> {
  switch (step.do) {
    case "patch":
      await client.patch(step.type, step.key, { type: "merge", body: step.body }, { fieldManager, signal });
      return;
    case "delete":
      await client.delete(step.type, step.key, {
        propagationPolicy: "Background",
        preconditions: { uid: step.uid },
        signal,
      });
      return;
    case "create":
      await client.create(step.type, step.object, { fieldManager, signal });
      return;
  }
}

function keyFrom(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}
