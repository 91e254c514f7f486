import { connect } from "node:net";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { CausewayError } from "@causeway/foundation";
import { socketPath } from "./endpoint.ts";
import { KeyManagementService } from "./protocol.generated.ts";
import { LARGEST_FIELD, type Encrypted, type KmsService } from "./service.ts";

/** A KMS plugin on a socket. */
export interface KmsClient extends KmsService {
  close(): void;
}

/**
 * Connects at the first call. Calls throw KMS_CALL_FAILED, also for a response that breaks the protocol's limits.
 *
 * @example
 * const kms = kmsClient("unix:///run/kms.sock");
 * const { ciphertext, keyId, annotations } = await kms.encrypt(seed, "uid");
 */
export function kmsClient(endpoint: string, { timeout = 3_000 }: { timeout?: number } = {}): KmsClient {
  const path = socketPath(endpoint);
  const baseUrl = "http://localhost";
  const sessionManager = new Http2SessionManager(baseUrl, {}, { createConnection: () => connect(path) });
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    readMaxBytes: 64 * 1024,
    defaultTimeoutMs: timeout,
  });
  const client = createClient(KeyManagementService, transport);
  const call = async <T>(method: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      const why = cause instanceof ConnectError ? cause.rawMessage : "the connection failed";
      throw failed(`${method} at ${path}: ${why}`, cause);
    }
  };
  return {
    async status(signal) {
      const { version, healthz, keyId } = await call("Status", () => client.status({}, { ...(signal && { signal }) }));
      checkField("Status", "key id", Buffer.byteLength(keyId));
      return { version, healthz, keyId };
    },
    async encrypt(plaintext, uid, signal): Promise<Encrypted> {
      const request = { plaintext: Uint8Array.from(plaintext), uid };
      const { ciphertext, keyId, annotations } = await call("Encrypt", () =>
        client.encrypt(request, { ...(signal && { signal }) }),
      );
      checkField("Encrypt", "ciphertext", ciphertext.length);
      checkField("Encrypt", "key id", Buffer.byteLength(keyId));
      return { ciphertext, keyId, annotations };
    },
    async decrypt({ ciphertext, keyId, annotations }, uid, signal) {
      const request = { ciphertext: Uint8Array.from(ciphertext), keyId, uid, annotations: ownBytes(annotations) };
      return (await call("Decrypt", () => client.decrypt(request, { ...(signal && { signal }) }))).plaintext;
    },
    close: () => sessionManager.abort(),
  };
}

function ownBytes(annotations: Encrypted["annotations"]): Record<string, Uint8Array<ArrayBuffer>> {
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, Uint8Array.from(value)]));
}

function checkField(method: string, field: string, size: number): void {
  if (size === 0 || size > LARGEST_FIELD)
    throw failed(`${method}: the ${field} has ${size} bytes, not 1 to ${LARGEST_FIELD}`);
}

function failed(why: string, cause?: unknown): CausewayError {
  return new CausewayError("KMS_CALL_FAILED", `The KMS plugin failed: ${why}.`, {
    cause,
    hint: "See the plugin's log and that its socket is there; records that need its keys cannot be read meanwhile.",
  });
}
