/** Clusters on the simulated cloud, as a user of Cluster API's OpenStack provider writes them, and what they cost. */
import { Cluster, Machine, OpenStackCluster, OpenStackMachine } from "@causeway/api";
import { ownerReference, Secret, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import type { Simulator } from "@causeway/simulator";
import { LONG } from "./replicas.ts";
import { until } from "./runtime-world.ts";

/** Changing calls, and how often each was made: IDs are left out. */
export function callsFrom({ calls }: Simulator, from: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { service, method, path } of calls.slice(from)) {
    if (method === "GET" || service === "identity") continue;
    const call = `${method} ${service} ${path.replaceAll(/[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}/g, "ID").split("?")[0]}`;
    found.set(call, (found.get(call) ?? 0) + 1);
  }
  return found;
}

export const sum = (calls: ReadonlyMap<string, number>): number => [...calls.values()].reduce((a, b) => a + b, 0);

/** Clusters with a network of their own and a machine each. */
export function createTenants(client: KubernetesClient, simulator: Simulator) {
  const namespace = "default";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const secret = (name: string, data: Record<string, string>) =>
    client.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: { namespace, name }, data });
  const machineOf = (name: string): string => `${name}-a`;
  return {
    async create(name: string): Promise<void> {
      const labels = { "cluster.x-k8s.io/cluster-name": name };
      await secret(`${name}-cloud`, { "clouds.yaml": base64(simulator.cloudsYaml) });
      await secret(machineOf(name), { value: base64("#cloud-config\n") });
      const reference = (kind: string, of: string) => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name: of });
      const cluster = await client.create(Cluster, {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: { namespace, name },
        spec: { infrastructureRef: reference("OpenStackCluster", name) },
      });
      const owned = (owner: KubeObject) => ({ ownerReferences: [ownerReference(owner, { controller: true })] });
      await client.create(OpenStackCluster, {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "OpenStackCluster",
        metadata: { namespace, name, labels, ...owned(cluster) },
        spec: {
          identityRef: { type: "Secret", name: `${name}-cloud`, cloudName: "simulator" },
          managedSubnets: [{ cidr: "10.6.0.0/24", dnsNameservers: ["9.9.9.9"] }],
          managedSecurityGroups: {},
          apiServer: { enableFloatingIP: false, managedLoadBalancer: { enabled: false } },
        },
      } as OpenStackCluster);
      const machine = await client.create(Machine, {
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Machine",
        metadata: { namespace, name: machineOf(name), labels, ...owned(cluster) },
        spec: {
          clusterName: name,
          version: "v1.34.0",
          bootstrap: { dataSecretName: machineOf(name) },
          infrastructureRef: reference("OpenStackMachine", machineOf(name)),
        },
      } as Machine);
      await client.create(OpenStackMachine, {
        apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
        kind: "OpenStackMachine",
        metadata: { namespace, name: machineOf(name), labels, ...owned(machine) },
        spec: { flavor: { filter: { name: "m1.tiny" } }, image: { filter: { name: "cirros" } } },
      } as OpenStackMachine);
    },
    ready: (name: string) =>
      until(
        `${name} ready`,
        async () => {
          const { status } = await client.get(OpenStackMachine, { namespace, name: machineOf(name) });
          return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")
            ? true
            : undefined;
        },
        LONG,
      ),
    /** As Cluster API would: the machine, then the cluster. */
    async remove(name: string): Promise<void> {
      await client.delete(OpenStackMachine, { namespace, name: machineOf(name) });
      await client.delete(OpenStackCluster, { namespace, name });
    },
    gone: (name: string) =>
      until(
        `${name} gone`,
        async () => {
          const left = [
            await client.find(OpenStackMachine, { namespace, name: machineOf(name) }),
            await client.find(OpenStackCluster, { namespace, name }),
          ];
          return left.every((each) => each === undefined) ? true : undefined;
        },
        LONG,
      ),
    /** What the project has that has the name of the tenant, without IDs. */
    inventory: (name: string): string[] =>
      simulator
        .inventory("demo")
        .filter((line) => line.includes(name))
        .map((line) =>
          line
            .split(" ")
            .filter((_, index) => index !== 1)
            .join(" "),
        )
        .toSorted(),
  };
}
