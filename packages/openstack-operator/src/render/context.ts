import { createHash } from "node:crypto";
import {
  OPENSTACK_SERVICES,
  type OpenStackDeployment,
  type OpenStackDeploymentSpec,
  type OpenStackService,
} from "@causeway/api";
import { canonicalJson } from "@causeway/foundation";
import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import { TLS, tlsPortOf, type Facts } from "../config/index.ts";
import { cellOf, furtherCell } from "../model/cell.ts";
import type { Component, Placement } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { overlayOf, type ImageBuild } from "./overlay.ts";

/** Nodes with the same roles, as the deployment's specification has them. */
export type NodeGroup = OpenStackDeploymentSpec["nodeGroups"][number];

/** What objects are rendered from. */
export interface Context {
  readonly deployment: OpenStackDeployment;
  readonly facts: Facts;
  /** Immutable configuration by service, and by service and node group where that differs. */
  readonly configuration: ReadonlyMap<string, ConfigurationNames>;
  /** The Secret with the keys that a component mounts. */
  readonly keys: ReadonlyMap<string, string>;
  /** The ConfigMap with whom clients of the APIs trust, and by component the Secret with its certificate. */
  readonly tls: TlsNames | undefined;
  /** The ConfigMap with the programs that a component mounts. */
  readonly programs: ReadonlyMap<string, string>;
  readonly programTexts: Readonly<Record<string, string>>;
  /** The Secrets that are not ours, or that change in place. */
  readonly mutable: { readonly tokenKeys: string; readonly credentialKeys: string };
  /** What changes when credential keys do, and, by service, when its certificate was renewed last. */
  readonly credentialKeys: string;
  readonly certificates: Readonly<Record<string, string | undefined>>;
  /** The databases of OVN that came in place of lost ones. */
  readonly rebuilt: KnownDatabases;
  /** Databases of OVN that members have reported; undefined: none yet. */
  readonly knownDatabases: KnownDatabases | undefined;
  /** Digest of the names of compute nodes. */
  readonly computeNodes: string;
  /** The release that processes may speak with each other: the older one while an upgrade is under way. */
  readonly messagesOf: string;
}

/** OVN's northbound and its southbound database. */
export type OvnSide = "nb" | "sb";

/** The identity of each database of OVN that members have reported, for one that has lost its disk. */
export type KnownDatabases = Readonly<Partial<Record<OvnSide, string>>>;

/** A database of OVN that came in place of a lost one, and whether it is still being rebuilt. */
export interface RenderedDatabase {
  readonly database: string;
  readonly isRebuilding: boolean;
}

/** Names of the objects that pods mount for TLS. */
export interface TlsNames {
  readonly authorities: string;
  readonly pairs: ReadonlyMap<string, string>;
}

/** Names of the ConfigMap and the Secret with a service's two parts of configuration. */
export interface ConfigurationNames {
  readonly open: string;
  readonly secret: string;
}

/** Ten hexadecimal digits of the content's SHA-256; the order of fields does not matter. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 10);
}

/** The name of a component's objects: "demo-nova-api". */
export const objectName = (deployment: string, component: string): string => `${deployment}-${component}`;

/** The labels by which a component's pods are found. A selector is immutable: never add to it. */
export function selectorOf(deployment: string, component: string): Record<string, string> {
  return { [labels.deployment]: deployment, [labels.component]: component };
}

/** Metadata of an object of the deployment. It is deleted with the deployment, unless it is kept. */
export function metadataOf(
  { deployment }: Pick<Context, "deployment">,
  name: string,
  more: { readonly component?: Component; readonly keep?: true; readonly labels?: Record<string, string> } = {},
): ObjectMeta {
  const { component } = more;
  const { name: of, namespace = "", uid = "" } = deployment.metadata;
  const owner = {
    apiVersion: deployment.apiVersion,
    kind: deployment.kind,
    name: of,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    name,
    namespace,
    labels: {
      [labels.managedBy]: "causeway-openstack-operator",
      [labels.deployment]: of,
      ...(component ? { [labels.component]: component.name, [labels.service]: component.service } : {}),
      ...more.labels,
    },
    ...(more.keep ? {} : { ownerReferences: [owner] }),
  };
}

const placed: Readonly<Record<Placement, readonly NodeGroup["roles"][number][]>> = {
  Control: ["Control"],
  Compute: ["Compute"],
  Network: ["Network"],
  Host: ["Compute", "Network"],
};

/** Pods have no rights in the cluster, but for one whose component may change a Secret. */
export const serviceAccountName = (deployment: string, { name, writesSecret }: Component): string =>
  writesSecret === undefined ? deployment : objectName(deployment, name);

/** The groups whose nodes run a component. */
export function groupsOf({ nodeGroups }: OpenStackDeploymentSpec, component: Component): NodeGroup[] {
  const { placement, cell } = component;
  const isInCell = (group: NodeGroup) => placement !== "Compute" || cell === undefined || cellOf(group) === cell;
  return nodeGroups.filter((group) => placed[placement].some((role) => group.roles.includes(role)) && isInCell(group));
}

/** The groups whose nodes run servers, of all cells. */
export const computeGroups = ({ nodeGroups }: OpenStackDeploymentSpec): NodeGroup[] =>
  nodeGroups.filter(({ roles }) => roles.includes("Compute"));

/**
 * The administrator's own image of a service is that of all its components, but not of Jobs that run with another
 * service's: the client of the database is in the database's. `isOwn`: it is the image of the component itself. Where
 * its service has more packages, the image is one that was built with them.
 */
export function imageOf(spec: OpenStackDeploymentSpec, component: Component, isOwn = true): string {
  return (isOwn ? imageBuildOf(spec, component)?.image : undefined) ?? baseImageOf(spec, component, isOwn);
}

function baseImageOf(spec: OpenStackDeploymentSpec, component: Component, isOwn: boolean): string {
  const own = isOwn && overrideOf(spec, component)?.image;
  return own || `${repositoryOf(spec, component)}:${spec.release}`;
}

const repositoryOf = ({ registry }: OpenStackDeploymentSpec, { image }: Component): string =>
  `${registry ?? "registry.example.org/openstack"}/${image}`;

/** What the specification says of the service whose image a component has. */
function overrideOf({ services }: OpenStackDeploymentSpec, { service, image }: Component) {
  const from = OPENSTACK_SERVICES.find((name) => name === image) ?? service;
  return services?.find(({ name }) => name === from);
}

/** The build of a component's image; undefined: it is used as it is. */
export function imageBuildOf(spec: OpenStackDeploymentSpec, component: Component): ImageBuild | undefined {
  const { packages = [] } = overrideOf(spec, component) ?? {};
  if (packages.length === 0) return undefined;
  const base = baseImageOf(spec, component, true);
  // Next to the image that it extends: pods may get images from no other registry.
  const own = overrideOf(spec, component)?.image;
  const repository = own ? own.replace(/@.*$/, "").replace(/:[^/:]*$/, "") : repositoryOf(spec, component);
  return overlayOf(packages, { base, repository, tag: spec.release });
}

/** The program that makes each line of a container's log one JSON object. It is process 1, of Python's own library. */
export const LINES = "lines.py";
/** The command with `LINES` around it. */
export const underLines = (component: Component, command: readonly string[]): string[] => [
  "/usr/bin/python3",
  "-IS",
  `/programs/${LINES}`,
  component.name,
  ...command,
];

/** The program in front of uWSGI's workers, which serves TLS where there is any, and reads requests before them. */
export const FRONT = "front.py";
/** Its part that asks the database of its service whether it responds. */
export const DATABASE_WATCH = "database_watch.py";
/** Where uWSGI listens behind it. */
const BEHIND = "/tmp/api.sock";

/** What a component runs in the deployment's release. */
export function commandOf(spec: OpenStackDeploymentSpec, component: Component): readonly string[] {
  const command = plainCommand(spec, component);
  if (!hasFront(spec, component)) return command;
  const at = command.indexOf(HTTP);
  const port = command[at + 1]?.replace(/^:/, "") ?? "";
  const isTls = spec.tls !== undefined && tlsPortOf(component) !== undefined;
  const pair = isTls ? [TLS.certificate, TLS.key] : ["-", "-"];
  const front = ["/usr/bin/python3", "-IS", `/programs/${FRONT}`, port, ...pair];
  return [...front, ...command.slice(0, at), "--socket", BEHIND, ...command.slice(at + 2)];
}

/** Does a component run under uWSGI? */
export const hasFront = (spec: OpenStackDeploymentSpec, component: Component): boolean =>
  plainCommand(spec, component).includes(HTTP);

const HTTP = "--http-socket";

const plainCommand = ({ release }: OpenStackDeploymentSpec, { command, earlier }: Component): readonly string[] =>
  earlier && release < earlier.before ? earlier.command : command;

/** Where the configuration of a service is, on the nodes of a group, as one component has it or as all others do. */
export const configurationKey = (service: OpenStackService, group = "", component?: Component): string =>
  `${service}/${group}/${(component && ownConfiguration(component)) ?? ""}`;

/** What is in the names of a configuration that is one component's, or one cell's; undefined: all others have it. */
export function ownConfiguration(component: Component): string | undefined {
  const cell = furtherCell(component);
  return component.lacks !== undefined ? `of-${component.name}` : cell === undefined ? undefined : `in-${cell}`;
}

/** The configuration of a service that a component reads on the nodes of a group. */
export function configurationOf(
  { configuration }: Context,
  { service, group, component }: { service: OpenStackService; group?: string | undefined; component: Component },
): ConfigurationNames | undefined {
  return (
    configuration.get(configurationKey(service, group, component)) ??
    configuration.get(configurationKey(service, "", component))
  );
}

/** An object whose type the client needs. */
export interface Rendered<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** Component that it belongs to; undefined: to the deployment as a whole. */
  readonly component?: string;
}
