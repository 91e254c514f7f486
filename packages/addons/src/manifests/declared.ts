import { createHash } from "node:crypto";
import { canonicalJson, CausewayError } from "@causeway/foundation";
import { idOf, idText, labels, type ObjectId } from "./names.ts";
import { applyOrder } from "./order.ts";
import type { ManifestObject } from "./parse.ts";

/** An object of an add-on as it is applied. */
export interface Declared {
  readonly id: ObjectId;
  readonly object: ManifestObject;
  readonly digest: string;
}

/** Whose objects these are, by name, as their labels say. */
export interface Owner {
  readonly set: string;
  readonly addon: string;
}

/**
 * The objects of one add-on with its labels, in the order in which they are applied. `isNamespaced`: undefined where
 * the kind is not served.
 */
export function declare(
  owner: Owner,
  objects: readonly ManifestObject[],
  isNamespaced: (object: ManifestObject) => boolean | undefined,
): Declared[] {
  return applyOrder(objects).map((given) => {
    const namespace = isNamespaced(given) === false ? undefined : (given.metadata.namespace ?? "default");
    const { namespace: _given, ...metadata } = given.metadata;
    const object: ManifestObject = {
      ...given,
      metadata: {
        ...metadata,
        ...(namespace === undefined ? {} : { namespace }),
        labels: { ...metadata.labels, [labels.set]: owner.set, [labels.addon]: owner.addon },
      },
    };
    return { id: idOf(object), object, digest: digestOf(object) };
  });
}

/**
 * Refuses a set that declares one object twice: the two would overwrite each other for ever.
 * @throws ADDON_OBJECT_TWICE
 */
export function refuseTwice(addons: readonly { readonly name: string; readonly objects: readonly Declared[] }[]): void {
  const seen = new Map<string, string>();
  for (const { name, objects } of addons) {
    for (const { id } of objects) {
      const text = idText(id);
      const before = seen.get(text);
      if (before !== undefined)
        throw new CausewayError("ADDON_OBJECT_TWICE", `${text} is declared by add-on ${before} and by add-on ${name}`, {
          hint: "Keep one of the two.",
        });
      seen.set(text, name);
    }
  }
}

/** A digest of a JSON value, whatever the order of its members: 22 characters of base64url. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url").slice(0, 22);
}
