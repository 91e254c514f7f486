import type { OpenStackMachineSpec } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { machineAfter } from "../dry-run/objects.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { now, openStackCluster, openStackMachine } from "../testing/objects.ts";
import type { Observed } from "./model.ts";
import { plan as planMachine } from "./plan.ts";
import type { MachineStep } from "./steps.ts";

interface World {
  cloud: ModelCloud;
  object: ReturnType<typeof openStackMachine>;
  extra: Partial<Observed>;
}

const world = (spec: Partial<OpenStackMachineSpec>): World => ({
  cloud: new ModelCloud(),
  object: openStackMachine(spec, { finalizers: [] }),
  extra: {},
});

const infrastructure = openStackCluster();
infrastructure.status = {
  initialization: { provisioned: true },
  network: { id: "net-1", name: "demo", subnets: [{ id: "sub-1", name: "demo", cidr: "10.6.0.0/24" }] },
};

function plan({ object, cloud, extra }: World) {
  const owner = { name: object.metadata.name, bootstrapSecret: "data" };
  const identity = { ok: true, cloud: cloud.forMachine() } as const;
  return planMachine({ object, clusterName: "demo", infrastructure, owner, paused: false, identity, ...extra }, now);
}

function apply(w: World, step: MachineStep): void {
  w.cloud.applyMachine(step);
  w.object = machineAfter(w.object, step);
}

function settle(w: World): void {
  for (let round = 0; round < 20; round++) {
    const { steps, status } = plan(w);
    w.object = { ...w.object, status };
    if (steps.length === 0) return;
    for (const step of steps) apply(w, step);
  }
  throw new Error("the plan does not come to rest");
}

function deleting(w: World): void {
  w.object = { ...w.object, metadata: { ...w.object.metadata, deletionTimestamp: "2026-11-21T00:00:00Z" } };
}

describe("planMachine, with a pool of floating IPs", () => {
  const floatingIPPoolRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackFloatingIPPool", name: "p" };
  const address = "172.24.4.50";
  const ip = {
    id: "ip",
    floating_ip_address: address,
    floating_network_id: "net-public",
    fixed_ip_address: null,
    router_id: null,
    port_id: null,
    status: "DOWN",
    description: "",
    project_id: "project-1",
    tags: [],
  } as const;
  const of = (w: World) => plan(w).status.conditions?.find((c) => c.type === "FloatingAddressFromPoolReady");

  it("claims an address before anything is created, and waits for it", () => {
    const w = world({ floatingIPPoolRef });
    const first = plan(w).steps;
    expect(first.map((s) => s.type)).toEqual(["add-finalizer", "create-claim"]);
    expect(first[1]).toMatchObject({ name: "demo-workers-abcde-floating-ip-address", pool: floatingIPPoolRef });
    w.extra = { claim: {} };
    expect(plan(w).steps).toEqual([]);
    expect(of(w)).toMatchObject({ status: "False", reason: "WaitingForIPAMProvider" });
  });

  it("attaches the address to the server's port, and takes it from no other port", () => {
    const w = world({ floatingIPPoolRef });
    w.extra = { claim: { address } };
    w.cloud.floatingIps = [{ ...ip, tags: [], port_id: "foreign" }];
    settle(w);
    expect(of(w)).toMatchObject({ status: "False", reason: "FloatingIPError" });
    w.cloud.floatingIps = [{ ...ip, tags: [] }];
    settle(w);
    expect(w.cloud.floatingIps[0]?.port_id).toBe(w.cloud.ports[0]?.id);
    expect(of(w)).toMatchObject({ status: "True" });
    w.cloud.floatingIps = [];
    expect(of(w)).toMatchObject({ status: "False", reason: "FloatingIPError" });
  });

  it("gives the claim up after the server and its ports", () => {
    const w = world({ floatingIPPoolRef });
    w.extra = { claim: { address } };
    w.cloud.floatingIps = [{ ...ip, tags: [] }];
    settle(w);
    deleting(w);
    const order: string[] = [];
    for (
      let steps = plan(w).steps;
      steps.length > 0 && w.object.metadata.finalizers?.length !== 0;
      steps = plan(w).steps
    )
      for (const step of steps) {
        order.push(step.type);
        apply(w, step);
      }
    expect(order).toEqual(["delete-server", "delete-port", "delete-claim", "remove-finalizer"]);
  });
});
