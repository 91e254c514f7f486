import type { Prediction, PhasePlan } from "../../phase.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { memberNameOf, type PoolMember, type SwitchFacts, type SwitchStep } from "./plan.ts";

/** What phase switch reads after its next step, or when what it waits for is there. Pure. */
export function predictSwitch(
  facts: SwitchFacts,
  { steps: [step], wait }: PhasePlan<SwitchStep>,
  { name }: Pick<MigrationRecord, "name">,
): Prediction<SwitchFacts> | undefined {
  if (step === undefined) return wait === undefined ? undefined : awaited(facts);
  switch (step.type) {
    case "serve":
      return { facts: { ...facts, wantedStage: "Serve", isAvailable: false, message: "it is being started" } };
    case "add-pool-member": {
      const { address, port } = step;
      const own: PoolMember = { id: "", name: memberNameOf(name), address, port, isReady: false };
      return { facts: { ...facts, members: [...facts.members, own] } };
    }
    case "remove-pool-member":
      return { facts: { ...facts, members: facts.members.filter(({ id }) => id !== step.id) } };
    case "stop-control-plane": {
      const masters = facts.masters.map((one) => (one.address === step.address ? { ...one, active: [] } : one));
      // Until now they are the masters'.
      return { facts: { ...facts, masters, leases: facts.leases.map((lease) => ({ ...lease, isFresh: false })) } };
    }
    case "write-endpoints":
      return { facts: { ...facts, hasEndpoints: true } };
  }
}

const checks =
  "end here, with nothing switched, if the hosted API server has other data, or does not reach kubelets or Services of webhooks and APIServices that the masters reach";

function awaited(facts: SwitchFacts): Prediction<SwitchFacts> {
  const { apiAddress, isAvailable, uid, hostedUid, isPoolBusy, members, leases } = facts;
  const known = uid ?? hostedUid ?? "unknown";
  // Its address is that of ports which import reserved.
  if (apiAddress === undefined) return { depends: checks };
  if (!isAvailable || uid === undefined || hostedUid === undefined)
    return { facts: { ...facts, isAvailable: true, uid: known, hostedUid: known }, depends: checks };
  if (isPoolBusy) return { facts: { ...facts, isPoolBusy: false } };
  if (members.some(({ isReady }) => !isReady))
    return { facts: { ...facts, members: members.map((one) => ({ ...one, isReady: true })) } };
  const stale = leases.find(({ isFresh }) => !isFresh);
  return { facts: { ...facts, leases: leases.map((one) => (one === stale ? { ...one, isFresh: true } : one)) } };
}
