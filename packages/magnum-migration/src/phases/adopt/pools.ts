import { MachineDeployment, MagnumCluster, type Manifest } from "@causeway/api";
import { InputError } from "@causeway/foundation";
import { appliedAnnotation, fieldManager, poolNameOf } from "@causeway/magnum-api";
import { groupImages, type GroupImage } from "../../inventory/images.ts";
import { readImages, requireImage } from "../../inventory/read-images.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";
import { imageOf } from "./row.ts";

/** Whether an object is as the Magnum API would apply it. */
export async function isApplied(
  { management }: Pick<Tools, "management">,
  { type, object }: Manifest,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace = "", name, annotations } = object.metadata;
  const found = await management.find(type, { namespace, name }, { signal });
  return found !== undefined && found.metadata.annotations?.[appliedAnnotation] === annotations?.[appliedAnnotation];
}

/** Applies an object as the Magnum API does. */
export async function apply(
  { management }: Pick<Tools, "management">,
  { type, object }: Manifest,
  signal: AbortSignal,
): Promise<void> {
  await management.apply(type, object, { fieldManager, force: true, signal });
}

/** Writes of a row what the migration decides. @throws KUBERNETES_CONFLICT it was changed since it was read */
export async function writeRow(
  { management }: Pick<Tools, "management">,
  { metadata, spec }: MagnumCluster,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = "", name, resourceVersion } = metadata;
  const { nodeGroups, template, addons, kubeletSources } = spec;
  // All node groups are written: a change of another one since must not be lost.
  const body = {
    metadata: { resourceVersion },
    spec: {
      nodeGroups,
      template: { imageID: template.imageID },
      ...(addons && { addons }),
      ...(kubeletSources && { kubeletSources }),
    },
  };
  await management.patch(MagnumCluster, { namespace, name }, { type: "merge", body }, { signal });
}

/** Of each image of new nodes, what Glance has. */
export async function readGroupImages(
  { cloud }: Pick<Tools, "cloud">,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<GroupImage[]> {
  const { groups } = record.inventory;
  const images = await readImages(cloud, groups.map(imageOf(record)), signal);
  return groupImages(groups, images, imageOf(record));
}

/**
 * The record with the image that this run is given for new nodes.
 * @throws MIGRATE_NODE_IMAGE_FIXED, and what `requireImage` throws
 */
export async function withGivenImage(
  tools: Tools,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<MigrationRecord> {
  if (tools.nodeImage === undefined) return record;
  const nodeImage = await requireImage(tools.cloud, tools.nodeImage, signal);
  if (nodeImage.id === record.nodeImage?.id) return record;
  if (await isRolling(tools, record, signal))
    throw new InputError(
      "MIGRATE_NODE_IMAGE_FIXED",
      `Nodes of cluster ${record.inventory.name} are replaced already, by those of ${record.nodeImage?.name ?? "the images that Heat's have"}`,
      { hint: "Leave --node-image out to continue, or run rollback; node groups get another image after retire." },
    );
  return { ...record, nodeImage };
}

/** Whether roll has begun with a node group. */
async function isRolling(
  { management }: Tools,
  { namespace, name, inventory }: MigrationRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const pools = await Promise.all(
    inventory.groups.map((group) =>
      management.find(MachineDeployment, { namespace, name: poolNameOf(name, group) }, { signal }),
    ),
  );
  return pools.some((pool) => pool !== undefined && pool.spec.paused !== true);
}
