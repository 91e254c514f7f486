import { issueCertificate, type KeyPair } from "@causeway/foundation";

const DAY = 86_400_000;

/** A certificate for a day, for a server of this machine's own: localhost and 127.0.0.1. */
export const servingOnLoopback = (authority: KeyPair, commonName: string): Promise<KeyPair> =>
  issueCertificate(authority, {
    commonName,
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: DAY,
  });
