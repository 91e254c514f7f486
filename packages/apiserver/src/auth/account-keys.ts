import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { CausewayError, messageOf } from "@causeway/foundation";
import type { Json } from "../json/json.ts";
import type { AccountKey, AccountKeys } from "../contract/identity.ts";

/** `signing` is a private key, `others` are public (or private) ones, all PEM. Throws SERVICE_ACCOUNT_KEY_INVALID. */
export function accountKeys(signing: string, others: readonly string[]): AccountKeys {
  const own = read(() => createPrivateKey(signing));
  const all = [createPublicKey(own), ...others.map((pem) => read(() => createPublicKey(pem)))].map(described);
  const verifying = all.filter(({ id }, i) => all.findIndex((other) => other.id === id) === i);
  const [first] = verifying;
  return {
    signing: { key: own, algorithm: algorithmOf(own), id: first?.id ?? "" },
    verifying,
    keySet: { keys: verifying.map(jsonOf) },
  };
}

function read(make: () => KeyObject): KeyObject {
  try {
    const key = make();
    if (["rsa", "ec"].includes(key.asymmetricKeyType ?? "")) return key;
    throw new Error(`it is of type ${String(key.asymmetricKeyType)}`);
  } catch (cause) {
    throw new CausewayError(
      "SERVICE_ACCOUNT_KEY_INVALID",
      `a service-account key cannot be used: ${messageOf(cause)}`,
      {
        hint: "Specify unencrypted PEM keys: RSA, or ECDSA on P-256, P-384 or P-521.",
      },
    );
  }
}

function described(key: KeyObject): AccountKey {
  const id = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { key, algorithm: algorithmOf(key), id };
}

function jsonOf({ key, algorithm, id }: AccountKey): Json {
  const { kty, ...rest } = key.export({ format: "jwk" });
  return { use: "sig", kty, kid: id, alg: algorithm, ...rest };
}

function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === "rsa") return "RS256";
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return curve === "secp384r1" ? "ES384" : curve === "secp521r1" ? "ES512" : "ES256";
}
