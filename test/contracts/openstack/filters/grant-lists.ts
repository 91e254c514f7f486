import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { keystone, made } from "./made.ts";

/** Lists of roles: those that a user or group has on a project, a domain or the system, and what roles bring. */

const user = made({ path: "/users", one: "user", body: { name: "{run}-u" }, keep: "who" });
const group = made({ path: "/groups", one: "group", body: { name: "{run}-g" }, keep: "who" });
const role = made({ path: "/roles", one: "role", body: { name: "{run}-r", description: "{run}" } });

const domain: RawCase = {
  says: "the domain",
  call: "GET /domains/default",
  as: "admin",
  keep: { domain: "domain.id" },
};

const put = (path: string): RawCase => ({ says: "gets the role", call: `PUT ${path}`, as: "admin" });

function granted(who: "users" | "groups", target: string): FilteredList {
  const path = `${target}/${who}/{who}/roles`;
  return keystone(path, "roles", [domain, who === "users" ? user : group, role, put(`${path}/{id}`)]);
}

function inherited(who: "users" | "groups", target: string): FilteredList {
  const path = `/OS-INHERIT${target}/${who}/{who}/roles`;
  const make = [domain, who === "users" ? user : group, role, put(`${path}/{id}/inherited_to_projects`)];
  return keystone(`${path}/inherited_to_projects`, "roles", make);
}

export const grantLists: readonly FilteredList[] = [
  ...(["users", "groups"] as const).flatMap((who) => [
    granted(who, "/projects/{altProject}"),
    granted(who, "/domains/{domain}"),
    granted(who, "/system"),
    inherited(who, "/domains/{domain}"),
  ]),
  {
    ...keystone("/OS-TRUST/trusts/{trust}/roles", "roles", [
      {
        says: "a trust",
        call: "POST /OS-TRUST/trusts",
        body: {
          trust: {
            trustor_user_id: "{user}",
            trustee_user_id: "{readerUser}",
            project_id: "{project}",
            impersonation: false,
            roles: [{ name: "member" }],
          },
        },
        keep: { trust: "trust.id", id: "trust.roles.0.id" },
        undo: "DELETE /OS-TRUST/trusts/{trust}",
      },
    ]),
    as: "member",
  },
];
