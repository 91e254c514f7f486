import { createHash } from "node:crypto";
import type { BackendPort } from "./objects/backends.ts";

/** The annotation that selects the controller of an Ingress, as upstream has it. */
export const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
/** The value of the class annotation that names this controller. */
export const CLASS_VALUE = "openstack";
/** `spec.controller` of an IngressClass of this controller. */
export const CLASS_CONTROLLER = "openstack.org/octavia-ingress";
/** `spec.controllerName` of a GatewayClass of this controller. */
export const GATEWAY_CONTROLLER = "openstack.org/octavia-gateway";
/** The finalizer of Ingresses that have a load balancer. */
export const FINALIZER = "octavia.ingress.kubernetes.io/load-balancer";
/** In the description of L7 policies, as upstream has it: the mark of policies that this controller may delete. */
export const POLICY_DESCRIPTION = "Created by kubernetes ingress";
/** On security groups, as upstream has it. */
export const GROUP_TAG = "octavia.ingress.kubernetes.io";
const ANNOTATION = "octavia.ingress.kubernetes.io/";
/** Upstream's annotations of an Ingress; a Gateway has the same ones. */
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

/**
 * Of what is too long to be stored: its beginning and a digest of the whole, so that two objects never have one name.
 */
function fitted(text: string, longest = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 33)}_${digestOf(text).slice(0, 32)}`;
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Neutron stores no longer description: an object's name that is too long becomes its digest. */
function describe(kind: string, name: string, rest: string): string {
  const whole = `Floating IP for Kubernetes ${kind} ${name}${rest}`;
  return whole.length <= LONGEST ? whole : fitted(`Floating IP for Kubernetes ${kind} ${digestOf(name)}${rest}`);
}

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

/** The object that owns a load balancer. */
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
  return { groupName: fitted(name), groupDescription: fitted(description) };
}

/** Matches the tag that marks a load balancer as one of this controller, for any of its owners. */
export const OWNER_TAG = /^k8s-(?:ingress|ingressclass|gateway)-owner=/;

/** An Ingress with a load balancer of its own; the names are upstream's. */
export function ingressOwner(cluster: string, { namespace, name, uid }: Subject): Owner {
  const own = tag("ingress", cluster, uid);
  return {
    name: fitted(`kube_ingress_${cluster}_${namespace}_${name}`),
    tag: own,
    ...group(`kube_ingress_${cluster}_${namespace}_${name}`, `Ingress ${namespace}/${name} from cluster ${cluster}`),
    // Upstream's second tag, by which it finds the group.
    groupTags: [GROUP_TAG, fitted(`${namespace}_${name}`, LONGEST_TAG), own],
    floatingIpDescription: describe("ingress", name, ` in namespace ${namespace} from cluster ${cluster}`),
    oneNamespace: true,
  };
}

/**
 * An IngressClass whose Ingresses share a load balancer. Its name is its proof, so that a class that is installed again
 * has what it had.
 */
export function classOwner(cluster: string, { name }: Pick<Subject, "name">): Owner {
  const own = tag("ingressclass", cluster, name.length <= 63 ? name : createHash("sha256").update(name).digest("hex"));
  return {
    name: fitted(`kube_ingressclass_${cluster}_${name}`),
    tag: own,
    ...group(`kube_ingressclass_${cluster}_${name}`, `IngressClass ${name} from cluster ${cluster}`),
    groupTags: [GROUP_TAG, own],
    floatingIpDescription: describe("ingress class", name, ` from cluster ${cluster}`),
    oneNamespace: false,
  };
}

/** A Gateway with a load balancer of its own. Upstream has no Gateways: the names follow those of Ingresses. */
export function gatewayOwner(cluster: string, { namespace, name, uid }: Subject): Owner {
  const own = tag("gateway", cluster, uid);
  return {
    name: fitted(`kube_gateway_${cluster}_${namespace}_${name}`),
    tag: own,
    ...group(`kube_gateway_${cluster}_${namespace}_${name}`, `Gateway ${namespace}/${name} from cluster ${cluster}`),
    groupTags: [GROUP_TAG, own],
    floatingIpDescription: describe("gateway", name, ` in namespace ${namespace} from cluster ${cluster}`),
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

/**
 * Upstream's: a digest of the Service's name and the port as Go prints it. With namespaces, where one load balancer
 * serves several.
 */
export function poolName(owner: Owner, namespace: string, service: string, port: BackendPort): string {
  const printed = `&ServiceBackendPort{Name:${port.name ?? ""},Number:${port.name ? 0 : (port.number ?? 0)},}`;
  const place = owner.oneNamespace ? service : `${namespace}/${service}`;
  return createHash("sha256").update(`${place}+${printed}`).digest("hex");
}

/** Pools of ours have names that are digests; what a user adds by hand is another's. */
export function isPoolName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** The beginning of names of certificates that are too long to be written out. */
function shortened(owner: Owner): string {
  return `${owner.name.slice(0, MOST_OF_OWNER)}_${digestOf(owner.name).slice(0, 16)}_`;
}

const MOST_OF_OWNER = 200;

/** How names of all certificates of a cluster's owners of a kind begin. */
export function certificatePrefixes(cluster: string): string[] {
  return ["ingress", "ingressclass", "gateway"].map((kind) => `kube_${kind}_${cluster}_`.slice(0, MOST_OF_OWNER));
}

/** Upstream's name of a secret in the key manager, and a digest of what it contains. */
export function certificateName(owner: Owner, secret: string, digest: string): string {
  const end = `_${digest.slice(0, 16)}`;
  const whole = `${owner.name}_${secret}${end}`;
  return whole.length <= LONGEST ? whole : `${shortened(owner)}${digestOf(secret).slice(0, 16)}${end}`;
}

/** Is it a name of that owner's certificates, of this release or of upstream's? Names of Kubernetes contain no "_". */
export function isCertificateOf(owner: Owner, name: string): boolean {
  const short = shortened(owner);
  if (name.startsWith(short) && /^[0-9a-f]{16}_[0-9a-f]{16}$/.test(name.slice(short.length))) return true;
  if (!name.startsWith(`${owner.name}_`)) return false;
  return /^[^_]+(_[0-9a-f]{16})?$/.test(name.slice(owner.name.length + 1));
}
