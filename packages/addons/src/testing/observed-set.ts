import type { AddonSet, Cluster } from "@causeway/api";
import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import type { Observed, ObservedAddon, ObservedObject, StaleObject } from "../addonset/gather.ts";
import type { Session } from "../live/session.ts";
import type { Drift } from "../live/tracker.ts";
import type { Declared } from "../manifests/declared.ts";
import type { ObjectId } from "../manifests/names.ts";

/** When plans of tests are made. */
export const NOW = Date.parse("2026-03-01T12:00:00Z");
const type = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
} as ResourceType<KubeObject>;
/** Of an object in kube-system. */
export const idOf = (name: string, kind = "ConfigMap"): ObjectId => ({
  apiVersion: "v1",
  kind,
  namespace: "kube-system",
  name,
});

interface ObjectOf extends Partial<Omit<ObservedObject, "declared">> {
  readonly name?: string;
  readonly kind?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One declared object; as declared, unless something else is said. */
export function object({
  name = "a",
  state = "current",
  known = state !== "missing",
  kind,
  annotations,
  ...rest
}: ObjectOf = {}): ObservedObject {
  const metadata = { name, annotations };
  const declared = { id: idOf(name, kind), digest: `digest-${name}`, object: { metadata } } as unknown as Declared;
  return { declared, state, known, resource: type, ...rest };
}

/** An add-on of wave 0. */
export function addon(
  name: string,
  objects: readonly ObservedObject[],
  rest: Partial<ObservedAddon> = {},
): ObservedAddon {
  const base = {
    name,
    wave: 0,
    digest: `digest-${name}`,
    mayChange: [],
    stale: [],
    probes: { problems: [], due: undefined },
  };
  return { ...base, objects, ...rest };
}

interface SetOf {
  readonly recorded?: Readonly<Record<string, readonly string[]>>;
  readonly states?: Readonly<Record<string, string>>;
  readonly metadata?: Partial<AddonSet["metadata"]>;
  readonly spec?: Partial<AddonSet["spec"]>;
}

/** Everything that the add-ons have is recorded in the status, unless `recorded` says otherwise. */
export function observed(addons: readonly ObservedAddon[], given: SetOf = {}, rest: Partial<Observed> = {}): Observed {
  const names =
    given.recorded ??
    Object.fromEntries(addons.map((each) => [each.name, each.objects.map(({ declared }) => declared.id.name)]));
  const status = {
    addons: Object.entries(names).map(([name, objects]) => ({
      name,
      state: given.states?.[name] ?? "Applied",
      objects: objects.map((each) => idOf(each)),
    })),
  };
  const cluster = { metadata: { name: "blue", uid: "c" }, spec: {} } as unknown as Cluster;
  const set = {
    metadata: { name: "base", ownerReferences: [{ uid: "c" }], ...given.metadata },
    spec: { clusterName: "blue", addons: [], ...given.spec },
    status,
  } as unknown as AddonSet;
  return { set, cluster, version: "v1.34.4", session: {} as Session, addons, removed: [], others: new Set(), ...rest };
}

/** An object that is no longer declared. */
export const stale = (name: string, kind = "ConfigMap", more: Partial<StaleObject> = {}): StaleObject => ({
  id: idOf(name, kind),
  resource: type,
  ...more,
});
/** Another writer changes an object again and again. */
export const fight: Drift = { changes: [{ path: ["data", "x"] } as never], managers: ["kubectl"], times: 9, at: NOW };
