import type { KubeObject, Namespace } from "@causeway/kubernetes";
import { differs, idOf, stamped } from "./live.ts";
import type { PodsSettings } from "./options.ts";
import type { Step } from "./steps.ts";
import { idAnnotation, initializedAnnotation, managedBy, managedByLabel, ownerAnnotation } from "./tenant.ts";

/** The keys that data depends on were created. */
export function initializedNamespace(namespace: Namespace | undefined): boolean {
  return namespace?.metadata.annotations?.[initializedAnnotation] !== undefined;
}

/** What the namespace of a control plane, or of the shared etcd, is made from. */
export interface NamespaceFrom {
  readonly namespace: Namespace | undefined;
  readonly namespaceName: string;
  readonly settings: PodsSettings;
  readonly live: ReadonlyMap<string, KubeObject>;
  /** Whose it is. */
  readonly id: string;
  /** The Secret with which it is initialised. */
  readonly key: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** No step where the namespace has what is wanted; once it is initialized, it says so for ever. */
export function namespaceSteps({
  namespace,
  namespaceName,
  settings,
  live,
  id,
  key,
  annotations,
}: NamespaceFrom): Step[] {
  const initialized = initializedNamespace(namespace) || live.has(key);
  const object: KubeObject = stamped({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: namespaceName,
      labels: {
        [managedByLabel]: managedBy,
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
      },
      annotations: {
        [idAnnotation]: id,
        [ownerAnnotation]: settings.owner,
        ...annotations,
        ...(initialized ? { [initializedAnnotation]: "true" } : {}),
      },
    },
  });
  return differs(namespace, object) ? [{ type: "apply-namespace", object }] : [];
}

/** What differs from what is wanted is written. */
export function applySteps(live: ReadonlyMap<string, KubeObject>, objects: readonly KubeObject[]): Step[] {
  return objects.flatMap((object): Step[] => {
    const wanted = stamped(object);
    const id = idOf(wanted);
    return differs(live.get(id), wanted) ? [{ type: "apply", id, object: wanted }] : [];
  });
}
