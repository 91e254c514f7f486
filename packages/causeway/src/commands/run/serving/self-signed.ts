import { hostname } from "node:os";
import { createAuthority, issueCertificate, type KeyPair } from "@causeway/foundation";

const year = 365 * 86_400_000;

/** A certificate for this host and this process alone. */
export async function selfSigned(): Promise<KeyPair> {
  const authority = await createAuthority({ commonName: "causeway-cloud-controller-manager-ca", lifetime: year });
  return issueCertificate(authority, {
    commonName: hostname(),
    dnsNames: [hostname(), "localhost"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: year,
  });
}
