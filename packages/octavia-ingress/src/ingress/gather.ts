import {
  Node,
  Secret,
  Service,
  type Brake,
  type Informer,
  type Informers,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { uncertainKey } from "@causeway/octavia-tree";
import { gatherBalancer, type BalancerMemory } from "../balancer/gather-balancer.ts";
import { isAnothers } from "../balancer/plan-balancer.ts";
import { bundleOf, type Bundle } from "../certificates/pkcs12.ts";
import type { IngressConfig } from "../config/config.ts";
import { classOwner, ingressOwner, type Owner } from "../names.ts";
import { Ingress, IngressClass } from "../objects/ingress.ts";
import { gatherMembers } from "../objects/gather-members.ts";
import { PodEndpoints } from "../objects/pod-endpoints.ts";
import { claimOf, isOfClass } from "./class.ts";
import { ClassMaps } from "./class-maps.ts";
import type { Observed } from "./observed.ts";
import { classParameters, parametersOf, type ClassParameters } from "./parameters.ts";
import { releaseOf, uncertainUntil, type LeavingIngress } from "./plan-release.ts";
import {
  awaitsClass,
  isGoing,
  isHeld,
  keepsFloatingIp,
  scopeOfClass,
  scopeOfOne,
  scopeOfOrphans,
} from "./plan-scope.ts";

/** The informers that an Ingress is gathered from, and what this process remembers. */
export interface GatherFrom {
  readonly config: IngressConfig;
  readonly informers: Informers;
  readonly client: KubernetesClient;
  readonly ingresses: Informer<Ingress>;
  readonly classes: Informer<IngressClass>;
  readonly services: Informer<Service>;
  readonly secrets: Informer<Secret>;
  readonly nodes: Informer<Node>;
  readonly pods: PodEndpoints;
  readonly maps: ClassMaps;
  readonly memory: BalancerMemory;
  readonly brake: Brake;
  /**
   * Classes that an Ingress of ours left in the time of this process, or that are gone since an earlier one served what
   * they share.
   */
  readonly abandoned: Set<string>;
}

/** Opens the informers that `gather` reads from. */
export function gatherFrom(
  { config, informers, memory }: Pick<GatherFrom, "config" | "informers" | "memory">,
  brake: Brake,
): GatherFrom {
  return {
    config,
    informers,
    client: informers.client,
    ingresses: informers.for(Ingress),
    classes: informers.for(IngressClass),
    services: informers.for(Service),
    secrets: informers.for(Secret, { fieldSelector: "type=kubernetes.io/tls" }),
    nodes: informers.for(Node),
    pods: new PodEndpoints(informers),
    maps: new ClassMaps(informers),
    memory,
    brake,
    abandoned: new Set(),
  };
}

/** Resolves when every informer has its first list. */
export async function whenRead(from: GatherFrom, signal: AbortSignal): Promise<void> {
  const all = [from.ingresses, from.classes, from.services, from.secrets, from.nodes];
  await Promise.all(all.map((informer) => informer.whenSynced(signal)));
}

/**
 * The key whose plan is an Ingress's: its own, or that of the class whose load balancer it shares. Undefined: another
 * controller's.
 */
export async function planKey(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<ObjectKey | undefined> {
  const ingress = from.ingresses.get(key);
  if (!ingress) return undefined;
  const orphaned = isGoing(ingress) && isWithoutClass(from, ingress);
  const shared = orphaned || (await parametersFor(from, ingress, signal))?.shared === true;
  return shared && ingress.spec.ingressClassName !== undefined ? classKey(ingress.spec.ingressClassName) : key;
}

/** The key of the load balancer that the Ingresses of a class share. */
export function classKey(name: string): ObjectKey {
  return { namespace: "", name };
}

/** Reads what a load balancer is for and what the cloud has of it; undefined: there is nothing to do. */
export async function gather(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  return key.namespace === "" ? gatherClass(from, key, signal) : gatherOne(from, key, signal);
}

async function gatherOne(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const ingress = from.ingresses.get(key);
  if (!ingress) return undefined;
  const parameters = await parametersFor(from, ingress, signal);
  const scope = scopeOfOne(ingress, parameters, isWithoutClass(from, ingress));
  if (!scope) return undefined;
  const { name, namespace = "", uid = "" } = ingress.metadata;
  const whose = {
    ...scope,
    owner: ingressOwner(from.config.clusterName, { name, namespace, uid }),
    subject: ingress,
    class: parameters ?? classParameters(from.config.balancer, undefined),
    blocked: undefined,
  };
  return complete(from, key, whose, signal);
}

async function gatherClass(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const found = from.classes.get(key);
  if (!found) return gatherOrphans(from, key, signal);
  const named = classNamed(from);
  const mine = from.ingresses.list().filter((ingress) => isOfClass(ingress, found, named));
  const parameters = classParameters(from.config.balancer, await from.maps.of(found, signal));
  const { served, leaving, held } = scopeOfClass(mine, parameters);
  const { released, blocked } = await partOf(from, leaving, signal);
  const owner = classOwner(from.config.clusterName, found.metadata);
  const whose = {
    owner,
    subject: found,
    class: parameters,
    served,
    released,
    blocked,
    keepFloatingIp: keepsFloatingIp(released),
    held,
  };
  return noted(from, key, await complete(from, key, whose, signal));
}

/**
 * The next process is to know of a load balancer that Ingresses share, though their class is gone by then and they have
 * left it.
 */
function noted({ memory }: GatherFrom, { name }: ObjectKey, observed: Observed): Observed {
  memory.record?.noteClass(
    name,
    observed.balancer.found.some((lb) => !isAnothers(lb, observed.owner)),
  );
  return observed;
}

/** A class that is gone. The finalizers of its Ingresses are the proof that what they share is ours. */
async function gatherOrphans(from: GatherFrom, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { abandoned, config } = from;
  const named = ({ spec }: Ingress): boolean => spec.ingressClassName === key.name;
  const mine = from.ingresses.list().filter((i) => named(i) && isHeld(i) && isWithoutClass(from, i));
  const scope = scopeOfOrphans(mine, abandoned.has(key.name));
  if (!scope) return undefined;
  const { leaving, kept } = scope;
  const { released, blocked } = await partOf(from, leaving, signal);
  const gone: IngressClass = {
    apiVersion: "networking.k8s.io/v1",
    kind: IngressClass.kind,
    metadata: { name: key.name },
  };
  const whose = {
    owner: classOwner(config.clusterName, key),
    subject: leaving[0] ?? gone,
    class: classParameters(config.balancer, undefined),
    served: [],
    released,
    kept,
    blocked,
    keepFloatingIp: keepsFloatingIp(leaving),
    held: true,
  };
  return noted(from, key, await complete(from, key, whose, signal));
}

/** Reads what those that leave have of their own, and decides which of them may go. */
async function partOf(
  from: GatherFrom,
  leaving: readonly Ingress[],
  signal: AbortSignal,
): Promise<Pick<Observed, "released" | "blocked">> {
  const read = await Promise.all(leaving.map((ingress) => readLeaving(from, ingress, signal)));
  return releaseOf(read, from.memory.clock.now());
}

async function readLeaving(
  { memory, config }: GatherFrom,
  ingress: Ingress,
  signal: AbortSignal,
): Promise<LeavingIngress> {
  const { watch, certificates, backoffs, clock, began, fresh } = memory;
  const { name, namespace = "", uid = "" } = ingress.metadata;
  const owner = ingressOwner(config.clusterName, { name, namespace, uid });
  const backoff = backoffs.until(uncertainKey(owner.name));
  const uncertain = uncertainUntil(backoff, { began, isFresh: fresh.has(owner.tag) });
  if (uncertain > clock.now()) return { ingress, owner, uncertainUntil: uncertain, own: undefined };
  await Promise.all([watch.loadBalancers.start(signal), watch.floatingIps.start(signal)]);
  const certificatesLeft = await certificates.left(signal);
  return {
    ingress,
    owner,
    uncertainUntil: uncertain,
    own: {
      loadBalancers: [
        ...watch.loadBalancers.byIndex("name", owner.name),
        ...watch.loadBalancers.byIndex("tag", owner.tag),
      ],
      certificates: certificatesLeft,
      floatingIps: watch.floatingIps.list(),
      securityGroups: watch.securityGroups.byIndex("tag", owner.tag),
    },
  };
}

function classNamed({ classes }: Pick<GatherFrom, "classes">): (name: string) => IngressClass | undefined {
  return (name) => classes.get(classKey(name));
}

/** Whether the Ingress names a class that does not exist. */
export function isWithoutClass({ classes }: Pick<GatherFrom, "classes">, ingress: Ingress): boolean {
  return awaitsClass(ingress, (name) => classes.get(classKey(name)) !== undefined);
}

/** Undefined: the Ingress is another controller's. */
async function parametersFor(
  { classes, maps, config }: GatherFrom,
  ingress: Ingress,
  signal: AbortSignal,
): Promise<ClassParameters | undefined> {
  const claim = claimOf(ingress, classNamed({ classes }));
  if (!claim) return undefined;
  return classParameters(config.balancer, claim.by === "class" ? await maps.of(claim.class, signal) : undefined);
}

type OwnerFacts = Omit<Observed, "slices" | "config" | "services" | "secrets" | "keyManager" | "nodes" | "balancer"> & {
  readonly owner: Owner;
  /** An earlier process may have created something for it. */
  readonly held: boolean;
};

async function complete(
  from: GatherFrom,
  key: ObjectKey,
  { held, ...whose }: OwnerFacts,
  signal: AbortSignal,
): Promise<Observed> {
  const { memory, config, brake } = from;
  const { served } = whose;
  const secrets = await secretsOf(from, served, signal);
  const first = served[0] && parametersOf(served[0], whose.class.internal);
  const tls = secrets.size > 0;
  const wasTls = served.length === 0 && whose.released.some(({ spec }) => (spec.tls ?? []).length > 0);
  const services = servicesOf(from, served);
  const place = whose.class.balancer.members;
  const { opened, ...members } = await gatherMembers(from, place, services.keys(), signal);
  const balancer = await gatherBalancer(
    memory,
    {
      owner: whose.owner,
      key,
      brake,
      held,
      tls: tls || wasTls || hasCertificates(memory, whose.owner),
      // An internal one may have one of ours from before.
      floating: first === undefined || whose.class.balancer.floatingNetworkId !== undefined,
      address: first?.floatingIp,
      ...opened,
      subnetId: whose.class.balancer.subnetId,
      ranged: served.some((ingress) => parametersOf(ingress).sourceRanges.length > 0),
    },
    signal,
  );
  return {
    ...whose,
    config,
    services,
    ...members,
    secrets,
    keyManager: !tls || (await memory.certificates.exists(signal)),
    balancer,
  };
}

/** A listener of the owner has certificates, whatever its Ingresses want now. */
function hasCertificates({ watch }: BalancerMemory, { name }: Owner): boolean {
  const balancers = watch.loadBalancers.byIndex("name", name);
  const listeners = balancers.flatMap(({ id }) => watch.listeners.byIndex("loadbalancer", id));
  return listeners.some((l) => (l.default_tls_container_ref ?? null) !== null);
}

/** Names of the Services that an Ingress sends requests to. */
export function serviceNames({ spec }: Ingress): string[] {
  const backends = (spec.rules ?? []).flatMap((rule) => (rule.http?.paths ?? []).map((path) => path.backend));
  return [spec.defaultBackend, ...backends].flatMap((backend) => backend?.service?.name ?? []);
}

function servicesOf({ services }: GatherFrom, ingresses: readonly Ingress[]): Map<string, Service> {
  const found = new Map<string, Service>();
  for (const ingress of ingresses)
    for (const name of serviceNames(ingress)) {
      const { namespace = "" } = ingress.metadata;
      const service = services.get({ namespace, name });
      if (service) found.set(`${namespace}/${name}`, service);
    }
  return found;
}

/** Secrets of type kubernetes.io/tls are watched; one of another type is read each time. */
async function secretsOf(
  { secrets, client }: GatherFrom,
  ingresses: readonly Ingress[],
  signal: AbortSignal,
): Promise<Map<string, Bundle | { readonly problem: string }>> {
  const found = new Map<string, Bundle | { readonly problem: string }>();
  for (const { metadata, spec } of ingresses)
    for (const { secretName: name = "" } of spec.tls ?? []) {
      const key = { namespace: metadata.namespace ?? "", name };
      const id = `${key.namespace}/${name}`;
      if (name === "" || found.has(id)) continue;
      const secret = secrets.get(key) ?? (await client.find(Secret, key, { signal }));
      found.set(id, secret ? bundleFrom(secret) : { problem: "does not exist" });
    }
  return found;
}

/** By the object: an informer has another one after each change. */
const bundles = new WeakMap<Secret, Bundle | { readonly problem: string }>();

/**
 * The certificate and key of a Secret of type kubernetes.io/tls, or why they cannot be used ("has no certificate in
 * tls.crt"). Each object is parsed once.
 */
export function bundleFrom(secret: Secret): Bundle | { readonly problem: string } {
  const known = bundles.get(secret);
  if (known) return known;
  const { data = {} } = secret;
  const bundle = bundleOf(Buffer.from(data["tls.crt"] ?? "", "base64"), Buffer.from(data["tls.key"] ?? "", "base64"));
  bundles.set(secret, bundle);
  return bundle;
}
