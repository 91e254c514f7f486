import type { ServiceSpec } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { internal, pause, setStage, tcp } from "./stage.ts";

const stage = setStage(2, true);
const both: Partial<ServiceSpec> = { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv4", "IPv6"] };
const families = (ingress: readonly { ip?: string }[] = []) =>
  ingress.map(({ ip = "" }) => (ip.includes(":") ? "IPv6" : "IPv4"));

/** The Service once it is published at so many addresses. */
async function published(name: string, count: number) {
  const { w } = stage();
  return w.until(`${count} addresses`, async () => {
    const service = await w.service(name);
    const { ingress = [] } = service.status?.loadBalancer ?? {};
    return ingress.length === count ? ingress : undefined;
  });
}

describe.each(["amphora", "ovn"])("a Service of both families on %s", (provider) => {
  test("is published at a floating IP and at a VIP of the other family, each with members of its own", async () => {
    const { w, run, writes, messagesOf } = stage();
    run({ provider });
    writes();
    await w.createService("web", { ...both });
    const ingress = await published("web", 2);
    expect(families(ingress)).toEqual(["IPv4", "IPv6"]);
    expect(writes().toSorted()).toEqual(["POST /floatingips", "POST /loadbalancers", "POST /loadbalancers"]);
    const all = (await w.loadBalancers()).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(all.map((lb) => lb.name)).toEqual(["kube_service_c_default_web", "kube_service_c_default_web_ipv6"]);
    expect(ingress[1]?.ip).toBe(all[1]?.vip_address);
    const pools = await w.cloud.loadBalancing.pools.all({ loadbalancer_id: all[1]?.id });
    const members = await w.cloud.loadBalancing.members(pools[0]?.id ?? "").all();
    expect(members.map((m) => m.address.includes(":"))).toEqual([true, true]);
    expect(await messagesOf("web", "LoadBalancerDualStackIgnored")).toEqual([]);
    await pause(100);
    writes();
    await w.change("web", { metadata: { labels: { touched: "again" } } });
    await pause(400);
    expect(writes()).toEqual([]);
    await w.remove("web");
    expect(await w.loadBalancers()).toEqual([]);
  });

  test("changes with its ports on both, and gives the second back when one family is enough", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("web", { ...both, ports: [tcp(80)] }, internal);
    await published("web", 2);
    await w.change("web", { spec: { ports: [tcp(80), tcp(443)] } });
    await w.until("two listeners each", async () =>
      (await w.loadBalancers()).every((lb) => lb.listeners.length === 2 && lb.provisioning_status === "ACTIVE")
        ? true
        : undefined,
    );
    const first = await w.service("web");
    await w.change("web", {
      spec: { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"], clusterIPs: [first.spec.clusterIP] },
    });
    await published("web", 1);
    await w.until("one load balancer", async () => ((await w.loadBalancers()).length === 1 ? true : undefined));
    expect((await w.loadBalancers())[0]?.name).toBe("kube_service_c_default_web");
  });

  test("leaves nothing when it ends after its cluster was renamed, also if its first load balancer went before the second had its new name", async () => {
    const { w, run } = stage();
    const before = run({ provider });
    await w.createService("web", { ...both }, internal);
    await published("web", 2);
    await before.stop();
    const first = (await w.loadBalancers()).find((lb) => lb.name === "kube_service_c_default_web");
    await w.cloud.loadBalancing.deleteLoadBalancer(first?.id ?? "", { cascade: true });
    await w.until("the second alone", async () => ((await w.loadBalancers()).length === 1 ? true : undefined));
    run({ provider }, { clusterName: "renamed" });
    await w.remove("web");
    await w.until("nothing", async () => ((await w.loadBalancers()).length === 0 ? true : undefined));
  });

  test("lets both families through its security group", async () => {
    const { w, run } = stage();
    run({ provider, manageSecurityGroups: true });
    await w.createService("web", { ...both }, internal);
    await published("web", 2);
    const rules = async () =>
      (await w.cloud.network.securityGroups.all())
        .filter((group) => group.name.startsWith("lb-sg-"))
        .flatMap((group) => group.security_group_rules.filter((rule) => rule.direction === "ingress"));
    const ethertypes = (await rules()).map((rule) => rule.ethertype).toSorted();
    expect(ethertypes).toEqual(["IPv4", "IPv6"]);
  });

  test("that begins with IPv6 has its floating IP on the second", async () => {
    const { w, run } = stage();
    run({ provider });
    await w.createService("web", { ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6", "IPv4"] });
    expect(families(await published("web", 2))).toEqual(["IPv6", "IPv4"]);
    const [ip] = await w.cloud.network.floatingIps.all();
    const second = (await w.loadBalancers()).find((lb) => lb.name.endsWith("_ipv4"));
    expect(ip?.port_id).toBe(second?.vip_port_id);
  });
});

test("a Service of both families lets in from its source ranges on each those of its family", async () => {
  const { w, run, messagesOf } = stage();
  run({ provider: "amphora" });
  const allowed = async () =>
    (await w.cloud.loadBalancing.listeners.all()).map((l) => (l.allowed_cidrs ?? []).join(" ")).toSorted();
  await w.createService("web", { ...both, loadBalancerSourceRanges: ["10.0.0.0/8", "2001:db8::/32"] }, internal);
  await published("web", 2);
  expect(await allowed()).toEqual(["10.0.0.0/8", "2001:db8::/32"]);
  await w.change("web", { spec: { loadBalancerSourceRanges: ["0.0.0.0/0", "2001:db8:1::/48"] } });
  await w.until("the other ranges", async () => ((await allowed()).join() === ",2001:db8:1::/48" ? true : undefined));
  expect(await messagesOf("web", "SyncLoadBalancerFailed")).toEqual([]);
});
