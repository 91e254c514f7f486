import { describe, expect, test } from "vitest";
import { Service } from "@causeway/kubernetes";
import { internal, os, refuse, setStage } from "./stage.ts";

const stage = setStage(1);

describe.each(["amphora", "ovn"])("a Service that is deleted on %s", (provider) => {
  test("leaves its floating IP where it is to be kept, detached", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("web", {}, { [os("keep-floatingip")]: "true" });
    await w.served("web");
    const [ip] = await w.cloud.network.floatingIps.all();
    await w.remove("web");
    expect((await w.cloud.network.floatingIps.get(ip?.id ?? "")).port_id).toBeNull();
    await w.cloud.network.floatingIps.delete(ip?.id ?? "");
  });

  test("with cascade-delete=false goes from the monitors up", async () => {
    const { w, run, writes } = stage();
    run({ provider, cascadeDelete: false, createMonitor: true });
    await w.createService("web", {}, internal);
    await w.settled("its monitor", async () => (await w.cloud.loadBalancing.healthMonitors.all()).length === 1);
    await w.served("web");
    writes();
    await w.remove("web");
    expect(writes()).toEqual([
      "DELETE /healthmonitors/ID",
      "DELETE /pools/ID",
      "DELETE /listeners/ID",
      "DELETE /loadbalancers/ID",
    ]);
  });

  test("whose load balancer is gone already takes its floating IP along", async () => {
    const { w, run } = stage();
    const running = run({ provider });
    await w.createService("web");
    await w.served("web");
    await running.stop();
    const [lb] = await w.loadBalancers();
    await w.cloud.loadBalancing.deleteLoadBalancer(lb?.id ?? "", { cascade: true });
    await w.until("it to be gone", async () => ((await w.loadBalancers()).length === 0 ? true : undefined));
    run({ provider });
    await w.remove("web");
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
  });

  test("a cascading delete that gets 404 is done", async () => {
    const { w, cloud, run, messagesOf } = stage();
    run({ provider });
    await w.createService("web", {}, internal);
    await w.served("web");
    const [lb] = await w.loadBalancers();
    cloud.setFaults((call) => {
      if (call.method !== "DELETE" || !call.path.includes("loadbalancers")) return undefined;
      cloud.setFaults(undefined);
      return { when: "after", status: 404, body: { faultcode: "Client", faultstring: "not found", debuginfo: null } };
    });
    await w.remove("web");
    expect(await w.cloud.loadBalancing.loadBalancers.find(lb?.id ?? "")).toBeUndefined();
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });

  test("because it is a ClusterIP now leaves nothing, on itself neither", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("web");
    await w.served("web");
    await w.change("web", { spec: { type: "ClusterIP" } });
    const plain = await w.until("no finalizer", async () => {
      const service = await w.service("web");
      return (service.metadata.finalizers ?? []).length === 0 ? service : undefined;
    });
    expect([plain.status?.loadBalancer?.ingress ?? [], plain.metadata.annotations ?? {}]).toEqual([[], {}]);
    expect(await w.loadBalancers()).toEqual([]);
    expect(await w.cloud.network.floatingIps.all()).toEqual([]);
    await w.remove("web");
  });
});

test("a Service that goes while deletions are held keeps its address, says so, and goes once they are not", async () => {
  const { w, run, writes, hears } = stage();
  let isHeld = true;
  run({ provider: "ovn" }, { holdDeletions: () => isHeld });
  await w.createService("web", {}, { [os("keep-floatingip")]: "true" });
  await w.served("web");
  const [ip] = await w.cloud.network.floatingIps.all();
  writes();
  await w.client.delete(Service, { namespace: "default", name: "web" });
  expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/held by the operator \(CLOUD_DELETIONS_HELD\)/);
  expect(await w.cloud.network.floatingIps.get(ip?.id ?? "")).toEqual(ip);
  expect(writes()).toEqual([]);
  isHeld = false;
  await w.remove("web");
  await w.cloud.network.floatingIps.delete(ip?.id ?? "");
});

describe("a Service that goes", () => {
  test("leaves a floating IP that a person made", async () => {
    const { w, run } = stage();
    const [network] = await w.cloud.network.networks.all({ name: "public" });
    const made = await w.cloud.network.floatingIps.create({
      floating_network_id: network?.id ?? "",
      description: "mine",
    });
    run({ provider: "ovn" });
    await w.createService("web", { loadBalancerIP: made.floating_ip_address });
    await w.served("web");
    await w.remove("web");
    expect((await w.cloud.network.floatingIps.get(made.id)).port_id).toBeNull();
    await w.cloud.network.floatingIps.delete(made.id);
  });

  test("while its load balancer is immutable waits, and is gone when it is not", async () => {
    const { w, cloud, run, messagesOf } = stage();
    run({ provider: "amphora" });
    await w.createService("web", {}, internal);
    await w.served("web");
    const message = "Load Balancer 1 is immutable and cannot be updated.";
    refuse(cloud, "DELETE /loadbalancers/ID", { status: 409, message, times: 2 });
    await w.remove("web");
    expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
  });
});
