import type { OpenStackCluster } from "@causeway/api";
import { backoff, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  createEventRecorder,
  CustomResourceDefinition,
  isAlreadyExists,
  isNotFound,
  isTrue,
  keyOf,
  type Informers,
  type KubeObject,
  type KubernetesClient,
  type RemoteCluster,
  type ResourceType,
} from "@causeway/kubernetes";
import {
  CLASS_ANNOTATION,
  CLASS_CONTROLLER,
  CLASS_VALUE,
  createOctaviaIngress,
  FINALIZER,
  Gateway,
  GATEWAY_CONTROLLER,
  GatewayClass,
  Ingress,
  IngressClass,
} from "@causeway/octavia-ingress";
import type { CloudClient } from "@causeway/openstack";

/** The IngressClass that each cluster with these controllers has. */
export const INGRESS_CLASS = "octavia";

/** A workload cluster, and the cloud with the cluster's credentials. */
export interface IngressesOptions extends CloudClient {
  readonly remote: RemoteCluster;
  /** Begins the names in the cloud. */
  readonly clusterName: string;
  readonly infrastructure: OpenStackCluster;
  /** Of load balancers for Services. */
  readonly provider: string | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The controllers of Ingresses and Gateways of one workload cluster. */
export interface MemberIngresses {
  run(signal: AbortSignal): Promise<void>;
  /** Deletes Ingresses and Gateways with load balancers, until none is left. They have to run meanwhile. */
  release(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between two checks whether they are gone. */
const PAUSES = { base: 500, cap: 10_000, factor: 1.5 } as const;

/**
 * The controllers of Ingresses and Gateways on Octavia, for one workload cluster and outside it, with the credentials
 * of the cluster. Undefined: its network has no subnet yet where load balancers could be.
 */
export function memberIngresses(options: IngressesOptions): MemberIngresses | undefined {
  const { remote, clusterName, infrastructure, provider, cloud, watch, metrics, clock, log } = options;
  const { network, externalNetwork } = infrastructure.status ?? {};
  const subnetId = network?.subnets?.[0]?.id;
  if (subnetId === undefined) return undefined;
  const ingress = createOctaviaIngress({
    config: {
      clusterName,
      balancer: {
        provider: providerOf(provider),
        subnetId,
        floatingNetworkId: externalNetwork?.id,
        flavorId: undefined,
        serial: false,
      },
      manageSecurityGroups: true,
    },
    informers: remote.informers,
    cloud,
    watch,
    events: createEventRecorder(remote.client, { component: "openstack-ingress-controller", clock }),
    metrics,
    clock,
    log,
  });
  return {
    async run(signal) {
      await installClass(remote.client, signal);
      await ingress.run(signal);
    },
    release: (signal) => releaseIngresses({ informers: remote.informers, clock, log }, signal),
  };
}

/** A provider of load balancers for Services may have no HTTP; a cloud with ovn has amphora next to it. */
const providerOf = (ofServices: string | undefined): string | undefined =>
  ofServices === "ovn" ? "amphora" : ofServices;

/** Where Ingresses and Gateways are deleted. */
export interface ReleaseIngressesOptions {
  /** Of the workload cluster. What is left is read from them: a tenant's objects may be many, and remain for long. */
  readonly informers: Informers;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Deletes Ingresses and Gateways that have, or would get, a load balancer, until none is left: our finalizer on them
 * sees to it that "gone" means that the load balancer is gone, too. Finalizers of others are not waited for.
 */
export async function releaseIngresses(
  { informers, clock, log }: ReleaseIngressesOptions,
  signal: AbortSignal,
): Promise<void> {
  const pause = backoff(PAUSES);
  for (let round = 1; ; round++) {
    const left = await heldIn(informers, signal);
    if (left.length === 0) return;
    for (const { type, object } of left) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      log.info(`deleting a ${type.kind} with its cluster`, { ...keyOf(object) });
      await informers.client.delete(type, keyOf(object), { signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    await clock.sleep(pause(round), signal);
  }
}

/** One that is there is its users', and is not changed. */
async function installClass(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const object: IngressClass = {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: INGRESS_CLASS },
    spec: { controller: CLASS_CONTROLLER },
  };
  try {
    await client.create(IngressClass, object, { fieldManager: "causeway-fleet", signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

interface Held {
  readonly type: ResourceType<KubeObject>;
  readonly object: KubeObject;
}

/** What has a load balancer, or would get one. */
async function heldIn(informers: Informers, signal: AbortSignal): Promise<readonly Held[]> {
  const all = async <T extends KubeObject>(type: ResourceType<T>): Promise<readonly T[]> => {
    const informer = informers.for(type);
    await informer.whenSynced(signal);
    return informer.list();
  };
  const held = <T extends KubeObject>(objects: readonly T[], isOurs: (object: T) => boolean): readonly T[] =>
    objects.filter((object) => {
      const { finalizers = [], deletionTimestamp } = object.metadata;
      return finalizers.includes(FINALIZER) || (deletionTimestamp === undefined && isOurs(object));
    });
  const classes = namesOf(await all(IngressClass), ({ spec }) => spec?.controller === CLASS_CONTROLLER);
  const ingresses = held(
    await all(Ingress),
    ({ metadata, spec }) =>
      metadata.annotations?.[CLASS_ANNOTATION] === CLASS_VALUE || classes.has(spec.ingressClassName ?? ""),
  );
  const found = ingresses.map((object): Held => ({ type: Ingress as ResourceType<KubeObject>, object }));
  if (!(await isServed(informers, Gateway, signal)) || !(await isServed(informers, GatewayClass, signal))) return found;
  const ours = namesOf(await all(GatewayClass), ({ spec }) => spec.controllerName === GATEWAY_CONTROLLER);
  const gateways = held(await all(Gateway), ({ spec }) => ours.has(spec.gatewayClassName));
  return [...found, ...gateways.map((object): Held => ({ type: Gateway as ResourceType<KubeObject>, object }))];
}

function namesOf<T extends KubeObject>(objects: readonly T[], fits: (object: T) => boolean): ReadonlySet<string> {
  return new Set(objects.filter(fits).map(({ metadata }) => metadata.name));
}

/** Kinds of the Gateway API are there where their CRDs are. */
async function isServed({ client }: Informers, type: ResourceType<KubeObject>, signal: AbortSignal): Promise<boolean> {
  const key = { namespace: "", name: `${type.plural}.${type.group}` };
  const definition = await client.find(CustomResourceDefinition, key, { signal });
  if (!definition || !isTrue(definition.status?.conditions, "Established")) return false;
  return definition.spec.versions.some(({ name, served }) => name === type.version && served);
}
