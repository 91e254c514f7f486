import type { Service } from "../kernel/interface.ts";
import type { Credential, Domain, Group, IdentityTables, Project, Role, Token, Trust, User } from "./model.ts";

/** An object as a response has it. */
export type JsonView = Readonly<Record<string, unknown>>;

/** "2026-11-22T08:23:44.000000Z", as Keystone writes instants. */
const instant = (milliseconds: number) => `${new Date(milliseconds).toISOString().slice(0, 19)}.000000Z`;

/** A project as Keystone returns it; `base` is the URL of the API ("…/identity/v3"). */
export const projectView = (p: Project, base: string): JsonView => ({
  ...p.extra,
  id: p.id,
  name: p.name,
  domain_id: p.domain_id,
  description: p.description,
  enabled: p.enabled,
  parent_id: p.parent_id ?? p.domain_id,
  is_domain: false,
  tags: p.tags ?? [],
  options: {},
  links: { self: `${base}/projects/${p.id}` },
});

/** A user as Keystone returns it: never the password or its hash. */
export const userView = (u: User, base: string): JsonView => ({
  ...u.extra,
  ...(u.description === undefined ? {} : { description: u.description }),
  id: u.id,
  name: u.name,
  domain_id: u.domain_id,
  enabled: u.enabled,
  ...(u.default_project_id === undefined ? {} : { default_project_id: u.default_project_id }),
  password_expires_at: null,
  options: u.options ?? {},
  links: { self: `${base}/users/${u.id}` },
});

/** A group as Keystone returns it; its users are a list of their own. */
export const groupView = (g: Group, base: string): JsonView => ({
  ...g.extra,
  id: g.id,
  name: g.name,
  domain_id: g.domain_id,
  description: g.description,
  links: { self: `${base}/groups/${g.id}` },
});

const roleFields = (r: Role): JsonView => ({
  ...r.extra,
  id: r.id,
  name: r.name,
  domain_id: r.domain_id ?? null,
  description: r.description ?? null,
  options: ["admin", "member", "reader"].includes(r.name) ? { immutable: true } : {},
});

/** A role with its link, as the routes below /roles return it; tokens have it without. */
export const roleView = (r: Role, base: string): JsonView => ({
  ...roleFields(r),
  links: { self: `${base}/roles/${r.id}` },
});

/** A domain as Keystone returns it. */
export const domainView = (d: Domain, base: string): JsonView => ({
  ...d.extra,
  id: d.id,
  name: d.name,
  description: d.description,
  enabled: d.enabled,
  tags: [],
  options: {},
  links: { self: `${base}/domains/${d.id}` },
});

const trustFields = (t: Trust, base: string): JsonView => ({
  id: t.id,
  trustor_user_id: t.trustor_user_id,
  trustee_user_id: t.trustee_user_id,
  project_id: t.project_id,
  impersonation: t.impersonation,
  expires_at: t.expires_at,
  remaining_uses: t.remaining_uses,
  deleted_at: null,
  redelegated_trust_id: null,
  redelegation_count: 0,
  links: { self: `${base}/OS-TRUST/trusts/${t.id}` },
});

/** In a list, without its roles. */
export const trustListView = trustFields;

/** A trust with its roles, as a read of one returns it. */
export const trustView = (t: Trust, tables: IdentityTables, base: string): JsonView => ({
  roles: t.role_ids.flatMap((id) => tables.roles.get(id) ?? []).map((r) => roleView(r, base)),
  ...trustFields(t, base),
  roles_links: { self: `${base}/${t.id}/roles`, next: null, previous: null },
});

/** An application credential without its secret, which only the response to the create has. */
export function credentialView(c: Credential, tables: IdentityTables, base: string): JsonView {
  return {
    id: c.id,
    name: c.name,
    description: c.description,
    user_id: c.user_id,
    project_id: c.project_id,
    system: null,
    expires_at: c.expires_at,
    unrestricted: c.unrestricted,
    roles: c.role_ids.flatMap((id) => tables.roles.get(id) ?? []).map(roleFields),
    ...(c.access_rules ? { access_rules: c.access_rules.flatMap((id) => accessRuleView(tables, id)) } : {}),
    links: { self: `${base}/application_credentials/${c.id}` },
  };
}

/** A rule as its credential returns it. */
function accessRuleView(tables: IdentityTables, id: string): readonly JsonView[] {
  const rule = tables.accessRules.get(id);
  return rule ? [{ id, path: rule.path, method: rule.method, service: rule.service }] : [];
}

/** What the catalog is made of: one entry per service, its root below `origin`. */
export interface CatalogSource {
  readonly region: string;
  services(): readonly { readonly root: string; readonly service: Pick<Service, "type" | "name" | "catalogPath"> }[];
}

/** The interfaces of every service: here all have the same URL. */
export const endpointInterfaces = ["public", "internal", "admin"] as const;

/** `{project_id}` in a service's path becomes the project of the token; without one such a service has no endpoints. */
export function catalogView(source: CatalogSource, origin: string, projectId: string): readonly JsonView[] {
  const faces = (path: string) => (projectId === "" && path.includes("{project_id}") ? [] : endpointInterfaces);
  return source.services().map(({ root, service }) => ({
    endpoints: faces(service.catalogPath).map((face) => ({
      id: `${service.name}-${face}`,
      interface: face,
      region_id: source.region,
      url: origin + root + service.catalogPath.replace("{project_id}", projectId),
      region: source.region,
    })),
    id: service.name,
    type: service.type,
    name: service.name,
  }));
}

/** The endpoints of this cloud, one for each interface of each service. */
export function endpointViews(source: CatalogSource, origin: string, base: string): readonly JsonView[] {
  return catalogView(source, origin, "%(project_id)s").flatMap((entry) => {
    const [first] = entry["endpoints"] as readonly { readonly url: string }[];
    return endpointInterfaces.map((face) => ({
      id: `${String(entry["name"])}-${face}`,
      interface: face,
      region_id: source.region,
      service_id: entry["id"],
      url: first?.url,
      enabled: true,
      region: source.region,
      links: { self: `${base}/endpoints/${String(entry["name"])}-${face}` },
    }));
  });
}

/** A token as authentication and validation return it. `catalog` undefined: left out (`?nocatalog`). */
export function tokenView(token: Token, tables: IdentityTables, catalog: readonly JsonView[] | undefined): JsonView {
  const user = tables.users.get(token.user_id);
  const project = token.project_id === undefined ? undefined : tables.projects.get(token.project_id);
  const roles = token.role_ids.flatMap((id) => tables.roles.get(id) ?? []).map(({ id, name }) => ({ id, name }));
  const domainOf = (id: string | undefined) => ({ id: id ?? "", name: tables.domains.get(id ?? "")?.name ?? "" });
  const ofDomain = token.domain_id === undefined ? {} : { domain: domainOf(token.domain_id), roles };
  const ofProject = project && {
    project: { domain: domainOf(project.domain_id), id: project.id, name: project.name },
    is_domain: false,
    roles,
  };
  return {
    methods: token.methods,
    user: {
      domain: domainOf(user?.domain_id),
      id: token.user_id,
      name: user?.name ?? "",
      password_expires_at: null,
    },
    audit_ids: [token.audit_id],
    expires_at: instant(token.expires),
    issued_at: instant(token.issued),
    ...trustIn(token, tables),
    ...credentialIn(token, tables),
    ...ofProject,
    ...ofDomain,
    ...(token.system === true ? { system: { all: true }, roles } : {}),
    ...(catalog && (ofProject || token.domain_id !== undefined || token.system === true) ? { catalog } : {}),
  };
}

function credentialIn({ application_credential_id: id = "" }: Token, tables: IdentityTables): JsonView {
  const credential = tables.credentials.get(id);
  if (!credential) return {};
  const { name, unrestricted } = credential;
  return { application_credential: { id, name, restricted: unrestricted !== true } };
}

function trustIn(token: Token, tables: IdentityTables): JsonView {
  const trust = tables.trusts.get(token.trust_id ?? "");
  if (!trust) return {};
  const { id, impersonation, trustor_user_id, trustee_user_id } = trust;
  const [trustor_user, trustee_user] = [{ id: trustor_user_id }, { id: trustee_user_id }];
  return { "OS-TRUST:trust": { id, trustor_user, trustee_user, impersonation } };
}
