import type { KubeObject } from "@causeway/kubernetes";
import type { Kind } from "@causeway/api";

/** A reference of contract v1beta2: in the referrer's namespace, its version found from the kinds installed. */
export interface ContractReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** The kinds that references may name, by group and kind. */
export interface KindTable {
  readonly kinds: readonly Kind<KubeObject>[];
  find(reference: Pick<ContractReference, "apiGroup" | "kind">): Kind<KubeObject> | undefined;
}

/** Found by group and kind; the version is the kind's own. */
export function createKindTable(kinds: readonly Kind<KubeObject>[]): KindTable {
  const byName = new Map(kinds.map((kind) => [`${kind.kind}.${kind.group}`, kind]));
  return { kinds, find: (reference) => byName.get(`${reference.kind}.${reference.apiGroup}`) };
}

/** What a reference leads to. Without `kind`, no provider here serves what it names. */
export interface Referred<T extends KubeObject = KubeObject> {
  readonly reference: ContractReference;
  readonly kind: Kind<KubeObject> | undefined;
  readonly object: T | undefined;
}

/** Why there is no object behind a reference, for people. */
export function whyAbsent({ reference, kind }: Referred): string {
  if (kind) return `${reference.kind} ${reference.name} does not exist`;
  return `No provider serves ${reference.kind} of ${reference.apiGroup}: correct the reference, or start the provider`;
}

/** Where a reference points, as an index value: the objects that refer to something are found by it. */
export function referenceIndex(namespace: string, reference: ContractReference): string {
  return `${reference.kind}.${reference.apiGroup}/${namespace}/${reference.name}`;
}

/** The index value of an object itself. */
export function objectIndex(object: KubeObject): string {
  const apiGroup = object.apiVersion.split("/")[0] ?? "";
  const { namespace = "", name } = object.metadata;
  return referenceIndex(namespace, { apiGroup, kind: object.kind, name });
}
