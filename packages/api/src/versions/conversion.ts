import type { KubeObject } from "@causeway/kubernetes";
import type { Kind, KindVersion } from "../kind.ts";

/** The conversions of one kind between its versions, as an API server of this process takes them. */
export interface ConversionOfKind {
  readonly group: string;
  readonly kind: string;
  /** The version that all others convert to and from. */
  readonly hub: string;
  readonly spokes: Readonly<
    Record<string, { toHub(object: KubeObject): KubeObject; fromHub(object: KubeObject): KubeObject }>
  >;
}

/** The conversions of the kinds that are served at several versions. */
export function conversionsOf(kinds: readonly Kind<KubeObject>[]): ConversionOfKind[] {
  const several = kinds.filter(({ versions }) => versions.length > 0);
  return several.map(({ group, kind, version, versions }) => ({
    group,
    kind,
    hub: version,
    spokes: Object.fromEntries(versions.map((older) => [older.name, spokeOf(older)])),
  }));
}

function spokeOf({ toStored, fromStored }: KindVersion): ConversionOfKind["spokes"][string] {
  return { toHub: toStored, fromHub: fromStored };
}

/**
 * An object as another version of its kind. @throws Error if one of the versions is not served, or a value cannot be
 * converted
 */
export function convertObject(kinds: readonly Kind<KubeObject>[], object: KubeObject, apiVersion: string): KubeObject {
  if (object.apiVersion === apiVersion) return object;
  const [group, version] = split(object.apiVersion);
  const [desiredGroup, desired] = split(apiVersion);
  const kind = kinds.find((one) => one.group === group && one.kind === object.kind);
  if (!kind || desiredGroup !== group) throw new Error(`no kind ${object.kind} of ${apiVersion} is served here`);
  const from = (name: string): KindVersion => {
    const found = kind.versions.find((one) => one.name === name);
    if (!found) throw new Error(`${kind.kind} is not served at version ${name}`);
    return found;
  };
  const stored = version === kind.version ? object : from(version).toStored(object);
  return desired === kind.version ? stored : from(desired).fromStored(stored);
}

function split(apiVersion: string): [string, string] {
  const slash = apiVersion.indexOf("/");
  return [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
}
