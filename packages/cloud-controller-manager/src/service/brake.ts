import { differencesOf, type Difference, type Service, type StepAim } from "@causeway/kubernetes";
import {
  isBadRequest,
  isDeletionsHeld,
  isForbidden,
  isNotImplemented,
  isOpenStackConflict,
  isQuotaExceeded,
  type MemberCreate,
} from "@causeway/openstack";
import type { AddressObserved, Observed, TreeObserved } from "./observed.ts";
import { annotation } from "../config/annotations.ts";
import type { OneStep, Step } from "./steps.ts";

/** The cloud refuses the call for what it is (400, 403, 409, 501, a quota), or the operator holds deletions. */
export function isRefusal(error: unknown): boolean {
  const kinds = [isBadRequest, isForbidden, isNotImplemented, isOpenStackConflict, isQuotaExceeded, isDeletionsHeld];
  return kinds.some((is) => is(error));
}

/**
 * An address that cannot be had holds up no member; what takes the load balancer or the finalizer away waits for all
 * before it. The two address families are independent, but for the finalizer.
 */
export function isIndependent(later: Step, held: Step): boolean {
  if (later.type === "remove-finalizer") return false;
  const [of, after] = [ofFamily(held), ofFamily(later)];
  if (of.second !== after.second) return !["add-finalizer", "annotate", "clear-status"].includes(of.step.type);
  const address = ["create-floating-ip", "attach-floating-ip", "describe-floating-ip"];
  return address.includes(of.step.type) && after.step.type !== "delete-load-balancer";
}

function ofFamily(step: Step): { readonly step: OneStep; readonly second: boolean } {
  return step.type === "of-second" ? { step: step.step, second: true } : { step, second: false };
}

/**
 * The fields that a user may change so that a refused step is tried again; without the annotations that we write
 * ourselves.
 */
export function wishesOf({ metadata, spec }: Service): string {
  const {
    [annotation.loadBalancerId]: _id,
    [annotation.loadBalancerAddress]: _address,
    ...annotations
  } = metadata.annotations ?? {};
  return JSON.stringify([metadata.deletionTimestamp, spec, annotations]);
}

/** The step with the fields that it sets and what they are now. */
export function aimOf(step: Step, observed: Observed): StepAim {
  if (step.type === "of-second") return aimOf(step.step, observed.second ?? observed);
  const target = targetOf(step);
  return { type: step.type, ...(target === undefined ? {} : { target }), differences: differences(step, observed) };
}

function targetOf(step: OneStep): string | undefined {
  if ("id" in step) return step.id;
  if ("poolId" in step) return step.poolId;
  return "body" in step ? step.body.name : undefined;
}

function differences(step: OneStep, observed: TreeObserved & AddressObserved): Difference[] {
  const { loadBalancers, retiring, listeners, pools, ownFloatingIps } = observed;
  switch (step.type) {
    case "update-load-balancer":
      return differencesOf(byId([...loadBalancers, ...retiring], step.id), step.change);
    case "update-listener":
      return differencesOf(byId(listeners, step.id), step.change);
    case "update-pool":
      return differencesOf(
        byId(
          pools.map(({ pool }) => pool),
          step.id,
        ),
        step.change,
      );
    case "update-monitor":
      return differencesOf(pools.find(({ pool }) => pool.id === step.poolId)?.monitor, step.change);
    case "update-member":
      return differencesOf(byId(membersOf(observed, step.poolId), step.id), step.change);
    case "replace-members":
      return memberDifferences(membersOf(observed, step.poolId), step.members);
    case "describe-floating-ip":
      return differencesOf(byId(ownFloatingIps, step.id), { description: step.description });
    default:
      return [];
  }
}

function byId<T extends { readonly id: string }>(all: readonly T[], id: string): T | undefined {
  return all.find((one) => one.id === id);
}

function membersOf({ pools }: TreeObserved, poolId: string): Observed["pools"][number]["members"] {
  return pools.find(({ pool }) => pool.id === poolId)?.members ?? [];
}

/** Of the first member that is otherwise than it is wanted: an event is not a list. */
function memberDifferences(have: Observed["pools"][number]["members"], wanted: readonly MemberCreate[]): Difference[] {
  for (const member of wanted) {
    const same = have.find((m) => m.address === member.address && m.protocol_port === member.protocol_port);
    const place = `${member.address}:${member.protocol_port}`;
    if (!same) return [{ field: "members", from: have.slice(0, 3).map(placeOf), to: place }];
    const odd = differencesOf(same, member).filter(({ from, to }) => from !== to);
    if (odd.length > 0) return odd.map(({ field, ...values }) => ({ field: `member ${place} ${field}`, ...values }));
  }
  return [];
}

function placeOf(member: { readonly address: string; readonly protocol_port: number }): string {
  return `${member.address}:${member.protocol_port}`;
}
