import { ServiceError } from "../../kernel/service-error.ts";
import { randomBytes } from "node:crypto";
import type { Caller, Kernel } from "../../kernel/interface.ts";
import { at, isObject, textAt } from "../../kernel/json.ts";
import { rolesOn, withImplied } from "./roles.ts";
import {
  identityError,
  identityTables,
  malformed,
  schemaError,
  secretMatches,
  tokenHash,
  unauthorized,
  type Credential,
  type IdentityTables,
  type Project,
  type Token,
  type User,
} from "../model.ts";

const lifetime = 24 * 3600 * 1000;

/** The authenticated identity, and what its proof allows. */
interface Proof {
  readonly user: User;
  readonly methods: readonly string[];
  readonly credential?: Credential;
  /** The token that was the proof: its scope is kept when none is requested, and its expiry is not exceeded. */
  readonly token?: Token;
}

/** What a token is for, and with whose roles. */
type Scope = Pick<Token, "project_id" | "domain_id" | "role_ids" | "trust_id" | "system"> &
  Partial<Pick<Token, "user_id">>;

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
    if (!token || this.lostCredential(secret) !== undefined) return undefined;
    return token.expires > this.#kernel.clock.now() ? token : undefined;
  }

  /**
   * The application credential that a token was issued for, if it was deleted since: Keystone then misses that, not the
   * token.
   */
  lostCredential(secret: string): string | undefined {
    const id = this.#tables.tokens.get(tokenHash(secret))?.application_credential_id;
    return id === undefined || this.#tables.credentials.get(id) ? undefined : id;
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
    const secret = fernetLike(now);
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
    if (!isObject(identity)) throw schemaError("'identity' is a required property");
    const methods = at(identity, "methods");
    if (!Array.isArray(methods)) throw schemaError("'methods' is a required property");
    if (methods.length === 0) throw unauthorized();
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
    const { secret } = user ?? {};
    if (!user?.enabled || password === undefined || !secret || !secretMatches(password, secret)) throw unauthorized();
    this.#refuseDisabledDomain(user.domain_id);
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
    const domain = this.#domain(given, "user");
    return this.#tables.users.by("name", textAt(given, "name") ?? "").find((u) => u.domain_id === domain);
  }

  #scope(auth: unknown, proof: Proof): Scope {
    const asked = at(auth, "scope");
    if (proof.credential) {
      if (asked !== undefined) {
        const message =
          "Error authenticating with application credential: Application credentials cannot request a scope.";
        throw new ServiceError(401, { error: { code: 401, message, title: "Unauthorized", identity: {} } });
      }
      return { project_id: proof.credential.project_id, role_ids: proof.credential.role_ids };
    }
    if (asked === undefined) {
      const kept = proof.token?.project_id ?? this.#defaultProject(proof);
      return kept === undefined ? { role_ids: [] } : this.#projectScope(kept, proof.user);
    }
    if (asked === "unscoped" || at(asked, "unscoped") !== undefined) return { role_ids: [] };
    const trust = textAt(asked, "OS-TRUST:trust", "id");
    if (trust !== undefined) return this.#trustScope(trust, proof.user);
    const domain = at(asked, "domain");
    if (domain !== undefined) return this.#domainScope(domain, proof.user);
    if (at(asked, "system") !== undefined) return this.#systemScope(proof.user);
    const project = this.#project(at(asked, "project"));
    if (!project?.enabled) throw unauthorized();
    this.#refuseDisabledDomain(project.domain_id);
    return this.#projectScope(project.id, proof.user);
  }

  /** Where a user is at home, if they may still go there. */
  #defaultProject({ user, token }: Proof): string | undefined {
    const project = this.#tables.projects.get(user.default_project_id ?? "");
    if (token || !project?.enabled) return undefined;
    return rolesOn(this.#tables, user.id, { project_id: project.id }).length > 0 ? project.id : undefined;
  }

  #projectScope(project_id: string, user: User): Scope {
    const role_ids = rolesOn(this.#tables, user.id, { project_id });
    if (role_ids.length === 0) throw unauthorized();
    return { project_id, role_ids };
  }

  #domainScope(asked: unknown, user: User): Scope {
    const domain = this.#tables.domains.get(this.#domain({ domain: asked }, "scope") ?? "");
    const role_ids = domain?.enabled ? rolesOn(this.#tables, user.id, { domain_id: domain.id }) : [];
    if (!domain || role_ids.length === 0) throw unauthorized();
    return { domain_id: domain.id, role_ids };
  }

  /** What a user was given on the cloud as a whole. */
  #systemScope(user: User): Scope {
    const groups = this.#tables.memberships.by("user_id", user.id).map((m) => m.group_id);
    const given = [
      ...this.#tables.assignments.by("user_id", user.id),
      ...groups.flatMap((group) => this.#tables.assignments.by("group_id", group)),
    ].filter((a) => a.system === true);
    if (given.length === 0) throw unauthorized();
    const ids = given.map((a) => a.role_id);
    return { system: true, role_ids: withImplied(this.#tables, ids) };
  }

  /** The trustor's roles, for the trustee; with impersonation the token is the trustor's. */
  #trustScope(id: string, user: User): Scope {
    const trust = this.#tables.trusts.get(id);
    const over = trust?.expires_at !== null && Date.parse(trust?.expires_at ?? "") <= this.#kernel.clock.now();
    if (!trust || over || trust.remaining_uses === 0) throw unauthorized();
    if (trust.trustee_user_id !== user.id) {
      throw identityError(403, "You are not authorized to perform the requested action.");
    }
    const project_id = trust.project_id ?? "";
    const still = new Set(rolesOn(this.#tables, trust.trustor_user_id, { project_id }));
    const role_ids = withImplied(this.#tables, trust.role_ids);
    if (!role_ids.every((role) => still.has(role))) {
      throw identityError(403, "You are not authorized to perform the requested action.");
    }
    if (trust.remaining_uses !== null) {
      this.#tables.trusts.update(id, { remaining_uses: trust.remaining_uses - 1 });
    }
    const actsAs = trust.impersonation ? { user_id: trust.trustor_user_id } : {};
    return { project_id, role_ids, trust_id: id, ...actsAs };
  }

  #refuseDisabledDomain(id: string): void {
    if (this.#tables.domains.get(id)?.enabled === false) throw unauthorized();
  }

  #project(given: unknown): Project | undefined {
    if (!isObject(given)) return undefined;
    const id = textAt(given, "id");
    if (id !== undefined) return this.#tables.projects.get(id);
    const domain = this.#domain(given, "project");
    return this.#tables.projects.by("name", textAt(given, "name") ?? "").find((p) => p.domain_id === domain);
  }

  /** Id of the domain that an object names. */
  #domain(given: unknown, what: string): string | undefined {
    if (!isObject(at(given, "domain"))) throw malformed(`domain in ${what}`);
    const name = textAt(given, "domain", "name");
    return textAt(given, "domain", "id") ?? this.#tables.domains.by("name", name ?? "")[0]?.id;
  }
}

/** The form of a Fernet token: its version, the time of issue in seconds, and what only Keystone can read. */
function fernetLike(now: number): string {
  const head = Buffer.alloc(9, 0x80);
  head.writeBigUInt64BE(BigInt(Math.floor(now / 1000)), 1);
  return Buffer.concat([head, randomBytes(128)]).toString("base64url");
}
