export { keystoneToken, type KeystoneTokenOptions } from "./client/keystone-token.ts";
export { createAuthenticator, type Authenticator, type AuthenticatorOptions } from "./authenticator.ts";
export { runKeystoneAuth, type KeystoneAuthOptions } from "./keystone-auth.ts";
export { readSettings, type Flags, type Settings } from "./settings/settings.ts";
export type { RoleMapping } from "./token/plan-identity.ts";
export type { TokenVerdict } from "./token/tokens.ts";
export type { KubernetesUser } from "./user.ts";
