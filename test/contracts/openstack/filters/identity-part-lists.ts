import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { grantLists } from "./grant-lists.ts";
import { keystone, made } from "./made.ts";

/** Lists of Keystone other than of accounts: its catalog, limits, grants, and what users have. */

const service = made({
  path: "/services",
  one: "service",
  body: { name: "{run}-s", type: "{run}" },
  keep: "service",
});
const limited = made({
  path: "/registered_limits",
  one: "registered_limits",
  body: {},
  keep: "registered",
  at: "registered_limits.0.id",
  more: {
    body: {
      registered_limits: [
        {
          service_id: "{service}",
          region_id: "RegionOne",
          resource_name: "{run}",
          default_limit: 7,
          description: "{run}",
        },
      ],
    },
  },
});
const user = made({ path: "/users", one: "user", body: { name: "{run}-u", description: "{run}" }, keep: "usr" });
const group = made({ path: "/groups", one: "group", body: { name: "{run}-g", description: "{run}" }, keep: "grp" });
const role = made({ path: "/roles", one: "role", body: { name: "{run}-r", description: "{run}" }, keep: "role" });
const joined: readonly RawCase[] = [
  user,
  group,
  { says: "is put into the group", call: "PUT /groups/{grp}/users/{usr}", as: "admin" },
];
const granted: readonly RawCase[] = [
  user,
  role,
  { says: "gets the role", call: "PUT /projects/{altProject}/users/{usr}/roles/{role}", as: "admin" },
];
const its = (path: string, id: string, who: RawCase["as"] = "admin"): RawCase => ({
  says: "its id",
  call: `GET ${path}`,
  as: who,
  keep: { id },
});
const endpoint = made({
  path: "/endpoints",
  one: "endpoint",
  body: { service_id: "{service}", interface: "public", url: "http://192.0.2.1/{run}", region_id: "RegionOne" },
  keep: "endpoint",
});
const credential: readonly RawCase[] = [
  {
    says: "an application credential with a rule",
    call: "POST /users/{user}/application_credentials",
    body: {
      application_credential: {
        name: "{run}-c",
        description: "{run}",
        secret: "s",
        access_rules: [{ path: "/v2.1/{run}", method: "GET", service: "compute" }],
      },
    },
    keep: { cred: "application_credential.id", rule: "application_credential.access_rules.0.id" },
  },
  {
    says: "its rule, which goes after it",
    call: "GET /users/{user}/access_rules/{rule}",
    undo: "DELETE /users/{user}/access_rules/{rule}",
  },
  {
    says: "the credential, which goes first",
    call: "GET /users/{user}/application_credentials/{cred}",
    undo: "DELETE /users/{user}/application_credentials/{cred}",
  },
];

export const identityPartLists: readonly FilteredList[] = [
  keystone("/domains", "domains", [
    made({ path: "/domains", one: "domain", body: { name: "{run}-d", description: "{run}" } }),
    {
      says: "is disabled before it is deleted",
      call: "GET /domains/{id}",
      as: "admin",
      undo: "PATCH /domains/{id}",
      undoBody: { domain: { enabled: false } },
    },
  ]),
  keystone("/regions", "regions", [
    made({ path: "/regions", one: "region", body: { id: "{run}-p", description: "{run}" }, keep: "parent" }),
    made({
      path: "/regions",
      one: "region",
      body: { id: "{run}-r", description: "{run}", parent_region_id: "{parent}" },
    }),
  ]),
  keystone("/endpoints", "endpoints", [service, endpoint, its("/endpoints/{endpoint}", "endpoint.id")], {
    region: ["RegionOne", "{run}"],
  }),
  keystone("/policies", "policies", [
    made({ path: "/policies", one: "policy", body: { blob: "{run}", type: "{run}" } }),
  ]),
  keystone("/registered_limits", "registered_limits", [
    service,
    limited,
    its("/registered_limits/{registered}", "registered_limit.id"),
  ]),
  keystone("/limits", "limits", [
    service,
    limited,
    made({
      path: "/limits",
      one: "limits",
      body: {},
      at: "limits.0.id",
      more: {
        body: {
          limits: [
            {
              service_id: "{service}",
              region_id: "RegionOne",
              resource_name: "{run}",
              project_id: "{adminProject}",
              resource_limit: 5,
              description: "{run}",
            },
          ],
        },
      },
    }),
  ]),
  keystone("/OS-OAUTH1/consumers", "consumers", [
    made({ path: "/OS-OAUTH1/consumers", one: "consumer", body: { description: "{run}" } }),
  ]),
  keystone("/OS-FEDERATION/mappings", "mappings", [
    {
      says: "a mapping",
      call: "PUT /OS-FEDERATION/mappings/{run}",
      as: "admin",
      body: {
        mapping: { rules: [{ local: [{ user: { name: "{0}" } }], remote: [{ type: "UserName" }] }] },
      },
      keep: { id: "mapping.id" },
      undo: "DELETE /OS-FEDERATION/mappings/{run}",
    },
  ]),
  keystone("/OS-EP-FILTER/endpoint_groups", "endpoint_groups", [
    made({
      path: "/OS-EP-FILTER/endpoint_groups",
      one: "endpoint_group",
      body: { name: "{run}-e", description: "{run}", filters: { interface: "public" } },
    }),
  ]),
  keystone("/OS-EP-FILTER/projects/{altProject}/endpoints", "endpoints", [
    service,
    endpoint,
    {
      says: "the project's",
      call: "PUT /OS-EP-FILTER/projects/{altProject}/endpoints/{endpoint}",
      as: "admin",
      undo: "DELETE /OS-EP-FILTER/projects/{altProject}/endpoints/{endpoint}",
    },
    its("/endpoints/{endpoint}", "endpoint.id"),
  ]),
  keystone("/OS-EP-FILTER/endpoints/{endpoint}/projects", "projects", [
    service,
    endpoint,
    {
      says: "the project's",
      call: "PUT /OS-EP-FILTER/projects/{altProject}/endpoints/{endpoint}",
      as: "admin",
      undo: "DELETE /OS-EP-FILTER/projects/{altProject}/endpoints/{endpoint}",
    },
    its("/projects/{altProject}", "project.id"),
  ]),
  {
    ...keystone("/role_assignments", "role_assignments", [...granted, its("/roles/{role}", "role.id")], {
      "user.id": ["{usr}", "{nothing}"],
      "role.id": ["{role}", "{nothing}"],
      "scope.project.id": ["{altProject}", "{project}"],
      "group.id": ["{nothing}", "{nothing}"],
      "scope.domain.id": ["default", "{nothing}"],
      "scope.system": ["all", "none"],
      effective: ["", "x"],
      include_names: ["true", "false"],
      "scope.OS-INHERIT:inherited_to": ["projects", "x"],
    }),
    idField: "role.id",
  },
  ...grantLists,
  keystone("/groups/{grp}/users", "users", [...joined, its("/users/{usr}", "user.id")]),
  keystone("/users/{usr}/groups", "groups", [...joined, its("/groups/{grp}", "group.id")]),
  keystone("/users/{usr}/projects", "projects", [...granted, its("/projects/{altProject}", "project.id")]),
  keystone("/auth/projects", "projects", [its("/projects/{adminProject}", "project.id")]),
  keystone("/OS-FEDERATION/projects", "projects", [its("/projects/{adminProject}", "project.id")]),
  {
    ...keystone("/users/{user}/application_credentials", "application_credentials", [
      ...credential,
      its("/users/{user}/application_credentials/{cred}", "application_credential.id", "member"),
    ]),
    as: "member",
  },
  {
    ...keystone("/users/{user}/access_rules", "access_rules", [
      ...credential,
      its("/users/{user}/access_rules/{rule}", "access_rule.id", "member"),
    ]),
    as: "member",
  },
  {
    ...keystone(
      "/OS-TRUST/trusts",
      "trusts",
      [
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
          keep: { id: "trust.id" },
          undo: "DELETE /OS-TRUST/trusts/{id}",
        },
      ],
      { trustor_user_id: ["{user}", "{nothing}"], trustee_user_id: ["{readerUser}", "{nothing}"] },
    ),
  },
];
