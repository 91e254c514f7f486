import type { KubernetesClient } from "@causeway/kubernetes";
import { runOn, type RealNode } from "./kubelet.ts";
import { IMAGE, NAME, type Rig } from "./rig.ts";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const execute = promisify(execFile);
const DAEMON_SETS = "/apis/apps/v1/namespaces/kube-system/daemonsets";

/** What a test reads of an AddonSet. */
export interface SetView {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
    readonly addons?: readonly { readonly name: string; readonly state: string; readonly message?: string }[];
  };
}

/** An AddonSet of the cluster as it is now. */
export function addonSet(rig: Rig, name: string): SetView {
  return JSON.parse(rig.management("get", "addonset", name, "-o", "json")) as SetView;
}

/** The state and the message of an add-on. */
export function stateOf(set: SetView, addon: string): string {
  const found = set.status?.addons?.find(({ name }) => name === addon);
  return `${found?.state}: ${found?.message ?? ""}`;
}

/** A condition's status and message. */
export function conditionOf(set: SetView, type: string): string {
  const found = set.status?.conditions?.find((each) => each.type === type);
  return `${found?.status}: ${found?.message ?? ""}`;
}

/** A DaemonSet of kube-system. */
export interface DaemonSetView {
  readonly metadata: { readonly uid: string };
  readonly status?: { readonly numberReady?: number; readonly desiredNumberScheduled?: number };
}

export async function daemonSet(client: KubernetesClient, name: string): Promise<DaemonSetView> {
  return (await client.request("GET", `${DAEMON_SETS}/${name}`)) as DaemonSetView;
}

/** Deletes a DaemonSet and its pods, as its tenant may. */
export async function deleteDaemonSet(client: KubernetesClient, name: string): Promise<void> {
  await client.request("DELETE", `${DAEMON_SETS}/${name}`, { body: { propagationPolicy: "Background" } });
}

/** An AddonSet of the cluster with add-ons of these manifests, each of the wave after the one before. */
export function setOf(name: string, waves: Readonly<Record<string, readonly object[]>>): object {
  const addons = Object.entries(waves).map(([addon, objects], wave) => {
    return { name: addon, wave, manifests: objects.map((each) => JSON.stringify(each)).join("\n---\n") };
  });
  return {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: { namespace: "default", name },
    spec: { clusterName: NAME, addons },
  };
}

export const configMap = (name: string): object => {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data: { is: "declared" } };
};

/** A CRD of an add-on. */
export const widgets: object = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.causeway.invalid" },
  spec: {
    group: "causeway.invalid",
    scope: "Namespaced",
    names: { kind: "Widget", plural: "widgets", singular: "widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** An object of that kind. */
export const widget: object = {
  apiVersion: "causeway.invalid/v1",
  kind: "Widget",
  metadata: { namespace: "default", name: "one" },
  size: 3,
};

/** A Deployment of one pod with an image that no node has and no registry serves. */
export const ABSENT = "registry.invalid/absent:1";
export const absentDeployment: object = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { namespace: "default", name: "absent" },
  spec: {
    selector: { matchLabels: { app: "absent" } },
    template: {
      metadata: { labels: { app: "absent" } },
      spec: { containers: [{ name: "main", image: ABSENT, imagePullPolicy: "IfNotPresent", args: ["pause"] }] },
    },
  },
};

/** Gives a node's image of the tests this name, too. */
export async function nameImage(node: RealNode, name: string): Promise<void> {
  const { stdout } = await execute("ip", ["netns", "pids", `vm-${node.server}`]);
  const containerd = stdout.split("\n").find((pid) => pid !== "" && isContainerd(pid));
  if (containerd === undefined) throw new Error(`no containerd runs on ${node.name}`);
  const within = ["--target", containerd, "--mount", "--pid", "--net"];
  await execute("nsenter", [...within, "ctr", "--namespace", "k8s.io", "images", "tag", "--force", IMAGE, name]);
}

function isContainerd(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8") === "containerd\n";
  } catch {
    // It has ended since.
    return false;
  }
}

const DROPPED = "causeway_test";

/** No question of DNS gets through a node from now on, until what is returned is called. */
export async function dropDns(node: RealNode): Promise<() => Promise<void>> {
  const chain = (hook: string) =>
    `chain ${hook} { type filter hook ${hook} priority 10; meta l4proto { tcp, udp } th dport 53 drop; }`;
  await runOn(node, "nft", `table inet ${DROPPED} { ${chain("output")}; ${chain("forward")}; }`);
  return async () => void (await runOn(node, "nft", "delete", "table", "inet", DROPPED));
}
