import type { Service } from "../kernel/interface.ts";
import type { Credential, IdentityTables, Project, Role, Token, User } from "./model.ts";

export type JsonView = Readonly<Record<string, unknown>>;

const domain = { id: "default", name: "Default" };

/** "2026-11-22T08:23:44.000000Z", as Keystone writes instants. */
const instant = (milliseconds: number) => `${new Date(milliseconds).toISOString().slice(0, 19)}.000000Z`;

export const projectView = (p: Project, base: string): JsonView => ({
  id: p.id,
  name: p.name,
  domain_id: p.domain_id,
  description: p.description,
  enabled: p.enabled,
  parent_id: p.domain_id,
  is_domain: false,
  tags: [],
  options: {},
  links: { self: `${base}/projects/${p.id}` },
});

export const userView = (u: User, base: string): JsonView => ({
  id: u.id,
  name: u.name,
  domain_id: u.domain_id,
  enabled: u.enabled,
  password_expires_at: null,
  options: {},
  links: { self: `${base}/users/${u.id}` },
});

const roleFields = (r: Role): JsonView => ({
  id: r.id,
  name: r.name,
  domain_id: null,
  description: null,
  options: ["admin", "member", "reader"].includes(r.name) ? { immutable: true } : {},
});

export const roleView = (r: Role, base: string): JsonView => ({
  ...roleFields(r),
  links: { self: `${base}/roles/${r.id}` },
});

export const domainView = (base: string): JsonView => ({
  ...domain,
  description: "The default domain",
  enabled: true,
  tags: [],
  options: {},
  links: { self: `${base}/domains/default` },
});

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
    links: { self: `${base}/application_credentials/${c.id}` },
  };
}

/** What the catalog is made of: one entry per service, its root below `origin`. */
export interface CatalogSource {
  readonly region: string;
  services(): readonly { readonly root: string; readonly service: Pick<Service, "type" | "name" | "catalogPath"> }[];
}

export const endpointInterfaces = ["public", "internal", "admin"] as const;

/** `{project_id}` in a service's path becomes the project of the token. */
export function catalogView(source: CatalogSource, origin: string, projectId: string): readonly JsonView[] {
  return source.services().map(({ root, service }) => ({
    endpoints: endpointInterfaces.map((face) => ({
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

export function tokenView(token: Token, tables: IdentityTables, catalog: readonly JsonView[] | undefined): JsonView {
  const user = tables.users.get(token.user_id);
  const project = token.project_id === undefined ? undefined : tables.projects.get(token.project_id);
  const roles = token.role_ids.flatMap((id) => tables.roles.get(id) ?? []);
  return {
    methods: token.methods,
    user: { domain, id: token.user_id, name: user?.name ?? "", password_expires_at: null },
    audit_ids: [token.audit_id],
    expires_at: instant(token.expires),
    issued_at: instant(token.issued),
    ...(project
      ? {
          project: { domain, id: project.id, name: project.name },
          is_domain: false,
          roles: roles.map(({ id, name }) => ({ id, name })),
          ...(catalog ? { catalog } : {}),
        }
      : {}),
  };
}
