import type { KubeObject, KubernetesClient, ObjectKey, ResourceType } from "@causeway/kubernetes";

/** A write of one object in the management cluster, as data. */
export type ObjectStep =
  | {
      readonly type: "patch";
      readonly resource: ResourceType<KubeObject>;
      readonly key: ObjectKey;
      /** A merge patch. */
      readonly body: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: "delete";
      readonly resource: ResourceType<KubeObject>;
      readonly key: ObjectKey;
      readonly uid: string;
    }
  | { readonly type: "create"; readonly resource: ResourceType<KubeObject>; readonly object: KubeObject };

/** What every controller of ours calls itself in managedFields. */
export const fieldManager = "causeway-cluster-api";

/** No step without a patch: callers pass what a comparison returned. */
export function patchStep(
  resource: ResourceType<KubeObject>,
  object: KubeObject,
  body: Readonly<Record<string, unknown>> | undefined,
): ObjectStep[] {
  return body ? [{ type: "patch", resource, key: keyFrom(object), body }] : [];
}

/** Nothing when the object is being deleted already. */
export function deleteStep(resource: ResourceType<KubeObject>, object: KubeObject): ObjectStep[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return [{ type: "delete", resource, key: keyFrom(object), uid: object.metadata.uid ?? "" }];
}

/** A patch is a merge patch; a deletion has the uid as precondition, and dependents are deleted later. */
export async function performObjectStep(
  client: KubernetesClient,
  step: ObjectStep,
  signal: AbortSignal,
): Promise<void> {
  switch (step.type) {
    case "patch":
      await client.patch(step.resource, step.key, { type: "merge", body: step.body }, { fieldManager, signal });
      return;
    case "delete":
      await client.delete(step.resource, step.key, {
        propagationPolicy: "Background",
        preconditions: { uid: step.uid },
        signal,
      });
      return;
    case "create":
      await client.create(step.resource, step.object, { fieldManager, signal });
      return;
  }
}

function keyFrom(object: KubeObject): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}
