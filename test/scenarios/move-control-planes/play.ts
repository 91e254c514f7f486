import type { ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createInformers,
  Deployment,
  Namespace,
  Pod,
  Secret,
  secretText,
  Service,
  StatefulSet,
  type Informers,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";

const labelSelector = "app.kubernetes.io/managed-by=causeway-hosted-control-plane";

/**
 * The controllers and nodes of a service cluster, as far as the runtime sees them: what is written rolls out at once,
 * load balancers are at this host, and the pods of an API server serve a tenant of `tenants` with their Secrets' keys.
 */
export async function playServiceCluster(
  client: KubernetesClient,
  tenants: ApiServer,
  signal: AbortSignal,
): Promise<void> {
  const served = new Set<string>();
  // Caches: with many tenants the lists of each turn would leave no time for what is measured.
  const informers = createInformers(client, { clock: systemClock, log: silentLog });
  for (const type of [Service, Namespace, Pod, Deployment, StatefulSet])
    informers.for(type as ResourceType<KubeObject>, { labelSelector });
  const watching = informers.run(signal);
  await informers.whenSynced(signal);
  while (!signal.aborted) {
    // Something was changed, or is being deleted: the next turn sees it.
    await turn(informers, tenants, served).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await watching.catch(() => {});
}

async function turn(informers: Informers, tenants: ApiServer, served: Set<string>): Promise<void> {
  const { client } = informers;
  for (const service of informers.for(Service, { labelSelector }).list())
    if (service.spec.type === "LoadBalancer" && (service.status?.loadBalancer?.ingress ?? []).length === 0)
      await client.patch(
        Service,
        { namespace: service.metadata.namespace ?? "", name: service.metadata.name },
        { type: "merge", body: { status: { loadBalancer: { ingress: [{ ip: "127.0.0.1" }] } } } },
        { subresource: "status" },
      );
  const namespaces = new Set(
    informers
      .for(Namespace, { labelSelector })
      .list()
      .map(({ metadata }) => metadata.name),
  );
  for (const name of served)
    if (!namespaces.has(name)) {
      await tenants.removeCluster(name);
      served.delete(name);
    }
  const pods = new Set(
    informers
      .for(Pod, { labelSelector })
      .list()
      .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`),
  );
  for (const type of [Deployment, StatefulSet as ResourceType<Deployment>])
    for (const program of informers.for(type, { labelSelector }).list())
      if (program.metadata.deletionTimestamp === undefined) {
        const { namespace = "", name } = program.metadata;
        // The caches do not see a new Namespace and what is in it in one moment.
        if (!namespaces.has(namespace)) continue;
        if (name === "kube-apiserver" && !served.has(namespace)) {
          await serve(client, tenants, namespace);
          served.add(namespace);
        }
        await rollOut(client, { type, program, pods });
      }
}

/** The API of a tenant, with what is in its Secrets. */
async function serve(client: KubernetesClient, tenants: ApiServer, namespace: string): Promise<void> {
  const read = (name: string) => client.get(Secret, { namespace, name });
  const [api, manager] = [await read("kube-apiserver"), await read("kube-controller-manager")];
  const service = await client.get(Service, { namespace, name: "kube-apiserver" });
  const port = service.spec.ports?.find(({ name }) => name === "api")?.port ?? 0;
  await tenants.ensureCluster(namespace, {
    authority: { certificate: secretText(manager, "signing-ca.crt") ?? "", key: secretText(manager, "ca.key") ?? "" },
    serviceAccountKey: secretText(api, "sa.key") ?? "",
    listen: { host: "127.0.0.1", port, names: ["127.0.0.1"] },
  });
}

interface Rollout {
  readonly type: ResourceType<Deployment>;
  readonly program: Deployment;
  /** Those that there are, as "NAMESPACE/NAME". */
  readonly pods: ReadonlySet<string>;
}

async function rollOut(client: KubernetesClient, { type, program, pods }: Rollout): Promise<void> {
  const { namespace = "", name, generation } = program.metadata;
  const replicas = program.spec.replicas ?? 1;
  for (let index = 0; index < replicas; index++)
    if (!pods.has(`${namespace}/${name}-${index}`)) await runPod(client, `${name}-${index}`, { namespace, program });
  if (program.status?.observedGeneration === generation) return;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const body = { status: { ...counts, observedGeneration: generation } };
  await client.patch(type, { namespace, name }, { type: "merge", body }, { subresource: "status" });
}

async function runPod(
  client: KubernetesClient,
  name: string,
  { namespace, program }: { readonly namespace: string; readonly program: Deployment },
): Promise<void> {
  const { metadata, spec } = program.spec.template;
  const containers = spec.containers.map(({ name: own, image }) => ({ name: own, image }));
  await client.create(Pod, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, namespace, name },
    spec: { ...spec, volumes: undefined, containers },
  } as unknown as Pod);
  const body = { status: { phase: "Running", podIP: "127.0.0.1", conditions: [{ type: "Ready", status: "True" }] } };
  await client.patch(Pod, { namespace, name }, { type: "merge", body }, { subresource: "status" });
}
