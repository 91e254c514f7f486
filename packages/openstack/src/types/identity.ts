/** Keystone v3, wire-true: https://docs.openstack.org/api-ref/identity/v3/ */
import type { CallOptions, Collection, ReadOnlyCollection } from "./collection.ts";

/** A project: https://docs.openstack.org/api-ref/identity/v3/#projects . */
export interface Project {
  id: string;
  name: string;
  description: string;
  domain_id: string;
  parent_id: string | null;
  enabled: boolean;
  is_domain: boolean;
  tags: string[];
}
/** What a project is created with. */
export interface ProjectCreate {
  name: string;
  description?: string;
  domain_id?: string;
  parent_id?: string;
  enabled?: boolean;
  tags?: string[];
}
/** A domain of users and projects. */
export interface Domain {
  id: string;
  name: string;
  description: string;
  enabled: boolean;
}
/** What a domain is created with. */
export interface DomainCreate {
  name: string;
  description?: string;
  enabled?: boolean;
}
/** A user: https://docs.openstack.org/api-ref/identity/v3/#users . */
export interface User {
  id: string;
  name: string;
  domain_id: string;
  enabled: boolean;
  default_project_id?: string;
  description?: string;
  email?: string;
  /** RFC 3339, null: never. */
  password_expires_at: string | null;
}
/** What a user is created with. */
export interface UserCreate {
  name: string;
  domain_id?: string;
  password?: string;
  default_project_id?: string;
  description?: string;
  email?: string;
  enabled?: boolean;
}
/** A group of users. */
export interface Group {
  id: string;
  name: string;
  description: string;
  domain_id: string;
}
/** What a group is created with. */
export interface GroupCreate {
  name: string;
  description?: string;
  domain_id?: string;
}
/** A role that users have on projects and domains. */
export interface Role {
  id: string;
  name: string;
  description: string | null;
  domain_id: string | null;
}
/** What a role is created with. */
export interface RoleCreate {
  name: string;
  description?: string;
  domain_id?: string;
}
/** A role of a user or group on a project or domain. */
export interface RoleAssignment {
  role: { id: string; name?: string };
  user?: { id: string; name?: string };
  group?: { id: string; name?: string };
  scope: { project?: { id: string }; domain?: { id: string }; system?: { all: boolean } };
}
/** Who gets a role, and on what. */
export interface Grant {
  readonly user?: string;
  readonly group?: string;
  readonly project?: string;
  readonly domain?: string;
  readonly role: string;
}
/** https://docs.openstack.org/api-ref/identity/v3-ext/#os-trust-api */
export interface Trust {
  id: string;
  trustor_user_id: string;
  trustee_user_id: string;
  project_id: string | null;
  impersonation: boolean;
  expires_at: string | null;
  remaining_uses: number | null;
  roles: { id: string; name: string }[];
}
/** What a trust is created with. */
export interface TrustCreate {
  trustor_user_id: string;
  trustee_user_id: string;
  impersonation: boolean;
  project_id?: string;
  /** RFC 3339. */
  expires_at?: string;
  remaining_uses?: number;
  allow_redelegation?: boolean;
  roles?: ({ id: string } | { name: string })[];
}
/** A request that an application credential permits. */
export interface AccessRule {
  id?: string;
  path: string;
  method: string;
  service: string;
}
/** An application credential: https://docs.openstack.org/api-ref/identity/v3/#application-credentials . */
export interface ApplicationCredential {
  id: string;
  name: string;
  description: string | null;
  project_id: string;
  roles: { id: string; name: string }[];
  expires_at: string | null;
  unrestricted: boolean;
  access_rules?: AccessRule[];
  /** In the response to a create only. */
  secret?: string;
}
/** What an application credential is created with. */
export interface ApplicationCredentialCreate {
  name: string;
  description?: string;
  secret?: string;
  /** RFC 3339 without a zone: UTC. */
  expires_at?: string;
  roles?: ({ id: string } | { name: string })[];
  unrestricted?: boolean;
  access_rules?: AccessRule[];
}
/** A region of the catalog. */
export interface Region {
  id: string;
  description: string;
  parent_region_id: string | null;
}
/** A service of the catalog. */
export interface CatalogService {
  id: string;
  type: string;
  name?: string;
  description?: string;
  enabled: boolean;
}
/** The URL of a service for one interface and region. */
export interface CatalogEndpoint {
  id: string;
  service_id: string;
  interface: "public" | "internal" | "admin";
  region_id: string | null;
  url: string;
  enabled: boolean;
}
/** What GET /auth/tokens says of a token. */
export interface TokenFacts {
  expires_at: string;
  issued_at: string;
  methods: string[];
  user: { id: string; name: string; domain: { id: string; name: string } };
  project?: { id: string; name: string; domain: { id: string; name: string } };
  roles?: { id: string; name: string }[];
  application_credential?: { id: string; name: string; restricted: boolean };
}

/** Keystone: https://docs.openstack.org/api-ref/identity/v3/ . */
export interface IdentityService {
  readonly projects: Collection<Project, ProjectCreate>;
  readonly domains: Collection<Domain, DomainCreate>;
  readonly users: Collection<User, UserCreate>;
  readonly groups: Collection<Group, GroupCreate>;
  readonly roles: Collection<Role, RoleCreate>;
  readonly trusts: Collection<Trust, TrustCreate, never>;
  readonly regions: Collection<Region, { id?: string; description?: string; parent_region_id?: string }>;
  readonly services: Collection<CatalogService, { type: string; name?: string; description?: string }>;
  readonly endpoints: Collection<
    CatalogEndpoint,
    { service_id: string; interface: CatalogEndpoint["interface"]; url: string; region_id?: string }
  >;
  readonly roleAssignments: Pick<ReadOnlyCollection<RoleAssignment>, "list" | "all">;
  /** A user's own credentials; no other user may create them, not even administrators. */
  applicationCredentials(userId: string): Collection<ApplicationCredential, ApplicationCredentialCreate, never>;
  /** Granting twice is granting once. */
  grant(grant: Grant, options?: CallOptions): Promise<void>;
  /** 404 is success. */
  revoke(grant: Grant, options?: CallOptions): Promise<void>;
  addToGroup(groupId: string, userId: string, options?: CallOptions): Promise<void>;
  removeFromGroup(groupId: string, userId: string, options?: CallOptions): Promise<void>;
  /** Whom a token names, and for how long. Throws OPENSTACK_NOT_FOUND for one that is no (longer a) token. */
  validateToken(token: string, options?: CallOptions): Promise<TokenFacts>;
  /** 404 is success. */
  revokeToken(token: string, options?: CallOptions): Promise<void>;
  /** The user that these credentials are. */
  currentUserId(options?: CallOptions): Promise<string>;
}
