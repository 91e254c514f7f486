import type { AddonSet } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Namespace, Secret, secretText, type Informer, type Informers, type ObjectKey } from "@causeway/kubernetes";
import { digestOf } from "../manifests/declared.ts";
import { labels } from "../manifests/names.ts";
import { applicationFor, covers, isAsDeclared, type Application } from "./application.ts";
import type { Applications } from "./applications.ts";
import { clusterSecretFor, otherAtServer } from "./cluster-secret.ts";
import {
  argoFinalizer,
  argoLabels,
  cascadingFinalizer,
  consentLabel,
  isOfCluster,
  mayUseProject,
  projectsAnnotation,
  setOf,
  waveAnnotation,
} from "./names.ts";

/** The Application of one add-on. */
export interface ObservedApplication {
  readonly wanted: Application;
  readonly digest: string;
  readonly live: Application | undefined;
  readonly state: "missing" | "ending" | "changed" | "current";
}

/** An Application that was made for the set and is not wanted any more. */
export interface LeftoverApplication {
  readonly key: ObjectKey;
  readonly addon: string;
  readonly wave: number;
  readonly isEnding: boolean;
  /** Argo CD deletes its objects first. */
  readonly cascades: boolean;
}

/** What of a set is in Argo CD, and what is to be. */
export interface ObservedArgo {
  /** Why nothing can be handed over; the state of every add-on with an application. */
  readonly refusal?: { readonly code: string; readonly message: string };
  /** The first list of Applications has not arrived: what is there is not known. */
  readonly isUnread: boolean;
  readonly secret?: { readonly wanted: Secret; readonly isCurrent: boolean };
  readonly applications: ReadonlyMap<string, ObservedApplication>;
  readonly leftovers: readonly LeftoverApplication[];
  /** Secrets of the cluster in namespaces where no set needs them. */
  readonly unneeded: readonly ObjectKey[];
}

/** What Applications and Secrets of Argo CD are read from. */
export interface ArgoFrom {
  readonly sets: Informer<AddonSet>;
  readonly applications: Applications;
  /** Namespaces that have consented. */
  readonly namespaces: Informer<Namespace>;
  readonly kubeconfigs: Informer<Secret>;
  readonly clusterSecrets: Informer<Secret>;
}

const contractLabel = "cluster.x-k8s.io/cluster-name";

/** The informers of the management cluster that Argo CD needs. */
export function openArgoInformers(
  informers: Informers,
): Pick<ArgoFrom, "namespaces" | "kubeconfigs" | "clusterSecrets"> {
  return {
    namespaces: informers.for(Namespace, { labelSelector: `${consentLabel}=true` }),
    kubeconfigs: informers.for(Secret, { labelSelector: contractLabel }),
    clusterSecrets: informers.for(Secret, {
      // Those that others made, too: their servers are in use.
      labelSelector: `${argoLabels.secretType}=cluster`,
    }),
  };
}

/** Undefined: the set hands nothing over, and never did. */
export async function observeArgo(
  from: ArgoFrom,
  set: AddonSet,
  cluster: ObjectKey,
  signal: AbortSignal,
): Promise<ObservedArgo | undefined> {
  const isUsed = set.metadata.finalizers?.includes(argoFinalizer) === true;
  if (set.spec.argoCD === undefined && !isUsed) return undefined;
  const read = await from.applications.read(signal);
  const isUnread = read === "unread";
  const all = typeof read === "string" ? [] : read;
  const { namespace = "", name } = set.metadata;
  const own = all.filter((each) => {
    const of = setOf(each);
    return of?.namespace === namespace && of.name === name;
  });
  const wanted = set.metadata.deletionTimestamp === undefined ? wantedOf(set) : [];
  const applications = new Map(wanted.map((each) => [addonOf(each), observeApplication(each, own)]));
  const names = new Set(wanted.map(keyText));
  const leftovers = own.filter((each) => !names.has(keyText(each))).map(leftoverOf);
  const unneeded = isUnread ? [] : unneededSecrets(from, { set, cluster, applications: all });
  const base = { isUnread, applications, leftovers, unneeded };
  if (set.spec.argoCD === undefined || set.metadata.deletionTimestamp !== undefined) return base;
  if (read === "unserved") return { ...base, refusal: refusals.missing };
  const { namespace: argo, project = "default" } = set.spec.argoCD;
  const consent = from.namespaces.get({ namespace: "", name: argo });
  if (consent === undefined) return { ...base, refusal: refusals.closed(argo) };
  if (!mayUseProject(consent, namespace, project)) return { ...base, refusal: refusals.project(argo, project) };
  const other = from.sets.list(namespace).find((each) => isEarlierInOtherProject(each, set));
  if (other) return { ...base, refusal: refusals.projects(other.metadata.name) };
  return { ...base, ...secretOf(from, cluster, { namespace: argo, project }) };
}

/** A cluster is of one project: that of the first set by name. */
function isEarlierInOtherProject(other: AddonSet, { metadata, spec }: AddonSet): boolean {
  const { argoCD } = other.spec;
  return (
    other.metadata.name < metadata.name &&
    other.metadata.deletionTimestamp === undefined &&
    other.spec.clusterName === spec.clusterName &&
    argoCD?.namespace === spec.argoCD?.namespace &&
    (argoCD?.project ?? "default") !== (spec.argoCD?.project ?? "default")
  );
}

function wantedOf(set: AddonSet): Application[] {
  return set.spec.addons.flatMap((addon) => applicationFor(set, addon) ?? []);
}

const keyText = ({ metadata: { namespace = "", name } }: Application): string => `${namespace}/${name}`;
const addonOf = ({ metadata }: Application): string => metadata.labels?.[labels.addon] ?? "";

function observeApplication(wanted: Application, own: readonly Application[]): ObservedApplication {
  const live = own.find((each) => keyText(each) === keyText(wanted));
  const base = { wanted, live, digest: digestOf(wanted.spec) };
  if (!live) return { ...base, state: "missing" };
  if (live.metadata.deletionTimestamp !== undefined) return { ...base, state: "ending" };
  return { ...base, state: isAsDeclared(live, wanted) ? "current" : "changed" };
}

function leftoverOf(each: Application): LeftoverApplication {
  const { namespace = "", name, finalizers = [], annotations = {}, deletionTimestamp } = each.metadata;
  const wave = Number(annotations[waveAnnotation] ?? 0);
  return {
    key: { namespace, name },
    addon: addonOf(each),
    wave: Number.isInteger(wave) ? wave : 0,
    isEnding: deletionTimestamp !== undefined,
    cascades: finalizers.includes(cascadingFinalizer),
  };
}

function secretOf(
  { kubeconfigs, clusterSecrets }: ArgoFrom,
  cluster: ObjectKey,
  place: { readonly namespace: string; readonly project: string },
): Pick<ObservedArgo, "secret" | "refusal"> {
  const kubeconfig = kubeconfigs.get({ namespace: cluster.namespace, name: `${cluster.name}-kubeconfig` });
  const text = kubeconfig && secretText(kubeconfig, "value");
  if (text === undefined) return { refusal: refusals.unknown(cluster) };
  try {
    const wanted = clusterSecretFor(cluster, place, text);
    const other = otherAtServer(clusterSecrets.list(place.namespace), wanted, cluster);
    if (other) return { refusal: refusals.server(other.metadata.name) };
    const live = clusterSecrets.get({ namespace: place.namespace, name: wanted.metadata.name });
    const isCurrent =
      live !== undefined && covers(live.data, wanted.data) && covers(live.metadata.labels, wanted.metadata.labels);
    return { secret: { wanted, isCurrent } };
  } catch (error) {
    if (!(error instanceof CausewayError) || error.code !== "ADDON_ARGO_CD_KUBECONFIG") throw error;
    return { refusal: { code: error.code, message: `${error.message}. ${error.hint ?? ""} (${error.code})` } };
  }
}

interface Needs {
  readonly set: AddonSet;
  readonly cluster: ObjectKey;
  readonly applications: readonly Application[];
}

/**
 * A Secret is needed as long as a set of the cluster names its namespace, or an Application in it is of the cluster.
 */
function unneededSecrets({ sets, clusterSecrets }: ArgoFrom, { set, cluster, applications }: Needs): ObjectKey[] {
  const needed = new Set<string | undefined>();
  for (const { metadata, spec } of sets.list(cluster.namespace)) {
    if (spec.clusterName !== cluster.name) continue;
    // The last set that is deleted deletes the Secret.
    if (metadata.deletionTimestamp === undefined && metadata.uid !== set.metadata.uid)
      needed.add(spec.argoCD?.namespace);
  }
  if (set.metadata.deletionTimestamp === undefined) needed.add(set.spec.argoCD?.namespace);
  for (const each of applications) if (isOfCluster(each, cluster)) needed.add(each.metadata.namespace);
  return clusterSecrets
    .list()
    .filter((secret) => isOfCluster(secret, cluster) && !needed.has(secret.metadata.namespace))
    .map(({ metadata: { namespace = "", name } }) => ({ namespace, name }));
}

const refusals = {
  missing: {
    code: "ADDON_ARGO_CD_MISSING",
    message:
      "the management cluster serves no Application of argoproj.io/v1alpha1. Install Argo CD (ADDON_ARGO_CD_MISSING)",
  },
  closed: (namespace: string) => ({
    code: "ADDON_ARGO_CD_NAMESPACE",
    message: `Namespace ${namespace} does not exist or lacks label ${consentLabel}: "true". Create it, or add the label (ADDON_ARGO_CD_NAMESPACE)`,
  }),
  project: (namespace: string, project: string) => ({
    code: "ADDON_ARGO_CD_PROJECT",
    message: `Namespace ${namespace} does not permit this namespace to use AppProject ${project}. List NAMESPACE=PROJECT in its annotation ${projectsAnnotation} (ADDON_ARGO_CD_PROJECT)`,
  }),
  projects: (other: string) => ({
    code: "ADDON_ARGO_CD_PROJECT",
    message: `AddonSet ${other} of this cluster uses another AppProject. Use the same one (ADDON_ARGO_CD_PROJECT)`,
  }),
  server: (other: string) => ({
    code: "ADDON_ARGO_CD_SERVER_TAKEN",
    message: `Argo CD knows another cluster at this server, by Secret ${other}. Correct the kubeconfig of this cluster, or delete that Secret (ADDON_ARGO_CD_SERVER_TAKEN)`,
  }),
  unknown: ({ namespace, name }: ObjectKey) => ({
    code: "ADDON_ARGO_CD_KUBECONFIG",
    message: `there is no kubeconfig Secret ${namespace}/${name}-kubeconfig yet (ADDON_ARGO_CD_KUBECONFIG)`,
  }),
} as const;
