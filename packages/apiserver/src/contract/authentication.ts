import type { Clock, Log } from "@causeway/foundation";
import type { Json } from "../json/json.ts";

/** Who else is believed next to the cluster's own certificates and tokens. */
export interface AuthenticationOptions {
  /**
   * An apiserver.config.k8s.io/v1 AuthenticationConfiguration: issuers of JSON Web Tokens (OpenID Connect), and whom
   * anonymous requests may reach.
   */
  readonly configuration?: Json;
  /** The same for one issuer, as kube-apiserver's --oidc flags have it; not next to issuers in `configuration`. */
  readonly oidc?: OidcOptions;
  /**
   * Networks (CIDR) that issuers and their keys are requested from, where a tenant names issuers. Addresses of this
   * machine and of one link are among them only if a network is within theirs. Default: wherever an issuer is.
   */
  readonly issuerNetworks?: readonly string[];
  /** Asks a server of one's own for the user of a token (authentication.k8s.io/v1 TokenReview). */
  readonly webhook?: TokenWebhookOptions;
  /** Asks an authenticator that the server's owner brings (`ApiServerOptions.authenticators`). */
  readonly external?: ExternalAuthenticationOptions;
  /**
   * Whether requests without credentials come in as system:anonymous; default true. Not next to
   * `configuration.anonymous`.
   */
  readonly anonymous?: boolean;
}

/** Source: kube-apiserver's reference, the flags of the same names. */
export interface OidcOptions {
  readonly issuerUrl: string;
  readonly clientId: string;
  /** Default "sub". */
  readonly usernameClaim?: string;
  /** Default: the issuer's URL and "#", none for the claim "email"; "-" is none. */
  readonly usernamePrefix?: string;
  readonly groupsClaim?: string;
  readonly groupsPrefix?: string;
  readonly requiredClaims?: Readonly<Record<string, string>>;
  /** Default RS256. */
  readonly signingAlgorithms?: readonly string[];
  /** PEM; default: the authorities Node knows. */
  readonly certificateAuthority?: string;
}

/** The webhook that bearer tokens are sent to, and how long its answers hold. */
export interface TokenWebhookOptions {
  /** A kubeconfig whose current context says where to, whom to trust, and who we are. Read at the start. */
  readonly kubeconfigFile: string;
  /** How long an answer holds, in milliseconds; default two minutes. */
  readonly cacheTtl?: number;
}

/** Data alone, so that it reaches the process that serves the cluster. */
export interface ExternalAuthenticationOptions {
  /** The name of the authenticator. */
  readonly type: string;
  /** What it is made with; kept in the state folder, so that it has no secrets. */
  readonly settings: Json;
}

/** Whose token it is, as an external authenticator says. */
export interface ExternalUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Knows tokens that the server's own authenticators do not. It caches by itself. */
export interface ExternalAuthenticator {
  /** Undefined: not a token of its. Throws when it cannot say now, with a message that has no secret. */
  verify(token: string): Promise<ExternalUser | undefined>;
  close(): void;
}

/** By the names that `ExternalAuthenticationOptions.type` has. Each throws for settings that it cannot use. */
export type ExternalAuthenticators = Readonly<
  Record<string, (settings: Json, context: { readonly clock: Clock; readonly log: Log }) => ExternalAuthenticator>
>;
