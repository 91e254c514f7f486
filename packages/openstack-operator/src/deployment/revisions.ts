import type { KubeObject, Pod } from "@causeway/kubernetes";
import { labels } from "../model/names.ts";
import type { Observed } from "./gather.ts";

/** Configuration and credentials that nothing refers to: no workload, no ReplicaSet of its history, no pod. */
export function unusedRevisions(observed: Observed, wanted: ReadonlySet<string>): KubeObject[] {
  const obsolete = [...observed.objects.values()].filter(
    (object) =>
      object.metadata.labels?.[labels.revision] !== undefined && !wanted.has(`${object.kind}/${object.metadata.name}`),
  );
  if (obsolete.length === 0) return [];
  const used = new Set<string>();
  const users = [...observed.objects.values(), ...observed.pods, ...observed.replicaSets];
  for (const user of users) for (const name of referencesOf(user)) used.add(name);
  return obsolete.filter(({ metadata }) => !used.has(metadata.name));
}

/** Objects of a cache are never changed, so that what they refer to is found once for each. */
const known = new WeakMap<KubeObject, readonly string[]>();

function referencesOf(object: KubeObject): readonly string[] {
  const cached = known.get(object);
  if (cached) return cached;
  const found = volumesOf(object).flatMap(namesOf);
  known.set(object, found);
  return found;
}

function volumesOf(object: KubeObject): Record<string, unknown>[] {
  const spec = (object as Partial<Pod>).spec as
    | { volumes?: unknown; template?: { spec?: { volumes?: unknown } } }
    | undefined;
  const volumes = spec?.volumes ?? spec?.template?.spec?.volumes;
  return Array.isArray(volumes) ? (volumes as Record<string, unknown>[]) : [];
}

interface Source {
  readonly configMap?: { readonly name?: string };
  readonly secret?: { readonly name?: string; readonly secretName?: string };
  readonly projected?: { readonly sources?: readonly Source[] };
}

function namesOf(source: Source): string[] {
  const own = [source.configMap?.name, source.secret?.secretName, source.secret?.name].filter(
    (name) => name !== undefined,
  );
  return [...own, ...(source.projected?.sources ?? []).flatMap(namesOf)];
}
