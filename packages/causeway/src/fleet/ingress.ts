import type { OpenStackCluster } from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  createEventRecorder,
  isAlreadyExists,
  isNotFound,
  keyOf,
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

export interface MemberIngresses {
  run(signal: AbortSignal): Promise<void>;
  /** Deletes Ingresses and Gateways with load balancers, until none is left. They have to run meanwhile. */
  release(signal: AbortSignal): Promise<void>;
}

const pause = 500;

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
    release: (signal) => releaseIngresses({ client: remote.client, clock, log }, signal),
  };
}

/** A provider of load balancers for Services may have no HTTP; a cloud with ovn has amphora next to it. */
const providerOf = (ofServices: string | undefined): string | undefined =>
  ofServices === "ovn" ? "amphora" : ofServices;

export interface ReleaseIngressesOptions {
  /** Of the workload cluster. */
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Deletes Ingresses and Gateways that have, or would get, a load balancer, until none is left: their finalizers see to
 * it that "gone" means that the load balancer is gone, too.
 */
export async function releaseIngresses(
  { client, clock, log }: ReleaseIngressesOptions,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const left = await heldIn(client, signal);
    if (left.length === 0) return;
    for (const { type, object } of left) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      log.info(`deleting a ${type.kind} with its cluster`, { ...keyOf(object) });
      await client.delete(type, keyOf(object), { signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
    await clock.sleep(pause, signal);
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
async function heldIn(client: KubernetesClient, signal: AbortSignal): Promise<readonly Held[]> {
  const all = async <T extends KubeObject>(type: ResourceType<T>): Promise<readonly T[]> => {
    try {
      return (await client.list(type, { signal })).items;
    } catch (error) {
      // The cluster has no CRDs of the Gateway API.
      if (isNotFound(error)) return [];
      throw error;
    }
  };
  const isHeld = ({ metadata }: KubeObject): boolean => (metadata.finalizers ?? []).includes(FINALIZER);
  const classes = new Set(
    (await all(IngressClass))
      .filter(({ spec }) => spec?.controller === CLASS_CONTROLLER)
      .map(({ metadata }) => metadata.name),
  );
  const gatewayClasses = new Set(
    (await all(GatewayClass))
      .filter(({ spec }) => spec.controllerName === GATEWAY_CONTROLLER)
      .map(({ metadata }) => metadata.name),
  );
  const ingresses = (await all(Ingress)).filter(
    (one) =>
      isHeld(one) ||
      one.metadata.annotations?.[CLASS_ANNOTATION] === CLASS_VALUE ||
      classes.has(one.spec.ingressClassName ?? ""),
  );
  const gateways = (await all(Gateway)).filter((one) => isHeld(one) || gatewayClasses.has(one.spec.gatewayClassName));
  return [
    ...ingresses.map((object) => ({ type: Ingress as ResourceType<KubeObject>, object })),
    ...gateways.map((object) => ({ type: Gateway as ResourceType<KubeObject>, object })),
  ];
}
