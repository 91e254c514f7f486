import { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import { Event, Secret } from "@causeway/kubernetes";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { base64, condition, namespace, openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

const world = openInfrastructure();

describe("the infrastructure provider in a slow cloud", () => {
  let slow: Simulator;
  beforeAll(async () => {
    slow = await startSimulator({
      profile: "instant",
      delays: { "server.create": 60_000, "loadbalancer.amphora.create": 700, "loadbalancer.amphora.delete": 200 },
    });
  });
  afterAll(() => slow.close());

  it("deletes resources that are still being created", { timeout: 300_000 }, async () => {
    await world.inside(slow, async () => {
      const before = world.inventory();
      const process = world.start();
      await world.createCluster("early", { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } });
      await world.until("a load balancer", async () => world.inventory().some((line) => line.includes("kubeapi")));
      await world.createCluster("late");
      await world.clusterReady("late");
      await world.createMachine("late", "late-a");
      await world.until("a server", async () => world.inventory().some((line) => line.startsWith("server late-a")));
      await Promise.all([world.remove("early"), world.remove("late", ["late-a"])]);
      await process.kill();
      expect(world.inventory()).toEqual(before);
    });
  });
});

describe("the infrastructure provider next to load balancers that hang", () => {
  // Nothing of this cloud completes until the test moves its clock.
  const clock = new VirtualClock(Date.now());
  let cloud: Simulator;
  beforeAll(async () => {
    cloud = await startSimulator({ profile: "instant", clock, delays: { "loadbalancer.amphora.create": 600_000 } });
  });
  afterAll(() => cloud.close());

  it("holds back no other cluster, though more hang than it has workers", { timeout: 300_000 }, async () => {
    await world.inside(cloud, async () => {
      const before = world.inventory();
      const process = world.start();
      const hung = Array.from({ length: 10 }, (_, at) => `hung-${at}`);
      const others = ["other-a", "other-b", "other-c"];
      const balanced = { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } };
      for (const name of hung) await world.createCluster(name, balanced);
      await world.until(
        "ten load balancers",
        async () => world.inventory().filter((line) => line.startsWith("loadbalancer ")).length === hung.length,
      );
      for (const name of others) await world.createCluster(name);
      for (const name of others) await world.clusterReady(name);
      for (const name of hung) {
        const { status } = await world.client.get(OpenStackCluster, { namespace, name });
        expect(status?.initialization?.provisioned).not.toBe(true);
      }
      await clock.advance(600_000);
      for (const name of hung) await world.clusterReady(name);
      await Promise.all([...hung, ...others].map((name) => world.remove(name)));
      await process.kill();
      expect(world.inventory()).toEqual(before);
    });
  });
});

describe("the infrastructure provider in the simulated cloud", () => {
  it("creates a cluster and its machines, leaves them unchanged, and deletes everything", async () => {
    const before = world.inventory();
    const process = world.start();
    await world.createCluster("whole");
    await world.clusterReady("whole");
    await Promise.all(
      ["whole-a", "whole-b"].map((name) => world.createMachine("whole", name, { rootVolume: { sizeGiB: 1 } })),
    );
    const machine = await world.machineReady("whole-a");
    await world.machineReady("whole-b");
    expect(machine.spec.providerID).toMatch(/^openstack:\/\/\/[0-9a-f-]{36}$/);
    expect(machine.status?.addresses?.[0]).toMatchObject({
      type: "InternalIP",
      address: expect.stringMatching(/^10\.6\.0\./),
    });

    await world.rested();
    const quiet = world.writes();
    const calls = world.simulator.calls.length;
    await world.client.patch(
      OpenStackCluster,
      { namespace, name: "whole" },
      { type: "merge", body: { metadata: { annotations: { poke: "1" } } } },
    );
    await world.client.patch(
      OpenStackMachine,
      { namespace, name: "whole-a" },
      { type: "merge", body: { metadata: { annotations: { poke: "1" } } } },
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(world.writes()).toBe(quiet);
    const read = world.simulator.calls.slice(calls).map((c) => c.path.split("?")[0] ?? "");
    expect(read.filter((path) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(path))).toEqual([]);

    await world.remove("whole", ["whole-a", "whole-b"]);
    await process.kill();
    expect(world.inventory()).toEqual(before);
    const reasons = (await world.client.list(Event, { namespace })).items.map((e) => e.reason);
    expect(reasons).toEqual(
      expect.arrayContaining(["SuccessfulCreateNetwork", "SuccessfulCreateServer", "SuccessfulDeleteNetwork"]),
    );
  });

  it("creates a load balancer with a floating IP for control planes, and deletes it", async () => {
    const before = world.inventory();
    const process = world.start();
    await world.createCluster("balanced", {
      ...demoSpec,
      tags: ["blue"],
      apiServer: { managedLoadBalancer: { enabled: true } },
    });
    const cluster = await world.clusterReady("balanced");
    expect(cluster.spec.controlPlaneEndpoint).toEqual({ host: expect.stringMatching(/^172\.24\.4\./), port: 6443 });
    const balancing = world.simulator.calls.length;
    const managedLoadBalancer = { enabled: true, additionalPorts: [8132] };
    await world.client.patch(
      OpenStackCluster,
      { namespace, name: "balanced" },
      { type: "merge", body: { spec: { apiServer: { managedLoadBalancer } } } },
    );
    await world.until("a second listener", async () => world.inventory().some((line) => /^listener .*8132/.test(line)));
    await world.rested();
    const made = world.simulator.calls
      .slice(balancing)
      .filter(({ method, service }) => method !== "GET" && service === "load-balancer")
      .map(({ method, path, status }) => `${method} ${path.split("/").at(-1)} ${status}`);
    expect(made).toEqual(["POST pools 201", "POST healthmonitors 201", "POST listeners 201"]);
    await world.remove("balanced");
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });

  it("reports wrong credentials, flavors and quotas, and continues when they are fixed", async () => {
    const process = world.start();
    await world.createCluster("wrong", { ...demoSpec, identityRef: { name: "wrong-cloud", cloudName: "nowhere" } });
    const refused = await world.until("a refusal", async () => {
      const object = await world.client.get(OpenStackCluster, { namespace, name: "wrong" });
      // The Secret may reach the cache a moment later than the object that names it.
      return condition(object, "OpenStackAuthenticationSucceeded")?.message?.includes("nowhere") && object;
    });
    expect(condition(refused, "Ready")?.message).toMatch(/nowhere/);
    expect(refused.metadata.finalizers ?? []).toEqual([]);
    const corrected = { spec: { identityRef: { cloudName: "simulator" } } };
    world.simulator.setQuota("demo", "network", 0);
    await world.client.patch(OpenStackCluster, { namespace, name: "wrong" }, { type: "merge", body: corrected });
    const full = await world.until("the quota", async () => {
      const object = await world.client.get(OpenStackCluster, { namespace, name: "wrong" });
      return condition(object, "NetworkReady")?.reason === "QuotaExceeded" && object;
    });
    expect(condition(full, "Ready")?.message).toMatch(/[Qq]uota/);
    world.simulator.setQuota("demo", "network", 100);
    // A new generation lifts the pause.
    await world.client.patch(
      OpenStackCluster,
      { namespace, name: "wrong" },
      { type: "merge", body: { spec: { primarySubnet: { filter: { cidr: "10.6.0.0/24" } } } } },
    );
    await world.clusterReady("wrong");
    await world.createMachine("wrong", "wrong-a", { flavor: { filter: { name: "m1.tinny" } } });
    const machine = await world.until("InvalidMachineSpec", async () => {
      const object = await world.client.get(OpenStackMachine, { namespace, name: "wrong-a" });
      return condition(object, "InstanceReady")?.reason === "InvalidMachineSpec" && object;
    });
    expect(condition(machine, "Ready")?.message).toMatch(/no flavor m1\.tinny; similar names: m1\.tiny/);
    await world.remove("wrong", ["wrong-a"]);
    await process.kill();
  });

  it("reports a wrong password without revealing it, and works with the next one", async () => {
    const process = world.start();
    const wrong = world.simulator.cloudsYaml.replaceAll(/password: .*/g, "password: not-the-password");
    expect(wrong).not.toBe(world.simulator.cloudsYaml);
    await world.createCluster("locked", demoSpec, wrong);
    const refused = await world.until("a refusal", async () => {
      const object = await world.client.get(OpenStackCluster, { namespace, name: "locked" });
      return condition(object, "OpenStackAuthenticationSucceeded")?.reason === "AuthenticationFailed" && object;
    });
    expect(JSON.stringify(refused)).not.toContain("not-the-password");
    const data = { "clouds.yaml": base64(world.simulator.cloudsYaml) };
    await world.client.patch(Secret, { namespace, name: "locked-cloud" }, { type: "merge", body: { data } });
    await world.clusterReady("locked");
    await world.remove("locked");
    await process.kill();
  });

  it("says why a cluster waits whose resources cannot be read", { timeout: 60_000 }, async () => {
    world.simulator.setFaults(({ method, path }) =>
      method === "GET" && path.includes("/lbaas/loadbalancers") ? { when: "before", status: 500 } : undefined,
    );
    const process = world.start();
    try {
      await world.createCluster("unread", { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } });
      const found = await world.until("a condition", async () => {
        const object = await world.client.get(OpenStackCluster, { namespace, name: "unread" });
        return condition(object, "NetworkReady")?.reason === "OpenStackError" ? object : undefined;
      });
      expect(condition(found, "Ready")).toMatchObject({ status: "False", reason: "OpenStackError" });
      expect(condition(found, "Ready")?.message).toContain("500");
      await world.until("an event", async () => {
        const { items } = await world.client.list(Event, { namespace });
        return items.find(
          ({ involvedObject, reason }) => involvedObject.name === "unread" && reason === "OpenStackError",
        );
      });
    } finally {
      world.simulator.setFaults(undefined);
    }
    await world.clusterReady("unread");
    await world.remove("unread");
    await process.kill();
  });

  it("writes no secret into events, conditions or objects", async () => {
    const process = world.start();
    await world.createCluster("quiet");
    await world.clusterReady("quiet");
    await world.createMachine("quiet", "quiet-a");
    await world.machineReady("quiet-a");
    await world.remove("quiet", ["quiet-a"]);
    await process.kill();
    const output = JSON.stringify((await world.client.list(Event, { namespace })).items);
    expect(output).not.toContain("s3cret");
    expect(output).not.toContain(base64("#cloud-config\npassword-of-the-node: s3cret\n"));
  });
});
