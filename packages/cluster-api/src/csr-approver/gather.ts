import { readRequest, type CertificateSubject } from "@causeway/foundation";
import { Machine, type Cluster } from "@causeway/api";
import { CertificateSigningRequest, controllerOf, type ObjectKey, type RemoteCluster } from "@causeway/kubernetes";
import { by, indexOfCluster, type Context } from "../objects/context.ts";
import { tokensIn } from "../kubeadm-config/gather.ts";
import { tokenLabel, tokenNamespace, tokenSecretName } from "../kubeadm-config/token.ts";
import { bootstrapPrefix, clientSigner, nodeNameOf, servingSigner, type RequestFacts } from "./judge.ts";

/** A request in one workload cluster, as a key: the namespace is the cluster's. */
export function requestKey(cluster: ObjectKey, name: string): ObjectKey {
  return { namespace: indexOfCluster(cluster), name };
}

/** The Cluster in a key of requestKey. */
export function clusterOf(key: ObjectKey): ObjectKey {
  const [namespace = "", name = ""] = key.namespace.split("/");
  return { namespace, name };
}

/** A request that is open, in the workload cluster that it was made in. */
export interface Observed {
  readonly remote: RemoteCluster;
  /** Undefined: it was deleted. */
  readonly cluster: Cluster | undefined;
  readonly request: CertificateSigningRequest;
  readonly facts: RequestFacts;
}

/** The request and its user; undefined when it was deleted, is decided already, or is not a kubelet's. */
export async function gather(context: Context, key: ObjectKey): Promise<Observed | undefined> {
  const cluster = clusterOf(key);
  const remote = context.remoteClusters.get(cluster);
  const request = remote?.informers.for(CertificateSigningRequest).get({ namespace: "", name: key.name });
  if (!remote || !request || !isOpen(request)) return undefined;
  const { signerName, username = "", groups = [], usages = [] } = request.spec;
  const subject = await readSubject(request.spec.request);
  const node = subject && nodeNameOf(subject);
  const facts: RequestFacts = {
    signer: signerName,
    username,
    groups,
    usages,
    subject,
    machine: node === undefined ? undefined : machineOf(context, cluster, node),
    tokenMachine: tokenMachine(context, remote, username),
  };
  return { remote, cluster: context.clusters.get(cluster), request, facts };
}

/** A kubelet's request that was neither approved nor denied. */
export function isOpen({ spec, status }: CertificateSigningRequest): boolean {
  return (spec.signerName === clientSigner || spec.signerName === servingSigner) && !status?.conditions?.length;
}

async function readSubject(request: string): Promise<CertificateSubject | undefined> {
  try {
    return await readRequest(Buffer.from(request, "base64").toString("utf8"));
  } catch {
    return undefined;
  }
}

function machineOf({ machines }: Context, cluster: ObjectKey, node: string): Machine | undefined {
  const named = machines.get({ namespace: cluster.namespace, name: node });
  if (named?.spec.clusterName === cluster.name) return named;
  return machines.byIndex(by.node, `${indexOfCluster(cluster)}/${node}`)[0];
}

/** The machine whose KubeadmConfig the token in `system:bootstrap:ID` was made for. */
function tokenMachine({ configs }: Context, remote: RemoteCluster, username: string): string | undefined {
  if (!username.startsWith(bootstrapPrefix)) return undefined;
  const name = tokenSecretName(username.slice(bootstrapPrefix.length));
  const token = tokensIn(remote).get({ namespace: tokenNamespace, name });
  const config = configs.byIndex(by.uid, token?.metadata.labels?.[tokenLabel] ?? "")[0];
  const owner = config && controllerOf(config);
  return owner?.kind === Machine.kind ? owner.name : undefined;
}
