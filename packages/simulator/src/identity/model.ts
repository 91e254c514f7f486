import { createHash, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import type { Kernel, Table } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly domain_id: string;
  readonly description: string;
  readonly enabled: boolean;
}

export interface User {
  readonly id: string;
  readonly name: string;
  readonly domain_id: string;
  readonly enabled: boolean;
  readonly secret: SecretHash;
}

export interface Role {
  readonly id: string;
  readonly name: string;
}

/** A role of a user on a project. */
export interface Assignment {
  readonly id: string;
  readonly user_id: string;
  readonly project_id: string;
  readonly role_id: string;
}

export interface Credential {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly user_id: string;
  readonly project_id: string;
  readonly role_ids: readonly string[];
  readonly expires_at: string | null;
  readonly unrestricted: boolean | null;
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
}

/** A secret as kept. */
export interface SecretHash {
  readonly salt: string;
  readonly hash: string;
}

export interface IdentityTables {
  readonly projects: Table<Project>;
  readonly users: Table<User>;
  readonly roles: Table<Role>;
  readonly assignments: Table<Assignment>;
  readonly credentials: Table<Credential>;
  readonly tokens: Table<Token>;
}

export const identityTables = (kernel: Kernel): IdentityTables => ({
  projects: kernel.table("_project", ["name"]),
  users: kernel.table("_user", ["name"]),
  roles: kernel.table("_role", ["name"]),
  assignments: kernel.table("_assignment", ["user_id"]),
  credentials: kernel.table("application_credential", ["user_id"]),
  tokens: kernel.table("_token"),
});

/** Keystone writes ids as hexadecimal digits alone. */
export const identityId = (kernel: Kernel): string => kernel.newId().replaceAll("-", "");

const hash = (secret: string, salt: string) => scryptSync(secret, salt, 32, { N: 1024 });

export function hashSecret(secret: string): SecretHash {
  const salt = randomBytes(12).toString("base64url");
  return { salt, hash: hash(secret, salt).toString("base64url") };
}

export function secretMatches(secret: string, kept: SecretHash): boolean {
  return timingSafeEqual(hash(secret, kept.salt), Buffer.from(kept.hash, "base64url"));
}

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

export const unauthorized = (): ServiceError =>
  identityError(401, "The request you have made requires authentication.");

export const malformed = (what: string): ServiceError =>
  identityError(
    400,
    `Expecting to find ${what}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
