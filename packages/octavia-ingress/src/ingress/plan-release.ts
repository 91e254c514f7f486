import type { LoadBalancer, FloatingIp, SecurityGroup } from "@causeway/openstack";
import { isAnothers } from "../balancer/plan-balancer.ts";
import { earlierCreateUntil, type EarlierProcess } from "../balancer/plan-earlier.ts";
import { isCertificateOf, type Owner } from "../names.ts";
import type { Ingress } from "../objects/ingress.ts";
import type { Observed } from "./observed.ts";
import { parametersOf } from "./parameters.ts";

/** What another key deletes is searched for again after this long (ms). */
const RECHECK = 15_000;

/** What the cloud has by the names and tags of an Ingress's own load balancer. */
export interface OwnResources {
  readonly loadBalancers: readonly LoadBalancer[];
  /** Of all owners. */
  readonly certificates: readonly { readonly name: string }[];
  readonly floatingIps: readonly Pick<FloatingIp, "description">[];
  readonly securityGroups: readonly SecurityGroup[];
}

/** An Ingress that leaves a shared load balancer, and what it has in the cloud from before it shared one. */
export interface LeavingIngress {
  readonly ingress: Ingress;
  readonly owner: Owner;
  /** Until when (ms since the epoch) a create for it may be under way without being listed. */
  readonly uncertainUntil: number;
  /** Undefined: not read, because of `uncertainUntil`. */
  readonly own: OwnResources | undefined;
}

/** Until when a create of this process, or of an earlier one, may be under way without being listed. */
export function uncertainUntil(backoff: number | undefined, earlier: EarlierProcess): number {
  return Math.max(backoff ?? 0, earlierCreateUntil(earlier) ?? 0);
}

/**
 * Which Ingresses may go: those that have nothing of their own any more. The key of each deletes what it has from
 * before it shared a load balancer, and needs the Ingress until then; `blocked` is when to read again.
 */
export function releaseOf(leaving: readonly LeavingIngress[], now: number): Pick<Observed, "released" | "blocked"> {
  const checked = leaving.map((each) => ({ each, until: checkAgain(each, now) }));
  const times = checked.flatMap(({ until }) => until ?? []);
  return {
    released: checked.flatMap(({ each, until }) => (until === undefined ? [each.ingress] : [])),
    blocked: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** Undefined: the Ingress has nothing of its own. */
function checkAgain(
  { ingress, owner, uncertainUntil: uncertain, own }: LeavingIngress,
  now: number,
): number | undefined {
  if (!own) return uncertain;
  const keepsAddress = parametersOf(ingress).keepFloatingIp;
  const hasSome =
    own.loadBalancers.some((lb) => !isAnothers(lb, owner)) ||
    own.certificates.some(({ name }) => isCertificateOf(owner, name)) ||
    (!keepsAddress && own.floatingIps.some(({ description }) => description === owner.floatingIpDescription)) ||
    own.securityGroups.length > 0;
  return hasSome ? now + RECHECK : undefined;
}
