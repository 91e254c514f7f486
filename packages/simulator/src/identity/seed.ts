import type { Kernel } from "../kernel/interface.ts";
import { hashSecret, identityId, identityTables, type IdentityTables } from "./model.ts";
import { bootstrapped } from "./rules/roles.ts";

/** Password of every seeded account; the cloud listens on loopback only. */
export const seededPassword = "devcloud";

const roleNames = [
  "admin",
  "member",
  "reader",
  "service",
  "creator",
  "heat_stack_owner",
  "load-balancer_member",
  "load-balancer_observer",
  "load-balancer_admin",
  "load-balancer_global_observer",
  "load-balancer_quota_admin",
  "heat_stack_user",
  "key-manager:service-admin",
] as const;

const member = ["member", "reader", "load-balancer_member", "creator", "heat_stack_owner"];

/** user, project, roles */
const grants: readonly (readonly [string, string, readonly string[]])[] = [
  ["admin", "admin", ["admin", "load-balancer_admin", "creator"]],
  ["admin", "demo", ["admin"]],
  ["demo", "demo", member],
  ["alt", "alt", member],
  ["reader", "demo", ["reader", "load-balancer_observer"]],
];

/** Entries of clouds.yaml: name, user, project. */
export const seededClouds = [
  ["simulator-admin", "admin", "admin"],
  ["simulator", "demo", "demo"],
  ["simulator-alt", "alt", "alt"],
  ["simulator-reader", "reader", "demo"],
] as const;

/** Accounts, projects and roles of a new cloud; nothing if they are there. */
export function seedIdentity(kernel: Kernel): void {
  const tables = identityTables(kernel);
  const domain_id = "default";
  if (!tables.domains.get(domain_id)) {
    tables.domains.insert({ id: domain_id, name: "Default", description: "The default domain", enabled: true });
  }
  if (tables.projects.all().length > 0) return;
  const secret = hashSecret(seededPassword);
  for (const name of roleNames) tables.roles.insert({ id: identityId(kernel), name });
  for (const [prior, implied] of bootstrapped) {
    const [from = "", to = ""] = [prior, implied].map((name) => tables.roles.by("name", name)[0]?.id ?? "");
    tables.implications.insert({ id: `${from}/${to}`, prior: from, implied: to });
  }
  for (const name of ["service", "admin", "demo", "alt"]) {
    tables.projects.insert({ id: identityId(kernel), name, domain_id, description: "", enabled: true });
  }
  for (const name of ["admin", "demo", "alt", "reader"]) {
    tables.users.insert({ id: identityId(kernel), name, domain_id, enabled: true, secret });
  }
  grantSystem(tables);
  for (const [user, project, roles] of grants) {
    for (const role of roles) {
      const [user_id, project_id, role_id] = [
        tables.users.by("name", user)[0]?.id ?? "",
        tables.projects.by("name", project)[0]?.id ?? "",
        tables.roles.by("name", role)[0]?.id ?? "",
      ];
      tables.assignments.insert({ id: `${project_id}/${user_id}/${role_id}`, user_id, project_id, role_id });
    }
  }
}

/** The administrator's role on the cloud as a whole, as `keystone-manage bootstrap` gives it. */
function grantSystem({ users, roles, assignments }: IdentityTables): void {
  const [user, role] = [users.by("name", "admin")[0], roles.by("name", "admin")[0]];
  if (!user || !role) return;
  assignments.insert({ id: `system/${user.id}/${role.id}`, user_id: user.id, role_id: role.id, system: true });
}
