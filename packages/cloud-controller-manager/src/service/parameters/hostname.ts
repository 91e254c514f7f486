import { canonicalIp } from "@causeway/foundation";

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * What the API server accepts in status.loadBalancer.ingress[].hostname: a DNS-1123 subdomain that is not an IP
 * address.
 */
export function isHostname(text: string): boolean {
  if (text.length > 253 || canonicalIp(text) !== undefined) return false;
  return text.split(".").every((part) => label.test(part));
}
