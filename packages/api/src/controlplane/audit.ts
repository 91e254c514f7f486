import { checked, object, optional, text } from "../schema/fields.ts";

/** What kube-apiserver can read from a kubeconfig: it does not start with another URL. */
const SINK_URL =
  "^https://([a-zA-Z0-9._-]+|\\\\[[0-9a-fA-F:.]+\\\\])(:[0-9]{1,5})?(/([a-zA-Z0-9._~!$&()*+,;=:@/-]|%[0-9a-fA-F]{2})*)?$";

/** Where a tenant wants its own audit events. */
export const auditSink = object(
  {
    webhook: object(
      {
        url: checked(
          text(1, 1024, {
            description:
              "Receives EventLists (audit.k8s.io/v1) by POST, in batches. The operator permits the networks in which it may be.",
          }),
          [
            {
              rule: `self.matches('${SINK_URL}')`,
              message: "the URL of an audit sink begins with https:// and has no user, query or fragment",
            },
          ],
        ),
        certificateAuthority: optional(
          text(1, 65_536, {
            description:
              "PEM certificates of the authority of its certificate, 16 at most. Default: those of the system.",
          }),
        ),
        tokenSecret: optional(
          text(1, 253, {
            pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
            description:
              "Secret of the same namespace whose key token is sent to it as a bearer token. It has the label cluster.x-k8s.io/cluster-name with the name of the Cluster. Default: no token is sent.",
          }),
        ),
      },
      { description: "An HTTPS server of the tenant." },
    ),
  },
  {
    description:
      "Where the audit events of this control plane go, in addition to where the operator writes them: who changed which object, without content. It needs the operator's option --audit-networks.",
  },
);
