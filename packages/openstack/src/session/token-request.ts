import type { CloudAuth, CloudScope, DomainReference, OidcAccessTokenAuth } from "../config/config.ts";

/** What identifies the caller in a request for a token. */
type Proof = Exclude<CloudAuth, OidcAccessTokenAuth>;

/** The body of POST /v3/auth/tokens (Identity API v3, "Password/token/application credential authentication"). */
export function tokenRequest(auth: Proof, given: CloudScope | undefined): unknown {
  const identity = identityOf(auth);
  const scope = auth.type === "application_credential" ? undefined : scopeOf(given);
  return { auth: { identity, ...(scope !== undefined && { scope }) } };
}

function identityOf(auth: Proof): Record<string, unknown> {
  switch (auth.type) {
    case "password":
      return { methods: ["password"], password: { user: { ...userOf(auth), password: auth.password } } };
    case "token":
      return { methods: ["token"], token: { id: auth.token } };
    case "application_credential": {
      const named = auth.id === undefined ? { name: auth.name, user: userOf(auth) } : { id: auth.id };
      return { methods: ["application_credential"], application_credential: { ...named, secret: auth.secret } };
    }
  }
}

function userOf(auth: { userId?: string; username?: string; userDomain?: DomainReference }): Record<string, unknown> {
  return auth.userId === undefined ? { name: auth.username, domain: domainOf(auth.userDomain) } : { id: auth.userId };
}

function scopeOf(scope: CloudScope | undefined): Record<string, unknown> | undefined {
  if (scope?.trustId !== undefined) return { "OS-TRUST:trust": { id: scope.trustId } };
  if (scope?.projectId !== undefined) return { project: { id: scope.projectId } };
  if (scope?.projectName === undefined) return undefined;
  return { project: { name: scope.projectName, domain: domainOf(scope.projectDomain) } };
}

function domainOf(domain: DomainReference | undefined): DomainReference {
  if (domain?.id !== undefined) return { id: domain.id };
  return domain?.name === undefined ? { id: "default" } : { name: domain.name };
}
