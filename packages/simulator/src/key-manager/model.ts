import type { Caller, Kernel, Table } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** Who may read in addition to the project. */
export interface Access {
  readonly users: readonly string[];
  readonly "project-access": boolean;
  readonly created: string;
  readonly updated: string;
}

/** A secret's row: metadata, and its payload in base64 once there is one. */
export interface Secret {
  readonly id: string;
  readonly name: string | null;
  readonly project_id: string;
  readonly creator_id: string;
  readonly secret_type: string;
  readonly algorithm: string | null;
  readonly bit_length: number | null;
  readonly mode: string | null;
  readonly expiration: string | null;
  /** Absent until there is a payload. */
  readonly content_type?: string;
  readonly base64?: string;
  readonly acl?: Access | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly created: string;
  readonly updated: string;
}

/** A secret of a container and its role in it: "certificate", "private_key", "intermediates". */
export interface SecretReference {
  readonly name: string;
  readonly secret_ref: string;
}

/** A container; `type` is "generic", "certificate" or "rsa". */
export interface Container {
  readonly id: string;
  readonly name: string | null;
  readonly project_id: string;
  readonly creator_id: string;
  readonly type: string;
  readonly secret_refs: readonly SecretReference[];
  readonly acl?: Access | null;
  readonly created: string;
  readonly updated: string;
}

/** A load balancer (or another) that says it uses a container or a secret; its id is "kind/id/name/url". */
export interface Consumer {
  readonly id: string;
  readonly of: string;
  readonly project_id: string;
  readonly name: string;
  readonly URL: string;
  readonly created: string;
}

/** An order of a key or a pair that Barbican makes itself. */
export interface Order {
  readonly id: string;
  readonly project_id: string;
  readonly creator_id: string;
  readonly type: string;
  readonly status: string;
  /** What came of an order of a key. */
  readonly secret_id?: string;
  /** What came of an order of a pair. */
  readonly container_id?: string;
  /** Of an order that is in ERROR. */
  readonly error?: { readonly code: string; readonly reason: string };
  readonly meta: Readonly<Record<string, unknown>>;
  readonly created: string;
  readonly updated: string;
}

/** All of Barbican's state. Octavia's data path reads certificates from it. */
export interface KeyTables {
  readonly secrets: Table<Secret>;
  readonly containers: Table<Container>;
  readonly consumers: Table<Consumer>;
  readonly orders: Table<Order>;
}

/** What Barbican's routes work with. */
export interface KeyParts {
  readonly kernel: Kernel;
  readonly tables: KeyTables;
}

/** Barbican's tables. */
export const keyTables = (kernel: Kernel): KeyTables => ({
  secrets: kernel.table("secret", ["project_id"]),
  containers: kernel.table("secret_container", ["project_id"]),
  consumers: kernel.table("_secret_consumer", ["of"]),
  orders: kernel.table("secret_order", ["project_id"]),
});

/** Barbican writes instants without a zone. */
export const instantOf = (kernel: Kernel): string => new Date(kernel.clock.now()).toISOString().slice(0, 19);

/** An error with Barbican's body. */
export function keyError(code: number, title: string, description: string): ServiceError {
  return new ServiceError(code, { code, title, description });
}

/** The action of the caller, as an error names it: "Secret deletion" of a "Secret". */
export interface Deed {
  readonly what: string;
  readonly doing: string;
}

/** Roles that may do anything here; who has none of them is refused whatever it is. */
const working = ["admin", "creator"];

/** Throws 403 unless the caller has a role that may work with secrets. */
export function permit({ roles }: Caller, doing: string): void {
  if (!roles.some((role) => working.includes(role))) throw refusal(doing);
}

/** Barbican's 403. */
export const refusal = (doing: string): ServiceError =>
  keyError(403, "Forbidden", `${doing} attempt not allowed - please review your user/project privileges`);

/** The object, if it is the caller's project's or the caller may read it by its list. Throws Barbican's 403 and 404. */
export function readable<T extends { readonly project_id: string; readonly acl?: Access | null }>(
  object: T | undefined,
  caller: Caller,
  deed: Deed,
): T {
  return object?.acl?.users.includes(caller.userId) === true ? object : owned(object, caller, deed);
}

/** The object, if the caller's project owns it. Throws Barbican's 403 and 404. */
export function owned<T extends { readonly project_id: string }>(
  object: T | undefined,
  caller: Caller,
  { what, doing }: Deed,
): T {
  if (!object) throw missing(what);
  if (object.project_id !== caller.projectId) throw refusal(doing);
  permit(caller, doing);
  return object;
}

/** Barbican's 404; `what` is "Secret", "Container", "Order", …. */
export function missing(what: string): ServiceError {
  return keyError(404, "Not Found", `${what === "Container" ? "Secrets container" : what} not found.`);
}
