import { generateKeyPair, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import type { KeyParts, Order, Secret, SecretReference } from "../model.ts";

const generate = promisify(generateKeyPair);
const lengths = [1024, 2048, 4096];
const BYTES = "application/octet-stream";

/** Whose an order is, when it was given, and where references begin. */
export interface OrderContext {
  readonly meta: JsonObject;
  readonly project_id: string;
  readonly creator_id: string;
  readonly now: string;
  readonly root: string;
}

/** What an order of an asymmetric key makes. */
export interface KeyPair {
  readonly algorithm: "rsa" | "dsa";
  readonly publicKey: Buffer;
  readonly privateKey: Buffer;
}

type Outcome = Pick<Order, "status" | "secret_id" | "container_id" | "error">;
type Part = Pick<Secret, "secret_type" | "content_type" | "base64" | "expiration">;

/** Keeps a symmetric key of the length that was ordered. */
export function keepKey(parts: KeyParts, ordering: OrderContext): Outcome {
  const base64 = randomBytes(Number(ordering.meta["bit_length"]) / 8).toString("base64");
  const part = { secret_type: "symmetric", content_type: BYTES, base64, expiration: null };
  return { status: "ACTIVE", secret_id: keep(parts, ordering, part) };
}

/**
 * Keeps a pair as secrets in a container, with the passphrase it was ordered with; without a pair the order has failed.
 */
export function keepPair(parts: KeyParts, ordering: OrderContext, pair: KeyPair | undefined): Outcome {
  const { meta, project_id, creator_id, now, root } = ordering;
  if (!pair) {
    const error = { code: "500", reason: "Process TypeOrder failure seen - please contact site administrator." };
    return { status: "ERROR", error };
  }
  const passphrase = textAt(meta, "passphrase");
  const secret = (
    name: string,
    secret_type: string,
    [bytes, content_type]: readonly [Buffer, string],
  ): SecretReference => {
    const part = { secret_type, content_type, base64: bytes.toString("base64"), expiration: expiry(meta) };
    return { name, secret_ref: `${root}/secrets/${keep(parts, ordering, part)}` };
  };
  const secret_refs = [
    secret("private_key", "private", [pair.privateKey, BYTES]),
    secret("public_key", "public", [pair.publicKey, BYTES]),
    ...(passphrase === undefined
      ? []
      : [secret("private_key_passphrase", "passphrase", [Buffer.from(passphrase), "text/plain"])]),
  ];
  const about = { name: textAt(meta, "name") ?? null, type: pair.algorithm, created: now, updated: now };
  const { id } = parts.tables.containers.insert({
    id: parts.kernel.newId(),
    project_id,
    creator_id,
    secret_refs,
    ...about,
  });
  return { status: "ACTIVE", container_id: id };
}

/** One secret of an order, with what the order says of it; returns its id. */
function keep({ kernel, tables }: KeyParts, { meta, project_id, creator_id, now }: OrderContext, part: Part): string {
  const { id } = tables.secrets.insert({
    id: kernel.newId(),
    name: textAt(meta, "name") ?? null,
    project_id,
    creator_id,
    algorithm: textAt(meta, "algorithm") ?? null,
    bit_length: Number(meta["bit_length"]),
    mode: textAt(meta, "mode") ?? null,
    ...part,
    created: now,
    updated: now,
  });
  return id;
}

/**
 * Makes RSA keys (in PEM) or DSA keys (in DER) of 1024, 2048 or 4096 bits; undefined for any other kind, which
 * Barbican's software plug-in does not make.
 */
export async function pairOf(meta: JsonObject): Promise<KeyPair | undefined> {
  const [algorithm, modulusLength] = [textAt(meta, "algorithm")?.toLowerCase() ?? "", Number(meta["bit_length"])];
  if ((algorithm !== "rsa" && algorithm !== "dsa") || !lengths.includes(modulusLength)) return undefined;
  const passphrase = textAt(meta, "passphrase");
  const cipher = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  const made =
    algorithm === "rsa"
      ? await generate("rsa", {
          modulusLength,
          publicKeyEncoding: { type: "spki", format: "pem" },
          privateKeyEncoding: { type: "pkcs8", format: "pem", ...cipher },
        })
      : await generate("dsa", {
          modulusLength,
          publicKeyEncoding: { type: "spki", format: "der" },
          privateKeyEncoding: { type: "pkcs8", format: "der", ...cipher },
        });
  return { algorithm, publicKey: Buffer.from(made.publicKey), privateKey: Buffer.from(made.privateKey) };
}

function expiry(meta: JsonObject): string | null {
  const at = Date.parse(textAt(meta, "expiration") ?? "");
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, 19);
}
