/** Headers of the agent's call. Names are those of konnectivity, in lower case as HTTP/2 sends them. */

/** The ID of the agent: by default a random one for each start. */
export const AGENT_ID = "agentid";
/** What the agent is next to; see `readIdentifiers`. */
export const AGENT_IDENTIFIERS = "agentidentifiers";
/** In the response: which server it is, so that an agent does not connect to one twice. */
export const SERVER_ID = "serverid";
/** In the response: to how many servers an agent has to connect. */
export const SERVER_COUNT = "servercount";
/**
 * Sent by both ends that understand WINDOW and END packets: bytes that each stream may send before the first WINDOW.
 */
export const WINDOWS = "causeway-tunnel-window";

/** The method of the agent's call. */
export const CONNECT_PATH = "/AgentService/Connect";
/** The method of an API server's call. */
export const PROXY_PATH = "/ProxyService/Proxy";
/** The content type of both calls. */
export const GRPC = "application/grpc";

/** Codes of grpc-status. Source: gRPC status codes. */
export const STATUS = {
  ok: 0,
  invalidArgument: 3,
  exhausted: 8,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
};
