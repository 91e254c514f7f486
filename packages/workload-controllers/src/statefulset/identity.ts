import {
  ownerReference,
  type ObjectMeta,
  type Pod,
  type PodTemplateSpec,
  type StatefulSet,
} from "@causeway/kubernetes";
import { podFromTemplate } from "../objects/pod-template.ts";
import type { PersistentVolumeClaim } from "../objects/storage.ts";

/** What a pod of a StatefulSet is called, and what is its own: its labels, its host name and its claims. */

/** Of pods: the ControllerRevision of the template that they were created from. */
export const revisionLabel = "controller-revision-hash";
const nameLabel = "statefulset.kubernetes.io/pod-name";
const indexLabel = "apps.kubernetes.io/pod-index";

/** `spec.ordinals.start`; 0 by default. */
export function firstOrdinal({ spec }: StatefulSet): number {
  return spec.ordinals?.start ?? 0;
}

/** The ordinal of a pod with a name of this set; undefined: the name is not of this set. */
export function ordinalOf(set: StatefulSet, { metadata }: Pod): number | undefined {
  const match = /^(.*)-([0-9]+)$/.exec(metadata.name);
  const ordinal = Number(match?.[2]);
  return match?.[1] === set.metadata.name && ordinal < 2 ** 31 ? ordinal : undefined;
}

/** Whether the set keeps a pod with this ordinal. */
export function isKept(set: StatefulSet, ordinal: number): boolean {
  const first = firstOrdinal(set);
  return ordinal >= first && ordinal < first + (set.spec.replicas ?? 1);
}

/** `data-web-0`: the template, the set and the ordinal. */
export function claimName(set: StatefulSet, template: string, ordinal: number): string {
  return `${template}-${set.metadata.name}-${ordinal}`;
}

/** The names of the claims of one pod. */
export function claimNames(set: StatefulSet, ordinal: number): string[] {
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => claimName(set, metadata.name, ordinal));
}

/** Labels that only the pod of this ordinal has; Services select single pods by them. */
export function identityLabels(set: StatefulSet, ordinal: number): Record<string, string> {
  return { [nameLabel]: `${set.metadata.name}-${ordinal}`, [indexLabel]: String(ordinal) };
}

/** A template that pods of the set are made of: the present one, or that of an older revision. */
export interface Version {
  readonly template: PodTemplateSpec;
  /** The name of its ControllerRevision. */
  readonly revision: string;
}

/** The pod of an ordinal: name, hostname and claims are its own; claims take the place of volumes of their names. */
export function podOf(set: StatefulSet, ordinal: number, { template, revision }: Version): Pod {
  const pod = podFromTemplate(set, template);
  const { generateName: _generated, ...metadata } = pod.metadata;
  const name = `${set.metadata.name}-${ordinal}`;
  const labels = { ...metadata.labels, ...identityLabels(set, ordinal), [revisionLabel]: revision };
  const claimed = (set.spec.volumeClaimTemplates ?? []).map(({ metadata: { name: volume } }) => ({
    name: volume,
    persistentVolumeClaim: { claimName: claimName(set, volume, ordinal), readOnly: false },
  }));
  const names = new Set(claimed.map((volume) => volume.name));
  const volumes = [...claimed, ...(pod.spec.volumes ?? []).filter((volume) => !names.has(volume.name))];
  const { serviceName } = set.spec;
  return {
    ...pod,
    metadata: { ...metadata, name, labels },
    spec: {
      ...pod.spec,
      hostname: name,
      ...(serviceName ? { subdomain: serviceName } : {}),
      ...(volumes.length > 0 ? { volumes } : {}),
    },
  };
}

/** The claims of one pod, as they are created. */
export function claimsFor(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  const { namespace } = set.metadata;
  return (set.spec.volumeClaimTemplates ?? []).map(({ metadata: given, spec }) => {
    const { labels, annotations, finalizers } = given;
    const metadata: ObjectMeta = {
      name: claimName(set, given.name, ordinal),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...labels, ...set.spec.selector.matchLabels },
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
    };
    return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec };
  });
}

/** A reference to the pod or the set as the controller of a claim. */
export function controllerReference(owner: Pod | StatefulSet) {
  return ownerReference(owner, { controller: true });
}
