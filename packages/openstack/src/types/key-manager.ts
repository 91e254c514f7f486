/**
 * Barbican, wire-true: https://docs.openstack.org/api-ref/key-manager/ — objects are named by their URL (`secret_ref`),
 * whose last part is the id.
 */
import type { CallOptions, ReadOnlyCollection } from "./collection.ts";

/** What kind of secret Barbican keeps. */
export type SecretType = "symmetric" | "public" | "private" | "passphrase" | "certificate" | "opaque";
/** A secret, without its payload. */
export interface Secret {
  secret_ref: string;
  name: string | null;
  status: string;
  secret_type: SecretType;
  algorithm: string | null;
  bit_length: number | null;
  mode: string | null;
  expiration: string | null;
  content_types?: Record<string, string>;
  created: string;
  updated: string;
  creator_id: string;
}
/** What a secret is created with. */
export interface SecretCreate {
  name?: string;
  secret_type?: SecretType;
  /** RFC 3339. */
  expiration?: string;
  algorithm?: string;
  bit_length?: number;
  mode?: string;
  /** Text, or base64 with `payload_content_encoding`. */
  payload?: string;
  payload_content_type?: string;
  payload_content_encoding?: "base64";
}
/** Secrets that belong together, such as a certificate and its key. */
export interface SecretContainer {
  container_ref: string;
  name: string | null;
  type: "generic" | "rsa" | "certificate";
  status: string;
  secret_refs: { name: string; secret_ref: string }[];
  created: string;
  updated: string;
}
/** What a container is created with. */
export interface SecretContainerCreate {
  name?: string;
  type: SecretContainer["type"];
  secret_refs: { name: string; secret_ref: string }[];
}
/** A key that Barbican is requested to make. */
export interface KeyOrder {
  order_ref: string;
  type: "key" | "asymmetric";
  status: string;
  secret_ref?: string;
  meta: Record<string, unknown>;
  error_reason?: string;
}
/** What an order is created with. */
export interface KeyOrderCreate {
  type: KeyOrder["type"];
  meta: { name?: string; algorithm: string; bit_length: number; mode?: string; payload_content_type?: string };
}
/** Who may read in addition to the project; https://docs.openstack.org/barbican/latest/api/reference/acls.html */
export interface AccessList {
  read?: { users?: string[]; "project-access"?: boolean };
}

/** A collection whose objects cannot be changed. A create returns the new object's URL. */
export interface KeyCollection<T, Create> extends ReadOnlyCollection<T> {
  create(body: Create, options?: CallOptions): Promise<string>;
  /** 404 is success. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** All ids may be given as the URLs that Barbican itself gives (`secret_ref`, …): only their last part is used. */
export interface KeyManagerService {
  readonly secrets: KeyCollection<Secret, SecretCreate>;
  readonly containers: KeyCollection<SecretContainer, SecretContainerCreate>;
  readonly orders: KeyCollection<KeyOrder, KeyOrderCreate>;
  /** A secret's content. Keep it out of logs. */
  payload(id: string, options?: CallOptions & { contentType?: string }): Promise<Uint8Array>;
  acl(kind: "secrets" | "containers", id: string, options?: CallOptions): Promise<AccessList>;
  setAcl(kind: "secrets" | "containers", id: string, acl: AccessList, options?: CallOptions): Promise<void>;
}
