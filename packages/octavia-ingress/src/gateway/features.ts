/**
 * Of the Gateway API's features those that a Gateway on Octavia has. Those of redirects are not among them: their
 * status codes and ports work, but only where the host name is known, which the features do not say.
 */
const ALWAYS = [
  "Gateway",
  "GatewayAddressEmpty",
  "GatewayPort8080",
  "HTTPRoute",
  "HTTPRouteBackendProtocolWebSocket",
  "HTTPRouteDestinationPortMatching",
  "HTTPRouteNamedRouteRule",
  "HTTPRouteParentRefPort",
  "ReferenceGrant",
] as const;

/** The list of a GatewayClass's status, in its order: by name. */
export function supportedFeatures(kinds: readonly string[]): string[] {
  return [...ALWAYS, ...(kinds.includes("TLSRoute") ? ["TLSRoute"] : [])].sort();
}
