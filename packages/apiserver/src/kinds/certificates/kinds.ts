import { define, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { CSR_COLUMNS } from "./columns.ts";
import { csrStrategy } from "./strategy.ts";

/** Kinds of group certificates.k8s.io. */
export function certificateKinds(): Resource[] {
  return [
    define({
      group: "certificates.k8s.io",
      kind: "CertificateSigningRequest",
      plural: "certificatesigningrequests",
      shortNames: ["csr"],
      clusterScoped: true,
      subresources: [STATUS, { name: "approval", verbs: ["get", "patch", "update"] }],
      selectable: ["spec.signerName"],
      columns: CSR_COLUMNS,
      strategy: csrStrategy,
    }),
  ];
}
