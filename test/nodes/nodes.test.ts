/** Two workers with real containers, joined to an embedded control plane, on a real OpenStack. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventory } from "../support/inventory.ts";
import { eventually } from "../support/processes.ts";
import { IMAGE, startRig, type Rig } from "./rig.ts";

const PATIENCE = 10 * 60_000;

describe("a cluster whose nodes run real containers", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("its nodes are real: kubelet, containerd, and not labelled as simulated", () => {
    const { items } = JSON.parse(rig.workload("get", "nodes", "-o", "json")) as { items: NodeView[] };
    expect(items).toHaveLength(2);
    for (const { metadata, status } of items) {
      expect(status.nodeInfo.kubeletVersion).toBe(process.env["CAUSEWAY_NODE_VERSION"]);
      expect(status.nodeInfo.containerRuntimeVersion).toMatch(/^containerd:\/\//);
      expect(Object.keys(metadata.labels)).not.toContain("simulated.causeway.dev/node");
    }
  });

  test("a DaemonSet and a Deployment of add-ons roll out: kube-proxy and DNS", () => {
    rig.workload("-n", "kube-system", "rollout", "status", "daemonset/kube-proxy", "--timeout=600s");
    rig.workload("-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=600s");
  });

  test("a Deployment runs its containers on both nodes, and a Service reaches them by name from a pod", async () => {
    rig.apply(web("one"));
    rig.apply(service("ClusterIP"));
    rig.workload("rollout", "status", "deployment/web", "--timeout=600s");
    const pods = JSON.parse(rig.workload("get", "pods", "-l", "app=web", "-o", "json")) as { items: PodView[] };
    expect(new Set(pods.items.map(({ spec }) => spec.nodeName)).size).toBe(2);
    const names = await rig.run(
      "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do timeout 20 wget -q -O - http://web.default.svc.cluster.local/hostname 2>&1; echo; done > /dev/termination-log",
    );
    const found = new Set(names.split("\n").filter((line) => line !== ""));
    expect(found).toEqual(new Set(pods.items.map(({ metadata }) => metadata.name)));
  });

  test("what pods of either node send arrives as it was sent", async () => {
    const sent = "causeway".repeat(400);
    const sum = createHash("sha256").update(sent).digest("hex");
    const pods = JSON.parse(rig.workload("get", "pods", "-l", "app=web", "-o", "json")) as { items: PodView[] };
    for (const { status } of pods.items) {
      const url = `http://${status.podIP}:8080/echo?msg=${sent}`;
      const answer = await rig.run(`timeout 20 wget -q -O - "${url}" | sha256sum > /dev/termination-log`);
      expect(answer.split(" ")[0]).toBe(sum);
    }
  });

  test("a Service of type LoadBalancer carries packets through Octavia and kube-proxy to pods, also while they are replaced", async () => {
    rig.apply(service("LoadBalancer"));
    const address = await eventually(
      PATIENCE,
      () => rig.workload("get", "service", "web", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}") || undefined,
    );
    await eventually(PATIENCE, async () => (await hostname(address)) !== undefined);
    const asking = new AbortController();
    const failures: string[] = [];
    let asked = 0;
    const load = (async () => {
      while (!asking.signal.aborted) {
        asked += 1;
        void hostname(address).catch((error: unknown) => failures.push(String(error)));
        await sleep(50);
      }
    })();
    rig.apply(web("two"));
    await rig.rolledOut("web");
    asking.abort();
    await load;
    console.log(`${asked} requests during a rolling update, ${failures.length} failed`);
    expect(asked).toBeGreaterThan(20);
    expect(failures).toEqual([]);
  });

  test("pods of a node that is switched off are replaced on the other one", async () => {
    const pods = JSON.parse(rig.workload("get", "pods", "-l", "app=web", "-o", "json")) as { items: PodView[] };
    const victim = pods.items[0]?.spec.nodeName ?? "";
    const server = (await rig.cloud.compute.servers.all()).find(({ name }) => name === victim);
    if (server === undefined) throw new Error(`no server ${victim}`);
    await rig.cloud.compute.serverActions.stop(server.id);
    await eventually(PATIENCE, () => {
      const { items } = JSON.parse(rig.workload("get", "pods", "-l", "app=web", "-o", "json")) as { items: PodView[] };
      // The kubelet that would end a deleted pod is switched off, too.
      const left = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ready = left.filter((pod) => pod.status.conditions?.some((c) => c.type === "Ready" && c.status === "True"));
      return ready.length === 4 && ready.every(({ spec }) => spec.nodeName !== victim);
    });
  });

  test("deleting the cluster leaves nothing in the project, and nothing of its machines on the host", async () => {
    rig.deleteCluster();
    await eventually(PATIENCE, async () => JSON.stringify(await inventory(rig.cloud)) === JSON.stringify(rig.before));
    await eventually(PATIENCE, () => machinesLeft().length === 0);
  });
});

function machinesLeft(): string[] {
  const dir = "/sys/fs/cgroup/memory/causeway-machines";
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

async function hostname(address: string): Promise<string | undefined> {
  const answer = await fetch(`http://${address}/hostname`, { signal: AbortSignal.timeout(10_000) });
  return answer.ok ? await answer.text() : undefined;
}

function web(generation: string): object {
  const soon = (key: string) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { generation } },
        spec: {
          tolerations: [soon("node.kubernetes.io/not-ready"), soon("node.kubernetes.io/unreachable")],
          terminationGracePeriodSeconds: 10,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: "kubernetes.io/hostname",
              whenUnsatisfiable: "ScheduleAnyway",
              labelSelector: { matchLabels: { app: "web" } },
            },
          ],
          containers: [
            {
              name: "web",
              image: IMAGE,
              args: ["netexec", "--http-port=8080", "--delay-shutdown=5"],
              readinessProbe: { httpGet: { path: "/hostname", port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}

function service(type: string): object {
  const spec = { type, selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] };
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec };
}

interface NodeView {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly status: { readonly nodeInfo: { readonly kubeletVersion: string; readonly containerRuntimeVersion: string } };
}

interface PodView {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly podIP: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
