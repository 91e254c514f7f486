import { CausewayError } from "@causeway/foundation";
import { records, record, text, texts, type Json } from "../json/json.ts";
import type { StoreKey } from "../store/index.ts";
import { isKms, type Seeds } from "./kms-seeds.ts";
import { createCipher, KEY_LENGTHS, type Cipher, type CipherName } from "./ciphers.ts";

/** A key, or "identity": no encryption. */
export interface Provider {
  /** "aesgcm:v1:NAME", the prefix of every record that is encrypted with it; "" for identity. */
  readonly label: string;
  readonly cipher: Cipher | undefined;
}

/** Which providers are for which resources: the first writes, all read. */
export interface Rule {
  readonly resources: readonly string[];
  covers(about: StoreKey): boolean;
  readonly providers: readonly Provider[];
}

const API_VERSION = "apiserver.config.k8s.io/v1";

/**
 * Reads an apiserver.config.k8s.io/v1 EncryptionConfiguration. Throws ENCRYPTION_CONFIG_INVALID, which never shows a
 * key.
 */
export function readConfiguration(configuration: Json, seeds: Seeds = new Map()): readonly Rule[] {
  if (configuration["apiVersion"] !== API_VERSION || configuration["kind"] !== "EncryptionConfiguration") {
    throw invalid(`it is not an ${API_VERSION} EncryptionConfiguration`);
  }
  const entries = records(configuration["resources"]);
  if (entries.length === 0) throw invalid("it has no resources");
  return entries.map((entry, i): Rule => {
    const resources = texts(entry["resources"]);
    if (resources.length === 0) throw invalid(`resources[${i}] names no resources`);
    const providers = records(entry["providers"]).flatMap((p, j) =>
      providersOf(p, `resources[${i}].providers[${j}]`, seeds),
    );
    if (providers.length === 0) throw invalid(`resources[${i}] has no providers`);
    return { resources, covers: (about) => resources.some((r) => isNamed(r, about.resource)), providers };
  });
}

function invalid(why: string): CausewayError {
  return new CausewayError("ENCRYPTION_CONFIG_INVALID", `the encryption configuration cannot be used: ${why}`, {
    hint: "Correct it as kubernetes.io, Encrypting Confidential Data at Rest, describes; the providers are identity, aescbc, aesgcm, secretbox and kms v2.",
  });
}

function providersOf(provider: Json, path: string, seeds: Seeds): Provider[] {
  const [name = "", ...others] = Object.keys(provider);
  if (others.length > 0 || name === "") throw invalid(`${path} must be exactly one provider`);
  if (name === "identity") return [{ label: "", cipher: undefined }];
  if (name === "kms") return kmsProviders(record(provider["kms"]), path, seeds);
  if (!isCipher(name)) throw invalid(`${path} is of kind "${name}"`);
  const keys = records(record(provider[name])["keys"]);
  if (keys.length === 0) throw invalid(`${path}.${name} has no keys`);
  return keys.map((key, i) => {
    const label = text(key["name"]);
    const secret = Buffer.from(text(key["secret"]), "base64");
    if (label === "" || label.includes(":")) throw invalid(`${path}.${name}.keys[${i}] needs a name without ":"`);
    const lengths = KEY_LENGTHS[name];
    if (!lengths.includes(secret.length)) {
      throw invalid(`${path}.${name}.keys[${i}] must be ${lengths.join(", ")} bytes in base64`);
    }
    return { label: `${name}:v1:${label}`, cipher: createCipher(name, secret) };
  });
}

function kmsProviders(settings: Json, path: string, seeds: Seeds): Provider[] {
  const found = isKms(settings) ? seeds.get(text(settings["name"])) : undefined;
  if (found === undefined) throw invalid(`${path}.kms needs apiVersion v2, a name, and an endpoint unix:///PATH`);
  return found.map(({ label, key }) => ({ label, cipher: createCipher("aesgcm", key) }));
}

function isCipher(name: string): name is CipherName {
  return Object.hasOwn(KEY_LENGTHS, name);
}

/** Whether "secrets", "deployments.apps", "*.apps", "*." or "*.*" means what the store keeps under "group/plural". */
function isNamed(wanted: string, resource: string): boolean {
  const slash = resource.indexOf("/");
  const [group, plural] = [resource.slice(0, slash), resource.slice(slash + 1)];
  if (wanted === "*.*") return true;
  const dot = wanted.indexOf(".");
  if (dot < 0) return group === "" && plural === wanted;
  const [wantedPlural, wantedGroup] = [wanted.slice(0, dot), wanted.slice(dot + 1)];
  return group === wantedGroup && (wantedPlural === "*" || wantedPlural === plural);
}
