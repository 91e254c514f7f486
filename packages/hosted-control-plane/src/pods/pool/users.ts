import type { HostedControlPlane } from "@causeway/api";
import { isPooled } from "../options.ts";
import type { ShareRequest } from "../storage/shares.ts";

/** The id of a control plane, by its object. */
export const idOfObject = ({ metadata }: Pick<HostedControlPlane, "metadata">): string =>
  `${metadata.namespace}.${metadata.name}`;

/** One that is being deleted needs the shared etcd until it is gone. */
export function poolUser({ spec, status }: HostedControlPlane): { initialized?: true }[] {
  // One that is to move is measured there until it has moved.
  const isMoving = status?.storage !== undefined || (status?.migration?.stage ?? "Done") !== "Done";
  if ((status?.runtime ?? spec.runtime) !== "Pods" || !(isPooled(spec) || isMoving)) return [];
  return [status?.initialization?.controlPlaneInitialized === true ? { initialized: true } : {}];
}

/** One that is being deleted keeps what it was granted, and wants nothing more. */
export function shareRequest({ metadata, spec, status }: HostedControlPlane): ShareRequest[] {
  if ((status?.runtime ?? spec.runtime) !== "Pods" || metadata.deletionTimestamp !== undefined) return [];
  const { pods, limits } = spec;
  return [
    {
      id: idOfObject({ metadata }),
      ...(pods === undefined ? {} : { pods }),
      ...(limits?.bytes === undefined ? {} : { storageBudget: limits.bytes }),
    },
  ];
}
