import { addonKinds, allKinds, Cluster, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import {
  createClient,
  loadKubeconfig,
  Namespace,
  Secret,
  type AdmissionRules,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { graphOf, type Member } from "../graph.ts";
import { movedTypes, readMembers } from "../read.ts";

const signal = new AbortController().signal;

/** A management cluster. */
export interface Side {
  readonly server: ApiServer;
  readonly client: KubernetesClient;
}
/** An API server with all kinds that are moved. */
export async function side(options: { readonly rules?: readonly AdmissionRules[] } = {}): Promise<Side> {
  const kinds = [...allKinds, ...addonKinds];
  const crds = [...new Map(kinds.map((kind) => [kind.kind, kind])).values()].map(toCustomResourceDefinition);
  const server = await startApiServer({ crds, ...options });
  return { server, client: createClient(loadKubeconfig({ text: await server.management.kubeconfig() })) };
}
/** A kind by its name. */
export const kind = (name: string): ResourceType<KubeObject> => {
  const found = [...allKinds, ...addonKinds].find((each) => each.kind === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
};

/** A cluster with owners two deep, a status, credentials that nothing owns, and a Secret that is not its own. */
export async function seed(client: KubernetesClient, namespace: string): Promise<void> {
  await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const make = async (
    type: ResourceType<KubeObject>,
    name: string,
    { owner, metadata: more = {}, ...rest }: { owner?: KubeObject; metadata?: object; [field: string]: unknown },
  ) => {
    const owners = owner && [
      {
        apiVersion: owner.apiVersion,
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        controller: true,
      },
    ];
    const { group, version } = type;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    const metadata = { namespace, name, ...(owners ? { ownerReferences: owners } : {}), ...more };
    return client.create(type, { apiVersion, kind: type.kind, metadata, ...rest } as KubeObject);
  };
  const secret = Secret as ResourceType<KubeObject>;
  const data = { value: "c2VjcmV0" };
  const cluster = await make(kind("Cluster"), "web", {
    spec: { controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } },
    metadata: { labels: { team: "a" }, annotations: { note: "kept" }, finalizers: ["cluster.cluster.x-k8s.io"] },
  });
  const status = { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } };
  await client.patch(
    kind("Cluster"),
    { namespace, name: "web" },
    { type: "merge", body: { status } },
    { subresource: "status" },
  );
  const identityRef = { type: "Secret", name: "web-cloud", cloudName: "prod" };
  await make(kind("OpenStackCluster"), "web", {
    spec: { identityRef },
    owner: cluster,
    metadata: { finalizers: ["openstackcluster.infrastructure.cluster.x-k8s.io"] },
  });
  const spec = {
    clusterName: "web",
    bootstrap: { dataSecretName: "web-machine" },
    infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackMachine", name: "web-machine" },
  };
  const labels = { "cluster.x-k8s.io/cluster-name": "web" };
  const machine = await make(kind("Machine"), "web-machine", { spec, owner: cluster, metadata: { labels } });
  await make(secret, "web-machine", { data, owner: machine });
  await make(secret, "web-ca", { data, type: "cluster.x-k8s.io/secret", metadata: { labels } });
  await make(secret, "web-cloud", { data });
  await make(secret, "others", { data });
}

/** What is moved of a namespace. */
export const graph = async ({ client }: Side, namespace: string): Promise<Member[]> =>
  graphOf(await readMembers(client, await movedTypes(client, signal), namespace, signal));

/** The graph without what differs from server to server: names of owners in place of their uids. */
export async function shape(at: Side, namespace: string): Promise<unknown[]> {
  const members = await graph(at, namespace);
  return members
    .map(({ object }) => {
      const { name, labels, annotations, finalizers, ownerReferences } = object.metadata;
      const owners = ownerReferences?.map((owner) => {
        const found = members.find((each) => each.object.metadata.uid === owner.uid);
        return `${owner.kind} ${owner.name} ${found?.object.metadata.name === owner.name}`;
      });
      return { ...object, metadata: { name, labels, annotations: { ...annotations }, finalizers, owners } };
    })
    .toSorted((a, b) => (`${a.kind} ${a.metadata.name}` < `${b.kind} ${b.metadata.name}` ? -1 : 1));
}

/** Whether the Cluster `web` is paused; undefined: there is none. */
export const isPaused = async ({ client }: Side, namespace: string): Promise<boolean | undefined> => {
  const cluster = await client.find(Cluster, { namespace, name: "web" });
  return cluster && cluster.spec.paused === true;
};

/** The client that ends its process at the Nth change: before it takes place, or before its response arrives. */
export function dying(client: KubernetesClient, life: { left: number; readonly after: boolean }): KubernetesClient {
  const change = async <T>(perform: () => Promise<T>): Promise<T> => {
    if (life.left <= 0) throw new Error("killed");
    life.left -= 1;
    if (life.left > 0) return perform();
    if (life.after) await perform();
    throw new Error("killed");
  };
  return {
    server: client.server,
    get: (type, key, more) => client.get(type, key, more),
    find: (type, key, more) => client.find(type, key, more),
    list: (type, more) => client.list(type, more),
    watch: (type, more) => client.watch(type, more),
    request: (method, path, more) => client.request(method, path, more),
    close: () => client.close(),
    create: (type, object, more) => change(() => client.create(type, object, more)),
    update: (type, object, more) => change(() => client.update(type, object, more)),
    patch: (type, key, patch, more) => change(() => client.patch(type, key, patch, more)),
    apply: (type, object, more) => change(() => client.apply(type, object, more)),
    delete: (type, key, more) => change(() => client.delete(type, key, more)),
  };
}
