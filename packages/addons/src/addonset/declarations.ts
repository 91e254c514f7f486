import { HostedControlPlane, type AddonSet, type Cluster } from "@causeway/api";
import { CausewayError, messageOf } from "@causeway/foundation";
import { secretText, type KubeObject, type Secret } from "@causeway/kubernetes";
import { builtIn, factsOf } from "../catalogue/catalogue.ts";
import { protection, protectionName } from "../catalogue/protection.ts";
import type { Probe } from "../health/prober.ts";
import type { Session } from "../live/session.ts";
import { declare, digestOf, type Declared } from "../manifests/declared.ts";
import { labels } from "../manifests/names.ts";
import { parseManifests, type ManifestObject } from "../manifests/parse.ts";
import type { Addon, GatherFrom, ObservedAddon } from "./gather.ts";

/** One add-on with the objects that it declares. */
export type DeclaredAddon = Pick<ObservedAddon, "name" | "wave" | "digest" | "mayChange" | "refusal"> & {
  readonly objects: readonly Declared[];
  readonly probes: readonly Probe[];
};

/** What the objects of a set are made from. */
export interface DeclareFrom {
  readonly from: Pick<GatherFrom, "configMaps" | "secrets" | "controlPlanes" | "prober">;
  readonly set: AddonSet;
  readonly cluster: Cluster;
  readonly session: Session;
}

interface Parsed {
  readonly objects: readonly ManifestObject[];
  readonly probes: readonly Probe[];
}

/**
 * The objects of each add-on of a set. Manifests are parsed again only when they, their sources or the cluster changed.
 */
export class Declarations {
  readonly #kept = new Map<string, { readonly key: string; readonly value: DeclaredAddon }>();

  async of(given: DeclareFrom, signal: AbortSignal): Promise<DeclaredAddon[]> {
    const { set } = given;
    const addons: DeclaredAddon[] = [];
    for (const addon of set.spec.addons) addons.push(await this.#one(given, addon, signal));
    if (set.spec.protect === true)
      addons.push(
        await made(given, protectionAddon, () => ({ objects: protection(set.metadata.name), probes: [] }), signal),
      );
    return addons;
  }

  async #one(given: DeclareFrom, addon: Addon, signal: AbortSignal): Promise<DeclaredAddon> {
    const { set } = given;
    if (addon.application !== undefined) return handedOver(addon);
    const id = `${set.metadata.uid}/${addon.name}`;
    const key = keyOf(given, addon);
    const known = this.#kept.get(id);
    if (known?.key === key) return known.value;
    const value = await made(given, addon, () => parsed(given, addon), signal);
    // Where a kind is not served yet, it is read again whether its objects have a namespace.
    if (value.refusal === undefined && (await allServed(given, value, signal))) this.#kept.set(id, { key, value });
    return value;
  }

  forget(set: string): void {
    for (const id of this.#kept.keys()) if (id.startsWith(`${set}/`)) this.#kept.delete(id);
  }
}

/** Argo CD reads its manifests. */
function handedOver({ name, wave = 0, probes = [] }: Addon): DeclaredAddon {
  return { name, wave, mayChange: [], objects: [], digest: "", probes };
}

const protectionAddon: Addon = { name: protectionName, wave: 1000 };

function keyOf({ from, set, cluster, session }: DeclareFrom, addon: Addon): string {
  const sources = (addon.sources ?? []).map((source) => sourceOf(from, set, source)?.metadata.resourceVersion ?? "");
  return digestOf([
    set.metadata.generation,
    sources,
    cluster.spec,
    versionOf(from, cluster),
    runtimeOf(from, cluster),
    from.prober.canDial(session.remote.key),
    session.remote.client.server,
  ]);
}

async function made(
  { set, session }: DeclareFrom,
  addon: Addon,
  read: () => Parsed,
  signal: AbortSignal,
): Promise<DeclaredAddon> {
  const { name, wave = 0, mayChange = [] } = addon;
  const base = { name, wave, mayChange };
  try {
    const { objects, probes } = read();
    const scopes = new Map<string, boolean | undefined>();
    for (const { apiVersion, kind } of objects) {
      const id = `${apiVersion} ${kind}`;
      if (!scopes.has(id)) scopes.set(id, (await session.mapping.typeOf(apiVersion, kind, signal))?.namespaced);
    }
    const declared = declare({ set: set.metadata.name, addon: name }, objects, ({ apiVersion, kind }) =>
      scopes.get(`${apiVersion} ${kind}`),
    );
    return { ...base, objects: declared, probes, digest: digestOf(declared.map(({ digest }) => digest)) };
  } catch (error) {
    if (!(error instanceof CausewayError) || !error.code.startsWith("ADDON_")) throw error;
    return { ...base, objects: [], probes: [], digest: "", refusal: refusalOf(error) };
  }
}

async function allServed({ session }: DeclareFrom, addon: DeclaredAddon, signal: AbortSignal): Promise<boolean> {
  for (const { id } of addon.objects) if (!(await session.typeOf(id, signal))) return false;
  return true;
}

function parsed({ from, set, cluster, session }: DeclareFrom, addon: Addon): Parsed {
  const texts = [
    ...(addon.manifests === undefined ? [] : [addon.manifests]),
    ...(addon.sources ?? []).flatMap((source) => textsOf(sourceOf(from, set, source), source)),
  ];
  const built =
    addon.catalogue && builtIn(addon.catalogue, factsOf(cluster, versionOf(from, cluster), runtimeOf(from, cluster)));
  return {
    objects: [...(built?.objects ?? []), ...parseManifests(texts)],
    // Built-in proofs are made where they can be; those of the user must succeed.
    probes: [...(from.prober.canDial(session.remote.key) ? (built?.probes ?? []) : []), ...(addon.probes ?? [])],
  };
}

type Source = NonNullable<Addon["sources"]>[number];

function sourceOf(from: DeclareFrom["from"], set: AddonSet, { kind, name }: Source): KubeObject | undefined {
  const informer = kind === "ConfigMap" ? from.configMaps : from.secrets;
  return informer.get({ namespace: set.metadata.namespace ?? "", name });
}

function textsOf(source: KubeObject | undefined, { kind, name }: Source): string[] {
  if (source === undefined)
    throw new CausewayError(
      "ADDON_SOURCE_MISSING",
      `${kind} ${name} does not exist or lacks label ${labels.source}: "true"`,
      {
        hint: "Create it, or add the label.",
      },
    );
  const { data = {} } = source as { data?: Record<string, string> };
  const keys = Object.keys(data).toSorted();
  return keys.map((key) => (kind === "ConfigMap" ? (data[key] ?? "") : (secretText(source as Secret, key) ?? "")));
}

type Planes = Pick<DeclareFrom["from"], "controlPlanes">;

/** The version that built-in add-ons follow. */
export function versionOf(from: Planes, cluster: Cluster): string | undefined {
  if (cluster.spec.controlPlaneRef?.kind !== HostedControlPlane.kind) return cluster.spec.topology?.version;
  return hostedOf(from, cluster)?.status?.version;
}

/** What runs its hosted control plane. */
const runtimeOf = (from: Planes, cluster: Cluster): string | undefined => hostedOf(from, cluster)?.status?.runtime;

function hostedOf({ controlPlanes }: Planes, { metadata, spec }: Cluster): HostedControlPlane | undefined {
  const { name = "", kind } = spec.controlPlaneRef ?? {};
  return kind === HostedControlPlane.kind
    ? controlPlanes.get({ namespace: metadata.namespace ?? "", name })
    : undefined;
}

/** Throws what is not a refusal. */
export function refusalOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof CausewayError)) throw error;
  const hint = error.hint === undefined ? "" : `. ${error.hint}`;
  return { code: error.code, message: `${messageOf(error)}${hint} (${error.code})` };
}
