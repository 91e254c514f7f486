import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  Brake,
  runPipeline,
  isConflict,
  keyOf,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { readAhead, type BalancerMemory } from "../balancer/gather-balancer.ts";
import { groupSources } from "../balancer/security-group/sources.ts";
import { failureOf, isRefusal } from "../balancer/refusal.ts";
import type { IngressConfig } from "../config/config.ts";
import { annotation, classOwner, describedOwner, ingressOwner } from "../names.ts";
import { Ingress, type IngressClass } from "../objects/ingress.ts";
import { memberFacts } from "../objects/nodes.ts";
import { Reported } from "../reported.ts";
import { claimOf } from "./class.ts";
import { classKey, gather, gatherFrom, isWithoutClass, serviceNames, whenRead, type GatherFrom } from "./gather.ts";
import type { Observed, Published } from "./observed.ts";
import { FIELD_MANAGER, perform } from "./perform.ts";
import { plan } from "./plan.ts";
import { isHeld } from "./plan-scope.ts";
import type { Step } from "./steps.ts";

/** What the controller of Ingresses works with. `memory` is shared with the controller of Gateways. */
export interface IngressControllerOptions {
  readonly config: IngressConfig;
  readonly informers: Informers;
  readonly memory: BalancerMemory;
  readonly events: EventRecorder;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Brings every Ingress of this controller to its load balancer, and keeps it there. */
export function createIngressController(options: IngressControllerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { informers, memory, events, metrics, clock, log } = options;
  const name = "ingress";
  const brake = new Brake({ clock, name, ...(metrics ? { metrics } : {}) });
  const reported = new Reported(events, clock);
  const from = gatherFrom(options, brake);
  const using = { client: informers.client, ingresses: from.ingresses, memory, events };
  const pipeline: Pipeline<Observed, Step, Published> = {
    gather: (key, signal) => gather(from, key, signal),
    plan,
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    async publish(observed, { address, about }, planned, signal) {
      for (const event of planned) reported.emit(about?.get(event) ?? observed.subject, [event]);
      if (address === undefined) return;
      const status = { loadBalancer: { ingress: [{ ip: address }] } };
      for (const ingress of observed.served) {
        const before = ingress.status?.loadBalancer?.ingress?.[0]?.ip;
        await publishStatus(informers.client, Ingress, ingress, { status, fieldManager: FIELD_MANAGER, signal });
        if (before === address) continue;
        const { namespace, name: of } = ingress.metadata;
        const message = `Successfully associated IP address ${address} to ingress ${namespace}/${of}`;
        events.event(ingress, { type: "Normal", reason: "Updated", message });
      }
    },
    failed: (_, planned, step, error) => ({
      status: planned.status,
      events: isConflict(error) ? [] : [failureOf(step, error)],
    }),
    isRefusal,
    epochOf: ({ served, released, class: parameters }) =>
      JSON.stringify([parameters, [...served, ...released].map((i) => [keyOf(i), i.spec, i.metadata.annotations])]),
  };
  const sources = sourcesOf(from);
  let enqueue: ((key: ObjectKey) => void) | undefined;
  const earlier: Source = (add) => {
    enqueue = add;
    return () => (enqueue = undefined);
  };
  return {
    run: (signal) =>
      runController(
        {
          name,
          reconcile: runPipeline(pipeline, { clock, log, brake }),
          sources: [...sources, earlier],
          ready: async (stop) => {
            const begun = from.ingresses.whenSynced(stop).then(() => {
              const floating = options.config.balancer.floatingNetworkId !== undefined;
              if (from.ingresses.list().some(isHeld)) readAhead(memory, floating, stop);
            });
            await Promise.all([begun, whenRead(from, stop), memory.record?.ready(stop)]);
            for (const each of memory.record?.classes ?? []) {
              if (from.classes.get(classKey(each))) continue;
              from.abandoned.add(each);
              enqueue?.(classKey(each));
            }
          },
          ...(metrics ? { measured: { metrics, name } } : {}),
          clock,
          log,
        },
        signal,
      ),
  };
}

/** What wakes the keys of Ingresses, and of classes whose Ingresses share a load balancer. */
function sourcesOf(from: GatherFrom): Source[] {
  const { ingresses, classes, services, secrets, nodes, maps, pods, abandoned } = from;
  const classNamed = (name: string): IngressClass | undefined => classes.get(classKey(name));
  const keysOf = (ingress: Ingress): ObjectKey[] => {
    const claim = claimOf(ingress, classNamed);
    const { ingressClassName } = ingress.spec;
    if (!claim && !isHeld(ingress)) return [];
    if (!claim && isWithoutClass(from, ingress) && ingressClassName !== undefined)
      return [keyOf(ingress), classKey(ingressClassName)];
    return claim?.by === "class" ? [keyOf(ingress), classKey(claim.class.metadata.name)] : [keyOf(ingress)];
  };
  const keysWhere = (test: (ingress: Ingress) => boolean): ObjectKey[] => ingresses.list().filter(test).flatMap(keysOf);
  const ofService = ({ namespace, name }: { readonly namespace?: string; readonly name: string }): ObjectKey[] =>
    keysWhere((i) => i.metadata.namespace === namespace && serviceNames(i).includes(name));
  const ofClass = (name: string): ObjectKey[] => [
    classKey(name),
    ...keysWhere(({ spec }) => spec.ingressClassName === name),
  ];
  return [
    watchInformer(ingresses, ({ object, previous }) => {
      const left = previous?.spec.ingressClassName;
      if (previous && left !== undefined && left !== object.spec.ingressClassName && isHeld(previous))
        abandoned.add(left);
      return [...keysOf(object), ...(previous ? keysOf(previous) : [])];
    }),
    watchInformer(classes, ({ object }) => ofClass(object.metadata.name)),
    (enqueue) => maps.onChange((name) => ofClass(name).forEach(enqueue)),
    watchInformer(services, ({ object: { metadata } }) => ofService(metadata)),
    (enqueue) => pods.onChange((service) => ofService(service).forEach(enqueue)),
    watchInformer(secrets, ({ object: { metadata } }) =>
      keysWhere(
        (i) =>
          i.metadata.namespace === metadata.namespace &&
          (i.spec.tls ?? []).some(({ secretName }) => secretName === metadata.name),
      ),
    ),
    watchInformer(nodes, ({ type, object, previous }) =>
      type === "updated" && previous && memberFacts(previous) === memberFacts(object) ? [] : keysWhere(() => true),
    ),
    ...cloudSources(from, keysOf),
  ];
}

/** A change in the cloud wakes the key whose load balancer it is. */
function cloudSources(
  { config, memory, ingresses, classes, abandoned }: GatherFrom,
  keysOf: (i: Ingress) => ObjectKey[],
): Source[] {
  const { watch, details, policies } = memory;
  const { clusterName } = config;
  const named = (name: string): ObjectKey[] => {
    const of = ingresses.list().filter(({ metadata }) => {
      const { name: own, namespace = "", uid = "" } = metadata;
      return name.endsWith(`_${own}`) && ingressOwner(clusterName, { name: own, namespace, uid }).name === name;
    });
    const known = new Set([
      ...classes.list().map(({ metadata }) => metadata.name),
      ...ingresses.list().flatMap(({ spec }) => spec.ingressClassName ?? []),
      ...abandoned,
    ]);
    const shared = [...known].filter((each) => classOwner(clusterName, { name: each }).name === name);
    return [...of.flatMap(keysOf), ...shared.map(classKey)];
  };
  const ofBalancers = (ids: readonly { id: string }[]): ObjectKey[] =>
    ids.flatMap(({ id }) => {
      const lb = watch.loadBalancers.get(id);
      return lb ? named(lb.name) : [];
    });
  return [
    (enqueue) => watch.loadBalancers.onChange(({ object }) => named(object.name).forEach(enqueue)),
    (enqueue) => watch.listeners.onChange(({ object }) => ofBalancers(object.loadbalancers).forEach(enqueue)),
    (enqueue) => watch.pools.onChange(({ object }) => ofBalancers(object.loadbalancers).forEach(enqueue)),
    (enqueue) =>
      watch.floatingIps.onChange(({ object, previous }) => {
        // One whose load balancer is gone has no port to find its owner by.
        const owner = describedOwner(clusterName, object.description);
        if (owner) enqueue(owner);
        // An Ingress may name one that did not exist, or that another port had.
        const names = ({ metadata }: Ingress): boolean =>
          metadata.annotations?.[annotation.floatingIp] === object.floating_ip_address;
        ingresses.list().filter(names).flatMap(keysOf).forEach(enqueue);
        for (const port of new Set([object.port_id, previous?.port_id ?? null]))
          for (const lb of port === null ? [] : watch.loadBalancers.byIndex("port", port))
            named(lb.name).forEach(enqueue);
      }),
    ...groupSources(memory, named, () => ingresses.list().flatMap(keysOf)),
    () => watch.pools.onChange(({ type, object }) => (type === "deleted" ? details.forget(object.id) : undefined)),
    () => watch.listeners.onChange(({ type, object }) => (type === "deleted" ? policies.forget(object.id) : undefined)),
  ];
}
