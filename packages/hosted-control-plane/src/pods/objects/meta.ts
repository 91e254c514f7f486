import type { LabelSelector, ObjectMeta } from "@causeway/kubernetes";
import { componentLabel, managedBy, managedByLabel } from "../tenant.ts";

export function labelsOf(component: string): Record<string, string> {
  return { [managedByLabel]: managedBy, [componentLabel]: component };
}

export function selectorOf(component: string): LabelSelector {
  return { matchLabels: labelsOf(component) };
}

export function namedMeta(namespace: string, name: string, component: string): ObjectMeta {
  return { namespace, name, labels: labelsOf(component) };
}
