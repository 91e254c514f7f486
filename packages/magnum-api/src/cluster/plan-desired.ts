import type { Manifest } from "@causeway/api";
import { desiredManifests } from "./desired.ts";
import type { Observed } from "./gather.ts";
import { arePoolsSettled } from "./pools.ts";

/** What was observed of a cluster, and what it is to consist of. */
export interface Decided extends Observed {
  readonly desired: readonly Manifest[];
}

/** The manifests of a cluster, from its row and from the objects that there are. */
export function decide(observed: Observed): Decided {
  const { object, installation, cluster, controlPlane, infrastructure, deployments, machines } = observed;
  const pools = new Map(
    deployments.map(({ metadata, spec }) => [
      metadata.name,
      { replicas: spec.replicas, annotations: metadata.annotations },
    ]),
  );
  const isSettled = arePoolsSettled(observed);
  const existing = { pools, cluster, controlPlane, infrastructure, machines, isSettled };
  return { ...observed, desired: desiredManifests(object, installation, existing) };
}
