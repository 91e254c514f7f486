import { createHash } from "node:crypto";
import type { BackendPort } from "./objects/backends.ts";

/** The value of the class annotation that selects this controller, as upstream has it. */
export const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
export const CLASS_VALUE = "openstack";
/** `spec.controller` of an IngressClass of this controller. */
export const CLASS_CONTROLLER = "openstack.org/octavia-ingress";
/** `spec.controllerName` of a GatewayClass of this controller. */
export const GATEWAY_CONTROLLER = "openstack.org/octavia-gateway";
export const FINALIZER = "octavia.ingress.kubernetes.io/load-balancer";
/** In the description of L7 policies, as upstream has it: the mark of policies that this controller may delete. */
export const POLICY_DESCRIPTION = "Created by kubernetes ingress";
/** On security groups, as upstream has it. */
export const GROUP_TAG = "octavia.ingress.kubernetes.io";
const ANNOTATION = "octavia.ingress.kubernetes.io/";
export const annotation = {
  internal: `${ANNOTATION}internal`,
  keepFloatingIp: `${ANNOTATION}keep-floatingip`,
  floatingIp: `${ANNOTATION}floatingip`,
  sourceRanges: `${ANNOTATION}whitelist-source-range`,
  timeoutClientData: `${ANNOTATION}timeout-client-data`,
  timeoutMemberData: `${ANNOTATION}timeout-member-data`,
  timeoutMemberConnect: `${ANNOTATION}timeout-member-connect`,
  timeoutTcpInspect: `${ANNOTATION}timeout-tcp-inspect`,
} as const;

/** Load balancers, pools and secrets have names of at most 255 characters. */
const LONGEST = 255;
/** Neutron stores no longer tag. */
const LONGEST_TAG = 255;

/** Who owns a load balancer and what belongs to it. */
export interface Owner {
  /** Of its load balancer and listeners. */
  readonly name: string;
  /** The tag that proves it. */
  readonly tag: string;
  readonly floatingIpDescription: string;
  /** Of the security group that lets its load balancer reach the nodes. */
  readonly groupName: string;
  readonly groupDescription: string;
  readonly groupTags: readonly string[];
  /** Names of its pools are those of upstream, which has one namespace on a load balancer. */
  readonly oneNamespace: boolean;
}

export interface Subject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** k8s-ingress-owner=CLUSTER/UID, k8s-ingressclass-owner=CLUSTER/NAME */
function tag(kind: string, cluster: string, id: string): string {
  return `k8s-${kind}-owner=${cluster.slice(0, 180)}/${id}`;
}

/** Upstream's names. */
function group(name: string, whose: string): Pick<Owner, "groupName" | "groupDescription"> {
  const description = `Security group created for ${whose}`;
  return { groupName: name.slice(0, LONGEST), groupDescription: description.slice(0, LONGEST) };
}

export const OWNER_TAG = /^k8s-(?:ingress|ingressclass|gateway)-owner=/;

/** An Ingress with a load balancer of its own; the names are upstream's. */
export function ingressOwner(cluster: string, { namespace, name, uid }: Subject): Owner {
  const own = tag("ingress", cluster, uid);
  return {
    name: `kube_ingress_${cluster}_${namespace}_${name}`.slice(0, LONGEST),
    tag: own,
    ...group(`kube_ingress_${cluster}_${namespace}_${name}`, `Ingress ${namespace}/${name} from cluster ${cluster}`),
    // Upstream's second tag, by which it finds the group.
    groupTags: [GROUP_TAG, `${namespace}_${name}`.slice(0, LONGEST_TAG), own],
    floatingIpDescription: `Floating IP for Kubernetes ingress ${name} in namespace ${namespace} from cluster ${cluster}`,
    oneNamespace: true,
  };
}

/** An IngressClass whose Ingresses share a load balancer. Its name is its proof, so that a class that is installed again has what it had. */
export function classOwner(cluster: string, { name }: Pick<Subject, "name">): Owner {
  const own = tag("ingressclass", cluster, name.length <= 63 ? name : createHash("sha256").update(name).digest("hex"));
  return {
    name: `kube_ingressclass_${cluster}_${name}`.slice(0, LONGEST),
    tag: own,
    ...group(`kube_ingressclass_${cluster}_${name}`, `IngressClass ${name} from cluster ${cluster}`),
    groupTags: [GROUP_TAG, own],
    floatingIpDescription: `Floating IP for Kubernetes ingress class ${name} from cluster ${cluster}`,
    oneNamespace: false,
  };
}

export function gatewayOwner(cluster: string, { namespace, name, uid }: Subject): Owner {
  const own = tag("gateway", cluster, uid);
  return {
    name: `kube_gateway_${cluster}_${namespace}_${name}`.slice(0, LONGEST),
    tag: own,
    ...group(`kube_gateway_${cluster}_${namespace}_${name}`, `Gateway ${namespace}/${name} from cluster ${cluster}`),
    groupTags: [GROUP_TAG, own],
    floatingIpDescription: `Floating IP for Kubernetes gateway ${name} in namespace ${namespace} from cluster ${cluster}`,
    oneNamespace: false,
  };
}

/** Whose floating IP has that description: an Ingress, or a class (without a namespace). */
export function describedOwner(cluster: string, description: string): { namespace: string; name: string } | undefined {
  const end = ` from cluster ${cluster}`;
  const start = "Floating IP for Kubernetes ingress ";
  if (!description.startsWith(start) || !description.endsWith(end)) return undefined;
  const whose = description.slice(start.length, -end.length).split(" ");
  const [name = "", inWord, namespaceWord, namespace = ""] = whose;
  if (whose.length === 4 && inWord === "in" && namespaceWord === "namespace") return { namespace, name };
  return whose.length === 2 && name === "class" && inWord !== undefined ? { namespace: "", name: inWord } : undefined;
}

/** Upstream's: a digest of the Service's name and the port as Go prints it. With namespaces, where one load balancer serves several. */
export function poolName(owner: Owner, namespace: string, service: string, port: BackendPort): string {
  const printed = `&ServiceBackendPort{Name:${port.name ?? ""},Number:${port.name ? 0 : (port.number ?? 0)},}`;
  const place = owner.oneNamespace ? service : `${namespace}/${service}`;
  return createHash("sha256").update(`${place}+${printed}`).digest("hex");
}

/** Pools of ours have names that are digests; what a user adds by hand is another's. */
export function isPoolName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** Upstream's name of a secret in the key manager, and a digest of what it contains. */
export function certificateName(owner: Owner, secret: string, digest: string): string {
  const end = `_${digest.slice(0, 16)}`;
  return `${owner.name}_${secret}`.slice(0, LONGEST - end.length) + end;
}

/** Is it a name of that owner's certificates, of this release or of upstream's? Names of Kubernetes contain no "_". */
export function isCertificateOf(owner: Owner, name: string): boolean {
  if (!name.startsWith(`${owner.name}_`)) return false;
  return /^[^_]+(_[0-9a-f]{16})?$/.test(name.slice(owner.name.length + 1));
}
