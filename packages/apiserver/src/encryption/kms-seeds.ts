import { randomBytes } from "node:crypto";
import { CausewayError, messageOf } from "@causeway/foundation";
import type { Encrypted } from "@causeway/kms";
import { record, records, text, type Json } from "../json/json.ts";
import { kms } from "../lazy-imports.ts";
import type { StateFiles } from "../store/state-files.ts";

/** A key of records that a KMS plugin has encrypted. */
export interface Seed {
  /** "kms:v2:NAME.ID". */
  readonly label: string;
  readonly key: Buffer;
}

/** By the provider's name; the first is what records are written with. */
export type Seeds = ReadonlyMap<string, readonly Seed[]>;

/** The seeds as the plugin encrypted them: it alone can open them. */
const FILE = "encryption-kms.json";
const SEED = 32;

interface Kept extends Omit<Encrypted, "ciphertext" | "annotations"> {
  readonly label: string;
  /** base64 */
  readonly ciphertext: string;
  /** base64 */
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Has the plugins of a configuration decrypt the seeds of the state folder, and makes a new one where the plugin's key
 * is another than that of the last. `needed` says which old seeds records may still be written with. @throws
 * ENCRYPTION_KMS_FAILED
 */
export async function openSeeds(
  files: StateFiles,
  configuration: Json,
  needed: (label: string) => boolean,
): Promise<Seeds> {
  const seeds = new Map<string, readonly Seed[]>();
  const found = records(configuration["resources"]).flatMap((entry) => records(entry["providers"]));
  for (const provider of found) {
    const settings = record(provider["kms"]);
    const name = text(settings["name"]);
    // What is wrong with a provider is said where the configuration is read.
    if (!isKms(settings) || seeds.has(name)) continue;
    seeds.set(name, await seedsOf(files, { name, endpoint: text(settings["endpoint"]), needed }));
  }
  return seeds;
}

/** A provider that names a plugin of KMS v2. */
export function isKms(settings: Json): boolean {
  const { apiVersion, name, endpoint } = settings;
  return apiVersion === "v2" && /^[\w-]+$/.test(text(name)) && text(endpoint).startsWith("unix:///");
}

interface Plugin {
  readonly name: string;
  readonly endpoint: string;
  readonly needed: (label: string) => boolean;
}

async function seedsOf(files: StateFiles, { name, endpoint, needed }: Plugin): Promise<readonly Seed[]> {
  const client = kms().kmsClient(endpoint);
  try {
    const { healthz, keyId } = await client.status();
    if (healthz !== "ok") throw new Error(healthz);
    const all = record(JSON.parse(files.read(FILE) ?? "{}")) as Readonly<Record<string, readonly Kept[] | undefined>>;
    const kept = (all[name] ?? []).filter(({ label }, i) => i === 0 || needed(label));
    const seeds: Seed[] = [];
    for (const { label, ...sealed } of kept)
      seeds.push({ label, key: Buffer.from(await client.decrypt(opened(sealed), label)) });
    if (kept[0]?.keyId === keyId) return seeds;
    const label = `kms:v2:${name}.${randomBytes(8).toString("hex")}`;
    const key = randomBytes(SEED);
    const fresh = closed(label, await client.encrypt(key, label));
    // Before a record is written with it.
    files.write(FILE, JSON.stringify({ ...all, [name]: [fresh, ...kept] }));
    return [{ label, key }, ...seeds];
  } catch (cause) {
    throw new CausewayError("ENCRYPTION_KMS_FAILED", `the KMS plugin ${name} cannot be used: ${messageOf(cause)}`, {
      cause,
      hint: "Start the plugin, and see its log: records that its key encrypted cannot be read without it.",
    });
  } finally {
    client.close();
  }
}

function opened({ ciphertext, keyId, annotations }: Omit<Kept, "label">): Encrypted {
  const bytes = Object.entries(annotations).map(([name, value]) => [name, Buffer.from(value, "base64")] as const);
  return { ciphertext: Buffer.from(ciphertext, "base64"), keyId, annotations: Object.fromEntries(bytes) };
}

function closed(label: string, { ciphertext, keyId, annotations }: Encrypted): Kept {
  const texts = Object.entries(annotations).map(
    ([name, value]) => [name, Buffer.from(value).toString("base64")] as const,
  );
  return {
    label,
    ciphertext: Buffer.from(ciphertext).toString("base64"),
    keyId,
    annotations: Object.fromEntries(texts),
  };
}
