/** What a program that keeps keys says of itself. */
export interface KmsStatus {
  /** "v2". */
  readonly version: string;
  /** "ok", or what is wrong. */
  readonly healthz: string;
  /** Of the key that `encrypt` uses now. */
  readonly keyId: string;
}

/** What a plugin adds to what it encrypted, in plain text. */
export type Annotations = Readonly<Record<string, Uint8Array>>;

/** What a plugin encrypted, and what it needs to decrypt it. */
export interface Encrypted {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  /** Stored in the clear next to the ciphertext. Keys are domain names. */
  readonly annotations: Annotations;
}

/** KMS v2, https://github.com/kubernetes/kms. An API server encrypts the keys of its records with it. */
export interface KmsService {
  status(signal?: AbortSignal): Promise<KmsStatus>;
  encrypt(plaintext: Uint8Array, uid: string, signal?: AbortSignal): Promise<Encrypted>;
  decrypt(encrypted: Encrypted, uid: string, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Bytes that a ciphertext or a key id may have. Source: the comments of kms.proto. */
export const LARGEST_FIELD = 1023;
