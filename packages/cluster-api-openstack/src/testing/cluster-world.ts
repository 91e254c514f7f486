import { deepStrictEqual } from "node:assert/strict";
import type { OpenStackCluster, OpenStackMachine, OpenStackServer } from "@causeway/api";
import { bastionAfter, clusterAfter } from "../dry-run/objects.ts";
import type { Observed as ClusterObserved } from "../openstackcluster/model.ts";
import type { ClusterStep } from "../openstackcluster/steps.ts";
import { plan as planCluster, type ClusterPlan } from "../openstackcluster/plan.ts";
import { ModelCloud } from "./model-cloud.ts";
import { withNameIndex } from "./name-index.ts";
import { demoSpec, now, openStackCluster } from "./objects.ts";

export type World = {
  cloud: ModelCloud;
  object: OpenStackCluster;
  machines: OpenStackMachine[];
  bastion?: OpenStackServer;
  extra?: Partial<ClusterObserved>;
};

export const full = {
  ...demoSpec,
  tags: ["team-a", "blue"],
  apiServer: { managedLoadBalancer: { enabled: true, additionalPorts: [8132] } },
} satisfies Partial<OpenStackCluster["spec"]>;

/** Plans by the lists alone and with an index of their names, and fails if the plans differ. */
export function plan(world: World) {
  const cloud = world.cloud.forCluster();
  const [planned, byIndex] = [cloud, withNameIndex(cloud)].map((seen) =>
    planCluster(
      {
        object: world.object,
        clusterName: "demo",
        paused: false,
        identity: { ok: true, cloud: seen },
        machines: world.machines,
        bastion: world.bastion,
        ...world.extra,
      },
      now,
    ),
  ) as [ClusterPlan, ClusterPlan];
  deepStrictEqual(byIndex, planned);
  return planned;
}

export function apply(world: World, step: ClusterStep): void {
  world.cloud.applyCluster(step);
  world.object = clusterAfter(world.object, step);
  const bastion = bastionAfter(world.bastion, step, "default");
  if (bastion) world.bastion = bastion;
  else delete world.bastion;
}

/** Plans and performs until nothing is left to do. */
export function settle(world: World) {
  for (let round = 0; round < 20; round++) {
    const { steps, status } = plan(world);
    if (steps.length === 0) {
      world.object = { ...world.object, status };
      return plan(world);
    }
    for (const step of steps) apply(world, step);
  }
  throw new Error("the plan does not come to rest");
}

export function world(spec: Partial<OpenStackCluster["spec"]>, metadata: object = { finalizers: [] }): World {
  return { cloud: new ModelCloud(), object: openStackCluster(spec, metadata), machines: [] };
}

export function condition(status: OpenStackCluster["status"], type: string) {
  const found = status?.conditions?.find((c) => c.type === type);
  return found && `${found.status} ${found.reason}`;
}

export function deleting(w: World): void {
  w.object = { ...w.object, metadata: { ...w.object.metadata, deletionTimestamp: "2026-11-21T00:00:00Z" } };
}
