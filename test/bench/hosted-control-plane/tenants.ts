import { request } from "node:https";
import { Cluster, HostedControlPlane } from "@causeway/api";
import {
  isNotFound,
  loadKubeconfig,
  ownerReference,
  Secret,
  secretText,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";

const key = (name: string): { namespace: string; name: string } => ({ namespace: "default", name });
/** Between two requests for what is not there yet (ms). */
const LOOK = 5;
/** For one control plane (ms). */
const LONGEST = 120_000;

/** How long it may take (ms), and more of its spec. */
export interface TenantOptions extends Pick<HostedControlPlane["spec"], "worker" | "limits"> {
  readonly longest?: number;
}

/**
 * Requests a control plane; the seconds until its API reports to the holder of its kubeconfig that it is ready. @throws
 * after `longest` (ms, two minutes)
 */
export async function tenantReady(
  client: KubernetesClient,
  name: string,
  version: string,
  { longest = LONGEST, ...spec }: TenantOptions = {},
): Promise<number> {
  const cluster = await client.create(Cluster, {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: key(name),
    spec: {
      clusterNetwork: { services: { cidrBlocks: ["10.97.0.0/16"] }, pods: { cidrBlocks: ["10.244.0.0/16"] } },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name },
    },
  });
  const begun = performance.now();
  await client.create(HostedControlPlane, {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: {
      ...key(name),
      labels: { "cluster.x-k8s.io/cluster-name": name },
      ownerReferences: [ownerReference(cluster, { controller: true })],
    },
    spec: { version, ...spec },
  });
  const config = await until(`kubeconfig of ${name}`, () => tenantConfig(client, name), longest);
  await until(`ready API of ${name}`, async () => ((await isReady(config)) ? true : undefined), longest);
  return (performance.now() - begun) / 1000;
}

/** How a tenant's API is reached, once its kubeconfig is there. */
export async function tenantConfig(client: KubernetesClient, name: string): Promise<ClusterConfig | undefined> {
  const text = secretText(await client.find(Secret, key(`${name}-kubeconfig`)), "value");
  return text === undefined ? undefined : loadKubeconfig({ text });
}

/** Removes it, and waits until it is gone. */
export async function removeTenant(client: KubernetesClient, name: string): Promise<void> {
  const gone = async (): Promise<true | undefined> =>
    (await client.find(HostedControlPlane, key(name))) === undefined ? true : undefined;
  await absent(client.delete(Cluster, key(name)));
  await absent(client.delete(HostedControlPlane, key(name)));
  await until(`removal of ${name}`, gone);
}

/** Waits for a deletion; what is gone already is deleted. */
async function absent(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function until<T>(what: string, check: () => Promise<T | undefined>, longest = LONGEST): Promise<T> {
  for (const end = performance.now() + longest; performance.now() < end;) {
    const found = await check();
    if (found !== undefined) return found;
    await new Promise((done) => setTimeout(done, LOOK));
  }
  throw new Error(`not within ${longest / 1000} s: ${what}`);
}

/** Does the API respond to GET /readyz with 200? */
function isReady({ server, ca, certificate, key: secret }: ClusterConfig): Promise<boolean> {
  return new Promise((done) => {
    const sent = request(`${server}/readyz`, { ca, cert: certificate, key: secret, agent: false }, (response) => {
      response.resume();
      response.on("end", () => done(response.statusCode === 200));
      response.on("error", () => done(false));
    });
    sent.on("error", () => done(false));
    sent.end();
  });
}
