import { createPrivateKey } from "node:crypto";
import { issueCertificate, type Clock, type KeyPair } from "@causeway/foundation";
import { yaml } from "../lazy-imports.ts";

const YEAR = 365 * 86_400_000;

/** Whom a kubeconfig is for; by default the administrator kubernetes-admin, in group system:masters. */
export interface KubeconfigOptions {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly server?: string;
}

/** A kubeconfig (v1 Config, YAML) with a new client certificate of `authority`. */
export async function makeKubeconfig(
  cluster: { name: string; server: string; servingAuthority: string; authority: KeyPair; clock: Clock },
  options: KubeconfigOptions,
): Promise<string> {
  const commonName = options.commonName ?? "kubernetes-admin";
  const { certificate, key } = await issueCertificate(cluster.authority, {
    commonName,
    organizations: options.organizations ?? (options.commonName === undefined ? ["system:masters"] : []),
    usages: ["client"],
    lifetime: YEAR,
    now: cluster.clock.now(),
  });
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  const context = `${commonName}@${cluster.name}`;
  return yaml().stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      {
        name: cluster.name,
        cluster: {
          "certificate-authority-data": base64(cluster.servingAuthority),
          server: options.server ?? cluster.server,
        },
      },
    ],
    contexts: [{ name: context, context: { cluster: cluster.name, user: commonName } }],
    "current-context": context,
    preferences: {},
    users: [
      {
        name: commonName,
        user: { "client-certificate-data": base64(certificate), "client-key-data": base64(sec1(key)) },
      },
    ],
  });
}

/**
 * An EC key as "BEGIN EC PRIVATE KEY" (RFC 5915), which every client reads: fabric8 (Java) does not read EC keys in
 * PKCS #8.
 */
function sec1(pem: string): string {
  const key = createPrivateKey(pem);
  return key.asymmetricKeyType === "ec" ? key.export({ type: "sec1", format: "pem" }).toString() : pem;
}
