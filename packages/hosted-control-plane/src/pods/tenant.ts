import { createHash } from "node:crypto";
import { canonicalJson } from "@causeway/foundation";

/** Label of everything that this runtime writes into a service cluster. */
export const managedByLabel = "app.kubernetes.io/managed-by";
/** The value of `managedByLabel`. */
export const managedBy = "causeway-hosted-control-plane";
/** The program that an object is of, such as "kube-apiserver". */
export const componentLabel = "app.kubernetes.io/component";
/** Annotations of the tenant's namespace: whose it is. */
export const idAnnotation = "controlplane.causeway.dev/id";
/** The management cluster (`PodsSettings.owner`). */
export const ownerAnnotation = "controlplane.causeway.dev/owner";
/** On the namespace: the keys of its data were created; they are never created a second time. */
export const initializedAnnotation = "controlplane.causeway.dev/initialized";
/** Digest of what was applied, so that fields that are no longer wanted are removed. */
export const appliedAnnotation = "controlplane.causeway.dev/applied";
/** On a Secret: digest of what its certificates were issued from, and when (ms since epoch) they are issued again. */
export const inputsAnnotation = "controlplane.causeway.dev/inputs";
/** In ms since epoch, half a year before the certificates expire. */
export const renewAtAnnotation = "controlplane.causeway.dev/renew-at";
/** On a pod template: the Kubernetes version of its program. */
export const versionAnnotation = "controlplane.causeway.dev/version";
/** On a pod template: digest of its Secrets, so that new content restarts the pods. */
export const credentialsAnnotation = "controlplane.causeway.dev/credentials";

/** On the namespace: size and replicas that were accepted last, such as "Large/3". */
export const grantedAnnotation = "controlplane.causeway.dev/granted";
/** On the namespace: bytes that it may store in the shared etcd. */
export const budgetAnnotation = "controlplane.causeway.dev/budget";
/** On a Secret with etcd's authority: the stage of its rotation, and which one it is or was last. */
export const rotationStageAnnotation = "controlplane.causeway.dev/rotation-stage";
/** The id of the rotation. */
export const rotationAnnotation = "controlplane.causeway.dev/rotation";
/** On it: how often its content was changed. Of it and its copy, the one that was changed more often is right. */
export const turnAnnotation = "controlplane.causeway.dev/turn";
/** On the namespace of the shared etcd, by its operator: a time (RFC 3339) at which its authority is rotated. */
export const rotateAfterAnnotation = "controlplane.causeway.dev/rotate-after";
/** On it, by its operator: namespaces of control planes that the rotation does not wait for, with commas. */
export const rotateWithoutAnnotation = "controlplane.causeway.dev/rotate-without";
/** On it: how far the rotation is, in JSON. */
export const rotationProgressAnnotation = "controlplane.causeway.dev/rotation-progress";
/** On the namespace: its data was restored from a backup. */
export const restoredAnnotation = "controlplane.causeway.dev/restored";
/** On the namespace: the URL at which what machines need to join was created, and a digest of rotated roots. */
export const joinedAnnotation = "controlplane.causeway.dev/joined-at";

/** On the namespace of a control plane, while it is handed over: to which management cluster. In JSON. */
export const handOverAnnotation = "controlplane.causeway.dev/hand-over";
/** On it: its manager does nothing more with it. In JSON. */
export const releasedAnnotation = "controlplane.causeway.dev/hand-over-released";
/** On it: the next manager sees it. In JSON. */
export const awaitedAnnotation = "controlplane.causeway.dev/hand-over-awaited";
/** On it: which management cluster handed it over last, and to which one (uids of kube-system). In JSON. */
export const handedOverAnnotation = "controlplane.causeway.dev/handed-over";
/** On it: the namespace of the shared etcd that has its data, where that is another management cluster's. */
export const poolAnnotation = "controlplane.causeway.dev/pool";

/** Selects everything that this runtime writes. */
export const managedSelector = `${managedByLabel}=${managedBy}`;

/** 32 hexadecimal digits, the same whatever the order of keys. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 32);
}

/** On the namespace of a control plane: which datastore has its data. */
export const datastoreAnnotation = "controlplane.causeway.dev/datastore";

/** On it: data is on its way to an own etcd, which a record describes. */
export const migratingAnnotation = "controlplane.causeway.dev/migrating";
/** The shared etcd has its old data still, although its own one serves: its budget is not given to others. */
export const retainedAnnotation = "controlplane.causeway.dev/retained";

/** The namespace of the etcd that the control planes of a management cluster share. */
export function poolNamespaceOf(owner: string): string {
  return `hcp-etcd-${digestOf([owner]).slice(0, 10)}`;
}

/** Where a control plane's keys are in the shared etcd. No prefix is the beginning of another. */
export function prefixOf(namespaceName: string): string {
  return `/${namespaceName}/`;
}

/**
 * The namespace of a control plane in the service cluster. `owner`: the management cluster. The hash keeps names of two
 * tenants, or of two management clusters, apart, whatever dashes they have.
 */
export function namespaceOf(owner: string, id: string): string {
  const name = id.slice(id.indexOf(".") + 1);
  const readable = name.replaceAll(/[^a-z0-9-]/g, "-").slice(0, 40);
  return `hcp-${readable}-${digestOf([owner, id]).slice(0, 10)}`;
}
