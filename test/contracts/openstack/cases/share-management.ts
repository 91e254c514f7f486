import type { RawCase, RawGroup } from "../case.ts";
import { now, share } from "./share-requests.ts";

const snapshot: Pick<RawCase, "call" | "body" | "headers"> = {
  call: "POST /snapshots",
  body: { snapshot: { share_id: "{s}", name: "{run}-n" } },
  headers: now,
};
const unmanage: Pick<RawCase, "call" | "body" | "headers" | "as"> = {
  call: "POST /shares/{s}/action",
  body: { unmanage: null },
  headers: now,
  as: "admin",
};
const manage = (body: object): Pick<RawCase, "call" | "body" | "headers" | "as"> => ({
  call: "POST /shares/manage",
  body: { share: { protocol: "NFS", service_host: "{host}", export_path: "{path}", ...body } },
  headers: now,
  as: "admin",
});

/** A share that Manila stops to manage, and manages again. */
export const shareManagementGroup: RawGroup = {
  name: "unmanaged and managed shares",
  service: "sharev2",
  cases: [
    {
      says: "a share for unmanage is created",
      ...share({ name: "{run}-u" }),
      keep: { s: "share.id" },
      statusOnly: true,
      undo: "DELETE /shares/{s}",
    },
    {
      says: "the share for unmanage becomes available",
      call: "GET /shares/{s}",
      headers: now,
      as: "admin",
      until: { field: "share.status", is: ["available", "error"] },
      keep: { host: "share.host" },
      exact: ["share.status"],
    },
    {
      says: "the export locations of the share are listed",
      call: "GET /shares/{s}/export_locations",
      headers: now,
      as: "admin",
      keep: { path: "export_locations.1.path" },
    },
    {
      says: "a snapshot of the share is created",
      ...snapshot,
      keep: { n: "snapshot.id" },
      undo: "DELETE /snapshots/{n}",
    },
    {
      says: "the snapshot of the share becomes available",
      call: "GET /snapshots/{n}",
      headers: now,
      until: { field: "snapshot.status", is: ["available", "error"] },
    },
    {
      says: "the instances of a snapshot are listed",
      call: "GET /snapshot-instances/detail?snapshot_id={n}",
      headers: now,
      as: "admin",
      keep: { i: "snapshot_instances.0.id" },
      exact: ["snapshot_instances.0.status", "snapshot_instances.0.progress"],
    },
    {
      says: "snapshot instances are listed without details",
      call: "GET /snapshot-instances?snapshot_id={n}",
      headers: now,
      as: "admin",
    },
    { says: "a snapshot instance is shown", call: "GET /snapshot-instances/{i}", headers: now, as: "admin" },
    {
      says: "a snapshot instance has no export locations",
      call: "GET /snapshot-instances/{i}/export-locations",
      headers: now,
      as: "admin",
    },
    {
      says: "a missing snapshot instance is not found",
      call: "GET /snapshot-instances/{nothing}",
      headers: now,
      as: "admin",
    },
    { says: "a member does not list snapshot instances", call: "GET /snapshot-instances", headers: now },
    {
      says: "the status of a snapshot instance is reset",
      call: "POST /snapshot-instances/{i}/action",
      body: { reset_status: { status: "error" } },
      headers: now,
      as: "admin",
    },
    {
      says: "an unknown action of a snapshot instance is rejected",
      call: "POST /snapshot-instances/{i}/action",
      body: { explode: null },
      headers: now,
      as: "admin",
    },
    {
      says: "a snapshot has the error of its instance",
      call: "GET /snapshots/{n}",
      headers: now,
      exact: ["snapshot.status"],
    },
    { says: "a share with a snapshot is not unmanaged", ...unmanage, statusOnly: true },
    { says: "the snapshot of the share is deleted", call: "DELETE /snapshots/{n}", headers: now },
    {
      says: "the deleted snapshot of the share is not found",
      call: "GET /snapshots/{n}",
      headers: now,
      until: { field: "snapshot.status", is: ["gone"] },
    },
    { says: "a share that Manila manages is not managed again", ...manage({}) },
    { says: "a member does not unmanage a share", ...unmanage, as: "member" },
    { says: "a share is unmanaged", ...unmanage },
    {
      says: "an unmanaged share is not found",
      call: "GET /shares/{s}",
      headers: now,
      until: { field: "share.status", is: ["gone"] },
    },
    { says: "a member does not manage a share", ...manage({}), as: "member" },
    { says: "a host without a pool is rejected", ...manage({ service_host: "devcloud@dummy" }) },
    { says: "a host of a missing service is rejected", ...manage({ service_host: "nope@x#y" }) },
    { says: "a managed share of a missing type is rejected", ...manage({ share_type: "wrong" }) },
    { says: "a managed share without a path is rejected", ...manage({ export_path: "" }) },
    {
      says: "a managed share without attributes is rejected",
      call: "POST /shares/manage",
      body: { share: {} },
      headers: now,
      as: "admin",
    },
    {
      says: "a manage request without a share is rejected",
      call: "POST /shares/manage",
      body: {},
      headers: now,
      as: "admin",
    },
    {
      says: "a share is managed again",
      ...manage({ name: "{run}-m", share_type: "default" }),
      keep: { m: "share.id" },
      exact: ["share.status", "share.size", "share.name"],
      undo: "DELETE /shares/{m}",
    },
    {
      says: "a managed share becomes available",
      call: "GET /shares/{m}",
      headers: now,
      as: "admin",
      until: { field: "share.status", is: ["available", "manage_error"] },
      exact: ["share.status", "share.size", "share.share_proto", "share.progress"],
    },
    {
      says: "a share that was managed again has new export locations",
      call: "GET /shares/{m}/export_locations",
      headers: now,
      as: "admin",
    },
  ],
};
