import { CausewayError, messageOf } from "@causeway/foundation";
import type { KmsService } from "@causeway/kms";
import { decrypt, encrypt } from "./cipher/cipher.ts";
import { decryptUpstream } from "./cipher/plan-upstream.ts";
import type { Keys } from "./keys/keys.ts";

const PROBE = Buffer.from("causeway barbican-kms");

/** Whether data is read that barbican-kms-plugin of cloud-provider-openstack encrypted. */
export interface UpstreamData {
  /** Data of the upstream plugin is decrypted. */
  readonly readUpstreamData: boolean;
  /** Called for each of them. */
  readonly onUpstreamData: () => void;
}

/**
 * KMS v2 with the keys of Barbican. The id of a key is the id of its secret: data is decrypted with the key that it
 * names, so that after a change of `currentKeyId` old data is read until the API server has written it again.
 */
export function createService(keys: Keys, currentKeyId: () => string, upstream: UpstreamData): KmsService {
  return {
    async status() {
      const keyId = currentKeyId();
      try {
        const key = await keys.get(keyId);
        const opened = decrypt(key, encrypt(key, keyId, PROBE));
        const healthz = PROBE.equals(opened)
          ? (keys.conflict(keyId) ?? "ok")
          : "the key does not decrypt what it encrypts";
        return { version: "v2", healthz, keyId };
      } catch (error) {
        return { version: "v2", healthz: messageOf(error), keyId };
      }
    },
    async encrypt(plaintext) {
      const keyId = currentKeyId();
      return encrypt(await keys.get(keyId), keyId, plaintext);
    },
    async decrypt(encrypted) {
      if (encrypted.ciphertext.length === 0)
        throw new CausewayError("KMS_REQUEST_INVALID", "There is no data to decrypt.");
      const key = await keys.get(encrypted.keyId);
      if (!upstream.readUpstreamData) return decrypt(key, encrypted);
      try {
        return decrypt(key, encrypted);
      } catch (error) {
        const opened = decryptUpstream(key, encrypted);
        if (opened === undefined) throw error;
        upstream.onUpstreamData();
        return opened;
      }
    },
  };
}
