import type { KubeObject } from "@causeway/kubernetes";
import type { Maybe } from "../json/maybe-promise.ts";

/** Turns objects of one kind into another of its versions. Never changes what it is given. */
export interface Converter {
  /** Somebody outside is asked. */
  readonly remote?: true;
  /** As many objects as came, in their order, each of `apiVersion`. None of the given ones is of it already. */
  convert(objects: readonly KubeObject[], apiVersion: string): Maybe<readonly KubeObject[]>;
}

/** The strategy None: versions differ in nothing but their name. */
export const renaming: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })),
};
