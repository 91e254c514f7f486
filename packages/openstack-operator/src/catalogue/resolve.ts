import { OPENSTACK_SERVICES, type OpenStackDeploymentSpec, type OpenStackService } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { graphOf, needsOf, type Graph } from "../graph/graph.ts";
import { plainName } from "../model/cell.ts";
import type { BackendOperator, Component } from "../model/component.ts";
import { allComponents, defaultServices } from "./all.ts";
import { backupJobs } from "./backup.ts";
import { canaryComponents } from "./canary.ts";
import { withCells } from "./cells.ts";
import { brokerCluster, databaseCluster } from "./backends.ts";
import { fabricComponents } from "./fabric.ts";

/** A database or broker that the operator does not run. */
export interface ExternalBackend {
  readonly host: string;
  readonly port: number;
  readonly credentials: string;
}

/** The components of one deployment, in their order, and where its backends are. */
export interface Catalogue {
  readonly components: readonly Component[];
  readonly graph: Graph;
  readonly services: ReadonlySet<OpenStackService>;
  /** The component, or the external server, that a service uses. */
  readonly databases: ReadonlyMap<OpenStackService, string | ExternalBackend>;
  readonly brokers: ReadonlyMap<OpenStackService, string | ExternalBackend>;
}

/**
 * Chooses the components that a specification asks for.
 * @throws OPENSTACK_DEPENDENCY_CYCLE, OPENSTACK_SERVICE_MISSING, OPENSTACK_SEGMENT_UNREACHABLE, OPENSTACK_CELL_UNKNOWN
 */
export function resolveCatalogue(spec: OpenStackDeploymentSpec): Catalogue {
  const services = enabled(spec);
  const databases = backendsOf(spec, "database");
  const brokers = backendsOf(spec, "broker");
  const ownOnes = allComponents.filter(
    ({ service, since = spec.release }) =>
      services.has(service) && service !== "mariadb" && service !== "rabbitmq" && since <= spec.release,
  );
  const chosen = [
    ...ownClusters(services, databases, databaseCluster),
    ...ownClusters(services, brokers, brokerCluster),
    ...withCells(ownOnes, spec),
  ];
  if (services.has("ovn")) chosen.push(...fabricComponents(spec, services.has("neutron")));
  refuseUnreachable(spec);
  if (spec.canary) chosen.push(...canaryComponents);
  if (spec.backup) chosen.push(...backupJobs(chosen));
  const names = new Set(chosen.map(({ name }) => name));
  const startAfter = new Map((spec.services ?? []).map((each) => [each.name, each.startAfter ?? []]));
  const components = chosen.map((component) => resolved(component, { names, databases, brokers, startAfter }));
  for (const component of components) refuseMissing(component, names);
  return { components, graph: graphOf(components), services, databases, brokers };
}

/** The catalogue with these clusters run by operators of others. */
export function withOperators(catalogue: Catalogue, operators: Readonly<Record<string, BackendOperator>>) {
  if (Object.keys(operators).length === 0) return catalogue;
  const components = catalogue.components.map((component): Component => {
    const operator = operators[component.name];
    return operator === undefined ? component : { ...component, kind: "External", operator };
  });
  return { ...catalogue, components, graph: graphOf(components) };
}

/** What each component of a deployment needs before it starts. */
export const dependenciesOf = (spec: OpenStackDeploymentSpec): Graph["needs"] => resolveCatalogue(spec).graph.needs;

function enabled(spec: OpenStackDeploymentSpec): ReadonlySet<OpenStackService> {
  const services = new Set<OpenStackService>(defaultServices);
  for (const each of spec.services ?? []) {
    if (each.enabled === false) services.delete(each.name);
    else services.add(each.name);
  }
  return services;
}

type Backends = ReadonlyMap<OpenStackService, string | ExternalBackend>;

function backendsOf(spec: OpenStackDeploymentSpec, kind: "database" | "broker"): Backends {
  const shared = kind === "database" ? "mariadb" : "rabbitmq";
  const externals = (kind === "database" ? spec.externalDatabases : spec.externalBrokers) ?? [];
  const isLarge = kind === "broker" && (spec.size === "Medium" || spec.size === "Large");
  const found = new Map<OpenStackService, string | ExternalBackend>();
  for (const service of OPENSTACK_SERVICES) {
    const external = externals.find(({ services }) => services === undefined || services.includes(service));
    const own = spec.services?.find(({ name }) => name === service)?.[kind];
    // From fifty compute nodes on, Nova and Neutron have brokers of their own.
    const isOwn = own === "Own" || (own === undefined && isLarge && (service === "nova" || service === "neutron"));
    found.set(service, external ? externalOf(external, kind) : isOwn ? `${shared}-${service}` : shared);
  }
  return found;
}

function externalOf(
  external: NonNullable<OpenStackDeploymentSpec["externalDatabases"]>[number],
  kind: "database" | "broker",
): ExternalBackend {
  const { host, port = kind === "database" ? 3306 : 5672, credentials } = external;
  return { host, port, credentials: credentials.name };
}

/** The clusters that are used by at least one service that is deployed. */
function ownClusters(
  services: ReadonlySet<OpenStackService>,
  backends: Backends,
  make: (owner?: OpenStackService) => Component,
): Component[] {
  const shared = make();
  const used = [...backends].filter(([service, to]) => services.has(service) && typeof to === "string");
  const own = used.filter(([, to]) => to !== shared.name).map(([service]) => make(service));
  return used.some(([, to]) => to === shared.name) ? [shared, ...own] : own;
}

interface Resolution {
  readonly names: ReadonlySet<string>;
  readonly databases: Backends;
  readonly brokers: Backends;
  readonly startAfter: ReadonlyMap<OpenStackService, readonly string[]>;
}

/** The component with real names in place of "the database of this service". */
function resolved(component: Component, { names, databases, brokers, startAfter }: Resolution): Component {
  const connections = (component.connections ?? []).flatMap((connection) => {
    const [kind, of] = connection.to.split(":");
    if (of === undefined) return connection.needed || names.has(connection.to) ? [connection] : [];
    const backend = (kind === "database" ? databases : brokers).get(of as OpenStackService);
    return typeof backend === "string" ? [{ ...connection, to: backend }] : [];
  });
  const isDone = component.kind === "Job" && plainName(component).endsWith("-init");
  const more = isDone ? [] : (startAfter.get(component.service) ?? []).filter((name) => name !== component.name);
  // Other drivers than libvirt's need no libvirt: without it nothing waits for its socket.
  const sameNode = component.sameNode?.filter(({ component: name }) => name !== "libvirt" || names.has(name));
  return { ...component, connections, ...(sameNode ? { sameNode } : {}), after: [...(component.after ?? []), ...more] };
}

/** A segment whose rack no node is in would have no port. */
function refuseUnreachable({ network, nodeGroups }: OpenStackDeploymentSpec): void {
  const known = new Set(nodeGroups.flatMap((group) => (group.physicalNetworks ?? []).map(({ name }) => name)));
  for (const { name, segments } of network?.providerNetworks ?? []) {
    const missing = segments.find(({ physicalNetwork }) => !known.has(physicalNetwork));
    if (missing)
      throw new CausewayError(
        "OPENSTACK_SEGMENT_UNREACHABLE",
        `network ${name} has a segment on ${missing.physicalNetwork}, which no group of nodes reaches`,
        { hint: "Add the physical network to physicalNetworks of the rack's entry of spec.nodeGroups." },
      );
  }
}

function refuseMissing(component: Component, names: ReadonlySet<string>): void {
  const missing = needsOf(component).filter((name) => !names.has(name));
  if (missing.length === 0) return;
  throw new CausewayError("OPENSTACK_SERVICE_MISSING", `${component.name} needs ${missing.join(", ")}, not deployed`, {
    hint: "Enable the service of these components in spec.services, or disable the one that needs them.",
  });
}
