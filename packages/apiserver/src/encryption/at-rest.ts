import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { CausewayError, messageOf, type Log } from "@causeway/foundation";
import type { StateFiles } from "../store/state-files.ts";
import { record, text, type Json } from "../json/json.ts";
import type { RecordCodec, Store } from "../store/index.ts";
import { createEncryption, type Encryption } from "./codec.ts";
import { openSeeds } from "./kms-seeds.ts";
import type { EncryptionOptions } from "../contract/encryption.ts";
import { yaml } from "../lazy-imports.ts";

/** The encryption of one state folder. */
export interface EncryptionAtRest {
  /** For the store; nothing may be read or written with it before `open`. */
  readonly codec: RecordCodec;
  /**
   * Reads the configuration, once the store holds the state folder alone; later, as the file has it then. Changes
   * nothing when it throws ENCRYPTION_CONFIG_INVALID, ENCRYPTION_KEY_WRONG, ENCRYPTION_KEY_UNKNOWN,
   * ENCRYPTION_KMS_FAILED. With `isNew` there are no records yet: none is stale.
   */
  open(isNew?: boolean): Promise<void>;
  /**
   * Writes all records as the configuration says; what is so already is passed over, so it may be cut off at any time.
   */
  rewrite(store: Store, signal: AbortSignal): Promise<void>;
  /** Whether a rewrite has something to do. */
  readonly stale: boolean;
}

/** Made in the state folder when no configuration is given: Secrets, AES-GCM, a random key. */
const OWN_FILE = "encryption.json";
/** What is remembered of keys: a text sealed with each, and what all records were last written with. */
const MEMORY = "encryption-keys.json";
const STEP = 200;

type Named = readonly [name: string, content: string];

/**
 * Encryption of a server's records, as `options` or else a configuration of its own says. Its codec throws until
 * `open`.
 */
export function encryptionAtRest(
  files: StateFiles,
  { options, log }: { options: EncryptionOptions | undefined; log: Log },
): EncryptionAtRest {
  let current: Encryption | undefined;
  const opened = (): Encryption => {
    if (current) return current;
    throw new Error("a record was requested before the encryption was opened");
  };
  const open = async (isNew = false): Promise<void> => {
    const own = options ? undefined : ownConfiguration(files);
    const configuration = options ? configurationOf(options.configurationFile) : record(own?.configuration);
    const { keys } = memoryOf(files);
    const seeds = await openSeeds(files, configuration, (label) => Object.hasOwn(record(keys), label));
    const next = createEncryption(configuration, seeds);
    files.writeAll([...(own?.made ?? []), ...remembered(files, next, isNew)]);
    current = next;
  };
  return {
    codec: {
      encode: (json, about) => opened().encode(json, about),
      decode: (value, about) => opened().decode(value, about),
      isCurrent: (value, about) => opened().isCurrent(value, about),
    },
    open,
    get stale() {
      return text(memoryOf(files)["plan"]) !== opened().labels.plan;
    },
    async rewrite(store, signal) {
      for (;;) {
        const { plan } = opened().labels;
        const changed = await rewriteAll(store, signal);
        if (changed === undefined) return;
        // The configuration was changed meanwhile: once more.
        if (plan !== opened().labels.plan) continue;
        settle(files, opened());
        if (changed > 0) log.info("records were rewritten with the first key", { records: changed });
        return;
      }
    },
  };
}

async function rewriteAll(store: Store, signal: AbortSignal): Promise<number | undefined> {
  let changed = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return undefined;
    const step = store.reencode(after, STEP);
    changed += step.changed;
    after = step.next;
  }
  return changed;
}

function configurationOf(file: string): Json {
  const refused = (why: string): CausewayError =>
    new CausewayError("ENCRYPTION_CONFIG_INVALID", `the encryption configuration ${file} cannot be read: ${why}`, {
      hint: "Specify a file that this user may read, with an EncryptionConfiguration.",
    });
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    throw refused(messageOf(error));
  }
  try {
    return record(yaml().parse(content, { prettyErrors: false, logLevel: "error" }));
  } catch {
    // What the parser says would show the keys.
    throw refused("it is not YAML");
  }
}

/** What the state folder has, or what is made for it, with the file that it has to have before a record is written. */
function ownConfiguration(files: StateFiles): { configuration: Json; made: readonly Named[] } {
  const kept = files.read(OWN_FILE);
  if (kept !== undefined) return { configuration: record(JSON.parse(kept)), made: [] };
  const keys = [{ name: "key1", secret: randomBytes(32).toString("base64") }];
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [{ resources: ["secrets"], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
  };
  return { configuration, made: [[OWN_FILE, JSON.stringify(configuration)]] };
}

function memoryOf(files: StateFiles): Json {
  const kept = files.read(MEMORY);
  return kept === undefined ? {} : record(JSON.parse(kept));
}

/**
 * Holds keys against what they were, before a record is read or written with them; answers what to keep of those that
 * are new.
 */
function remembered(files: StateFiles, encryption: Encryption, isNew: boolean): readonly Named[] {
  const memory = memoryOf(files);
  const sealed = { ...record(memory["keys"]) };
  const { known, writing } = encryption.labels;
  for (const [label, canary] of Object.entries(sealed)) {
    if (!known.includes(label)) {
      throw new CausewayError(
        "ENCRYPTION_KEY_UNKNOWN",
        `records may be encrypted with ${label}, which is not configured`,
        {
          hint: "Put that key back, after the first: records are rewritten then, and it can be removed.",
          details: { key: label },
        },
      );
    }
    if (!encryption.opens(label, text(canary))) {
      throw new CausewayError(
        "ENCRYPTION_KEY_WRONG",
        `the key ${label} is not the one that records were encrypted with`,
        {
          hint: "Restore the key of that name, or give the new one another name and put it before the old one.",
          details: { key: label },
        },
      );
    }
  }
  const fresh = writing.filter((label) => sealed[label] === undefined);
  if (fresh.length === 0) return [];
  for (const label of fresh) sealed[label] = encryption.sealed(label);
  const plan = isNew ? { plan: encryption.labels.plan } : {};
  return [[MEMORY, JSON.stringify({ ...memory, keys: sealed, ...plan })]];
}

/** All records are written as planned: keys that wrote others are needed no more. */
function settle(files: StateFiles, { labels }: Encryption): void {
  const kept = Object.entries(record(memoryOf(files)["keys"])).filter(([label]) => labels.writing.includes(label));
  files.write(MEMORY, JSON.stringify({ keys: Object.fromEntries(kept), plan: labels.plan }));
}
