import type { Machine } from "@causeway/api";
import type { CertificateSubject } from "@causeway/foundation";

/** A certificate request as the approver judges it. */
export interface RequestFacts {
  readonly signer: string;
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  /** Undefined: the request cannot be read, or its own key did not sign it. */
  readonly subject: CertificateSubject | undefined;
  /** The Machine that the requested name is the name of. */
  readonly machine: Machine | undefined;
  /** The Machine that the bootstrap token of the requestor was made for. */
  readonly tokenMachine: string | undefined;
}

/** What becomes of a request; no request is denied. */
export type Verdict =
  | { readonly kind: "approve"; readonly reason: string; readonly message: string }
  /** Not ours to judge. */
  | { readonly kind: "ignore" }
  /** May come right by itself. */
  | { readonly kind: "wait"; readonly message: string }
  /** Left to a person. */
  | { readonly kind: "leave"; readonly message: string };

/** Signs the client certificates of kubelets. */
export const clientSigner = "kubernetes.io/kube-apiserver-client-kubelet";
/** Signs the serving certificates of kubelets. */
export const servingSigner = "kubernetes.io/kubelet-serving";
const nodePrefix = "system:node:";
/** Before the ID of the bootstrap token, in the user name of a machine that joins. */
export const bootstrapPrefix = "system:bootstrap:";

/**
 * Which kubelet certificates are approved. A first client certificate: only to a machine that has not joined, by the
 * token that was made for it. A renewal: to the node itself. A serving certificate: to the node itself, for addresses
 * that its infrastructure reports.
 */
export function judge(request: RequestFacts): Verdict {
  const { signer, subject } = request;
  if (signer !== clientSigner && signer !== servingSigner) return { kind: "ignore" };
  if (!subject) return leave("the request cannot be read");
  const node = nodeNameOf(subject);
  if (node === undefined) return leave(`its subject is not of a node: ${subject.commonName}`);
  if (!request.machine) return leave(`no Machine of the cluster is named ${node}`);
  return signer === clientSigner ? judgeClient(request, subject, node) : judgeServing(request, subject, node);
}

function leave(message: string): Verdict {
  return { kind: "leave", message };
}

/** The node that a subject names: CN system:node:NAME, O system:nodes alone. */
export function nodeNameOf({ commonName, organizations = [] }: CertificateSubject): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== "system:nodes") return undefined;
  if (!commonName.startsWith(nodePrefix) || commonName === nodePrefix) return undefined;
  return commonName.slice(nodePrefix.length);
}

function judgeClient(request: RequestFacts, subject: CertificateSubject, node: string): Verdict {
  const { username, groups, usages, machine, tokenMachine } = request;
  if (namesIn(subject) > 0) return leave("a client certificate must not have names or addresses");
  if (!onlyUsages(usages, "client auth")) return leave(`its usages are ${usages.join(", ")}`);
  if (username === subject.commonName) {
    if (!groups.includes("system:nodes")) return leave("the requestor is not in system:nodes");
    return { kind: "approve", reason: "NodeRenewal", message: `Node ${node} renews its own client certificate` };
  }
  if (!username.startsWith(bootstrapPrefix) || !groups.includes("system:bootstrappers")) {
    return leave(`${username} is neither the node nor a bootstrap token`);
  }
  if (tokenMachine === undefined) return { kind: "wait", message: "its bootstrap token is not known" };
  if (tokenMachine !== node) return leave(`its bootstrap token was made for machine ${tokenMachine}`);
  if (machine?.status?.nodeRef) return leave(`machine ${node} has joined already`);
  return { kind: "approve", reason: "MachineBootstrap", message: `Machine ${node} joins with the token made for it` };
}

function judgeServing(request: RequestFacts, subject: CertificateSubject, node: string): Verdict {
  const { username, groups, usages, machine } = request;
  if (username !== subject.commonName || !groups.includes("system:nodes")) {
    return leave(`${username} requests a certificate of node ${node}`);
  }
  if (!onlyUsages(usages, "server auth")) return leave(`its usages are ${usages.join(", ")}`);
  if (namesIn(subject) === 0) return leave("a serving certificate needs names or addresses");
  const addresses = machine?.status?.addresses ?? [];
  if (addresses.length === 0) return { kind: "wait", message: `machine ${node} has no addresses yet` };
  const known = new Set([node, ...addresses.map(({ address }) => address)]);
  const foreign = [...(subject.dnsNames ?? []), ...(subject.ipAddresses ?? [])].filter((name) => !known.has(name));
  if (foreign.length > 0) return leave(`machine ${node} does not have ${foreign.join(", ")}`);
  return { kind: "approve", reason: "NodeServing", message: `Node ${node} serves at addresses of its machine` };
}

function namesIn({ dnsNames = [], ipAddresses = [] }: CertificateSubject): number {
  return dnsNames.length + ipAddresses.length;
}

const keyUsages = ["digital signature", "key encipherment"];

/** Exactly one purpose, in addition to the usages of a TLS key. */
function onlyUsages(usages: readonly string[], purpose: string): boolean {
  return usages.includes(purpose) && usages.every((usage) => usage === purpose || keyUsages.includes(usage));
}
