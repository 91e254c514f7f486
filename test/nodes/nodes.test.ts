/** Two workers with real containers on a real OpenStack, joined to an embedded control plane or to Kubernetes' own. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventory } from "../support/inventory.ts";
import { eventually } from "../support/processes.ts";
import { hostname, sendRequests } from "./requests.ts";
import { IMAGE, NAME, startRig, WORKERS, type Rig } from "./rig.ts";
import { service, web } from "./workload.ts";

const TIMEOUT = 10 * 60_000;
/** The control plane is Kubernetes' own programs. */
const isProcess = process.env["CAUSEWAY_NODES_PROGRAMS"] !== undefined;
const isOverlay = process.env["CAUSEWAY_NODES_OVERLAY"] !== undefined;

describe("a cluster whose nodes run real containers", () => {
  let rig: Rig;
  /** The IDs of the cluster's servers, which are the names of its machines' cgroups. */
  let machines: string[] = [];
  const podsOf = (selector: string) =>
    (JSON.parse(rig.workload("get", "pods", "-l", selector, "-o", "json")) as { items: PodView[] }).items;

  /** The address of a Service's load balancer, once it has one. */
  const addressOf = (name: string) =>
    rig.workload("get", "service", name, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}") || undefined;

  /** The names of the Nodes that are Ready. */
  const readyNodes = () =>
    (JSON.parse(rig.workload("get", "nodes", "-o", "json")) as { items: NodeView[] }).items
      .filter(({ status }) => status.conditions.some((c) => c.type === "Ready" && c.status === "True"))
      .map(({ metadata }) => metadata.name)
      .sort();

  /** Waits until the project has so many servers, none of them one of `gone`, each a Ready Node. */
  async function settled(replicas: number, gone: readonly string[]): Promise<void> {
    await eventually(TIMEOUT, async () => {
      const servers = await rig.cloud.compute.servers.all();
      const names = servers.map(({ name }) => name).sort();
      machines.push(...servers.map(({ id }) => id).filter((id) => !machines.includes(id)));
      return (
        names.length === replicas && !names.some((name) => gone.includes(name)) && readyNodes().join() === names.join()
      );
    });
  }

  /** Who wrote what the application's objects are. */
  function writersOf(resource: string): string[] {
    const printed = rig.workload("get", resource, "-l", "app=web", "--show-managed-fields", "-o", "json");
    const { items } = JSON.parse(printed) as { items: { metadata: { managedFields?: { manager: string }[] } }[] };
    return items.flatMap(({ metadata }) => (metadata.managedFields ?? []).map(({ manager }) => manager));
  }

  /** The cells of what `kubectl top ARGS…` prints; none while kubelets have no figures yet. */
  function topped(...args: string[]): string[][] {
    const printed = rig.kubectl(["top", ...args, "--no-headers"]);
    const lines = printed.stdout.toString().split("\n");
    return lines.filter((line) => line !== "").map((line) => line.split(/\s+/));
  }

  beforeAll(async () => {
    rig = await startRig({ overlay: isOverlay, withMetrics: true });
    machines = (await rig.cloud.compute.servers.all()).map(({ id }) => id);
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("has real nodes: kubelet, containerd, and not labelled as simulated", () => {
    const { items } = JSON.parse(rig.workload("get", "nodes", "-o", "json")) as { items: NodeView[] };
    expect(items).toHaveLength(2);
    expect(machines).toHaveLength(2);
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
    const pods = podsOf("app=web");
    expect(new Set(pods.map(({ spec }) => spec.nodeName)).size).toBe(2);
    // kube-proxy chooses at random: of 64 requests, some pod gets none once in twenty million runs.
    const names = await rig.run(
      "i=0; while [ $i -lt 64 ]; do i=$((i+1)); timeout 20 wget -q -O - http://web.default.svc.cluster.local/hostname 2>&1; echo; done > /dev/termination-log",
    );
    const found = new Set(names.split("\n").filter((line) => line !== ""));
    expect(found).toEqual(new Set(pods.map(({ metadata }) => metadata.name)));
  });

  test("either Kubernetes' own controllers run the workload or ours, never both", () => {
    const managers = [...new Set([writersOf("replicaset"), writersOf("pods"), writersOf("endpointslices")].flat())];
    // Ours also write what upstream's would: pods are kube-controller-manager's to readers of managedFields.
    const isOurs = managers.some((name) => name.startsWith("causeway"));
    expect(isOurs, managers.join()).toBe(!isProcess);
    expect(managers).toContain("kube-controller-manager");
  });

  test("what pods of either node send arrives as it was sent", async () => {
    const sent = "causeway".repeat(400);
    for (const { status } of podsOf("app=web")) {
      const url = `http://${status.podIP}:8080/echo?msg=${sent}`;
      const answer = await rig.run(`timeout 20 wget -q -O - "${url}" | sha256sum > /dev/termination-log`);
      expect(answer.split(" ")[0]).toBe(sum(sent));
    }
  });

  test("the cloud routes pods' addresses and admits them at the nodes' ports, and with an overlay knows nothing of them", async () => {
    const { network } = rig.cloud;
    const ports = (await network.ports.all({})).filter(({ device_id }) => machines.includes(device_id));
    expect(ports.map((port) => port.port_security_enabled)).toEqual([true, true]);
    const routed = (await network.routers.all({})).flatMap(({ routes }) =>
      routes.map(({ destination }) => destination),
    );
    const admitted = ports.flatMap((port) => port.allowed_address_pairs.map((pair) => pair.ip_address));
    const podNetworks = isOverlay
      ? []
      : rig.workload("get", "nodes", "-o", "jsonpath={.items[*].spec.podCIDR}").split(" ");
    expect({ routed: routed.sort(), admitted: admitted.sort() }).toEqual({
      routed: podNetworks.toSorted(),
      admitted: podNetworks.toSorted(),
    });
  });

  test.runIf(isOverlay)(
    "a pod that is called sees the address of the pod that calls it, also on the other node",
    async () => {
      const pods = podsOf("app=web").map(({ status }) => status.podIP);
      const each = `for ip in ${pods.join(" ")}; do timeout 20 wget -q -O - http://$ip:8080/clientip; echo; done`;
      const written = await rig.run(`{ hostname -i; ${each}; } > /dev/termination-log`);
      const [own, ...seen] = written.trim().split("\n");
      expect(seen.map((address) => address.split(":")[0])).toEqual(pods.map(() => own));
    },
  );

  test("a DaemonSet runs one pod on each node, and a Job its completions", () => {
    const container = { name: "main", image: IMAGE, args: ["pause"] };
    const labels = { app: "each" };
    rig.apply({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "each" },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    });
    const command = ["sh", "-c", "seq 1 1000 | sha256sum"];
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: IMAGE, command }] } };
    rig.apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "sums" },
      spec: { completions: 3, parallelism: 2, template },
    });
    rig.workload("rollout", "status", "daemonset/each", "--timeout=600s");
    expect(new Set(podsOf("app=each").map(({ spec }) => spec.nodeName)).size).toBe(2);
    rig.workload("wait", "job/sums", "--for=condition=complete", "--timeout=600s");
    expect(podsOf("job-name=sums").map(({ status }) => status.phase)).toEqual(["Succeeded", "Succeeded", "Succeeded"]);
    rig.workload("delete", "job/sums", "daemonset/each", "--wait");
  });

  describe("through the tunnel to the kubelets", () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join("");

    test("logs are what a container wrote, byte for byte", async () => {
      const command = ["sh", "-c", "seq 1 100000; exec sleep 3600"];
      rig.apply(onePod("printer", { command }));
      rig.workload("wait", "pod/printer", "--for=condition=Ready", "--timeout=600s");
      await eventually(TIMEOUT, () => sum(rig.workload("logs", "printer")) === sum(lines));
    });

    test("exec returns what a command wrote, takes its input, and has its exit code", () => {
      expect(sum(rig.workload("exec", "printer", "--", "seq", "1", "100000"))).toBe(sum(lines));
      const input = randomBytes(700_000);
      const piped = rig.kubectl(["exec", "-i", "printer", "--", "sha256sum"], { input });
      expect(piped.stdout.toString().split(" ")[0]).toBe(sum(input));
      expect(rig.kubectl(["exec", "printer", "--", "sh", "-c", "exit 7"]).status).toBe(7);
    });

    // With Kubernetes' own control plane by metrics-server, which the API server reaches through the tunnel alone.
    test("top shows what a busy container and the nodes use", async () => {
      rig.apply(onePod("busy", { command: ["sh", "-c", "while :; do :; done"] }));
      rig.workload("wait", "pod/busy", "--for=condition=Ready", "--timeout=600s");
      await eventually(TIMEOUT, () => {
        const [, cpu, memory] = topped("pod", "busy").find(([name]) => name === "busy") ?? [];
        // Of a processor that others use, too.
        return parseInt(cpu ?? "", 10) >= 100 && /^\d+Mi$/.test(memory ?? "");
      });
      const nodes = topped("node");
      expect(nodes).toHaveLength(2);
      for (const [, cpu, , memory] of nodes) {
        expect(parseInt(cpu ?? "", 10)).toBeGreaterThan(0);
        expect(parseInt(memory ?? "", 10)).toBeGreaterThan(0);
      }
      const containers = topped("pod", "--containers", "-l", "app=web");
      expect(new Set(containers.map(([, container]) => container))).toEqual(new Set(["web"]));
      rig.workload("delete", "pod", "busy", "--grace-period=1");
    });

    test("cp copies a file to a container and back", () => {
      const [there, back] = [join(rig.dir, "there"), join(rig.dir, "back")];
      writeFileSync(there, randomBytes(3_000_000));
      rig.workload("cp", there, "printer:/tmp/file");
      rig.workload("cp", "printer:/tmp/file", back);
      expect(sum(readFileSync(back))).toBe(sum(readFileSync(there)));
    });

    test("attach reaches a container's input and output", () => {
      rig.apply(onePod("reader", { command: ["cat"], stdin: true, stdinOnce: true }));
      rig.workload("wait", "pod/reader", "--for=condition=Ready", "--timeout=600s");
      const { stdout } = rig.kubectl(["attach", "-i", "-q", "reader"], { input: Buffer.from("a line\n") });
      expect(stdout.toString()).toBe("a line\n");
    });

    test("port-forward carries requests to a pod", async () => {
      const forward = rig.start("port-forward", "deployment/web", ":8080");
      try {
        const [, port] = /127\.0\.0\.1:(\d+) ->/.exec(await forward.until(/127\.0\.0\.1:\d+ ->/)) ?? [];
        const sent = "causeway".repeat(400);
        const answer = await fetch(`http://127.0.0.1:${port}/echo?msg=${sent}`, { headers: { connection: "close" } });
        expect(sum(await answer.text())).toBe(sum(sent));
      } finally {
        await forward.stop();
      }
      rig.workload("delete", "pod", "printer", "reader", "--grace-period=1");
    });
  });

  test("a Service of type LoadBalancer carries packets through Octavia and kube-proxy to pods, also while they are replaced", async () => {
    rig.apply(service("LoadBalancer"));
    const address = await eventually(TIMEOUT, () => addressOf("web"));
    await eventually(TIMEOUT, async () => (await hostname(address)) !== "");
    const before = new Set(podsOf("app=web").map(({ metadata }) => metadata.name));
    const requests = sendRequests(address);
    const isAnswered = (byOld: boolean) => [...requests.responded].some((name) => before.has(name) === byOld);
    await eventually(TIMEOUT, () => isAnswered(true));
    rig.apply(web("two"));
    await rig.rolledOut("web");
    await eventually(TIMEOUT, () => isAnswered(false));
    const { total, failures } = await requests.end();
    console.log(`${total} requests during a rolling update, ${failures.length} failed`);
    expect(failures).toEqual([]);
  });

  test("the Service responds all the time while each node is replaced by a new one", async () => {
    const address = await eventually(TIMEOUT, () => addressOf("web"));
    const old = readyNodes();
    const requests = sendRequests(address);
    const rollout = { spec: { rollout: { after: new Date().toISOString() } } };
    rig.management("patch", "machinedeployment", WORKERS, "--type=merge", "-p", JSON.stringify(rollout));
    await settled(2, old);
    await rig.rolledOut("web");
    const { total, failures, longestPause } = await requests.end();
    const counts = `${total} requests while both nodes were replaced, ${failures.length} failed`;
    console.log([`${counts}; the longest pause was ${longestPause} ms`, ...failures].join("\n"));
    // A new node waits until its kube-proxy serves, and a host until load balancers have left its Node.
    expect(failures).toEqual([]);
  });

  test("pods of a node that is switched off are replaced on the other one", async () => {
    const victim = podsOf("app=web")[0]?.spec.nodeName ?? "";
    const server = (await rig.cloud.compute.servers.all()).find(({ name }) => name === victim);
    if (server === undefined) throw new Error(`no server ${victim}`);
    await rig.cloud.compute.serverActions.stop(server.id);
    await eventually(TIMEOUT, () => {
      // The kubelet that would end a deleted pod is switched off, too.
      const left = podsOf("app=web").filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ready = left.filter((pod) => pod.status.conditions?.some((c) => c.type === "Ready" && c.status === "True"));
      return ready.length === 4 && ready.every(({ spec }) => spec.nodeName !== victim);
    });
  });

  test("a health check has the switched-off node replaced, and three nodes become two again", async () => {
    const server = (await rig.cloud.compute.servers.all()).find(({ status }) => status === "SHUTOFF");
    if (server === undefined) throw new Error("no server is SHUTOFF");
    rig.manage(healthCheck);
    await settled(2, [server.name]);
    rig.management("scale", "machinedeployment", WORKERS, "--replicas=3");
    await settled(3, [server.name]);
    rig.management("scale", "machinedeployment", WORKERS, "--replicas=2");
    await settled(2, [server.name]);
  });

  test("deleting the cluster leaves nothing in the project, and nothing of its machines on the host", async () => {
    rig.deleteCluster();
    await eventually(TIMEOUT, async () => JSON.stringify(await inventory(rig.cloud)) === JSON.stringify(rig.before));
    await eventually(TIMEOUT, () => machinesLeft(machines).length === 0);
  });
});

/** Of these machines, those whose cgroup is still on the host. Other tests have machines of their own. */
function machinesLeft(machines: readonly string[]): readonly string[] {
  return machines.filter((id) => existsSync(`/sys/fs/cgroup/memory/causeway-machines/${id}`));
}

const sum = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** Lets a worker be replaced whose Node has not been heard of for some seconds. */
const healthCheck = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineHealthCheck",
  metadata: { name: "workers" },
  spec: {
    clusterName: NAME,
    selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": WORKERS } },
    checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 10 }] },
  },
};

function onePod(name: string, container: object): object {
  const containers = [{ name: "main", image: IMAGE, ...container }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { terminationGracePeriodSeconds: 1, containers } };
}

interface NodeView {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly status: {
    readonly nodeInfo: { readonly kubeletVersion: string; readonly containerRuntimeVersion: string };
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

interface PodView {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly podIP: string;
    readonly phase: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
