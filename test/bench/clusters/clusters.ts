import { credentialsManifest, credentialsOf, MachineDeployment, managedClusterManifests } from "@causeway/api";
import type { Manifest } from "@causeway/api";
import { createLog } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import type { WholeSystem } from "./system.ts";
import { inParallel } from "../in-parallel.ts";

const NAMESPACE = "default";
export const MACHINES = 3;
const VERSION = "v1.34.0";
const AT_ONCE = 8;

/** What `causeway cluster create` makes: a hosted control plane and three workers on a network of their own. */
function manifestsOf(name: string, cloudsYaml: string): readonly Manifest[] {
  const place = { namespace: NAMESPACE, name };
  const machine = { flavor: { filter: { name: "m1.small" } }, image: { filter: { name: "cirros" } } };
  return [
    credentialsManifest(place, cloudsYaml),
    ...managedClusterManifests({
      ...place,
      controlPlane: { version: VERSION },
      infrastructure: {
        identityRef: { type: "Secret", name: credentialsOf(name), cloudName: "simulator" },
        managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
        managedSecurityGroups: { allowAllInClusterTraffic: true },
        apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
      },
      podCidr: "10.244.0.0/16",
      serviceCidr: "10.96.0.0/12",
      pools: [{ name: `${name}-workers`, version: VERSION, replicas: MACHINES, machine }],
    }),
  ];
}

/** Creates so many clusters at once, in turn with each of these credentials (a clouds.yaml each). */
export async function createClusters(
  { client }: WholeSystem,
  count: number,
  credentials: readonly string[],
): Promise<void> {
  const create = async (i: number): Promise<void> => {
    const manifests = manifestsOf(`c${i}`, credentials[i % credentials.length] ?? "");
    for (const { type, object } of manifests) await client.create(type, object);
  };
  await inParallel(
    Array.from({ length: count }, (_, i) => i),
    create,
    AT_ONCE,
  );
}

/**
 * Waits until so many clusters have all of their machines Ready, as Nodes; says once a minute how many have. A watch: a
 * list of a thousand in every half second would occupy what is measured. @throws after `limit` seconds, with how many
 * there are
 */
export async function untilRunning({ client }: WholeSystem, count: number, limit: number): Promise<void> {
  const informers = createInformers(client, { log: createLog({ level: "warn" }) });
  const deployments = informers.for(MachineDeployment, { namespace: NAMESPACE });
  const running = new Set<string>();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  deployments.onChange(({ object: { metadata, status } }) => {
    if (status?.readyReplicas === MACHINES) running.add(metadata.name);
    else running.delete(metadata.name);
    if (running.size === count) resolve();
  });
  const late = (): void => reject(new Error(`${running.size} of ${count} clusters run after ${limit} s`));
  const timers = [
    setTimeout(late, limit * 1000),
    setInterval(() => console.error(`${running.size} of ${count} clusters run`), 60_000),
  ];
  const ended = new AbortController();
  const watching = informers.run(ended.signal);
  try {
    await Promise.race([promise, watching]);
  } finally {
    timers.forEach((timer) => clearTimeout(timer));
    ended.abort();
    await watching;
  }
}
