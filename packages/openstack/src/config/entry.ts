import { InputError, isRecord } from "@causeway/foundation";
import type { CloudAuth, CloudConfig, CloudScope, CloudTls, DomainReference, EndpointInterface } from "./config.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * One entry of clouds.yaml as a CloudConfig. Throws CLOUD_CONFIG_INVALID, which names the field and never its value.
 */
export function readEntry(name: string, entry: Fields, home: string | undefined): CloudConfig {
  const auth = isRecord(entry["auth"]) ? entry["auth"] : {};
  const authUrl = text(auth["auth_url"]);
  if (authUrl === undefined) throw invalid(name, "auth.auth_url is missing");
  const region = regionOf(entry);
  const side = interfaceOf(name, entry);
  const scope = scopeOf(auth, entry);
  const tls = tlsOf(entry, home);
  const overrides = overridesOf(entry);
  return {
    name,
    authUrl,
    auth: authOf(name, auth, entry),
    ...(scope && { scope }),
    ...(region !== undefined && { region }),
    ...(side && { interface: side }),
    ...(tls && { tls }),
    ...(overrides && { endpointOverrides: overrides }),
  };
}

/** The ways to name an authentication method in clouds.yaml (keystoneauth plugin names). */
const METHODS: Readonly<Record<string, CloudAuth["type"]>> = {
  password: "password",
  v3password: "password",
  token: "token",
  v3token: "token",
  v3applicationcredential: "application_credential",
  v3multifactor: "password",
  v3oidcaccesstoken: "oidc_access_token",
};

function authOf(name: string, auth: Fields, entry: Fields): CloudAuth {
  const given = text(entry["auth_type"]);
  const method = given === undefined ? guess(auth) : METHODS[given];
  if (method === undefined)
    throw invalid(
      name,
      `auth_type ${given ?? ""} is not supported`,
      "Use password, token, v3applicationcredential or v3oidcaccesstoken.",
    );
  const username = text(auth["username"]) ?? text(auth["user_name"]);
  const userId = text(auth["user_id"]);
  const userDomain = domainOf(auth, entry, "user");
  const user = {
    ...(userId !== undefined && { userId }),
    ...(username !== undefined && { username }),
    ...(userDomain && { userDomain }),
  };
  const need = (field: string): string => {
    const value = text(auth[field]);
    if (value === undefined) throw invalid(name, `auth.${field} is missing`);
    return value;
  };
  switch (method) {
    case "token":
      return { type: "token", token: need("token") };
    case "oidc_access_token":
      return {
        type: "oidc_access_token",
        identityProvider: need("identity_provider"),
        protocol: need("protocol"),
        accessToken: need("access_token"),
      };
    case "password":
      if (userId === undefined && username === undefined) throw invalid(name, "auth.username is missing");
      return { type: "password", ...user, password: need("password") };
    case "application_credential": {
      const id = text(auth["application_credential_id"]);
      const secret = need("application_credential_secret");
      if (id !== undefined) return { type: "application_credential", id, secret };
      if (userId === undefined && username === undefined) {
        throw invalid(
          name,
          "auth.application_credential_id is missing",
          "A credential named by name needs username or user_id.",
        );
      }
      return { type: "application_credential", name: need("application_credential_name"), secret, ...user };
    }
  }
}

function guess(auth: Fields): CloudAuth["type"] {
  if (auth["application_credential_secret"] !== undefined) return "application_credential";
  return auth["token"] !== undefined && auth["password"] === undefined ? "token" : "password";
}

function scopeOf(auth: Fields, entry: Fields): CloudScope | undefined {
  const projectId = text(auth["project_id"]) ?? text(auth["tenant_id"]);
  const projectName = text(auth["project_name"]) ?? text(auth["tenant_name"]);
  const trustId = text(auth["trust_id"]);
  if (projectId === undefined && projectName === undefined && trustId === undefined) return undefined;
  const projectDomain = domainOf(auth, entry, "project");
  return {
    ...(projectId !== undefined && { projectId }),
    ...(projectName !== undefined && { projectName }),
    ...(projectDomain && { projectDomain }),
    ...(trustId !== undefined && { trustId }),
  };
}

function domainOf(auth: Fields, entry: Fields, of: "user" | "project"): DomainReference | undefined {
  const valueOf = (field: string) => text(auth[field]) ?? text(entry[field]);
  const id = valueOf(`${of}_domain_id`) ?? valueOf("domain_id") ?? valueOf("default_domain_id");
  const name = valueOf(`${of}_domain_name`) ?? valueOf("domain_name") ?? valueOf("default_domain_name");
  const own = valueOf(`${of}_domain_name`) !== undefined && valueOf(`${of}_domain_id`) === undefined;
  if (own && name !== undefined) return { name };
  if (id !== undefined) return { id };
  const legacy = valueOf("default_domain");
  return name !== undefined ? { name } : legacy !== undefined ? { id: legacy } : undefined;
}

function regionOf(entry: Fields): string | undefined {
  const region = text(entry["region_name"]) ?? text(entry["region"]);
  if (region !== undefined) return region;
  const first: unknown =
    Array.isArray(entry["regions"]) && entry["regions"].length === 1 ? entry["regions"][0] : undefined;
  return isRecord(first) ? text(first["name"]) : text(first);
}

function interfaceOf(name: string, entry: Fields): EndpointInterface | undefined {
  const given = text(entry["interface"]) ?? text(entry["endpoint_type"]);
  const side = given?.replace(/URL$/, "");
  if (side === undefined || side === "public" || side === "internal" || side === "admin") return side;
  throw invalid(name, `interface ${side} is none of public, internal, admin`);
}

function tlsOf(entry: Fields, home: string | undefined): CloudTls | undefined {
  const file = (field: string, pem: keyof CloudTls, path: keyof CloudTls): CloudTls => {
    const value = text(entry[field]);
    if (value === undefined) return {};
    return value.includes("-----BEGIN") ? { [pem]: value } : { [path]: value.replace(/^~(?=\/)/, home ?? "~") };
  };
  const verify = entry["verify"] === false || text(entry["verify"]) === "false" || entry["insecure"] === true;
  const tls = {
    ...file("cacert", "ca", "caFile"),
    ...file("cert", "certificate", "certificateFile"),
    ...file("key", "key", "keyFile"),
    ...(verify && { verify: false }),
  };
  return Object.keys(tls).length === 0 ? undefined : tls;
}

function overridesOf(entry: Fields): Record<string, string> | undefined {
  const found = Object.entries(entry).flatMap(([field, value]) => {
    const service = /^(.+)_endpoint_override$/.exec(field)?.[1]?.replaceAll("_", "-");
    return service !== undefined && typeof value === "string" ? [[service, value] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** A non-empty text; numbers too, since YAML reads a password of digits as one. */
function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(name: string, what: string, hint?: string): InputError {
  return new InputError("CLOUD_CONFIG_INVALID", `Cloud ${name}: ${what}.`, hint === undefined ? {} : { hint });
}
