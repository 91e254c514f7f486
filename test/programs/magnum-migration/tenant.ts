/** What a tenant has in a cluster: a Service with a load balancer, and a pod with a volume. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@causeway/foundation";
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, Service } from "@causeway/kubernetes";
import { startMeter, type Metered } from "../../support/write-meter.ts";
import type { Case } from "./case.ts";
import { CINDER } from "./driver-cloud.ts";

const namespace = "default";
const metadata = { namespace, name: "shop" };
const ZONE = "topology.kubernetes.io/zone";

/** All that the cloud has for the tenant, by id. */
export interface InCloud {
  readonly balancers: readonly string[];
  readonly floatingIPs: readonly string[];
  readonly volumes: readonly string[];
}

export interface Tenant {
  /** Of the Service: what its clients use. */
  readonly address: string;
  /** The volume of the claim. */
  readonly volume: string;
  readonly inCloud: () => Promise<InCloud>;
  /** The server that the pod with the volume is on, once it runs there and the volume is attached to it alone. */
  readonly server: () => Promise<string | undefined>;
  /** Sends requests to the Service until it is stopped: the longest time without a response. */
  traffic(): { stop(): Promise<Metered> };
  /** Deletes all that it has in the cluster, and returns when the cloud has nothing of it. */
  leave(): Promise<void>;
  close(): void;
}

export async function createTenant(stage: Case): Promise<Tenant> {
  const { source, cloud } = stage;
  const post = (path: string, body: object) => source.request("POST", path, { body });
  // The driver's Nodes have zone and address by its cloud controller.
  for (const { name, address } of stage.heat.workers) {
    const key = { namespace: "", name };
    const labels = { type: "merge" as const, body: { metadata: { labels: { [ZONE]: "nova" } } } };
    await source.patch(Node, key, labels);
    const addresses = { type: "merge" as const, body: { status: { addresses: [{ type: "InternalIP", address }] } } };
    await source.patch(Node, key, addresses, { subresource: "status" });
  }
  await post("/apis/storage.k8s.io/v1/csidrivers", {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: CINDER },
    spec: { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] },
  });
  await post("/apis/storage.k8s.io/v1/storageclasses", {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "cinder" },
    provisioner: CINDER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  await source.create(PersistentVolumeClaim, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata,
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "cinder", resources: { requests: { storage: "1Gi" } } },
  });
  await post(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata,
    spec: {
      replicas: 1,
      strategy: { type: "Recreate" },
      selector: { matchLabels: { app: "shop" } },
      template: {
        metadata: { labels: { app: "shop" } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            { name: "shop", image: "example.com/shop:1", volumeMounts: [{ name: "data", mountPath: "/data" }] },
          ],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: "shop" } }],
        },
      },
    },
  });
  await source.create(Service, {
    apiVersion: "v1",
    kind: "Service",
    metadata,
    spec: { type: "LoadBalancer", selector: { app: "shop" }, ports: [{ port: 80, targetPort: 8080 }] },
  } as Service);

  const inCloud = async (): Promise<InCloud> => ({
    balancers: (await cloud.loadBalancing.loadBalancers.all({}))
      .filter(({ name }) => name.startsWith("kube_service_"))
      .map(({ id, name, vip_address }) => `${id} ${name} ${vip_address}`),
    floatingIPs: (await cloud.network.floatingIps.all({})).map(
      ({ id, floating_ip_address }) => `${id} ${floating_ip_address}`,
    ),
    volumes: (await cloud.blockStorage.volumes.all({})).map(({ id, name }) => `${id} ${name}`),
  });
  const service = () => source.get(Service, metadata);
  const [address, volume] = await Promise.all([
    known(async () => (await service()).status?.loadBalancer?.ingress?.[0]?.ip),
    known(async () => {
      const name = (await source.get(PersistentVolumeClaim, metadata)).spec.volumeName;
      const found = name === undefined ? undefined : await source.find(PersistentVolume, { namespace: "", name });
      return found?.spec.csi?.volumeHandle;
    }),
  ]);
  // Represents kube-proxy and the pod on every node, also on those that are to come.
  const answering = createServer((_, response) => response.end("shop"));
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
  const { port } = answering.address() as AddressInfo;
  const nodePort = (await service()).spec.ports?.[0]?.nodePort;
  const nodes = Array.from({ length: 253 }, (_, index) => `10.0.0.${index + 2}:${String(nodePort)}`);
  stage.setMembers(Object.fromEntries(nodes.map((each) => [each, `127.0.0.1:${port}`])));

  const place = async (): Promise<string | null | undefined> =>
    (await stage.simulator.dataPath?.listeners())?.find((one) => one.port === 80)?.at;
  const pods = async () => (await source.list(Pod, { namespace, labelSelector: "app=shop" })).items;
  const server = async () => {
    const [pod, ...more] = await pods();
    if (pod === undefined || more.length > 0 || pod.status?.phase !== "Running") return undefined;
    const node = await source.find(Node, { namespace: "", name: pod.spec.nodeName ?? "" });
    const id = node?.spec?.providerID?.split("/").at(-1);
    const { attachments } = await cloud.blockStorage.volumes.get(volume);
    return attachments.length === 1 && attachments[0]?.server_id === id ? id : undefined;
  };
  return {
    address,
    volume,
    inCloud,
    server,
    traffic() {
      const answered = new Set<string>();
      const store = {
        write: async (name: string) => {
          const at = await place();
          const signal = AbortSignal.timeout(2_000);
          const response = await fetch(`http://${String(at)}/`, { signal }).catch(() => undefined);
          const isAnswered = (await response?.text().catch(() => "")) === "shop";
          if (isAnswered) answered.add(name);
          return isAnswered;
        },
        names: async () => answered,
      };
      return startMeter(store, "request");
    },
    async leave() {
      await source.request("DELETE", `/apis/apps/v1/namespaces/${namespace}/deployments/shop`);
      await source.delete(Service, metadata);
      await source.delete(PersistentVolumeClaim, metadata);
      await known(async () => {
        const { balancers, floatingIPs, volumes } = await inCloud();
        return balancers.length + floatingIPs.length + volumes.length === 0 ? true : undefined;
      });
    },
    close: () => void answering.close(),
  };
}

/** What is read again and again until it is there. */
export async function known<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    await systemClock.sleep(200);
  }
}
