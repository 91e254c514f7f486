import { CausewayError } from "@causeway/foundation";
import type { Json } from "../json/json.ts";
import type { RecordCodec, StoreKey } from "../store/index.ts";
import type { Seeds } from "./kms-seeds.ts";
import { readConfiguration, type Provider, type Rule } from "./configuration.ts";

/** A store's codec as a configuration says. */
export interface Encryption extends Required<RecordCodec> {
  /** The labels of all keys, of those that records are written with now, and what is written with which. */
  readonly labels: { readonly known: readonly string[]; readonly writing: readonly string[]; readonly plan: string };
  /** A text sealed with a key, to check later whether a key of that name is still the same. */
  sealed(label: string): string;
  opens(label: string, sealed: string): boolean;
}

/** "k8s:enc:aesgcm:v1:key1:" and then what the cipher made. Records that are text are not encrypted. */
const MARK = "k8s:enc:";
const CANARY = Buffer.from("canary");
const NO_PLACE = Buffer.from("no record");

/** Throws ENCRYPTION_CONFIG_INVALID. */
export function createEncryption(configuration: Json, seeds?: Seeds): Encryption {
  const rules = readConfiguration(configuration, seeds);
  const writer = (about: StoreKey): Provider | undefined => rules.find((r) => r.covers(about))?.providers[0];
  const all = (): readonly Provider[] => rules.flatMap((r) => r.providers);
  const labelled = (label: string): Provider | undefined => all().find((p) => p.label === label && p.cipher);
  return {
    encode(json, about) {
      const provider = writer(about);
      if (!provider?.cipher) return json;
      const mark = Buffer.from(`${MARK}${provider.label}:`);
      return Buffer.concat([mark, provider.cipher.seal(Buffer.from(json), placeOf(about))]);
    },
    decode: (value, about) => (typeof value === "string" ? value : open(rules, value, about)),
    isCurrent(value, about) {
      const provider = writer(about);
      if (!provider?.cipher) return typeof value === "string";
      return typeof value !== "string" && labelOf(value).label === provider.label;
    },
    get labels() {
      const known = all().map((p) => p.label);
      const writing = rules.map((r) => r.providers[0]?.label ?? "");
      const plan = JSON.stringify(rules.map((r, i) => [r.resources, writing[i]]));
      return { known: [...new Set(known)].filter(Boolean), writing: [...new Set(writing)].filter(Boolean), plan };
    },
    sealed: (label) => labelled(label)?.cipher?.seal(CANARY, NO_PLACE).toString("base64") ?? "",
    opens: (label, sealed) =>
      all().some((p) => p.label === label && p.cipher && tried(p, Buffer.from(sealed, "base64"), NO_PLACE)),
  };
}

/** Binds a record to its place, so that no copy of it passes for another. */
function placeOf({ cluster, resource, namespace, name }: StoreKey): Buffer {
  return Buffer.from([cluster, resource, namespace, name].join("\0"));
}

function labelOf(value: Uint8Array): { label: string; start: number } {
  const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.byteLength, 512)).toString("latin1");
  const [mark, label = ""] = /^k8s:enc:([^:]+:[^:]+:[^:]+):/.exec(head) ?? [""];
  return { label, start: mark.length };
}

function open(rules: readonly Rule[], value: Uint8Array, about: StoreKey): string {
  const { label, start } = labelOf(value);
  const sealed = Buffer.from(value.buffer, value.byteOffset + start, value.byteLength - start);
  const place = placeOf(about);
  // A resource that a configuration covers no more is still read with the keys it has.
  const own = rules.filter((r) => r.covers(about)).flatMap((r) => r.providers);
  const matching = [...own, ...rules.flatMap((r) => r.providers)].filter((p) => p.label === label);
  const details = { resource: about.resource, namespace: about.namespace, name: about.name, key: label };
  if (label === "" || matching.length === 0) {
    throw new CausewayError("ENCRYPTION_KEY_UNKNOWN", `a record is encrypted with ${label || "an unknown key"}`, {
      hint: "Put that key back into the encryption configuration; records are rewritten before a key is removed.",
      details,
    });
  }
  for (const provider of matching) {
    const plain = tried(provider, sealed, place);
    if (plain !== undefined) return plain.toString();
  }
  throw new CausewayError("ENCRYPTION_RECORD_UNREADABLE", `a record does not open with ${label}`, {
    hint: "The key of that name is another one, or the record was changed on disk: restore the key, or a backup.",
    details,
  });
}

function tried({ cipher }: Provider, sealed: Buffer, place: Buffer): Buffer | undefined {
  try {
    return cipher?.open(sealed, place);
  } catch {
    return undefined;
  }
}
