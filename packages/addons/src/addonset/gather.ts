import { AddonSet, Cluster, HostedControlPlane } from "@causeway/api";
import type { Clock } from "@causeway/foundation";
import {
  ConfigMap,
  Secret,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type RemoteClusters,
  type ResourceType,
} from "@causeway/kubernetes";
import { observeArgo, type ArgoFrom, type ObservedApplication, type ObservedArgo } from "../argo/observe.ts";
import { isJudged } from "../health/object-health.ts";
import type { Probe, Prober } from "../health/prober.ts";
import { refuseTwice, type Declared } from "../manifests/declared.ts";
import { idText, labels, type ObjectId } from "../manifests/names.ts";
import type { Session } from "../live/session.ts";
import type { Drift } from "../live/tracker.ts";
import { statusOf } from "./addon-status.ts";
import { refusalOf, versionOf, type Declarations } from "./declarations.ts";

/** One add-on of the spec. */
export type Addon = AddonSet["spec"]["addons"][number];

/** How one declared object is, by its metadata. */
export interface ObservedObject {
  readonly declared: Declared;
  /** "unserved": no resource of the kind; "unread": its list has not arrived; "foreign": another set has it. */
  readonly state: "unserved" | "unread" | "missing" | "ending" | "foreign" | "unapplied" | "changed" | "current";
  readonly resource?: ResourceType<KubeObject>;
  /** Another set that has the object. */
  readonly set?: string;
  /** It was applied before with this content: it is restored, not installed. */
  readonly known: boolean;
  /** Why the live object cannot become what is declared, though a new one could be that. */
  readonly immutable?: string;
  /** Why it does not work. */
  readonly problem?: string;
  /** What was changed when it was restored last. */
  readonly drift?: Drift;
}

/** An object that was applied and is no longer declared. */
export interface StaleObject {
  readonly id: ObjectId;
  readonly resource: ResourceType<KubeObject>;
  /** The list of its kind has not arrived: whether it is still there, and whose it is, is not known. */
  readonly isUnread?: true;
}

/** What plan reads of one add-on: what it declares, and what of that is in the cluster. */
export interface ObservedAddon {
  readonly name: string;
  readonly wave: number;
  readonly digest: string;
  readonly mayChange: NonNullable<Addon["mayChange"]>;
  /** Argo CD applies it. */
  readonly application?: ObservedApplication;
  readonly objects: readonly ObservedObject[];
  /** Why its objects are not known: manifests that are refused, or sources that are missing. */
  readonly refusal?: { readonly code: string; readonly message: string };
  readonly stale: readonly StaleObject[];
  /** Failed proofs, and when the next is due. */
  readonly probes: { readonly problems: readonly string[]; readonly due: number | undefined };
}

/** Everything that the plan of one AddonSet is made from. */
export interface Observed {
  readonly set: AddonSet;
  readonly cluster: Cluster | undefined;
  /** Of Kubernetes, of the control plane; undefined: it is not known yet. */
  readonly version: string | undefined;
  /** Undefined: the workload cluster is not connected. */
  readonly session: Session | undefined;
  readonly addons: readonly ObservedAddon[];
  /** Objects of add-ons that are no longer in the spec, by name of the add-on. */
  readonly removed: readonly { readonly name: string; readonly stale: readonly StaleObject[] }[];
  /** Other sets of the cluster. */
  readonly others: ReadonlySet<string>;
  /** Undefined: nothing is handed to Argo CD. */
  readonly argo?: ObservedArgo;
  /** Why the set as a whole is refused. */
  readonly refusal?: { readonly code: string; readonly message: string };
}

/** What gather reads from: caches of the management cluster, and connections to workload clusters. */
export interface GatherFrom {
  readonly sets: Informer<AddonSet>;
  readonly clusters: Informer<Cluster>;
  readonly controlPlanes: Informer<HostedControlPlane>;
  readonly configMaps: Informer<ConfigMap>;
  readonly secrets: Informer<Secret>;
  readonly argo: Omit<ArgoFrom, "sets">;
  readonly remoteClusters: RemoteClusters;
  readonly sessionOf: (key: ObjectKey) => Session | undefined;
  readonly declarations: Declarations;
  readonly prober: Prober;
  readonly clock: Clock;
}

/** Opens the caches; of ConfigMaps and Secrets only those with the label of sources are kept. */
export function openInformers(
  informers: Informers,
): Pick<GatherFrom, "sets" | "clusters" | "controlPlanes" | "configMaps" | "secrets"> {
  const labelSelector = `${labels.source}=true`;
  return {
    sets: informers.for(AddonSet),
    clusters: informers.for(Cluster),
    controlPlanes: informers.for(HostedControlPlane),
    configMaps: informers.for(ConfigMap, { labelSelector }),
    secrets: informers.for(Secret, { labelSelector }),
  };
}

/**
 * Undefined: there is no such AddonSet, or it selects clusters. Without a connection to the cluster nothing is known of
 * its add-ons.
 */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const set = from.sets.get(key);
  // One that selects clusters has an AddonSet for each of them.
  if (set?.spec.clusterName === undefined) return undefined;
  const clusterKey = { namespace: key.namespace, name: set.spec.clusterName };
  const cluster = from.clusters.get(clusterKey);
  const session = cluster && from.sessionOf(clusterKey);
  const others = new Set(
    from.sets
      .list(key.namespace)
      .filter(({ metadata, spec }) => metadata.name !== key.name && spec.clusterName === set.spec.clusterName)
      .map(({ metadata }) => metadata.name),
  );
  const version = cluster && versionOf(from, cluster);
  const argo = await observeArgo({ ...from.argo, sets: from.sets }, set, clusterKey, signal);
  const base = { set, cluster, version, session, others, ...(argo ? { argo } : {}) };
  if (!cluster || !session) return { ...base, addons: [], removed: [] };
  const declared = await from.declarations.of({ from, set, cluster, session }, signal);
  const using = { from, set, session, cluster: clusterKey, others };
  const addons: ObservedAddon[] = [];
  for (const addon of declared) {
    const application = argo?.applications.get(addon.name);
    if (application) {
      // What was applied here before is Argo CD's now: it is not pruned.
      const probes = await probe(using, [], application.state === "current" ? addon.probes : [], signal);
      addons.push({ ...addon, application, digest: application.digest, objects: [], stale: [], probes });
      continue;
    }
    const stale = await staleOf(using, addon.name, addon.objects, signal);
    const objects: ObservedObject[] = [];
    for (const object of addon.objects) objects.push(await observe(using, addon, object, signal));
    const probes = await probe(using, objects, addon.probes, signal);
    addons.push({ ...addon, objects, stale, probes });
  }
  const names = new Set(declared.map(({ name }) => name));
  const removed: { name: string; stale: StaleObject[] }[] = [];
  for (const { name } of set.status?.addons ?? [])
    if (!names.has(name)) removed.push({ name, stale: await staleOf(using, name, [], signal) });
  return { ...base, addons, removed, ...refusalOfSet(declared) };
}

interface ReadContext {
  readonly from: GatherFrom;
  readonly set: AddonSet;
  readonly session: Session;
  readonly cluster: ObjectKey;
  readonly others: ReadonlySet<string>;
}

function refusalOfSet(addons: Parameters<typeof refuseTwice>[0]): Pick<Observed, "refusal"> {
  try {
    refuseTwice(addons);
    return {};
  } catch (error) {
    return { refusal: refusalOf(error) };
  }
}

async function observe(
  { from: _from, set, session, others }: ReadContext,
  addon: { readonly name: string; readonly digest: string },
  declared: Declared,
  signal: AbortSignal,
): Promise<ObservedObject> {
  const { id, digest } = declared;
  const text = idText(id);
  const tracker = session.trackerOf(set.metadata.name);
  const installed = statusOf(set, addon.name)?.digest === addon.digest;
  const known = tracker.hasApplied(text, digest) || installed;
  const drift = tracker.driftOf(text);
  const base = { declared, known, ...(drift ? { drift } : {}) };
  const resource = await session.typeOf(id, signal);
  if (!resource) return { ...base, state: "unserved" };
  const informer = await session.metadata(resource, signal);
  if (!informer) return { ...base, resource, state: "unread" };
  const live = informer.get({ namespace: id.namespace, name: id.name });
  if (!live) return { ...base, resource, state: "missing" };
  if (live.metadata.deletionTimestamp !== undefined) return { ...base, resource, state: "ending" };
  const owner = live.metadata.labels?.[labels.set];
  if (owner !== undefined && others.has(owner)) return { ...base, resource, state: "foreign", set: owner };
  const state = tracker.stateOf(text, digest, live);
  const immutable = tracker.immutableOf(text, digest, live);
  if (immutable !== undefined) return { ...base, resource, state, immutable };
  const problem = isJudged(id.kind) ? await session.problemOf(resource, live, signal) : undefined;
  return { ...base, resource, state, ...(problem === undefined ? {} : { problem }) };
}

async function staleOf(
  { set, session }: ReadContext,
  addon: string,
  objects: readonly Declared[],
  signal: AbortSignal,
): Promise<StaleObject[]> {
  const declared = new Set(objects.map(({ id }) => idText(id)));
  const stale: StaleObject[] = [];
  for (const { namespace = "", ...rest } of statusOf(set, addon)?.objects ?? []) {
    const id = { ...rest, namespace };
    if (declared.has(idText(id))) continue;
    const resource = await session.typeOf(id, signal);
    const informer = resource && (await session.metadata(resource, signal));
    if (resource && !informer) stale.push({ id, resource, isUnread: true });
    const live = informer?.get({ namespace, name: id.name });
    const labelled = live?.metadata.labels;
    if (resource && labelled?.[labels.set] === set.metadata.name && labelled[labels.addon] === addon)
      if (live?.metadata.deletionTimestamp === undefined) stale.push({ id, resource });
  }
  return stale;
}

/** Proofs are made when every object is there: before that they would only fail. */
async function probe(
  { from, cluster }: ReadContext,
  objects: readonly ObservedObject[],
  probes: readonly Probe[],
  signal: AbortSignal,
): Promise<ObservedAddon["probes"]> {
  if (probes.length === 0 || objects.some(({ state }) => state !== "current")) return { problems: [], due: undefined };
  const results = await Promise.all(probes.map((each) => from.prober.result(cluster, each, signal)));
  return {
    problems: results.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
    due: Math.min(...results.map(({ due }) => due)),
  };
}
