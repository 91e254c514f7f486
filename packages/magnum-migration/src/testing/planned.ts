/** A cluster for tests of plans, and what a plan comes to. */
import type { Inventory, Resource } from "../inventory/model.ts";
import type { MigrationRecord } from "../record/record.ts";
import type { PhasePlan, Step } from "../phase.ts";
import type { RetireFacts } from "../phases/retire/plan.ts";

const machine = (name: string) => ({
  serverId: `id-${name}`,
  name,
  address: "10.0.0.7",
  flavorId: "f",
  portIds: [],
});
export const member = (name: string, address: string, port = 6443) => ({
  id: `m-${name}`,
  name,
  address,
  port,
  isReady: true,
});
export const inventory = {
  uuid: "u",
  name: "web",
  version: "v1.34.4",
  apiAddress: "https://192.0.2.5:6443",
  stacks: [
    { id: "s1", name: "web-abc" },
    { id: "s2", name: "web-big" },
  ],
  masters: [machine("m0")],
  groups: [{ uuid: "g", name: "default-worker", isDefault: true, machines: [machine("n0")] }],
  api: { id: "lb", vip: "10.0.0.5", port: 6443, poolId: "pool", subnetId: "s", members: [member("m0", "10.0.0.4")] },
  resources: [] as readonly Resource[],
} as unknown as Inventory;
export const record: MigrationRecord = {
  namespace: "magnum-p",
  name: "web-1",
  inventory,
  phases: {},
  begun: "discover",
};

/** The first step's type, what is waited for, the code of a refusal, or "done". */
export function outcome({ steps, wait, refused, proof }: PhasePlan<Step>): string {
  if (refused) return refused.code;
  if (steps[0]) return steps[0].type;
  if (wait !== undefined) return "wait";
  return proof.length > 0 ? "done" : "nothing";
}

/** All of the old control plane is gone. */
export const retired: RetireFacts = {
  stacks: [],
  leaving: [],
  oldMembers: [],
  hasHostedMember: true,
  oldMachines: [],
  masterNodes: [],
  leftovers: [],
  changing: new Set(),
  kept: [],
  isMigrating: false,
  status: { status: "UPDATE_COMPLETE", reason: "" },
  stackProjects: [],
  magnum: { row: undefined, trustee: undefined, silentNodes: [] },
  driver: { objects: [], kept: [], users: [], others: [] },
};
