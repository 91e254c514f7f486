import { spawn, type ChildProcess } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  allKinds,
  credentialsOf,
  labels as contract,
  MachineDeployment,
  MagnumCluster,
  magnumKinds,
  toCustomResourceDefinition,
} from "@causeway/api";
import { createClient, CustomResourceDefinition, loadKubeconfig, Namespace, Secret } from "@causeway/kubernetes";
import type { KubernetesClient } from "@causeway/kubernetes";
import { magnumLabels, namespaceOf, objectNameOf } from "@causeway/magnum-api";
import { freePorts } from "../../support/free-ports.ts";
import { startOurs as startApiServer } from "../apiserver/ours.ts";
import { stop } from "../apiserver/subject.ts";
import type { Cluster, Rows } from "./clusters.ts";
import type { Subject } from "./load.ts";
import { serving } from "./upstream.ts";

const LAUNCH = resolve(import.meta.dirname, "../../../packages/causeway/src/launch.sh");
const WIDTH = 16;

export interface OurSubject extends Subject {
  /** Adds clusters, and waits until the controller has made their objects. */
  add(rows: Rows): Promise<void>;
  close(): Promise<void>;
}

/**
 * `causeway run magnum-api` on a management cluster of its own (`causeway apiserver`), with its controller. Nothing
 * else runs there: what the controller makes of a new cluster stays as it is.
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
    for (const kind of [...allKinds, ...magnumKinds])
      await client.create(CustomResourceDefinition, toCustomResourceDefinition(kind));
    await client
      .create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } })
      .catch(() => {});
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const log = openSync(join(files, "ours.log"), "a", 0o600);
    // Limits of a project's rate and number are set so that they decide nothing.
    const flags = ["--rate", "100000", "--default-quota", "1000000", "--keystone-url", keystoneUrl];
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
      // The controller goes on when it sees it; nobody logs in with it.
      const credential: Secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: {
          name: credentialsOf(metadata.name),
          namespace,
          labels: { [contract.clusterName]: metadata.name, [magnumLabels.uuid]: cluster.uuid },
        },
      };
      await client.create(Secret, credential);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
  await settled(client, namespace);
}

/** Waits until the controller has made everything of every cluster, and writes no more statuses. */
async function settled(client: KubernetesClient, namespace: string): Promise<void> {
  for (let before = ""; ;) {
    await new Promise((done) => setTimeout(done, 5_000));
    const { items } = await client.list(MagnumCluster, { namespace });
    const pools = await client.list(MachineDeployment, { namespace });
    const revisions = items.map(({ metadata }) => metadata.resourceVersion).join();
    if (pools.items.length === items.length && revisions === before) return;
    before = revisions;
  }
}

function objectOf({ uuid, name, labels, nodes }: Cluster, rows: Rows, namespace: string): MagnumCluster {
  const { templateUUID, projectID, userID } = rows;
  const id = (kind: string): string => uuid.replace("-8000-", `-${kind}-`);
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
      masterUUID: id("9000"),
      flavorID: "m1.small",
      labels,
      createTimeout: 0,
      floatingIPEnabled: true,
      masterLBEnabled: false,
      nodeGroups: [
        {
          uuid: id("a000"),
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
