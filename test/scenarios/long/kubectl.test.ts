/** What a person does with stock kubectl, on a demo whose machines and load balancers are simulated. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { TIMEOUT, eventually, kubectl } from "../../support/processes.ts";
import { demoInventory } from "../../support/reference.ts";
import { normalised, openStage, settled, type Stage } from "../../support/stage.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const present = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!present) console.log("skipped: kubectl is not on PATH");

describe.skipIf(!present)("kubectl on the demo", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
    await stage.up("--demo").until(/demo ready: .*\n/);
    await settled(stage, demoInventory);
  });
  afterAll(() => stage?.close());

  const management = (...args: readonly string[]) => kubectl(join(stage.dir, "state/management.kubeconfig"), ...args);
  const workload = (...args: readonly string[]) => kubectl(join(stage.dir, "state/demo.kubeconfig"), ...args);
  const refused = (...args: readonly string[]) => {
    try {
      management(...args);
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  test("get prints useful columns", () => {
    const table = management("get", "clusters,machines,machinedeployments,openstackclusters,openstackmachines", "-A");
    expect(table).toMatch(/NAMESPACE +NAME +.*AVAILABLE.*PHASE/);
    expect(table).toMatch(/machinedeployment\S*\/demo-workers +demo /);
    expect(table.match(/openstackmachine\S*\/demo-workers-\S+ +.*ACTIVE/g)).toHaveLength(3);
    expect(table.match(/machine\.cluster\S*\/demo-workers-\S+ .*Running/g)).toHaveLength(3);
  });

  test("describe shows conditions and events", () => {
    const text = management("describe", "openstackcluster", "demo");
    expect(text).toMatch(/Conditions:[\s\S]*Type: +NetworkReady/);
    expect(text).toMatch(/Events:[\s\S]*SuccessfulCreateNetwork/);
  });

  test("nodes carry what the cloud controller put there, and no uninitialized taint", () => {
    const text = workload("get", "nodes", "-o", "json");
    const { items } = JSON.parse(text) as { items: NodeView[] };
    expect(items).toHaveLength(3);
    for (const { metadata, spec, status } of items) {
      expect(spec.providerID).toMatch(/^openstack:\/\/(RegionOne)?\/[0-9a-f-]{36}$/);
      expect(metadata.labels["topology.kubernetes.io/region"]).toBe("RegionOne");
      expect(metadata.labels["topology.kubernetes.io/zone"]).toBeTruthy();
      expect(status.addresses.map((address) => address.type)).toContain("InternalIP");
      expect(JSON.stringify(spec.taints ?? [])).not.toContain("uninitialized");
    }
  });

  test("a manifest with an unknown field is refused, and nothing is made of it", () => {
    const manifest = join(stage.dir, "unknown-field.json");
    const cluster = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "typo" } };
    writeFileSync(manifest, JSON.stringify({ ...cluster, spec: { clusterNetwrk: {} } }));
    expect(refused("create", "-f", manifest)).toMatch(/unknown field "spec\.clusterNetwrk"/);
    expect(refused("get", "cluster", "typo")).toMatch(/NotFound/);
  });

  test("scaling to five gives five Ready nodes", async () => {
    management("scale", "machinedeployment", "demo-workers", "--replicas=5");
    const ready = await eventually(TIMEOUT, () => {
      const lines = workload("get", "nodes", "--no-headers").match(/\sReady\s/g) ?? [];
      return lines.length === 5 ? lines.length : undefined;
    });
    expect(ready).toBe(5);
  });

  test("a Service of type LoadBalancer gets an address with every node behind it; deleting it leaves nothing", async () => {
    const members = () => stage.simulator.inventory("demo").filter((line) => line.startsWith("member ")).length;
    await eventually(TIMEOUT, () => members() === 5);
    const had = stage.simulator.inventory("demo");
    workload("create", "service", "loadbalancer", "another", "--tcp=8080:8080");
    const path = "jsonpath={.status.loadBalancer.ingress[0].ip}";
    const address = await eventually(TIMEOUT, () => workload("get", "svc", "another", "-o", path) || undefined);
    expect(address).toMatch(/^172\.24\.4\.\d+$/);
    await eventually(TIMEOUT, () => members() === 10);
    workload("delete", "service", "another", "--wait=false");
    await eventually(TIMEOUT, () => stage.simulator.inventory("demo").length === had.length);
    expect(stage.simulator.inventory("demo")).toEqual(had);
  });

  test("deleting the cluster leaves the project as it was, and says so in events", async () => {
    // kubectl must not wait here: it would hold up the cloud, which is in this process.
    management("delete", "cluster", "demo", "--wait=false");
    await eventually(TIMEOUT, () => management("get", "clusters", "-o", "name") === "");
    await settled(stage, normalised(stage.before));
    expect(stage.simulator.inventory("demo")).toEqual(stage.before);
    const events = management("get", "events", "--no-headers");
    for (const kind of ["Network", "Router", "Server", "SecurityGroup"])
      expect(events).toMatch(new RegExp(`SuccessfulDelete${kind}`));
  });
});

interface NodeView {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly providerID?: string; readonly taints?: readonly unknown[] };
  readonly status: { readonly addresses: readonly { readonly type: string }[] };
}
