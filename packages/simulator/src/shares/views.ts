import type { JsonObject } from "../kernel/json.ts";
import { locationsOf, pool } from "./rules/export-locations.ts";
import { linksOf, placeOf, supportOf, typeId } from "./model.ts";
import type { Share, ShareContext, ShareNetwork, ShareSnapshot, ShareSubnet } from "./model.ts";

/** A share in the form of its version: fields come with their microversions. */
export function shareView(c: ShareContext, share: Share): JsonObject {
  const minor = c.get("minor");
  const { type = { id: typeId, name: "default" } } = share;
  const from = (least: number, fields: object) => (minor >= least ? fields : {});
  const place = placeOf(share);
  const paths = locationsOf(share).map(({ path }) => path);
  const supports = supportOf(share);
  return {
    id: share.id,
    size: share.status === "manage_starting" ? null : share.size,
    availability_zone: place === "none" ? null : "nova",
    created_at: share.created_at,
    status: share.status,
    name: share.name,
    description: share.description,
    project_id: share.project_id,
    snapshot_id: share.snapshot_id,
    share_network_id: share.share_network_id,
    share_proto: share.share_proto,
    metadata: share.metadata,
    volume_type: type.name,
    share_type: minor >= 6 ? type.id : type.name,
    is_public: share.is_public,
    links: linksOf(c, "shares", share.id),
    ...(minor < 9 ? { export_location: paths[0] ?? null, export_locations: paths } : {}),
    ...from(2, { snapshot_support: supports.snapshot_support }),
    ...from(5, { task_state: null }),
    ...from(6, { share_type_name: type.name }),
    ...from(10, { access_rules_status: "active" }),
    ...from(11, { replication_type: null, has_replicas: false }),
    ...from(16, { user_id: share.user_id }),
    ...from(24, { create_share_from_snapshot_support: supports.create_share_from_snapshot_support }),
    ...from(27, { revert_to_snapshot_support: supports.revert_to_snapshot_support }),
    ...from(31, { share_group_id: null, source_share_group_snapshot_member_id: null }),
    ...from(32, { mount_snapshot_support: supports.mount_snapshot_support }),
    ...from(54, { progress: place === "exported" && share.managed !== true ? "100%" : null }),
    ...from(69, { is_soft_deleted: false, scheduled_to_be_deleted_at: null }),
    ...(c.get("caller").isAdmin
      ? { share_server_id: null, host: place === "none" && share.managed !== true ? "" : pool }
      : {}),
  };
}

/** A share or snapshot in a list without details. */
export const briefView = (
  c: ShareContext,
  kind: string,
  object: { readonly id: string; readonly name: string | null },
): JsonObject => ({
  id: object.id,
  name: object.name,
  links: linksOf(c, kind, object.id),
});

/** A snapshot in the words of the request's microversion. */
export function snapshotView(c: ShareContext, snapshot: ShareSnapshot): JsonObject {
  const minor = c.get("minor");
  const { user_id, project_id, metadata, ...rest } = snapshot;
  return {
    ...rest,
    size: snapshot.share_size,
    links: linksOf(c, "snapshots", snapshot.id),
    ...(minor >= 17 ? { user_id, project_id } : {}),
    ...(minor >= 73 ? { metadata } : {}),
  };
}

/** A share network in the words of the request's microversion: before 2.51 it has one subnet, inline. */
export function shareNetworkView(c: ShareContext, network: ShareNetwork): JsonObject {
  const minor = c.get("minor");
  const { subnets, services: _services, ...rest } = network;
  const first = subnets[0];
  return {
    ...rest,
    ...(minor < 51
      ? placeInNeutron(first)
      : { share_network_subnets: subnets.map((subnet) => ({ ...subnetView(subnet), ...gateway })) }),
    ...(minor >= 63 ? { status: "active", security_service_update_support: true } : {}),
    ...(minor >= 70 ? { network_allocation_update_support: true } : {}),
  };
}

/** A subnet by itself, which says whose it is. */
export function shareSubnetView(network: ShareNetwork, subnet: ShareSubnet): JsonObject {
  const of = { share_network_id: network.id, share_network_name: network.name };
  return { ...subnetView(subnet), ...of, ...gateway };
}

/** Known only once a share server runs. */
const gateway = { mtu: null, gateway: null };

function placeInNeutron(subnet: ShareSubnet | undefined): JsonObject {
  return {
    neutron_net_id: subnet?.neutron_net_id ?? null,
    neutron_subnet_id: subnet?.neutron_subnet_id ?? null,
    network_type: null,
    segmentation_id: null,
    cidr: null,
    ip_version: null,
  };
}

const subnetView = (subnet: ShareSubnet): object => {
  const { id, availability_zone, created_at, updated_at } = subnet;
  return { id, availability_zone, created_at, updated_at, ...placeInNeutron(subnet) };
};
