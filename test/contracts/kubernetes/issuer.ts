import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority } from "@causeway/foundation";
import type { Json } from "./interface.ts";
import { servingOnLoopback } from "../../support/serving.ts";

const DAY = 86_400_000;
const AUDIENCE = "kubernetes";

/** An OpenID provider of the suite's own, on loopback. */
export interface Issuer {
  /** The AuthenticationConfiguration that both servers trust it by. */
  readonly configuration: Json;
  /**
   * A token with these claims, which win over the usual ones; `rotated` signs with a key that is published only then.
   */
  readonly token: (claims: Json, options?: { readonly rotated?: boolean; readonly foreign?: boolean }) => string;
  readonly close: () => Promise<void>;
}

interface Key {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly published: Json;
}

function newKey(id: string): Key {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { id, privateKey, published: { ...publicKey.export({ format: "jwk" }), kid: id, alg: "RS256", use: "sig" } };
}

function signed(header: Json, claims: Json, key: KeyObject): string {
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${encoded}.${sign("sha256", Buffer.from(encoded), key).toString("base64url")}`;
}

/** What a token says: its header, or its claims. */
export function partOf(token: string, part: "header" | "claims"): Json {
  const encoded = token.split(".")[part === "header" ? 0 : 1] ?? "";
  return JSON.parse(Buffer.from(encoded, "base64url").toString()) as Json;
}

export async function startIssuer(): Promise<Issuer> {
  const [first, second, foreign] = [newKey("first"), newKey("second"), newKey("foreign")];
  const authority = await createAuthority({ commonName: "issuer authority", lifetime: DAY });
  const { certificate: cert, key } = await servingOnLoopback(authority, "issuer");
  const published = [first.published];
  let url = "";
  const server = createServer({ cert, key }, (request, response) => {
    const documents: Readonly<Record<string, Json>> = {
      "/.well-known/openid-configuration": { issuer: url, jwks_uri: `${url}/keys` },
      "/keys": { keys: published },
    };
    const found = documents[request.url ?? ""];
    response.statusCode = found ? 200 : 404;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    configuration: configurationOf(url, authority.certificate),
    token(claims, options = {}) {
      const signing = options.foreign ? foreign : options.rotated ? second : first;
      if (options.rotated && published.length === 1) published.push(second.published);
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: url, aud: AUDIENCE, sub: "jane", iat: now, exp: now + 600 };
      const kid = options.foreign ? "first" : signing.id;
      return signed({ alg: "RS256", kid }, { ...usual, ...claims }, signing.privateKey);
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

function configurationOf(url: string, certificateAuthority: string): Json {
  return {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url, certificateAuthority, audiences: [AUDIENCE, "other"], audienceMatchPolicy: "MatchAny" },
        claimValidationRules: [
          { claim: "tier", requiredValue: "gold" },
          { expression: "!has(claims.banned) || claims.banned == false", message: "banned users are refused" },
        ],
        claimMappings: {
          username: { expression: '"oidc:" + claims.sub' },
          groups: { claim: "roles", prefix: "oidc:" },
          uid: { claim: "sub" },
          extra: [{ key: "example.org/tenant", valueExpression: "has(claims.tenant) ? claims.tenant : ''" }],
        },
        userValidationRules: [
          { expression: "!user.username.startsWith('oidc:system:')", message: "system users are not from here" },
        ],
      },
    ],
  };
}
