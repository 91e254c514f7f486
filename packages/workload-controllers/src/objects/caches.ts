import { controllerOf, Pod, type Informer, type KubeObject } from "@causeway/kubernetes";
import type { Context } from "../context.ts";

/** Names of indexes. */
export const by = {
  /** The uid of the controller. */
  controller: "controller",
  /** The namespace of an object without a controller. */
  orphan: "orphan",
  namespace: "namespace",
};

/** The pods of the cluster, indexed by controller, by namespace, and by namespace if they have no controller. */
export function podsOf(context: Context): Informer<Pod> {
  return indexed(context, context.informers.for(Pod));
}

/** The informer with the indexes `by`. */
export function indexed<T extends KubeObject>({ informers }: Context, informer: Informer<T>): Informer<T> {
  informers.index(informer, {
    [by.controller]: (object) => {
      const uid = controllerOf(object)?.uid;
      return uid === undefined ? [] : [uid];
    },
    [by.orphan]: (object) => (controllerOf(object) ? [] : [object.metadata.namespace ?? ""]),
    [by.namespace]: ({ metadata }) => [metadata.namespace ?? ""],
  });
  return informer;
}
