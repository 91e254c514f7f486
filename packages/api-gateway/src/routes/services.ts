import type { Log } from "@causeway/foundation";
import { Service, type Informers } from "@causeway/kubernetes";
import type { Route, Routes } from "./routes.ts";

/**
 * On a tenant's Service kube-apiserver: the server name that leads to it. Only the operator's controller writes these.
 */
export const serverNameAnnotation = "controlplane.causeway.dev/server-name";

/** On the same Service, "true": no API server runs behind it, since its owner requested none. */
export const hibernatedAnnotation = "controlplane.causeway.dev/hibernated";

/** Of the Services of API servers. */
const SELECTOR =
  "app.kubernetes.io/managed-by=causeway-hosted-control-plane,app.kubernetes.io/component=kube-apiserver";

/**
 * Routes to the Services of API servers in the cluster of the informers. Of two Services with one server name the older
 * one has it.
 */
export function serviceRoutes(informers: Informers, log: Log): Routes & { close(): void } {
  const services = informers.for(Service, { labelSelector: SELECTOR });
  const names = new Map<string, Service[]>();
  const close = services.onChange(({ type, object }) => {
    for (const [name, known] of names) {
      const others = known.filter((each) => !isSame(each, object));
      if (others.length === 0) names.delete(name);
      else names.set(name, others);
    }
    const name = object.metadata.annotations?.[serverNameAnnotation]?.toLowerCase();
    if (type === "deleted" || name === undefined) return;
    const claims = [...(names.get(name) ?? []), object].toSorted(older);
    names.set(name, claims);
    if (claims.length > 1) {
      const all = claims.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      log.warn("several Services have one server name; the oldest one is used", { serverName: name, services: all });
    }
  });
  return {
    find: (serverName) => routeOf(names.get(serverName)?.[0]),
    get ready() {
      return services.synced;
    },
    close,
  };
}

function isSame(a: Service, b: Service): boolean {
  return a.metadata.namespace === b.metadata.namespace && a.metadata.name === b.metadata.name;
}

function older(a: Service, b: Service): number {
  const key = ({ metadata }: Service): string => `${metadata.creationTimestamp} ${metadata.uid}`;
  return key(a) < key(b) ? -1 : 1;
}

/** Undefined: the Service has no address yet. */
function routeOf(service: Service | undefined): Route | undefined {
  const { clusterIP, ports = [] } = service?.spec ?? {};
  const port = ports.find(({ name }) => name === "api")?.port;
  const tenant = service?.metadata.namespace;
  if (tenant === undefined || port === undefined) return undefined;
  if (clusterIP === undefined || clusterIP === "" || clusterIP === "None") return undefined;
  const isHibernated = service?.metadata.annotations?.[hibernatedAnnotation] === "true";
  return { tenant, host: clusterIP, port, ...(isHibernated ? { isHibernated } : {}) };
}
