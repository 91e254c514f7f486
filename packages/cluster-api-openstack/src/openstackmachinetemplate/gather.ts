import {
  annotations,
  labels,
  type Cluster,
  type IdentityReference,
  type OpenStackCluster,
  type OpenStackMachine,
  type OpenStackMachineTemplate,
} from "@causeway/api";
import type { Informer, KubeObject, ObjectKey } from "@causeway/kubernetes";
import { imageInterest, type ImageReferences } from "../identity/images.ts";
import type { Sessions } from "../identity/sessions.ts";
import { infrastructureOf } from "../openstackcluster/controller.ts";
import { isPaused } from "../openstackcluster/gather.ts";
import type { Interests } from "../reactions/interests.ts";
import type { Observed } from "./model.ts";

/** The informers that an OpenStackMachineTemplate is gathered from, and its sessions with clouds. */
export interface TemplateSources {
  /** Indexed by "cluster": "namespace/cluster". */
  readonly templates: Informer<OpenStackMachineTemplate>;
  readonly clusters: Informer<Cluster>;
  readonly openStackClusters: Informer<OpenStackCluster>;
  /** Indexed by "template": "namespace/template". */
  readonly openStackMachines: Informer<OpenStackMachine>;
  readonly sessions: Sessions;
  readonly interests: Interests;
  readonly images: ImageReferences;
}

/** The template that a machine was made from, for an index. */
export function templateOf({ metadata }: Pick<KubeObject, "metadata">): string[] {
  const name = metadata.annotations?.[annotations.clonedFromName];
  const kind = metadata.annotations?.[annotations.clonedFromGroupKind];
  return name !== undefined && kind?.startsWith("OpenStackMachineTemplate.")
    ? [`${metadata.namespace ?? ""}/${name}`]
    : [];
}

/**
 * The cluster that a template is used in, for an index: by its label, which Cluster API's core writes, or its owner.
 */
export function clusterOfTemplate({ metadata }: Pick<KubeObject, "metadata">): string[] {
  const owner = metadata.ownerReferences?.find((reference) => reference.kind === "Cluster");
  const name = metadata.labels?.[labels.clusterName] ?? owner?.name;
  return name === undefined ? [] : [`${metadata.namespace ?? ""}/${name}`];
}

/** Reads a template, the flavors and images of its project, and the machines that were made from it: from caches. */
export async function gather(
  sources: TemplateSources,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<Observed | undefined> {
  const { templates, clusters, openStackClusters, openStackMachines, sessions, interests } = sources;
  const object = templates.get(key);
  if (!object) {
    interests.clear(key);
    return undefined;
  }
  const { namespace } = key;
  const [at] = clusterOfTemplate(object);
  const cluster = at === undefined ? undefined : clusters.get({ namespace, name: at.slice(namespace.length + 1) });
  const [place] = cluster ? infrastructureOf(cluster) : [];
  const spec = object.spec.template.spec;
  const own: IdentityReference | undefined = spec.identityRef;
  const reference = own ?? (place && openStackClusters.get(place)?.spec.identityRef);
  const name = spec.image.imageRef?.name;
  const { flavor, image } = spec;
  interests.set(key, [
    flavor.id ?? flavor.filter?.name,
    image.id ?? image.filter?.name,
    ...(name === undefined ? [] : [imageInterest({ namespace, name })]),
  ]);
  const base = {
    object,
    paused: isPaused(object, cluster),
    image: name === undefined ? undefined : sources.images.get({ namespace, name }),
    machines: openStackMachines.byIndex("template", `${namespace}/${key.name}`),
  };
  if (!reference || cluster?.metadata.deletionTimestamp !== undefined) return { ...base, identity: undefined };
  const opened = await sessions.get({ reference, namespace }, (watch) => [watch.flavors, watch.images], signal);
  if (!opened.ok) return { ...base, identity: opened };
  const { watch } = opened.session;
  return { ...base, identity: { ok: true, cloud: { flavors: watch.flavors.list(), images: watch.images.list() } } };
}
