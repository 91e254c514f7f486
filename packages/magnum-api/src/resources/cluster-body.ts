import type { MagnumCluster, MagnumClusterSpec, MagnumClusterTemplate, MagnumTemplateAttributes } from "@causeway/api";
import { RUN_KUBERNETES, SERVED_KUBERNETES } from "@causeway/api";
import { timestamp } from "@causeway/kubernetes";
import { labelSettings, refusedLabel } from "../cluster/labels.ts";
import { magnumLabels, objectNameOf } from "../cluster/names.ts";
import { refusedNetworks } from "../cluster/networks.ts";
import type { Api, Call } from "../call/call.ts";
import { invalid } from "../wire/error.ts";
import type { Fields, Values } from "../wire/fields.ts";
import { requireMasters } from "./master-count.ts";
import { randomName } from "./random-name.ts";

const name = { type: "text", min: 1, max: 255 } as const;
const given = { type: "text", readonly: true } as const;

/** Attributes of a cluster's body. What only responses have is accepted and not read. */
export const clusterFields: Fields = {
  uuid: given,
  name: { type: "text", min: 1, max: 242, pattern: "^[a-zA-Z][a-zA-Z0-9_.-]*$" },
  cluster_template_id: { type: "text", mandatory: true, max: 255 },
  keypair: name,
  node_count: { type: "int", min: 0, max: 10_000 },
  master_count: { type: "int", min: 1 },
  docker_volume_size: { type: "int", min: 1 },
  labels: { type: "labels" },
  master_flavor_id: name,
  flavor_id: name,
  create_timeout: { type: "int", min: 0 },
  discovery_url: { type: "text", max: 1024 },
  fixed_network: name,
  fixed_subnet: name,
  floating_ip_enabled: { type: "bool" },
  master_lb_enabled: { type: "bool" },
  merge_labels: { type: "bool" },
  ...Object.fromEntries(
    [
      "links",
      "stack_id",
      "cluster_id",
      "status",
      "status_reason",
      "health_status",
      "health_status_reason",
      "api_address",
      "coe_version",
      "container_version",
      "project_id",
      "user_id",
      "node_addresses",
      "master_addresses",
      "faults",
      "labels_overridden",
      "labels_added",
      "labels_skipped",
      "created_at",
      "updated_at",
    ].map((each) => [each, given]),
  ),
};

/** Of attributes that a body or, after an operation "remove", a patch leaves out. */
export const defaultsOfCluster = { node_count: 1, master_count: 1, create_timeout: 60 } as const;

/** Horizon sends an empty text for what was not filled in. */
export function withoutEmpty(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== "" && value !== null));
}

/** The version that labels name, or the default, whether or not it is served. */
export function wantedVersion(api: Pick<Api, "defaultVersion">, labels: Readonly<Record<string, string>>): string {
  return labelSettings(labels).version ?? api.defaultVersion;
}

/**
 * The version that labels name, or the default; `runtime`: of the control plane. @throws MagnumError 400 for one that
 * no control plane here serves
 */
export function versionOf(
  api: Pick<Api, "defaultVersion" | "runtime">,
  labels: Readonly<Record<string, string>>,
  runtime: Api["runtime"] = api.runtime,
): string {
  const version = wantedVersion(api, labels);
  const minors = runtime === "Process" || runtime === "Pods" ? RUN_KUBERNETES : SERVED_KUBERNETES;
  if (minors.some((minor) => version.startsWith(`${minor}.`))) return version;
  const served = minors.map((minor) => `${minor}.x`).join(", ");
  // Clients print an error up to the end of its first sentence.
  throw invalid(`The version of Kubernetes is not served: label kube_tag=${version}; served: ${served}.`);
}

/** The object of a new cluster. @throws MagnumError 400 */
export function newCluster(api: Api, call: Call, values: Values, template: MagnumClusterTemplate): MagnumCluster {
  const { template: base } = template.spec;
  const labels = labelsOf(api, values, base);
  requireTls(template);
  const version = versionOf(api, labels);
  const masters = mastersOf(values, base);
  const fixed = fixedOf(values, base);
  if (labelSettings(labels).access.length > 0 && fixed.fixedNetwork !== undefined)
    throw invalid(
      "An access list of the API is not supported with fixed_network: the address by which its nodes reach the API is not known.",
    );
  const nodeCount = (values["node_count"] as number | undefined) ?? defaultsOfCluster.node_count;
  const unfit = refusedNetworks({ labels, isFixed: fixed.fixedNetwork !== undefined, nodes: nodeCount });
  if (unfit !== undefined) throw invalid(unfit);
  const [uuid, masterUUID, workerUUID] = [api.newId(), api.newId(), api.newId()];
  const clusterName = (values["name"] as string | undefined) ?? `${randomName()}-cluster`;
  const now = timestamp(api.clock.now());
  const flavorID = (values["flavor_id"] ?? base.flavorID) as string | undefined;
  const size = (values["docker_volume_size"] ?? base.dockerVolumeSize) as number | undefined;
  const { autoscaling } = labelSettings(labels);
  const spec: MagnumClusterSpec = {
    uuid,
    name: clusterName,
    projectID: call.caller.projectId,
    userID: call.caller.userId,
    templateUUID: template.spec.uuid,
    template: base,
    version,
    ...masters,
    masterUUID,
    labels,
    addons: "Managed",
    nodeProxies: true,
    nodeRegistry: true,
    createTimeout: (values["create_timeout"] as number | undefined) ?? defaultsOfCluster.create_timeout,
    floatingIPEnabled: (values["floating_ip_enabled"] as boolean | undefined) ?? base.floatingIPEnabled,
    ...defined({
      keypair: values["keypair"] ?? base.keypairID,
      masterFlavorID: values["master_flavor_id"] ?? base.masterFlavorID,
      flavorID,
      dockerVolumeSize: size,
      discoveryURL: values["discovery_url"],
      ...fixed,
    }),
    nodeGroups: [
      {
        uuid: workerUUID,
        name: "default-worker",
        role: "worker",
        isDefault: true,
        imageID: base.imageID,
        nodeCount,
        minNodeCount: autoscaling?.min ?? 0,
        labels,
        version,
        createdAt: now,
        ...defined({ flavorID, dockerVolumeSize: size, maxNodeCount: autoscaling?.max }),
      },
    ],
  };
  return {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: { name: objectNameOf(clusterName, uuid), labels: { [magnumLabels.uuid]: uuid } },
    spec,
  };
}

type Labels = Readonly<Record<string, string>>;

/** @throws MagnumError 400 */
function labelsOf({ support }: Api, values: Values, { labels: parent = {} }: MagnumTemplateAttributes): Labels {
  const own = (values["labels"] ?? {}) as Labels;
  const isGiven = Object.keys(own).length > 0;
  const labels = !isGiven ? parent : values["merge_labels"] === true ? { ...parent, ...own } : own;
  const refused = refusedLabel(labels, support);
  if (refused !== undefined) throw invalid(refused);
  return labels;
}

/** @throws MagnumError 400 */
function mastersOf(
  values: Values,
  base: MagnumTemplateAttributes,
): Pick<MagnumClusterSpec, "masterCount" | "masterLBEnabled"> {
  const masterCount = (values["master_count"] as number | undefined) ?? defaultsOfCluster.master_count;
  const masterLBEnabled = (values["master_lb_enabled"] as boolean | undefined) ?? base.masterLBEnabled;
  requireMasters(masterCount, masterLBEnabled);
  return { masterCount, masterLBEnabled };
}

/** @throws MagnumError 400 */
function fixedOf(values: Values, base: MagnumTemplateAttributes): { fixedNetwork: unknown; fixedSubnet: unknown } {
  const fixedNetwork = values["fixed_network"] ?? base.fixedNetwork;
  const fixedSubnet = values["fixed_subnet"] ?? base.fixedSubnet;
  if (fixedSubnet !== undefined && fixedNetwork === undefined)
    throw invalid("fixed_subnet needs fixed_network: without it a network is created for the cluster.");
  return { fixedNetwork, fixedSubnet };
}

/** Templates may say what Magnum's may, and clients write them so. @throws MagnumError 400 for a cluster without TLS */
export function requireTls({ spec }: MagnumClusterTemplate): void {
  if (!spec.template.tlsDisabled) return;
  throw invalid(
    `The template ${spec.name} has tls_disabled=True, which is not supported: the API of a cluster is always served with TLS.`,
  );
}

function defined<T extends Readonly<Record<string, unknown>>>(entries: T): { [K in keyof T]?: never } {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: never;
  };
}
