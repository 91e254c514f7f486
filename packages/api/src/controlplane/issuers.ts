import { checked, list, object, optional, setOf, text } from "../schema/fields.ts";

const claim = (description: string) => text(1, 256, { description });

/** Names of Kubernetes itself are no issuer's to give. */
const prefix = checked(
  text(0, 256, {
    description: 'Before the value, such as "oidc:"; it can be "", which is the name as the issuer has it.',
  }),
  [{ rule: "!self.startsWith('system:')", message: "names that begin with system: are Kubernetes' own" }],
);

/** What kube-apiserver can read: it does not start with another URL. */
const ISSUER_URL =
  "^https://([a-zA-Z0-9._-]+|\\\\[[0-9a-fA-F:.]+\\\\])(:[0-9]{1,5})?(/([a-zA-Z0-9._~!$&()*+,;=:@/-]|%[0-9a-fA-F]{2})*)?$";

const issuer = object(
  {
    url: checked(
      text(1, 1024, {
        description:
          "Its URL, which its tokens and its document URL/.well-known/openid-configuration name. The operator permits the networks in which it may be.",
      }),
      [
        {
          rule: `self.matches('${ISSUER_URL}')`,
          message:
            "the URL of an issuer begins with https:// and has no user, query or fragment, and no characters that a URL writes in another way, such as %20 for a space",
        },
        {
          rule: "!self.startsWith('https://kubernetes.default.svc')",
          message: "this is the issuer of the control plane's own service accounts",
        },
      ],
    ),
    audiences: setOf(text(1, 256), {
      min: 1,
      max: 10,
      description: "For whom its tokens are issued: one of these has to be in the token.",
    }),
    certificateAuthority: optional(
      text(1, 65_536, {
        description: "PEM certificates of the authority of its certificate, 16 at most. Default: those of the system.",
      }),
    ),
  },
  { description: "Who issues the tokens." },
);

const claimMappings = object(
  {
    username: object(
      { claim: claim('Claim with the name, such as "sub" or "email".'), prefix },
      { description: "Where the user's name comes from." },
    ),
    groups: optional(
      object(
        { claim: claim("Claim with a group, or a list of groups."), prefix },
        { description: "Where the user's groups come from. Default: there are none." },
      ),
    ),
  },
  { description: "What the claims of a token say of its user." },
);

/**
 * Issuers of tokens (OpenID Connect): the same names and shapes as `jwt` of Kubernetes' AuthenticationConfiguration.
 */
export const jwtIssuers = checked(
  list(object({ issuer, claimMappings }), {
    max: 4,
    description:
      "Issuers of OpenID Connect whose tokens are accepted, as in jwt of Kubernetes' AuthenticationConfiguration. A token whose user or group begins with system:, or whose group begins with kubeadm:, is refused. Once the field is set, changes end no watch; an empty list accepts no issuer's token. It needs the operator's option --oidc-networks.",
  }),
  [
    {
      rule: "self.all(each, self.exists_one(other, other.issuer.url == each.issuer.url))",
      message: "each issuer is there once: two entries have the same issuer.url",
    },
  ],
);
