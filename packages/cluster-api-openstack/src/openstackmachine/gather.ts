import {
  labels,
  type Cluster,
  type IPAddress,
  type IPAddressClaim,
  type Machine,
  type OpenStackCluster,
  type OpenStackMachine,
} from "@causeway/api";
import { isDeleting, type Informer, type ObjectKey, type Secret } from "@causeway/kubernetes";
import type { CloudInformer, CloudWatch } from "@causeway/openstack";
import type { Clock } from "@causeway/foundation";
import { refusedList, type Session, type Sessions, type Startable } from "../identity/sessions.ts";
import { infrastructureOf } from "../openstackcluster/controller.ts";
import { isPaused } from "../openstackcluster/gather.ts";
import { isStaying, leavingOwner, machineOf } from "../openstackcluster/leaving.ts";
import { imageInterest, type ImageReferences } from "../identity/images.ts";
import type { Refusals } from "../reactions/refusals.ts";
import type { Interests } from "../reactions/interests.ts";
import { clusterResourceName, volumeName } from "../resources/naming.ts";
import { endpointPools } from "./endpoint-pools.ts";
import { claimName, usedClaim } from "./floating-ip.ts";
import type { AddressClaim, MachineCloud, Observed, MachineOwner } from "./model.ts";
import { namedPorts } from "./ports.ts";
import { needsExtensions } from "./resolve.ts";
import { usesVolumes } from "./lists.ts";
import { credentialsOf } from "./prerequisites.ts";
import { serverIdOf } from "./server.ts";

/** The informers that an OpenStackMachine is gathered from, and its sessions with clouds. */
export interface MachineSources {
  readonly clusters: Informer<Cluster>;
  readonly machines: Informer<Machine>;
  readonly openStackClusters: Informer<OpenStackCluster>;
  readonly openStackMachines: Informer<OpenStackMachine>;
  readonly secrets: Informer<Secret>;
  readonly claims: Informer<IPAddressClaim>;
  readonly addresses: Informer<IPAddress>;
  readonly sessions: Sessions;
  readonly interests: Interests;
  readonly images: ImageReferences;
  readonly refusals: Refusals;
  readonly clock: Clock;
  /** When an informer was last requested to refresh, in milliseconds since the epoch. */
  readonly refreshedAt: WeakMap<object, number>;
}

/**
 * What the plan of a machine reads, and the session that its steps use; undefined: there is none, or it is too early.
 */
export interface MachineGathered extends Observed {
  readonly session: Session | undefined;
}

/** Reads an OpenStackMachine, what it belongs to, and what its project holds: from caches, but for the first time. */
export async function gather(
  sources: MachineSources,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<MachineGathered | undefined> {
  const object = sources.openStackMachines.get(key);
  if (!object) {
    sources.interests.clear(key);
    return undefined;
  }
  sources.interests.set(key, interestsOf(object, claimOf(sources, object)));
  return observeMachine(sources, { object, owner: ownerOf(sources, object) }, signal);
}

/**
 * A machine and its owner, as they are or as they would be. `infrastructure` represents the OpenStackCluster that the
 * object's Cluster leads to.
 */
export interface MachineObjects {
  readonly object: OpenStackMachine;
  readonly owner: MachineOwner | undefined;
  readonly infrastructure?: OpenStackCluster;
}

/** Reads what belongs to these objects. */
export async function observeMachine(
  sources: MachineSources,
  { object, owner, infrastructure: given }: MachineObjects,
  signal: AbortSignal,
): Promise<MachineGathered> {
  const key = { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
  const clusterName = object.metadata.labels?.[labels.clusterName];
  const cluster =
    clusterName === undefined ? undefined : sources.clusters.get({ namespace: key.namespace, name: clusterName });
  const [infrastructureKey] = cluster ? infrastructureOf(cluster) : [];
  // A Cluster that is gone already must not keep its machines from going.
  const infrastructure =
    given ??
    (infrastructureKey
      ? sources.openStackClusters.get(infrastructureKey)
      : sources.openStackClusters.byIndex("cluster", `${key.namespace}/${clusterName ?? ""}`)[0]);
  const base = {
    object,
    clusterName,
    infrastructure,
    owner,
    paused: isPaused(object, cluster),
    hold: sources.refusals.get(object),
    image: imageOf(sources, object),
    claim: claimOf(sources, object),
  };
  const credentials = credentialsOf(base);
  if (!credentials.ok) return { ...base, session: undefined, identity: credentials };
  const place = { reference: credentials.reference, namespace: key.namespace };
  const opened = await sources.sessions.get(place, (watch) => neededOf(object, watch), signal);
  if (!opened.ok) return { ...base, session: undefined, identity: opened };
  // A deletion waits for changes in the cloud, and there would be none for ever.
  const refused = isDeleting(object) ? refusedList(neededOf(object, opened.session.watch)) : undefined;
  if (refused !== undefined) return { ...base, session: undefined, identity: refused };
  const { session } = opened;
  const cloud = await readCloud(sources, object, { session, signal });
  const isLeaving = owner?.leaving !== undefined && othersServe(sources, object);
  const crn = clusterResourceName(key.namespace, clusterName ?? "");
  const endpoint = { object, infrastructure, cluster, crn, isLeaving };
  const listed = (informer: Startable) => sources.sessions.listed(informer, place, signal);
  // Without a server, nothing waits for them.
  const pools = cloud.servers.length === 0 ? [] : await endpointPools(endpoint, { session, listed }, signal);
  return { ...base, endpointPools: pools, session, identity: { ok: true, cloud } };
}

/** An Image of OpenStack Resource Controller in the namespace; only needed until it is recorded which image that is. */
export function imageOf({ images }: Pick<MachineSources, "images">, { metadata, spec, status }: OpenStackMachine) {
  const name = spec.image.imageRef?.name;
  if (name === undefined || status?.resolved !== undefined || metadata.deletionTimestamp !== undefined)
    return undefined;
  return images.get({ namespace: metadata.namespace ?? "", name });
}

/** The claim of the machine's floating IP; its address once an IPAddress has it. */
export function claimOf(
  { claims, addresses }: Pick<MachineSources, "claims" | "addresses">,
  object: OpenStackMachine,
): AddressClaim | undefined {
  const { namespace = "" } = object.metadata;
  const claim = claims.get({ namespace, name: claimName(object) });
  const name = claim?.status?.addressRef?.name;
  const address = name === undefined ? undefined : addresses.get({ namespace, name })?.spec.address;
  return usedClaim(object, claim, address);
}

function ownerOf({ machines, secrets }: MachineSources, object: OpenStackMachine): MachineOwner | undefined {
  const namespace = object.metadata.namespace ?? "";
  const machine = machineOf(machines, object);
  if (!machine) return undefined;
  const leaving = leavingOwner(machine);
  const { failureDomain, bootstrap } = machine.spec;
  const secret = bootstrap.dataSecretName;
  const filled = secret !== undefined && secrets.get({ namespace, name: secret })?.data?.["value"] !== undefined;
  return {
    name: machine.metadata.name,
    ...(failureDomain ? { zone: failureDomain } : {}),
    ...(filled ? { bootstrapSecret: secret } : {}),
    ...(leaving ? { leaving } : {}),
  };
}

/** Other machines of the control plane remain; without one, a deleted Machine serves to its end. */
function othersServe({ openStackMachines, machines }: MachineSources, object: OpenStackMachine): boolean {
  const { namespace = "", name, labels: own } = object.metadata;
  const cluster = own?.[labels.clusterName] ?? "";
  return openStackMachines
    .byIndex("cluster", `${namespace}/${cluster}`)
    .some((other) => other.metadata.name !== name && isStaying(other, machines));
}

/** Only the types that the spec speaks of are polled. */
export function neededOf(object: OpenStackMachine, watch: CloudWatch): Startable[] {
  const { spec } = object;
  const ports = (spec.ports ?? []).flatMap((port) => [port, ...(port.subports ?? [])]);
  const groups =
    spec.securityGroups !== undefined ||
    ports.some((p) => p.securityGroups !== undefined) ||
    // A port that loses its last group gets the project's default one.
    object.status?.resolved?.ports?.some((p) => p.securityGroups !== undefined) === true;
  const places = ports.some((p) => p.network !== undefined || p.fixedIPs !== undefined);
  return [
    watch.servers,
    watch.ports,
    watch.flavors,
    watch.images,
    ...(places ? [watch.networks, watch.subnets] : []),
    ...(groups ? [watch.securityGroups] : []),
    ...(spec.serverGroup ? [watch.serverGroups] : []),
    ...(usesVolumes(object) ? [watch.volumes] : []),
    ...(spec.floatingIPPoolRef ? [watch.floatingIps] : []),
  ];
}

interface ReadContext {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/**
 * The part of a project that concerns one machine, from the informers. Before the machine is created, the list of
 * flavors or images is read again first if it lacks what the spec names.
 */
export async function readCloud(
  sources: Pick<MachineSources, "clock" | "refreshedAt">,
  object: OpenStackMachine,
  { session, signal }: ReadContext,
): Promise<MachineCloud> {
  const { watch, projectId, identity, cloud } = session;
  if (!isDeleting(object) && object.spec.providerID === undefined)
    await refreshUnknown(sources, object, { session, signal });
  const { name } = object.metadata;
  const recorded = serverIdOf(object.spec.providerID) ?? object.status?.instanceID;
  const server = recorded === undefined ? undefined : watch.servers.get(recorded);
  return {
    projectId,
    identity,
    region: cloud.region,
    servers: [
      ...new Set([
        ...(server ? [server] : []),
        ...watch.servers.byIndex("name", name),
        ...serversOfPorts(object, watch),
      ]),
    ],
    ports: portsOf(object, watch, server?.id),
    networks: watch.networks.list(),
    subnets: watch.subnets.list(),
    securityGroups: watch.securityGroups.list(),
    images: watch.images.list(),
    flavors: watch.flavors.list(),
    serverGroups: watch.serverGroups.list(),
    volumes: watch.volumes.list(),
    ...(object.spec.floatingIPPoolRef ? { floatingIps: watch.floatingIps.list() } : {}),
    extensions: needsExtensions(object.spec) ? await session.extensions(signal) : undefined,
  };
}

/** Servers that hold a port by one of the machine's names: they distinguish a port in use from an orphaned one. */
function serversOfPorts(object: OpenStackMachine, watch: CloudWatch) {
  return portNames(object).flatMap((name) =>
    watch.ports.byIndex("name", name).flatMap((port) => watch.servers.get(port.device_id) ?? []),
  );
}

function portsOf(object: OpenStackMachine, watch: CloudWatch, serverId: string | undefined) {
  const named = portNames(object).flatMap((name) => watch.ports.byIndex("name", name));
  const recorded = (object.status?.resources?.ports ?? []).flatMap(({ id }) => watch.ports.get(id) ?? []);
  const attached = serverId === undefined ? [] : watch.ports.byIndex("device", serverId);
  return [...new Set([...named, ...recorded, ...attached])];
}

function portNames(object: OpenStackMachine): string[] {
  return namedPorts(object, object.metadata.name).map(({ name }) => name);
}

const refreshInterval = 15_000;

/** Flavors and images are polled rarely: one that is not known may have been made a moment ago. */
async function refreshUnknown(
  { clock, refreshedAt }: Pick<MachineSources, "clock" | "refreshedAt">,
  { spec }: OpenStackMachine,
  { session, signal }: ReadContext,
): Promise<void> {
  const { flavors, images } = session.watch;
  const flavorKnown = spec.flavor.id
    ? flavors.get(spec.flavor.id) !== undefined
    : flavors.byIndex("name", spec.flavor.filter?.name ?? "").length > 0;
  const imageName = spec.image.filter?.name;
  const imageKnown = spec.image.id
    ? images.get(spec.image.id) !== undefined
    : !imageName || images.byIndex("name", imageName).length > 0;
  const again = async (informer: object & Pick<CloudInformer<never>, "refresh">) => {
    const now = clock.now();
    if (now - (refreshedAt.get(informer) ?? now - 2 * refreshInterval) < refreshInterval) return;
    refreshedAt.set(informer, now);
    await informer.refresh(signal);
  };
  if (!flavorKnown) await again(flavors);
  if (!imageKnown) await again(images);
}

/** The IDs and names by which a change in the cloud concerns an object. */
export function* interestsOf(object: OpenStackMachine, claim?: AddressClaim): Iterable<string | undefined> {
  yield object.metadata.name;
  yield serverIdOf(object.spec.providerID);
  yield object.status?.instanceID;
  yield* portNames(object);
  yield claim?.address;
  const image = object.spec.image.imageRef?.name;
  if (image !== undefined) yield imageInterest({ namespace: object.metadata.namespace ?? "", name: image });
  const { rootVolume, additionalBlockDevices = [] } = object.spec;
  if (rootVolume) yield volumeName(object.metadata.name, "root");
  for (const device of additionalBlockDevices) yield volumeName(object.metadata.name, device.name);
}
