import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { textAt, type JsonObject } from "../kernel/json.ts";
import type { KeyParts, Order, Secret, SecretReference } from "./model.ts";

const generate = promisify(generateKeyPair);
const lengths = [1024, 2048, 4096];

/** Whose an order is, when it was given, and where references begin. */
export interface Ordering {
  readonly meta: JsonObject;
  readonly project_id: string;
  readonly creator_id: string;
  readonly now: string;
  readonly root: string;
}

type Outcome = Pick<Order, "status" | "container_id" | "error">;

/**
 * A pair of RSA or DSA keys of 1024, 2048 or 4096 bits, as secrets in a container, with the passphrase it was ordered with; of any other
 * kind the order fails later, as Barbican's software plug-in has it.
 */
export async function makePair({ kernel, tables }: KeyParts, ordering: Ordering): Promise<Outcome> {
  const { meta, project_id, creator_id, now, root } = ordering;
  const [algorithm, bits] = [textAt(meta, "algorithm")?.toLowerCase() ?? "", Number(meta["bit_length"])];
  if ((algorithm !== "rsa" && algorithm !== "dsa") || !lengths.includes(bits)) {
    const error = { code: "500", reason: "Process TypeOrder failure seen - please contact site administrator." };
    return { status: "ERROR", error };
  }
  const passphrase = textAt(meta, "passphrase");
  const keys = await pair(algorithm, bits, passphrase);
  const references: SecretReference[] = [];
  const keep = (name: string, part: Pick<Secret, "secret_type" | "content_type" | "base64">): void => {
    const id = kernel.newId();
    const told = { algorithm: textAt(meta, "algorithm") ?? null, bit_length: bits, mode: textAt(meta, "mode") ?? null };
    const named = { name: textAt(meta, "name") ?? null, project_id, creator_id };
    tables.secrets.insert({
      id,
      ...named,
      ...told,
      ...part,
      expiration: expiry(meta),
      created: now,
      updated: now,
    });
    references.push({ name, secret_ref: `${root}/secrets/${id}` });
  };
  const container_id = kernel.newId();
  kernel.atomic(() => {
    const content_type = "application/octet-stream";
    keep("private_key", { secret_type: "private", content_type, base64: keys.privateKey.toString("base64") });
    keep("public_key", { secret_type: "public", content_type, base64: keys.publicKey.toString("base64") });
    if (passphrase !== undefined) {
      const base64 = Buffer.from(passphrase).toString("base64");
      keep("private_key_passphrase", { secret_type: "passphrase", content_type: "text/plain", base64 });
    }
    const about = { name: textAt(meta, "name") ?? null, type: algorithm, created: now, updated: now };
    tables.containers.insert({ id: container_id, project_id, creator_id, secret_refs: references, ...about });
  });
  return { status: "ACTIVE", container_id };
}

/** RSA keys in PEM, DSA keys in DER. */
function pair(
  algorithm: "rsa" | "dsa",
  modulusLength: number,
  passphrase: string | undefined,
): Promise<{ readonly publicKey: Buffer; readonly privateKey: Buffer }> {
  const cipher = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  const bytes = (key: string | Buffer) => Buffer.from(key);
  const made =
    algorithm === "rsa"
      ? generate("rsa", {
          modulusLength,
          publicKeyEncoding: { type: "spki", format: "pem" },
          privateKeyEncoding: { type: "pkcs8", format: "pem", ...cipher },
        })
      : generate("dsa", {
          modulusLength,
          publicKeyEncoding: { type: "spki", format: "der" },
          privateKeyEncoding: { type: "pkcs8", format: "der", ...cipher },
        });
  return made.then(({ publicKey, privateKey }) => ({ publicKey: bytes(publicKey), privateKey: bytes(privateKey) }));
}

function expiry(meta: JsonObject): string | null {
  const at = Date.parse(textAt(meta, "expiration") ?? "");
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, 19);
}
