import type { LabelSelector, ObjectMeta } from "@causeway/kubernetes";
import { componentLabel, managedBy, managedByLabel } from "../tenant.ts";

/** The labels of all objects of one program. */
export function labelsOf(component: string): Record<string, string> {
  return { [managedByLabel]: managedBy, [componentLabel]: component };
}

/** Selects the pods of one program in a tenant's namespace. */
export function selectorOf(component: string): LabelSelector {
  return { matchLabels: labelsOf(component) };
}

/** The metadata of an object of one program. */
export function namedMeta(namespace: string, name: string, component: string): ObjectMeta {
  return { namespace, name, labels: labelsOf(component) };
}
