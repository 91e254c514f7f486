import { expect, test } from "vitest";
import { credentialRoles } from "./credential-roles.ts";

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ["a member's", ["member", "reader"], ["member"], ["member", "reader"]],
  [
    "a member's with roles of Octavia, Barbican and Heat",
    ["heat_stack_owner", "creator", "member", "reader", "load-balancer_member"],
    ["member"],
    ["member", "reader", "load-balancer_member", "creator"],
  ],
  ["an administrator's", ["admin", "load-balancer_admin", "member", "reader"], ["member"], ["member", "reader"]],
  ["one with a role of the cloud's own", ["admin", "cloud_user"], ["member", "cloud_user"], ["cloud_user"]],
  ["one with a role that is named and added", ["creator", "member"], ["member", "creator"], ["member", "creator"]],
])("the credential of a cluster has of the roles of its creator what it needs: %s", (_, held, needed, expected) => {
  expect(credentialRoles({ roles: held }, needed)).toEqual(expected);
});

test.each([[["admin"]], [[]], [["reader", "creator"]]])("a creator with %j has no role for a cluster", (roles) => {
  expect(() => credentialRoles({ roles }, ["member"])).toThrow("has role member of the user who creates it");
});
