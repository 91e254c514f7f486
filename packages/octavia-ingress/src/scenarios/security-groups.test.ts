import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Node } from "@causeway/kubernetes";
import { IngressWorld, to } from "../testing/world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
let w: IngressWorld;
const portIds: string[] = [];
const NAME = "kube_ingress_c_default_web";

beforeAll(async () => {
  w = await IngressWorld.start();
  for (const [i, name] of ["one", "two"].entries()) await w.service(name, 30_001 + i);
  const [subnet] = await w.cloud.network.subnets.all({ id: w.subnetId });
  for (const i of [0, 1]) {
    const server = randomUUID();
    const body = { name: `server-${i}`, network_id: subnet?.network_id ?? "", device_id: server };
    portIds.push((await w.cloud.network.ports.create(body)).id);
    await w.addNode(`server-${i}`, `10.88.0.${50 + i}`, server);
  }
});
afterAll(() => w.close());

const paths = (...list: ReturnType<typeof to>[]) => ({ rules: [{ host: "a.example", http: { paths: list } }] });

/** The node ports that the Ingress's group opens, and which of the servers' ports have it. */
async function opened(): Promise<{ ports: number[]; on: boolean[] } | undefined> {
  const [group] = await w.cloud.network.securityGroups.all({ name: NAME });
  if (!group) return undefined;
  const rules = group.security_group_rules.filter(({ direction }) => direction === "ingress");
  expect(rules.every((r) => r.protocol === "tcp" && r.remote_ip_prefix === "10.88.0.0/24")).toBe(true);
  const on = await Promise.all(portIds.map(async (id) => (await w.cloud.network.ports.get(id)).security_groups));
  return {
    ports: rules.map((r) => r.port_range_min ?? 0).sort((a, b) => a - b),
    on: on.map((groups) => groups.includes(group.id)),
  };
}

const reached = (ports: number[], on: boolean[]) => async (): Promise<boolean> =>
  JSON.stringify(await opened()) === JSON.stringify({ ports, on });

test("the Ingress controller opens the node ports of an Ingress on the nodes' ports, follows every change, and leaves nothing", async () => {
  const before = (await w.cloud.network.securityGroups.all()).length;
  const stop = w.run({}, { manageSecurityGroups: true });
  await w.ingress("web", paths(to("one")));
  await w.address("web");
  await w.until("the group", reached([30_001], [true, true]));
  const [group] = await w.cloud.network.securityGroups.all({ name: NAME });
  expect(group?.tags).toContain("octavia.ingress.kubernetes.io");
  expect(group?.tags).toContain("default_web");
  expect(group?.description).toBe("Security group created for Ingress default/web from cluster c");
  w.calls();

  await w.change("web", { spec: paths(to("one"), to("two", "/two")) });
  await w.until("the second port", reached([30_001, 30_002], [true, true]));
  await w.client.patch(
    Node,
    { namespace: "", name: "server-1" },
    { type: "merge", body: { spec: { unschedulable: true } } },
  );
  await w.until("the cordoned node to lose the group", reached([30_001, 30_002], [true, false]));

  // Another client takes the group from a port: it comes back.
  await w.cloud.network.ports.update(portIds[0] ?? "", { security_groups: [] });
  await w.until("the group to come back", reached([30_001, 30_002], [true, false]));

  // A process that no longer manages groups deletes them.
  await stop();
  const second = w.run();
  await w.until("the group to be deleted", async () => (await opened()) === undefined);
  await second();
  w.run({}, { manageSecurityGroups: true });
  await w.until("the group again", reached([30_001, 30_002], [true, false]));
  await w.clear();
  expect(await w.left()).toEqual([]);
  expect((await w.cloud.network.securityGroups.all()).length).toBe(before);
  expect((await w.cloud.network.ports.get(portIds[0] ?? "")).security_groups).toEqual([]);
});
