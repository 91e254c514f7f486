import { checked, object, oneOf, optional, text } from "../schema/fields.ts";

/** Who issues the certificates of the APIs. */
export const tls = checked(
  object(
    {
      from: oneOf(["Own", "Secret", "Issuer", "ClusterIssuer"], {
        description:
          "Who issues the certificates: Own, the deployment's own authority; Secret, an administrator, who keeps one certificate for all APIs in a Secret; Issuer or ClusterIssuer, one of cert-manager.",
      }),
      name: optional(
        text(1, 253, {
          description:
            "Name of the Secret or issuer. The Secret has tls.crt, tls.key and ca.crt, and the label openstack.causeway.dev/deployment with the deployment's name.",
        }),
      ),
    },
    {
      description:
        "TLS of the APIs: their pods serve their internal and public names over it, and every client checks them. It cannot be added, changed or removed later. Default: plain HTTP behind what ends the users' TLS.",
    },
  ),
  [
    {
      rule: "(self.from == 'Own') == !has(self.name)",
      message: "name is that of the Secret or issuer, and has no meaning with from: Own",
    },
  ],
);
