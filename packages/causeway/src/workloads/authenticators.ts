import type { Clock, Log } from "@causeway/foundation";
import type { ExternalAuthenticator, ExternalAuthenticators } from "@causeway/apiserver";
import type { Authenticator, RoleMapping } from "@causeway/keystone-auth";

/** The authenticators that control planes may have in addition to their own. */
export const authenticators: ExternalAuthenticators = { keystone };

type Settings = Readonly<Record<string, unknown>>;
interface Context {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keystone, with the fields of `spec.authentication.keystone` of a HostedControlPlane. The SDK is loaded with the first
 * token.
 */
function keystone(settings: Settings, context: Context): ExternalAuthenticator {
  let made: Promise<Authenticator> | undefined;
  return {
    async verify(token) {
      made ??= make(settings, context);
      const verdict = await (await made).authenticate(token);
      if ("user" in verdict) return verdict.user;
      if (verdict.final) return undefined;
      throw new Error(verdict.refused);
    },
    close: () => void made?.then((authenticator) => authenticator.close()),
  };
}

async function make(settings: Settings, { clock, log }: Context): Promise<Authenticator> {
  const { createAuthenticator } = await import("@causeway/keystone-auth");
  const { authURL, certificateAuthority, projects, domains } = settings;
  const limits = { projects: texts(projects), ...(Array.isArray(domains) && { domains: texts(domains) }) };
  const ca = typeof certificateAuthority === "string" ? { tls: { ca: certificateAuthority } } : {};
  const mappings = mappingsOf(settings["roleMappings"]);
  return createAuthenticator(
    { name: "keystone", authUrl: String(authURL), ...ca },
    { clock, log: log.with({ component: "keystone" }), ...limits, roleMappings: () => mappings },
  );
}

function mappingsOf(value: unknown): readonly RoleMapping[] {
  const entries = Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry !== null) : [];
  return entries.map((entry: Settings): RoleMapping => {
    const { keystoneRole, username, groups } = entry;
    const named = typeof username === "string" ? { username } : {};
    return { keystoneRole: String(keystoneRole), groups: texts(groups), ...named };
  });
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
