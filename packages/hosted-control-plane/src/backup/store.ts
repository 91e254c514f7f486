import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { CausewayError } from "@causeway/foundation";

/** Where backups are kept: a container of Swift, a bucket of S3, or a folder. A name may have slashes. */
export interface ObjectStore {
  /** What it is, for messages: "container backups of cloud production". */
  readonly description: string;
  /** Creates or replaces. The object is kept safely when this returns. */
  put(name: string, data: Uint8Array, signal: AbortSignal): Promise<void>;
  get(name: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Every name with the prefix, in order. */
  list(prefix: string, signal: AbortSignal): Promise<string[]>;
  /** No such object is success. */
  delete(name: string, signal: AbortSignal): Promise<void>;
}

/** An object store whose objects are JSON, compressed and encrypted with the operator's key. */
export interface SealedStore {
  put(name: string, value: unknown, signal: AbortSignal): Promise<void>;
  /** @throws BACKUP_INCOMPLETE, BACKUP_UNREADABLE */
  get(name: string, signal: AbortSignal): Promise<unknown>;
  list(prefix: string, signal: AbortSignal): Promise<string[]>;
  delete(name: string, signal: AbortSignal): Promise<void>;
}

const MAGIC = Buffer.from("CWB1");
const NONCE = 12;
const TAG = 16;
/** Of one object when it is decompressed. */
const LARGEST = 256 * 2 ** 20;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * AES-256-GCM with the object's name as associated data, so that no object can be put in the place of another.
 * @throws BACKUP_KEY_INVALID if the key does not have 32 bytes
 */
export function sealedStore(store: ObjectStore, key: Uint8Array): SealedStore {
  if (key.length !== 32)
    throw new CausewayError("BACKUP_KEY_INVALID", `the key of backups has ${key.length} bytes in place of 32`, {
      hint: "Create one: openssl rand -base64 32",
    });
  return {
    async put(name, value, signal) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(Buffer.from(name));
      const plain = await compress(JSON.stringify(value));
      const sealed = [cipher.update(plain), cipher.final()];
      await store.put(name, Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), ...sealed]), signal);
    },
    async get(name, signal) {
      const data = await store.get(name, signal);
      if (data === undefined) throw incomplete(store, name);
      try {
        return await opened(key, name, Buffer.from(data));
      } catch (cause) {
        throw unreadable(store, name, cause);
      }
    },
    list: (prefix, signal) => store.list(prefix, signal),
    delete: (name, signal) => store.delete(name, signal),
  };
}

async function opened(key: Uint8Array, name: string, data: Buffer): Promise<unknown> {
  const start = MAGIC.length + NONCE + TAG;
  if (data.length < start || !data.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error("it is no backup");
  const nonce = data.subarray(MAGIC.length, MAGIC.length + NONCE);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG })
    .setAAD(Buffer.from(name))
    .setAuthTag(data.subarray(start - TAG, start));
  const plain = Buffer.concat([decipher.update(data.subarray(start)), decipher.final()]);
  return JSON.parse((await decompress(plain, { maxOutputLength: LARGEST })).toString()) as unknown;
}

function incomplete({ description }: ObjectStore, name: string): CausewayError {
  return new CausewayError("BACKUP_INCOMPLETE", `${name} of the backup is missing in ${description}`, {
    hint: "Restore to another time, or restore the object in the store.",
  });
}

function unreadable({ description }: ObjectStore, name: string, cause: unknown): CausewayError {
  return new CausewayError("BACKUP_UNREADABLE", `${name} in ${description} cannot be decrypted`, {
    hint: "Use the key that the backup was written with; if it is that key, the object was changed: restore to another time.",
    cause,
  });
}

/** No object store and key were configured. */
export function notOffered(): CausewayError {
  return new CausewayError("BACKUPS_NOT_OFFERED", "control planes are not backed up or restored here", {
    hint: "Start causeway up or causeway run hosted-control-plane with --backup-key-file and --backup-cloud or --backup-s3-endpoint, or remove spec.backup and spec.restore.",
  });
}
