import { spawn, type ChildProcess } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  addonKinds,
  allKinds,
  MagnumCluster,
  magnumKinds,
  toCustomResourceDefinition,
  type MagnumClusterStatus,
} from "@causeway/api";
import { createClient, CustomResourceDefinition, Lease, loadKubeconfig, Namespace } from "@causeway/kubernetes";
import type { KubernetesClient } from "@causeway/kubernetes";
import { magnumLabels, namespaceOf, objectNameOf } from "@causeway/magnum-api";
import { freePorts } from "../../support/free-ports.ts";
import { startOurs as startApiServer } from "../apiserver/ours.ts";
import { stop } from "../apiserver/subject.ts";
import type { Cluster, Rows } from "./clusters.ts";
import type { Subject } from "./load.ts";
import { addressesOf, serving } from "./upstream.ts";

const LAUNCH = resolve(import.meta.dirname, "../../../packages/causeway/src/launch.sh");
const WIDTH = 16;

export interface OurSubject extends Subject {
  /** Adds clusters that are complete. */
  add(rows: Rows): Promise<void>;
  close(): Promise<void>;
}

/**
 * `causeway run magnum-api` on a management cluster of its own (`causeway apiserver`), as one of several processes: it
 * serves the API, and another has the controller. Upstream's conductor does not run, either.
 */
export async function startOurs(files: string, keystoneUrl: string): Promise<OurSubject> {
  const server = await startApiServer(files);
  const kubeconfig = join(files, "management.kubeconfig");
  writeFileSync(kubeconfig, kubeconfigOf(server), { mode: 0o600 });
  const client = createClient(loadKubeconfig({ path: kubeconfig }));
  let child: ChildProcess | undefined;
  const close = async (): Promise<void> => {
    if (child) await stop(child);
    await client.close();
    await server.close();
  };
  try {
    for (const kind of [...allKinds, ...addonKinds, ...magnumKinds])
      await client.create(CustomResourceDefinition, toCustomResourceDefinition(kind));
    await client
      .create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } })
      .catch(() => {});
    await holdLease(client);
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const log = openSync(join(files, "ours.log"), "a", 0o600);
    // Limits of a project's rate and number are set so that they decide nothing.
    const limits = ["--rate", "100000", "--default-quota", "1000000", "--max-templates", "0", "--max-nodes", "0"];
    const flags = [...limits, "--keystone-url", keystoneUrl];
    const args = ["run", "magnum-api", "--kubeconfig", kubeconfig, "--listen", `127.0.0.1:${port}`, ...flags];
    child = spawn(LAUNCH, args, { stdio: ["ignore", log, log], cwd: files });
    await serving(url);
    return { name: "ours", url, processes: [child], add: (rows) => add(client, rows), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function kubeconfigOf({ url, files }: { readonly url: string; readonly files: string }): string {
  const data = (name: string): string => readFileSync(join(files, name)).toString("base64");
  const user = { "client-certificate-data": data("client.pem"), "client-key-data": data("client-key.pem") };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster: { server: url, "certificate-authority-data": data("ca.pem") } }],
    users: [{ name: "bench", user }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}

async function add(client: KubernetesClient, rows: Rows): Promise<void> {
  const namespace = namespaceOf(rows.projectID);
  await client
    .create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } })
    .catch(() => {});
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let cluster = rows.clusters[next++]; cluster !== undefined; cluster = rows.clusters[next++]) {
      const { metadata } = await client.create(MagnumCluster, objectOf(cluster, rows, namespace));
      const status = statusOf(cluster, metadata.generation ?? 1);
      const patch = { type: "merge", body: { status } } as const;
      await client.patch(MagnumCluster, { namespace, name: metadata.name }, patch, { subresource: "status" });
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

/** Another process is the leader, so that no controller works in the one that is measured. */
async function holdLease(client: KubernetesClient): Promise<void> {
  const now = new Date().toISOString().replace("Z", "000Z");
  await client.create(Lease, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "causeway-magnum", namespace: "kube-system" },
    spec: { holderIdentity: "another", leaseDurationSeconds: 86_400, acquireTime: now, renewTime: now },
  });
}

const idOf = (uuid: string, kind: string): string => uuid.replace("-8000-", `-${kind}-`);

/** As the controller leaves a cluster that is complete. */
function statusOf({ uuid, nodes }: Cluster, observedGeneration: number): MagnumClusterStatus {
  const version = "v1.34.0";
  const group = { uuid: idOf(uuid, "a000"), status: "CREATE_COMPLETE", readyNodes: nodes, version } as const;
  return {
    observedGeneration,
    status: "CREATE_COMPLETE",
    reason: "CREATE completed successfully",
    created: true,
    health: "HEALTHY",
    healthReason: { api: "ok" },
    apiAddress: "https://198.51.100.10:6443",
    coeVersion: version,
    masterAddresses: ["198.51.100.10"],
    masterReady: true,
    nodeGroups: [{ ...group, addresses: [...addressesOf(nodes)] }],
  };
}

function objectOf({ uuid, name, labels, nodes }: Cluster, rows: Rows, namespace: string): MagnumCluster {
  const { templateUUID, projectID, userID } = rows;
  const version = "v1.34.0";
  return {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: { name: objectNameOf(name, uuid), namespace, labels: { [magnumLabels.uuid]: uuid } },
    spec: {
      uuid,
      name,
      projectID,
      userID,
      templateUUID,
      template: {
        coe: "kubernetes",
        imageID: "cirros",
        flavorID: "m1.small",
        externalNetworkID: "public",
        networkDriver: "calico",
        labels: { kube_tag: version },
        tlsDisabled: false,
        public: false,
        registryEnabled: false,
        serverType: "vm",
        masterLBEnabled: false,
        floatingIPEnabled: true,
        hidden: false,
      },
      version,
      masterCount: 1,
      masterUUID: idOf(uuid, "9000"),
      flavorID: "m1.small",
      labels,
      createTimeout: 0,
      floatingIPEnabled: true,
      masterLBEnabled: false,
      nodeGroups: [
        {
          uuid: idOf(uuid, "a000"),
          name: "default-worker",
          role: "worker",
          isDefault: true,
          flavorID: "m1.small",
          imageID: "cirros",
          nodeCount: nodes,
          minNodeCount: 0,
          labels,
          version,
          createdAt: "2026-01-01T00:00:00Z",
        },
      ],
    },
  };
}
