import { addonSetLabel } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";

/** Field manager of everything that is applied to workload clusters. */
export const fieldManager = "causeway-addons";

/** Labels of add-ons. */
export const labels = {
  /** On each applied object: the name of its AddonSet. */
  set: addonSetLabel,
  /** On each applied object: the name of its add-on. */
  addon: "addons.causeway.dev/addon",
  /**
   * On ConfigMaps and Secrets that hold manifests. Others are never read, so that an AddonSet cannot copy any Secret
   * into a cluster.
   */
  source: "addons.causeway.dev/source",
} as const;

/** An object with it may be deleted although the set is protected. */
export const allowDeletion = "addons.causeway.dev/allow-deletion";

/**
 * On a declared object, with "true": if a change of it is refused since a field is immutable, it is deleted and created
 * again.
 */
export const allowRecreation = "addons.causeway.dev/recreate";

/** What an object is known by within a cluster, whatever version it is written in. */
export interface ObjectId {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** "Deployment.apps kube-system/coredns". */
export function idText({ apiVersion, kind, namespace, name }: ObjectId): string {
  const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [""];
  return `${kind}${group === "" ? "" : `.${group}`} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

/** What an object is known by; `namespace` is "" for objects outside of namespaces. */
export function idOf(object: KubeObject): ObjectId {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace ?? "", name: metadata.name };
}
