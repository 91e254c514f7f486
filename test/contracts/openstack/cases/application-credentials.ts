import type { RawCase, RawGroup } from "../case.ts";

const path = "/users/{user}/application_credentials";

/** A credential, a token of it, and what that token may do with credentials. */
function casesOf(kind: "unrestricted" | "restricted"): readonly RawCase[] {
  const [id, token] = [`${kind}Id`, `${kind}Token`];
  const headers = { "x-auth-token": `{${token}}` };
  const login = {
    identity: { methods: ["application_credential"], application_credential: { id: `{${id}}`, secret: "s" } },
  };
  return [
    {
      says: `an ${kind} application credential is created`.replace("an r", "a r"),
      call: `POST ${path}`,
      body: { application_credential: { name: `{run}-${kind}`, secret: "s", unrestricted: kind === "unrestricted" } },
      exact: ["application_credential.unrestricted"],
      keep: { [id]: "application_credential.id" },
      undo: `DELETE ${path}/{${id}}`,
    },
    {
      says: `a token of the ${kind} one names it, and whether it is restricted`,
      call: "POST /auth/tokens?nocatalog",
      body: { auth: login },
      exact: ["token.application_credential.restricted", "token.application_credential.name"],
      keepHeaders: { [token]: "x-subject-token" },
    },
    {
      says: `a validated token of the ${kind} one names it, and whether it is restricted`,
      call: "GET /auth/tokens?nocatalog",
      headers: { ...headers, "x-subject-token": `{${token}}` },
      exact: ["token.application_credential.restricted", "token.application_credential.name"],
    },
    {
      says: `a token of the ${kind} one lists application credentials`,
      call: `GET ${path}?name={run}-${kind}`,
      headers,
    },
    {
      says: `a token of the ${kind} one creates another one, or is refused`,
      call: `POST ${path}`,
      headers,
      body: { application_credential: { name: `{run}-of-${kind}` } },
      exact: ["error.message"],
      keep: { [`${kind}Child`]: "application_credential.id" },
    },
    // By the member: the token has no use once its credential is deleted.
    {
      says: `an application credential that a token of the ${kind} one made is deleted by its user, or was not made`,
      call: `DELETE ${path}/{${kind}Child}`,
    },
    {
      says: `a token of the ${kind} one creates one with a role that the credential lacks, which is refused`,
      call: `POST ${path}`,
      headers,
      body: { application_credential: { name: `{run}-more-of-${kind}`, roles: [{ name: "admin" }] } },
    },
    {
      says: `a token of the ${kind} one deletes its own application credential, or is refused`,
      call: `DELETE ${path}/{${id}}`,
      headers,
      exact: ["error.message"],
    },
  ];
}

/** What application credentials may do with others: the tokens of unrestricted ones manage them, and name theirs. */
export const applicationCredentials: RawGroup = {
  name: "application credentials that manage others",
  service: "identity",
  cases: [...casesOf("unrestricted"), ...casesOf("restricted")],
};
