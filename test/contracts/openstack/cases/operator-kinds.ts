import type { RawCase, RawGroup } from "../case.ts";

const admin = (headers: Readonly<Record<string, string>>, cases: readonly RawCase[]): readonly RawCase[] =>
  cases.map((one) => ({ as: "admin", headers, ...one }));
const asMember = (headers: Readonly<Record<string, string>>, cases: readonly RawCase[]): readonly RawCase[] =>
  cases.map((one) => ({ headers, ...one }));
const cinder = { "openstack-api-version": "volume 3.70" };
const manila = { "x-openstack-manila-api-version": "2.73" };
const without = (path: string): RawCase => ({
  says: `an update below ${path} without its resource is refused`,
  call: `PUT ${path}/{nothing}`,
  body: {},
});

/** Kinds that operators manage: created, shown, updated and deleted. */
export const operatorGroups: readonly RawGroup[] = [
  {
    name: "QoS specs",
    service: "volumev3",
    cases: admin(cinder, [
      { says: "a create without QoS specs is rejected", call: "POST /qos-specs", body: {} },
      {
        says: "a consumer that Cinder does not know is rejected",
        call: "POST /qos-specs",
        body: { qos_specs: { name: "{run}", consumer: "wrong" } },
        statusOnly: true,
      },
      {
        says: "QoS specs are created",
        call: "POST /qos-specs",
        body: { qos_specs: { name: "{run}", consumer: "both", read_iops_sec: "10" } },
        keep: { q: "qos_specs.id" },
        exact: ["qos_specs.consumer", "qos_specs.specs"],
        undo: "DELETE /qos-specs/{q}",
      },
      {
        says: "a QoS specs name that is in use is rejected",
        call: "POST /qos-specs",
        body: { qos_specs: { name: "{run}", consumer: "both" } },
      },
      { says: "QoS specs are shown", call: "GET /qos-specs/{q}", exact: ["qos_specs.consumer", "qos_specs.specs"] },
      { says: "a member is not shown QoS specs", call: "GET /qos-specs/{q}", as: "member" },
      {
        says: "an update of QoS specs returns its body",
        call: "PUT /qos-specs/{q}",
        body: { qos_specs: { consumer: "front-end", write_iops_sec: "20" } },
        exact: ["qos_specs.consumer", "qos_specs.write_iops_sec"],
      },
      {
        says: "updated QoS specs have the old and the new keys",
        call: "GET /qos-specs/{q}",
        exact: ["qos_specs.consumer", "qos_specs.specs"],
      },
      {
        says: "keys of QoS specs are deleted",
        call: "PUT /qos-specs/{q}/delete_keys",
        body: { keys: ["read_iops_sec"] },
      },
      {
        says: "a missing key of QoS specs is not deleted",
        call: "PUT /qos-specs/{q}/delete_keys",
        body: { keys: ["wrong"] },
      },
      { says: "missing QoS specs are not found", call: "GET /qos-specs/{nothing}" },
      without("/qos-specs"),
      { says: "QoS specs are deleted", call: "DELETE /qos-specs/{q}" },
    ]),
  },
  {
    name: "group types",
    service: "volumev3",
    cases: admin(cinder, [
      { says: "a create without a group type is refused", call: "POST /group_types", body: {} },
      {
        says: "a group type is created",
        call: "POST /group_types",
        body: { group_type: { name: "{run}", description: "d", group_specs: { a: "b" } } },
        keep: { g: "group_type.id" },
        exact: ["group_type.description", "group_type.is_public", "group_type.group_specs"],
        undo: "DELETE /group_types/{g}",
      },
      { says: "a group type is shown", call: "GET /group_types/{g}", exact: ["group_type.group_specs"] },
      { says: "a member is shown a group type without its specs", call: "GET /group_types/{g}", as: "member" },
      {
        says: "a group type is updated",
        call: "PUT /group_types/{g}",
        body: { group_type: { description: "e" } },
        exact: ["group_type.description"],
      },
      { says: "a group type that is not there is not shown", call: "GET /group_types/{nothing}" },
      without("/group_types"),
      {
        says: "a member creates no group type",
        call: "POST /group_types",
        as: "member",
        body: { group_type: { name: "x" } },
      },
      { says: "a group type is deleted", call: "DELETE /group_types/{g}" },
      { says: "a group type that was deleted is not deleted again", call: "DELETE /group_types/{g}" },
    ]),
  },
  {
    name: "updates without a resource",
    service: "volumev3",
    cases: admin(cinder, ["/volumes", "/snapshots", "/backups", "/types", "/groups"].map(without)),
  },
  {
    name: "security services",
    service: "sharev2",
    cases: asMember(manila, [
      { says: "a create without a security service is refused", call: "POST /security-services", body: {} },
      {
        says: "a type that Manila does not know is refused",
        call: "POST /security-services",
        body: { security_service: { type: "wrong" } },
      },
      {
        says: "a security service is created",
        call: "POST /security-services",
        body: { security_service: { type: "ldap", name: "{run}", user: "u", dns_ip: "192.0.2.1" } },
        keep: { s: "security_service.id" },
        exact: ["security_service.type", "security_service.user", "security_service.status"],
        undo: "DELETE /security-services/{s}",
      },
      { says: "a security service is shown", call: "GET /security-services/{s}", exact: ["security_service.type"] },
      { says: "another project is not shown the security service", call: "GET /security-services/{s}", as: "alt" },
      {
        says: "a security service is updated",
        call: "PUT /security-services/{s}",
        body: { security_service: { user: "v", description: "d" } },
        exact: ["security_service.user", "security_service.description"],
      },
      without("/security-services"),
      { says: "a security service is deleted", call: "DELETE /security-services/{s}" },
      { says: "a security service that was deleted is not shown", call: "GET /security-services/{s}" },
    ]),
  },
  {
    name: "share group types",
    service: "sharev2",
    cases: admin(manila, [
      { says: "a create without a share group type is refused", call: "POST /share-group-types", body: {} },
      {
        says: "a share group type without share types is refused",
        call: "POST /share-group-types",
        body: { share_group_type: { name: "{run}" } },
      },
      {
        says: "a share group type is created",
        call: "POST /share-group-types",
        body: { share_group_type: { name: "{run}", share_types: ["default"], group_specs: { a: "b" } } },
        keep: { g: "share_group_type.id" },
        exact: ["share_group_type.is_public", "share_group_type.is_default", "share_group_type.group_specs"],
        undo: "DELETE /share-group-types/{g}",
      },
      {
        says: "a share group type is shown",
        call: "GET /share-group-types/{g}",
        exact: ["share_group_type.group_specs"],
      },
      { says: "a share group type that is not there is not shown", call: "GET /share-group-types/{nothing}" },
      {
        says: "a member creates no share group type",
        call: "POST /share-group-types",
        as: "member",
        body: { share_group_type: { name: "x", share_types: ["default"] } },
      },
      { says: "a share group type is deleted", call: "DELETE /share-group-types/{g}" },
    ]),
  },
];
