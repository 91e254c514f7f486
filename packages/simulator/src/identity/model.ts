import { createHash, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import type { Kernel, Table } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";
import { implicationsOf, type Implication } from "./rules/roles.ts";

/** What accounts are kept with beyond the fields that Keystone knows: it keeps any. */
interface Extended {
  readonly id: string;
  readonly name: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A domain. Projects act as domains in Keystone; here they are rows of their own. */
export interface Domain extends Extended {
  readonly description: string;
  readonly enabled: boolean;
}

/** A project; `extra` has the fields that Keystone keeps without knowing them. */
export interface Project extends Extended {
  readonly domain_id: string;
  readonly description: string;
  readonly enabled: boolean;
  /** Absent: the domain. */
  readonly parent_id?: string;
  readonly tags?: readonly string[];
}

/** A user with a local password, or without one. */
export interface User extends Extended {
  readonly domain_id: string;
  readonly enabled: boolean;
  /** Absent: no password opens this account. */
  readonly secret?: SecretHash;
  readonly default_project_id?: string;
  readonly description?: string;
  /** "ignore_password_expiry", "multi_factor_auth_rules", …: stored and returned. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A group of users; who is in it is in the table of memberships. */
export interface Group extends Extended {
  readonly domain_id: string;
  readonly description: string;
}

/** A user in a group; its id is "group/user". */
export interface Membership {
  readonly id: string;
  readonly group_id: string;
  readonly user_id: string;
}

/** A role; `domain_id` null or absent: one for all domains. */
export interface Role extends Extended {
  readonly description?: string | null;
  readonly domain_id?: string | null;
}

/** A role of a user or a group on a project or a domain; its id is "target/actor/role". */
export interface Assignment {
  readonly id: string;
  readonly user_id?: string;
  readonly group_id?: string;
  readonly project_id?: string;
  readonly domain_id?: string;
  readonly role_id: string;
  /** On all projects of the domain, or below the project, and not on itself. */
  readonly inherited?: true;
  /** On the cloud as a whole. */
  readonly system?: true;
}

/** The trustor's roles in a project, lent to the trustee. */
export interface Trust {
  readonly id: string;
  readonly trustor_user_id: string;
  readonly trustee_user_id: string;
  readonly project_id: string | null;
  readonly impersonation: boolean;
  readonly expires_at: string | null;
  readonly remaining_uses: number | null;
  readonly role_ids: readonly string[];
}

/** An application credential: it lends these roles of its user in one project, by a secret of its own. */
export interface Credential {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly user_id: string;
  readonly project_id: string;
  readonly role_ids: readonly string[];
  readonly expires_at: string | null;
  readonly unrestricted: boolean | null;
  /** Ids. */
  readonly access_rules?: readonly string[];
  readonly secret: SecretHash;
}

/** A token as kept: by the hash of what the caller holds. */
export interface Token {
  readonly id: string;
  readonly user_id: string;
  /** Undefined: unscoped. */
  readonly project_id?: string;
  readonly role_ids: readonly string[];
  readonly methods: readonly string[];
  readonly audit_id: string;
  /** Milliseconds since the epoch. */
  readonly issued: number;
  readonly expires: number;
  readonly application_credential_id?: string;
  readonly trust_id?: string;
  /** Scoped to a domain. */
  readonly domain_id?: string;
  /** Scoped to the cloud as a whole. */
  readonly system?: true;
}

/** What an application credential may be used for. */
export interface AccessRule {
  readonly id: string;
  readonly user_id: string;
  readonly path: string | undefined;
  readonly method: string | undefined;
  readonly service: string | undefined;
}

/** A secret as kept. */
export interface SecretHash {
  readonly salt: string;
  readonly hash: string;
}

/** All of Keystone's state that is kept as typed rows; other resources are `PlainObject`s. */
export interface IdentityTables {
  readonly projects: Table<Project>;
  readonly domains: Table<Domain>;
  readonly users: Table<User>;
  readonly groups: Table<Group>;
  readonly memberships: Table<Membership>;
  readonly trusts: Table<Trust>;
  readonly roles: Table<Role>;
  readonly assignments: Table<Assignment>;
  readonly credentials: Table<Credential>;
  readonly accessRules: Table<AccessRule>;
  readonly tokens: Table<Token>;
  readonly implications: Table<Implication>;
}

/** Keystone's tables. Tokens are found by the hash of their text (`tokenHash`). */
export const identityTables = (kernel: Kernel): IdentityTables => ({
  projects: kernel.table("_project", ["name"]),
  domains: kernel.table("_domain", ["name"]),
  users: kernel.table("_user", ["name"]),
  groups: kernel.table("_group", ["name"]),
  memberships: kernel.table("_membership", ["user_id", "group_id"]),
  trusts: kernel.table("trust", ["trustor_user_id", "trustee_user_id"]),
  roles: kernel.table("_role", ["name"]),
  assignments: kernel.table("_assignment", ["user_id", "group_id"]),
  credentials: kernel.table("application_credential", ["user_id"]),
  accessRules: kernel.table("_access_rule", ["user_id"]),
  tokens: kernel.table("_token"),
  implications: implicationsOf(kernel),
});

/** Keystone writes ids as hexadecimal digits alone. */
export const identityId = (kernel: Kernel): string => kernel.newId().replaceAll("-", "");

const hash = (secret: string, salt: string) => scryptSync(secret, salt, 32, { N: 1024 });

/** A new salt, and the scrypt hash of the secret with it (N = 1024: fast rather than strong). */
export function hashSecret(secret: string): SecretHash {
  const salt = randomBytes(12).toString("base64url");
  return { salt, hash: hash(secret, salt).toString("base64url") };
}

/** True if this is the secret that was hashed; the comparison takes the same time wherever they differ. */
export function secretMatches(secret: string, kept: SecretHash): boolean {
  return timingSafeEqual(hash(secret, kept.salt), Buffer.from(kept.hash, "base64url"));
}

/** The id of a token's row: SHA-256 of the token, so that the state folder holds no usable token. */
export const tokenHash = (token: string): string => createHash("sha256").update(token).digest("base64url");

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
};

/** An error with Keystone's body. */
export function identityError(code: number, message: string): ServiceError {
  return new ServiceError(code, { error: { code, message, title: titles[code] ?? "Error" } });
}

/** Keystone's 401: no token, or one that is unknown, expired or revoked. */
export const unauthorized = (): ServiceError =>
  identityError(401, "The request you have made requires authentication.");

/** A body that Keystone's schemas refuse. The real message continues with the schema itself. */
export const schemaError = (problem: string): ServiceError => identityError(400, problem);

/** Keystone's 400 for a body that lacks `what` ("user in request body"). */
export const malformed = (what: string): ServiceError =>
  identityError(
    400,
    `Expecting to find ${what}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
