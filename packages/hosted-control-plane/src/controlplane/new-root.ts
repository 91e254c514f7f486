import { generateKeyPairSync } from "node:crypto";
import { createAuthority, type KeyPair } from "@causeway/foundation";
import type { RootPurpose } from "./steps.ts";

/** Ten years, as KubeadmControlPlane gives its roots. */
const rootLifetime = 10 * 365 * 24 * 3600_000;

/** The "sa" pair is a bare key: tls.crt holds the public half, as kubeadm's sa.pub does. */
export async function newRoot(purpose: RootPurpose, cluster: string, now: number): Promise<KeyPair> {
  if (purpose !== "sa")
    return createAuthority({
      commonName: purpose === "ca" ? "kubernetes" : `${cluster}-front-proxy`,
      lifetime: rootLifetime,
      now,
    });
  const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return {
    certificate: pair.publicKey.export({ type: "spki", format: "pem" }).toString(),
    key: pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
