import { describe, expect, test } from "vitest";
import { Node } from "@causeway/kubernetes";
import type { SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import type { World } from "../testing/world.ts";
import { ownWorlds } from "./own-world.ts";
import { withOctavia } from "./stage.ts";

const start = ownWorlds();
const started = (servers = 2) => start({ prefix: "sg", servers, timeout: 60_000 });

async function groups(w: World): Promise<SecurityGroup[]> {
  return (await w.cloud.network.securityGroups.all()).filter((group) => group.name.startsWith("lb-sg-"));
}

/** "tcp 30080 from 10.77.0.0/24" */
function words(rule: SecurityGroupRule): string {
  return `${rule.protocol} ${rule.port_range_min} from ${rule.remote_ip_prefix}`;
}

async function ingress(w: World): Promise<string[]> {
  const all = await groups(w);
  return all
    .flatMap((group) => group.security_group_rules.filter((rule) => rule.direction === "ingress").map(words))
    .sort();
}

/** Indexes of the servers whose ports have the group. */
async function bearers(w: World): Promise<number[]> {
  const [group] = await groups(w);
  const ports = await w.cloud.network.ports.all();
  const devices = ports.filter((p) => p.security_groups.includes(group?.id ?? "none")).map((p) => p.device_id);
  return w.infrastructure.servers.flatMap((server, i) => (devices.includes(server.id) ? [i] : []));
}

const until = (w: World, what: string, holds: () => Promise<boolean>) =>
  w.until(what, async () => ((await holds()) ? true : undefined));

const managed = { manageSecurityGroups: true };
const key = (name: string) => ({ namespace: "", name });

async function served(w: World, spec = {}, annotations = {}): Promise<number[]> {
  await w.createService("web", spec, annotations);
  const service = await w.served("web");
  return (service.spec.ports ?? []).map((port) => port.nodePort ?? 0);
}

describe("a Service's security group", () => {
  test("lets the load balancer's network to each node port, is on the nodes' ports, and costs nothing when all is still", async () => {
    const { w, work } = await started();
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    const ports = [
      { name: "http", port: 80, protocol: "TCP" as const },
      { name: "dns", port: 53, protocol: "UDP" as const },
    ];
    const [http, dns] = await served(w, { ports });
    expect(await ingress(w)).toEqual([`tcp ${http} from 10.77.0.0/24`, `udp ${dns} from 10.77.0.0/24`]);
    expect(await bearers(w)).toEqual([0, 1]);
    const [group] = await groups(w);
    expect(group?.security_group_rules.filter((rule) => rule.direction === "egress")).toHaveLength(2);
    const made = work();
    expect(made.filter((call) => call.includes("security-group")).filter((call) => !call.startsWith("GET"))).toEqual([
      "POST /security-groups",
      "POST /security-group-rules",
    ]);
    await w.change("web", { metadata: { labels: { touched: "again" } } });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(work().filter((call) => /security|ports/.test(call))).toEqual([]);
  });

  test("opens the health check's node port to the load balancer", async () => {
    const { w } = await started(1);
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    await served(w, { externalTrafficPolicy: "Local" });
    const health = (await w.service("web")).spec.healthCheckNodePort ?? 0;
    expect(health).toBeGreaterThan(0);
    expect(await ingress(w)).toContain(`tcp ${health} from 10.77.0.0/24`);
  });

  test("on OVN, where nodes see clients' addresses, has one rule for each port and range; ranges change, rules follow", async () => {
    const { w } = await started(1);
    w.run({ provider: "ovn", ...managed });
    await w.joinAll();
    const [http] = await served(w, { loadBalancerSourceRanges: ["192.0.2.0/24", "198.51.100.0/24"] });
    expect(await ingress(w)).toEqual([`tcp ${http} from 192.0.2.0/24`, `tcp ${http} from 198.51.100.0/24`]);
    await w.change("web", { spec: { loadBalancerSourceRanges: ["192.0.2.0/24"] } });
    await until(w, "one rule", async () => (await ingress(w)).length === 1);
    await w.change("web", { spec: { loadBalancerSourceRanges: null } });
    await until(w, "everybody", async () => (await ingress(w))[0] === `tcp ${http} from 0.0.0.0/0`);
  });

  test("on OVN that the Service itself asks for, or that is all there is, has the clients' rules from the first write on", async () => {
    const { w, cloud, work } = await started(1);
    const amphora = w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    work();
    const [http] = await served(w, {}, { "loadbalancer.openstack.org/provider": "ovn" });
    const rules = () => work().filter((call) => /security-group-rules/.test(call));
    expect(await ingress(w)).toEqual([`tcp ${http} from 0.0.0.0/0`]);
    expect(rules()).toEqual(["POST /security-group-rules"]);
    await w.remove("web");
    await amphora.stop();
    withOctavia(cloud, "2.26", ["ovn"]);
    w.run(managed);
    work();
    const [again] = await served(w);
    expect(await ingress(w)).toEqual([`tcp ${again} from 0.0.0.0/0`]);
    expect(rules()).toEqual(["POST /security-group-rules"]);
  });

  test("that are changed by hand are as before within one list interval: rules and ports", async () => {
    const { w } = await started(2);
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    const [http] = await served(w);
    const right = `tcp ${http} from 10.77.0.0/24`;
    const [group] = await groups(w);
    const { securityGroupRules, ports } = w.cloud.network;
    const rule = group?.security_group_rules.find((r) => r.direction === "ingress");
    await securityGroupRules.delete(rule?.id ?? "");
    await until(w, "the rule", async () => String(await ingress(w)) === right);
    await securityGroupRules.create({
      security_group_id: group?.id ?? "",
      direction: "ingress",
      ethertype: "IPv4",
      protocol: "tcp",
      port_range_min: 22,
      port_range_max: 22,
      remote_ip_prefix: "0.0.0.0/0",
    });
    await until(w, "no other rule", async () => String(await ingress(w)) === right);
    const port = (await ports.all()).find((p) => p.security_groups.includes(group?.id ?? ""));
    await ports.update(port?.id ?? "", { security_groups: [] });
    await until(w, "both nodes", async () => String(await bearers(w)) === "0,1");
  });

  test("is put on a node that joins and removed from one that leaves", async () => {
    const { w } = await started(2);
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    await served(w);
    const label = (value: string | null) => ({
      type: "merge" as const,
      body: { metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": value } } },
    });
    await w.client.patch(Node, key("sg-node-0"), label("true"));
    await until(w, "node 1 alone", async () => String(await bearers(w)) === "1");
    await w.client.patch(Node, key("sg-node-0"), label(null));
    await until(w, "both", async () => String(await bearers(w)) === "0,1");
  });

  test("does not undo what another writes to a port at the same time", async () => {
    const { w, cloud } = await started(1);
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    const [port] = await w.cloud.network.ports.all({ device_id: w.infrastructure.servers[0]?.id });
    const mine = await w.cloud.network.securityGroups.create({ name: "a-person's" });
    let interfered: Promise<unknown> | undefined;
    cloud.setFaults((call) => {
      // Between the controller's read and its write a person adds a group of theirs.
      if (call.method !== "POST" || !call.path.startsWith("/v2.0/security-groups") || interfered) return undefined;
      const body = { security_groups: [...(port?.security_groups ?? []), mine.id] };
      interfered = w.cloud.network.ports.update(port?.id ?? "", body);
      return undefined;
    });
    await served(w);
    await interfered;
    await until(w, "both groups", async () => {
      const now = await w.cloud.network.ports.get(port?.id ?? "");
      return now.security_groups.includes(mine.id) && (await bearers(w)).length === 1;
    });
    cloud.setFaults(undefined);
    await w.remove("web");
    const now = await w.cloud.network.ports.get(port?.id ?? "");
    expect(now.security_groups).toContain(mine.id);
    expect(await groups(w)).toEqual([]);
    await w.cloud.network.ports.update(now.id, { security_groups: port?.security_groups ?? [] });
    await w.cloud.network.securityGroups.delete(mine.id);
  });

  test("goes when the feature is turned off, and with its Service", async () => {
    const { w } = await started(1);
    const first = w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    await served(w);
    expect(await groups(w)).toHaveLength(1);
    await first.stop();
    const second = w.run({ provider: "amphora" });
    await until(w, "no group", async () => (await groups(w)).length === 0);
    expect(await w.loadBalancers()).toHaveLength(1);
    await second.stop();
    w.run({ provider: "amphora", ...managed });
    await until(w, "a group again", async () => (await bearers(w)).length === 1);
    await w.remove("web");
    expect(await groups(w)).toEqual([]);
    expect(await bearers(w)).toEqual([]);
  });

  test("that cannot be made costs the Service nothing but a warning", async () => {
    const { w, cloud } = await started(1);
    cloud.setQuota("demo", "security_group", 0);
    w.run({ provider: "amphora", ...managed });
    await w.joinAll();
    await served(w);
    await until(w, "the word", async () => (await w.eventsOf("web")).includes("SyncLoadBalancerFailed"));
  });
});
