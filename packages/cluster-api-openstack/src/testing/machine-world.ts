import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { Observed as MachineObserved } from "../openstackmachine/model.ts";
import { plan as planMachine, type MachinePlan } from "../openstackmachine/plan.ts";
import type { MachineStep } from "../openstackmachine/steps.ts";
import { machineFinalizer } from "../resources/naming.ts";
import { ModelCloud } from "./model-cloud.ts";
import { demoSpec, now, openStackCluster, openStackMachine } from "./objects.ts";

/** A machine, its cluster and its cloud, in values that a test changes. */
export interface World {
  cloud: ModelCloud;
  object: OpenStackMachine;
  infrastructure: OpenStackCluster;
  extra: Partial<MachineObserved>;
}

/** A worker of a cluster whose network is there. */
export function world(spec: Partial<OpenStackMachine["spec"]> = {}, metadata: object = { finalizers: [] }): World {
  const cloud = new ModelCloud();
  const infrastructure = openStackCluster({ ...demoSpec, tags: ["team-a"] });
  infrastructure.status = {
    initialization: { provisioned: true },
    network: { id: "net-1", name: "demo", subnets: [{ id: "sub-1", name: "demo", cidr: "10.6.0.0/24" }] },
    workerSecurityGroup: { id: "sg-worker", name: "worker" },
    controlPlaneSecurityGroup: { id: "sg-cp", name: "cp" },
  };
  return { cloud, object: openStackMachine(spec, metadata), infrastructure, extra: {} };
}

/** What the machine needs next. */
export function plan(w: World): MachinePlan {
  return planMachine(
    {
      object: w.object,
      clusterName: "demo",
      infrastructure: w.infrastructure,
      owner: { name: "demo-workers-abcde", zone: "nova", bootstrapSecret: "demo-workers-abcde" },
      paused: false,
      identity: { ok: true, cloud: w.cloud.forMachine() },
      ...w.extra,
    },
    now,
  );
}

/** Performs a step on the values. */
export function apply(w: World, step: MachineStep): void {
  w.cloud.applyMachine(step);
  const { object } = w;
  if (step.type === "add-finalizer")
    w.object = { ...object, metadata: { ...object.metadata, finalizers: [machineFinalizer] } };
  if (step.type === "remove-finalizer") w.object = { ...object, metadata: { ...object.metadata, finalizers: [] } };
  if (step.type === "record-provider-id")
    w.object = { ...object, spec: { ...object.spec, providerID: step.providerId } };
}

/** Performs what is planned until nothing is; returns the last plan, whose status the object has. */
export function settle(w: World): MachinePlan {
  for (let round = 0; round < 20; round++) {
    const planned = plan(w);
    if (planned.steps.length === 0) {
      w.object = { ...w.object, status: planned.status };
      return planned;
    }
    for (const step of planned.steps) apply(w, step);
  }
  throw new Error("the plan does not come to rest");
}

/** Status and reason of InstanceReady. */
export function ready(status: OpenStackMachine["status"]): string {
  const condition = status?.conditions?.find((c) => c.type === "InstanceReady");
  return `${condition?.status} ${condition?.reason}`;
}

/** The object is being deleted. */
export function deleting(w: World): void {
  w.object = { ...w.object, metadata: { ...w.object.metadata, deletionTimestamp: "2026-11-21T00:00:00Z" } };
}
