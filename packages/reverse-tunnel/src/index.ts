export { startTunnelAgent, type TunnelAgent, type TunnelAgentOptions } from "./agent/agent.ts";
export type { CallOptions } from "./agent/call.ts";
export type { ProxyStrategy } from "./server/choose-agent.ts";
export {
  invalid as invalidConfiguration,
  onlyTenant,
  readDuration,
  readFile,
  readPair,
  readRules,
  readTenants,
  type Reviewer,
  type TokenSource,
} from "./server/configuration.ts";
export { startTunnelServer, type TunnelServer, type TunnelServerOptions } from "./server/server.ts";
export { serveStatus } from "./server/status.ts";
export { tokenReviewer } from "./tenants/review-token.ts";
export type { TunnelTenant } from "./tenants/tenants.ts";
