import type { X509Certificate } from "node:crypto";
import { parseCertificate, verifyIssuer } from "@causeway/foundation";
import type { TunnelTenant } from "./tenants.ts";

/** Whose certificates the authorities sign. */
export type AuthorityField = "serverAuthorities" | "agentAuthorities";

/** Certificates whose owners are kept, and characters of one: 8 MiB in all. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 8_192;

/** By the list of tenants: one that changes is another list. */
const kept = new WeakMap<readonly TunnelTenant[], Map<string, readonly TunnelTenant[]>>();
/** By the list of PEM texts. */
const parsed = new WeakMap<readonly string[], readonly X509Certificate[]>();

/**
 * The tenants one of whose authorities signed the certificate (PEM). Dates are not checked. Every client on the network
 * may present a certificate, and the authorities of all tenants may have one name, so that each signature is verified:
 * 25 ms with 500 tenants. So owners of the last certificates are kept, and authorities are parsed once.
 */
export function ownersOf(
  tenants: readonly TunnelTenant[],
  field: AuthorityField,
  certificate: string,
): readonly TunnelTenant[] {
  const known = kept.getOrInsertComputed(tenants, () => new Map<string, readonly TunnelTenant[]>());
  const key = `${field} ${certificate}`;
  const found = known.get(key);
  if (found) return found;
  const [subject] = parse([certificate]);
  const isOwner = (tenant: TunnelTenant): boolean =>
    subject !== undefined && authoritiesOf(tenant[field]).some((authority) => isIssuedBy(subject, authority));
  const owners = tenants.filter(isOwner);
  if (key.length > LONGEST_KEPT) return owners;
  known.set(key, owners);
  const [oldest] = known.keys();
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest);
  return owners;
}

function authoritiesOf(pems: readonly string[]): readonly X509Certificate[] {
  return parsed.getOrInsertComputed(pems, () => parse(pems));
}

/** Without those that cannot be read. */
function parse(pems: readonly string[]): X509Certificate[] {
  return pems.flatMap((pem) => {
    try {
      return [parseCertificate(pem)];
    } catch {
      return [];
    }
  });
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  try {
    return verifyIssuer(certificate, authority);
  } catch {
    return false;
  }
}
