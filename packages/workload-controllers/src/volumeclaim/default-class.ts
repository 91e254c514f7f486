import type { StorageClass } from "../objects/storage.ts";

const marks = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** The newest of the classes that are marked as default. */
export function defaultOf(classes: readonly StorageClass[]): StorageClass | undefined {
  const marked = classes.filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"));
  const age = ({ metadata }: StorageClass) => metadata.creationTimestamp ?? "";
  return marked.toSorted((a, b) => age(b).localeCompare(age(a)) || a.metadata.name.localeCompare(b.metadata.name))[0];
}
