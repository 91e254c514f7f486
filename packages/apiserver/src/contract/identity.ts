import type { KeyObject, X509Certificate } from "node:crypto";
import type { User } from "./user.ts";
import type { Json } from "../json/json.ts";

/** A key that service-account tokens are signed or verified with. */
export interface AccountKey {
  readonly key: KeyObject;
  readonly algorithm: string;
  /** The digest of the public key, as kube-apiserver names its keys. */
  readonly id: string;
}

/** The keys of a cluster's service-account tokens. */
export interface AccountKeys {
  readonly signing: AccountKey;
  /** Public keys: that of the signing key first, then those that signed before it. */
  readonly verifying: readonly AccountKey[];
  /** RFC 7517. */
  readonly keySet: Json;
}

/** The authorities whose client certificates a cluster takes: its own, and those of a bundle that may change. */
export interface ClientAuthorities {
  readonly certificates: readonly X509Certificate[];
  /** Grows whenever they change: what was found with others holds no more. */
  readonly generation: number;
  /** Reads the bundle again. Throws CLIENT_AUTHORITY_INVALID, and changes nothing then. */
  reload(): void;
}

/** Whose token it is, and for which of the requested audiences. */
export interface TokenFacts {
  readonly user: User;
  readonly audiences: readonly string[];
}

/** All that is known about bearer tokens of one cluster. */
export interface Tokens {
  /** The user and audiences of a token, or why it is not valid. Never throws. */
  verify(token: string, audiences?: readonly string[]): Promise<TokenFacts | { readonly error: string }>;
  /** Whether requests without credentials are accepted at this path. */
  admitsAnonymous(path: string): boolean;
  close(): void;
}
