import { CLASS_ANNOTATION, FINALIZER } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import { parametersOf, type ClassParameters } from "./parameters.ts";

/** Which Ingresses a load balancer is for, and which leave it. */
export interface Scope {
  /** The oldest first. */
  readonly served: readonly Ingress[];
  /** They have our finalizer, and are no longer to be served here. */
  readonly released: readonly Ingress[];
  readonly keepFloatingIp: boolean;
  /** An earlier process may have created something for it. */
  readonly held: boolean;
}

/** Whether a deletion of the Ingress was requested. */
export function isGoing({ metadata }: Ingress): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether the Ingress has our finalizer: there may be something in the cloud for it. */
export function isHeld({ metadata }: Ingress): boolean {
  return metadata.finalizers?.includes(FINALIZER) === true;
}

/** It names a class that does not exist: a class that is installed again must not cost what it served. */
export function awaitsClass({ metadata, spec }: Ingress, hasClass: (name: string) => boolean): boolean {
  const { ingressClassName: name } = spec;
  return metadata.annotations?.[CLASS_ANNOTATION] === undefined && name !== undefined && !hasClass(name);
}

/**
 * An Ingress with a load balancer of its own, or that had one. `parameters` undefined: it is another controller's, or
 * its class is gone. Undefined: there is nothing to do for it.
 */
export function scopeOfOne(
  ingress: Ingress,
  parameters: Pick<ClassParameters, "shared"> | undefined,
  isWithoutClass: boolean,
): Scope | undefined {
  const held = isHeld(ingress);
  if (!parameters && (!held || (isWithoutClass && !isGoing(ingress)))) return undefined;
  const shared = parameters?.shared === true;
  // What it shared is deleted by the class's key, though the class is gone.
  const common = shared || (!parameters && isWithoutClass);
  const serve = parameters !== undefined && !shared && !isGoing(ingress);
  return {
    served: serve ? [ingress] : [],
    // The finalizer of one that shares a load balancer is the class's to remove.
    released: serve || common || !held ? [] : [ingress],
    keepFloatingIp: parametersOf(ingress).keepFloatingIp,
    held,
  };
}

/** The Ingresses of a class: those that share its load balancer, and those that leave it. */
export function scopeOfClass(
  ingresses: readonly Ingress[],
  { shared }: Pick<ClassParameters, "shared">,
): Pick<Scope, "served" | "held"> & { readonly leaving: readonly Ingress[] } {
  return {
    served: shared ? ingresses.filter((ingress) => !isGoing(ingress)).toSorted(byAge) : [],
    leaving: shared ? ingresses.filter((ingress) => isGoing(ingress) && isHeld(ingress)) : [],
    held: ingresses.some(isHeld),
  };
}

/**
 * The Ingresses of a class that is gone: what they share remains as long as one of them waits for the class to be
 * installed again (`kept`), and is deleted before the last of them goes. Undefined: there is nothing to do.
 */
export function scopeOfOrphans(
  held: readonly Ingress[],
  isAbandoned: boolean,
): { readonly leaving: readonly Ingress[]; readonly kept: boolean } | undefined {
  const leaving = held.filter(isGoing);
  const kept = leaving.length < held.length;
  return leaving.length === 0 && (kept || !isAbandoned) ? undefined : { leaving, kept };
}

/** Whether a floating IP remains although its load balancer is deleted. */
export function keepsFloatingIp(leaving: readonly Ingress[]): boolean {
  return leaving.some((ingress) => parametersOf(ingress).keepFloatingIp);
}

function byAge(a: Ingress, b: Ingress): number {
  const text = ({ metadata: m }: Ingress): string => `${m.creationTimestamp} ${m.namespace}/${m.name}`;
  return text(a) < text(b) ? -1 : 1;
}
