import { isDeepStrictEqual } from "node:util";
import { keyOf, watchInformer, type ObjectKey, type Source } from "@causeway/kubernetes";
import { groupSources } from "../balancer/security-group/sources.ts";
import { memberFacts } from "../objects/nodes.ts";
import type { GatherFrom } from "./gather.ts";
import { idOf, ReferenceIndex, word } from "./reference-index.ts";
import { gatewayReferences, parentKeys, routeReferences } from "./references-of.ts";
import type { Gateway, Route } from "../objects/gateway.ts";

/** What wakes Gateways and classes: of objects in the cluster those that refer to them, by an index. */
export function sourcesOf(from: GatherFrom): Source[] {
  const { gateways, classes, routes, grants, services, secrets, namespaces, nodes, pods, maps, memory, config } = from;
  const ofRoutes = new ReferenceIndex<Route>(routeReferences);
  const ofGateways = new ReferenceIndex<Gateway>((gateway) => gatewayReferences(config.clusterName, gateway));
  const every = (): ObjectKey[] => gateways.list().map(keyOf);
  const named = (text: string): ObjectKey[] => ofGateways.of(text).map(keyOf);
  const served = (text: string): ObjectKey[] => ofRoutes.of(text).flatMap(parentKeys);
  const ofClass = (name: string): ObjectKey[] => named(word("GatewayClass", { namespace: "", name }));
  const granted = (namespace = ""): ObjectKey[] => {
    const text = word("Grants", { namespace, name: "" });
    return [...named(text), ...served(text)];
  };
  return [
    watchInformer(gateways, ({ type, object }) => {
      ofGateways.set(idOf(object), type === "deleted" ? undefined : object);
      return [keyOf(object)];
    }),
    watchInformer(classes, ({ object: { metadata } }) => [
      { namespace: "", name: metadata.name },
      ...ofClass(metadata.name),
    ]),
    (enqueue) => maps.onChange((name) => ofClass(name).forEach(enqueue)),
    ...routes.map((informer) =>
      watchInformer(informer, ({ type, object, previous }) => {
        ofRoutes.set(idOf(object), type === "deleted" ? undefined : object);
        return [...parentKeys(object), ...(previous ? parentKeys(previous) : [])];
      }),
    ),
    ...(grants ? [watchInformer(grants, ({ object }) => granted(object.metadata.namespace))] : []),
    watchInformer(services, ({ type, object, previous }) =>
      type === "updated" && previous && isDeepStrictEqual(previous.spec, object.spec)
        ? []
        : served(word("Service", keyOf(object))),
    ),
    (enqueue) => pods.onChange((key) => served(word("Service", key)).forEach(enqueue)),
    watchInformer(secrets, ({ object }) => named(word("Secret", keyOf(object)))),
    // Listeners select routes by the labels of their namespaces.
    watchInformer(namespaces, ({ type, object, previous }) =>
      type === "updated" && previous && isDeepStrictEqual(previous.metadata.labels, object.metadata.labels)
        ? []
        : served(word("Namespace", { namespace: "", name: object.metadata.name })),
    ),
    watchInformer(nodes, ({ type, object, previous }) =>
      type === "updated" && previous && memberFacts(previous) === memberFacts(object) ? [] : every(),
    ),
    ...cloudSources(from, named),
    ...groupSources(memory, (name) => named(`Balancer ${name}`), every),
  ];
}

/** A change in the cloud wakes the Gateway whose load balancer or address it is. */
function cloudSources({ memory: { watch } }: GatherFrom, named: (text: string) => ObjectKey[]): Source[] {
  const ofBalancer = (name: string): ObjectKey[] => named(`Balancer ${name}`);
  const ofParts = (ids: readonly { id: string }[]): ObjectKey[] =>
    ids.flatMap(({ id }) => ofBalancer(watch.loadBalancers.get(id)?.name ?? ""));
  return [
    (enqueue) => watch.loadBalancers.onChange(({ object }) => ofBalancer(object.name).forEach(enqueue)),
    (enqueue) => watch.listeners.onChange(({ object }) => ofParts(object.loadbalancers).forEach(enqueue)),
    (enqueue) => watch.pools.onChange(({ object }) => ofParts(object.loadbalancers).forEach(enqueue)),
    (enqueue) =>
      watch.floatingIps.onChange(({ object, previous }) => {
        const ports = [object.port_id, previous?.port_id ?? null].flatMap((port) => port ?? []);
        const balancers = ports.flatMap((port) => watch.loadBalancers.byIndex("port", port));
        const keys = [
          ...named(`Description ${object.description}`),
          ...named(`Address ${object.floating_ip_address}`),
          ...balancers.flatMap(({ name }) => ofBalancer(name)),
        ];
        keys.forEach(enqueue);
      }),
  ];
}
