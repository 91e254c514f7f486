/**
 * The main job on a real OpenStack, as a person does it: two commands, kubectl, and a check of the project afterwards.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { inventory } from "../support/inventory.ts";
import { causeway, eventually, kubectl, type Started } from "../support/processes.ts";

const cloudName = process.env["OS_CLOUD"] ?? "devcloud";
const minutes = 60_000;
/** How long each thing may take on a machine that is slow. */
const TIMEOUT = 10 * minutes;
/** Milliseconds without a change after which nothing more is expected of itself. */
const STILL = 3_000;

describe("the demo on a real OpenStack", () => {
  let dir: string;
  let cloud: Cloud;
  let before: string[];
  let agent: Started;
  let system: Started;
  const management = () => join(dir, "state", "management.kubeconfig");
  const workload = () => join(dir, "state", "demo.kubeconfig");

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "causeway-openstack-"));
    cloud = connectCloud(loadCloudsYaml({ cloud: cloudName }));
    before = await stillInventory(cloud);
    agent = causeway(["machine-agent", "--cloud", cloudName, "--state", join(dir, "machines")]);
    system = causeway(["up", "--demo", "--cloud", cloudName, "--state", join(dir, "state")]);
  });

  afterAll(async () => {
    await system?.stop();
    await agent?.stop();
    await cloud?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("becomes ready: three nodes that joined from inside their namespaces, and a load balancer with an address", async () => {
    const output = await system.until(/demo ready: .*\n/, 15 * minutes);
    const line = /demo ready: .*/.exec(output)?.[0] ?? "";
    console.log(line);
    expect(line).toMatch(/^demo ready: 1 control plane, 3 nodes, load balancer [\d.]+, \d+ OpenStack calls, [\d.]+ s$/);
    expect(existsSync(workload())).toBe(true);
  });

  test("kubectl shows the cluster's objects with useful columns", () => {
    const table = kubectl(
      management(),
      "get",
      "clusters,machines,machinedeployments,openstackclusters,openstackmachines",
      "-A",
    );
    console.log(table);
    expect(table).toMatch(/demo-workers/);
    expect(table).toMatch(/openstack:\/\/\//);
  });

  test("nodes carry addresses, providerID, zone and region, and no uninitialized taint", () => {
    const nodes = JSON.parse(kubectl(workload(), "get", "nodes", "-o", "json")) as { items: NodeView[] };
    expect(nodes.items).toHaveLength(3);
    for (const node of nodes.items) {
      expect(node.spec.providerID).toMatch(/^openstack:\/\/\/[0-9a-f-]{36}$/);
      expect(node.metadata.labels["topology.kubernetes.io/zone"]).toBeTruthy();
      expect(node.metadata.labels["topology.kubernetes.io/region"]).toBeTruthy();
      expect(node.status.addresses.some((a) => a.type === "InternalIP")).toBe(true);
      expect((node.spec.taints ?? []).map((t) => t.key)).not.toContain(
        "node.cloudprovider.kubernetes.io/uninitialized",
      );
    }
  });

  test("the load balancer has every node as a member at the Service's node port", async () => {
    const service = JSON.parse(kubectl(workload(), "get", "service", "hello", "-o", "json")) as {
      spec: { ports: { nodePort: number }[] };
      metadata: { annotations: Record<string, string> };
    };
    const id = service.metadata.annotations["loadbalancer.openstack.org/load-balancer-id"] ?? "";
    const members = await eventually(TIMEOUT, async () => {
      const lb = await cloud.loadBalancing.loadBalancers.get(id);
      const found = await cloud.loadBalancing.members(lb.pools[0]?.id ?? "").all();
      return lb.provisioning_status === "ACTIVE" && found.length === 3 ? found : undefined;
    });
    for (const member of members) expect(member.protocol_port).toBe(service.spec.ports[0]?.nodePort);
  });

  test("scaling to five gives five Ready nodes", async () => {
    kubectl(management(), "scale", "machinedeployment", "demo-workers", "--replicas=5");
    await eventually(TIMEOUT, () => {
      const ready = kubectl(workload(), "get", "nodes", "--no-headers")
        .split("\n")
        .filter((l) => /\sReady\s/.test(l));
      return ready.length === 5;
    });
  });

  test("a Service of type LoadBalancer that a person makes gets an address, and deleting it leaves nothing", async () => {
    const had = await stillInventory(cloud);
    kubectl(workload(), "create", "service", "loadbalancer", "another", "--tcp=8080:8080");
    await eventually(
      TIMEOUT,
      () =>
        kubectl(workload(), "get", "service", "another", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}") ||
        undefined,
    );
    kubectl(workload(), "delete", "service", "another", "--timeout=600s");
    await untilInventory(cloud, had);
  });

  test("deleting the cluster leaves the project as it was, and says so in events", async () => {
    kubectl(management(), "delete", "cluster", "demo", "--timeout=900s");
    await untilInventory(cloud, before);
    const events = kubectl(management(), "get", "events", "--no-headers");
    expect(events).toMatch(/SuccessfulDelete|Deleted/);
  });
});

/**
 * What the project has once nothing comes and goes any more: what earlier tests deleted may still be on its way out.
 */
async function stillInventory(cloud: Cloud): Promise<string[]> {
  let last = await inventory(cloud);
  for (const end = Date.now() + TIMEOUT; Date.now() < end;) {
    await sleep(STILL);
    const now = await inventory(cloud);
    if (isDeepStrictEqual(now, last)) return now;
    last = now;
  }
  return last;
}

async function untilInventory(cloud: Cloud, wanted: readonly string[]): Promise<void> {
  const isThere = async () => isDeepStrictEqual(await inventory(cloud), wanted);
  for (const end = Date.now() + TIMEOUT; Date.now() < end && !(await isThere());) await sleep(1_000);
  expect(await inventory(cloud)).toEqual(wanted);
}

interface NodeView {
  metadata: { name: string; labels: Record<string, string> };
  spec: { providerID?: string; taints?: { key: string }[] };
  status: { addresses: { type: string; address: string }[] };
}
