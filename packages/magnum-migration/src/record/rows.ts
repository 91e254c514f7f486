import {
  MagnumCluster,
  MagnumClusterTemplate,
  type MagnumClusterSpec,
  type MagnumTemplateAttributes,
} from "@causeway/api";
import {
  isUuid,
  magnumLabels,
  migratingAnnotation,
  namespaceOf,
  renderMigrating,
  templateAttributes,
} from "@causeway/magnum-api";
import type { Inventory, NodeGroup } from "../inventory/model.ts";
import type { MigrationRecord } from "./record.ts";

type Json = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const count = (value: unknown, least = 1): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= least ? value : undefined;
const set = <K extends string, V>(key: K, value: V | undefined | null) =>
  (value === undefined || value === null ? {} : { [key]: value }) as { [P in K]?: V };

/** The cluster as the Magnum API keeps it: the same uuid and name, and every attribute that its users see. */
export function magnumClusterOf(
  { namespace, name, inventory }: Pick<MigrationRecord, "namespace" | "name" | "inventory">,
  phase: "discover" | "import",
  now: string,
): MagnumCluster {
  const { template, masters, attributes = {} } = inventory;
  const floating = attributes["floating_ip_enabled"] ?? template["floating_ip_enabled"];
  const spec: MagnumClusterSpec = {
    uuid: inventory.uuid,
    name: inventory.name,
    projectID: inventory.projectId,
    userID: inventory.userId || "unknown",
    templateUUID: inventory.templateId,
    template: templateOf(template),
    version: inventory.version || "unknown",
    ...set("keypair", inventory.keypair),
    masterCount: Math.max(1, masters.length),
    masterUUID: isUuid(inventory.masterUuid) ? inventory.masterUuid : inventory.uuid,
    ...set("masterFlavorID", inventory.masterFlavorId),
    ...set("flavorID", inventory.groups.find(({ isDefault }) => isDefault)?.flavorId),
    ...set("dockerVolumeSize", count(attributes["docker_volume_size"])),
    ...set("discoveryURL", text(attributes["discovery_url"])?.slice(0, 1_024)),
    labels: { ...inventory.labels },
    // 0 is no limit.
    createTimeout: count(attributes["create_timeout"], 0) ?? 60,
    ...networkOf(inventory, attributes),
    floatingIPEnabled: floating !== false,
    masterLBEnabled: attributes["master_lb_enabled"] !== false,
    // They were installed by its own Magnum, and belong to its users.
    addons: "Own",
    nodeProxies: true,
    nodeRegistry: true,
    // The labels themselves remain as users see them.
    driverDefaults: true,
    nodeGroups: inventory.groups.map((group) => nodeGroupOf(inventory, group, now)),
  };
  return {
    apiVersion: `${MagnumCluster.group}/${MagnumCluster.version}`,
    kind: MagnumCluster.kind,
    metadata: {
      namespace,
      name,
      labels: { [magnumLabels.uuid]: inventory.uuid },
      annotations: {
        [migratingAnnotation]: renderMigrating({ phase, state: phase === "discover" ? "Done" : "Running", at: now }),
      },
    },
    spec,
  };
}

/** A network that the user named keeps its name; what Heat made is named by its id. */
function networkOf(
  { networkId, subnetId }: Inventory,
  attributes: Json,
): Pick<MagnumClusterSpec, "fixedNetwork" | "fixedSubnet"> {
  const [network, subnet] = [text(attributes["fixed_network"]), text(attributes["fixed_subnet"])];
  return {
    ...set("fixedNetwork", network ?? text(networkId)),
    ...set("fixedSubnet", (network === undefined ? undefined : subnet) ?? text(subnetId)),
  };
}

/**
 * The template that the cluster was made from, under its own uuid: clients read it for a kubeconfig, Terraform for its
 * plan.
 */
export function magnumTemplateOf({ templateId, template, projectId, userId }: Inventory): MagnumClusterTemplate {
  const project = text(template["project_id"]) ?? projectId;
  return {
    apiVersion: `${MagnumClusterTemplate.group}/${MagnumClusterTemplate.version}`,
    kind: MagnumClusterTemplate.kind,
    metadata: {
      namespace: namespaceOf(project),
      name: templateId,
      labels: { [magnumLabels.uuid]: templateId },
    },
    spec: {
      uuid: templateId,
      name: text(template["name"]) ?? templateId,
      projectID: project,
      userID: text(template["user_id"]) ?? (userId || "unknown"),
      template: templateOf(template),
    },
  };
}

function templateOf(template: Json): MagnumTemplateAttributes {
  const given = Object.entries(template).filter(([, value]) => value !== "" && value !== null);
  const labels = template["labels"];
  const texts =
    typeof labels === "object" && labels !== null ? Object.entries(labels).map(([key, one]) => [key, String(one)]) : [];
  return templateAttributes({
    ...Object.fromEntries(given),
    image_id: text(template["image_id"]) ?? "unknown",
    labels: Object.fromEntries(texts) as Json,
  });
}

function nodeGroupOf(inventory: Inventory, group: NodeGroup, now: string): MagnumClusterSpec["nodeGroups"][number] {
  return {
    uuid: group.uuid,
    name: group.name,
    role: group.role,
    isDefault: group.isDefault,
    ...set("flavorID", group.flavorId),
    imageID: group.imageId,
    nodeCount: group.nodeCount,
    minNodeCount: group.minNodeCount,
    ...set("maxNodeCount", group.maxNodeCount),
    ...set("dockerVolumeSize", group.dockerVolumeSize),
    labels: { ...group.labels },
    version: inventory.version || "unknown",
    createdAt: now,
  };
}
