/** A demo with two tenants in a process of its own: one is attacked, the other and the management API are measured. */
import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, HostedControlPlane, OpenStackCluster } from "@causeway/api";
import {
  ConfigMap,
  createClient,
  loadKubeconfig,
  Role,
  RoleBinding,
  Secret,
  secretText,
  ServiceAccount,
  type ClusterConfig,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { causeway, eventually, TIMEOUT, type Started } from "../support/processes.ts";
import type { Played } from "./attacker.ts";
import type { Probed, Report } from "./probe.ts";
import type { Place } from "./target.ts";

const here = import.meta.dirname;

export interface Hostile {
  readonly system: Started;
  /** The tenant that is attacked. */
  readonly place: Place;
  /** Runs one attack to its end. */
  attack(title: string): Promise<Played>;
  /** What the probes measured since the last report: "management" and "tenant". */
  report(): Promise<ReadonlyMap<string, Report>>;
  /** Waits until the attacked tenant's API answers again. */
  recovered(): Promise<void>;
  /** Ends the attacker, and with it the connections that it still has. */
  leave(): void;
  /** Resident memory in MiB of each of the system's processes, the first of all first. */
  memory(): readonly number[];
  close(): Promise<void>;
}

export async function openHostile(): Promise<Hostile> {
  const dir = mkdtempSync(join(tmpdir(), "causeway-hostile-"));
  const system = causeway(["up", "--demo", "--state", dir, "--log-level", "warn"]);
  const children: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    for (const child of children) child.disconnect();
    await system.stop("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await system.until(/demo ready: .*\n/);
    const managing = loadKubeconfig({ path: join(dir, "management.kubeconfig") });
    const management = createClient(managing);
    const tenant = await secondTenant(management);
    const attacked = loadKubeconfig({ path: join(dir, "demo.kubeconfig") });
    const place = await placeOf(attacked);
    await management.close();
    const probe = fork(join(here, "probe.ts"), { stdio: "inherit" });
    const attacker = fork(join(here, "attacker.ts"), { stdio: "inherit" });
    children.push(probe, attacker);
    probe.send({ probe: [probed("management", managing), probed("tenant", tenant)] });
    return {
      system,
      place,
      close,
      attack: async (title) => {
        const played = next<Played>(attacker);
        attacker.send({ title, place });
        return played;
      },
      report: async () => {
        const reports = next<readonly Report[]>(probe);
        probe.send("report");
        return new Map((await reports).map((r) => [r.name, r]));
      },
      recovered: async () => {
        const client = createClient(attacked);
        try {
          await eventually(TIMEOUT, () => client.get(ConfigMap, { namespace: "default", name: "victim" }));
        } finally {
          await client.close();
        }
      },
      leave: () => {
        children.splice(children.indexOf(attacker), 1);
        attacker.disconnect();
      },
      memory: () => residentMemory(system.child.pid ?? 0),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The next message of a child; rejects when it ends first. */
function next<T>(child: ChildProcess): Promise<T> {
  return new Promise((done, reject) => {
    const ended = (code: number | null): void => reject(new Error(`a process of the suite ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      done(message as T);
    });
  });
}

/** A second cluster without workers; resolves with its administrator's configuration once its API answers. */
async function secondTenant(client: KubernetesClient): Promise<ClusterConfig> {
  const metadata = { name: "quiet", namespace: "default", labels: { "cluster.x-k8s.io/cluster-name": "quiet" } };
  const make = <T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> => client.create(type, object);
  const demo = await client.get(OpenStackCluster, { namespace: "default", name: "demo" });
  await make(OpenStackCluster, {
    apiVersion: demo.apiVersion,
    kind: demo.kind,
    metadata,
    spec: {
      identityRef: demo.spec.identityRef,
      managedSubnets: [{ cidr: "10.7.0.0/24" }],
      apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
    },
  } as OpenStackCluster);
  await make(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata,
    spec: { version: "v1.34.0" },
  } as HostedControlPlane);
  await make(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: {
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackCluster", name: "quiet" },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "quiet" },
    },
  } as Cluster);
  const secret = await eventually(TIMEOUT, () =>
    client.find(Secret, { namespace: "default", name: "quiet-kubeconfig" }),
  );
  const config = loadKubeconfig({ text: secretText(secret, "value") ?? "" });
  const workload = createClient(config);
  try {
    await eventually(TIMEOUT, async () => (await workload.list(ConfigMap)).items.length >= 0);
  } finally {
    await workload.close();
  }
  return config;
}

/** Makes the identities of the attacked tenant's hostile users. */
async function placeOf(config: ClusterConfig): Promise<Place> {
  const client = createClient(config);
  try {
    const metadata = { name: "patcher", namespace: "default" };
    await client.create(ConfigMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: "victim" } });
    for (const name of ["powerless", "patcher"])
      await client.create(ServiceAccount, {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { ...metadata, name },
      });
    await client.create(Role, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata,
      rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: ["victim"], verbs: ["get", "patch"] }],
    });
    await client.create(RoleBinding, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "patcher" },
      subjects: [{ kind: "ServiceAccount", ...metadata }],
    });
    const tokens = { powerless: await tokenOf(client, "powerless"), patcher: await tokenOf(client, "patcher") };
    const { hostname: host, port } = new URL(config.server);
    const { authority, cert, key } = probed("attacked", config);
    return { host, port: Number(port), authority, admin: { cert, key }, tokens };
  } finally {
    await client.close();
  }
}

/** A long-lived token, from a Secret that asks for one. */
async function tokenOf(client: KubernetesClient, account: string): Promise<string> {
  await client.create(Secret, {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/service-account-token",
    metadata: { name: account, namespace: "default", annotations: { "kubernetes.io/service-account.name": account } },
  });
  return eventually(TIMEOUT, async () => {
    const secret = await client.get(Secret, { namespace: "default", name: account });
    return secretText(secret, "token");
  });
}

function probed(name: string, config: ClusterConfig): Probed {
  const { server, ca: authority = "", certificate: cert = "", key = "" } = config;
  return { name, server, authority, cert, key };
}

/** MiB of a process, and of all its descendants. */
function residentMemory(pid: number): readonly number[] {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const own = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
  const tasks = readdirSync(`/proc/${pid}/task`);
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim().split(" "),
  );
  return [own, ...children.filter((id) => id !== "").flatMap((id) => residentMemory(Number(id)))];
}
