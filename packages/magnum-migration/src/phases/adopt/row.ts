import type { MagnumCluster } from "@causeway/api";
import type { MigrationRecord } from "../../record/record.ts";

/** What new nodes of a node group boot from: an id or a name of Glance. */
export const imageOf =
  ({ nodeImage }: Pick<MigrationRecord, "nodeImage">) =>
  ({ imageId }: { readonly imageId: string }): string =>
    nodeImage?.id ?? imageId;

/**
 * The row with the image that was named for new nodes, in each node group and for those that are made later; the row
 * itself where it has it.
 */
export function withNodeImage(
  cluster: MagnumCluster,
  { nodeImage }: Pick<MigrationRecord, "nodeImage">,
): MagnumCluster {
  const { spec } = cluster;
  const imageID = nodeImage?.id;
  const isSet = [spec.template, ...spec.nodeGroups].every((one) => one.imageID === imageID);
  if (imageID === undefined || isSet) return cluster;
  const nodeGroups = spec.nodeGroups.map((group) => ({ ...group, imageID }));
  return { ...cluster, spec: { ...spec, template: { ...spec.template, imageID }, nodeGroups } };
}
