import type { FilteredList } from "./list.ts";
import { identityPartLists } from "./identity-part-lists.ts";
import { keystone, made } from "./made.ts";

export const identityLists: readonly FilteredList[] = [
  keystone("/projects", "projects", [
    made({ path: "/projects", one: "project", body: { name: "{run}-p", description: "{run}", tags: ["{run}"] } }),
  ]),
  keystone("/users", "users", [made({ path: "/users", one: "user", body: { name: "{run}-u", description: "{run}" } })]),
  keystone("/groups", "groups", [
    made({ path: "/groups", one: "group", body: { name: "{run}-g", description: "{run}" } }),
  ]),
  keystone("/roles", "roles", [made({ path: "/roles", one: "role", body: { name: "{run}-r", description: "{run}" } })]),
  keystone("/services", "services", [
    made({ path: "/services", one: "service", body: { name: "{run}-s", type: "{run}", description: "{run}" } }),
  ]),
  ...identityPartLists,
];
