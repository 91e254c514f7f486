import type { KubeObject } from "@causeway/kubernetes";
import { qualifiedNameFaults } from "../syntax/names.ts";

const STANDARD = new Set(["orphan", "foregroundDeletion", "kubernetes"]);
const PREFER = "prefer a domain-qualified finalizer name";
const PURPOSE = "to avoid accidental conflicts with other finalizer writers";

/** What writers of custom objects are warned of about finalizers that they add. */
export function finalizerWarnings(object: KubeObject, old: KubeObject | undefined): string[] {
  const known = new Set(old?.metadata.finalizers);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !known.has(name)));
  return [...added].toSorted().flatMap((name) => {
    const faults = qualifiedNameFaults(name);
    if (!name.includes("/") && !STANDARD.has(name))
      faults.push(name.includes(".") ? `${PREFER} including a path (/) ${PURPOSE}` : `${PREFER} ${PURPOSE}`);
    return faults.map((why) => `metadata.finalizers: ${JSON.stringify(name)}: ${why}`);
  });
}
