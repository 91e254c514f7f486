import { randomBytes } from "node:crypto";
import type { Caller, Kernel } from "../kernel/interface.ts";
import { at, isObject, textAt } from "../kernel/json.ts";
import {
  identityError,
  identityTables,
  malformed,
  secretMatches,
  tokenHash,
  unauthorized,
  type Credential,
  type IdentityTables,
  type Project,
  type Token,
  type User,
} from "./model.ts";

const lifetime = 24 * 3600 * 1000;

/** Who somebody proved to be, and what that proof allows. */
interface Proof {
  readonly user: User;
  readonly methods: readonly string[];
  readonly credential?: Credential;
  /** The token that was the proof: its scope is kept when none is asked for, and its end is not passed. */
  readonly token?: Token;
}

/** Tokens: issuing, checking and revoking. */
export class Tokens {
  readonly #kernel: Kernel;
  readonly #tables: IdentityTables;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#tables = identityTables(kernel);
  }

  /** The token of this secret, if it is one and has not run out. */
  find(secret: string): Token | undefined {
    const token = this.#tables.tokens.get(tokenHash(secret));
    return token && token.expires > this.#kernel.clock.now() ? token : undefined;
  }

  /** The caller of an authenticated request to a service; an unscoped token has project "". */
  caller(secret: string): Caller | undefined {
    const token = this.find(secret);
    if (!token) return undefined;
    const roles = token.role_ids.map((id) => this.#tables.roles.get(id)?.name ?? "");
    return {
      userId: token.user_id,
      projectId: token.project_id ?? "",
      roles,
      isAdmin: roles.includes("admin"),
    };
  }

  revoke(secret: string): void {
    this.#tables.tokens.remove(tokenHash(secret));
  }

  /** Issues a token for the body of POST /v3/auth/tokens. Throws Keystone's 400, 401 or 404. */
  issue(body: unknown): { readonly secret: string; readonly token: Token } {
    const auth = at(body, "auth");
    if (auth === undefined) throw malformed("auth in request body");
    const proof = this.#prove(auth);
    const scope = this.#scope(auth, proof);
    const now = this.#kernel.clock.now();
    this.#forgetOld(now);
    const secret = `gAAAAA${randomBytes(120).toString("base64url")}`;
    const token: Token = {
      id: tokenHash(secret),
      user_id: proof.user.id,
      ...scope,
      methods: proof.methods,
      audit_id: randomBytes(16).toString("base64url"),
      issued: now,
      expires: Math.min(now + lifetime, proof.token?.expires ?? Infinity),
      ...(proof.credential ? { application_credential_id: proof.credential.id } : {}),
    };
    return { secret, token: this.#tables.tokens.insert(token) };
  }

  #forgetOld(now: number): void {
    for (const token of this.#tables.tokens.all()) if (token.expires <= now) this.#tables.tokens.remove(token.id);
  }

  #prove(auth: unknown): Proof {
    const identity = at(auth, "identity");
    if (!isObject(identity)) throw malformed("identity in auth");
    const methods = at(identity, "methods");
    if (!Array.isArray(methods) || methods.length === 0) throw malformed("methods in identity");
    const method = String(methods[0]);
    const given = identity[method];
    if (!isObject(given)) throw malformed(`${method} in identity`);
    if (method === "password") return this.#byPassword(given);
    if (method === "token") return this.#byToken(given);
    if (method === "application_credential") return this.#byCredential(given);
    throw identityError(401, `Attempted to authenticate with an unsupported method.`);
  }

  #byPassword(given: unknown): Proof {
    const user = this.#user(at(given, "user"));
    const password = textAt(given, "user", "password");
    if (!user?.enabled || password === undefined || !secretMatches(password, user.secret)) throw unauthorized();
    return { user, methods: ["password"] };
  }

  #byToken(given: unknown): Proof {
    const token = this.find(textAt(given, "id") ?? "");
    if (!token) throw identityError(404, "Could not recognize Fernet token");
    const user = this.#tables.users.get(token.user_id);
    if (!user?.enabled) throw unauthorized();
    return { user, methods: [...new Set(["token", ...token.methods])], token };
  }

  #byCredential(given: unknown): Proof {
    const id = textAt(given, "id");
    const owner = id === undefined ? this.#user(at(given, "user")) : undefined;
    const name = textAt(given, "name");
    const credential =
      id === undefined
        ? this.#tables.credentials.by("user_id", owner?.id ?? "").find((c) => c.name === name)
        : this.#tables.credentials.get(id);
    if (!credential) throw identityError(404, `Could not find Application Credential: ${id ?? name}.`);
    const user = this.#tables.users.get(credential.user_id);
    const expired =
      credential.expires_at !== null && Date.parse(`${credential.expires_at}Z`) <= this.#kernel.clock.now();
    const right = secretMatches(textAt(given, "secret") ?? "", credential.secret);
    if (!user?.enabled || expired || !right) throw unauthorized();
    return { user, methods: ["application_credential"], credential };
  }

  /** A user by id, or by name and domain. */
  #user(given: unknown): User | undefined {
    if (!isObject(given)) throw malformed("user in password");
    const id = textAt(given, "id");
    if (id !== undefined) return this.#tables.users.get(id);
    const domain = domainOf(given, "user");
    return this.#tables.users.by("name", textAt(given, "name") ?? "").find((u) => u.domain_id === domain);
  }

  #scope(auth: unknown, proof: Proof): Pick<Token, "project_id" | "role_ids"> {
    const asked = at(auth, "scope");
    if (proof.credential) {
      if (asked !== undefined) {
        throw identityError(
          401,
          "Error authenticating with application credential: Application credentials cannot request a scope.",
        );
      }
      return { project_id: proof.credential.project_id, role_ids: proof.credential.role_ids };
    }
    if (asked === undefined) {
      const kept = proof.token?.project_id;
      return kept === undefined ? { role_ids: [] } : this.#projectScope(kept, proof.user);
    }
    if (asked === "unscoped" || at(asked, "unscoped") !== undefined) return { role_ids: [] };
    const project = this.#project(at(asked, "project"));
    if (!project?.enabled) throw unauthorized();
    return this.#projectScope(project.id, proof.user);
  }

  #projectScope(project_id: string, user: User): Pick<Token, "project_id" | "role_ids"> {
    const role_ids = this.#tables.assignments
      .by("user_id", user.id)
      .filter((a) => a.project_id === project_id)
      .map((a) => a.role_id);
    if (role_ids.length === 0) throw unauthorized();
    return { project_id, role_ids };
  }

  #project(given: unknown): Project | undefined {
    if (!isObject(given)) return undefined;
    const id = textAt(given, "id");
    if (id !== undefined) return this.#tables.projects.get(id);
    const domain = domainOf(given, "project");
    return this.#tables.projects.by("name", textAt(given, "name") ?? "").find((p) => p.domain_id === domain);
  }
}

/** Id of the domain an object names; the one domain of this cloud is "default", called "Default". */
function domainOf(given: unknown, what: string): string | undefined {
  if (!isObject(at(given, "domain"))) throw malformed(`domain in ${what}`);
  const name = textAt(given, "domain", "name");
  return textAt(given, "domain", "id") ?? (name === "Default" ? "default" : undefined);
}
