import { AddonSet, Cluster } from "@causeway/api";
import { isEmptySelector, matchesSelector, type Informer, type Informers, type ObjectKey } from "@causeway/kubernetes";
import { isMadeFor, nameFor } from "./names.ts";

/** What an AddonSet for many clusters is planned from. */
export interface Observed {
  readonly set: AddonSet;
  /** Names of the clusters that it selects. */
  readonly clusters: readonly string[];
  /** The AddonSets that were made for it. */
  readonly made: readonly AddonSet[];
  /** Names that it needs and that AddonSets have which were not made for it. */
  readonly taken: ReadonlySet<string>;
}

/** The caches that gather reads. */
export interface GatherFrom {
  readonly sets: Informer<AddonSet>;
  readonly clusters: Informer<Cluster>;
}

/** Opens the caches; they are complete once `informers` have synced. */
export function openInformers(informers: Informers): GatherFrom {
  return { sets: informers.for(AddonSet), clusters: informers.for(Cluster) };
}

/** Undefined: there is none, or it is of one cluster. */
export async function gather({ sets, clusters }: GatherFrom, key: ObjectKey): Promise<Observed | undefined> {
  const set = sets.get(key);
  const selector = set?.spec.clusterSelector;
  if (set === undefined || selector === undefined) return undefined;
  const selected = clusters
    .list(key.namespace)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && !isEmptySelector(selector))
    .filter(({ metadata }) => matchesSelector(selector, metadata.labels ?? {}))
    .map(({ metadata }) => metadata.name)
    .toSorted();
  const all = sets.list(key.namespace);
  const needed = new Set(selected.map((cluster) => nameFor(key.name, cluster)));
  const foreign = all.filter((each) => needed.has(each.metadata.name) && !isMadeFor(each, set));
  return {
    set,
    clusters: selected,
    made: all.filter((each) => isMadeFor(each, set)),
    taken: new Set(foreign.map(({ metadata }) => metadata.name)),
  };
}
