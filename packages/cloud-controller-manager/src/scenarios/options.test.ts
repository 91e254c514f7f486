import { describe, expect, test } from "vitest";
import { internal, os, pause, refuse, setStage, tcp, udp, withOctavia } from "./stage.ts";

const stage = setStage(3);

const listenersOf = async () => {
  const { w } = stage();
  const all = await w.cloud.loadBalancing.listeners.all();
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
};
const poolsOf = async () => {
  const { w } = stage();
  return (await w.cloud.loadBalancing.pools.all()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

describe("a new Service", () => {
  test("X-Forwarded headers make an HTTP listener with them and an HTTP pool; OVN refuses before anything is made", async () => {
    const { w, run, hears } = stage();
    run({ provider: "amphora" });
    const headers = { [os("x-forwarded-for")]: "true", [os("x-forwarded-proto")]: "true" };
    await w.createService("web", {}, headers);
    await w.served("web");
    const [listener] = await listenersOf();
    expect(listener).toMatchObject({
      protocol: "HTTP",
      insert_headers: { "X-Forwarded-For": "true", "X-Forwarded-Proto": "true" },
    });
    expect((await poolsOf())[0]?.protocol).toBe("HTTP");
    await w.createService("no", {}, { ...headers, [os("provider")]: "ovn" });
    expect(await hears("no", "SyncLoadBalancerFailed")).toMatch(/ovn does not support x-forwarded headers/);
    expect(await w.loadBalancers()).toHaveLength(1);
  });

  test("PROXY protocol with X-Forwarded-For fails before any change", async () => {
    const { w, run, hears, writes } = stage();
    run({ provider: "amphora" });
    writes();
    await w.createService("web", {}, { [os("x-forwarded-for")]: "true", [os("proxy-protocol")]: "true" });
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/cannot be combined/);
    expect(writes()).toEqual([]);
  });

  test("PROXY protocol is for TCP ports only", async () => {
    const { w, run } = stage();
    run({ provider: "amphora" });
    await w.createService("web", { ports: [tcp(80), udp(53)] }, { [os("proxy-protocol")]: "v2" });
    await w.served("web");
    expect((await poolsOf()).map((p) => p.protocol)).toEqual(["PROXYV2", "UDP"]);
  });

  test("a certificate that Barbican does not have fails before the load balancer; one that it has is used", async () => {
    const { w, run, hears, writes } = stage();
    run({ provider: "amphora" });
    writes();
    const missing = "http://barbican/v1/containers/11111111-1111-4111-8111-111111111111";
    await w.createService("web", {}, { ...internal, [os("default-tls-container-ref")]: missing });
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/the key manager has no/);
    expect(writes()).toEqual([]);
    const reference = await w.cloud.keyManager.secrets.create({
      name: "tls",
      payload: "x",
      payload_content_type: "text/plain",
    });
    await w.change("web", { metadata: { annotations: { [os("default-tls-container-ref")]: reference } } });
    await w.served("web");
    expect((await listenersOf())[0]).toMatchObject({
      protocol: "TERMINATED_HTTPS",
      default_tls_container_ref: reference,
    });
    await w.cloud.keyManager.secrets.delete(reference);
  });

  test("with an external store Barbican gets no request", async () => {
    const { w, cloud, run } = stage();
    run({ provider: "amphora", containerStore: "external" });
    const before = cloud.calls.length;
    await w.createService("web", {}, { ...internal, [os("default-tls-container-ref")]: "their-own" });
    await w.served("web");
    expect(cloud.calls.slice(before).filter((call) => call.service === "key-manager")).toEqual([]);
  });

  test("local traffic with a monitor is checked at the health check port by HTTP", async () => {
    const { w, run } = stage();
    run({ provider: "amphora", createMonitor: true });
    const service = await w.createService("web", { externalTrafficPolicy: "Local" });
    await w.served("web");
    const [monitor] = await w.cloud.loadBalancing.healthMonitors.all();
    expect(monitor).toMatchObject({ type: "HTTP", url_path: "/healthz", http_method: "GET", expected_codes: "200" });
    expect(new Set((await w.members()).map((m) => m.monitor_port))).toEqual(
      new Set([service.spec.healthCheckNodePort]),
    );
  });

  test("a UDP pool is checked by HTTP only where the API is new enough", async () => {
    const { w, cloud, run } = stage();
    withOctavia(cloud, "2.15");
    run({ provider: "amphora", createMonitor: true });
    await w.createService("dns", { externalTrafficPolicy: "Local", ports: [udp(53)] }, internal);
    await w.served("dns");
    expect((await w.cloud.loadBalancing.healthMonitors.all()).map((m) => m.type)).toEqual(["UDP-CONNECT"]);
  });

  test("a boolean annotation that is none is the default", async () => {
    const { w, run } = stage();
    run({ provider: "amphora" });
    await w.createService("web", {}, { [os("x-forwarded-for")]: "yes" });
    await w.served("web");
    expect((await listenersOf())[0]?.protocol).toBe("TCP");
  });

  test("two live load balancers of our name are an error, and nothing is changed", async () => {
    const { w, run, hears, writes } = stage();
    const { subnet } = w.infrastructure;
    const body = { name: "kube_service_c_default_web", vip_subnet_id: subnet.id, provider: "ovn" };
    const two = [
      await w.cloud.loadBalancing.loadBalancers.create(body),
      await w.cloud.loadBalancing.loadBalancers.create(body),
    ];
    await pause(50);
    run({ provider: "ovn" });
    writes();
    await w.createService("web");
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/2 load balancers are named/);
    expect(writes()).toEqual([]);
    for (const lb of two) await w.cloud.loadBalancing.deleteLoadBalancer(lb.id, { cascade: true });
    await w.served("web");
  });

  test("is served although a load balancer of the same name is being deleted", async () => {
    const { w, cloud, run } = stage();
    run({ provider: "ovn" });
    await w.createService("web", {}, internal);
    await w.served("web");
    const [old] = await w.loadBalancers();
    cloud.setDelay("loadbalancer.ovn.delete", 1_500);
    await w.cloud.loadBalancing.deleteLoadBalancer(old?.id ?? "", { cascade: true });
    const both = await w.until("another next to it", async () => {
      const all = await w.loadBalancers();
      return all.length === 2 ? all : undefined;
    });
    expect(both.find((lb) => lb.id === old?.id)?.provisioning_status).toBe("PENDING_DELETE");
    cloud.setDelay("loadbalancer.ovn.delete", 0);
    await w.settled("the other alone", (lb) => lb.id !== old?.id);
  });

  test("an exhausted quota is reported with the cloud's message", async () => {
    const { w, cloud, run, hears } = stage();
    refuse(cloud, "POST /loadbalancers", { status: 403, message: "Quota has been met for resources: Load Balancer" });
    run({ provider: "ovn" });
    await w.createService("web", {}, internal);
    expect(await hears("web", "SyncLoadBalancerFailed")).toMatch(/Quota has been met/);
    await w.served("web");
  });
});
