import { createRequest, type KeyPair } from "@causeway/foundation";
import type { Requester } from "./heat.ts";

/** The authorities that Magnum has for each cluster. */
export type AuthorityType = "kubernetes" | "kubelet" | "etcd" | "front-proxy";

export interface Names {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
}

/** Certificates as the driver's machines get them: by Magnum's certificates API. */
export interface Certificates {
  authority(type: AuthorityType): Promise<string>;
  issue(type: AuthorityType, names: Names): Promise<KeyPair>;
}

export function certificatesOf(ask: Requester, uuid: string): Certificates {
  return {
    async authority(type) {
      const found = await ask("GET", "container-infra", `/certificates/${uuid}?ca_cert_type=${type}`);
      return (found as { pem: string }).pem;
    },
    async issue(type, names) {
      const { request: csr, key } = await createRequest(names);
      const body = { ca_cert_type: type, cluster_uuid: uuid, csr };
      const { pem } = (await ask("POST", "container-infra", "/certificates", body)) as { pem: string };
      return { certificate: pem, key };
    },
  };
}
