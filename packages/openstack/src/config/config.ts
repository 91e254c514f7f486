/** A domain by id or by name; the id wins. */
export interface DomainReference {
  readonly id?: string;
  readonly name?: string;
}

/** Credentials of a user with a password. */
export interface PasswordAuth {
  readonly type: "password";
  readonly userId?: string;
  readonly username?: string;
  readonly userDomain?: DomainReference;
  readonly password: string;
}
/** A token that exists. */
export interface TokenAuth {
  readonly type: "token";
  readonly token: string;
}
/** Credentials of an application credential. */
export interface ApplicationCredentialAuth {
  readonly type: "application_credential";
  readonly id?: string;
  /** A credential named by its name needs its user, too. */
  readonly name?: string;
  readonly secret: string;
  readonly userId?: string;
  readonly username?: string;
  readonly userDomain?: DomainReference;
}
/** An access token that an OpenID provider gave, for a Keystone that federates with it. */
export interface OidcAccessTokenAuth {
  readonly type: "oidc_access_token";
  readonly identityProvider: string;
  readonly protocol: string;
  readonly accessToken: string;
}
/** Who a client is at Keystone. */
export type CloudAuth = PasswordAuth | TokenAuth | ApplicationCredentialAuth | OidcAccessTokenAuth;

/** What a token is for. An application credential brings its own project, so it has none. */
export interface CloudScope {
  readonly projectId?: string;
  readonly projectName?: string;
  readonly projectDomain?: DomainReference;
  readonly trustId?: string;
}

/** PEM texts win over paths. */
export interface CloudTls {
  readonly ca?: string;
  readonly caFile?: string;
  readonly certificate?: string;
  readonly certificateFile?: string;
  readonly key?: string;
  readonly keyFile?: string;
  /** False: the server's certificate is not checked. Default true. */
  readonly verify?: boolean;
}

/** Which of a service's endpoints is used. */
export type EndpointInterface = "public" | "internal" | "admin";

/** All that is needed to talk to one project of one region. Holds secrets: never log it. */
export interface CloudConfig {
  /** The entry's name, for people. */
  readonly name: string;
  /** Keystone's URL, with or without /v3. */
  readonly authUrl: string;
  readonly auth: CloudAuth;
  readonly scope?: CloudScope;
  /** Without it the catalog must know one region only. */
  readonly region?: string;
  /** Default public. */
  readonly interface?: EndpointInterface;
  readonly tls?: CloudTls;
  /** URLs that replace the catalog's, by service type ("network", "load-balancer", …). */
  readonly endpointOverrides?: Readonly<Record<string, string>>;
}
