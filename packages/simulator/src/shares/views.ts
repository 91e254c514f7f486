import { typeId, linksOf, type Share, type ShareContext, type ShareNetwork, type ShareSnapshot } from "./model.ts";

const path = (share: Share) => `10.0.0.10:/shares/share-${share.id}`;

/** A share as its version tells it: fields come with their microversions. */
export function shareView(c: ShareContext, share: Share): object {
  const minor = c.get("minor");
  const { type = { id: typeId, name: "default" } } = share;
  const from = (least: number, fields: object) => (minor >= least ? fields : {});
  const isReady = share.status !== "creating";
  return {
    id: share.id,
    size: share.size,
    availability_zone: isReady ? "nova" : null,
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
    ...(minor < 9
      ? { export_location: isReady ? path(share) : null, export_locations: isReady ? [path(share)] : [] }
      : {}),
    ...from(2, { snapshot_support: true }),
    ...from(5, { task_state: null }),
    ...from(6, { share_type_name: type.name }),
    ...from(10, { access_rules_status: "active" }),
    ...from(11, { replication_type: null, has_replicas: false }),
    ...from(16, { user_id: share.user_id }),
    ...from(24, { create_share_from_snapshot_support: true }),
    ...from(27, { revert_to_snapshot_support: false }),
    ...from(31, { share_group_id: null, source_share_group_snapshot_member_id: null }),
    ...from(32, { mount_snapshot_support: false }),
    ...from(54, { progress: isReady ? "100%" : null }),
    ...from(69, { is_soft_deleted: false, scheduled_to_be_deleted_at: null }),
  };
}

export const briefView = (
  c: ShareContext,
  kind: string,
  object: { readonly id: string; readonly name: string | null },
): object => ({
  id: object.id,
  name: object.name,
  links: linksOf(c, kind, object.id),
});

export const exportLocation = (share: Share): object => ({ id: share.id, path: path(share), preferred: false });

export function snapshotView(c: ShareContext, snapshot: ShareSnapshot): object {
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

export function shareNetworkView(c: ShareContext, network: ShareNetwork): object {
  const minor = c.get("minor");
  const { neutron_net_id, neutron_subnet_id, subnet_id, ...rest } = network;
  const where = {
    neutron_net_id,
    neutron_subnet_id,
    network_type: null,
    segmentation_id: null,
    cidr: null,
    ip_version: null,
  };
  const subnet = {
    id: subnet_id,
    availability_zone: null,
    created_at: network.created_at,
    updated_at: null,
    ...where,
    mtu: null,
    gateway: null,
  };
  return {
    ...rest,
    updated_at: null,
    ...(minor < 51 ? where : { share_network_subnets: [subnet] }),
    ...(minor >= 63 ? { status: "active", security_service_update_support: true } : {}),
    ...(minor >= 70 ? { network_allocation_update_support: true } : {}),
  };
}
