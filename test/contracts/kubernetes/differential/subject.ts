import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";

/** A kind that operations are about. */
export interface Subject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Custom resources take no strategic merge patch. */
  readonly custom: boolean;
  readonly subresources: readonly ("status" | "scale")[];
  /** Field selectors to try. */
  readonly selectors: readonly string[];
  /** Everything but apiVersion, kind, metadata and status. */
  body(choices: Choices): Json;
  status?(choices: Choices): unknown;
  /** Names of the objects, where plain ones do not do. */
  readonly names?: readonly [string, ...string[]];
  /** Other served versions of the kind. */
  readonly otherVersions?: readonly string[];
}

/** "/apis/GROUP/VERSION" or "/api/v1". */
export function rootOf(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Labels, annotations, finalizers and owners, valid most of the time. */
export function metadata(choices: Choices): Json {
  return choices.fields(20, {
    labels: () => choices.fields(60, { app: () => choices.pick(["x", "y"]), tier: () => choices.pick(["1", "2", ""]) }),
    annotations: () => choices.fields(60, { note: () => choices.pick(["a", "b"]), "example.com/long": () => "c d" }),
    finalizers: () => choices.several(1, 2, (i) => ["example.com/hold", "example.com/more"][i]),
    ownerReferences: () =>
      choices.several(1, 2, (i) => ({
        apiVersion: "example.com/v1",
        kind: "Nothing",
        name: choices.pick(["owner", "other"]),
        uid: `owner-${i}`,
        ...choices.fields(20, { controller: () => true, blockOwnerDeletion: () => true }),
      })),
  });
}
