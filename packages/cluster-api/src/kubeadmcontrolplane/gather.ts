import { labels, finalizers, type Cluster, type KubeadmControlPlane } from "@causeway/api";
import { messageOf, readCertificate } from "@causeway/foundation";
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  isControlledBy,
  Pod,
  Secret,
  secretText,
  type ObjectKey,
  type RemoteCluster,
} from "@causeway/kubernetes";
import { parse } from "yaml";
import { observedTemplate } from "../machineset/gather.ts";
import { certificateIn, certificateKinds, certificateSecretName, hasExternalEtcd } from "../objects/certificates.ts";
import { by, indexOfCluster, lookUp, namesIn, type Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import type { AddonImages } from "./addons.ts";
import type { Observed, ObservedEtcd, OwnedMachine, ObservedWorkload } from "./observed.ts";
import { podKey } from "./health.ts";

const configReference = { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig" };

/**
 * Reads caches; of the workload cluster the static pods, the ConfigMap kubeadm-config and etcd's members are requested.
 */
export async function gather(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const control = context.controlPlanes.get(key);
  if (!control || isLeaving(control, finalizers.kubeadmControlPlane)) return undefined;
  const cluster = clusterOf(context, control);
  const owned = machinesOf(context, control);
  const configKind = context.kinds.find(configReference);
  return {
    control,
    cluster,
    machines: owned,
    infrastructure: observedTemplate(context, key.namespace, control.spec.machineTemplate.spec.infrastructureRef),
    configKind,
    configs: namesIn(configKind && context.informers.for(configKind), key.namespace),
    taken: namesIn(context.machines, key.namespace),
    missingCertificates: cluster ? await missingCertificates(context, { cluster, control }, signal) : [],
    kubeconfig: cluster ? await kubeconfigOf(context, { control, cluster }, signal) : { exists: false },
    // A deletion needs nothing of it, and soon it does not respond any more.
    workload:
      cluster && !control.metadata.deletionTimestamp
        ? await workloadOf(context, { control, cluster, owned }, signal)
        : { reach: "unreachable" },
    workers: cluster ? workersOf(context, cluster) : 0,
  };
}

/** The Cluster that owns a control plane, or that refers to it. */
function clusterOf({ clusters }: Context, { metadata }: KubeadmControlPlane): Cluster | undefined {
  const { namespace = "" } = metadata;
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === "Cluster");
  return owner && clusters.get({ namespace, name: owner.name });
}

function machinesOf(context: Context, { metadata }: KubeadmControlPlane): OwnedMachine[] {
  const { namespace = "" } = metadata;
  const now = context.clock.now();
  return context.machines.byIndex(by.controller, metadata.uid ?? "").map((found) => {
    const machine = context.pendingDeletions.view(found, now);
    const { configRef } = machine.spec.bootstrap;
    return {
      machine,
      config: configRef && lookUp(context, namespace, configRef),
      host: lookUp(context, namespace, machine.spec.infrastructureRef),
    };
  });
}

async function missingCertificates(
  context: Context,
  { cluster, control }: { readonly cluster: Cluster; readonly control: KubeadmControlPlane },
  signal: AbortSignal,
): Promise<Observed["missingCertificates"]> {
  const { namespace = "", name } = cluster.metadata;
  const found = await Promise.all(
    certificateKinds(control.spec.kubeadmConfigSpec?.clusterConfiguration).map(async (kind) => {
      const { purpose } = kind;
      const secret = await findSecret(context, { namespace, name: certificateSecretName(name, purpose) }, signal);
      return certificateIn(secret, kind) ? [] : [purpose];
    }),
  );
  return found.flat();
}

/** From the cache, else from the server: Secrets that a user made may lack the label by which the cache selects. */
export async function findSecret(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
  return context.secrets.get(key) ?? (await context.informers.client.find(Secret, key, { signal }));
}

async function kubeconfigOf(
  context: Context,
  { control, cluster }: { readonly control: KubeadmControlPlane; readonly cluster: Cluster },
  signal: AbortSignal,
): Promise<Observed["kubeconfig"]> {
  const { namespace = "", name } = cluster.metadata;
  const secret = await findSecret(context, { namespace, name: `${name}-kubeconfig` }, signal);
  if (!secret) return { exists: false };
  const expires = isControlledBy(secret, control) ? expiryIn(secretText(secret, "value")) : undefined;
  return { exists: true, ...(expires === undefined ? {} : { expires }) };
}

/** When the client certificate of a kubeconfig expires; one that cannot be read has expired. */
function expiryIn(text: string | undefined): number {
  try {
    const config = parse(text ?? "") as { users?: { user?: { "client-certificate-data"?: string } }[] };
    const data = config.users?.[0]?.user?.["client-certificate-data"] ?? "";
    return readCertificate(Buffer.from(data, "base64").toString("utf8")).notAfter;
  } catch {
    return 0;
  }
}

async function workloadOf(
  context: Context,
  { control, cluster, owned }: Pick<Observed, "control"> & { cluster: Cluster; owned: readonly OwnedMachine[] },
  signal: AbortSignal,
): Promise<ObservedWorkload> {
  const { namespace = "", name } = cluster.metadata;
  const key = { namespace, name };
  const remote = context.remoteClusters.get(key);
  if (!remote || owned.length === 0) return { reach: "unreachable" };
  const nodes = owned.flatMap(({ machine }) => (machine.status?.nodeRef ? [machine.status.nodeRef.name] : []));
  try {
    const [pods, kubeadmVersion, addons] = await Promise.all([
      staticPods(remote, signal),
      versionIn(remote, signal),
      addonsIn(remote, signal),
    ]);
    const etcd = hasExternalEtcd(control.spec.kubeadmConfigSpec?.clusterConfiguration)
      ? ({ external: true } as const)
      : nodes.length > 0
        ? await etcdOf(context, { cluster: key, nodes }, signal)
        : { problem: "no machine has a Node yet" };
    const expiries = await expiriesOf(context, { cluster: key, nodes }, signal);
    return { reach: "connected", pods, etcd, kubeadmVersion, expiries, addons };
  } catch (error) {
    if (signal.aborted) throw error;
    context.log.debug("the workload cluster could not be inspected", { ...key, reason: messageOf(error) });
    return { reach: "unreachable" };
  }
}

async function staticPods({ client }: RemoteCluster, signal: AbortSignal): Promise<Map<string, Pod>> {
  const { items } = await client.list(Pod, { namespace: "kube-system", labelSelector: "tier=control-plane", signal });
  const pods = new Map<string, Pod>();
  for (const pod of items) {
    const node = pod.spec?.nodeName ?? "";
    const component = pod.metadata.labels?.["component"] ?? "";
    pods.set(podKey(node, component), pod);
  }
  return pods;
}

async function versionIn({ client }: RemoteCluster, signal: AbortSignal): Promise<string | undefined> {
  const found = await client.find(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" }, { signal });
  if (!found) return undefined;
  const config = parse(found.data?.["ClusterConfiguration"] ?? "") as { kubernetesVersion?: unknown } | null;
  return typeof config?.kubernetesVersion === "string" ? config.kubernetesVersion : "";
}

async function addonsIn({ client }: RemoteCluster, signal: AbortSignal): Promise<AddonImages> {
  const [proxy, dns] = await Promise.all([
    client.find(DaemonSet, { namespace: "kube-system", name: "kube-proxy" }, { signal }),
    client.find(Deployment, { namespace: "kube-system", name: "coredns" }, { signal }),
  ]);
  const imageIn = (object: DaemonSet | Deployment | undefined, container: string): string | undefined =>
    object?.spec?.template.spec?.containers.find(({ name }) => name === container)?.image;
  return { kubeProxy: imageIn(proxy, "kube-proxy"), coreDns: imageIn(dns, "coredns") };
}

async function etcdOf(
  { access }: Context,
  place: { readonly cluster: ObjectKey; readonly nodes: readonly string[] },
  signal: AbortSignal,
): Promise<ObservedEtcd> {
  if (!access) return { problem: "Members of etcd cannot be inspected here" };
  try {
    return { members: await access.members(place, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { problem: messageOf(error) };
  }
}

async function expiriesOf(
  { access }: Context,
  place: { readonly cluster: ObjectKey; readonly nodes: readonly string[] },
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  if (!access) return found;
  for (const node of place.nodes) {
    const expiry = await access.certificateExpiry(place, node, signal).catch(() => undefined);
    if (expiry !== undefined) found.set(node, expiry);
  }
  return found;
}

/** What of a cluster must be gone before its control plane. */
function workersOf({ machines, sets, deployments, pools }: Context, { metadata }: Cluster): number {
  const index = indexOfCluster({ namespace: metadata.namespace ?? "", name: metadata.name });
  const workers = machines
    .byIndex(by.cluster, index)
    .filter((machine) => machine.metadata.labels?.[labels.controlPlane] === undefined);
  return [
    workers,
    sets.byIndex(by.cluster, index),
    deployments.byIndex(by.cluster, index),
    pools.byIndex(by.cluster, index),
  ].reduce((total, list) => total + list.length, 0);
}
