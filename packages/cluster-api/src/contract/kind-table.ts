import { CausewayError } from "@causeway/foundation";
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
  /** Throws CAPI_KIND_UNKNOWN. */
  resolve(reference: Pick<ContractReference, "apiGroup" | "kind">): Kind<KubeObject>;
}

export function createKindTable(kinds: readonly Kind<KubeObject>[]): KindTable {
  const byName = new Map(kinds.map((kind) => [`${kind.kind}.${kind.group}`, kind]));
  const find = (reference: Pick<ContractReference, "apiGroup" | "kind">) =>
    byName.get(`${reference.kind}.${reference.apiGroup}`);
  return {
    kinds,
    find,
    resolve(reference) {
      const kind = find(reference);
      if (kind) return kind;
      throw new CausewayError(
        "CAPI_KIND_UNKNOWN",
        `no provider here serves ${reference.kind} of ${reference.apiGroup}`,
        {
          hint: `Correct the reference, or start the provider that brings ${reference.kind}.`,
        },
      );
    },
  };
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
