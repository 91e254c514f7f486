import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
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
  const { publicKey, privateKey } = await nextPair();
  return { certificate: publicKey, key: privateKey };
}

const generate = promisify(generateKeyPair);
/** Milliseconds: what was created meanwhile has its processors to itself. */
const SPARE_AFTER = 200;

let spare: ReturnType<typeof rsaPair> | undefined;
let timer: NodeJS.Timeout | undefined;

/**
 * A pair of RSA, which takes a tenth of a second of another thread. One is made in advance, when none was requested for
 * a while, so that a control plane seldom waits for it.
 */
function nextPair(): ReturnType<typeof rsaPair> {
  const pair = spare ?? rsaPair();
  spare = undefined;
  timer?.refresh();
  timer ??= setTimeout(() => {
    spare ??= rsaPair();
    // The control plane that takes it sees the error.
    spare.catch(() => {});
  }, SPARE_AFTER).unref();
  return pair;
}

function rsaPair(): Promise<{ publicKey: string; privateKey: string }> {
  return generate("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}
