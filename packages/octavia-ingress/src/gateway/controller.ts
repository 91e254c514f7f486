import { hasCode, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  Brake,
  runPipeline,
  isConflict,
  isNotFound,
  keyOf,
  Namespace,
  Node,
  publishStatus,
  runController,
  Secret,
  Service,
  setConditions,
  type EventRecorder,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type ResourceType,
  type Pipeline,
} from "@causeway/kubernetes";
import type { BalancerMemory } from "../balancer/gather-balancer.ts";
import { failureOf, isRefusal } from "../balancer/refusal.ts";
import type { IngressConfig } from "../config/config.ts";
import { ClassMaps } from "../ingress/class-maps.ts";
import { GATEWAY_CONTROLLER } from "../names.ts";
import {
  Gateway,
  GatewayClass,
  HTTPRoute,
  ReferenceGrant,
  refusedRoutes,
  TLSRoute,
  VERSIONS,
  type Route,
} from "../objects/gateway.ts";
import { PodEndpoints } from "../objects/pod-endpoints.ts";
import { Reported } from "../reported.ts";
import { supportedFeatures } from "./features.ts";
import { gather, type GatherFrom } from "./gather.ts";
import type { Observed, Published } from "./observed.ts";
import { FIELD_MANAGER, perform, publish } from "./perform.ts";
import { plan } from "./plan.ts";
import { sourcesOf } from "./sources.ts";
import type { Step } from "./steps.ts";

/** What the controller of Gateways works with. `memory` is shared with the controller of Ingresses. */
export interface GatewayControllerOptions {
  readonly config: IngressConfig;
  readonly informers: Informers;
  readonly memory: BalancerMemory;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whether the Gateway API is installed is checked so often (ms) until it is. */
const INSTALLED_EVERY = 60_000;

/** Brings every Gateway of this controller to its load balancer, once the cluster has the Gateway API. */
export function createGatewayController(options: GatewayControllerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  return {
    async run(signal) {
      const { clock, log } = options;
      let kinds = await installedKinds(options, signal);
      while (!kinds) {
        await clock.sleep(INSTALLED_EVERY, signal);
        kinds = await installedKinds(options, signal);
      }
      log.info("the Gateway API is served", { routes: kinds.kinds.map(({ kind }) => kind).join(",") });
      await runGateways(options, kinds, signal);
    },
  };
}

/** The kinds of the Gateway API that the cluster has; undefined: it lacks Gateways or HTTPRoutes. */
export async function installedKinds(
  options: Pick<GatewayControllerOptions, "informers" | "clock" | "log">,
  signal: AbortSignal,
): Promise<Kinds | undefined> {
  const has = (type: ResourceType<KubeObject>): Promise<boolean> => isInstalled(options, type, signal);
  const served = <T extends KubeObject>(type: ResourceType<T>) => servedVersion(type, has);
  if (!(await has(Gateway)) || !(await has(HTTPRoute))) return undefined;
  const kinds: ResourceType<Route>[] = [HTTPRoute];
  for (const type of [TLSRoute, ...refusedRoutes]) kinds.push(...(await served(type)));
  const [granted] = await served(ReferenceGrant);
  return { kinds, grants: granted && options.informers.for(granted) };
}

/** The cluster has the kind, and we may read it. One that cannot be queried is queried again. */
async function isInstalled(
  { informers, clock, log }: Pick<GatewayControllerOptions, "informers" | "clock" | "log">,
  type: ResourceType<KubeObject>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await informers.client.list(type, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (isNotFound(error)) return false;
      log.warn(`${type.plural} cannot be listed`, { error: messageOf(error) });
      if (hasCode(error, "KUBERNETES_FORBIDDEN")) return false;
      await clock.sleep(INSTALLED_EVERY, signal);
    }
  }
}

/** The kind at the newest version that the cluster serves; none: it does not have the kind. */
async function servedVersion<T extends KubeObject>(
  type: ResourceType<T>,
  has: (type: ResourceType<T>) => Promise<boolean>,
): Promise<ResourceType<T>[]> {
  for (const version of VERSIONS[type.kind] ?? [type.version]) {
    const at = { ...type, version };
    if (await has(at)) return [at];
  }
  return [];
}

interface Kinds {
  readonly kinds: readonly ResourceType<Route>[];
  readonly grants: Informer<ReferenceGrant> | undefined;
}

async function runGateways(options: GatewayControllerOptions, kinds: Kinds, signal: AbortSignal): Promise<void> {
  const { informers, memory, events, metrics, clock, log } = options;
  const { client } = informers;
  const name = "gateway";
  const brake = new Brake({ clock, name, ...(metrics ? { metrics } : {}) });
  const reported = new Reported(events, clock);
  const from = gatherFrom(options, kinds, brake);
  const pipeline: Pipeline<Observed, Step, Published> = {
    gather: (key, stop) => gather(from, key, stop),
    plan,
    perform: (step, observed, stop) => perform({ client, memory, events }, step, observed, stop),
    async publish(observed, status, planned, stop) {
      reported.emit(observed.gateway, planned);
      await publish(client, observed, status, stop);
    },
    failed: (_, planned, step, error) => ({
      status: planned.status,
      events: isConflict(error) ? [] : [failureOf(step, error)],
    }),
    isRefusal,
    epochOf: ({ gateway, routes }) =>
      JSON.stringify([gateway.spec, gateway.metadata.annotations, routes.map((r) => [keyOf(r), r.spec])]),
  };
  const walk = runPipeline(pipeline, { clock, log, brake });
  await runController(
    {
      name,
      reconcile: (key, stop) =>
        key.namespace === "" ? acceptClass(from, key, { clock, kinds }, stop) : walk(key, stop),
      sources: sourcesOf(from),
      ready: (stop) => whenRead(from, stop),
      ...(metrics ? { measured: { metrics, name } } : {}),
      clock,
      log,
    },
    signal,
  );
}

/** What `gather` reads from, with the kinds of routes that the cluster serves. */
export function gatherFrom(
  { config, informers, memory }: Pick<GatewayControllerOptions, "config" | "informers" | "memory">,
  { kinds, grants }: Kinds,
  brake: Brake,
): GatherFrom {
  return {
    config,
    client: informers.client,
    gateways: informers.for(Gateway),
    classes: informers.for(GatewayClass),
    routes: kinds.map((kind) => informers.for(kind)),
    grants,
    services: informers.for(Service),
    secrets: informers.for(Secret, { fieldSelector: "type=kubernetes.io/tls" }),
    namespaces: informers.for(Namespace),
    nodes: informers.for(Node),
    pods: new PodEndpoints(informers),
    maps: new ClassMaps(informers),
    memory,
    brake,
  };
}

/** Resolves when every informer has its first list. */
export async function whenRead(from: GatherFrom, signal: AbortSignal): Promise<void> {
  const all = [from.gateways, from.classes, from.services, from.secrets, from.namespaces, from.nodes, ...from.routes];
  await Promise.all([...all, ...(from.grants ? [from.grants] : [])].map((informer) => informer.whenSynced(signal)));
}

/** A class of ours is accepted; whether its parameters are right is seen at its Gateways. */
async function acceptClass(
  { classes, client }: GatherFrom,
  key: ObjectKey,
  { clock, kinds: { kinds } }: { readonly clock: Clock; readonly kinds: Kinds },
  signal: AbortSignal,
): Promise<void> {
  const found = classes.get(key);
  if (found?.spec.controllerName !== GATEWAY_CONTROLLER) return;
  const moment = { generation: found.metadata.generation, now: clock.now() };
  const accepted = { type: "Accepted", status: "True", reason: "Accepted" } as const;
  const before = found.status?.conditions?.filter(({ type }) => type === "Accepted");
  const names = supportedFeatures(kinds.map(({ kind }) => kind));
  const conditions = setConditions(before, [accepted], moment);
  const status = { conditions, supportedFeatures: names.map((name) => ({ name })) };
  await publishStatus(client, GatewayClass, found, { status, fieldManager: FIELD_MANAGER, signal });
}
