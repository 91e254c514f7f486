import fc from "fast-check";
import { expect, test } from "vitest";
import {
  certificateName,
  certificatePrefixes,
  classOwner,
  describedOwner,
  gatewayOwner,
  ingressOwner,
  isCertificateOf,
  type Owner,
} from "./names.ts";

/** Of any length that Kubernetes has, and many that differ only at their ends. */
const name = (longest: number) =>
  fc
    .tuple(fc.constantFrom(0, 1, longest / 2, longest - 2), fc.constantFrom("a", "b", "a-b"))
    .map(([length, end]) => `${"x".repeat(length)}${end}`.slice(0, longest));
const owner = fc
  .tuple(fc.constantFrom(ingressOwner, gatewayOwner, classOwner), fc.constantFrom(5, 120, 250), name(63), name(253))
  .map(([make, length, namespace, own]) =>
    make("c".repeat(length), { namespace, name: own, uid: `${namespace} ${own}` }),
  );
const names = (o: Owner): string[] => [o.name, o.floatingIpDescription, o.groupName, o.groupDescription];

test("the index of names names of an owner are never longer than is stored, and two owners have none in common", () => {
  fc.assert(
    fc.property(owner, owner, (a, b) => {
      for (const text of names(a)) expect(text.length).toBeLessThanOrEqual(255);
      if (a.tag !== b.tag) for (const text of names(a)) expect(names(b)).not.toContain(text);
    }),
    { numRuns: 500 },
  );
});

test("a certificate of any owner and Secret is recognised as that owner's, and as no other's", () => {
  const digest = fc.constantFrom("0".repeat(64), "f".repeat(64));
  fc.assert(
    fc.property(owner, owner, name(253), name(253), digest, (a, b, secret, other, content) => {
      const stored = certificateName(a, secret, content);
      expect(stored.length).toBeLessThanOrEqual(255);
      expect(isCertificateOf(a, stored)).toBe(true);
      if (a.tag !== b.tag) expect(isCertificateOf(b, stored)).toBe(false);
      if (secret !== other) expect(certificateName(a, other, content)).not.toBe(stored);
      expect([5, 120, 250].some((n) => certificatePrefixes("c".repeat(n)).some((p) => stored.startsWith(p)))).toBe(
        true,
      );
    }),
    { numRuns: 500 },
  );
});

test("the index of names finds the owner of a floating IP by its description, whatever became of its load balancer", () => {
  const key = { namespace: "shop", name: "web", uid: "u" };
  const of = (description: string) => describedOwner("prod", description);
  expect(of(ingressOwner("prod", key).floatingIpDescription)).toEqual({ namespace: "shop", name: "web" });
  expect(of(classOwner("prod", key).floatingIpDescription)).toEqual({ namespace: "", name: "web" });
  expect(of(ingressOwner("other", key).floatingIpDescription)).toBeUndefined();
  expect(of(gatewayOwner("prod", key).floatingIpDescription)).toBeUndefined();
  expect(of("")).toBeUndefined();
});
