/**
 * A control plane of machines that kubeadm makes: etcd and static pods in the namespaces of a real OpenStack's servers,
 * kept by the KubeadmControlPlane.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inventory } from "../support/inventory.ts";
import { eventually } from "../support/processes.ts";
import { healthCheck, NAME, templateName } from "./kubeadm/manifests.ts";
import { startKubeadmRig, type KubeadmRig } from "./kubeadm/rig.ts";

const TIMEOUT = 20 * 60_000;
const CONTROL_PLANE = `kubeadmcontrolplane/${NAME}`;

describe.skipIf(process.env["CAUSEWAY_NODE_MACHINES"] === undefined)("a control plane that kubeadm makes", () => {
  let rig: KubeadmRig;

  beforeAll(async () => {
    rig = await startKubeadmRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  /** Waits; on failure says what the programs and machines printed. */
  async function until<T>(what: string, attempt: () => T | undefined | false): Promise<T> {
    try {
      return await eventually(TIMEOUT, attempt);
    } catch (cause) {
      const objects = rig.management("get", "cluster,kubeadmcontrolplane,machine,openstackmachine", "-o", "wide");
      throw new Error(`${what}:\n${objects}\n${rig.said()}`, { cause });
    }
  }

  /** Waits until the control plane has so many machines of this release and no other, all of them Ready members. */
  async function settled(replicas: number, version: string): Promise<void> {
    await until(`${replicas} machines of ${version}`, () => {
      const { spec, status } = json<ControlPlane>(rig.management("get", CONTROL_PLANE, "-o", "json"));
      const conditions = new Map(status?.conditions?.map((one) => [one.type, one.status]));
      const counts = [status?.replicas, status?.readyReplicas, status?.upToDateReplicas];
      return (
        spec.version === version &&
        status?.version === version &&
        counts.every((count) => count === replicas) &&
        conditions.get("EtcdClusterHealthy") === "True" &&
        conditions.get("ControlPlaneComponentsHealthy") === "True" &&
        conditions.get("Available") === "True"
      );
    });
    const { items } = json<{ items: NodeView[] }>(rig.workload("get", "nodes", "-o", "json"));
    expect(items.map(({ status }) => status.nodeInfo.kubeletVersion)).toEqual(Array(replicas).fill(version));
    const names = items.map(({ metadata }) => metadata.name).sort();
    expect(await rig.members()).toEqual(names);
  }

  const machines = (): readonly MachineView[] =>
    json<{ items: MachineView[] }>(rig.management("get", "machines", "-o", "json")).items;

  test("one machine: kubeadm init, with the user data of the bootstrap provider", async () => {
    await rig.connect();
    await settled(1, rig.versions[0]);
    rig.workload("create", "configmap", "kept", "--from-literal=since=the-first-machine");
  });

  test("DNS and kube-proxy of kubeadm run on it", () => {
    rig.workload("-n", "kube-system", "rollout", "status", "daemonset/kube-proxy", "--timeout=600s");
    // Its pods tolerate control planes.
    rig.workload("-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=600s");
  });

  test("three machines: two join it, and etcd has three members", async () => {
    rig.management("scale", CONTROL_PLANE, "--replicas=3");
    await settled(3, rig.versions[0]);
  });

  test("the next minor: each machine is replaced, and what the cluster knew remains", async () => {
    const before = new Set(machines().map(({ metadata }) => metadata.name));
    const [, version] = rig.versions;
    const infrastructureRef = { name: templateName(version) };
    const patch = { spec: { version, machineTemplate: { spec: { infrastructureRef } } } };
    rig.management("patch", CONTROL_PLANE, "--type=merge", "-p", JSON.stringify(patch));
    await settled(3, version);
    expect(machines().filter(({ metadata }) => before.has(metadata.name))).toEqual([]);
    expect(rig.workload("get", "configmap", "kept", "-o", "jsonpath={.data.since}")).toBe("the-first-machine");
    const image = "jsonpath={.spec.template.spec.containers[0].image}";
    expect(rig.workload("-n", "kube-system", "get", "daemonset", "kube-proxy", "-o", image)).toContain(version);
  });

  test("a machine that is switched off is replaced, and its member of etcd with it", async () => {
    rig.manage(healthCheck);
    const [victim] = machines();
    const name = victim?.metadata.name ?? "";
    const server = (await rig.cloud.compute.servers.all()).find((one) => one.name === name);
    if (server === undefined) throw new Error(`no server ${name}`);
    await rig.cloud.compute.serverActions.stop(server.id);
    await until(`${name} to go`, () => !machines().some(({ metadata }) => metadata.name === name));
    await settled(3, rig.versions[1]);
    expect(rig.workload("get", "configmap", "kept", "-o", "jsonpath={.data.since}")).toBe("the-first-machine");
  });

  test("deleting the cluster leaves the project as it was", async () => {
    rig.management("delete", "cluster", NAME, "--timeout=1200s");
    await eventually(TIMEOUT, async () => JSON.stringify(await inventory(rig.cloud)) === JSON.stringify(rig.before));
  });
});

function json<T>(text: string): T {
  return JSON.parse(text) as T;
}

interface ControlPlane {
  readonly spec: { readonly version: string };
  readonly status?: {
    readonly version?: string;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly upToDateReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface MachineView {
  readonly metadata: { readonly name: string };
}

interface NodeView {
  readonly metadata: { readonly name: string };
  readonly status: { readonly nodeInfo: { readonly kubeletVersion: string } };
}
