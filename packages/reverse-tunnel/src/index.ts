export { startTunnelAgent, type TunnelAgent, type TunnelAgentOptions } from "./agent/agent.ts";
export type { CallOptions } from "./agent/call.ts";
export type { ProxyStrategy } from "./server/choose-agent.ts";
export { onlyTenant, readTenants, type Reviewer, type TokenSource } from "./server/configuration.ts";
export { invalid as invalidConfiguration, readDuration, readFile, readPair, readRules } from "./settings.ts";
export { startTunnelServer, type TunnelServer, type TunnelServerOptions } from "./server/server.ts";
export { serveStatus } from "./server/status.ts";
export { tokenReviewer } from "./tenants/review-token.ts";
export type { TunnelTenant } from "./tenants/tenants.ts";
