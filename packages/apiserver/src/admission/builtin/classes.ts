import type { KubeObject } from "@causeway/kubernetes";
import type { Draft, Strategy, WriteContext } from "../../contract/resource.ts";
import { record } from "../../json/json.ts";

/*
 * The classes that are marked as default (admission plugins DefaultStorageClass and DefaultIngressClass). Source:
 * Kubernetes, "Admission Control".
 */

type Mutate = NonNullable<Strategy["mutate"]>;

const STORAGE_MARKS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const INGRESS_MARKS = ["ingressclass.kubernetes.io/is-default-class"];
/** The older places of the classes. */
const STORAGE_NOTE = "volume.beta.kubernetes.io/storage-class";
const INGRESS_NOTE = "kubernetes.io/ingress.class";

/** A claim that names no class, not even "", gets the default one. */
export const defaultStorageClass: Mutate = (claim, context) => {
  const found = (): string | undefined => defaultOf(context, "storage.k8s.io/storageclasses", STORAGE_MARKS);
  fill(claim, { field: "storageClassName", note: STORAGE_NOTE, found });
};

/** An Ingress that names no class gets the default one. */
export const defaultIngressClass: Mutate = (ingress, context) => {
  const found = (): string | undefined => defaultOf(context, "networking.k8s.io/ingressclasses", INGRESS_MARKS);
  fill(ingress, { field: "ingressClassName", note: INGRESS_NOTE, found });
};

interface Named {
  readonly field: string;
  readonly note: string;
  readonly found: () => string | undefined;
}

function fill(draft: Draft, { field, note, found }: Named): void {
  const spec = record(draft["spec"]);
  const given = spec[field];
  if ((given !== undefined && given !== null) || draft.metadata.annotations?.[note] !== undefined) return;
  const name = found();
  if (name !== undefined) draft["spec"] = { ...spec, [field]: name };
}

/** The newest of those that are marked; of equally old ones the first by name. */
function defaultOf({ cluster }: WriteContext, resource: string, marks: readonly string[]): string | undefined {
  const { items } = cluster.store.list({ cluster: cluster.name, resource });
  const marked = items
    .map(({ object }) => object)
    .filter(({ metadata }) => marks.some((mark) => metadata.annotations?.[mark] === "true"));
  // The store lists by name.
  return marked.toSorted((a, b) => age(b).localeCompare(age(a)))[0]?.metadata.name;
}

const age = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? "";
