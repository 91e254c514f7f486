import { createAuthority, issueCertificate } from "@causeway/foundation";
import { expect, test } from "vitest";
import { ownersOf } from "./owners.ts";
import type { TunnelTenant } from "./tenants.ts";

const YEAR = 365 * 86_400_000;
const authority = () => createAuthority({ commonName: "kubernetes", lifetime: YEAR });

/** A tenant of the authority, and how often its authorities were read. */
function tenantOf(name: string, ...authorities: string[]) {
  const reads = { count: 0 };
  const tenant = {
    name,
    get serverAuthorities() {
      reads.count++;
      return authorities;
    },
    agentAuthorities: [],
    serverNames: [],
    rules: { allow: [], deny: [], names: [] },
    maxStreams: 1,
  } as TunnelTenant;
  return { tenant, reads };
}

test("the owner of a certificate is the tenant whose authority signed it, and is searched once", async () => {
  const [own, other, foreign] = await Promise.all([authority(), authority(), authority()]);
  const { certificate } = await issueCertificate(own, { commonName: "kas", usages: ["client"], lifetime: YEAR });
  const [one, two] = [tenantOf("one", own.certificate), tenantOf("two", "no PEM", other.certificate)];
  const tenants = [one.tenant, two.tenant];
  for (let i = 0; i < 3; i++) {
    expect(ownersOf(tenants, "serverAuthorities", certificate)).toEqual([one.tenant]);
    expect(ownersOf(tenants, "serverAuthorities", foreign.certificate)).toEqual([]);
    expect(ownersOf(tenants, "serverAuthorities", "no PEM")).toEqual([]);
    expect(ownersOf(tenants, "agentAuthorities", certificate)).toEqual([]);
  }
  // Once for the certificate, and once for the foreign one; without a certificate there is nothing to compare.
  expect([one.reads.count, two.reads.count]).toEqual([2, 2]);
  expect(ownersOf([two.tenant], "serverAuthorities", certificate)).toEqual([]);
});
