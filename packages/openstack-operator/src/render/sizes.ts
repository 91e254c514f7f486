import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Component } from "../model/component.ts";

type Size = NonNullable<OpenStackDeploymentSpec["size"]>;

const replicasBySize: Readonly<Record<Size, Readonly<Record<Component["scale"], number>>>> = {
  Tiny: { Api: 1, Worker: 1, Quorum: 1, One: 1, Node: 0 },
  Small: { Api: 3, Worker: 3, Quorum: 3, One: 1, Node: 0 },
  Medium: { Api: 3, Worker: 5, Quorum: 3, One: 1, Node: 0 },
  Large: { Api: 5, Worker: 8, Quorum: 3, One: 1, Node: 0 },
};

/** Pods of a component. A quorum has an odd number of members, and a single one remains single. */
export function replicasOf(spec: OpenStackDeploymentSpec, { service, scale }: Component): number {
  const fromSize = replicasBySize[spec.size ?? "Small"][scale];
  if (scale === "One" || scale === "Node") return fromSize;
  const wanted = spec.services?.find(({ name }) => name === service)?.replicas ?? fromSize;
  return scale === "Quorum" && wanted % 2 === 0 ? wanted + 1 : wanted;
}
